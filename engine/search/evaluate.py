"""One task on all clusters: memory once for each set of layouts, then speed for every pair that fits, in arrays.

The best layout of a cluster is the fastest that fits; one that fits tightly counts only where none fits. Ties go to
the knobs named first, then to the narrower and smaller layout. A service keeps the best number format (the job named
first) that fits and meets its targets, however much faster a coarser one is.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.control import Control
from engine.hardware.model import Cluster
from engine.layout.model import InferenceJob, Job, Layout, Regime
from engine.memory.overheads import MemoryPlatform, platform_for
from engine.memory.result import MemoryAssessment, MemoryBlock
from engine.memory.serving import inference_memory
from engine.memory.training import training_memory
from engine.memory.verdict import FITS, FITS_TIGHTLY, assess, verdicts
from engine.quantity import Bounds
from engine.scenario import InferenceWorkload
from engine.search.layouts import LayoutSet, Shape, serving_sets, take, training_sets
from engine.search.resolve import Knobs, Precision, ResolvedTask, precision_of
from engine.speed.calibration import Stack, serving_stack, stack_of
from engine.speed.hardware import HardwareBlock, hardware_block
from engine.speed.hardware import Precision as MatrixPrecision
from engine.speed.result import InferenceSpeed, InferenceSpeedBlock, TrainingSpeed, TrainingSpeedBlock
from engine.speed.serving import inference_speed
from engine.speed.training import training_speed

__all__ = [
    "GOOD", "GOOD_SLOW", "NOTHING", "TIGHT", "TIGHT_SLOW", "Chosen", "TaskTable", "evaluate_task", "misses_targets",
]  # fmt: skip

#: Ranks of a choice: fits; fits tightly; the same, but the targets of the service are missed; nothing.
GOOD, TIGHT, GOOD_SLOW, TIGHT_SLOW, NOTHING = range(5)
#: Rows of `TaskTable.pace`. Training: seconds of a step, tokens of a step. Serving: seconds for each output token of
#: the whole service, one token.
PACE = ("low", "expected", "high", "tokens")
#: Pairs of cluster and layout that are held in memory at once.
PAIRS_AT_ONCE = 400_000
#: Busiest hours of a service against its average: offices work a third of the day (assumption).
PEAK_OVER_AVERAGE = 3.0


@dataclass(frozen=True)
class _Group:
    """Clusters that share compute format and memory overheads, so that one pass serves all of them."""

    precision: Precision
    platform: MemoryPlatform
    members: NDArray[np.int64]


@dataclass(frozen=True)
class _Evaluated:
    """A set of layouts with its memory; what a choice points to."""

    job: Job | InferenceJob
    layouts: LayoutSet
    memory: MemoryBlock
    matrix: MatrixPrecision
    stack: Stack


@dataclass(frozen=True)
class Chosen:
    """The best layout of one task on one cluster."""

    job: Job | InferenceJob
    layout: Layout
    memory: MemoryAssessment
    speed: TrainingSpeed | InferenceSpeed


@dataclass
class TaskTable:
    """The best layout of a task on each cluster, by index of the cluster."""

    resolved: ResolvedTask
    clusters: Sequence[Cluster]
    headroom: float
    rank: NDArray[np.int8]  # GOOD … NOTHING
    score: NDArray[np.float64]  # seconds a token: less is better
    chosen_set: NDArray[np.int32]
    chosen_layout: NDArray[np.int64]
    chosen_job: NDArray[np.int32]
    pace: NDArray[np.float64]  # of the choice: rows `PACE`
    missing_bytes: NDArray[np.float64]  # of the layout that comes nearest to fitting; inf where there is none
    needed_bytes: NDArray[np.float64]  # what that layout needs
    fits: NDArray[np.bool_]  # some layout fits, whether its speed is known or not
    sets: list[_Evaluated]
    jobs_seen: int = 0  # number of the job that is being evaluated, in the order of preference
    pairs: int = 0
    looked_at: int = 0

    def choose(self, indices: Iterable[int]) -> dict[int, Chosen]:
        """Layout, memory and speed of the best choice of these clusters, with all their terms."""
        by_set: dict[int, list[int]] = {}
        for index in indices:
            if self.rank[index] != NOTHING:
                by_set.setdefault(int(self.chosen_set[index]), []).append(index)
        found: dict[int, Chosen] = {}
        for number, members in sorted(by_set.items()):
            found.update(self._choose_in(self.sets[number], members))
        return found

    def _choose_in(self, evaluated: _Evaluated, members: list[int]) -> Iterator[tuple[int, Chosen]]:
        layouts = self.chosen_layout[members]
        clusters = [self.clusters[i] for i in members]
        rates = hardware_block(
            clusters, precision=evaluated.matrix, stack=evaluated.stack, index=np.arange(len(clusters))
        )
        block = take(evaluated.layouts.block, layouts)
        speed = _speed(self.resolved, evaluated.job, block, rates)
        for position, index in enumerate(members):
            cluster, layout = clusters[position], int(layouts[position])
            yield index, Chosen(
                job=evaluated.job,
                layout=evaluated.layouts.block.at(layout),
                memory=assess(
                    evaluated.memory,
                    cluster.gpu,
                    index=layout,
                    in_use_bytes=cluster.in_use_bytes,
                    headroom=self.headroom,
                ),
                speed=speed.at(position),
            )


def evaluate_task(
    resolved: ResolvedTask,
    knobs: Knobs,
    clusters: Sequence[Cluster],
    *,
    headroom: float,
    timed: int | None = None,
    control: Control | None = None,
) -> TaskTable:
    """Find the best layout of one task on each cluster; only the first `timed` clusters get a speed."""
    control = control or Control()
    n = len(clusters)
    table = TaskTable(
        resolved=resolved,
        clusters=clusters,
        headroom=headroom,
        rank=np.full(n, NOTHING, np.int8),
        score=np.full(n, np.inf),
        chosen_set=np.full(n, -1, np.int32),
        chosen_layout=np.full(n, -1, np.int64),
        chosen_job=np.full(n, -1, np.int32),
        pace=np.full((len(PACE), n), np.nan),
        missing_bytes=np.full(n, np.inf),
        needed_bytes=np.full(n, np.inf),
        fits=np.zeros(n, np.bool_),
        sets=[],
    )
    groups = _groups(resolved, clusters)
    for done, group in enumerate(groups):
        control.checkpoint(done, len(groups))
        _evaluate_group(table, knobs, group, n if timed is None else timed, control)
    return table


def _groups(resolved: ResolvedTask, clusters: Sequence[Cluster]) -> list[_Group]:
    job = resolved.jobs[0]
    framework = job.framework if isinstance(job, Job) else job.engine
    members: dict[tuple[Precision, MemoryPlatform], list[int]] = {}
    for index, cluster in enumerate(clusters):
        precision = precision_of(cluster.gpu) or "bf16"
        members.setdefault((precision, platform_for(cluster.gpu, framework)), []).append(index)
    return [_Group(p, o, np.array(m, np.int64)) for (p, o), m in members.items()]


def _evaluate_group(table: TaskTable, knobs: Knobs, group: _Group, timed: int, control: Control) -> None:
    shapes = [Shape(table.clusters[i].gpus_per_node, table.clusters[i].nodes) for i in group.members]
    rates: dict[tuple[MatrixPrecision, Stack], HardwareBlock] = {}
    clusters = [table.clusters[i] for i in group.members]
    everyone = np.arange(len(clusters))
    for evaluated in _memory_of_sets(table.resolved, knobs, group, shapes):
        control.checkpoint()
        key = (evaluated.matrix, evaluated.stack)
        if key not in rates:
            rates[key] = hardware_block(clusters, precision=key[0], stack=key[1], index=everyone)
        table.sets.append(evaluated)
        table.jobs_seen = table.resolved.jobs.index(evaluated.job)
        for member, layout in _pairs(evaluated.layouts, shapes):
            _evaluate_pairs(table, group, rates[key], member, layout, timed)


def _memory_of_sets(
    resolved: ResolvedTask, knobs: Knobs, group: _Group, shapes: list[Shape]
) -> Iterator[_Evaluated]:
    architecture = resolved.architecture
    for job in resolved.jobs:
        if isinstance(job, InferenceJob):
            matrix: MatrixPrecision = "fp8" if job.weight_quantization == "fp8" else group.precision
            for layouts in serving_sets(architecture, shapes, users=job.concurrent_sequences):
                memory = inference_memory(architecture, job, layouts.block, platform=group.platform)
                yield _Evaluated(job, layouts, memory, matrix, serving_stack(job.engine))
            continue
        training = resolved.training
        batch = training.global_batch_size if training is not None else 1
        for layouts in training_sets(
            architecture, job, knobs, shapes, global_batch_size=batch, precision=group.precision
        ):
            memory = training_memory(architecture, job, layouts.block, platform=group.platform)
            matrix = "fp32" if layouts.block.regime is Regime.FP32 else group.precision
            yield _Evaluated(job, layouts, memory, matrix, stack_of(job.framework))


def _pairs(
    layouts: LayoutSet, shapes: list[Shape]
) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """(position of the cluster in its group, index of the layout) of all pairs of one shape, in bounded pieces."""
    number = {shape: i for i, shape in enumerate(layouts.shapes)}
    of_cluster = np.array([number[s] for s in shapes], np.int64)
    order = np.argsort(layouts.shape, kind="stable")
    counts = np.bincount(layouts.shape, minlength=len(layouts.shapes))
    starts = np.concatenate([[0], np.cumsum(counts)[:-1]])
    each = counts[of_cluster]
    piece = np.cumsum(each) // PAIRS_AT_ONCE
    for part in np.unique(piece):
        members = np.flatnonzero((piece == part) & (each > 0))
        if not len(members):
            continue
        per = each[members]
        member = np.repeat(members, per)
        within = np.arange(len(member)) - np.repeat(np.cumsum(per) - per, per)
        yield member, order[starts[of_cluster[member]] + within]


def _evaluate_pairs(
    table: TaskTable,
    group: _Group,
    rates: HardwareBlock,
    member: NDArray[np.int64],
    layout: NDArray[np.int64],
    timed: int,
) -> None:
    evaluated = table.sets[-1]
    cluster = group.members[member]
    usable = np.array([table.clusters[i].gpu.usable_bytes or np.nan for i in group.members], float)[member]
    in_use = np.array([table.clusters[i].in_use_bytes for i in group.members], float)[member]
    driver = evaluated.memory.driver
    held = Bounds(*(np.asarray(b)[layout] for b in (driver.low, driver.expected, driver.high)))
    codes = verdicts(replace(evaluated.memory, driver=held), usable, in_use, table.headroom)
    table.looked_at += len(cluster)
    _note_missing(table, cluster, np.asarray(held.expected) + in_use, usable)
    fitting = (codes == FITS) | (codes == FITS_TIGHTLY)
    table.fits[cluster[fitting]] = True
    kept = np.flatnonzero(fitting & (cluster < timed))
    if not len(kept):
        return
    table.pairs += len(kept)
    cluster, layout, member = cluster[kept], layout[kept], member[kept]
    block = take(evaluated.layouts.block, layout)
    speed = _speed(table.resolved, evaluated.job, block, _gather(rates, member))
    score, slow = _score(table.resolved, speed)
    rank = (codes[kept] == FITS_TIGHTLY) + 2 * slow.astype(np.int8)
    known = np.isfinite(score)
    _keep_best(table, cluster[known], layout[known], rank[known].astype(np.int8), score[known], _pace(speed)[:, known])


def _note_missing(
    table: TaskTable, cluster: NDArray[np.int64], needed: NDArray[np.float64], usable: NDArray[np.float64]
) -> None:
    """Keep, for each cluster, the layout that comes nearest to fitting."""
    missing = needed - usable
    order = np.lexsort((missing, cluster))
    first = order[np.unique(cluster[order], return_index=True)[1]]
    nearer = missing[first] < table.missing_bytes[cluster[first]]
    at = first[nearer]
    table.missing_bytes[cluster[at]] = missing[at]
    table.needed_bytes[cluster[at]] = needed[at]


def _keep_best(
    table: TaskTable,
    cluster: NDArray[np.int64],
    layout: NDArray[np.int64],
    rank: NDArray[np.int8],
    score: NDArray[np.float64],
    pace: NDArray[np.float64],
) -> None:
    """The best pair of each cluster takes the place of an earlier one that it beats."""
    order = np.lexsort((layout, score, rank, cluster))
    first = order[np.unique(cluster[order], return_index=True)[1]]
    where = cluster[first]
    faster = (table.chosen_job[where] == table.jobs_seen) & (score[first] < table.score[where])
    better = (rank[first] < table.rank[where]) | ((rank[first] == table.rank[where]) & faster)
    at, where = first[better], where[better]
    table.rank[where], table.score[where], table.pace[:, where] = rank[at], score[at], pace[:, at]
    table.chosen_set[where], table.chosen_layout[where] = len(table.sets) - 1, layout[at]
    table.chosen_job[where] = table.jobs_seen


def _speed(
    resolved: ResolvedTask, job: Job | InferenceJob, block: Any, rates: HardwareBlock
) -> TrainingSpeedBlock | InferenceSpeedBlock:
    if isinstance(job, InferenceJob):
        return inference_speed(resolved.architecture, job, block, rates)
    return training_speed(resolved.architecture, job, block, rates)


def _score(
    resolved: ResolvedTask, speed: TrainingSpeedBlock | InferenceSpeedBlock
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Seconds a token (less is better), and whether a service misses its targets (expected values)."""
    if isinstance(speed, TrainingSpeedBlock):
        score = np.asarray(speed.step_seconds.expected) / np.asarray(speed.tokens_per_step.expected)
        return np.where(speed.known, score, np.inf), np.zeros(score.shape, np.bool_)
    workload = resolved.serving
    rate = np.asarray(speed.tokens_per_second.expected)
    score = np.where(np.asarray(speed.known), 1.0 / rate, np.inf)
    return score, misses_targets(workload, speed) if workload is not None else np.zeros(score.shape, np.bool_)


