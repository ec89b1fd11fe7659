"""From a step to a campaign: time of one run to a successful checkpoint, and hours of everything that is asked for.

Figures of failure come in as plain numbers, from the catalogue's cost items, so that they carry their source there.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from engine.quantity import Bounds, Estimate, Frozen, Number, Term
from engine.speed.calibration import tables

__all__ = ["Campaign", "Reliability", "RunTime", "campaign_hours", "chance_within", "run_time", "service_hours"]

_HOUR = 3600.0
_MONTH_HOURS = 730.0  # 8,760 hours of a year / 12
_HOPELESS = 0.9
_WRITING_SHARE = 0.02  # of the time that writing checkpoints may take where failures are too rare to ask for more
_NINETY_PERCENT = 1.645  # standard deviations from the middle to either end of a 90 % interval


class Reliability(Frozen):
    """What interrupts a run, as rates; the defaults are of a machine that never fails."""

    failures_per_gpu_hour: float = 0.0
    interruptions_per_gpu_hour: float = 0.0  # spot capacity taken back
    source: str = ""


class RunTime(Frozen):
    """Time of one run. `terms` (seconds) add up to `seconds`; `goodput` is the share that is training."""

    seconds: Estimate
    goodput: Estimate
    checkpoint_interval_seconds: float  # proposed (Young 1974); 0 where one checkpoint at the end is enough
    checkpoint_bytes: float
    terms: tuple[Term, ...] = ()


class Campaign(Frozen):
    """Hours of the whole cluster for all runs. `terms` (seconds) add up to `busy_hours`."""

    busy_hours: Estimate
    calendar_days: Estimate
    terms: tuple[Term, ...] = ()


@dataclass(frozen=True, slots=True)
class _Constants:
    start: Bounds
    input_share: Bounds
    write_rate: Bounds
    restart: Bounds
    evaluation_share: Bounds
    slow_nodes: Bounds
    slowdown: Bounds
    sources: dict[str, str]


def _constants() -> _Constants:
    known = tables()
    names = (
        "start_seconds", "input_share", "checkpoint_bytes_per_second", "restart_seconds", "evaluation_share",
        "straggler_nodes", "straggler_slowdown",
    )  # fmt: skip
    start, share, rate, restart, evaluation, slow, slowdown = (known.constant(n, "*") for n in names)
    sources = {n: known.constant_source(n, "*") for n in names}
    return _Constants(start, share, rate, restart, evaluation, slow, slowdown, sources)


def run_time(
    step_seconds: Estimate,
    tokens_per_step: float,
    tokens: float,
    *,
    checkpoint_bytes: float,
    gpus: int,
    nodes: int = 1,
    reliability: Reliability | None = None,
    checkpoint_every_seconds: float | None = None,
    working: bool = True,
) -> RunTime:
    """Time of one run of `tokens` tokens, from the start of the program to its last checkpoint.

    steps x step + slow machines + start-up + reading data + evaluations + writing checkpoints + what failures cost.
    Checkpoints are written every `checkpoint_every_seconds`, or at the interval sqrt(2 x write time x mean time between
    failures) of Young (CACM 17(9), 1974), but at least every hour or, where writing takes long, as often as costs 2 %
    of the time. `working=False` leaves out the terms.
    """
    rates = reliability or Reliability()
    known = _constants()
    steps = max(1, math.ceil(tokens / tokens_per_step))
    training = Bounds(step_seconds.low, step_seconds.expected, step_seconds.high) * steps
    rate = (rates.failures_per_gpu_hour + rates.interruptions_per_gpu_hour) * gpus / _HOUR  # per second
    write = (known.write_rate * nodes).reciprocal(checkpoint_bytes)
    interval = checkpoint_every_seconds or checkpoint_interval(float(write.expected), rate)
    writing = Bounds(*(max(1.0, float(t) / interval) * w for t, w in zip(_three(training), _three(write), strict=True)))
    reading = Bounds(*(t * x for t, x in zip(_three(training), _three(known.input_share), strict=True)))
    slow = _stragglers(known, nodes)
    waiting = Bounds(*(t * x for t, x in zip(_three(training), slow, strict=True)))
    evaluating = Bounds(*(t * x for t, x in zip(_three(training), _three(known.evaluation_share), strict=True)))
    undisturbed = training + waiting + reading + evaluating + writing + known.start
    lost = _losses(undisturbed, rate, interval, known.restart)
    total = undisturbed + lost
    shown = total.at()
    terms: tuple[Term, ...] = () if not working else (
        _term("run.training", training, "steps * step_seconds",
              {"steps": steps, "step_seconds": step_seconds.expected}),
        _term("run.stragglers", waiting, "training_seconds * slowdown * slow_node_chance",
              {"training_seconds": training.expected, "slowdown": known.slowdown.expected,
               "slow_node_chance": _some(float(known.slow_nodes.expected), nodes), "nodes": nodes},
              known.sources["straggler_slowdown"]),
        _term("run.evaluation", evaluating, "training_seconds * evaluation_share",
              {"training_seconds": training.expected, "evaluation_share": known.evaluation_share.expected},
              known.sources["evaluation_share"]),
        _term("run.input", reading, "training_seconds * input_share",
              {"training_seconds": training.expected, "input_share": known.input_share.expected},
              known.sources["input_share"]),
        _term("run.checkpoints", writing, "max(1, training_seconds / interval) * checkpoint_bytes / bytes_per_s",
              {"training_seconds": training.expected, "interval": interval, "checkpoint_bytes": checkpoint_bytes,
               "bytes_per_s": (known.write_rate * nodes).expected}, known.sources["checkpoint_bytes_per_second"]),
        _term("run.start", known.start, "start_seconds", {"start_seconds": known.start.expected},
              known.sources["start_seconds"]),
        _term("run.failures", lost, "undisturbed_seconds * lost_share / (1 - lost_share)",
              {"undisturbed_seconds": undisturbed.expected,
               "lost_share": _lost_share(rate, interval, float(known.restart.expected)),
               "failures_per_second": rate, "interval": interval, "restart_seconds": known.restart.expected},
              rates.source or known.sources["restart_seconds"]),
    )  # fmt: skip
    shares = sorted(t / whole for t, whole in zip(_three(training), _three(total), strict=True))
    return RunTime(
        seconds=shown,
        goodput=Estimate(low=shares[0], expected=float(training.expected) / shown.expected, high=shares[2]),
        checkpoint_interval_seconds=interval,
        checkpoint_bytes=checkpoint_bytes,
        terms=terms,
    )


def checkpoint_interval(write_seconds: float, failures_per_second: float) -> float:
    """Interval between checkpoints that loses least, sqrt(2 x write x mean time between failures).

    Young, CACM 17(9), 1974. At most an hour, or what makes writing cost 2 % of the time if that is longer: who waits
    longer risks more work than the formula knows of. Never under a minute, nor under twice the time to write one.
    """
    longest = max(_HOUR, write_seconds / _WRITING_SHARE)
    best = math.sqrt(2 * write_seconds / failures_per_second) if failures_per_second > 0 else longest
    return max(60.0, 2 * write_seconds, min(best, longest))


def chance_within(estimate: Estimate, limit: float) -> float:
    """Chance that a duration stays within a limit of its own unit.

    Low and high hold 90 %: the 5th and the 95th percentile. Between and beyond, the logarithm is taken to be normal on
    each side of the expected value. `estimate.expected` must be positive.
    """
    if estimate.expected <= 0 or limit <= 0:
        return 1.0 if limit > 0 else 0.0
    end = estimate.high if limit > estimate.expected else estimate.low
    width = abs(math.log(max(end, 1e-12) / estimate.expected)) / _NINETY_PERCENT
    distance = math.log(limit / estimate.expected)
    if width == 0:
        sure = 1.0 if estimate.high <= estimate.expected else 0.5  # it may still take longer than expected
        return 0.0 if distance < 0 else sure
    return 0.5 * (1 + math.erf(distance / width / math.sqrt(2)))


def campaign_hours(
    run: RunTime,
    *,
    final_runs: int = 1,
    sweep_runs: int = 0,
    sweep_fraction: float = 0.2,
    failed_fraction: float = 0.0,
    hours_per_day: float = 24.0,
    queue_days: float = 0.0,
    working: bool = True,
) -> Campaign:
    """Hours of the cluster for final runs, the sweep before them and runs that fail.

    `failed_fraction` of all run time is lost to failed runs: total = good / (1 - failed_fraction). `working=False`
    leaves out the terms.
    """
    one = Bounds(run.seconds.low, run.seconds.expected, run.seconds.high)
    final = one * final_runs
    sweep = one * (sweep_runs * sweep_fraction)
    failed = (final + sweep) * (failed_fraction / (1 - failed_fraction))
    total = final + sweep + failed
    terms: tuple[Term, ...] = () if not working else (
        _term("campaign.final", final, "final_runs * run_seconds",
              {"final_runs": final_runs, "run_seconds": one.expected}),
        _term("campaign.sweep", sweep, "sweep_runs * sweep_fraction * run_seconds",
              {"sweep_runs": sweep_runs, "sweep_fraction": sweep_fraction, "run_seconds": one.expected}),
        _term("campaign.failed", failed, "(final_seconds + sweep_seconds) * failed_fraction / (1 - failed_fraction)",
              {"final_seconds": final.expected, "sweep_seconds": sweep.expected, "failed_fraction": failed_fraction}),
    )  # fmt: skip
    days = total / _HOUR / hours_per_day + queue_days
    return Campaign(busy_hours=(total / _HOUR).at(), calendar_days=days.at(), terms=terms)


def service_hours(months: float) -> Estimate:
    """Hours that a service is up: it is paid for by night as by day."""
    return Estimate.exact(months * _MONTH_HOURS)


def _three(bounds: Bounds) -> tuple[float, float, float]:
    return float(bounds.low), float(bounds.expected), float(bounds.high)


def _stragglers(known: _Constants, nodes: int) -> tuple[float, float, float]:
    """Share by which a step is longer: all wait for the slowest machine, if there is one that is slow."""
    shares = zip(_three(known.slowdown), _three(known.slow_nodes), strict=True)
    low, expected, high = (slowdown * _some(slow, nodes) for slowdown, slow in shares)
    return low, expected, high


def _some(share: float, nodes: int) -> float:
    """Chance that at least one of the nodes is of a kind that a share of all nodes is of."""
    return 1 - (1 - share) ** nodes


def _losses(undisturbed: Bounds, rate: float, interval: float, restart: Bounds) -> Bounds:
    """Seconds that interruptions cost.

    With x the seconds lost for each second that passes, the time grows by x / (1 - x).
    """
    shares = (_lost_share(rate, interval, r) for r in _three(restart))
    return Bounds(*(t * x / (1 - x) for t, x in zip(_three(undisturbed), shares, strict=True)))


def _lost_share(rate: float, interval: float, restart: float) -> float:
    """Seconds lost for each second: half an interval of work and a restart for each interruption.

    A restart may be interrupted in turn; beyond `_HOPELESS` the run makes no headway and the share is held there.
    """
    return min(_HOPELESS, rate * (interval / 2 + restart))


def _term(name: str, amount: Bounds, formula: str, values: Mapping[str, Number], source: str = "") -> Term:
    shown = amount.at()
    return Term(
        name=name,
        unit="seconds",
        low=shown.low,
        expected=shown.expected,
        high=shown.high,
        formula=formula,
        values={k: v if isinstance(v, int) else float(v) for k, v in values.items()},
        source=source,
    )
