"""Reads the calibration data of the memory formulas; the formulas themselves do no I/O."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

__all__ = ["Overhead", "block_factors", "memory_overheads"]

_FOLDER = "calibration"


@cache
def block_factors() -> dict[str, dict[str, Any]]:
    """Factors of each kind of block and way of training (`block_factors.json`)."""
    text = (files("resources") / _FOLDER / "block_factors.json").read_text(encoding="utf-8")
    return json.loads(text)["kinds"]


@dataclass(frozen=True, slots=True)
class Overhead:
    """One row of `memory_overheads.csv`: low, expected and high of a constant, with its unit and source."""

    item: str
    scope: str
    low: float
    expected: float
    high: float
    unit: str
    source: str
    date: str
    notes: str


@cache
def memory_overheads() -> dict[tuple[str, str], Overhead]:
    """Constants by (item, scope); scope "" is the general case."""
    text = (files("resources") / _FOLDER / "memory_overheads.csv").read_text(encoding="utf-8")
    rows: dict[tuple[str, str], Overhead] = {}
    for row in csv.DictReader(io.StringIO(text)):
        one = Overhead(
            item=row["item"],
            scope=row["scope"],
            low=float(row["low"]),
            expected=float(row["expected"]),
            high=float(row["high"]),
            unit=row["unit"],
            source=row["source"],
            date=row["date"],
            notes=row["notes"],
        )
        rows[one.item, one.scope] = one
    return rows
