"""Time against the number of cards of one plan, by the formulas and the choice of layouts of the search."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from engine.advice.result import Assessment
from engine.advice.scaling_result import Scaling, ScalingPoint, WeakPoint
from engine.control import Control
from engine.cost.rent import spot_factor
from engine.findings import Finding, Severity
from engine.hardware.model import CatalogSnapshot, Cluster
from engine.quantity import Bounds, Estimate
from engine.scenario import Scenario, TrainingWorkload
from engine.search.clusters import USUAL_CARDS_PER_NODE, Seed, node_counts
from engine.search.evaluate import NOTHING, Chosen, TaskTable, evaluate_task
from engine.search.options import delivery_days
from engine.search.resolve import ResolvedTask, resolve_tasks
from engine.search.timing import TaskTime, reliability_of, time_of_task
from engine.speed.campaign import Reliability, chance_within
from engine.speed.hardware import cluster_for
from engine.speed.result import TrainingSpeed

__all__ = ["WORTHWHILE", "scaling_of_plan"]

#: Added cards are worth while as long as they work at half or more of a card's best rate (judgement).
WORTHWHILE = 0.5
#: So many times the cards of the plan are tried, but at least up to `LEAST_TRIED` and at most `MOST_TRIED`.
TIMES_THE_PLAN, LEAST_TRIED, MOST_TRIED = 8, 32, 1024
DAY, HOUR = 86_400.0, 3600.0
Point = TypeVar("Point", ScalingPoint, WeakPoint)
_WAITING = ("speed.communication", "speed.bubble")


@dataclass(frozen=True)
class _Tables:
    """The best layouts of one task on each number of cards; the tier that is the first to fit."""

    tables: tuple[TaskTable, ...]

    def of(self, index: int) -> TaskTable | None:
        return next((t for t in self.tables if t.rank[index] != NOTHING), None)


def scaling_of_plan(
    assessment: Assessment, scenario: Scenario, catalog: CatalogSnapshot, control: Control | None = None
) -> Scaling | None:
    """The work of a plan on fewer and more of its cards: time, chance of the deadline, use of the cards.

    None where no task becomes shorter with more cards: a service runs as long as it is wanted.
    """
    control = control or Control()
    resolved = resolve_tasks(scenario, catalog)
    training = {r.task.id for r in resolved if r.training is not None}
    longest = max(
        (t for t in assessment.tasks if t.task_id in training), key=lambda t: t.busy_seconds.expected, default=None
    )
    if longest is None:
        return None
    clusters = tuple(_clusters(assessment.plan.cluster))
    found = [_evaluate(r, clusters, scenario, control) for r in resolved]
    points = _against_best(_points(assessment, scenario, catalog, clusters, found, longest.task_id))
    if not points:
        return None
    own = next(r for r in resolved if r.task.id == longest.task_id)
    weak = _against_best(_weak(own, [c for c in clusters if c.gpus >= points[0].gpus], scenario, control))
    deadline = scenario.constraints.deadline_days
    scaling = Scaling(
        gpu=assessment.plan.cluster.gpu.name,
        gpus=assessment.plan.cluster.gpus,
        task_id=longest.task_id,
        points=points,
        weak=weak,
        deadline_days=deadline,
        in_time_from=next((p.gpus for p in points if deadline and p.days.expected <= deadline), None),
        worthwhile_up_to=_worthwhile(points),
        fastest=min(points, key=lambda p: (p.days.expected, p.gpus)).gpus,
    )
    return scaling.model_copy(update={"findings": tuple(_findings(scaling))})


def _clusters(plan: Cluster) -> Iterator[Cluster]:
    """The plan's cards in smaller and larger numbers, with the same machine and network, the fewest first."""
    gpu, system = plan.gpu, plan.system
    full = system.gpus if system is not None else (gpu.max_gpus_per_node or USUAL_CARDS_PER_NODE)
    full = max(full, plan.gpus_per_node)
    most = min(max(LEAST_TRIED, TIMES_THE_PLAN * plan.gpus), MOST_TRIED)
    shapes = {(n, 1) for n in (1, 2, 4, 8, 16) if n < full}
    shapes |= {(full, n) for n in node_counts(full, max(most, full))}
    if plan.nodes == 1:
        shapes.add((plan.gpus_per_node, 1))
    else:  # smaller machines than the largest stay what they are
        shapes = {s for s in shapes if s[1] == 1 and s[0] <= plan.gpus_per_node}
        shapes |= {(plan.gpus_per_node, n) for n in node_counts(plan.gpus_per_node, most)}
        shapes.add((plan.gpus_per_node, plan.nodes))
    for per_node, nodes in sorted(shapes, key=lambda s: (s[0] * s[1], s[1])):
        if (per_node, nodes) == (plan.gpus_per_node, plan.nodes):
            yield plan
            continue
        yield cluster_for(
            gpu, system, gpus_per_node=per_node, nodes=nodes, assumed=plan.assumed, in_use_bytes=plan.in_use_bytes
        )


def _evaluate(resolved: ResolvedTask, clusters: Sequence[Cluster], scenario: Scenario, control: Control) -> _Tables:
    """One table a tier, until each number of cards has a layout or no lighter settings are left."""
    tables: list[TaskTable] = []
    for knobs in resolved.tiers:
        headroom = scenario.constraints.headroom
        tables.append(evaluate_task(resolved, knobs, clusters, headroom=headroom, control=control))
        if (tables[-1].rank != NOTHING).all():
            break
    return _Tables(tuple(tables))


