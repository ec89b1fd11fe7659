"""Rule packs: lines of amount with what follows from each, and acceptance tests. Dated data with a confidence, no law.

The files lie in `resources/rules` and hold their words in both languages, so that an institution can replace them.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from importlib.resources import files

from engine.advice.result import Assessment
from engine.quantity import Money
from engine.report.document import Text

__all__ = ["AcceptanceTest", "Both", "RuleLine", "acceptance_tests", "crossed_lines", "rule_lines"]


@dataclass(frozen=True, slots=True)
class Both(Text):
    """Words of a data file that stand there in both languages; `text` is the English."""

    chinese: str = ""


@dataclass(frozen=True, slots=True)
class RuleLine:
    """An amount at which procedure changes. `scope`: general, province, or the rule of one institution as an example;
    `confidence`: high official text read, medium reliable copy, low secondary source."""

    id: str
    country: str
    amount: Money
    applies_to: str  # "purchase" of equipment, or "any" spending
    scope: str
    rule_date: str
    confidence: str
    document: Both
    effect: Both
    source_url: str


@dataclass(frozen=True, slots=True)
class AcceptanceTest:
    """One test before the last payment; `basis` says whether the pass value is published or a starting value."""

    id: str
    way: str  # "buy" where the machine must stand here, "" for rented ones too
    condition: str
    test: Both
    measure: Both
    passes: Both
    basis: str
    source_url: str


def _rows(name: str) -> list[dict[str, str]]:
    return list(csv.DictReader((files("resources") / "rules" / name).read_text(encoding="utf-8").splitlines()))


def _both(row: dict[str, str], name: str) -> Both:
    return Both(row[f"{name}_en"], row[f"{name}_zh"])


@cache
def rule_lines() -> tuple[RuleLine, ...]:
    """All lines, lowest amount of each country first."""
    found = [
        RuleLine(
            r["id"],
            r["country"],
            Money(amount=Decimal(r["amount"]), currency=r["currency"]),
            r["applies_to"],
            r["scope"],
            r["rule_date"],
            r["confidence"],
            _both(r, "document"),
            _both(r, "effect"),
            r["source_url"],
        )
        for r in _rows("lines.csv")
    ]
    return tuple(sorted(found, key=lambda line: (line.country, line.amount.amount, line.id)))


def crossed_lines(country: str, amount: Money, *, purchase: bool) -> tuple[RuleLine, ...]:
    """Lines of the country at or below the amount; none where the amount is in another currency than the lines."""
    return tuple(
        line
        for line in rule_lines()
        if line.country == country
        and line.amount.currency == amount.currency
        and line.amount.amount <= amount.amount
        and (purchase or line.applies_to == "any")
    )


@cache
def _tests() -> tuple[AcceptanceTest, ...]:
    return tuple(
        AcceptanceTest(
            r["id"],
            r["way"],
            r["condition"],
            _both(r, "test"),
            _both(r, "measure"),
            _both(r, "pass"),
            r["basis"],
            r["source_url"],
        )
        for r in _rows("acceptance.csv")
    )


def acceptance_tests(best: Assessment) -> tuple[AcceptanceTest, ...]:
    """The tests that belong to this hardware and this work."""
    return tuple(t for t in _tests() if t.way in ("", best.plan.way) and _applies(t.condition, best))


def _applies(condition: str, best: Assessment) -> bool:
    cluster = best.plan.cluster
    gpu, several = cluster.gpu, cluster.gpus_per_node > 1
    name, _, wanted = condition.partition(":")
    switched = several and cluster.intra_node.kind in ("nvlink", "nvswitch", "infinity-fabric")
    consumer = gpu.segment == "consumer"
    match name:
        case "nvlink":
            return switched and f"-{wanted}-" in f"-{gpu.id}-"
        case "not":
            return gpu.vendor.lower() != wanted
        case "vendor":
            return gpu.vendor.lower() == wanted
        case _:
            return {
                "": True,
                "several": several,
                "several-without-switch": several and not switched,
                "several-nodes": cluster.nodes > 1,
                "consumer": consumer,
                "data-centre": not consumer and gpu.vendor.lower() == "nvidia",
                "training": any(t.training for t in best.tasks),
                "serving": any(t.inference for t in best.tasks),
            }[name]
