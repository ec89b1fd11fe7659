"""Speed of serving: prefill by FLOPs, decoding by bytes, and the two together under continuous batching.

Decoding a token reads the weights once for the whole batch and each sequence's cache (Pope et al., arXiv:2211.05102);
prefill multiplies all prompt tokens with the weights. With continuous batching (Orca, OSDI 2022) the prompts of new
requests are computed between the decoding steps of the others, so that both share the cards.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from engine.architecture.model import Architecture
from engine.layout.model import InferenceJob, LayoutLike
from engine.quantity import Bounds, Number, TermBlock
from engine.speed.collectives import Ranks, all_reduce_seconds, point_to_point_seconds
from engine.speed.compute import over_bandwidth
from engine.speed.hardware import HardwareBlock
from engine.speed.quantized import stored_bytes
from engine.speed.result import InferenceSpeedBlock
from engine.speed.work import ModelWork, attention_flops_per_token, model_work

__all__ = ["inference_speed"]

_SOURCE = "arXiv:2211.05102 §2: weights and cache are read once a step"


@dataclass(frozen=True, slots=True)
class _Step:
    """Seconds of one pass through the model, from the first to the last card."""

    compute: Bounds
    memory: Bounds
    links: Bounds
    overhead: Bounds

    @property
    def total(self) -> Bounds:
        return self.compute + self.memory + self.links + self.overhead


def inference_speed(
    architecture: Architecture, job: InferenceJob, layout: LayoutLike, hardware: HardwareBlock
) -> InferenceSpeedBlock:
    """Speed of serving with a layout: `data_parallel` replicas, each over tensor x pipeline cards.

    Requests are spread evenly over the replicas. The terms are the parts of the time per output token and add up to
    it: bytes read, computation beyond them, links, waiting, and the prompts of other requests in between.
    """
    work = model_work(architecture)
    sequences = np.maximum(1.0, job.concurrent_sequences / layout.data_parallel)
    decode = _decode(architecture, work, job, layout, hardware, sequences)
    prefill = _prefill(work, job, layout, hardware)
    output = max(1, job.output_tokens)
    # while one request decodes its output, each of the other sequences of the replica brings one new prompt
    between = prefill.total * ((sequences - 1) / output)
    per_token = decode.total + between
    replicas = np.minimum(layout.data_parallel, job.concurrent_sequences)
    own = prefill.total * (1 / output)
    rate = (per_token + own).reciprocal(sequences * replicas)
    # waiting for the first token: alone at best; behind all others' prompts at worst
    queue = np.maximum(0.0, sequences - 1)
    busy = (between.expected * output) / ((per_token.expected + own.expected) * output)
    first = Bounds(
        prefill.total.low + decode.total.low,
        prefill.total.expected * (1 + 0.5 * busy * queue) + decode.total.expected,
        prefill.total.high * (1 + queue) + decode.total.high,
    )
    known = hardware.known
    endless = Bounds(*(np.where(known, x, np.inf) for x in (per_token.low, per_token.expected, per_token.high)))
    return InferenceSpeedBlock(
        time_to_first_token_seconds=first,
        time_per_output_token_seconds=endless,
        tokens_per_second=rate,
        tokens_per_second_per_gpu=rate / layout.gpus,
        terms=_terms(architecture, job, layout, hardware, decode, between, sequences),
        known=known,
    )


def _weights(work: ModelWork, job: InferenceJob, layout: LayoutLike, hardware: HardwareBlock, tokens: Number) -> Bounds:
    """Bytes of weights that a pass over `tokens` tokens reads on one tensor-parallel rank, all stages together.

    Of the experts only those that some token chose: a share 1 - (1 - k/E)^tokens of them, under even routing.
    """
    touched: Number = 1.0
    if work.routed_stored:
        active = sum(x.active for x in work.linears if x.routed)
        touched = 1.0 - np.power(1.0 - active / work.routed_stored, tokens)
    blocks = (work.block_stored - work.routed_stored + work.routed_stored * touched) / layout.tensor_parallel
    read = Bounds.exact(blocks * stored_bytes(job.weight_quantization))
    if job.weight_quantization != "none":
        factor = hardware.calibration.constant("quantized_read_factor", hardware.stack)
        read = factor * read.expected
    return read + work.head * 2.0 / layout.tensor_parallel


def _cache(architecture: Architecture, job: InferenceJob, layout: LayoutLike) -> Number:
    """Bytes of cache that one sequence's decoding step reads on one rank, at half of the output."""
    context = job.prompt_tokens + job.output_tokens / 2
    elements = architecture.kv_elements_per_token_full * context
    window = architecture.sliding_window or context
    elements += architecture.kv_elements_per_token_window * min(window, context)
    # heads are split over ranks; a latent cache has none and is kept whole on each
    heads = 1 if architecture.mla_kv_lora_rank else max(1, architecture.kv_heads)
    split = np.minimum(layout.tensor_parallel, heads)
    return elements * job.kv_cache_bits / 8 / split + 2 * 4.0 * architecture.state_elements_per_sequence / split


