"""The ways held against each other, in sentences for window and terminal."""

from __future__ import annotations

from decimal import Decimal

from engine.advice.ways_result import WayCost, WaysComparison
from engine.i18n import Language
from engine.quantity import Estimate, Money, MoneyEstimate

__all__ = ["amount_words", "estimate_words", "summary_words", "way_words"]


def amount_words(amount: float, currency: str, language: Language) -> str:
    """An amount over years, to the unit of the currency."""
    return language.money(Money.model_validate({"amount": Decimal(round(amount)), "currency": currency}))


def estimate_words(estimate: Estimate | None, currency: str, language: Language) -> str:
    """Expected value with its interval; a dash where there is none."""
    if estimate is None:
        return "–"
    low, expected, high = (Decimal(round(v)) for v in (estimate.low, estimate.expected, estimate.high))
    if low == high:
        return amount_words(estimate.expected, currency, language)
    money = MoneyEstimate.model_validate({"low": low, "expected": expected, "high": high, "currency": currency})
    return language.fill(
        "{expected} ({low} – {high})",
        expected=language.money(Money(amount=expected, currency=money.currency)),
        low=language.money(Money(amount=low, currency=money.currency)),
        high=language.money(Money(amount=high, currency=money.currency)),
    )


def way_words(way: WayCost, ways: WaysComparison, language: Language) -> tuple[str, ...]:
    """What the cash of a way goes into, and when; empty where the way is not to be had."""
    remark = (language.text(way.remark),) if way.remark is not None else ()
    if way.total is None or not way.lines:
        return remark
    comma = language.gettext(", ")
    lines = comma.join(
        language.fill("{item} {amount}", item=language.label(c), amount=amount_words(a, ways.currency, language))
        for c, a in way.lines
    )
    years = comma.join(amount_words(y, ways.currency, language) for y in way.years[1:])
    return (
        language.fill("{way}: {lines}.", way=language.label(f"compare.{way.way}"), lines=lines),
        language.fill(
            "On the first day {first}; then by year {years}.",
            first=amount_words(way.first_day, ways.currency, language),
            years=years,
        ),
        *remark,
    )


def summary_words(ways: WaysComparison, language: Language) -> tuple[str, ...]:
    """Break-even, what would change the order, one successful checkpoint."""
    found = [language.text(f) for f in ways.findings]
    if ways.rented is not None:
        found.append(_break_even(ways, language))
    cases = [c for c in ways.scenarios if c.cheapest != ways.cheapest]
    if cases:
        semicolon = language.gettext("; ")
        said = semicolon.join(
            language.fill("{case}: {way}", case=language.label(c.code), way=language.label(f"compare.{c.cheapest}"))
            for c in cases
        )
        found.append(language.fill("Another way becomes the cheapest: {cases}.", cases=said))
    else:
        cheapest = language.label(f"compare.{ways.cheapest}")
        found.append(
            language.fill(
                "'{way}' stays the cheapest if the purchase price rises by 30 %, the use is half, the work begins six "
                "months late or renting becomes 30 % cheaper.",
                way=cheapest,
            )
        )
    if ways.checkpoint:
        three = Estimate(
            low=sum(t.low for t in ways.checkpoint),
            expected=sum(t.expected for t in ways.checkpoint),
            high=sum(t.high for t in ways.checkpoint),
        )
        found.append(
            language.fill(
                "One successful checkpoint costs {cost}, failed and trial runs included.",
                cost=estimate_words(three, ways.currency, language),
            )
        )
    return tuple(found)


def _break_even(ways: WaysComparison, language: Language) -> str:
    def hours(value: float | None) -> str:
        return language.gettext("never") if value is None else language.number(value, 0)

    low, expected, high = (hours(h) for h in ways.break_even_hours)
    early, paid, late = (hours(m) for m in ways.crossing_months)
    return language.fill(
        "Buying costs the same as '{way}' at {expected} hours of use a month ({low} – {high}); at the stated "
        "{stated:num} hours it has paid after {paid} months ({early} – {late}).",
        way=language.label(f"compare.{ways.rented}"),
        expected=expected,
        low=low,
        high=high,
        stated=ways.hours_per_month,
        paid=paid,
        early=early,
        late=late,
    )
