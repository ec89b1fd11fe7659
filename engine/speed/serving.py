"""Speed of serving: prefill by FLOPs, decoding by bytes, and the two together under continuous batching.

Decoding a token reads the weights once for the whole batch and each sequence's cache (Pope et al., arXiv:2211.05102);
prefill multiplies all prompt tokens with the weights. With continuous batching (Orca, OSDI 2022) the prompts of new
requests are computed between the decoding steps of the others, so that both share the cards.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from engine.architecture.model import Architecture
from engine.layout.model import InferenceJob, LayoutLike, Sharding
from engine.quantity import Bounds, Number, TermBlock
from engine.speed.collectives import (
    Ranks,
    all_gather_seconds,
    all_reduce_direct_seconds,
    all_to_all_seconds,
    point_to_point_seconds,
)
from engine.speed.compute import over_bandwidth
from engine.speed.hardware import HardwareBlock
from engine.speed.kernels import decode_kernels, waiting_for_kernels
from engine.speed.quantized import stored_bytes
from engine.speed.result import InferenceSpeedBlock
from engine.speed.work import ModelWork, attention_flops_per_token, model_work

__all__ = ["inference_speed"]

#: Weights and cache are read once a step.
_SOURCE = "arXiv:2211.05102 §2"


@dataclass(frozen=True, slots=True)
class _Step:
    """Seconds of one pass through the model, from the first to the last card."""

    compute: Bounds
    memory: Bounds
    links: Bounds
    overhead: Bounds
    parts: dict[str, Number] = field(default_factory=dict)  # expected values that the working shows

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
    prefill = _prefill(work, job, layout, hardware, 1.0)
    output = max(1, job.output_tokens)
    # while one request decodes its output, each of the other sequences of the replica brings one new prompt; the
    # stages of a pipeline work on different prompts at the same time
    stages = 1.0 if layout.layer_split else layout.pipeline_parallel
    others = _prefill(work, job, layout, hardware, _prompts_together(job, hardware, sequences))
    between = others.total * ((sequences - 1) / output / stages)
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
        terms=(
            *_terms(architecture, job, layout, hardware, decode, sequences),
            _prefill_term(job, between, others.total.expected, sequences, stages),
        ),
        known=known,
    )


def _prompts_together(job: InferenceJob, hardware: HardwareBlock, sequences: Number) -> Number:
    """Prompts that an engine computes in one pass, so that they share one reading of the weights."""
    budget = float(hardware.calibration.constant("prefill_tokens", hardware.stack).expected)
    return np.clip(budget / max(1, job.prompt_tokens), 1.0, np.maximum(1.0, sequences - 1))


def _weights(work: ModelWork, job: InferenceJob, layout: LayoutLike, hardware: HardwareBlock, tokens: Number) -> Bounds:
    """Bytes of weights that a pass over `tokens` tokens of a replica reads on one card, all stages together.

    Of the experts only those that some token chose: a share 1 - (1 - k/E)^tokens of them, under even routing. Experts
    that are spread over cards see the tokens of all replicas among these.
    """
    ranks = _expert_ranks(layout)
    touched: Number = 1.0
    if work.routed_stored:
        active = sum(x.active for x in work.linears if x.routed)
        touched = 1.0 - np.power(1.0 - active / work.routed_stored, tokens * ranks / layout.tensor_parallel)
    blocks = (work.block_stored - work.routed_stored) / layout.tensor_parallel + work.routed_stored * touched / ranks
    read = Bounds.exact(blocks * stored_bytes(job.weight_quantization))
    if job.weight_quantization != "none":
        factor = hardware.calibration.constant("quantized_read_factor", hardware.stack)
        read = factor * read.expected
    return read + work.head * 2.0 / layout.tensor_parallel


def _expert_ranks(layout: LayoutLike) -> Number:
    """Cards over which the experts are spread: the tensor-parallel ranks, and data-parallel ones beyond them."""
    return np.maximum(layout.tensor_parallel, layout.expert_parallel)


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
    weights = over_bandwidth(_weights(work, job, layout, hardware, part), hardware)
    cache = over_bandwidth(Bounds.exact(part * _cache(architecture, job, layout)), hardware)
    memory = weights + cache + over_bandwidth(_between_products(work, layout, hardware, part), hardware)
    products = _products(work, layout, hardware, part, part)
    scores = part * _decode_scores(architecture, work, job) / layout.tensor_parallel / hardware.peak_16bit
    attention = hardware.attention_efficiency.reciprocal(scores)
    links = _links(work, layout, hardware, part)
    return _Step(
        compute=_beyond(products, weights) + _beyond(attention, cache),
        memory=memory,
        links=_sum(links),
        overhead=waiting_for_kernels(decode_kernels(work, job, layout, hardware), hardware, memory),
        parts={
            "product_seconds": products.expected,
            "weight_seconds": weights.expected,
            "attention_seconds": attention.expected,
            "cache_seconds": cache.expected,
            "busy_seconds": memory.expected,
            **{name: seconds.expected for name, seconds in links.items()},
        },
    )


def _sum(parts: dict[str, Bounds]) -> Bounds:
    total = Bounds.exact(0.0)
    for part in parts.values():
        total = total + part
    return total


def _decode_scores(architecture: Architecture, work: ModelWork, job: InferenceJob) -> float:
    """FLOPs of attention for one new token at half of the output.

    With a latent cache, each head multiplies the latent vectors themselves: 2 x heads x (2 x rank + rotary part) for
    each token before (DeepSeek-V2, arXiv:2405.04434, section 2.1, with the up-projections absorbed).
    """
    context = job.prompt_tokens + job.output_tokens / 2
    if architecture.mla_kv_lora_rank:
        each = (
            2.0 * architecture.attention_heads * (2 * architecture.mla_kv_lora_rank + architecture.mla_qk_rope_head_dim)
        )
        return each * context * architecture.layers
    # the mean over a causal sequence is half of what its last token costs
    return attention_flops_per_token(work, 2.0 * context)


def _between_products(work: ModelWork, layout: LayoutLike, hardware: HardwareBlock, tokens: Number) -> Bounds:
    """Bytes read and written between the products by one card: norms, rotary embedding, activation functions."""
    known, stack = hardware.calibration, hardware.stack
    inner = known.constant("qkv_passes", stack) * work.qkv_width + known.constant("mlp_passes", stack) * work.mlp_width
    elements = known.constant("hidden_passes", stack) * work.hidden + inner * (1 / layout.tensor_parallel)
    return elements * (2.0 * work.layers * tokens)


def _products(
    work: ModelWork, layout: LayoutLike, hardware: HardwareBlock, tokens: Number, predicted: Number
) -> Bounds:
    """Seconds of all products with weights, for `tokens` tokens of which `predicted` go through the head.

    The head stays in 16 bits in quantised checkpoints (ModelOpt and llm-compressor leave it out).
    """
    known, stack = hardware.calibration, hardware.stack
    half = float(known.constant("matrix_half_width", stack).expected) * layout.tensor_parallel
    # all cards wait for the one whose experts are chosen most
    busiest = float(known.constant("expert_imbalance", stack).expected)
    slower = np.where(layout.expert_parallel > layout.tensor_parallel, busiest, 1.0)
    slower = slower / float(known.constant("expert_relative", stack).expected)
    effort: Number = 0.0
    for linear in work.linears:
        # experts that are spread over data-parallel ranks keep their full width
        cut = half / layout.tensor_parallel if linear.routed else half
        effort = effort + linear.active * (1.0 + cut / linear.width) * (slower if linear.routed else 1.0)
    blocks = 2.0 * effort * tokens / hardware.matrix_flops_per_second
    head = 2.0 * work.head * predicted / hardware.peak_16bit
    return hardware.matrix_efficiency.reciprocal((blocks + head) / layout.tensor_parallel)


def _beyond(products: Bounds, reads: Bounds) -> Bounds:
    """Reads and products overlap within a kernel: only what goes beyond the reads takes time of its own."""
    return Bounds(
        np.maximum(0.0, products.low - reads.low),
        np.maximum(0.0, products.expected - reads.expected),
        np.maximum(0.0, products.high - reads.high),
    )


def _prefill(
    work: ModelWork, job: InferenceJob, layout: LayoutLike, hardware: HardwareBlock, together: Number
) -> _Step:
    """One prompt of `together` that are computed in one pass."""
    tokens = float(job.prompt_tokens)
    scores = attention_flops_per_token(work, max(1.0, tokens)) * tokens
    attention = scores / hardware.peak_16bit / layout.tensor_parallel
    products = _products(work, layout, hardware, tokens, 1.0)
    zero = Bounds.exact(0.0 * attention)
    reads = moved = zero
    if tokens:
        reads = over_bandwidth(_weights(work, job, layout, hardware, tokens * together), hardware) * (1 / together)
        moved = over_bandwidth(_between_products(work, layout, hardware, tokens), hardware)
    return _Step(
        compute=_beyond(products, reads) + hardware.attention_efficiency.reciprocal(attention),
        memory=reads + moved,
        links=_sum(_links(work, layout, hardware, tokens)),
        overhead=zero,
    )


def _links(work: ModelWork, layout: LayoutLike, hardware: HardwareBlock, tokens: Number) -> dict[str, Bounds]:
    """Two sums a layer over tensor-parallel ranks, one hand-over between pipeline stages; and what shards exchange."""
    message = tokens * work.hidden * 2.0
    ranks = Ranks.of(layout.tensor_parallel, hardware.gpus_per_node)
    whole = np.where(layout.tensor_parallel > 1, message, 0.0)
    direct = np.logical_and(hardware.direct_links, hardware.stack == "serving")
    sums = all_reduce_direct_seconds(whole, ranks, hardware.links, direct)
    pipeline = layout.pipeline_parallel
    far = np.where(layout.tensor_parallel * pipeline > hardware.gpus_per_node, 1.0, 0.0)
    hand_over = point_to_point_seconds(np.where(pipeline > 1, message, 0.0), far, hardware.links)
    zero = Bounds.exact(0.0)
    parts = {
        "sum_seconds": sums * (2.0 * work.layers),
        "hand_over_seconds": hand_over * np.where(pipeline > 1, pipeline - 1.0, 0.0),
        "gather_seconds": zero,
        "expert_seconds": zero,
    }
    if layout.sharding in (Sharding.ZERO3, Sharding.FSDP2):
        # sharded weights are gathered for each pass
        shards = Ranks.of(layout.shard_degree, hardware.gpus_per_node / layout.tensor_parallel)
        stored = (work.block_stored + work.head) * 2.0 / layout.tensor_parallel
        parts["gather_seconds"] = all_gather_seconds(stored, shards, hardware.links)
    if work.moe_layers:
        # experts beyond the tensor-parallel ranks: tokens go to the cards of their experts, and come back
        size = np.where(layout.expert_parallel > layout.tensor_parallel, layout.expert_parallel, 1)
        experts = Ranks.of(size, hardware.gpus_per_node)
        exchange = all_to_all_seconds(message * work.experts_per_token, experts, hardware.links)
        parts["expert_seconds"] = exchange * (2.0 * work.moe_layers)
    return parts


def _terms(
    architecture: Architecture,
    job: InferenceJob,
    layout: LayoutLike,
    hardware: HardwareBlock,
    decode: _Step,
    sequences: Number,
) -> tuple[TermBlock, ...]:
    """Working of a decoding step; each formula, with its values, gives the expected amount."""
    work, known, stack = model_work(architecture), hardware.calibration, hardware.stack
    part = np.maximum(1.0, sequences / layout.pipeline_parallel)

    def shown(*names: str) -> dict[str, Number | str]:
        return {name: decode.parts[name] for name in names}

    return (
        TermBlock(
            name="speed.memory_bound",
            amount=decode.memory,
            formula="(weight_bytes + sequences * (cache_bytes + moved_bytes)) / (memory_bytes_per_s * efficiency)",
            values={
                "weight_bytes": _weights(work, job, layout, hardware, part).expected,
                "sequences": part,
                "cache_bytes": _cache(architecture, job, layout),
                "moved_bytes": _between_products(work, layout, hardware, 1.0).expected,
                "memory_bytes_per_s": hardware.memory_bytes_per_second,
                "efficiency": hardware.memory_efficiency.expected,
            },
            source=_SOURCE,
            unit="seconds",
        ),
        TermBlock(
            name="speed.compute",
            amount=decode.compute,
            formula="max(0, product_seconds - weight_seconds) + max(0, attention_seconds - cache_seconds)",
            values={
                **shown("product_seconds", "weight_seconds", "attention_seconds", "cache_seconds"),
                "sequences": part,
                "flop_per_token": 2.0 * (work.block_active + work.head) / layout.tensor_parallel,
                "peak_flop_per_s": hardware.matrix_flops_per_second,
                "efficiency": hardware.matrix_efficiency.expected,
            },
            source=_SOURCE,
            unit="seconds",
        ),
        TermBlock(
            name="speed.communication",
            amount=decode.links,
            formula="sum_seconds + hand_over_seconds + gather_seconds + expert_seconds",
            values={
                **shown("sum_seconds", "hand_over_seconds", "gather_seconds", "expert_seconds"),
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
            formula="kernels * gap_seconds + max(0, kernels * start_seconds - busy_seconds) + fixed_seconds",
            values={
                "kernels": decode_kernels(work, job, layout, hardware),
                "gap_seconds": known.constant("decode_gap_seconds", stack).expected,
                "start_seconds": known.constant("decode_launch_seconds", stack).expected,
                **shown("busy_seconds"),
                "fixed_seconds": known.constant("step_overhead_seconds", stack).expected,
                "layers": work.layers,
            },
            source=known.constant_source("decode_launch_seconds", stack),
            unit="seconds",
        ),
    )


def _prefill_term(
    job: InferenceJob, between: Bounds, prefill_seconds: Number, sequences: Number, stages: Number
) -> TermBlock:
    """Working of the prompts that are read while a request decodes."""
    return TermBlock(
        name="speed.prefill",
        amount=between,
        formula="prefill_seconds * (sequences - 1) / output_tokens / pipeline_stages",
        values={
            "prefill_seconds": prefill_seconds,
            "sequences": sequences,
            "output_tokens": max(1, job.output_tokens),
            "pipeline_stages": stages,
            "prompt_tokens": job.prompt_tokens,
        },
        source="Orca, OSDI 2022",
        unit="seconds",
    )
