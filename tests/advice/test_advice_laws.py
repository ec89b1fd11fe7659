"""Laws that hold whatever the catalogue and the formulas say."""

from __future__ import annotations

import random
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from small_world import all_findings, catalog, gpu, offer, purchase, scenario, serving, training, wordless

from engine.advice.advise import advise
from engine.advice.picks import BALANCE_STEP, fits_well
from engine.advice.result import Advice, Assessment, PickRole
from engine.control import Cancelled, Control
from engine.quantity import Money
from engine.scenario import Scenario
from engine.search.search import search
from engine.search.select import RISK_STEP, balance, finalists, risk_class

few = settings(max_examples=8, deadline=None, derandomize=True)


def the_pick(advice: Advice, role: PickRole = PickRole.CHEAPEST) -> Assessment:
    return next(advice.ranked[p.index] for p in advice.picks if p.role is role)


def without_clock(advice: Advice) -> str:
    searched = {**advice.searched.model_dump(), "seconds": 0.0}
    return Advice.model_validate({**advice.model_dump(), "searched": searched}).model_dump_json()


def changed(stated: Scenario, **constraints: object) -> Scenario:
    limits = {**stated.constraints.model_dump(), **constraints}
    return Scenario.model_validate({**stated.model_dump(), "constraints": limits})


@pytest.mark.parametrize("task", [training("small", "full"), serving()], ids=["training", "serving"])
def test_the_same_input_gives_the_same_advice_in_whatever_order_the_catalogue_stands(task) -> None:
    known, stated = catalog(), scenario(task)
    shuffled = {}
    for name in ("gpus", "systems", "offers", "purchase_prices", "cost_items", "models"):
        rows = list(getattr(known, name))
        random.Random(7).shuffle(rows)
        shuffled[name] = tuple(rows)
    assert without_clock(advise(stated, known)) == without_clock(advise(stated, catalog(**shuffled)))


@few
@given(price=st.floats(0.3, 3.0), cheaper=st.floats(0.2, 0.99))
def test_a_cheaper_offer_of_the_same_plan_never_ranks_lower(price: float, cheaper: float) -> None:
    stated = scenario(training("medium", "lora"), ways=("rent",))

    def rank(hourly: float) -> int:
        rows = (*catalog().offers, offer("x", "big", round(hourly, 4)))
        ranked = advise(stated, catalog(offers=rows)).ranked
        return next(i for i, a in enumerate(ranked) if a.plan.offer and a.plan.offer.id == "x")

    assert rank(price * cheaper) <= rank(price)


@few
@given(budget=st.floats(5, 40_000), tighter=st.floats(0.2, 0.99))
def test_a_tighter_budget_never_yields_a_pick_that_needs_more_cash(budget: float, tighter: float) -> None:
    def cash(amount: float) -> Decimal | None:
        money = Money(amount=Decimal(str(round(amount, 2))), currency="USD")
        advice = advise(scenario(training("medium", "lora"), budget=money), catalog())
        if not advice.picks:
            return None
        for assessment in advice.ranked:
            assert assessment.cost.cash_needed.expected <= money.amount + Decimal("0.05")
        return the_pick(advice).cost.cash_needed.expected

    wide, narrow = cash(budget), cash(budget * tighter)
    assert narrow is None or (wide is not None and narrow <= wide + Decimal("0.05"))


@few
@given(price=st.floats(0.05, 5.0), gib=st.sampled_from([16, 24, 48, 80]), tflops=st.floats(50, 900))
def test_adding_an_option_never_worsens_the_best(price: float, gib: int, tflops: float) -> None:
    stated = scenario(training("medium", "lora"))
    known = catalog()
    more = catalog(gpus=(*known.gpus, gpu("extra", gib, tflops)), offers=(*known.offers, offer("x", "extra", price)))
    before, after = advise(stated, known), advise(stated, more)
    assert the_pick(after).cost.risk_adjusted_cost.expected <= the_pick(before).cost.risk_adjusted_cost.expected

    def score(advice: Advice) -> float:
        pick = the_pick(advice, PickRole.BALANCED)
        return balance(float(pick.cost.cost_of_job.expected), pick.calendar_days.expected, pick.risk, stated)

    assert score(after) <= score(before) + BALANCE_STEP
    least = PickRole.LEAST_RISK
    assert the_pick(after, least).risk <= the_pick(before, least).risk + 2 * RISK_STEP


