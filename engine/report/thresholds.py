"""Procurement lines next to an amount: one below, one above, each with its document and date. Data, not advice."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from importlib.resources import files

from engine.advice.result import Advice
from engine.messages.mark import N_
from engine.quantity import Money
from engine.report.document import Label, Text, Value, say

__all__ = ["Threshold", "next_lines", "threshold_lines", "thresholds"]


@dataclass(frozen=True, slots=True)
class Threshold:
    """An amount at which procedure changes. `id` names its words (label ``threshold.<id>``)."""

    id: str
    country: str
    amount: Decimal
    currency: str
    applies_to: str  # "purchase" of equipment, or "any" spending
    rule_date: str
    confidence: str
    document: str
    source_url: str


@cache
def thresholds() -> tuple[Threshold, ...]:
    """All lines of the register, lowest first."""
    text = (files("resources") / "report/thresholds.csv").read_text(encoding="utf-8")
    rows = [_threshold(row) for row in csv.DictReader(text.splitlines())]
    return tuple(sorted(rows, key=lambda t: (t.country, t.amount, t.id)))


def _threshold(row: dict[str, str]) -> Threshold:
    return Threshold(
        id=row["id"],
        country=row["country"],
        amount=Decimal(row["amount"]),
        currency=row["currency"],
        applies_to=row["applies_to"],
        rule_date=row["rule_date"],
        confidence=row["confidence"],
        document=row["document"],
        source_url=row["source_url"],
    )


def next_lines(country: str, amount: Money, *, purchase: bool) -> tuple[Threshold | None, Threshold | None]:
    """The highest line at or below the amount and the lowest above it, in the amount's own currency."""
    own = [
        t
        for t in thresholds()
        if t.country == country and t.currency == amount.currency and (purchase or t.applies_to == "any")
    ]
    below = [t for t in own if t.amount <= amount.amount]
    above = [t for t in own if t.amount > amount.amount]
    return (below[-1] if below else None), (above[0] if above else None)


def threshold_lines(advice: Advice, amount: Money, *, purchase: bool) -> tuple[Value, ...]:
    """The two neighbouring lines in words; none where the region or its currency has no line in the register."""
    below, above = next_lines(advice.scenario.constraints.region, amount, purchase=purchase)
    lines: list[Value] = []
    if below is not None:
        lines.append(_line(N_("Line reached: {amount:money}: {effect} ({document}, {date})."), below))
    if above is not None:
        lines.append(_line(N_("Next line above: {amount:money}: {effect} ({document}, {date})."), above))
    return tuple(lines)


def _line(template: str, line: Threshold) -> Value:
    return say(
        template,
        amount=f"{line.amount} {line.currency}",
        effect=Label(f"threshold.{line.id}"),
        document=Text(line.document),
        date=Text(line.rule_date),
    )
