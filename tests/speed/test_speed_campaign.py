"""Runs and campaigns: failures, checkpoints, sweeps."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.catalog.load import load_base
from engine.quantity import Estimate
from engine.speed.campaign import Reliability, campaign_hours, checkpoint_interval, run_time, service_hours

STEP = Estimate(low=0.9, expected=1.0, high=1.2)


def test_terms_add_up() -> None:
    run = run_time(STEP, 1e5, 1e9, checkpoint_bytes=1e11, gpus=64, nodes=8, reliability=Reliability(
        failures_per_gpu_hour=2e-5, interruptions_per_gpu_hour=1e-4))  # fmt: skip
    for point in ("low", "expected", "high"):
        assert sum(getattr(t, point) for t in run.terms) == pytest.approx(getattr(run.seconds, point))
    campaign = campaign_hours(run, final_runs=2, sweep_runs=10, sweep_fraction=0.2, failed_fraction=0.1)
    for point in ("low", "expected", "high"):
        total = sum(getattr(t, point) for t in campaign.terms) / 3600
        assert total == pytest.approx(getattr(campaign.busy_hours, point))
    assert campaign.busy_hours.expected == pytest.approx(run.seconds.expected / 3600 * (2 + 10 * 0.2) / 0.9)
    assert campaign.calendar_days.expected == pytest.approx(campaign.busy_hours.expected / 24)


def test_goodput_of_a_published_run() -> None:
    """405B on 16,384 H100: an interruption every three hours, and still more than 90 % of the time was training."""
    rate = next(float(i.value) for i in load_base().cost_items if "interruption rate" in i.item.lower())
    seconds = 54 * 86400.0
    run = run_time(
        STEP, 1.0, seconds, checkpoint_bytes=405e9 * 14, gpus=16_384, nodes=2048,
        reliability=Reliability(failures_per_gpu_hour=rate),
    )  # fmt: skip
    assert 0.85 < run.goodput.expected < 1
    interruptions = rate * 16_384 * 54 * 24
    assert interruptions == pytest.approx(419, rel=0.01)


def test_checkpoints_at_the_interval_that_loses_least() -> None:
    """sqrt(2 x write x mean time between failures): shorter or longer intervals lose more."""
    write, rate = 30.0, 1 / 20_000

    def lost(interval: float) -> float:
        return write / interval + rate * interval / 2

    best = checkpoint_interval(write, rate)
    assert best == pytest.approx(math.sqrt(2 * 30 * 20_000))
    assert lost(best) < lost(best * 1.3)
    assert lost(best) < lost(best / 1.3)


@settings(max_examples=30, deadline=None)
@given(st.floats(1e6, 1e12), st.floats(0, 5e-3), st.integers(1, 1024), st.floats(1.05, 10))
def test_more_tokens_or_failures_never_take_less_time(tokens: float, rate: float, gpus: int, factor: float) -> None:
    def total(tokens: float, rate: float) -> float:
        return run_time(
            STEP, 1e5, tokens, checkpoint_bytes=1e10, gpus=gpus, reliability=Reliability(failures_per_gpu_hour=rate)
        ).seconds.expected

    assert total(tokens * factor, rate) >= total(tokens, rate)
    assert total(tokens, rate * factor) >= total(tokens, rate) * (1 - 1e-9)


def test_a_service_runs_by_night_too() -> None:
    assert service_hours(12).expected == 8760


def test_slow_machines_matter_more_the_more_there_are() -> None:
    """MegaScale (arXiv:2402.15627): one machine in 200 is slow, and all wait for it."""
    shares = []
    for nodes in (1, 8, 64, 1024):
        run = run_time(STEP, 1e5, 1e9, checkpoint_bytes=1e9, gpus=8 * nodes, nodes=nodes)
        terms = {t.name: t for t in run.terms}
        shares.append(terms["run.stragglers"].high / terms["run.training"].high)
    assert shares == sorted(shares)
    assert shares[0] < 0.002
    assert shares[-1] == pytest.approx(0.10, abs=0.001)


def test_where_writing_takes_minutes_it_never_costs_much_on_a_few_cards() -> None:
    """A 70B model's 980 GB take eleven minutes to a network file system: not every hour, while failures are rare."""
    write = 980e9 / 1.5e9
    interval = checkpoint_interval(write, 2e-5 * 8 / 3600)
    assert write / interval == pytest.approx(0.02)
    assert checkpoint_interval(write, 2e-5 * 16_384 / 3600) < 2 * 3600  # on thousands of cards Young's interval rules
    assert checkpoint_interval(1.0, 0.0) == 3600
