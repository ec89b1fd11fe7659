"""From what a file says to a case, to the fields of a task, and to a scenario."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any

from pydantic import ValidationError

from engine.errors import InputError
from engine.inputs import problems_of
from engine.layout.model import Method, Regime
from engine.runs.result import RunFile
from engine.scenario import Constraints, Scenario
from engine.validation import fields as words
from engine.validation.defaults import framework_of

__all__ = ["case_of", "overrides_of", "scenario_of", "task_fields"]

_DATA_KEYS = ("tokens", "examples", "tokens_per_example", "epochs")
_ADAPTED = (Method.LORA, Method.QLORA, Method.DORA)


def overrides_of(given: Sequence[str]) -> dict[str, str]:
    """KEY=VALUE pairs of a command line."""
    found: dict[str, str] = {}
    for one in given:
        key, equals, value = one.partition("=")
        if not equals or key not in words.CASE_KEYS | set(_DATA_KEYS):
            raise InputError("run.bad_set", value=one[:80])
        found[key] = value
    return found


def case_of(run: RunFile, changes: Mapping[str, Any]) -> dict[str, Any]:
    """The flat case of a run with what was added; `InputError` names what is still needed."""
    values = {**run.case, **{k: v for k, v in changes.items() if k not in _DATA_KEYS}}
    if "model" in changes:
        values.pop("params_b", None)
    missing = [] if values.get("model") or values.get("params_b") else ["model"]
    missing += [] if values.get("method") else ["method"]
    if missing:
        example = {"model": "--set model=Qwen/Qwen3-8B", "method": "--set method=full"}[missing[0]]
        raise InputError("run.asked", file=run.file or "-", names=", ".join(missing), example=example)
    return values


def task_fields(run: RunFile, changes: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Fields of a training workload that the run decides, and of its data; what it leaves open is not there.

    `InputError` where a value is none that is known.
    """
    values = {**run.case, **(changes or {})}
    case = words.Case(values)
    cards = case.count("n_gpus") or 1
    micro, steps = case.count("micro_batch"), case.count("grad_accum")
    batch = case.count("global_batch") or (micro * (steps or 1) * cards if micro else None)
    method = case.method() if case.text("method") else None
    adapters = case.count("lora_rank") is not None or method in _ADAPTED
    targets = case.text("lora_targets").lower()
    found: dict[str, Any] = {
        "method": method,
        "sequence_length": case.count("seq_len"),
        "micro_batch_size": micro,
        "global_batch_size": batch,
        "adapters": adapters if method is not None else None,
        "lora_rank": case.count("lora_rank"),
        "lora_targets": words.TARGETS.get(targets),
        "weight_quantization": case.choice(words.QUANTIZATIONS, "weight_quant"),
        "regime": _regime(case, adapters),
        "optimizer": case.choice(words.OPTIMIZERS, "optimizer"),
        "recomputation": case.choice(words.CHECKPOINTING, "activation_checkpointing"),
        "attention": case.choice(words.ATTENTIONS, "attention"),
        "offload": case.choice(words.OFFLOADS, "offload"),
        "framework": case.text("framework"),
    }
    chunked = case.yes("fused_or_chunked_ce")
    found["loss"] = None if chunked is None else ("chunked" if chunked else "plain")
    return {k: v for k, v in found.items() if v not in (None, "")} | _data(run, case, batch)


def _regime(case: words.Case, adapters: bool) -> Regime | None:
    stated, precision = case.text("regime").lower(), case.text("precision").lower()
    if stated:
        return words.REGIMES.get(stated)
    if precision == "fp32":
        return Regime.FP32
    if adapters or not case.text("method"):
        return Regime.FP16_AMP if precision == "fp16" and adapters else None
    version = case.text("framework_version")
    usual = framework_of(case.text("framework"), version=version).expected_full_regime
    return Regime.FP16_AMP if precision == "fp16" and usual is not Regime.FP32_MASTER else usual


def _data(run: RunFile, case: words.Case, batch: int | None) -> dict[str, Any]:
    """Amount of data: what was added, else steps times batch times length, else the number of examples."""
    found: dict[str, Any] = {}
    length = case.count("seq_len")
    if case.number("tokens") is not None:
        found["tokens"] = case.count("tokens")
    elif case.number("examples") is not None or run.examples:
        found["examples"] = case.count("examples") or run.examples
    elif run.steps and batch and length:
        return {"tokens": run.steps * batch * length, "epochs": 1.0, "packed": True}
    if case.number("tokens_per_example") is not None:
        found["tokens_per_example"] = case.number("tokens_per_example")
    epochs = case.number("epochs") or run.epochs
    if epochs:
        found["epochs"] = epochs
    if run.packed is not None:
        found["packed"] = run.packed
    return found


def scenario_of(run: RunFile, changes: Mapping[str, Any], as_of: date) -> Scenario:
    """A scenario of one task; `InputError` where model, method or the amount of data are missing."""
    values = case_of(run, changes)
    fields = task_fields(run, changes)
    data = {k: fields.pop(k) for k in ("tokens", "examples", "tokens_per_example", "epochs", "packed") if k in fields}
    if not data.get("tokens") and not (data.get("examples") and data.get("tokens_per_example")):
        raise InputError("run.no_data", file=run.file or "-")
    model = str(values.get("model") or "")
    choice = {"catalog_id": model} if model else {"parameters_billion": values["params_b"]}
    if model and ("/" in model or "\\" in model) and run.file and model not in changes.values():
        choice = _local(model) or choice
    try:
        return Scenario.model_validate(
            {
                "name": run.file,
                "as_of": as_of,
                "tasks": [{"id": "t1", "name": run.file, "model": choice,
                           "workload": {"kind": "training", "data": data, **fields}}],
                "constraints": Constraints().model_dump(),
            }
        )  # fmt: skip
    except ValidationError as error:
        first = problems_of(error)[0]
        where = ".".join(str(part) for part in first.location)
        raise InputError(
            "scenario.invalid",
            file=run.file or "-",
            field=where,
            value=str(first.value)[:60],
            reason=f"reason.{first.code}",
        ) from error


def _local(model: str) -> dict[str, Any] | None:
    """The dimensions of a model whose folder is on this machine."""
    from pathlib import Path

    from engine.architecture.checkpoint import read_model

    return {"architecture": read_model(model).architecture} if Path(model).is_dir() else None
