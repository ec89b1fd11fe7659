"""Time of one optimizer step of training, by mutually exclusive terms; scalars or arrays of candidates."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from engine.architecture.model import Architecture
from engine.layout.model import Job, LayoutLike, Method, Offload, Optimizer, Regime, Sharding
from engine.quantity import Bounds, Number, TermBlock
from engine.speed.calibration import calibrated_program
from engine.speed.communication import Communication, communication, trained_parameters
from engine.speed.compute import MicroStep, micro_step
from engine.speed.hardware import HardwareBlock
from engine.speed.offload import Offloading, offloading
from engine.speed.optimizer import newton_schulz_flops, step_bytes_per_parameter
from engine.speed.passes import trains_adapters
from engine.speed.result import TrainingSpeedBlock
from engine.speed.work import ModelWork, model_work

__all__ = ["training_speed", "widened"]

#: Methods whose step also generates text: their time depends on lengths and rollouts that a `Job` does not state.
_GENERATING = frozenset({Method.PPO, Method.GRPO})
_SOURCE_ROOFLINE = "Williams et al., CACM 52(4), 2009; arXiv:2001.08361 §2.1"  # roofline; FLOPs by operator


def training_speed(
    architecture: Architecture, job: Job, layout: LayoutLike, hardware: HardwareBlock
) -> TrainingSpeedBlock:
    """Speed of training of one model with a layout on hardware, element by element.

    Layout and hardware hold scalars or arrays of one shape. The terms (seconds of a step) add up to `step_seconds`:
    accumulation x (compute + memory-bound + communication + waiting for kernels) + pipeline bubble + optimizer +
    offload. Where a rate is not known, `known` is False and the step never ends.
    """
    work = model_work(architecture)
    micro = micro_step(architecture, work, job, layout, hardware)
    exchange = communication(work, architecture.parameters_total, job, layout, hardware, micro)
    trained = trained_parameters(work, architecture.parameters_total, job)
    split = layout.tensor_parallel * layout.pipeline_parallel
    offload = offloading(
        work,
        trained=trained / split,
        weights=architecture.parameters_total / split,
        job=job,
        layout=layout,
        hardware=hardware,
        micro=micro,
        beside=exchange.hideable,
    )
    update = _update(work, architecture, trained, job, layout, hardware)
    idle = _idle_micro_steps(work, layout)
    amounts = _amounts(layout, hardware, micro, exchange, idle)
    amounts["speed.optimizer"] = update.seconds
    amounts["speed.offload"] = offload.total
    amounts = {name: _ordered(amount) for name, amount in amounts.items()}
    known = np.logical_and(hardware.known, job.method not in _GENERATING)
    if not calibrated_program(job.framework):
        spread = float(hardware.calibration.constant("program_spread", hardware.stack).expected)
        amounts = {name: widened(amount, spread) for name, amount in amounts.items()}
    terms = _terms(amounts, layout, hardware, micro, exchange, _Parts(trained, idle, update, offload))
    return _block(terms, job, layout, hardware, micro, known)


@dataclass(frozen=True, slots=True)
class _Update:
    """The optimizer's update on one card: bytes read and written, and Muon's products."""

    seconds: Bounds
    moved_bytes: Number = 0.0  # by the update itself
    summing_bytes: Number = 0.0  # by summing gradients over micro-steps
    product_seconds: Number = 0.0


@dataclass(frozen=True, slots=True)
class _Parts:
    """What the working shows beside the terms' amounts."""

    trained: float
    idle_micro_steps: Number
    update: _Update
    offload: Offloading


def _idle_micro_steps(work: ModelWork, layout: LayoutLike) -> Number:
    """Micro-steps that the stages of a pipeline stand idle in a step."""
    steps, pipeline = layout.gradient_accumulation_steps, layout.pipeline_parallel
    # the slowest stage sets the pace: whole layers can't be cut
    pieces = pipeline * layout.virtual_stages
    uneven = np.ceil(work.layers / pieces) * pieces / work.layers
    if layout.layer_split:
        return (pipeline - 1) * steps * uneven + (uneven - 1) * steps
    # 1F1B, and interleaved 1F1B over several pieces a stage: arXiv:2104.04473 section 2.2
    return (pipeline - 1) / layout.virtual_stages * uneven + (uneven - 1) * steps


