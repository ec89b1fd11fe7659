"""Nothing works: the nearest misses, and what would make it work, tried with the very formulas of the search."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import ROUND_CEILING, Decimal

import numpy as np

from engine.findings import Finding, Severity
from engine.i18n import money_param
from engine.layout.model import Method, Recomputation
from engine.quantity import Money
from engine.scenario import Constraints, Task
from engine.search.clusters import candidates_of
from engine.search.evaluate import evaluate_task
from engine.search.options import Option
from engine.search.resolve import ResolvedTask, resolve_task
from engine.search.search import SearchResult

__all__ = ["nothing_works"]

#: Lighter methods in the order in which they are tried where a task does not fit.
LIGHTER_METHODS = {
    Method.FULL: (Method.LORA, Method.QLORA),
    Method.CONTINUED: (Method.LORA, Method.QLORA),
    Method.FREEZE: (Method.LORA, Method.QLORA),
    Method.DPO: (Method.QLORA,),
    Method.LORA: (Method.QLORA,),
}


def nothing_works(result: SearchResult) -> Iterator[Finding]:
    """Why the list is empty and what would fill it; nothing where it is not empty."""
    if result.ranked:
        return
    yield Finding(code="nothing.works", severity=Severity.SERIOUS)
    if result.options:
        yield from _nearest(list(result.options), result)
        return
    obtainable = result.candidates.obtainable
    if not obtainable:
        yield Finding(code="nothing.to_be_had", severity=Severity.SERIOUS)
        return
    missing = np.max([t.missing_bytes[:obtainable] for t in result.tables], axis=0)
    best = int(np.argmin(missing))
    if np.isfinite(missing[best]) and missing[best] > 0:
        cluster = result.candidates.clusters[best]
        yield Finding(
            code="nothing.fits",
            severity=Severity.SERIOUS,
            params={
                "missing": float(missing[best]),
                "gpu": cluster.gpu.name,
                "gpus": cluster.gpus,
                "usable": cluster.gpu.usable_bytes,
            },
        )
    for resolved, table in zip(result.resolved, result.tables, strict=True):
        if not table.fits[:obtainable].any():
            if len(resolved.tiers) > 1:
                yield Finding(code="nothing.lighter_tried", params={"task": _name(resolved)})
            yield from _more_cards(resolved, result)
            yield from _lighter(resolved, result)


def _nearest(options: list[Option], result: SearchResult) -> Iterator[Finding]:
    """The options that break one limit only, and by how much."""
    fast = [o for o in options if not o.slow]
    if not fast:
        yield Finding(code="nothing.fast_enough", severity=Severity.SERIOUS)
        return
    late = [o for o in fast if o.over_budget <= 0]
    dear = [o for o in fast if o.days_late <= 0]
    if dear:
        best = min(dear, key=lambda o: (o.over_budget, o.key))
        yield _miss(
            "nothing.over_budget", best, over=_amount(best.over_budget, result), cash=_amount(best.cash, result)
        )
    if late:
        best = min(late, key=lambda o: (o.days_late, o.key))
        yield _miss("nothing.too_late", best, late=best.days_late, days=best.days.expected)
    if not dear and not late:
        best = min(fast, key=lambda o: o.key)
        yield _miss("nothing.over_both", best, over=_amount(best.over_budget, result), late=best.days_late)


def _miss(code: str, option: Option, **params: str | float) -> Finding:
    return Finding(
        code=code,
        severity=Severity.SERIOUS,
        params={
            "gpu": option.cluster.gpu.name,
            "gpus": option.cluster.gpus,
            "seller": option.seed.seller or "—",
            "way": f"way.{option.seed.way}",
            **params,
        },
    )


def _amount(value: float, result: SearchResult) -> str:
    exact = Decimal(repr(value)).quantize(Decimal("0.01"), ROUND_CEILING)
    return money_param(Money(amount=exact, currency=result.figures.currency))


# what would make it fit -------------------------------------------------------------------------------------------


def _more_cards(resolved: ResolvedTask, result: SearchResult) -> Iterator[Finding]:
    """The smallest cluster that holds the task where more cards than the user's limit were allowed."""
    limits = result.scenario.constraints
    for factor in (2, 4, 8):
        wider = {**limits.model_dump(), "max_gpus": min(4096, limits.max_gpus * factor)}
        scenario = result.scenario.model_copy(update={"constraints": Constraints.model_validate(wider)})
        candidates = candidates_of(scenario, result.catalog, result.market)
        clusters = candidates.clusters[: candidates.obtainable]
        table = evaluate_task(resolved, resolved.tiers[0], clusters, headroom=limits.headroom, timed=0)
        if table.fits.any():
            best = min((clusters[i] for i in np.flatnonzero(table.fits)), key=lambda c: (c.gpus, c.gpu.id))
            yield Finding(
                code="nothing.more_cards", severity=Severity.ADVICE,
                params={"task": _name(resolved), "gpus": best.gpus, "gpu": best.gpu.name, "limit": limits.max_gpus},
            )  # fmt: skip
            return


def _name(resolved: ResolvedTask) -> str:
    return resolved.task.name or resolved.task.id


def _lighter(resolved: ResolvedTask, result: SearchResult) -> Iterator[Finding]:
    """Shorter sequences, lighter methods, coarser formats: what would fit on the hardware that can be had."""
    workload = resolved.training
    name = _name(resolved)
    if workload is None:
        yield Finding(code="nothing.serve_smaller", severity=Severity.ADVICE, params={"task": name})
        return
    if workload.recomputation is Recomputation.NONE and _fits(_with(resolved.task, result, recomputation=None), result):
        yield Finding(code="nothing.recompute", severity=Severity.ADVICE, params={"task": name})
    for length in (workload.sequence_length // 2, workload.sequence_length // 4):
        if length >= 256 and _fits(_with(resolved.task, result, sequence_length=length), result):
            yield Finding(
                code="nothing.shorter", severity=Severity.ADVICE,
                params={"task": name, "length": length, "asked": workload.sequence_length},
            )  # fmt: skip
            break
    for method in LIGHTER_METHODS.get(workload.method, ()):
        if _fits(_with(resolved.task, result, method=method, regime=None, optimizer=None), result):
            yield Finding(
                code="nothing.lighter_method", severity=Severity.ADVICE,
                params={"task": name, "method": f"method.{method.value}", "asked": f"method.{workload.method.value}"},
            )  # fmt: skip
            break


def _with(task: Task, result: SearchResult, **changes: object) -> ResolvedTask:
    workload = type(task.workload).model_validate({**task.workload.model_dump(), **changes})
    return resolve_task(Task.model_validate({**task.model_dump(), "workload": workload}), result.catalog)


def _fits(resolved: ResolvedTask, result: SearchResult) -> bool:
    clusters = result.candidates.clusters[: result.candidates.obtainable]
    table = evaluate_task(resolved, resolved.tiers[0], clusters, headroom=result.scenario.constraints.headroom, timed=0)
    return bool(table.fits.any())
