"""Statistics of errors (cases.md §4): marginal groups, coverage, widths, and a bootstrap interval of the median."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from engine.validation.result import Comparison, Group, Quantity

__all__ = ["ENOUGH_ROWS", "group_of", "marginals"]

#: Coverage is judged for groups of at least so many rows; smaller ones are pooled.
ENOUGH_ROWS = 30
_RESAMPLES = 500
_SEED = 20261201
_UNKNOWN = "unknown"


def marginals(rows: Sequence[Comparison], *, judged: bool = True) -> tuple[Group, ...]:
    """Overall; each kind; kind x method, framework, card; for memory also by metric, cards, and stated settings.

    Memory whose metric is not known is compared with the hull of the three and stands in a group of its own only.
    """
    known = [r for r in rows if not (r.quantity == "memory" and r.memory_metric == _UNKNOWN)]
    groups: list[Group] = [group_of(known, judged=judged)] if known else []
    for kind, mine in _by(rows, lambda r: r.kind):
        groups.extend(_of_kind(kind, mine, judged=judged))
    return tuple(groups)


def _of_kind(kind: str, rows: Sequence[Comparison], *, judged: bool) -> Iterator[Group]:
    known = [r for r in rows if not (r.quantity == "memory" and r.memory_metric == _UNKNOWN)]
    if known:
        yield group_of(known, judged=judged, kind=kind)
    keys: dict[str, Callable[[Comparison], str]] = {
        "method": lambda r: r.method,
        "framework": lambda r: r.framework,
        "gpu": lambda r: r.gpu,
    }
    for name, key in keys.items():
        small: list[Comparison] = []
        for value, mine in _by((r for r in known if key(r)), key):
            yield group_of(mine, judged=judged, kind=kind, **{name: value})
            if len(mine) < ENOUGH_ROWS:
                small.extend(mine)
        if judged and small and len(small) < len(known):
            yield group_of(small, judged=judged, kind=kind, pooled=name)
    if any(r.quantity == "memory" for r in rows):
        yield from _of_memory(kind, rows, known, judged=judged)


def _of_memory(kind: str, rows: Sequence[Comparison], known: Sequence[Comparison], *, judged: bool) -> Iterator[Group]:
    for metric, mine in _by(rows, lambda r: r.memory_metric):
        yield group_of(mine, judged=judged, kind=kind, memory_metric=metric)
    for several, mine in _by(known, lambda r: r.several_gpus):
        gpus = "several" if several else "one"
        yield group_of(mine, judged=judged, kind=kind, gpus=gpus)
        for stated, some in _by(mine, lambda r: r.stated):
            yield group_of(some, judged=judged, kind=kind, gpus=gpus, settings="stated" if stated else "partial")
    for stated, mine in _by(known, lambda r: r.stated):
        yield group_of(mine, judged=judged, kind=kind, settings="stated" if stated else "partial")


def _by(rows: Iterable[Comparison], key: Callable[[Comparison], Any]) -> list[tuple[Any, list[Comparison]]]:
    found: dict[Any, list[Comparison]] = defaultdict(list)
    for row in rows:
        found[key(row)].append(row)
    return sorted(found.items(), key=lambda item: str(item[0]))


def group_of(rows: Sequence[Comparison], *, judged: bool = True, **keys: Any) -> Group:
    """Statistics of some comparisons; `keys` say what they share. `judged`: whether their intervals are scored."""
    errors = np.array([r.error for r in rows])
    sizes = np.abs(errors)
    widths = [r.estimate.relative_width for r in rows]
    low, high = _bootstrap(sizes)
    phases = [r.phase_right for r in rows if r.phase_right is not None]
    quantities: set[Quantity] = {r.quantity for r in rows}
    return Group(
        **keys,
        quantity=quantities.pop() if len(quantities) == 1 else None,
        rows=len(rows),
        median_abs_error=float(np.median(sizes)),
        p90_abs_error=float(np.quantile(sizes, 0.90)),
        p95_abs_error=float(np.quantile(sizes, 0.95)),
        max_abs_error=float(sizes.max()),
        bias=float(np.median(errors)),
        coverage=sum(r.covered for r in rows) / len(rows) if judged else None,
        coverage_judged=judged and len(rows) >= ENOUGH_ROWS,
        median_width=float(np.median(widths)) if judged else None,
        median_low=low,
        median_high=high,
        phase_right=sum(phases) / len(phases) if phases else None,
    )


def _bootstrap(sizes: np.ndarray[Any, np.dtype[np.float64]]) -> tuple[float, float]:
    """90 % interval of the median by resampling rows, with a fixed seed."""
    if len(sizes) == 1:
        return float(sizes[0]), float(sizes[0])
    random = np.random.default_rng(_SEED)
    picks = random.integers(0, len(sizes), size=(_RESAMPLES, len(sizes)))
    medians = np.median(sizes[picks], axis=1)
    return float(np.quantile(medians, 0.05)), float(np.quantile(medians, 0.95))
