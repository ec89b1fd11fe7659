"""Traces of single blocks: small random shapes that no fit of a factor has seen (packaging/derive_blocks.py)."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from typing import Any

from traced_models import DATA

#: Part of three blocks' bytes by which a form may miss; a form that is a fit of several moments also by its own error.
TOLERANCE = 0.0005


@dataclass(frozen=True)
class BlockTrace:
    """Widths of a shape by symbol, and the bytes a token of each quantity."""

    kind: str
    way: str
    widths: dict[str, float]
    observed: dict[str, float]

    def size(self, quantity: str) -> float:
        """What an error is measured by: the bytes of three blocks and what surrounds them."""
        return abs(3 * self.observed["saved"] + (0.0 if quantity == "saved" else self.observed[quantity]))

    def miss(self, quantity: str, form: dict[str, float]) -> float:
        """Error of a form, as a part of three blocks' bytes."""
        value = sum(factor * self.widths.get(symbol, 0.0) for symbol, factor in form.items())
        return abs(value - self.observed[quantity]) / self.size(quantity)


def allowed(entry: dict[str, Any], quantity: str) -> float:
    """How far a form may miss."""
    return TOLERANCE + 1.5 * entry["fit_error"][quantity]


@cache
def block_traces() -> tuple[BlockTrace, ...]:
    """All of them."""
    lines = (DATA / "block_traces.jsonl").read_text(encoding="utf-8").splitlines()
    rows = (json.loads(line) for line in lines)
    return tuple(BlockTrace(r["kind"], r["way"], r["widths"], r["bytes_per_token"]) for r in rows)
