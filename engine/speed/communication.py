"""Bytes on the links in one optimizer step, and how much of their time the computation can't hide."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from engine.layout.model import Job, LayoutLike, Sharding
from engine.quantity import Bounds, Number
from engine.speed.collectives import (
    Ranks,
    all_gather_seconds,
    all_reduce_seconds,
    all_to_all_seconds,
    point_to_point_seconds,
)
from engine.speed.compute import MicroStep, adapter_elements
from engine.speed.hardware import HardwareBlock
from engine.speed.optimizer import gradient_bytes
from engine.speed.passes import Passes, passes_for, trains_adapters
from engine.speed.quantized import stored_bytes
from engine.speed.work import ModelWork

__all__ = ["Communication", "communication", "trained_parameters"]

_SHARDED = (Sharding.ZERO3, Sharding.FSDP2)
#: Part of the busy time of a full training micro-step that is backward pass: two of three products.
_BACKWARD_SHARE = 2 / 3


@dataclass(frozen=True, slots=True)
class Communication:
    """Exposed seconds, by what causes them; `per_micro_step` repeats for each micro-batch, `per_step` does not."""

    per_micro_step: Bounds
    per_step: Bounds
    hideable: Bounds  # the part of `per_micro_step` that is left of transfers behind the computation
    sharding_bytes: Number  # weights and gradients that a card gathers and reduces in a step
    tensor_bytes: Number  # activations summed over tensor-parallel ranks in a step


def trained_parameters(work: ModelWork, total_parameters: float, job: Job) -> float:
    """Elements that the optimizer updates."""
    if trains_adapters(job):
        return adapter_elements(work, job)
    return total_parameters * job.trained_layers_fraction


def _per_card(total: Number, routed: float, layout: LayoutLike) -> Number:
    """Weights of one model-parallel rank, before sharding over data-parallel ranks."""
    plain = (total - routed) + routed / layout.expert_parallel
    return plain / (layout.tensor_parallel * layout.pipeline_parallel)


def hidden_under(duration: Bounds, cover: Bounds, reach: Bounds) -> Bounds:
    """What is left of `duration` when a share `reach` of `cover` hides it; never less than (1 - reach) of it.

    Communication never hides completely: the first gather and the last reduction have nothing to hide behind.
    """

    def left(d: Number, c: Number, r: Number) -> Number:
        return np.maximum(d - r * c, (1 - r) * d)

    return Bounds(
        left(duration.low, cover.low, reach.high),
        left(duration.expected, cover.expected, reach.expected),
        left(duration.high, cover.high, reach.low),
    )


def communication(
    work: ModelWork, total_parameters: float, job: Job, layout: LayoutLike, hardware: HardwareBlock, micro: MicroStep
) -> Communication:
    """Exposed communication of one optimizer step of a layout on its links."""
    passes = passes_for(job, layout)
    known = hardware.calibration
    reach = known.constant("overlap", hardware.stack)
    backward = micro.elapsed * _BACKWARD_SHARE
    per_micro, tensor_bytes = _activations(work, passes, layout, hardware, micro)
    behind = _context_ring(work, passes, layout, hardware, micro)
    cover = micro.elapsed
    gather, reduce, volume = _sharding(work, total_parameters, job, layout, hardware, passes)
    if layout.sharding in _SHARDED:
        behind = behind + gather + reduce
        per_step = hidden_under(_replica_sum(work, total_parameters, job, layout, hardware), backward, reach)
        volume = volume * layout.gradient_accumulation_steps
    elif layout.sharding is Sharding.ZERO2:
        # gradients are reduced after each micro-step, so that only a shard is kept (arXiv:1910.02054, section 5.2)
        behind, cover, per_step = behind + reduce, backward, gather
    elif layout.sharding is Sharding.ZERO1:
        per_step = hidden_under(reduce, backward, reach) + gather
    else:
        per_step = hidden_under(reduce, backward, reach)
    left = hidden_under(behind, cover, reach)
    tensor_bytes = tensor_bytes * layout.gradient_accumulation_steps
    return Communication(per_micro + left, per_step, left, volume, tensor_bytes)


def _activations(
    work: ModelWork, passes: Passes, layout: LayoutLike, hardware: HardwareBlock, micro: MicroStep
) -> tuple[Bounds, Number]:
    """Tensor-parallel sums, expert exchange and pipeline hand-over of a micro-step; they stand in the way."""
    tensor, pipeline = layout.tensor_parallel, layout.pipeline_parallel
    tokens = micro.tokens / layout.context_parallel
    message = tokens * work.hidden * 2.0
    layers = work.layers / pipeline
    # two sums forward and two backward in each layer (Megatron-LM, arXiv:1909.08053, section 3)
    sums = layers * 2 * (passes.layer_forwards + passes.layer_backwards)
    ranks = Ranks.of(tensor, hardware.gpus_per_node)
    seconds = all_reduce_seconds(np.where(tensor > 1, message, 0.0), ranks, hardware.links) * sums
    volume = np.where(tensor > 1, 2 * message * sums * (tensor - 1) / tensor, 0.0)
    if work.moe_layers:
        routed = work.moe_layers / pipeline
        experts = Ranks.of(layout.expert_parallel, hardware.gpus_per_node)
        share = tokens * work.hidden * 2.0 * work.experts_per_token / tensor
        times = routed * 2 * (passes.layer_forwards + passes.layer_backwards)
        sent = np.where(layout.expert_parallel > 1, share, 0.0)
        exchange = all_to_all_seconds(sent, experts, hardware.links) * times
        hidden = hardware.calibration.constant("expert_overlap", hardware.stack)
        seconds = seconds + Bounds(
            exchange.low * (1 - hidden.high),
            exchange.expected * (1 - hidden.expected),
            exchange.high * (1 - hidden.low),
        )
    far = np.where(layout.gpus > hardware.gpus_per_node, 1.0, 0.0)
    handed = np.where(pipeline > 1, message / tensor, 0.0)
    # forward and back, and as often as a stage holds pieces of the model
    hand_over = point_to_point_seconds(handed, far, hardware.links) * np.where(
        pipeline > 1, 2.0 * layout.virtual_stages, 0.0
    )
    return seconds + hand_over, volume


def _context_ring(
    work: ModelWork, passes: Passes, layout: LayoutLike, hardware: HardwareBlock, micro: MicroStep
) -> Bounds:
    """Keys and values that go round the context-parallel ring (Ring Attention, arXiv:2310.01889)."""
    context = layout.context_parallel
    block = micro.tokens / context * work.kv_width * 2.0 / layout.tensor_parallel
    ranks = Ranks.of(context, hardware.gpus_per_node / layout.tensor_parallel)
    times = work.layers / layout.pipeline_parallel * (passes.layer_forwards + 2 * passes.layer_backwards)
    return all_gather_seconds(np.where(context > 1, block * context, 0.0), ranks, hardware.links) * times


def _sharding(
    work: ModelWork, total: float, job: Job, layout: LayoutLike, hardware: HardwareBlock, passes: Passes
) -> tuple[Bounds, Bounds, Number]:
    """Gathers and reductions over the data-parallel ranks: weights (frozen ones too), then gradients of what trains.

    Sharded weights are gathered before the forward and again before the backward pass (arXiv:1910.02054, section 7.2);
    without sharding gradients are summed once. Returns gather, reduction, bytes through a card.
    """
    frozen = trains_adapters(job)
    trained = _per_card(trained_parameters(work, total, job), 0.0 if frozen else work.routed_stored, layout)
    gradient = 4.0 if frozen else gradient_bytes(layout.regime)
    if layout.sharding in _SHARDED:
        ranks = Ranks.of(layout.shard_degree, hardware.gpus_per_node / layout.tensor_parallel)
        weight = stored_bytes(job.weight_quantization) if frozen else 2.0
        if hardware.precision in ("fp32", "tf32"):
            weight = 4.0
        gathers = 2.0 if layout.reshard_after_forward else 1.0
        weights = _per_card(total, work.routed_stored, layout) * weight * (gathers + passes.reference)
        messages = work.layers / layout.pipeline_parallel
        gather = _many(weights, messages * gathers, ranks, hardware)
        reduce = _many(trained * gradient, messages, ranks, hardware)
        return gather, reduce, weights + trained * gradient
    group = layout.data_parallel * layout.context_parallel
    ranks = Ranks.of(group, hardware.gpus_per_node / layout.tensor_parallel)
    volume = np.where(group > 1, trained * gradient, 0.0)
    if layout.sharding is Sharding.NONE:
        return Bounds.exact(0.0 * volume), all_reduce_seconds(volume, ranks, hardware.links), 2 * volume
    back = np.where(group > 1, trained * 2.0, 0.0)
    gather = all_gather_seconds(back, ranks, hardware.links)
    return gather, all_gather_seconds(volume, ranks, hardware.links), volume + back


def _many(volume: Number, messages: Number, ranks: Ranks, hardware: HardwareBlock) -> Bounds:
    """One collective a layer: the bandwidth term of the whole volume, the latency of each message."""
    each = volume / messages
    return all_gather_seconds(np.where(ranks.size > 1, each, 0.0), ranks, hardware.links) * messages


def _replica_sum(work: ModelWork, total: float, job: Job, layout: LayoutLike, hardware: HardwareBlock) -> Bounds:
    """Hybrid sharding: shards are summed over the replicas of the sharding group, once a step."""
    frozen = trains_adapters(job)
    trained = _per_card(trained_parameters(work, total, job), 0.0 if frozen else work.routed_stored, layout)
    replicas = layout.data_parallel * layout.context_parallel / layout.shard_degree
    shard = trained * (4.0 if frozen else gradient_bytes(layout.regime)) / layout.shard_degree
    inside = hardware.gpus_per_node / layout.tensor_parallel / layout.shard_degree
    ranks = Ranks.of(replicas, np.floor(inside))
    return all_reduce_seconds(np.where(replicas > 1, shard, 0.0), ranks, hardware.links)