def test_a_stated_change_of_the_budget_admits_what_was_rejected() -> None:
    stated = scenario(training("small", "full"), ways=("buy",), budget=Money(amount=Decimal(6000), currency="USD"))
    first = advise(stated, catalog())
    over = [r for r in first.rejected if r.kind == "gpu" and r.reason.code == "rejected.over_budget"]
    assert over
    for rejection in over:
        missing = Decimal(str(rejection.reason.params["over"]).split()[0])
        raised = changed(stated, budget={"amount": Decimal(6000) + missing, "currency": "USD"})
        assert rejection.gpu_id in {a.plan.cluster.gpu.id for a in advise(raised, catalog()).ranked}


def test_the_stated_shortfall_is_what_is_missing() -> None:
    stated = scenario(training("medium", "full"), max_gpus=1)
    missing = {
        r.gpu_id: float(r.reason.params["missing"] or 0)
        for r in advise(stated, catalog()).rejected
        if r.reason.code.startswith("rejected.does_not_fit")
    }
    assert {"tiny", "mid"} <= missing.keys()
    for name in ("tiny", "mid"):
        short = next(g for g in catalog().gpus if g.id == name)
        enough = (short.usable_bytes or 0) + missing[name] + 2**20
        grown = gpu("grown", enough / 2**30, 100)
        less = gpu("less", (enough - 2**22) / 2**30, 100)
        known = catalog(gpus=(grown, less), systems=(), offers=(offer("x", "grown", 1), offer("y", "less", 1)),
                        purchase_prices=())  # fmt: skip
        assert [a.plan.cluster.gpu.id for a in advise(stated, known).ranked] == ["grown"]


@pytest.mark.parametrize("task", [training("small", "full"), training("medium", "full"), serving()])
def test_every_card_is_accounted_for_once(task) -> None:
    for limits in ({}, {"max_gpus": 1}, {"ways": ("buy",)}, {"budget": {"amount": "1", "currency": "USD"}}):
        advice = advise(scenario(task, **limits), catalog())
        ranked = {a.plan.cluster.gpu.id for a in advice.ranked}
        rejected = [r.gpu_id for r in advice.rejected if r.kind == "gpu"]
        assert len(rejected) == len(set(rejected))
        assert ranked.isdisjoint(rejected)
        assert ranked | set(rejected) == {g.id for g in catalog().gpus}


def test_nothing_is_an_answer_with_the_nearest_miss() -> None:
    poor = advise(
        scenario(training("small", "full"), ways=("rent",), budget={"amount": "0.01", "currency": "USD"}), catalog()
    )
    assert not poor.picks and not poor.ranked
    assert {"nothing.works", "nothing.over_budget"} <= {f.code for f in poor.findings}
    assert not wordless(all_findings(poor))
    late = advise(scenario(training("small", "full"), ways=("rent",), deadline_days=0.001), catalog())
    assert {"nothing.works", "nothing.too_late"} <= {f.code for f in late.findings}
    large = advise(scenario(training("medium", "full", optimizer="adamw", offload="none"), max_gpus=1), catalog())
    codes = {f.code for f in large.findings}
    assert {"nothing.works", "nothing.fits", "nothing.more_cards", "nothing.lighter_method"} <= codes
    assert not wordless((*all_findings(late), *all_findings(large)))
    nowhere = advise(scenario(ways=("owned",)), catalog())
    assert {"nothing.works", "nothing.to_be_had"} == {f.code for f in nowhere.findings if f.severity == "serious"}
    slow = advise(scenario(serving(tokens_per_second_per_user=1e5)), catalog())
    assert "nothing.fast_enough" in {f.code for f in slow.findings}
    cent = {"amount": "0.01", "currency": "USD"}
    both = advise(scenario(training("small", "full"), budget=cent, deadline_days=0.001), catalog())
    assert "nothing.over_both" in {f.code for f in both.findings}
    assert not wordless((*all_findings(nowhere), *all_findings(slow), *all_findings(both)))


def test_picks_fit_well_wherever_something_does() -> None:
    advice = advise(scenario(training("medium", "lora")), catalog())
    assert {p.role for p in advice.picks} == set(PickRole)
    assert all(fits_well(advice.ranked[p.index]) for p in advice.picks)
    assert all(1 <= len(p.reasons) <= 3 for p in advice.picks)