def _amounts(
    layout: LayoutLike, hardware: HardwareBlock, micro: MicroStep, exchange: Communication, idle: Number
) -> dict[str, Bounds]:
    """Seconds of a step, apart from optimizer and offload."""
    steps = layout.gradient_accumulation_steps
    fixed = hardware.calibration.constant("step_overhead_seconds", hardware.stack)
    return {
        "speed.compute": micro.matrix * steps,
        "speed.memory_bound": micro.memory * steps,
        "speed.communication": exchange.per_micro_step * steps + exchange.per_step,
        "speed.bubble": (micro.elapsed + exchange.per_micro_step) * idle,
        "speed.overhead": micro.waiting * steps + fixed,
    }


def _update(
    work: ModelWork, architecture: Architecture, trained: float, job: Job, layout: LayoutLike, hardware: HardwareBlock
) -> _Update:
    """Reads and writes of the update, and of summing gradients over micro-steps, on one card."""
    if layout.offload in (Offload.OPTIMIZER, Offload.OPTIMIZER_AND_PARAMETERS):
        return _Update(Bounds.exact(0.0 * (layout.data_parallel + hardware.nodes)))
    regime = Regime.FP32 if trains_adapters(job) else layout.regime
    shard = 1 if layout.sharding is Sharding.NONE else layout.shard_degree
    routed = 0.0 if trains_adapters(job) else work.routed_stored * job.trained_layers_fraction
    split = layout.tensor_parallel * layout.pipeline_parallel
    elements = ((trained - routed) + routed / layout.expert_parallel) / split
    moved = step_bytes_per_parameter(regime, layout.optimizer) * elements / shard
    again = 3.0 * (2.0 if regime is Regime.PURE_BF16 else 4.0) * (layout.gradient_accumulation_steps - 1)
    kept = layout.shard_degree if layout.sharding in (Sharding.ZERO2, Sharding.ZERO3, Sharding.FSDP2) else 1
    bandwidth = hardware.memory_efficiency * hardware.memory_bytes_per_second
    summing = again * elements / kept
    seconds = bandwidth.reciprocal(moved + summing)
    products: Number = 0.0
    if layout.optimizer is Optimizer.MUON:
        flops = newton_schulz_flops(layout.optimizer, architecture.hidden_size) * elements / shard
        of_products = (hardware.matrix_efficiency * hardware.peak_16bit).reciprocal(flops)
        seconds, products = seconds + of_products, of_products.expected
    return _Update(seconds, moved, summing, products)


def _block(
    terms: tuple[TermBlock, ...],
    job: Job,
    layout: LayoutLike,
    hardware: HardwareBlock,
    micro: MicroStep,
    known: Number,
) -> TrainingSpeedBlock:
    total = Bounds.exact(0.0)
    for term in terms:
        total = total + term.amount
    step = Bounds(*(np.where(known, x, np.inf) for x in (total.low, total.expected, total.high)))
    replicas = layout.data_parallel * layout.gradient_accumulation_steps
    useful = micro.tokens * replicas * job.average_tokens_fraction
    useful = useful * job.sequence_length / (job.sequence_length + job.virtual_tokens)
    needed = micro.needed_flops * replicas / layout.gpus / hardware.matrix_flops_per_second
    return TrainingSpeedBlock(
        step_seconds=step,
        tokens_per_step=Bounds.exact(useful),
        tokens_per_second_per_gpu=step.reciprocal(useful / layout.gpus),
        model_flops_utilization=step.reciprocal(needed),
        terms=terms,
        known=known,
    )


