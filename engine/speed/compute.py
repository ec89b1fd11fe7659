"""Seconds that one card spends on matrices, on reads and writes between them, and on starting kernels.

Roofline by operator (Williams et al., CACM 52(4), 2009), summed rather than overlapped: matrix work at a share of the
dense peak, everything else at a share of the memory bandwidth.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from engine.architecture.model import Architecture
from engine.layout.model import Job, LayoutLike, Loss, Sharding
from engine.quantity import Bounds, Number
from engine.speed.hardware import HardwareBlock
from engine.speed.kernels import calls_of_quantized
from engine.speed.passes import Passes, passes_for, trains_adapters
from engine.speed.quantized import dequantization_bytes, stored_bytes
from engine.speed.work import ModelWork, attention_flops_per_token

__all__ = ["MicroStep", "adapter_elements", "micro_step", "over_bandwidth", "tokens_per_micro_step"]

#: Target matrices of adapters by their usual names.
_TARGETS: dict[str, tuple[str, ...]] = {
    "q,v": ("q_proj", "v_proj", "q_b_proj"),
    "q,k,v,o": ("q_proj", "k_proj", "v_proj", "o_proj", "q_a_proj", "q_b_proj", "kv_a_proj", "kv_b_proj"),
    "attention": ("q_proj", "k_proj", "v_proj", "o_proj", "q_a_proj", "q_b_proj", "kv_a_proj", "kv_b_proj"),
    "mlp": ("gate_proj", "up_proj", "down_proj"),
}
#: Elements that an adapter moves for each element of its matrix's inputs and outputs: input read again and cast,
#: result scaled and added (PEFT's forward), by operator count.
_ADAPTER_PASSES = 3.0
#: Times that eager attention writes or reads the score matrix forward: scores, mask, softmax in 32 bits, cast, product.
_EAGER_SCORE_PASSES = 8.0


@dataclass(frozen=True, slots=True)
class MicroStep:
    """One micro-step (forward and backward of one micro-batch) on one card; seconds unless named otherwise."""

    matrix: Bounds
    memory: Bounds
    launch: Bounds  # time that starting the kernels takes; hidden while the card is busy
    flops: Number  # done on one card, recomputation included
    needed_flops: Number  # of the whole replica, without recomputation
    bytes_moved: Number
    tokens: Number  # of the replica

    @property
    def busy(self) -> Bounds:
        """Matrix work and memory traffic, one after the other."""
        return self.matrix + self.memory

    @property
    def elapsed(self) -> Bounds:
        """Busy or waiting for kernels: the time under which transfers can hide."""
        return self.busy + self.waiting

    @property
    def waiting(self) -> Bounds:
        """Time that the card waits for kernels to be started: what the launch takes beyond the busy time."""
        return Bounds(
            np.maximum(0.0, self.launch.low - self.busy.low),
            np.maximum(0.0, self.launch.expected - self.busy.expected),
            np.maximum(0.0, self.launch.high - self.busy.high),
        )


def tokens_per_micro_step(job: Job, layout: LayoutLike) -> Number:
    """Tokens of one micro-batch of one replica, padding and pairs included."""
    return layout.micro_batch_size * float(job.sequence_length + job.virtual_tokens) * job.sequences_per_sample


def adapter_elements(work: ModelWork, job: Job) -> float:
    """Trainable elements of low-rank adapters: rank x (inputs + outputs) of each target matrix (arXiv:2106.09685)."""
    if job.lora is None:
        return float(job.virtual_tokens * work.hidden)
    return job.lora.rank * _adapted_sides(work, job)


def _adapted_sides(work: ModelWork, job: Job) -> float:
    if job.lora is None:
        return 0.0
    names = _TARGETS.get(job.lora.targets)
    return sum(x.outputs for x in work.linears if x.adaptable and (names is None or x.name in names))


def micro_step(
    architecture: Architecture, work: ModelWork, job: Job, layout: LayoutLike, hardware: HardwareBlock
) -> MicroStep:
    """Work of one micro-step on the mean card of the pipeline."""
    passes = passes_for(job, layout)
    tokens = tokens_per_micro_step(job, layout)
    matrix, flops = _matrix_seconds(work, passes, job, layout, hardware, tokens)
    moved = _bytes_moved(work, passes, job, layout, hardware, tokens)
    attention = attention_flops_per_token(work, job.sequence_length)
    linear = 2.0 * work.block_active * passes.blocks_needed + 2.0 * work.head * passes.head
    needed = tokens * (linear + attention * passes.attention_needed)
    return MicroStep(
        matrix=matrix,
        memory=over_bandwidth(moved, hardware),
        launch=_launch_seconds(architecture, work, passes, job, layout, hardware),
        flops=flops,
        needed_flops=needed,
        bytes_moved=moved.expected,
        tokens=tokens,
    )


def over_bandwidth(moved: Bounds, hardware: HardwareBlock) -> Bounds:
    """Seconds to move these bytes to and from the card's own memory."""
    rate = hardware.memory_efficiency * hardware.memory_bytes_per_second
    return Bounds(moved.low / rate.high, moved.expected / rate.expected, moved.high / rate.low)


