"""Ledgers, crossings and break-even against figures worked out by hand; and the ways as advice has them."""

from __future__ import annotations

import math
from functools import cache
from importlib.resources import files

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine import Scenario, advise, load_catalog
from engine.advice.ways_result import WaysComparison
from engine.cost.footprint import grid_intensity
from engine.cost.ledger import Owning, Renting, owning_ledger, renting_ledger
from engine.cost.uncertain import band, break_even_hours, crossing_months, drawn, effective_hour_price
from engine.i18n import LANGUAGES, Language
from engine.quantity import Bounds
from engine.report.ways_words import summary_words, way_words
from engine.scenario import CostTerms


@cache
def ways_of(example: str, **terms: float) -> WaysComparison:
    text = (files("resources") / "examples" / f"{example}.json").read_text(encoding="utf-8")
    scenario = Scenario.model_validate_json(text)
    economics = scenario.economics.model_copy(update={"terms": CostTerms.model_validate(terms)})
    found = advise(scenario.model_copy(update={"economics": economics}), load_catalog(with_user_rows=False)).ways
    assert found is not None
    return found


def test_a_monthly_host_costs_by_the_hours_that_are_used() -> None:
    assert effective_hour_price(2190.0, 730.0) == pytest.approx(3.0)
    assert effective_hour_price(2190.0, 100.0) == pytest.approx(21.9)
    half_used = renting_ledger(Renting(cards=1, card_hour=3.0, billed_hours=730.0), 12)
    assert float(half_used.total) == pytest.approx(12 * 2190)


@pytest.mark.parametrize(
    ("own", "rent", "months"),
    [([100, 110, 120, 130], [0, 60, 120, 180], 2.0), ([90, 90, 90], [0, 60, 120], 1.5), ([9, 9], [0, 5], math.inf),
     ([0, 1], [0, 2], 0.0)],
)  # fmt: skip
def test_the_crossing_is_where_the_lines_cross(own: list[float], rent: list[float], months: float) -> None:
    assert float(crossing_months(np.array(own), np.array(rent))[0]) == pytest.approx(months)


def test_break_even_hours_by_hand() -> None:
    # a machine of 4,800 with 0.5 an hour of electricity for 24 months against 2.5 an hour: 4,800 / (24 x 2)
    own, rent = (4800.0, 4800.0 + 24 * 100 * 0.5), (0.0, 24 * 100 * 2.5)
    assert float(break_even_hours(own, rent, 100)) == pytest.approx(100)
    assert math.isinf(float(break_even_hours(own, (0.0, 24 * 100 * 0.4), 100)))


def test_draws_keep_the_bounds_as_5_and_95_percent() -> None:
    values = drawn(Bounds(1.0, 2.0, 6.0), np.random.default_rng(1).standard_normal(200_000))
    assert np.quantile(values, (0.05, 0.5, 0.95)) == pytest.approx((1.0, 2.0, 6.0), abs=0.05)
    assert band(values, 2.0).high == pytest.approx(6.0, abs=0.05)


@settings(max_examples=25, deadline=None)
@given(st.floats(100, 1e6), st.floats(0, 700), st.floats(0, 0.3), st.integers(1, 60))
def test_more_never_costs_less(price: float, hours: float, rate: float, months: int) -> None:
    own = Owning(price=price, load_kw=2, idle_kw=0.3, rated_kw=2, busy_hours=hours, tariff=0.1)
    dearer = Owning(price=price * 1.1, load_kw=2, idle_kw=0.3, rated_kw=2, busy_hours=hours + 10, tariff=0.1)
    ledger = owning_ledger(own, months)
    assert float(owning_ledger(dearer, months).total) > float(ledger.total)
    assert float(ledger.present_value(rate)) <= float(ledger.total) + 1e-6
    assert float(ledger.present_value(0.0)) == pytest.approx(float(ledger.total))


#: (price of the machine in US$, residual share, kW at work, price of renting the same by the hour)
@pytest.mark.parametrize(
    ("price", "residual", "load", "rent"),
    [(375_000, 0.175, 7.14, 8 * 2.99), (4_500, 0.175, 0.52, 0.40)],
)
def test_break_even_of_a_server_and_of_a_workstation(price: float, residual: float, load: float, rent: float) -> None:
    hours = price * (1 - residual) / 48 / (rent - load * 0.12)  # 279 and 229 a month
    rng = np.random.default_rng(7)
    factor = drawn(Bounds(0.8, 1.0, 1.2), rng.standard_normal((400, 1)))
    hour = drawn(Bounds(0.7, 1.0, 1.3), rng.standard_normal((400, 1))) * rent

    def own(use: float, price: float | np.ndarray = price) -> float | np.ndarray:
        machine = Owning(price=price, load_kw=load, idle_kw=0.0, rated_kw=load, busy_hours=use, tariff=0.12,
                         residual_share=residual)  # fmt: skip
        return owning_ledger(machine, 48).total

    def rented(use: float, hour: float | np.ndarray = rent) -> float | np.ndarray:
        return renting_ledger(Renting(cards=1, card_hour=hour, billed_hours=use), 48).total

    expected = break_even_hours((own(0), own(100)), (rented(0), rented(100)), 100)
    assert float(expected) == pytest.approx(hours, rel=0.001)
    many = break_even_hours(
        (own(0, price * factor), own(100, price * factor)), (rented(0, hour), rented(100, hour)), 100
    )
    found = band(np.asarray(many), float(expected))
    assert found.low < 0.8 * hours < 1.2 * hours < found.high < 730