def _decode(
    architecture: Architecture,
    work: ModelWork,
    job: InferenceJob,
    layout: LayoutLike,
    hardware: HardwareBlock,
    sequences: Number,
) -> _Step:
    pipeline = layout.pipeline_parallel
    # a pipeline works on `pipeline` parts of the batch at once: a pass carries one part
    part = np.maximum(1.0, sequences / pipeline)
    cache = part * _cache(architecture, job, layout)
    memory = over_bandwidth(_weights(work, job, layout, hardware, part) + cache, hardware)
    flops = part * (2.0 * work.block_active + 2.0 * work.head) / layout.tensor_parallel
    alone = (hardware.matrix_efficiency * hardware.matrix_flops_per_second).reciprocal(flops)
    return _Step(
        # reads and products overlap within a kernel: only what goes beyond the reads takes time of its own
        compute=Bounds(
            np.maximum(0.0, alone.low - memory.low),
            np.maximum(0.0, alone.expected - memory.expected),
            np.maximum(0.0, alone.high - memory.high),
        ),
        memory=memory,
        links=_links(work, layout, hardware, part),
        overhead=_launch(architecture, hardware, memory),
    )


def _prefill(work: ModelWork, job: InferenceJob, layout: LayoutLike, hardware: HardwareBlock) -> _Step:
    tokens = float(job.prompt_tokens)
    half = hardware.calibration.constant("matrix_half_width", hardware.stack).expected
    slow = 1.0 + half * layout.tensor_parallel / work.hidden
    linear = 2.0 * work.block_active * tokens + 2.0 * work.head
    scores = attention_flops_per_token(work, max(1.0, tokens)) * tokens
    matrices = linear * slow / hardware.matrix_flops_per_second / layout.tensor_parallel
    attention = scores / hardware.peak_16bit / layout.tensor_parallel
    zero = Bounds.exact(0.0 * matrices)
    return _Step(
        compute=hardware.matrix_efficiency.reciprocal(matrices) + hardware.attention_efficiency.reciprocal(attention),
        memory=over_bandwidth(_weights(work, job, layout, hardware, tokens), hardware) if tokens else zero,
        links=_links(work, layout, hardware, tokens),
        overhead=zero,
    )


def _links(work: ModelWork, layout: LayoutLike, hardware: HardwareBlock, tokens: Number) -> Bounds:
    """Two sums a layer over tensor-parallel ranks, one hand-over between pipeline stages."""
    message = tokens * work.hidden * 2.0
    ranks = Ranks.of(layout.tensor_parallel, hardware.gpus_per_node)
    sums = all_reduce_seconds(np.where(layout.tensor_parallel > 1, message, 0.0), ranks, hardware.links)
    pipeline = layout.pipeline_parallel
    far = np.where(layout.tensor_parallel * pipeline > hardware.gpus_per_node, 1.0, 0.0)
    hand_over = point_to_point_seconds(np.where(pipeline > 1, message, 0.0), far, hardware.links)
    return sums * (2.0 * work.layers) + hand_over * np.where(pipeline > 1, pipeline - 1.0, 0.0)


