"""Seconds that states in host memory cost: PCIe transfers and Adam on the CPU (ZeRO-Offload, arXiv:2101.06840)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from engine.layout.model import Job, LayoutLike, Offload
from engine.quantity import Bounds, Number
from engine.speed.communication import hidden_under
from engine.speed.compute import MicroStep
from engine.speed.hardware import HardwareBlock
from engine.speed.passes import passes_for
from engine.speed.work import ModelWork

__all__ = ["Offloading", "offloading"]


@dataclass(frozen=True, slots=True)
class Offloading:
    """Seconds of one optimizer step that offloading adds, by cause."""

    adam: Bounds  # Adam on the CPU
    summing: Bounds  # gradients of the micro-steps, summed on the CPU
    transfers: Bounds  # gradients out, weights back
    waiting: Bounds  # for what every pass fetches, beyond what the work hides

    @property
    def total(self) -> Bounds:
        """All causes together."""
        return self.adam + self.summing + self.transfers + self.waiting


def _transfer(volume: Number, hardware: HardwareBlock) -> Bounds:
    return hardware.host_bytes_per_second.reciprocal(volume)


def _beyond(waited: Bounds, beside: Bounds) -> Bounds:
    """What waiting takes longer than the waiting for something else at the same time."""
    return Bounds(
        np.maximum(0.0, waited.low - beside.low),
        np.maximum(0.0, waited.expected - beside.expected),
        np.maximum(0.0, waited.high - beside.high),
    )


def offloading(
    work: ModelWork,
    *,
    trained: Number,
    weights: Number,
    job: Job,
    layout: LayoutLike,
    hardware: HardwareBlock,
    micro: MicroStep,
    beside: Bounds,
) -> Offloading:
    """Seconds of one optimizer step that offloading adds.

    `trained` and `weights` are elements of one model-parallel rank. Gradients go to the host after each micro-step and
    are summed there, where the CPUs of the node are shared by its cards; then Adam runs on the CPU and 16-bit weights
    come back. With offloaded parameters the weights also come over PCIe for each pass, hidden in part by the work and
    by what is waited for on the other links anyway: `beside`, for each micro-step.
    """
    zero = Bounds.exact(0.0 * (trained + hardware.nodes))
    if layout.offload is Offload.NONE:
        return Offloading(zero, zero, zero, zero)
    known = hardware.calibration
    reach = known.constant("overlap", hardware.stack)
    accumulation = layout.gradient_accumulation_steps
    passes = passes_for(job, layout)
    if layout.offload is Offload.ACTIVATIONS:
        kept = micro.tokens / layout.context_parallel * work.hidden * work.layers / layout.pipeline_parallel
        moved = _transfer(2.0 * kept * 2, hardware)
        waiting = _beyond(hidden_under(moved, micro.elapsed, reach), beside) * accumulation
        return Offloading(zero, zero, zero, waiting + zero)
    own = trained / layout.shard_degree
    ranks = np.minimum(layout.gpus, hardware.gpus_per_node)
    adam = known.constant("cpu_adam_seconds_per_parameter", "*") * (own * ranks)
    summing = known.constant("cpu_sum_seconds_per_parameter", "*") * (own * ranks * (accumulation - 1))
    transfers = _transfer(own * 2.0 * (accumulation + 1), hardware)
    waiting = zero
    if layout.offload is Offload.OPTIMIZER_AND_PARAMETERS:
        fetched = _transfer(weights / layout.shard_degree * 2.0 * passes.forward, hardware)
        waiting = _beyond(hidden_under(fetched, micro.elapsed, reach), beside) * accumulation
    return Offloading(adam + zero, summing + zero, transfers + zero, waiting + zero)
