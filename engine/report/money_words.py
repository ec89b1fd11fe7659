"""The two figures of money in plain words: why they differ, and what makes the range wide. For window and terminal."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import ROUND_HALF_UP, Decimal

from engine.cost.result import CostAssessment
from engine.i18n import Language
from engine.quantity import Money, Term

__all__ = ["in_short", "two_figures", "what_widens"]

CENT = Decimal("0.01")
#: Above this ratio of high to low a range is worth a word.
WIDE = 1.5
_SETUP, _WEAR = "cost.engineering", "cost.wear"


def in_short(cost: CostAssessment, language: Language) -> str:
    """What stands in the cost of the job and not in the cash, for the line below it."""
    job = _by_name(cost.job_terms)
    setup = _money(job[_SETUP].expected, cost, language)
    if _WEAR in job:
        return language.fill(
            "Includes {wear} loss in value and {setup} for your own hours: no cash",
            wear=_money(job[_WEAR].expected, cost, language),
            setup=setup,
        )
    return language.fill("Includes {setup} for your own hours of setting up: no cash", setup=setup)


def two_figures(cost: CostAssessment, language: Language) -> str:
    """Why the cost of the job is another figure than the cash."""
    job = _by_name(cost.job_terms)
    setup = _money(job[_SETUP].expected, cost, language)
    if all(t.name == "cost.energy" for t in cost.cash_terms):
        return language.fill(
            "The cards are there already: cash needed is the electricity. The cost of the job adds your own hours of "
            "setting up ({setup}), which no one bills you.",
            setup=setup,
        )
    if _WEAR not in job:
        return language.fill(
            "Cash needed is what the provider bills. The cost of the job adds your own hours of setting up ({setup}), "
            "which no one bills you.",
            setup=setup,
        )
    return language.fill(
        "Cash needed is the whole price of what is bought, with electricity. The cost of the job counts only the part "
        "of the price that this job uses up (loss in value: {wear}), electricity, and your own hours of setting up "
        "({setup}), which no one bills you.",
        wear=_money(job[_WEAR].expected, cost, language),
        setup=setup,
    )


def what_widens(cost: CostAssessment, language: Language) -> str:
    """The item that makes most of the range of the cost of the job; "" where the range is narrow."""
    terms, total = cost.job_terms, cost.cost_of_job
    if float(total.high) <= WIDE * float(total.low):
        return ""
    widest = max(terms, key=lambda t: t.high - t.low)
    low, high = _money(widest.low, cost, language), _money(widest.high, cost, language)
    if widest.name != _SETUP:
        return language.fill(
            "The range is wide mostly because of one item, {item}: {low} – {high}.",
            item=language.label(widest.name),
            low=low,
            high=high,
        )
    rest = [t for t in terms if t is not widest]
    return language.fill(
        "The range is wide mostly because of your own hours of setting up ({low} – {high}): people need very different "
        "times for it. Without them the job costs {rest} ({rest_low} – {rest_high}).",
        low=low,
        high=high,
        rest=_sum((t.expected for t in rest), cost, language),
        rest_low=_sum((t.low for t in rest), cost, language),
        rest_high=_sum((t.high for t in rest), cost, language),
    )


def _by_name(terms: tuple[Term, ...]) -> dict[str, Term]:
    return {t.name: t for t in terms}


def _money(amount: float, cost: CostAssessment, language: Language) -> str:
    return _sum((amount,), cost, language)


def _sum(amounts: Iterable[float], cost: CostAssessment, language: Language) -> str:
    """Each rounded to the cent first, as the totals are."""
    total = sum((Decimal(repr(float(a))).quantize(CENT, ROUND_HALF_UP) for a in amounts), Decimal(0))
    return language.money(Money(amount=total, currency=cost.cost_of_job.currency))
