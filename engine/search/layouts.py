"""All legal layouts of one task over the shapes of clusters, as arrays: one `LayoutSet` for each mix of kinds.

A shape is (cards in a node, nodes). Tensor parallelism stays inside a node, where its traffic has a fast link.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields, replace
from itertools import product
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine.architecture.model import Architecture
from engine.layout.model import Job, LayoutBlock, Loss, Offload, Recomputation, Regime, Sharding
from engine.search.resolve import Knobs

__all__ = ["LayoutSet", "Shape", "accumulation_steps", "serving_sets", "take", "training_sets"]

#: How far the global batch may be from the one asked for when it does not divide by the cards.
BATCH_TOLERANCE = 0.10
MAX_TENSOR_PARALLEL = 8
MAX_SERVING_TENSOR_PARALLEL = 16
MAX_PIPELINE_PARALLEL = 8

_WIDTHS = (1, 2, 4, 8, 16)


class Shape(NamedTuple):
    """Cards in a node, and nodes."""

    gpus_per_node: int
    nodes: int

    @property
    def gpus(self) -> int:
        """Cards in all."""
        return self.gpus_per_node * self.nodes


@dataclass(frozen=True)
class LayoutSet:
    """Layouts that share their kinds. `shape` is the index of each one's shape in `shapes`."""

    block: LayoutBlock
    shapes: tuple[Shape, ...]
    shape: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.shape)


class _Degrees(NamedTuple):
    data: int
    tensor: int
    pipeline: int
    context: int
    shard: int
    micro_batch: int
    accumulation: int


def take(block: LayoutBlock, index: NDArray[np.integer]) -> LayoutBlock:
    """The layouts at `index`, repeated or in another order."""
    columns = {f.name: v[index] for f in fields(block) if isinstance(v := getattr(block, f.name), np.ndarray)}
    return replace(block, **columns)


def training_sets(
    architecture: Architecture,
    job: Job,
    knobs: Knobs,
    shapes: Iterable[Shape],
    *,
    global_batch_size: int,
) -> Iterator[LayoutSet]:
    """All training layouts of a task on the given shapes."""
    ordered = tuple(sorted(set(shapes)))
    for sharding in knobs.shardings:
        degrees = [
            (i, d)
            for i, shape in enumerate(ordered)
            for d in _training_degrees(architecture, job, knobs, shape, sharding, global_batch_size)
        ]
        if not degrees:
            continue
        for regime, optimizer, loss, recomputation in product(
            knobs.regimes, knobs.optimizers, knobs.losses, knobs.recomputations
        ):
            yield LayoutSet(
                _block(degrees, sharding, recomputation, loss, regime, knobs, optimizer=optimizer),
                ordered,
                np.array([i for i, _ in degrees], np.int64),
            )


def _block(
    degrees: list[tuple[int, _Degrees]],
    sharding: Sharding,
    recomputation: Recomputation,
    loss: Loss,
    regime: Regime,
    knobs: Knobs,
    *,
    optimizer: object,
) -> LayoutBlock:
    columns = np.array([d for _, d in degrees], np.int64).T
    return LayoutBlock(
        data_parallel=columns[0],
        tensor_parallel=columns[1],
        pipeline_parallel=columns[2],
        context_parallel=columns[3],
        expert_parallel=np.ones_like(columns[0]),
        shard_degree=columns[4],
        micro_batch_size=columns[5],
        gradient_accumulation_steps=columns[6],
        sharding=sharding,
        reshard_after_forward=True,
        recomputation=recomputation,
        attention=knobs.attention,
        loss=loss,
        regime=regime,
        optimizer=optimizer,  # pyright: ignore[reportArgumentType]
        optimizer_in_backward=False,
        offload=knobs.offload,
    )


def _training_degrees(
    architecture: Architecture, job: Job, knobs: Knobs, shape: Shape, sharding: Sharding, batch: int
) -> Iterator[_Degrees]:
    for tensor in _tensor_widths(architecture, shape, MAX_TENSOR_PARALLEL if knobs.tensor_parallel else 1):
        rest = shape.gpus // tensor
        for pipeline in _pipeline_depths(architecture, rest) if knobs.pipeline_parallel else (1,):
            for context in _context_widths(job, rest // pipeline) if knobs.context_parallel and tensor == 1 else (1,):
                data = rest // pipeline // context
                ranks = data * context
                if ranks == 1 if sharding is not Sharding.NONE else context > 1:
                    continue  # sharding needs ranks to share among; context parallelism comes with sharding
                for micro_batch in knobs.micro_batches:
                    accumulation = accumulation_steps(batch, data * micro_batch)
                    if accumulation:
                        shard = 1 if sharding is Sharding.NONE else ranks
                        yield _Degrees(data, tensor, pipeline, context, shard, micro_batch, accumulation)


def _tensor_widths(architecture: Architecture, shape: Shape, most: int) -> Iterator[int]:
    heads = architecture.attention_heads
    for width in _WIDTHS:
        if width <= most and shape.gpus_per_node % width == 0 and (width == 1 or (heads and heads % width == 0)):
            yield width


def _pipeline_depths(architecture: Architecture, cards: int) -> Iterator[int]:
    for depth in _WIDTHS:
        if depth <= MAX_PIPELINE_PARALLEL and cards % depth == 0 and architecture.layers % depth == 0:
            yield depth


def _context_widths(job: Job, cards: int) -> Iterator[int]:
    for width in _WIDTHS:
        if cards % width == 0 and job.sequence_length % width == 0:
            yield width


def accumulation_steps(batch: int, at_once: int) -> int:
    """Micro-steps of one optimizer step; 0 where the batch would be too far from the one asked for."""
    steps = max(1, round(batch / at_once))
    return steps if abs(steps * at_once - batch) <= BATCH_TOLERANCE * batch else 0


def serving_sets(architecture: Architecture, shapes: Iterable[Shape], *, users: int) -> Iterator[LayoutSet]:
    """All ways to spread a service: tensor parallel in a node, layers over nodes if one is too small, replicas."""
    ordered = tuple(sorted(set(shapes)))
    degrees: list[tuple[int, _Degrees]] = []
    for i, shape in enumerate(ordered):
        for tensor in _tensor_widths(architecture, shape, MAX_SERVING_TENSOR_PARALLEL):
            rest = shape.gpus // tensor
            for pipeline in _WIDTHS:
                if rest % pipeline or (pipeline > 1 and tensor < shape.gpus_per_node) or pipeline > architecture.layers:
                    continue
                replicas = rest // pipeline
                if replicas <= users:
                    degrees.append((i, _Degrees(replicas, tensor, pipeline, 1, 1, 1, 1)))
    if degrees:
        knobs = Knobs(offload=Offload.NONE)
        yield LayoutSet(
            _block(degrees, Sharding.NONE, Recomputation.NONE, Loss.PLAIN, Regime.PURE_BF16, knobs,
                   optimizer=knobs.optimizers[0]),
            ordered,
            np.array([i for i, _ in degrees], np.int64),
        )  # fmt: skip