def _launch(architecture: Architecture, hardware: HardwareBlock, busy: Bounds) -> Bounds:
    """Gaps between kernels, the engine's own work for a step, and waiting where the host starts kernels too slowly.

    Engines that replay recorded graphs have gaps only; eager PyTorch starts each kernel from the host, which is hidden
    as long as the card is busy for longer.
    """
    known, stack = hardware.calibration, hardware.stack
    kernels = architecture.layers * known.constant("decode_kernels_per_layer", stack).expected
    launch = known.constant("decode_launch_seconds", stack) * kernels
    waiting = Bounds(
        np.maximum(0.0, launch.low - busy.low),
        np.maximum(0.0, launch.expected - busy.expected),
        np.maximum(0.0, launch.high - busy.high),
    )
    gaps = known.constant("decode_gap_seconds", stack) * kernels
    return waiting + gaps + known.constant("step_overhead_seconds", stack)


def _terms(
    architecture: Architecture,
    job: InferenceJob,
    layout: LayoutLike,
    hardware: HardwareBlock,
    decode: _Step,
    between: Bounds,
    sequences: Number,
) -> tuple[TermBlock, ...]:
    work = model_work(architecture)
    part = np.maximum(1.0, sequences / layout.pipeline_parallel)
    return (
        TermBlock(
            name="speed.memory_bound",
            amount=decode.memory,
            formula="(weight_bytes + sequences * cache_bytes) / (memory_bytes_per_s * efficiency)",
            values={
                "weight_bytes": _weights(work, job, layout, hardware, part).expected,
                "sequences": part,
                "cache_bytes": _cache(architecture, job, layout),
                "memory_bytes_per_s": hardware.memory_bytes_per_second,
                "efficiency": hardware.memory_efficiency.expected,
            },
            source=_SOURCE,
            unit="seconds",
        ),
        TermBlock(
            name="speed.compute",
            amount=decode.compute,
            formula="max(0, sequences * flop_per_token / (peak_flop_per_s * efficiency) - memory_seconds)",
            values={
                "sequences": part,
                "flop_per_token": 2.0 * (work.block_active + work.head) / layout.tensor_parallel,
                "peak_flop_per_s": hardware.matrix_flops_per_second,
                "efficiency": hardware.matrix_efficiency.expected,
                "memory_seconds": decode.memory.expected,
            },
            source=_SOURCE,
            unit="seconds",
        ),
        TermBlock(
            name="speed.communication",
            amount=decode.links,
            formula="2 * layers * all_reduce(sequences * hidden_size * 2 bytes) + stage hand-overs",
            values={
                "layers": work.layers,
                "sequences": part,
                "hidden_size": work.hidden,
                "link_bytes_per_s": hardware.links.intra.expected,
                "link_latency_s": hardware.links.intra_latency,
            },
            source="arXiv:1909.08053 §3",
            unit="seconds",
        ),
        TermBlock(
            name="speed.overhead",
            amount=decode.overhead,
            formula="layers * kernels_per_layer * gap_seconds + max(0, start_seconds - busy_seconds) + fixed_seconds",
            values={"layers": work.layers},
            source=hardware.calibration.constant_source("decode_launch_seconds", hardware.stack),
            unit="seconds",
        ),
        TermBlock(
            name="speed.prefill",
            amount=between,
            formula="prefill_seconds * (sequences - 1) / output_tokens",
            values={"sequences": sequences, "output_tokens": job.output_tokens, "prompt_tokens": job.prompt_tokens},
            source="continuous batching: Orca, OSDI 2022",
            unit="seconds",
        ),
    )