def _terms(
    amounts: dict[str, Bounds],
    layout: LayoutLike,
    hardware: HardwareBlock,
    micro: MicroStep,
    exchange: Communication,
    parts: _Parts,
) -> tuple[TermBlock, ...]:
    steps = layout.gradient_accumulation_steps
    values: dict[str, tuple[str, dict[str, Number | str], str]] = {
        "speed.compute": (
            "micro_steps * flop_per_micro_step / (peak_flop_per_s * efficiency) * slow_shapes",
            {
                "micro_steps": steps,
                "flop_per_micro_step": micro.flops,
                "peak_flop_per_s": hardware.matrix_flops_per_second,
                "efficiency": hardware.matrix_efficiency.expected,
                "slow_shapes": micro.matrix.expected
                * hardware.matrix_efficiency.expected
                * hardware.matrix_flops_per_second
                / micro.flops,
                "precision": hardware.precision,
            },
            _SOURCE_ROOFLINE,
        ),
        "speed.memory_bound": (
            "micro_steps * bytes_per_micro_step / (memory_bytes_per_s * efficiency)",
            {
                "micro_steps": steps,
                "bytes_per_micro_step": micro.bytes_moved,
                "memory_bytes_per_s": hardware.memory_bytes_per_second,
                "efficiency": hardware.memory_efficiency.expected,
            },
            _SOURCE_ROOFLINE,
        ),
        "speed.communication": (
            "micro_steps * exposed_seconds_per_micro_step + exposed_seconds_per_step",
            {
                "micro_steps": steps,
                "exposed_seconds_per_micro_step": exchange.per_micro_step.expected,
                "exposed_seconds_per_step": exchange.per_step.expected,
                "sharding_bytes": exchange.sharding_bytes,
                "tensor_bytes": exchange.tensor_bytes,
                "link_in_node_bytes_per_s": hardware.links.intra.expected,
                "link_between_nodes_bytes_per_s": hardware.links.inter.expected,
            },
            "ring and tree collectives; ZeRO arXiv:1910.02054 §7; tensor parallelism arXiv:1909.08053 §3",
        ),
        "speed.bubble": (
            "idle_micro_steps * micro_step_seconds",
            {
                "idle_micro_steps": parts.idle_micro_steps,
                "micro_step_seconds": micro.elapsed.expected + exchange.per_micro_step.expected,
                "pipeline_stages": layout.pipeline_parallel,
                "micro_steps": steps,
            },
            "arXiv:2104.04473 §2.2",
        ),
        "speed.optimizer": (
            "(update_bytes + summing_bytes) / (memory_bytes_per_s * efficiency) + product_seconds",
            {
                "update_bytes": parts.update.moved_bytes,
                "summing_bytes": parts.update.summing_bytes,
                "memory_bytes_per_s": hardware.memory_bytes_per_second,
                "efficiency": hardware.memory_efficiency.expected,
                "product_seconds": parts.update.product_seconds,
                "trained_elements": parts.trained,
            },
            "bytes by the update rule of the optimizer",
        ),
        "speed.offload": (
            "adam_seconds + summing_seconds + transfer_seconds + waiting_seconds",
            {
                "adam_seconds": parts.offload.adam.expected,
                "summing_seconds": parts.offload.summing.expected,
                "transfer_seconds": parts.offload.transfers.expected,
                "waiting_seconds": parts.offload.waiting.expected,
                "host_bytes_per_s": hardware.host_bytes_per_second.expected,
            },
            "ZeRO-Offload, arXiv:2101.06840",
        ),
        "speed.overhead": (
            "micro_steps * max(0, kernel_start_seconds - busy_seconds) + fixed_seconds",
            {
                "micro_steps": steps,
                "kernel_start_seconds": micro.launch.expected,
                "busy_seconds": micro.busy.expected,
                "fixed_seconds": hardware.calibration.constant("step_overhead_seconds", hardware.stack).expected,
            },
            hardware.calibration.constant_source("launch_seconds", hardware.stack),
        ),
    }
    return tuple(
        TermBlock(name=name, amount=amounts[name], formula=formula, values=shown, source=source, unit="seconds")
        for name, (formula, shown, source) in values.items()
    )


def widened(amount: Bounds, spread: float) -> Bounds:
    """Bounds joined with an independent spread, both taken as distances of the logarithm; the expected value stays."""
    base = np.where(amount.expected > 0, amount.expected, 1.0)

    def factor(end: Number) -> Number:
        return np.exp(np.hypot(np.log(np.where(end > 0, end, base) / base), spread))

    low, high = amount.expected / factor(amount.low), amount.expected * factor(amount.high)
    return Bounds(np.minimum(amount.low, low), amount.expected, np.maximum(amount.high, high))


def _ordered(bounds: Bounds) -> Bounds:
    """Low and high around the expected value: what hides under a longer computation may be shorter itself."""
    low = np.minimum(bounds.low, bounds.expected)
    return Bounds(low, bounds.expected, np.maximum(bounds.high, bounds.expected))
