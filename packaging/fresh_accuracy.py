"""The section of docs/accuracy.md on traced steps that were drawn before the formulas were run on them."""

from __future__ import annotations

import csv
import statistics
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from unittest.mock import patch

import numpy as np

import engine.memory.block_kind
import engine.memory.factors
from engine.hardware.model import CatalogSnapshot
from engine.memory.calibration import block_factors
from engine.validation.result import Comparison
from engine.validation.traced import compare_trace

__all__ = ["fresh_section"]

#: Expectation -> the words of it, and what was expected: median, 95 % below, greatest, phase right.
EXPECTED = {
    "fitted": ("kinds of block derived first", "0.1 %, 1 %, 2.5 %, 95 %"),
    "new": ("kinds of block derived from random shapes since", "0.1 %, 1 %, 2.5 %, 95 %"),
    "fallback": ("kinds of block without factors, or with theirs hidden", "3 %, –, 8 %, –"),
}
WORST = 12


def fresh_section(grids: Sequence[Path], catalog: CatalogSnapshot) -> Iterator[str]:
    """Figures by grid and expectation, and the worst rows."""
    tables = [list(csv.DictReader(path.read_text(encoding="utf-8").splitlines())) for path in grids]
    yield f"\n## Memory against {sum(map(len, tables))} fresh traces\n"
    yield "Drawn with a fixed seed, and committed with their thresholds, before the formulas were run on them; none of"
    yield "the models was traced before. What a grid showed was mended since, so that these figures are those of now;"
    yield "what each grid said when it was run first, what was found and what is missed stands in"
    yield "`tests/reference/FRESH.md`.\n"
    yield "| grid | group | rows | median error | 95 % below | greatest | phase right | inside | expected |"
    yield "| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | --- |"
    worst: list[tuple[str, Comparison, str]] = []
    for grid, rows in zip(("first", "second"), tables, strict=True):
        for name, (words, expected) in EXPECTED.items():
            mine = [r for r in rows if r["expectation"] == name]
            with _kinds_hidden(mine, catalog) if name == "fallback" else nullcontext():
                found = [compare_trace(r, catalog) for r in mine]
            yield f"| {grid} | {words} | {len(found)} | {_figures(found)} | {expected} |"
            worst += [(name, c, _way(r)) for c, r in zip(found, mine, strict=True)]
    yield f"\nThe {WORST} worst rows:\n"
    yield "| case | group | model and way | error |\n| --- | --- | --- | ---: |"
    for name, comparison, way in sorted(worst, key=lambda w: -abs(_error(w[1])))[:WORST]:
        yield f"| {comparison.row_id} | {name} | {way} | {_error(comparison) * 100:+.2f} % |"


def _figures(found: Sequence[Comparison]) -> str:
    errors = np.array([abs(_error(c)) for c in found])
    inside = statistics.mean(c.estimate.low <= c.measured <= c.estimate.high for c in found)
    phases = statistics.mean(bool(c.phase_right) for c in found)
    cells = (f"{np.median(errors):.4%}", f"{np.quantile(errors, 0.95):.2%}", f"{errors.max():.2%}", f"{phases:.1%}")
    return " | ".join(c.replace("%", " %") for c in (*cells, f"{inside:.1%}"))


def _error(comparison: Comparison) -> float:
    return comparison.estimate.expected / comparison.measured - 1


def _way(row: dict[str, str]) -> str:
    parts = [row["model"], row["method"], f"{row['seq_len']} × {row['micro_batch']}", row["attention"]]
    parts += [f"recomputed: {row['checkpointing']}", f"{row['loss']} loss"]
    if row["method"] != "full":
        parts += [f"adapters {row['lora_targets']}, {'autocast' if row['autocast'] == 'True' else row['lora_dtype']}"]
    return ", ".join([*parts, *[f"{row['fsdp']} ranks"] * (row["fsdp"] != "1")])


@contextmanager
def _kinds_hidden(rows: list[dict[str, str]], catalog: CatalogSnapshot) -> Generator[None]:
    """Without the factors of the kinds that these rows have, as for a model of a kind that nobody derived."""
    hidden = {catalog.model_by_id[r["model"]].block_kind for r in rows}
    left = {kind: ways for kind, ways in block_factors().items() if kind not in hidden}
    engine.memory.factors.forms_of.cache_clear()
    with (
        patch.object(engine.memory.block_kind, "block_factors", lambda: left),
        patch.object(engine.memory.factors, "block_factors", lambda: left),
    ):
        yield
    engine.memory.factors.forms_of.cache_clear()
