"""Rules about the task, whatever hardware it runs on: try the lighter method first, name the limits of the estimate."""

from __future__ import annotations

from collections.abc import Iterator

from engine.findings import Finding, Severity
from engine.layout.model import Method
from engine.scenario import InferenceWorkload
from engine.search.resolve import ResolvedTask
from engine.search.search import SearchResult

__all__ = ["task_rules"]

#: Tokens below which training all weights rarely beats adapters: fine-tuning sets of the guides hold 10,000 to
#: 100,000 examples of about 1,000 tokens.
SMALL_DATA_TOKENS = 200_000_000
#: Parameters from which full fine-tuning needs several data-centre cards.
LARGE_MODEL = 10_000_000_000


def task_rules(result: SearchResult) -> Iterator[Finding]:
    """Rules of each task."""
    for resolved in result.resolved:
        yield from _adapter_first(resolved)
        yield from _tier(resolved, result)
        yield from _serving(resolved)
        yield from _measured(resolved)
        yield from _measured_speed(resolved)
    if len(result.resolved) > 1:
        yield Finding(code="advice.tasks_in_turn", params={"tasks": len(result.resolved)})


def _adapter_first(resolved: ResolvedTask) -> Iterator[Finding]:
    workload = resolved.training
    if workload is None or workload.method is not Method.FULL:
        return
    tokens = workload.data.tokens_per_run
    if tokens <= SMALL_DATA_TOKENS or resolved.architecture.parameters_total >= LARGE_MODEL:
        yield Finding(
            code="advice.adapter_first",
            severity=Severity.ADVICE,
            params={"task": _name(resolved), "tokens": tokens},
            source="LoRA, arXiv:2106.09685; LoRA Learns Less and Forgets Less, arXiv:2405.09673",
        )


def _tier(resolved: ResolvedTask, result: SearchResult) -> Iterator[Finding]:
    """The usual settings left nothing: say with which lighter ones the plans below were found."""
    if not result.tier or not result.ranked:
        return
    knobs = resolved.tiers[min(result.tier, len(resolved.tiers) - 1)]
    usual = resolved.tiers[0]
    if knobs.optimizers != usual.optimizers:
        yield Finding(
            code="advice.lighter_optimizer",
            severity=Severity.WARNING,
            params={"task": _name(resolved), "optimizer": f"optimizer.{knobs.optimizers[0].value}"},
            source="8-bit optimizers, arXiv:2110.02861",
        )
    if knobs.offload != usual.offload:
        yield Finding(
            code="advice.offloaded",
            severity=Severity.WARNING,
            params={"task": _name(resolved), "offload": f"offload.{knobs.offload.value}"},
            source="ZeRO-Offload, arXiv:2101.06840",
        )


def _serving(resolved: ResolvedTask) -> Iterator[Finding]:
    workload = resolved.task.workload
    if isinstance(workload, InferenceWorkload) and not workload.outputs_only:
        yield Finding(code="advice.service_is_paid_idle", params={"months": workload.months})


def _measured(resolved: ResolvedTask) -> Iterator[Finding]:
    """That estimates start from a measurement, and whether it is what the formulas expect."""
    anchor = resolved.anchor
    if anchor is None:
        return
    params: dict[str, str | int | float | None] = {
        "task": _name(resolved),
        "measured": anchor.measured.peak_bytes,
        "low": anchor.expected.low,
        "high": anchor.expected.high,
    }
    if anchor.within:
        yield Finding(code="measured.anchored", params=params)
    else:
        yield Finding(code="measured.differs", severity=Severity.WARNING, params=params)


def _measured_speed(resolved: ResolvedTask) -> Iterator[Finding]:
    """That times start from a measured rate, and whether it is what the formulas expect."""
    anchor = resolved.speed_anchor
    if anchor is None:
        return
    params: dict[str, str | int | float | None] = {
        "task": _name(resolved),
        "measured": anchor.measured.tokens_per_second_per_gpu,
        "low": anchor.expected.low,
        "high": anchor.expected.high,
    }
    if anchor.within:
        yield Finding(code="measured.speed_anchored", params=params)
    else:
        yield Finding(code="measured.speed_differs", severity=Severity.WARNING, params=params)


def _name(resolved: ResolvedTask) -> str:
    return resolved.task.name or resolved.task.id
