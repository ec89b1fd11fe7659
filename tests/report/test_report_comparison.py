"""Cash of the ways on the same work. Expectations are worked out by hand from stated numbers."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sample_advice import sample_advice, scenario

from engine.quantity import MoneyEstimate, Term
from engine.report.comparison import (
    best_of_each_way,
    break_evens,
    busy_hours,
    cash_paths,
    months_to_pay,
    recommended,
    whole_life,
)


def test_payback_does_not_count_the_price_twice() -> None:
    """Report specification §10, trap 3: 8 x 35,000 x 1.4, own cash 3,376 a month, cloud 14,400 a month."""
    price = 8 * 35_000 * 1.4
    assert months_to_pay(price, 14_400 - 3_376) == pytest.approx(35.6, abs=0.05)
    # the mistaken form divides by a saving that already contains the amortised price, and gives 137 months
    assert months_to_pay(price, 14_400 - 3_376) != pytest.approx(137, abs=20)


def test_nothing_saved_never_pays() -> None:
    assert months_to_pay(1000.0, 0.0) is None
    assert months_to_pay(1000.0, -5.0) is None


def test_the_same_work_stands_behind_every_path() -> None:
    advice = sample_advice()
    paths = {p.assessment.plan.way: p for p in cash_paths(advice)}
    hours = advice.scenario.economics.hours_per_month
    assert paths["buy"].hours_per_month == pytest.approx(hours)
    # the rented card does in 60 h what the bought one does in 150 h
    assert paths["rent"].hours_per_month == pytest.approx(hours * 60 / 150)
    rent = paths["rent"].assessment
    jobs = hours / busy_hours(paths["buy"].assessment).expected
    assert paths["rent"].monthly.expected == pytest.approx(float(rent.cost.cash_needed.expected) * jobs, rel=1e-4)
    assert paths["rent"].upfront.expected == 0


def test_bought_cash_is_the_machine_at_once_and_energy_after() -> None:
    advice = sample_advice()
    buy = next(p for p in cash_paths(advice) if p.assessment.plan.way == "buy")
    terms = {t.name: t.expected for t in buy.assessment.cost.cash_terms}
    assert buy.upfront.expected == pytest.approx(sum(v for k, v in terms.items() if k != "cost.energy"))
    assert buy.monthly.expected == pytest.approx(terms["cost.energy"] * 200 / 150)


def test_break_even_lies_where_the_lines_cross() -> None:
    advice = sample_advice()
    point = break_evens(advice)[0]
    assert point.other.assessment.plan.way == "rent"
    months = point.months[1]
    assert months is not None
    assert point.buy.after(months).expected == pytest.approx(point.other.after(months).expected)
    low, high = point.months[0], point.months[2]
    assert low is not None and low <= months
    assert high is None or high >= months
    # stated use 200 of 730 h, paid after `months` of 48
    assert point.utilization[1] == pytest.approx(200 / 730 * months / 48)


def test_break_even_needs_a_purchase_and_another_way() -> None:
    assert break_evens(sample_advice(ways=("buy",))) == ()
    assert break_evens(sample_advice(ways=("rent", "shared"))) == ()


def test_whole_life_is_cash_over_the_years_and_the_job_where_rented() -> None:
    advice = sample_advice()
    best = best_of_each_way(advice)
    total, present, years = whole_life(advice, best["buy"])
    path = next(p for p in cash_paths(advice) if p.assessment.plan.way == "buy")
    assert years == 4
    assert float(total.expected) == pytest.approx(path.upfront.expected + 48 * path.monthly.expected, abs=0.01)
    assert path.upfront.expected < float(present.expected) < float(total.expected)
    rent_total, _present, rent_years = whole_life(advice, best["rent"])
    assert (rent_total, rent_years) == (best["rent"].cost.cash_needed, 0.0)


def test_committed_terms_are_paid_by_whole_months() -> None:
    advice = sample_advice(ways=("rent",))
    rent = advice.ranked[0]
    assert rent.plan.offer is not None
    offer = rent.plan.offer.model_copy(update={"term": "monthly"})
    bill = Term(
        name="cost.rent", unit="CNY", low=9000, expected=10_000, high=11_000, formula="", values={"billed_hours": 1460}
    )
    money = MoneyEstimate(low=Decimal(9000), expected=Decimal(10_000), high=Decimal(11_000), currency="CNY")
    cost = rent.cost.model_copy(update={"cash_terms": (bill,), "cash_needed": money})
    plan = rent.plan.model_copy(update={"offer": offer})
    changed = advice.model_copy(update={"ranked": (rent.model_copy(update={"plan": plan, "cost": cost}),)})
    # two months were billed for 10,000: one month costs 5,000, however few of its hours are used
    assert cash_paths(changed)[0].monthly.expected == pytest.approx(5_000)


def test_recommended_is_the_balanced_pick() -> None:
    advice = sample_advice()
    balanced = next(p for p in advice.picks if p.role == "balanced")
    assert recommended(advice) is advice.ranked[balanced.index]
    assert recommended(advice.model_copy(update={"ranked": (), "picks": ()})) is None


@settings(max_examples=25, deadline=None)
@given(hours=st.floats(10, 700), years=st.floats(1, 8))
def test_more_use_never_pays_later(hours: float, years: float) -> None:
    asked = scenario()
    economics = asked.economics.model_copy(update={"hours_per_month": hours, "years": years})
    more = economics.model_copy(update={"hours_per_month": min(730.0, hours * 1.04)})
    advice = sample_advice()
    less_used, more_used = (
        break_evens(advice.model_copy(update={"scenario": asked.model_copy(update={"economics": e})}))[0].months[1]
        for e in (economics, more)
    )
    assert less_used is not None and more_used is not None
    assert more_used <= less_used + 1e-9
