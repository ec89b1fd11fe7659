"""Runs every row of a file of traced or measured cases through the engine, and keeps score (cases.md §3-4)."""

from __future__ import annotations

import math
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, cast

from engine.control import Control
from engine.errors import InputError
from engine.findings import Finding
from engine.hardware.model import CatalogSnapshot
from engine.memory.result import Verdict
from engine.quantity import Estimate
from engine.validation.measured import compare_row
from engine.validation.result import Comparison, Outcome, Unexpressed, ValidationReport
from engine.validation.score import marginals
from engine.validation.tables import FileFormat, Row, read_rows
from engine.validation.traced import compare_trace

__all__ = ["WrongFit", "validate_file", "worst_rows", "wrong_fits"]

_EVERY = 16  # rows between two looks at whether to stop


def validate_file(
    path: Path, catalog: CatalogSnapshot, *, split: str | None = None, control: Control | None = None
) -> ValidationReport:
    """Score of a file; `split` keeps only the rows of that part. A row that can't be used is listed with its reason."""
    control = control or Control()
    kind, rows = read_rows(path)
    if split:
        rows = [r for r in rows if r.get("split") == split]
        if not rows:
            raise InputError("validate.no_split", file=str(path), split=split)
    comparisons: list[Comparison] = []
    unexpressed: list[Unexpressed] = []
    verdicts: Counter[tuple[str, str]] = Counter()
    used: Counter[str] = Counter()
    for number, row in enumerate(rows):
        if number % _EVERY == 0:
            control.checkpoint(number, len(rows))
        try:
            comparisons.extend(_compare(kind, row, catalog, verdicts))
            used[_kind(kind, row)] += 1
        except InputError as error:
            params = cast("dict[str, str | int | float | None]", dict(error.params))
            reason = Finding(code=error.code, params=params)
            row_id = row.get("case_id", "") if kind == "traced" else row.get("id", "")
            unexpressed.append(Unexpressed(id=row_id, kind=_kind(kind, row), reason=reason))
    return _report(path, kind, split, rows, comparisons, unexpressed, verdicts, used, catalog)


def worst_rows(path: Path, catalog: CatalogSnapshot, *, split: str, count: int) -> list[Comparison]:
    """The measured rows whose own number is furthest off in the logarithm, the worst first; known models only."""
    _, rows = read_rows(path)
    found: list[Comparison] = []
    for row in rows:
        if row.get("split") != split:
            continue
        with suppress(InputError):
            found.extend(c for c in compare_row(row, catalog)[1] if c.primary and not c.shape_guessed)
    return sorted(found, key=lambda c: -abs(math.log(c.estimate.expected / c.measured)))[:count]


@dataclass(frozen=True, slots=True)
class WrongFit:
    """A run that went out of memory and is said to fit: the worst error that there is. Bytes of one card."""

    row_id: str
    framework: str
    model: str
    gpu: str
    needed_bytes: Estimate
    usable_bytes: float


def wrong_fits(path: Path, catalog: CatalogSnapshot, *, split: str) -> list[WrongFit]:
    """The rows that report an out-of-memory error and get the verdict "fits"."""
    _, rows = read_rows(path)
    found: list[WrongFit] = []
    for row in rows:
        if row.get("split") != split or row.get("outcome") != "oom":
            continue
        with suppress(InputError):
            memory = compare_row(row, catalog)[0].memory
            if memory.verdict is Verdict.FITS:
                names = (row["id"], row["framework"], row["model"], row["gpu"])
                found.append(WrongFit(*names, memory.driver, memory.usable_bytes or 0.0))
    return found


def _kind(kind: FileFormat, row: Row) -> str:
    return "traced" if kind == "traced" else row.get("kind", "")


def _compare(
    kind: FileFormat, row: Row, catalog: CatalogSnapshot, verdicts: Counter[tuple[str, str]]
) -> list[Comparison]:
    if kind == "traced":
        return [compare_trace(row, catalog)]
    found, comparisons = compare_row(row, catalog)
    if found.gpu_id is not None:
        reported = row.get("outcome") or "measured"
        if reported == "oom" and row.get("oom_cause", "") in ("", "unknown"):
            reported = "oom_cause_unknown"
        verdicts[reported, found.memory.verdict.value] += 1
    return comparisons


def _report(
    path: Path,
    kind: FileFormat,
    split: str | None,
    rows: list[Row],
    comparisons: list[Comparison],
    unexpressed: list[Unexpressed],
    verdicts: Counter[tuple[str, str]],
    used: Counter[str],
    catalog: CatalogSnapshot,
) -> ValidationReport:
    judged = kind == "measured"
    known = [c for c in comparisons if not c.shape_guessed]
    return ValidationReport(
        file=path.name,
        format=kind,
        split=split,
        rows=len(rows),
        used=sum(used.values()),
        rows_by_kind=dict(sorted(Counter(_kind(kind, r) for r in rows).items())),
        used_by_kind=dict(sorted(used.items())),
        groups=marginals([c for c in known if c.primary], judged=judged),
        secondary_groups=_secondary([c for c in known if not c.primary]),
        guessed_groups=marginals([c for c in comparisons if c.shape_guessed and c.primary], judged=judged),
        outcomes=_outcomes(verdicts),
        unexpressed=tuple(unexpressed),
        catalog_version=catalog.version,
        catalog_sha256=catalog.sha256,
    )


def _secondary(rows: list[Comparison]) -> Any:
    """Further numbers of the rows, each quantity by itself."""
    quantities = sorted({r.quantity for r in rows})
    return tuple(g for q in quantities for g in marginals([r for r in rows if r.quantity == q]) if g.gpu is None)


def _outcomes(verdicts: Counter[tuple[str, str]]) -> tuple[Outcome, ...]:
    names: tuple[Literal["fits", "measured", "oom", "oom_cause_unknown"], ...]
    names = ("fits", "measured", "oom", "oom_cause_unknown")
    counted = {n: {v: count for (r, v), count in verdicts.items() if r == n} for n in names}
    return tuple(Outcome(reported=n, **counted[n]) for n in names if counted[n])
