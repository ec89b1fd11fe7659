"""Small helpers to build named terms whose formula text can be evaluated over their own values."""

from __future__ import annotations

from collections.abc import Sequence

from engine.quantity import Bounds, Number, TermBlock

__all__ = ["TRACE", "add", "as_bounds", "term"]

#: Where the exact forms come from: `resources/calibration/block_factors.json` names versions and method.
TRACE = "traces of training steps, torch 2.13.0, transformers 5.24.0, PEFT 0.21.2 (block_factors.json)"


def as_bounds(amount: Bounds | Number) -> Bounds:
    """Bounds of an amount; a plain number has no spread."""
    return amount if isinstance(amount, Bounds) else Bounds.exact(amount)


def term(name: str, amount: Bounds | Number, formula: str, source: str = TRACE, **values: Number | str) -> TermBlock:
    """A term in bytes. `formula` is arithmetic over `values` and gives the expected amount."""
    return TermBlock(name=name, amount=as_bounds(amount), formula=formula, values=values, source=source)


def add(terms: Sequence[TermBlock]) -> Bounds:
    """Sum of the amounts of several terms. Those without spread first: one sum serves low, expected and high."""
    amounts = sorted((t.amount for t in terms), key=_has_spread)
    return sum(amounts[1:], start=amounts[0]) if amounts else Bounds.exact(0.0)


def _has_spread(amount: Bounds) -> bool:
    return not amount.is_exact