def _matrix_seconds(
    work: ModelWork, passes: Passes, job: Job, layout: LayoutLike, hardware: HardwareBlock, tokens: Number
) -> tuple[Bounds, Number]:
    """Seconds and FLOPs of all matrix work on one card.

    Narrow matrices run slower: time is FLOP / (peak x efficiency) x (1 + half_width / shorter side), the side divided
    by the tensor-parallel degree.
    """
    known, stack = hardware.calibration, hardware.stack
    half = float(known.constant("matrix_half_width", stack).expected)
    routed = 1 / known.constant("expert_relative", stack).expected
    spread = layout.tensor_parallel * layout.context_parallel * layout.pipeline_parallel
    weighted: Number = 0.0  # FLOPs in the precision of the linear layers, weighted by how slow their shape is
    flops: Number = 0.0
    for linear in work.linears:
        amount = 2.0 * linear.active * passes.blocks * tokens / spread
        slow = 1.0 + half * layout.tensor_parallel / linear.width
        weighted = weighted + amount * slow * (routed if linear.routed else 1.0)
        flops = flops + amount
    head = 2.0 * work.head * passes.head * tokens / spread
    adapters = 6.0 * adapter_elements(work, job) * tokens / spread
    matrices = weighted / hardware.matrix_flops_per_second + (head + adapters) / hardware.peak_16bit
    scores = attention_flops_per_token(work, job.sequence_length) * passes.attention * tokens / spread
    kernel = known.constant(f"attention_{layout.attention.value}", stack).expected
    attention = hardware.attention_efficiency.reciprocal(scores / kernel / hardware.peak_16bit)
    return hardware.matrix_efficiency.reciprocal(matrices) + attention, flops + head + scores + adapters


def _bytes_moved(
    work: ModelWork, passes: Passes, job: Job, layout: LayoutLike, hardware: HardwareBlock, tokens: Number
) -> Bounds:
    """Bytes that one card reads and writes between the matrix products, and to read the weights.

    Low and high follow how much a stack of that kind fuses.
    """
    known = hardware.calibration
    stack = "tuned" if layout.compile else hardware.stack  # the compiler fuses what tuned stacks fuse by hand
    tensor, pipeline, context = layout.tensor_parallel, layout.pipeline_parallel, layout.context_parallel
    element = 4.0 if hardware.precision in ("fp32", "tf32") else 2.0
    # norms and residuals are split over tensor-parallel ranks only by sequence parallelism (arXiv:2205.05198)
    hidden_split = tensor if hardware.stack == "tuned" else 1.0
    # PEFT's preparation for quantised models: norms in 32 bits, and with them what runs between the layers
    width = work.hidden * (2 if job.kbit_preparation else 1)
    inner = known.constant("qkv_passes", stack) * work.qkv_width + known.constant("mlp_passes", stack) * work.mlp_width
    elements = known.constant("hidden_passes", stack) * (width / hidden_split) + inner * (1 / tensor)
    adapters = _ADAPTER_PASSES * _adapted_sides(work, job) / tensor
    if layout.attention.value == "eager":
        adapters = adapters + work.score_elements * job.sequence_length * _EAGER_SCORE_PASSES / tensor
    per_token = (elements * work.layers + adapters) * (element * passes.elementwise)
    loss = "logit_bytes_chunked" if layout.loss is Loss.CHUNKED else "logit_bytes_plain"
    logits = known.constant(loss, stack) * (work.head / work.hidden / tensor)
    read = stored_bytes(job.weight_quantization) if trains_adapters(job) else element
    expand = _expansion(job, hardware) * dequantization_bytes(job.weight_quantization)
    stored = (work.block_stored - work.routed_stored + work.routed_stored / layout.expert_parallel) / tensor
    weights = (expand + read) * (stored * passes.weight_reads)
    return ((per_token + logits) * (tokens / context) + weights) * (1 / pipeline)


def _expansion(job: Job, hardware: HardwareBlock) -> Bounds:
    """Times the ideal traffic that expanding the weights takes with the usual kernels of a format."""
    kind = "nf4" if job.weight_quantization in ("nf4", "nf4-dq", "fp4") else "grouped"
    return hardware.calibration.constant(f"expand_{kind}", hardware.stack)


def _launch_seconds(
    architecture: Architecture, work: ModelWork, passes: Passes, job: Job, layout: LayoutLike, hardware: HardwareBlock
) -> Bounds:
    """Time to start all kernels of the micro-step from the host, one after the other."""
    known, stack = hardware.calibration, hardware.stack
    per_layer = float(known.constant("kernels_per_layer", stack).expected)
    if layout.compile:
        per_layer *= float(known.constant("compiled_kernels", "*").expected)
    if job.lora is not None:
        adapted = sum(1 for x in work.linears if x.adaptable and not x.routed)
        per_layer += float(known.constant("kernels_per_adapter", stack).expected) * adapted
    if dequantization_bytes(job.weight_quantization):
        calls = max(1.0, calls_of_quantized(job.weight_quantization, hardware))
        per_layer += calls * sum(1 for x in work.linears if x.adaptable and not x.routed)
    kernels = work.layers * per_layer
    if work.moe_layers and job.experts_implementation != "grouped":
        per_expert = float(known.constant("kernels_per_expert", "*").expected)
        kernels = kernels + work.moe_layers * architecture.experts * per_expert / layout.expert_parallel
    count = kernels * (passes.layer_forwards + 2 * passes.layer_backwards) / layout.pipeline_parallel
    gathers = work.layers * (passes.layer_forwards + passes.layer_backwards) / layout.pipeline_parallel
    hooks = {Sharding.ZERO3: "zero3_seconds", Sharding.FSDP2: "fsdp_seconds"}.get(layout.sharding)
    launch = known.constant("launch_seconds", stack) * count
    return launch + known.constant(hooks, stack) * gathers if hooks else launch
