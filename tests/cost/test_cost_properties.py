"""What must hold for every plan: terms add up, bounds are ordered, dearer or more never costs less."""

from __future__ import annotations

import ast
from decimal import Decimal
from typing import Any

import numpy as np
import pytest
from cost_sample import (
    CARD,
    EMPTY,
    OFFER,
    PURCHASE,
    SMALL_CARD,
    amounts,
    bundled,
    cluster,
    price,
    scenario,
)
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.cost.figures import figures_of
from engine.cost.rent import rent_terms
from engine.cost.result import CostAssessment
from engine.quantity import Bounds, Term

TERMS = ("on-demand", "spot", "reserved-1m", "reserved-1y", "reserved-3y", "monthly", "shared")
cases = st.fixed_dictionaries(
    {
        "gpus": st.sampled_from((1, 2, 4, 8)),
        "nodes": st.sampled_from((1, 2, 4)),
        "hours": st.floats(0.5, 20_000),
        "price": st.decimals("0.05", "40000", places=2),
        "way": st.sampled_from(("rent", "buy", "owned")),
        "term": st.sampled_from(TERMS),
        "currency": st.sampled_from(("USD", "CNY", "EUR")),
        "unit": st.sampled_from((None, 1, 8)),
        "gpu_only": st.booleans(),
        "server": st.booleans(),
        "card": st.sampled_from((CARD, SMALL_CARD, CARD.model_copy(update={"tdp_watts": None, "memory_gb": None}))),
    }
)


def priced(case: dict[str, Any], **changes: Any) -> CostAssessment:
    c: dict[str, Any] = {"catalog": EMPTY, "use": 100.0, "risk": 0.15, **case, **changes}
    offer = purchase = None
    if c["way"] == "rent":
        offer = OFFER.model_copy(
            update={
                "price_per_gpu_hour": c["price"], "term": c["term"], "currency": c["currency"],
                "gpus_per_unit": c["unit"], "gpu_only": c["gpu_only"], "origin": "catalog",
            }
        )  # fmt: skip
    elif c["way"] == "buy":
        purchase = PURCHASE.model_copy(
            update={"price": c["price"], "currency": c["currency"], "whole_server": c["server"], "origin": "catalog"}
        )
    return price(
        cluster(c["gpus"], c["nodes"], c["card"]), hours=c["hours"], offer=offer, purchase=purchase,
        catalog=c["catalog"], asked=scenario(hours_per_month=c["use"]), risk=c["risk"], storage_gb=200,
    )  # fmt: skip


def value_of(formula: str, values: dict[str, Any]) -> float:
    """The formula as printed, with the values as printed."""

    def walk(node: ast.expr) -> float:
        match node:
            case ast.BinOp(left, operator, right):
                a, b = walk(left), walk(right)
                match operator:
                    case ast.Add():
                        return a + b
                    case ast.Sub():
                        return a - b
                    case ast.Mult():
                        return a * b
                    case _:
                        return a / b
            case ast.Constant(value):
                return float(value)  # type: ignore[arg-type]
            case ast.Name(name):
                return float(values[name])
            case _:
                raise AssertionError(ast.dump(node))

    return walk(ast.parse(formula, mode="eval").body)


def _cents(terms: tuple[Term, ...]) -> Decimal:
    return sum((Decimal(repr(t.expected)).quantize(Decimal("0.01"), "ROUND_HALF_UP") for t in terms), Decimal(0))


@settings(max_examples=60, deadline=None)
@given(cases)
def test_terms_add_up_to_the_cent_and_show_their_working(case: dict[str, Any]) -> None:
    for catalog in (EMPTY, bundled()):
        cost = priced(case, catalog=catalog)
        assert cost.cost_of_job.expected == _cents(cost.job_terms)
        assert cost.cash_needed.expected == _cents(cost.cash_terms)
        for term in (*cost.job_terms, *cost.cash_terms):
            assert value_of(term.formula, term.values) == pytest.approx(term.expected, rel=1e-9), term.name
            assert term.unit == "USD" and term.source
            assert 0 <= term.low <= term.expected <= term.high
        for money in (cost.cash_needed, cost.cost_of_job, cost.risk_adjusted_cost):
            assert 0 <= money.low <= money.expected <= money.high
            assert money.currency == "USD"
        assert cost.risk_adjusted_cost.expected >= cost.cost_of_job.expected


