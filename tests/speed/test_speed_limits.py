"""What limits the speed, and what is more uncertain than the rest."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from speed_cases import A100, gpu, layout, linked, speed

from engine.i18n import Language
from engine.quantity import Bounds, Estimate
from engine.speed.campaign import chance_within
from engine.speed.limits import limit_finding
from engine.speed.training import widened


def test_the_largest_part_is_named_with_what_its_absence_would_bring() -> None:
    found = speed(on=linked(gpu(A100), 1), spread=layout(), sequence_length=2048, method="full", stack="trl")
    limit = limit_finding(found)
    assert limit is not None
    largest = max(found.terms, key=lambda t: t.expected)
    share = largest.expected / found.step_seconds.expected
    assert limit.code == f"speed.limit.{largest.name.removeprefix('speed.')}"
    assert limit.params["share"] == pytest.approx(share)
    saved = share / 2 if limit.code == "speed.limit.compute" else share  # matrix work remains, at twice the rate
    assert limit.params["gain"] == pytest.approx(1 / (1 - saved))
    for language in ("en", "zh_CN"):
        assert "{" not in Language(language).text(limit)


def test_the_chance_of_a_deadline() -> None:
    """A 90 % interval leaves one in twenty beyond either end."""
    days = Estimate(low=5, expected=10, high=20)
    assert chance_within(days, 10) == pytest.approx(0.5)
    assert chance_within(days, 20) == pytest.approx(0.95, abs=0.001)
    assert chance_within(days, 5) == pytest.approx(0.05, abs=0.001)
    assert chance_within(Estimate.exact(3), 2.9) == 0
    assert chance_within(Estimate.exact(3), 3) == 1
    assert chance_within(Estimate(low=3, expected=3, high=6), 3) == 0.5  # never shorter, but perhaps longer
    assert chance_within(Estimate(low=3, expected=3, high=6), 2.9) == 0


@settings(max_examples=40, deadline=None)
@given(st.floats(0.1, 100), st.floats(0.1, 1), st.floats(1, 10), st.floats(0.1, 1000), st.floats(1, 5))
def test_more_time_never_lowers_the_chance(
    expected: float, low: float, high: float, limit: float, longer: float
) -> None:
    days = Estimate(low=expected * low, expected=expected, high=expected * high)
    assert 0 <= chance_within(days, limit) <= chance_within(days, limit * longer) <= 1


@settings(max_examples=40, deadline=None)
@given(st.floats(0.3, 1), st.floats(1, 3), st.floats(0, 1))
def test_an_independent_spread_adds_in_quadrature(low: float, high: float, spread: float) -> None:
    found = widened(Bounds(low, 1.0, high), spread)
    assert float(found.expected) == 1.0
    assert math.log(float(found.high)) == pytest.approx(math.hypot(math.log(high), spread), abs=1e-9)
    assert -math.log(float(found.low)) == pytest.approx(math.hypot(math.log(low), spread), abs=1e-9)


def test_what_takes_no_time_stays_so() -> None:
    found = widened(Bounds(np.zeros(2), np.zeros(2), np.array([0.0, 2.0])), 0.3)
    assert np.array_equal(found.high, [0.0, 2.0])
    assert np.array_equal(found.low, [0.0, 0.0])


def test_a_program_without_measured_runs_has_a_wider_range() -> None:
    def width(program: str) -> float:
        found = speed(on=linked(gpu(A100), 1), spread=layout(), sequence_length=2048, stack="trl", framework=program)
        return found.step_seconds.relative_width

    assert width("torchtune") > 1.1 * width("trl")
