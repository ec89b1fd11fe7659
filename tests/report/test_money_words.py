"""The two figures of money in words: what differs between them, and what makes the range wide."""

from __future__ import annotations

from decimal import Decimal

import pytest

from engine.cost.result import CostAssessment
from engine.i18n import LANGUAGES, Language
from engine.quantity import MoneyEstimate, Term
from engine.report.money_words import in_short, two_figures, what_widens

Triple = tuple[float, float, float]


def cost(cash: dict[str, Triple], job: dict[str, Triple]) -> CostAssessment:
    """An assessment whose terms have these amounts."""

    def terms(amounts: dict[str, Triple]) -> tuple[Term, ...]:
        return tuple(
            Term(name=f"cost.{name}", unit="USD", low=low, expected=expected, high=high, formula="x")
            for name, (low, expected, high) in amounts.items()
        )

    def total(amounts: dict[str, Triple]) -> MoneyEstimate:
        low, expected, high = (sum((Decimal(str(a[i])) for a in amounts.values()), Decimal(0)) for i in range(3))
        return MoneyEstimate(low=low, expected=expected, high=high, currency="USD")

    return CostAssessment(
        cash_needed=total(cash),
        cost_of_job=total(job),
        risk_adjusted_cost=total(job),
        cash_terms=terms(cash),
        job_terms=terms(job),
    )


RENT = {"rent": (90.0, 200.0, 500.0)}
SETUP = {"engineering": (200.0, 538.0, 2885.0)}
WEAR = {"wear": (17_000.0, 26_000.0, 38_000.0)}
ENERGY = {"energy": (2.0, 8.0, 33.0)}


def test_a_rented_plan_says_what_is_billed_and_what_is_not() -> None:
    english = Language("en")
    rented = cost(RENT, RENT | SETUP)
    assert "US$538" in in_short(rented, english)
    assert "what the provider bills" in two_figures(rented, english)
    wide = what_widens(rented, english)
    assert "US$200 – US$2,885" in wide
    assert "US$200 (US$90.00 – US$500)" in wide, "what the job costs without the person's own hours"


def test_a_bought_plan_tells_price_from_loss_in_value() -> None:
    english = Language("en")
    bought = cost({"cards": (40_000.0, 50_000.0, 60_000.0)} | ENERGY, WEAR | ENERGY | SETUP)
    assert "whole price" in two_figures(bought, english)
    assert "US$26,000" in two_figures(bought, english) and "US$26,000" in in_short(bought, english)
    assert "Loss in value" in what_widens(bought, english)


def test_owned_cards_need_electricity_only() -> None:
    owned = cost(ENERGY, ENERGY | SETUP)
    assert "there already" in two_figures(owned, Language("en"))


def test_a_narrow_range_needs_no_word() -> None:
    assert what_widens(cost(RENT, {"rent": (90.0, 100.0, 110.0)}), Language("en")) == ""


@pytest.mark.parametrize("code", LANGUAGES)
def test_amounts_stand_in_every_language(code: str) -> None:
    language = Language(code)  # type: ignore[arg-type]
    for one in (cost(RENT, RENT | SETUP), cost(ENERGY, WEAR | ENERGY | SETUP), cost(ENERGY, ENERGY | SETUP)):
        for text in (in_short(one, language), two_figures(one, language), what_widens(one, language)):
            assert "US$" in text
            assert "{" not in text
