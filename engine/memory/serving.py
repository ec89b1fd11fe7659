"""Memory of serving a model, per card: weights, cache, the engine's working memory."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from engine.architecture.model import Architecture
from engine.architecture.stored import stored_bits
from engine.layout.model import InferenceJob, LayoutLike
from engine.memory.calibration import memory_overheads
from engine.memory.factors import resolve_kind
from engine.memory.kv_cache import STATE_BYTES, kv_elements
from engine.memory.moments import Moment
from engine.memory.overheads import MemoryPlatform, platform_for, pooled
from engine.memory.peak import block_from_moments
from engine.memory.quantized import FORMATS, linear_bytes
from engine.memory.result import MemoryBlock
from engine.memory.shape import Shape, Share, shape_of, share_of
from engine.memory.terms import term
from engine.quantity import Bounds, Number, TermBlock

__all__ = ["inference_memory"]


@dataclass(frozen=True, slots=True)
class _Engine:
    """How a serving engine works: tokens of one prefill batch, rows of logits, cache granularity."""

    prefill_tokens: tuple[float, float, float]  # low, expected, high; 0 = the whole prompt of every sequence
    logit_rows: tuple[float, float, float]  # sequences whose logits are computed at once
    graph_bytes: tuple[float, float, float]  # captured graphs and compiled kernels
    block_tokens: int  # a cache block holds so many tokens of one sequence
    source: str


def _engine(name: str) -> _Engine:
    rows = memory_overheads()
    found = rows.get(("serving_prefill_tokens", name)) or rows["serving_prefill_tokens", ""]
    graphs = rows.get(("serving_graphs", name)) or rows["serving_graphs", ""]
    blocks = rows.get(("serving_block_tokens", name)) or rows["serving_block_tokens", ""]
    return _Engine(
        prefill_tokens=(found.low, found.expected, found.high),
        logit_rows=(1.0, 1.0, 256.0),
        graph_bytes=(graphs.low, graphs.expected, graphs.high),
        block_tokens=int(blocks.expected),
        source=f"{found.source} ({found.date})",
    )


def inference_memory(
    architecture: Architecture, job: InferenceJob, layout: LayoutLike, *, platform: MemoryPlatform | None = None
) -> MemoryBlock:
    """Memory of one card that serves `job`: what is needed, not what an engine's pool would fill.

    Concurrent sequences are spread over `data_parallel` replicas; a replica spans tensor and pipeline ranks.
    """
    shape = shape_of(architecture, resolve_kind(architecture)[0])
    replicas = np.asarray(layout.data_parallel)
    sequences = np.ceil(job.concurrent_sequences / replicas)
    engine = _engine(job.engine)
    moments: list[Moment] = []
    for first in (True, False) if np.any(np.asarray(layout.pipeline_parallel) > 1) else (True,):
        share = share_of(shape, layout, first_stage=first)
        own = stored_bits(architecture, job.weight_quantization)
        static = [_weights(_matrices(shape), share, job, shape.layers, own)]
        static.append(_cache(architecture, job, layout, sequences, share, shape.layers, engine))
        graphs = Bounds(*engine.graph_bytes)
        static.append(term("memory.engine_graphs", graphs, "bytes", engine.source, bytes=graphs.expected))
        prefill = [_prefill_work(architecture, job, layout, sequences, engine)]
        prefill.append(_logits(architecture, job, layout, sequences, engine, share, prompt=True))
        decode = _logits(architecture, job, layout, sequences, engine, share, prompt=False)
        moments.append(Moment("memory.moment.prefill", "prefill", (*static, *prefill)))
        moments.append(Moment("memory.moment.decode", "decode", (*static, decode)))
    tensor = np.asarray(layout.tensor_parallel) * np.asarray(layout.pipeline_parallel)
    return block_from_moments(
        moments,
        pooled(platform or platform_for(None, job.engine), job.engine),
        gpus=tensor,
        fallback=False,
        host_bytes=0.0 * replicas,
    )


def _matrices(shape: Shape) -> float:
    """Number of matrices in the blocks, experts left out."""
    return float(sum(m.count for m in shape.matrices if m.group != "expert"))


def _weights(matrices: float, share: Share, job: InferenceJob, layers: int, own_bits: float = 0.0) -> TermBlock:
    one = FORMATS[job.weight_quantization]
    if own_bits:
        return term(
            "memory.weights",
            Bounds.exact(share.total * own_bits / 8),
            "elements * bits / 8",
            "sizes of the tensors in the model's own file",
            elements=share.total,
            bits=own_bits,
            format=job.weight_quantization,
        )
    fraction = share.layers / layers
    if one.whole_model:
        amount = linear_bytes(share.total, 0.0, job.weight_quantization)
        return term(
            "memory.weights",
            amount,
            "elements * bits / 8",
            one.source,
            elements=share.total,
            bits=one.bits,
            format=job.weight_quantization,
        )
    quantised = share.linear + (share.experts if _experts_quantised(job) else 0.0)
    rest = share.total - quantised
    amount = linear_bytes(quantised, matrices * fraction, job.weight_quantization) + 2.0 * rest
    return term(
        "memory.weights",
        amount,
        "quantised * bits / 8 + matrices * bytes_per_matrix + kept_in_16_bits * 2",
        one.source,
        quantised=quantised,
        bits=one.bits,
        matrices=matrices * fraction,
        bytes_per_matrix=one.per_matrix,
        kept_in_16_bits=rest,
        format=job.weight_quantization,
    )


def _experts_quantised(job: InferenceJob) -> bool:
    """Serving engines quantise experts with their own kernels; bitsandbytes formats are for training."""
    return FORMATS[job.weight_quantization].experts or job.engine != "hf-transformers"


def _cache(
    arch: Architecture,
    job: InferenceJob,
    layout: LayoutLike,
    sequences: Number,
    share: Share,
    layers: int,
    engine: _Engine,
) -> TermBlock:
    """Cache of the sequences of one replica, split over its ranks: heads by tensor parallelism as far as there are
    any (latent attention has one compressed head, which every rank keeps), layers by pipeline stage."""
    length = job.prompt_tokens + job.output_tokens
    padded = np.ceil(length / engine.block_tokens) * engine.block_tokens
    elements, states = kv_elements(arch, padded)
    exact, _ = kv_elements(arch, length)
    heads = 1 if arch.mla_kv_lora_rank else max(arch.kv_heads, 1)
    split = np.minimum(np.asarray(layout.tensor_parallel), heads)
    tensor = np.asarray(layout.tensor_parallel)
    fraction = share.layers / layers
    bits = job.kv_cache_bits + (0.5 if job.kv_cache_bits < 16 and job.engine in ("llama.cpp", "ollama") else 0.0)
    state_bytes = states * STATE_BYTES / tensor
    low, expected = (sequences * fraction * (e * bits / 8 / split + state_bytes) for e in (exact, elements))
    return term(
        "memory.kv_cache",
        Bounds(np.minimum(low, expected), expected, expected),
        "sequences * layers_on_card * (elements * bits / 8 / head_split + state_elements * 4 / tensor_parallel)",
        "grouped-query attention arXiv:2305.13245; latent attention arXiv:2405.04434; paged cache arXiv:2309.06180",
        sequences=sequences,
        layers_on_card=fraction,
        elements=elements,
        bits=bits,
        head_split=split,
        state_elements=states,
        tensor_parallel=tensor,
    )


def _prefill_work(
    arch: Architecture, job: InferenceJob, layout: LayoutLike, sequences: Number, engine: _Engine
) -> TermBlock:
    """Working memory of one layer while a batch of prompt tokens runs: residual, gate and up products, q, k, v.

    bytes a token = 2 * (4 h + 3 f / tp + 2 (a + 2 k) / tp); routed experts count with the experts of a token.
    """
    tensor = np.asarray(layout.tensor_parallel)
    routed = arch.experts_per_token * arch.moe_intermediate_size
    width = np.maximum(routed, arch.intermediate_size) / tensor
    heads = arch.attention_heads * arch.head_dim / tensor
    keys = max(arch.kv_heads, 1) * arch.head_dim / tensor
    copies = max(arch.experts_per_token, 1)
    per_token = 2.0 * (4 * arch.hidden_size + 2 * copies * arch.hidden_size * arch.is_moe + 3 * width)
    per_token = per_token + 2.0 * (2 * heads + 4 * keys)
    whole = sequences * max(job.prompt_tokens, 1)
    limits = [np.minimum(t, whole) if t else whole for t in engine.prefill_tokens]
    return term(
        "memory.block_work",
        Bounds(*(per_token * t for t in limits)),
        "tokens * bytes_per_token",
        engine.source,
        tokens=limits[1],
        bytes_per_token=per_token,
    )


def _logits(
    arch: Architecture,
    job: InferenceJob,
    layout: LayoutLike,
    sequences: Number,
    engine: _Engine,
    share: Share,
    *,
    prompt: bool,
) -> TermBlock:
    """Logits of the last position of each running sequence only: 16-bit, a 32-bit copy and the sampler's, 10 bytes.

    transformers before 4.45 computed logits of the whole prompt; the high end of that engine covers one sequence.
    """
    rows = np.minimum(sequences, 256.0)
    high = rows
    if job.engine == "hf-transformers" and prompt:
        high = np.maximum(rows, float(max(job.prompt_tokens, 1)))
    per_row = arch.vocabulary_size * 10.0 * share.logits
    return term(
        "memory.logits",
        Bounds(per_row * rows * 0.4, per_row * rows, per_row * high),
        "rows * vocabulary * 10 * computes_logits",
        engine.source,
        rows=rows,
        vocabulary=arch.vocabulary_size,
        computes_logits=share.logits,
    )