def _points(
    assessment: Assessment,
    scenario: Scenario,
    catalog: CatalogSnapshot,
    clusters: Sequence[Cluster],
    found: Sequence[_Tables],
    longest: str,
) -> Iterator[ScalingPoint]:
    plan, reliability = assessment.plan, reliability_of(catalog)
    spot = plan.offer is not None and plan.offer.term == "spot"
    seed, deadline = Seed(0, plan.way, plan.offer, plan.purchase), scenario.constraints.deadline_days
    for index, cluster in enumerate(clusters):
        tables = [t for f in found if (t := f.of(index)) is not None]
        if len(tables) < len(found):
            continue
        times = [_time(t, index, cluster, reliability) for t in tables]
        busy = _sum([t.busy_seconds for t in times if t.occupies_calendar])
        longer = spot_factor(cluster.nodes) if spot else Bounds.exact(1.0)
        wait = delivery_days(seed, cluster.gpu, cluster)
        days = Estimate(
            low=wait.low + busy.low / DAY * float(longer.low),
            expected=wait.expected + busy.expected / DAY * float(longer.expected),
            high=wait.high + busy.high / DAY * float(longer.high),
        )
        chosen = next(t.choose([index])[index] for t in tables if t.resolved.task.id == longest)
        yield ScalingPoint(
            gpus=cluster.gpus,
            nodes=cluster.nodes,
            days=days,
            wait_days=wait.expected,
            card_hours=_scaled(busy, cluster.gpus / HOUR),
            efficiency=1 / (busy.expected * cluster.gpus),
            waiting=_waiting(chosen),
            chance=chance_within(days, deadline) if deadline else None,
            batch_changed=_batch_changed(tables, index),
        )


def _time(table: TaskTable, index: int, cluster: Cluster, reliability: Reliability) -> TaskTime:
    return time_of_task(table, index, cluster, reliability, working=False)


def _waiting(chosen: Chosen) -> float:
    speed = chosen.speed
    if not isinstance(speed, TrainingSpeed):
        return 0.0
    return sum(t.expected for t in speed.terms if t.name in _WAITING) / speed.step_seconds.expected


def _batch_changed(tables: Sequence[TaskTable], index: int) -> bool:
    for table in tables:
        workload = table.resolved.training
        layout = table.choose([index])[index].layout
        batch = layout.data_parallel * layout.micro_batch_size * layout.gradient_accumulation_steps
        if workload is not None and batch != workload.global_batch_size:
            return True
    return False


def _weak(
    resolved: ResolvedTask, clusters: Sequence[Cluster], scenario: Scenario, control: Control
) -> Iterator[WeakPoint]:
    """The batch grows with the cards, from the batch asked for on the fewest."""
    workload = resolved.task.workload
    assert isinstance(workload, TrainingWorkload)
    for cluster in clusters:
        batch = round(workload.global_batch_size * cluster.gpus / clusters[0].gpus)
        wider = workload.model_copy(update={"global_batch_size": batch})
        task = resolved.task.model_copy(update={"workload": wider})
        table = _evaluate(replace(resolved, task=task), [cluster], scenario, control).of(0)
        if table is None:
            continue
        speed = table.choose([0])[0].speed
        assert isinstance(speed, TrainingSpeed)
        each = speed.tokens_per_second_per_gpu
        yield WeakPoint(
            gpus=cluster.gpus,
            batch=batch,
            tokens_per_second=_scaled(each, cluster.gpus),
            efficiency=each.expected,
        )


def _against_best(points: Iterable[Point]) -> tuple[Point, ...]:
    """Rates of a card as shares of the best among them."""
    found = tuple(points)
    best = max((p.efficiency for p in found), default=1.0)
    return tuple(p.model_copy(update={"efficiency": p.efficiency / best}) for p in found)


def _worthwhile(points: Sequence[ScalingPoint]) -> int:
    """The largest number of cards that adds at least `WORTHWHILE` of a card's best rate for each card more."""
    reached = points[0]
    for point in points[1:]:
        gained = point.gpus * point.efficiency - reached.gpus * reached.efficiency
        if gained >= WORTHWHILE * (point.gpus - reached.gpus):
            reached = point
    return reached.gpus


def _findings(scaling: Scaling) -> Iterator[Finding]:
    points = scaling.points
    beyond = next((p for p in points if p.gpus > scaling.worthwhile_up_to), None)
    if beyond is not None:
        yield Finding(
            code="scaling.worthwhile",
            severity=Severity.ADVICE,
            params={"gpus": scaling.worthwhile_up_to, "next": beyond.gpus, "waiting": beyond.waiting},
        )
    elif len(points) > 1:
        yield Finding(code="scaling.all_worthwhile", params={"gpus": points[-1].gpus})
    best = next(p for p in points if p.gpus == scaling.fastest)
    if best.gpus < scaling.worthwhile_up_to:
        yield Finding(code="scaling.fastest", params={"gpus": best.gpus, "days": best.days.expected})
    if scaling.deadline_days is None:
        return
    params: dict[str, str | int | float | None] = {"deadline": scaling.deadline_days}
    in_time = next((p for p in points if p.gpus == scaling.in_time_from), None)
    if in_time is not None:
        yield Finding(code="scaling.in_time", params=params | {"gpus": in_time.gpus, "chance": in_time.chance})
        return
    yield Finding(
        code="scaling.never_in_time",
        severity=Severity.WARNING,
        params=params | {"days": best.days.expected, "gpus": best.gpus},
    )


def _sum(parts: Sequence[Estimate]) -> Estimate:
    return Estimate(
        low=sum(p.low for p in parts), expected=sum(p.expected for p in parts), high=sum(p.high for p in parts)
    )


def _scaled(estimate: Estimate, factor: float) -> Estimate:
    return Estimate(low=estimate.low * factor, expected=estimate.expected * factor, high=estimate.high * factor)