def test_a_monthly_host_pays_from_half_the_month_on() -> None:
    on_demand = 4.5
    assert 2190 / on_demand == pytest.approx(487, abs=1)  # hours at which both cost the same
    for hours, cheaper in ((480, "on demand"), (495, "by the month")):
        by_hour = renting_ledger(Renting(cards=1, card_hour=on_demand, billed_hours=hours), 1).total
        assert ("by the month" if float(by_hour) > 2190 else "on demand") == cheaper


# the ways in advice ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("example", ["serve-70b-50-users", "qlora-8b-own-card"])
def test_every_way_has_its_cash_or_the_reason_why_not(example: str) -> None:
    ways = ways_of(example)
    assert len(ways.ways) == 13
    costs = {w.way: w.total.expected for w in ways.ways if w.total is not None and w.way != "nothing"}
    assert ways.cheapest == min(costs, key=lambda w: costs[w])
    for way in ways.ways:
        if way.total is None:
            assert way.remark is not None
            continue
        assert sum(amount for _, amount in way.lines) == pytest.approx(way.total.expected, abs=0.1)
        assert sum(way.years) == pytest.approx(way.total.expected, abs=0.1)
        assert way.cumulative[-1][1] == pytest.approx(way.total.expected)
        assert all(low <= middle <= high for low, middle, high in way.cumulative)


def test_the_same_seed_gives_the_same_bands() -> None:
    first, second = ways_of("serve-70b-50-users"), ways_of.__wrapped__("serve-70b-50-users")
    assert first == second and first.seed > 0


def test_what_is_stated_makes_lines_of_its_own() -> None:
    plain = {w.way: w for w in ways_of("serve-70b-50-users").ways}["buy"]
    stated = {w.way: w for w in ways_of(
        "serve-70b-50-users", tax_rate=0.2, import_duty=0.05, financed_share=0.5, staff_hours_per_month=4
    ).ways}["buy"]  # fmt: skip
    machine = dict(plain.lines)["own.machine"]
    lines = dict(stated.lines)
    assert lines["own.duty"] == pytest.approx(0.05 * machine, abs=0.02)
    assert lines["own.tax"] == pytest.approx(0.2 * 1.05 * machine, abs=0.02)
    assert stated.first_day == pytest.approx(0.5 * 1.05 * 1.2 * machine, abs=0.05)
    assert lines["own.repaid"] > -lines["own.borrowed"]  # interest
    assert "own.staff" in lines and "own.staff" not in dict(plain.lines)


def test_data_that_may_not_leave_rules_out_api_and_cloud() -> None:
    remarks = {w.way: w.remark.code if w.remark else "" for w in ways_of("qlora-8b-own-card").ways}
    assert all(remarks[w] == "ways.data_must_stay" for w in ("api", "on-demand", "spot", "monthly"))


def test_failed_runs_and_recovery_are_in_the_cost_of_a_checkpoint() -> None:
    parts = {t.name: t.expected for t in ways_of("full-70b-rented").checkpoint}
    assert len(parts) == 6
    other = ways_of("full-70b-rented", recovery_hours=4, orchestration_share=0.1)
    longer = {t.name: t.expected for t in other.checkpoint}
    assert longer["checkpoint.recovery"] == pytest.approx(2 * parts["checkpoint.recovery"])
    assert longer["checkpoint.orchestration"] == pytest.approx(0.1 * parts["checkpoint.compute"])


def test_carbon_spans_the_grids_of_a_region() -> None:
    items = load_catalog(with_user_rows=False).cost_items
    china, _ = grid_intensity(items, "CN")
    assert (china.low, china.expected, china.high) == pytest.approx((0.1333, 0.5823, 0.6796))
    assert grid_intensity((), "CN")[0].expected > 0


@pytest.mark.parametrize("code", LANGUAGES)
def test_the_ways_are_told_in_sentences(code: str) -> None:
    language, ways = Language(code), ways_of("serve-70b-50-users")  # type: ignore[arg-type]
    assert language.label(f"compare.{ways.rented}") in " ".join(summary_words(ways, language))
    for way in ways.ways:
        assert "{" not in " ".join(way_words(way, ways, language))
