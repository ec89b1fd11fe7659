"""Measured rows: every number that a row carries beside its estimate (cases.md §3)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from engine.architecture.flops import model_flops_per_token
from engine.errors import InputError
from engine.hardware.model import CatalogSnapshot
from engine.layout.model import Job
from engine.quantity import GIB, Bounds, Estimate, tflops
from engine.speed.calibration import tables
from engine.validation.estimate import CaseEstimate, estimate_case
from engine.validation.fields import Case
from engine.validation.result import Comparison, Quantity

__all__ = ["compare_row"]

#: What each kind of row is about.
_PRIMARY: Mapping[str, tuple[Quantity, ...]] = {
    "memory": ("memory",),
    "inference_memory": ("memory",),
    "throughput": ("tokens_per_second", "step_seconds", "mfu", "flops"),
    "inference_throughput": ("tokens_per_second",),
    "time_to_train": ("time_to_train",),
    "gpu_hours": ("gpu_hours",),
}
#: Kinds that are scored by verdict, not by a number.
_OUTCOMES = frozenset({"fits", "oom"})
_SECONDS_PER_MINUTE, _SECONDS_PER_HOUR = 60.0, 3600.0


def compare_row(row: Mapping[str, str], catalog: CatalogSnapshot) -> tuple[CaseEstimate, list[Comparison]]:
    """Estimate of a row and the comparisons that it allows. `InputError` says why a row can't be used.

    A row whose own number can't be compared is used for the others that it carries.
    """
    case, kind = Case(row), row.get("kind", "")
    if kind == "oom" and case.text("oom_cause") and case.text("oom_cause") != "steady":
        raise InputError("validate.oom_not_steady", cause=case.text("oom_cause"))
    found = estimate_case(_with_defaults(row), catalog, hull=True, ran=case.text("outcome") == "measured")
    numbers = list(_numbers(case, found))
    wanted = _PRIMARY.get(kind, ())
    primary = next((q for q in wanted if any(q == name for name, _, _ in numbers)), None)
    if kind in _OUTCOMES:
        if found.gpu_id is None:
            raise InputError("validate.no_gpu")
    elif not numbers:
        raise InputError(_why_not(kind, case, found))
    return found, [_comparison(row, case, found, q, q == primary, m, e) for q, m, e in numbers]


def _with_defaults(row: Mapping[str, str]) -> dict[str, str]:
    """A row as a case. Alternative cards stay; columns that only describe the source are left out by their names."""
    return {k: v for k, v in row.items() if v}


def _why_not(kind: str, case: Case, found: CaseEstimate) -> str:
    if kind in ("time_to_train", "gpu_hours") and not case.number("trained_tokens"):
        return "validate.no_tokens"
    if kind in ("memory", "inference_memory"):
        return "validate.nothing_to_compare"
    if found.gpu_id is None:
        return "validate.no_gpu"
    return "validate.metric_missing" if found.training is None and found.inference is None else (
        "validate.nothing_to_compare"
    )  # fmt: skip


def _numbers(case: Case, found: CaseEstimate) -> Iterator[tuple[Quantity, float, Estimate]]:
    """(quantity, measured, estimate) of everything that a row states."""
    memory = case.number("peak_memory_gib_per_gpu")
    if memory:
        yield "memory", memory * GIB, _memory(found, case.text("memory_metric"))
    rate = case.number("tokens_per_s_per_gpu")
    estimate = _rate(case, found)
    if rate and estimate is not None:
        yield "tokens_per_second", rate, estimate
    if found.training is None:
        return
    step = case.number("step_time_s")
    kind = case.text("step_time_kind")
    if step and kind in ("optimizer", "micro"):
        steps = found.layout.gradient_accumulation_steps if kind == "micro" else 1
        seconds = found.training.step_seconds
        yield "step_seconds", step, (Bounds(seconds.low, seconds.expected, seconds.high) / steps).at()
    mfu = case.number("mfu")
    if mfu and not rate and not step:
        yield "mfu", mfu, found.training.model_flops_utilization
    rate_of_work = case.number("tflops_per_gpu")
    if rate_of_work and not rate and not step and not mfu:
        yield "flops", tflops(rate_of_work), _model_flops(found)
    yield from _durations(case, found)


def _model_flops(found: CaseEstimate) -> Estimate:
    """FLOP/s of the model on one card, recomputation left out, as sources count them."""
    assert isinstance(found.job, Job)
    assert found.training is not None
    each = float(model_flops_per_token(found.architecture, found.job.sequence_length))
    speed = found.training.tokens_per_second_per_gpu
    return Estimate(low=speed.low * each, expected=speed.expected * each, high=speed.high * each)


def _durations(case: Case, found: CaseEstimate) -> Iterator[tuple[Quantity, float, Estimate]]:
    tokens = case.number("trained_tokens")
    if not tokens or found.training is None:
        return
    rate = found.training.tokens_per_second_per_gpu
    card_seconds = Bounds(rate.low, rate.expected, rate.high).reciprocal(tokens)
    if case.text("kind") == "gpu_hours":  # of whole runs, with their restarts and evaluations
        whole = tables().constant("run_hours", "*")
        low, expected, high = card_seconds.low, card_seconds.expected, card_seconds.high
        card_seconds = Bounds(low * whole.low, expected * whole.expected, high * whole.high)
    hours, minutes = case.number("total_gpu_hours"), case.number("time_to_train_min")
    if hours:
        yield "gpu_hours", hours, (card_seconds / _SECONDS_PER_HOUR).at()
    if minutes and case.count("n_gpus"):
        yield "time_to_train", minutes * _SECONDS_PER_MINUTE, (card_seconds / found.layout.gpus).at()


def _memory(found: CaseEstimate, metric: str) -> Estimate:
    """The memory that the metric names; the hull of all three where it is not known (cases.md §1)."""
    memory = found.memory
    match metric:
        case "max_allocated":
            return memory.allocated
        case "max_reserved":
            return memory.reserved
        case "nvidia-smi":
            return memory.driver
        case _:
            expected = memory.reserved.expected
            return Estimate(low=memory.allocated.low, expected=expected, high=memory.driver.high)


def _rate(case: Case, found: CaseEstimate) -> Estimate | None:
    if found.training is not None:
        return found.training.tokens_per_second_per_gpu
    if found.inference is None:
        return None
    prompt, output = case.lengths()
    if output is None and prompt is not None:  # prefill alone is timed
        first = found.inference.time_to_first_token_seconds
        return Bounds(first.low, first.expected, first.high).reciprocal(prompt / found.layout.gpus).at()
    return found.inference.tokens_per_second_per_gpu


def _comparison(
    row: Mapping[str, str],
    case: Case,
    found: CaseEstimate,
    quantity: Quantity,
    primary: bool,
    measured: float,
    estimate: Estimate,
) -> Comparison:
    return Comparison(
        row_id=row.get("id", ""),
        kind=row.get("kind", ""),
        quantity=quantity,
        primary=primary,
        method=case.text("method"),
        framework=case.text("framework") or "not stated",
        gpu=found.gpu_id or "not stated",
        memory_metric=(case.text("memory_metric") or "unknown") if quantity == "memory" else "",
        several_gpus=found.layout.gpus > 1,
        stated=case.text("settings") == "stated",
        shape_guessed=found.shape_guessed,
        measured=measured,
        estimate=estimate,
    )
