"""Answers as JSON (design §5, cases.md §5): SI units in the names, an estimate is {low, expected, high}."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from typing import Any

from engine.advice.result import Advice, Assessment, Pick, Rejection, TaskAssessment
from engine.advice.ways_result import WaysComparison
from engine.architecture.model import Architecture
from engine.architecture.parameters import parameter_parts
from engine.cost.result import CostAssessment
from engine.findings import Finding
from engine.i18n import Language
from engine.memory.result import MemoryAssessment
from engine.quantity import Estimate, MoneyEstimate, Term
from engine.report.naming import plan_name, plan_way
from engine.speed.result import InferenceSpeed, TrainingSpeed
from engine.validation.estimate import CaseEstimate
from engine.validation.result import ValidationReport

__all__ = [
    "advice_answer", "dumps", "estimate_answer", "findings_json", "memory_json", "model_answer", "three",
    "validation_answer",
]  # fmt: skip


def dumps(answer: object) -> str:
    """One JSON document; what is not finite is null, for JSON has no word for it."""
    return json.dumps(_finite(answer), ensure_ascii=False, indent=1, allow_nan=False)


def _finite(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {k: _finite(v) for k, v in value.items()}
    return [_finite(v) for v in value] if isinstance(value, list | tuple) else value


# pieces -------------------------------------------------------------------------------------------------------------


def three(estimate: Estimate) -> dict[str, float]:
    """An estimate."""
    return {"low": estimate.low, "expected": estimate.expected, "high": estimate.high}


def _money(estimate: MoneyEstimate) -> dict[str, float | str]:
    values = {"low": float(estimate.low), "expected": float(estimate.expected), "high": float(estimate.high)}
    return {**values, "currency": estimate.currency}


def _terms(terms: Iterable[Term], language: Language, amount: str) -> list[dict[str, Any]]:
    return [
        {
            "name": t.name,
            "text": language.label(t.name),
            amount: three(t.estimate),
            "formula": t.formula,
            "values": t.values,
            "source": t.source,
        }
        for t in terms
    ]


def findings_json(findings: Iterable[Finding], language: Language) -> list[dict[str, Any]]:
    """Findings with their sentences."""
    return [
        {
            "code": f.code,
            "severity": f.severity.value,
            "params": f.params,
            "text": language.text(f),
            "source": f.source,
        }
        for f in findings
    ]


def memory_json(memory: MemoryAssessment, language: Language) -> dict[str, Any]:
    """Memory of one card."""
    return {
        "peak_bytes": three(memory.driver),
        "allocated_bytes": three(memory.allocated),
        "reserved_bytes": three(memory.reserved),
        "driver_bytes": three(memory.driver),
        "usable_bytes": memory.usable_bytes,
        "in_use_bytes": memory.in_use_bytes,
        "headroom": memory.headroom,
        "verdict": memory.verdict.value,
        "peak_phase": memory.peak_phase,
        "host_bytes": memory.host_bytes,
        "fallback": memory.fallback,
        "anchor": memory.anchor.model_dump(mode="json") if memory.anchor is not None else None,
        "moments": [
            {"name": m.moment, "phase": m.phase, "allocated_bytes": three(m.allocated), "terms_bytes": dict(m.amounts)}
            for m in memory.moments
        ],
        "terms": _terms(memory.terms, language, "bytes"),
    }


def _training(speed: TrainingSpeed, language: Language) -> dict[str, Any]:
    return {
        "tokens_per_second_per_gpu": three(speed.tokens_per_second_per_gpu),
        "step_seconds": three(speed.step_seconds),
        "tokens_per_step": speed.tokens_per_step,
        "mfu": three(speed.model_flops_utilization),
        "bottleneck": speed.bottleneck,
        "terms": _terms(speed.terms, language, "seconds"),
    }


def _serving(speed: InferenceSpeed, language: Language) -> dict[str, Any]:
    return {
        "tokens_per_second_per_gpu": three(speed.tokens_per_second_per_gpu),
        "tokens_per_second": three(speed.tokens_per_second),
        "time_to_first_token_seconds": three(speed.time_to_first_token_seconds),
        "time_per_output_token_seconds": three(speed.time_per_output_token_seconds),
        "bottleneck": speed.bottleneck,
        "terms": _terms(speed.terms, language, "seconds"),
    }


def _speed(
    training: TrainingSpeed | None, inference: InferenceSpeed | None, language: Language
) -> dict[str, Any] | None:
    if training is not None:
        return _training(training, language)
    return None if inference is None else _serving(inference, language)


def _cost(cost: CostAssessment, language: Language) -> dict[str, Any]:
    return {
        "cash_needed": _money(cost.cash_needed),
        "cost_of_job": _money(cost.cost_of_job),
        "risk_adjusted_cost": _money(cost.risk_adjusted_cost),
        "price_age_days": cost.price_age_days,
        "energy_kwh": cost.energy_kwh,
        "cash_terms": _terms(cost.cash_terms, language, "amount"),
        "job_terms": _terms(cost.job_terms, language, "amount"),
    }


# answers ------------------------------------------------------------------------------------------------------------


def model_answer(arch: Architecture) -> dict[str, Any]:
    """All dimensions of a model, its parts, and what had to be guessed."""
    parts = [
        {"name": p.name, "parameters": p.count, "active_parameters": p.active, "layers": p.layers,
         "quantizable": p.quantizable}
        for p in parameter_parts(arch)
    ]  # fmt: skip
    stored = arch.published_parameters or arch.parameters_total + arch.mtp_parameters + arch.non_text_parameters
    return {
        **arch.model_dump(mode="json"),
        "params_total": arch.parameters_total,
        "params_active": arch.parameters_active,
        "params_file": stored,
        "parts": parts,
    }


def estimate_answer(estimate: CaseEstimate, language: Language) -> dict[str, Any]:
    """Memory and speed of one fixed plan."""
    return {
        "model": {
            "id": estimate.architecture.id,
            "params_total": estimate.architecture.parameters_total,
            "params_active": estimate.architecture.parameters_active,
            "basis": estimate.architecture.basis,
            "shape_guessed": estimate.shape_guessed,
        },
        "gpu": estimate.gpu_id,
        "job": estimate.job.model_dump(mode="json"),
        "layout": estimate.layout.model_dump(mode="json"),
        "memory": memory_json(estimate.memory, language),
        "speed": _speed(estimate.training, estimate.inference, language),
        "assumptions": findings_json(estimate.assumptions, language),
        "findings": findings_json(estimate.findings, language),
    }


def advice_answer(advice: Advice, language: Language) -> dict[str, Any]:
    """Picks, ranked and rejected plans with reasons."""
    return {
        "picks": [_pick(p, advice, language) for p in advice.picks],
        "ranked": [_assessment(a, language) for a in advice.ranked],
        "rejected": [_rejection(r, language) for r in advice.rejected],
        "api": [
            {
                "task": b.task_id, "provider": b.provider, "model": b.model, "cost": _money(b.cost),
                "allowed": b.allowed, "text": language.text(b.finding),
            }
            for b in advice.api
        ],
        "ways": _ways(advice.ways, language),
        "findings": findings_json(advice.findings, language),
        "catalog": {"version": advice.catalog_version, "sha256": advice.catalog_sha256},
        "searched": advice.searched.model_dump(mode="json"),
        "scenario": advice.scenario.model_dump(mode="json"),
    }  # fmt: skip


def _ways(ways: WaysComparison | None, language: Language) -> dict[str, Any] | None:
    """The ways on the same work over the months."""
    if ways is None:
        return None
    answer = ways.model_dump(mode="json", exclude={"ways", "findings", "checkpoint", "figures"})
    for way, found in zip(rows := [w.model_dump(mode="json") for w in ways.ways], ways.ways, strict=True):
        way["text"] = language.label(f"compare.{found.way}")
        way["remark"] = language.text(found.remark) if found.remark else None
    return {
        **answer,
        "ways": rows,
        "checkpoint": _terms(ways.checkpoint, language, "amount"),
        "figures": _terms(ways.figures, language, "value"),
        "findings": findings_json(ways.findings, language),
    }


def _pick(pick: Pick, advice: Advice, language: Language) -> dict[str, Any]:
    found = _assessment(advice.ranked[pick.index], language)
    return {"role": pick.role.value, **found, "reasons": findings_json(pick.reasons, language)}


def _assessment(assessment: Assessment, language: Language) -> dict[str, Any]:
    """One plan. `memory`, `speed` and `time_to_train_seconds` are those of its tightest task."""
    plan, tasks = assessment.plan, assessment.tasks
    tightest = max(tasks, key=_fill)
    return {
        "plan": {
            "id": plan.id,
            "name": plan_name(plan, language),
            "text": plan_way(plan, language),
            "way": plan.way,
            "gpu": plan.cluster.gpu.id,
            "gpus": plan.cluster.gpus,
            "nodes": plan.cluster.nodes,
            "system": plan.cluster.system.id if plan.cluster.system else None,
            "offer": plan.offer.id if plan.offer else None,
            "purchase": plan.purchase.id if plan.purchase else None,
            "layout": tightest.layout.model_dump(mode="json"),
        },
        "memory": memory_json(tightest.memory, language),
        "speed": _speed(tightest.training, tightest.inference, language),
        "time_to_train_seconds": three(tightest.time_to_train_seconds) if tightest.time_to_train_seconds else None,
        "tasks": [_task(t, language) for t in tasks],
        "cost": _cost(assessment.cost, language),
        "calendar_days": three(assessment.calendar_days),
        "risk": assessment.risk,
        "findings": findings_json(assessment.findings, language),
    }


def _fill(task: TaskAssessment) -> float:
    usable = task.memory.usable_bytes
    return task.memory.driver.high / usable if usable else math.inf


def _task(task: TaskAssessment, language: Language) -> dict[str, Any]:
    return {
        "task": task.task_id,
        "layout": task.layout.model_dump(mode="json"),
        "verdict": task.memory.verdict.value,
        "peak_bytes": three(task.memory.driver),
        "time_to_train_seconds": three(task.time_to_train_seconds) if task.time_to_train_seconds else None,
        "busy_seconds": three(task.busy_seconds),
        "time_terms": _terms(task.time_terms, language, "seconds"),
    }


def _rejection(rejection: Rejection, language: Language) -> dict[str, Any]:
    return {
        "kind": rejection.kind,
        "gpu": rejection.gpu_id,
        "offer": rejection.offer_id,
        "label": rejection.label,
        "reason": rejection.reason.code,
        "params": rejection.reason.params,
        "text": language.text(rejection.reason),
    }


def validation_answer(report: ValidationReport, language: Language) -> dict[str, Any]:
    """Score of a file of cases."""
    values = report.model_dump(mode="json", exclude={"unexpressed", "catalog_version", "catalog_sha256"})
    unexpressed = [
        {"id": u.id, "kind": u.kind, "code": u.reason.code, "reason": language.text(u.reason)}
        for u in report.unexpressed
    ]
    catalog = {"version": report.catalog_version, "sha256": report.catalog_sha256}
    return {**values, "unexpressed": unexpressed, "catalog": catalog}