@settings(max_examples=60, deadline=None)
@given(cases, st.sampled_from(("price", "hours", "nodes", "gpus")), st.integers(2, 4))
def test_dearer_or_more_never_costs_less(case: dict[str, Any], what: str, factor: int) -> None:
    less, more = priced(case), priced(case, **{what: case[what] * factor})
    for name in ("cash_needed", "cost_of_job", "risk_adjusted_cost"):
        a, b = getattr(less, name), getattr(more, name)
        assert b.low >= a.low and b.expected >= a.expected and b.high >= a.high


@settings(max_examples=30, deadline=None)
@given(cases)
def test_the_two_figures_are_not_mixed(case: dict[str, Any]) -> None:
    cost = priced(case)
    job, cash = amounts(cost), amounts(cost, "cash")
    assert "cost.engineering" in job and "cost.engineering" not in cash  # salaries are no cash of the budget
    assert "cost.wear" not in cash  # nobody is billed for a loss in value
    if case["way"] == "buy":
        assert set(job) == {"cost.wear", "cost.energy", "cost.engineering"}
    else:
        assert {k: v for k, v in job.items() if k != "cost.engineering"} == cash


@settings(max_examples=30, deadline=None)
@given(cases, st.floats(2, 300))
def test_halving_the_use_of_a_machine_raises_the_share_of_the_job(case: dict[str, Any], use: float) -> None:
    busy = {**case, "way": "buy", "hours": min(case["hours"], use / 8)}
    much, little = priced(busy, use=use), priced(busy, use=use / 2)
    assert amounts(little)["cost.wear"] == pytest.approx(2 * amounts(much)["cost.wear"])
    assert little.cash_needed == much.cash_needed


@settings(max_examples=30, deadline=None)
@given(cases, st.floats(0.5, 30_000))
def test_a_job_never_wears_more_than_the_machine(case: dict[str, Any], hours: float) -> None:
    cost = priced(case, way="buy", hours=hours)
    machine = sum(v for k, v in amounts(cost, "cash").items() if k != "cost.energy")
    assert amounts(cost)["cost.wear"] <= machine


def test_on_demand_scales_with_the_work() -> None:
    one, ten = (price(cluster(8), hours=h, offer=OFFER).cash_needed.expected for h in (10, 100))
    assert ten == 10 * one


@settings(max_examples=30, deadline=None)
@given(st.sampled_from(TERMS), st.booleans(), st.sampled_from((None, 1, 8)))
def test_arrays_of_candidates_give_what_each_gives_alone(term: str, gpu_only: bool, unit: int | None) -> None:
    offer = OFFER.model_copy(update={"term": term, "gpu_only": gpu_only, "gpus_per_unit": unit})
    figures = figures_of(scenario(), bundled())
    gpus, nodes, hours = np.array([1, 8, 16]), np.array([1, 1, 2]), np.array([3.0, 800.0, 9000.0])
    spread = Bounds(0.9, 1.0, 1.1)
    common: dict[str, Any] = {"spread": spread, "storage_gb": 100.0, "figures": figures}
    together = rent_terms(offer, gpus=gpus, nodes=nodes, hours=Bounds(hours, hours * 1.1, hours * 1.3), **common)
    for i in range(3):
        h = float(hours[i])
        alone = rent_terms(offer, gpus=int(gpus[i]), nodes=int(nodes[i]), hours=Bounds(h, h * 1.1, h * 1.3), **common)
        for a, b in zip(together, alone, strict=True):
            assert a.at(i) == b.at()
