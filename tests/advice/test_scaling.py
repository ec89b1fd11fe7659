"""Time against the number of cards: the plan itself among them, by the same formulas; laws of more cards."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

import pytest

from engine.advice.advise import advise
from engine.advice.result import Advice, Assessment
from engine.advice.scaling import WORTHWHILE, scaling_of_plan
from engine.advice.scaling_result import Scaling
from engine.catalog.load import load_catalog
from engine.control import Cancelled, Control
from engine.hardware.model import CatalogSnapshot
from engine.i18n import Language
from engine.report.charts import (
    LIGHT,
    scaling_alt,
    scaling_caption,
    scaling_chart,
    split_alt,
    split_caption,
    split_chart,
    svg_bytes,
)
from engine.report.charts.step import time_shares
from engine.scenario import Scenario
from engine.speed.campaign import chance_within

TRAINING = ("full-70b-rented", "lora-32b-on-premises", "continued-8b-50b-tokens", "cn-university-campus-cluster")


@cache
def known() -> CatalogSnapshot:
    return load_catalog(with_user_rows=False)


def example(name: str) -> Scenario:
    return Scenario.model_validate_json((files("resources") / "examples" / f"{name}.json").read_text(encoding="utf-8"))


@cache
def advice_of(name: str) -> Advice:
    return advise(example(name), known())


@cache
def found(name: str) -> tuple[Assessment, Scaling]:
    scenario, advice = example(name), advice_of(name)
    plan = advice.ranked[advice.picks[0].index]
    scaling = scaling_of_plan(plan, scenario, known())
    assert scaling is not None
    return plan, scaling


@pytest.mark.parametrize("name", TRAINING)
def test_the_plan_itself_is_one_of_the_points(name: str) -> None:
    plan, scaling = found(name)
    own = next(p for p in scaling.points if (p.gpus, p.nodes) == (plan.plan.cluster.gpus, plan.plan.cluster.nodes))
    assert own.days.expected == pytest.approx(plan.calendar_days.expected)
    assert own.days.low == pytest.approx(plan.calendar_days.low)
    assert own.days.high == pytest.approx(plan.calendar_days.high)


@pytest.mark.parametrize("name", TRAINING)
def test_points_rise_in_cards_and_use_them_at_most_as_well_as_the_best(name: str) -> None:
    _, scaling = found(name)
    for series in (scaling.points, scaling.weak):
        cards = [p.gpus for p in series]
        assert cards == sorted(set(cards))
        assert max(p.efficiency for p in series) == pytest.approx(1)
    for point in scaling.points:
        assert point.days.low <= point.days.expected <= point.days.high
        assert point.wait_days <= point.days.expected


def test_a_batch_that_grows_with_the_cards_keeps_them_at_least_as_busy() -> None:
    """Beyond what one machine holds, weak scaling is not worse than strong scaling: each card has as much to do."""
    for name in TRAINING:
        _, scaling = found(name)
        strong, weak = scaling.points[-1], next(p for p in scaling.weak if p.gpus == scaling.points[-1].gpus)
        assert weak.efficiency >= strong.efficiency - 0.02


def test_the_deadline_decides_the_fewest_cards() -> None:
    for name in TRAINING:
        _, scaling = found(name)
        assert scaling.deadline_days is not None
        for point in scaling.points:
            assert point.chance == pytest.approx(chance_within(point.days, scaling.deadline_days))
        early = [p.gpus for p in scaling.points if p.days.expected <= scaling.deadline_days]
        assert scaling.in_time_from == min(early, default=None)


def test_a_deadline_that_nothing_keeps_is_said() -> None:
    plan, _ = found("full-70b-rented")
    scenario = example("full-70b-rented")
    tight = scenario.constraints.model_copy(update={"deadline_days": 0.01})
    scaling = scaling_of_plan(plan, scenario.model_copy(update={"constraints": tight}), known())
    assert scaling is not None
    assert scaling.in_time_from is None
    assert "scaling.never_in_time" in [f.code for f in scaling.findings]


def test_beyond_the_worthwhile_number_added_cards_do_less_than_half() -> None:
    _, scaling = found("full-70b-rented")
    last = next(p for p in scaling.points if p.gpus == scaling.worthwhile_up_to)
    beyond = [p for p in scaling.points if p.gpus > scaling.worthwhile_up_to]
    assert beyond  # a batch of 64 sequences of a 70B model can't feed many machines
    for point in beyond:
        gained = point.gpus * point.efficiency - last.gpus * last.efficiency
        assert gained < WORTHWHILE * (point.gpus - last.gpus)


def test_a_plan_of_several_machines_is_one_of_the_points() -> None:
    scenario = example("full-70b-rented")
    plan = next(a for a in advice_of("full-70b-rented").ranked if a.plan.cluster.nodes > 1)
    scaling = scaling_of_plan(plan, scenario, known())
    assert scaling is not None
    cluster = plan.plan.cluster
    own = next(p for p in scaling.points if (p.gpus, p.nodes) == (cluster.gpus, cluster.nodes))
    assert own.days.expected == pytest.approx(plan.calendar_days.expected)
    assert scaling.points[0].gpus < cluster.gpus < scaling.points[-1].gpus


def test_a_service_has_no_such_curve() -> None:
    scenario = example("serve-70b-50-users")
    assert scaling_of_plan(advice_of("serve-70b-50-users").ranked[0], scenario, known()) is None


def test_it_can_be_called_off() -> None:
    plan, _ = found("lora-32b-on-premises")
    control = Control()
    control.cancel()
    with pytest.raises(Cancelled):
        scaling_of_plan(plan, example("lora-32b-on-premises"), known(), control)


@pytest.mark.parametrize("code", ["en", "zh_CN"])
def test_the_chart_and_its_words_tell_the_same(code: str) -> None:
    _, scaling = found("lora-32b-on-premises")
    language = Language(code)  # type: ignore[arg-type]
    svg = svg_bytes(scaling_chart(scaling, LIGHT, language))
    assert svg == svg_bytes(scaling_chart(scaling, LIGHT, language))
    alt = scaling_alt(scaling, language)
    for point in scaling.points:
        assert language.number(point.days.expected) in alt
    for finding in scaling.findings:
        assert language.text(finding) in scaling_caption(scaling, language)


@pytest.mark.parametrize("name", [*TRAINING, "serve-70b-50-users"])
def test_the_parts_of_the_time_are_the_whole(name: str) -> None:
    plan = advice_of(name).ranked[0]
    shares = time_shares(plan)
    assert sum(shares.values()) == pytest.approx(1)
    assert min(shares.values()) > 0
    for code in ("en", "zh_CN"):
        language = Language(code)  # type: ignore[arg-type]
        largest = max(shares, key=lambda part: shares[part])
        assert language.label(largest) in split_alt(plan, language)
        assert split_caption(plan, language)
    assert svg_bytes(split_chart([plan, plan], LIGHT, Language("zh_CN")))