def test_it_can_be_cancelled() -> None:
    control = Control()
    control.cancel()
    with pytest.raises(Cancelled):
        advise(scenario(), catalog(), control)


def test_more_data_takes_longer_and_costs_more() -> None:
    def pick(tokens: int) -> Assessment:
        return the_pick(advise(scenario(training("small", "full", data={"tokens": tokens}), ways=("rent",)), catalog()))

    little, much = pick(10**8), pick(10**10)
    assert much.cost.cost_of_job.expected > little.cost.cost_of_job.expected
    assert much.tasks[0].busy_seconds.expected > little.tasks[0].busy_seconds.expected


def test_tasks_share_the_hardware_in_turn() -> None:
    one, two = training("small", "full"), training("medium", "lora")
    other = type(two).model_validate({**two.model_dump(), "id": "t2"})
    both = advise(scenario(one, other, ways=("rent",)), catalog())
    for assessment in both.ranked:
        assert [t.task_id for t in assessment.tasks] == ["t1", "t2"]
    purchase_free = the_pick(both)
    total = sum(t.busy_seconds.expected for t in purchase_free.tasks) / 86_400
    assert purchase_free.calendar_days.expected == pytest.approx(total)


def test_bought_cards_wait_for_delivery() -> None:
    advice = advise(scenario(ways=("buy",)), catalog(purchase_prices=(purchase("m", "mid", 100),)))
    assert the_pick(advice).calendar_days.expected > 14
    assert "assumption.delivery" in {f.code for f in advice.findings}


def test_what_fits_tightly_is_listed_but_not_picked_where_something_fits_well() -> None:
    task = training("medium", "full", data={"tokens": 1_000_000_000})
    stated = scenario(task, max_gpus=1, ways=("rent",))
    roomy = gpu("roomy", 400, 100)
    rows = (offer("y", "roomy", 9), offer("t", "tiny", 0.1))
    first = advise(stated, catalog(gpus=(roomy, gpu("tiny", 8, 60)), systems=(), offers=rows, purchase_prices=()))
    # the layout that needs least decides what is just enough
    least = next(float(r.reason.params["missing"] or 0) for r in first.rejected if r.gpu_id == "tiny")
    edge = gpu("edge", (8 * 2**30 + least) * 1.02 / 2**30, 100)
    known = catalog(gpus=(roomy, edge), systems=(), purchase_prices=(),
                    offers=(offer("y", "roomy", 9), offer("x", "edge", 0.1)))  # fmt: skip
    advice = advise(stated, known)
    assert first.picks
    assert advice.ranked[0].plan.cluster.gpu.id == "edge" and not fits_well(advice.ranked[0])
    assert {advice.ranked[p.index].plan.cluster.gpu.id for p in advice.picks} == {"roomy"}
    assert "advice.next_tier" in {f.code for f in advice.findings}
    assert not wordless(all_findings(advice))


def test_a_short_list_loses_no_pick_and_no_card() -> None:
    stated = scenario(training("small", "full"))
    options = search(stated, catalog()).options
    short, whole = finalists(options, stated, most=1), finalists(options, stated, most=10_000)
    assert len(short) < len(whole)
    assert {(o.cluster.gpu.id, o.seed.way) for o in short} == {(o.cluster.gpu.id, o.seed.way) for o in whole}
    for measure in (
        lambda o: o.ranking_cost,
        lambda o: o.days.expected,
        lambda o: balance(o.cost, o.days.expected, o.risk, stated),
        lambda o: risk_class(o.risk),
    ):
        assert min(map(measure, short)) == min(map(measure, options))


@few
@given(cost=st.floats(1, 1e6), days=st.floats(0, 400), risk=st.floats(0, 1), more=st.floats(1.01, 3))
def test_balance_never_gains_from_more_of_anything(cost: float, days: float, risk: float, more: float) -> None:
    stated = scenario(deadline_days=30)
    base = balance(cost, days, risk, stated)
    assert balance(cost * more, days, risk, stated) > base
    assert balance(cost, days * more + 1, risk, stated) >= base
    assert balance(cost, days, risk * more + 0.01, stated) > base