def _pace(speed: TrainingSpeedBlock | InferenceSpeedBlock) -> NDArray[np.float64]:
    if isinstance(speed, TrainingSpeedBlock):
        step, tokens = speed.step_seconds, speed.tokens_per_step.expected
    else:
        step, tokens = speed.tokens_per_second.reciprocal(), 1.0
    return np.array(np.broadcast_arrays(step.low, step.expected, step.high, tokens), float)


def misses_targets(workload: InferenceWorkload, speed: InferenceSpeedBlock) -> NDArray[np.bool_]:
    """Whether the first token or the next ones come too late, or the day's requests are too many."""
    first = np.asarray(speed.time_to_first_token_seconds.expected) > workload.first_token_seconds
    following = np.asarray(speed.time_per_output_token_seconds.expected) > 1 / workload.tokens_per_second_per_user
    if workload.outputs_only:
        return np.zeros(following.shape, np.bool_)  # nobody waits for a batch: it only has to be done
    needed = workload.requests_per_day * workload.output_tokens / 86_400 * PEAK_OVER_AVERAGE
    return first | following | (np.asarray(speed.tokens_per_second.expected) < needed)


def _gather(value: Any, index: NDArray[np.int64]) -> Any:
    """The entries at `index` of every array inside a frozen dataclass."""
    if isinstance(value, np.ndarray):
        return value[index]
    if is_dataclass(value) and not isinstance(value, type):
        return replace(value, **{f.name: _gather(getattr(value, f.name), index) for f in fields(value)})
    return value
