"""One task on all clusters: memory once for each set of layouts, then speed for every pair that fits, in arrays.

The best layout of a cluster is the fastest that fits; one that fits tightly counts only where none fits. Ties go to
the knobs named first, then to the narrower and smaller layout. A service keeps the best number format (the job named
first) that fits and meets its targets, however much faster a coarser one is.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, fields, is_dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.control import Control
from engine.hardware.model import Cluster
from engine.layout.model import InferenceJob, Job, Layout, Regime
from engine.memory.anchor import anchored
from engine.memory.overheads import MemoryPlatform, platform_for
from engine.memory.result import MemoryAssessment, MemoryBlock
from engine.memory.serving import inference_memory
from engine.memory.training import training_memory
from engine.memory.verdict import FITS, FITS_TIGHTLY, assess, verdicts
from engine.quantity import Bounds
from engine.search.layouts import LayoutSet, Shape, serving_sets, take, training_sets
from engine.search.resolve import Knobs, Precision, ResolvedTask, precision_of
from engine.search.speeds import measured_card, misses_targets, pace_of, score_of, speed_of
from engine.speed.calibration import Stack, serving_stack, stack_of
from engine.speed.hardware import HardwareBlock, hardware_block
from engine.speed.hardware import Precision as MatrixPrecision
from engine.speed.result import InferenceSpeed, TrainingSpeed

__all__ = [
    "GOOD", "GOOD_SLOW", "NOTHING", "TIGHT", "TIGHT_SLOW", "Chosen", "TaskTable", "evaluate_task", "misses_targets",
]  # fmt: skip

#: Ranks of a choice: fits; fits tightly; the same, but the targets of the service are missed; nothing.
GOOD, TIGHT, GOOD_SLOW, TIGHT_SLOW, NOTHING = range(5)
#: Rows of `TaskTable.pace`. Training: seconds of a step, tokens of a step. Serving: seconds for each output token of
#: the whole service, one token.
PACE = ("low", "expected", "high", "tokens")
PRECISIONS: tuple[Precision, ...] = ("bf16", "fp16")
#: Pairs of cluster and layout that are held in memory at once.
PAIRS_AT_ONCE = 400_000


@dataclass(frozen=True)
class _Group:
    """Clusters that share memory overheads, so that one pass over the layouts serves all of them."""

    platform: MemoryPlatform
    members: NDArray[np.int64]  # indices of the clusters, rising
    shapes: list[Shape]
    usable: NDArray[np.float64]
    in_use: NDArray[np.float64]
    timed: dict[Precision, NDArray[np.int64]]  # members whose speed matters, by the format that they train in


@dataclass(frozen=True)
class _Evaluated:
    """A set of layouts with its memory; what a choice points to."""

    job: Job | InferenceJob
    layouts: LayoutSet
    memory: MemoryBlock
    precision: Precision
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
    fits: NDArray[np.bool_]  # some layout fits, whether its speed is known or not
    sets: list[_Evaluated]
    checkpoints: dict[int, float] = field(default_factory=dict)  # bytes by set, filled when they are asked for
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
            clusters,
            precision=evaluated.matrix,
            framework=_program(evaluated.job),
            stack=evaluated.stack,
            index=np.arange(len(clusters)),
        )
        block = take(evaluated.layouts.block, layouts)
        speed = speed_of(
            self.resolved, evaluated.job, block, rates, measured_card(self.resolved, self.clusters, members)
        )
        for position, index in enumerate(members):
            cluster, layout = clusters[position], int(layouts[position])
            yield (
                index,
                Chosen(
                    job=evaluated.job,
                    layout=_as_run(evaluated, layout),
                    memory=assess(
                        evaluated.memory,
                        cluster.gpu,
                        index=layout,
                        in_use_bytes=cluster.in_use_bytes,
                        headroom=self.headroom,
                    ),
                    speed=speed.at(position),
                ),
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
        fits=np.zeros(n, np.bool_),
        sets=[],
    )
    groups = _groups(resolved, clusters, n if timed is None else timed)
    sets = _layout_sets(resolved, knobs, clusters)
    for done, group in enumerate(groups):
        control.checkpoint(done, len(groups))
        _evaluate_group(table, sets, group, control)
    return table


def _as_run(evaluated: _Evaluated, index: int) -> Layout:
    """The layout as it runs: cards without BF16 use autocast in FP16, which takes the same memory."""
    layout = evaluated.layouts.block.at(index)
    if evaluated.precision == "fp16" and layout.regime is Regime.BF16_AMP:
        return Layout.model_validate({**layout.model_dump(), "regime": Regime.FP16_AMP})
    return layout


def _groups(resolved: ResolvedTask, clusters: Sequence[Cluster], timed: int) -> list[_Group]:
    job = resolved.jobs[0]
    members: dict[MemoryPlatform, list[int]] = {}
    for index, cluster in enumerate(clusters):
        members.setdefault(platform_for(cluster.gpu, _program(job)), []).append(index)
    return [_group(platform, found, clusters, timed) for platform, found in members.items()]


def _group(platform: MemoryPlatform, found: list[int], clusters: Sequence[Cluster], timed: int) -> _Group:
    several = [clusters[i] for i in found]
    index = np.array(found, np.int64)
    return _Group(
        platform=platform,
        members=index,
        shapes=[Shape(c.gpus_per_node, c.nodes) for c in several],
        usable=np.array([c.gpu.usable_bytes or np.nan for c in several], float),
        in_use=np.array([c.in_use_bytes for c in several], float),
        timed={p: index[[i < timed and precision_of(c.gpu) == p for i, c in zip(found, several, strict=True)]]
               for p in PRECISIONS},
    )  # fmt: skip


def _evaluate_group(
    table: TaskTable, sets: Sequence[tuple[Job | InferenceJob, LayoutSet]], group: _Group, control: Control
) -> None:
    rates: dict[tuple[MatrixPrecision, Stack], HardwareBlock] = {}
    for job, layouts in sets:
        control.checkpoint()
        memory = _memory(table.resolved, job, layouts, group)
        table.jobs_seen = table.resolved.jobs.index(job)
        fitting = [_fitting(table, group, layouts, memory, *pairs) for pairs in _pairs(layouts, group.shapes)]
        if not fitting:
            continue
        cluster, layout, codes = (np.concatenate(parts) for parts in zip(*fitting, strict=True))
        for precision, timed in group.timed.items():
            kept = np.flatnonzero(np.isin(cluster, timed, kind="table"))
            if not len(kept):
                continue
            matrix, stack = _matrix_precision(job, layouts, precision), _stack(job)
            if (matrix, stack) not in rates:
                everyone = [table.clusters[i] for i in timed]
                rates[matrix, stack] = hardware_block(
                    everyone,
                    precision=matrix,
                    framework=_program(job),
                    stack=stack,
                    index=np.arange(len(everyone)),
                )
            table.sets.append(_Evaluated(job, layouts, memory, precision, matrix, stack))
            position = np.searchsorted(timed, cluster[kept])
            _time_pairs(table, rates[matrix, stack], position, cluster[kept], layout[kept], codes[kept])


def _matrix_precision(job: Job | InferenceJob, layouts: LayoutSet, precision: Precision) -> MatrixPrecision:
    if isinstance(job, InferenceJob):
        return "fp8" if job.weight_quantization == "fp8" else precision
    return "fp32" if layouts.block.regime is Regime.FP32 else precision


def _program(job: Job | InferenceJob) -> str:
    return job.engine if isinstance(job, InferenceJob) else job.framework


def _stack(job: Job | InferenceJob) -> Stack:
    return serving_stack(job.engine) if isinstance(job, InferenceJob) else stack_of(job.framework)


def _layout_sets(
    resolved: ResolvedTask, knobs: Knobs, clusters: Sequence[Cluster]
) -> list[tuple[Job | InferenceJob, LayoutSet]]:
    """All layouts of a task on all shapes that the clusters have, whatever the cards are."""
    architecture, training = resolved.architecture, resolved.training
    shapes = {Shape(c.gpus_per_node, c.nodes) for c in clusters}
    batch = training.global_batch_size if training is not None else 1
    found: list[tuple[Job | InferenceJob, LayoutSet]] = []
    for job in resolved.jobs:
        if isinstance(job, InferenceJob):
            sets = serving_sets(architecture, shapes, users=job.concurrent_sequences)
        else:
            sets = training_sets(architecture, job, knobs, shapes, global_batch_size=batch)
        found.extend((job, layouts) for layouts in sets)
    return found


def _memory(resolved: ResolvedTask, job: Job | InferenceJob, layouts: LayoutSet, group: _Group) -> MemoryBlock:
    if isinstance(job, InferenceJob):
        block = inference_memory(resolved.architecture, job, layouts.block, platform=group.platform)
    else:
        block = training_memory(resolved.architecture, job, layouts.block, platform=group.platform)
    if resolved.anchor is not None and resolved.anchor.speaks_of(job, layouts.block):
        return anchored(block, resolved.anchor, layouts.block)
    return block


def _pairs(
    layouts: LayoutSet, shapes: list[Shape]
) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]]:
    """All pairs of one shape, in bounded pieces, cluster by cluster.

    Position of each pair's cluster in its group, its layout, and where each cluster's pairs begin.
    """
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
        begins = np.cumsum(per) - per
        member = np.repeat(members, per)
        within = np.arange(len(member)) - np.repeat(begins, per)
        yield member, order[starts[of_cluster[member]] + within], begins


def _fitting(
    table: TaskTable,
    group: _Group,
    layouts: LayoutSet,
    memory: MemoryBlock,
    member: NDArray[np.int64],
    layout: NDArray[np.int64],
    begins: NDArray[np.int64],
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int8]]:
    """The pairs that fit: cluster, layout, verdict. Notes how far each cluster's nearest layout is from fitting."""
    usable, in_use = group.usable[member], group.in_use[member]
    driver = memory.driver
    held = Bounds(*(np.broadcast_to(b, len(layouts))[layout] for b in (driver.low, driver.expected, driver.high)))
    codes = verdicts(replace(memory, driver=held), usable, in_use, table.headroom)
    table.looked_at += len(member)
    nearest = np.minimum.reduceat(np.asarray(held.expected) + in_use - usable, begins)
    cluster = group.members[member]
    table.missing_bytes[cluster[begins]] = np.fmin(table.missing_bytes[cluster[begins]], nearest)
    kept = np.flatnonzero((codes == FITS) | (codes == FITS_TIGHTLY))
    table.fits[cluster[kept]] = True
    return cluster[kept], layout[kept], codes[kept]


def _time_pairs(
    table: TaskTable,
    rates: HardwareBlock,
    position: NDArray[np.int64],
    cluster: NDArray[np.int64],
    layout: NDArray[np.int64],
    codes: NDArray[np.int8],
) -> None:
    """Speed of pairs that fit, and the best of each cluster."""
    evaluated = table.sets[-1]
    table.pairs += len(cluster)
    block = take(evaluated.layouts.block, layout)
    same = measured_card(table.resolved, table.clusters, cluster)
    speed = speed_of(table.resolved, evaluated.job, block, _gather(rates, position), same)
    score, slow = score_of(table.resolved, speed)
    rank = ((codes == FITS_TIGHTLY) + 2 * slow).astype(np.int8)
    known = np.isfinite(score)
    if known.any():
        _keep_best(table, cluster[known], layout[known], rank[known], score[known], pace_of(speed)[:, known])


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


def _gather(value: Any, index: NDArray[np.int64]) -> Any:
    """The entries at `index` of every array inside a frozen dataclass."""
    if isinstance(value, np.ndarray):
        return value[index]
    if is_dataclass(value) and not isinstance(value, type):
        return replace(value, **{f.name: _gather(getattr(value, f.name), index) for f in fields(value)})
    return value
