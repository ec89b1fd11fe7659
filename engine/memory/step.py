"""`Step`: everything that the terms of one training step depend on, for one pipeline stage."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from engine.architecture.linears import extra_count
from engine.architecture.model import Architecture
from engine.layout.model import Job, LayoutLike, Method, Offload, Recomputation, Sharding
from engine.memory.factors import (
    BlockForms,
    Way,
    forms_of,
    resolve_kind,
    sdpa_forms,
    way_of,
    with_fused_kernels,
    with_selected_operators,
)
from engine.memory.lora import adapter_elements
from engine.memory.precision import MAIN_GRADIENT_FRAMEWORKS, Precision, precision_of
from engine.memory.shape import Shape, Share, shape_of, share_of
from engine.quantity import Bounds, Number

__all__ = ["Divisors", "Step", "TrainedElements", "make_step"]

#: Frameworks whose tensor parallelism splits norms and residuals by sequence too, and the logits by vocabulary
#: (sequence parallelism, arXiv:2205.05198; on by default with tensor parallelism there).
SEQUENCE_PARALLEL = ("megatron", "nemo", "torchtitan")  # the first two have fused kernels too


@dataclass(frozen=True, slots=True)
class Divisors:
    """Ranks among which each kind of state is split (ZeRO, arXiv:1910.02054)."""

    weights: Number
    gradients: Number
    optimizer: Number
    experts: Number  # how many times fewer for routed experts
    padding: Number = 1.0  # how many times more than all experts the shards of stacked experts hold together


@dataclass(frozen=True, slots=True)
class TrainedElements:
    """Elements on this card that have a gradient, before data-parallel sharding."""

    embedding: Number
    positions: Number
    head: Number
    block: Number  # of one block
    dense: Number  # all but routed experts
    experts: Number
    adapters: Number

    @property
    def total(self) -> Number:
        """All of them."""
        return self.dense + self.experts


@dataclass(frozen=True, slots=True)
class Step:
    """One training step on one card of one pipeline stage."""

    job: Job
    layout: LayoutLike
    shape: Shape
    share: Share
    precision: Precision
    forms: BlockForms
    divisors: Divisors
    trained: TrainedElements
    tokens: Number  # of one micro-batch on this card
    hidden: Number
    query_width: Number
    key_width: Number
    saved: Bounds  # bytes a token that all blocks of one micro-batch keep
    saved_block: Bounds
    rest: Bounds
    forward: Bounds
    backward: Bounds
    bottom: Bounds
    attention_part: Number  # of a block's saved bytes: what recomputing attention would drop
    vocabulary: Bounds  # columns of logits on this card
    trains_weights: bool
    known_kernels: bool  # kept bytes are those of the framework's own kernels: nothing is left open by "selective"
    accumulates: Number  # 1 where gradients exist before backward: of an earlier micro-step, or a persistent buffer

    @property
    def gathers(self) -> bool:
        """Whether weights are split over ranks, or held by the host, and gathered when used."""
        return self.layout.sharding in (Sharding.ZERO3, Sharding.FSDP2) or self.weights_on_host

    @property
    def weights_on_host(self) -> bool:
        """Whether the host holds the weights between uses."""
        return self.layout.offload is Offload.OPTIMIZER_AND_PARAMETERS

    @property
    def states_on_host(self) -> bool:
        """Whether the host holds the optimizer states and does the step."""
        return self.layout.offload in (Offload.OPTIMIZER, Offload.OPTIMIZER_AND_PARAMETERS)


def make_step(arch: Architecture, job: Job, layout: LayoutLike, *, first_stage: bool = True) -> Step:
    """The step of the first or the last pipeline stage."""
    kind, fallback = resolve_kind(arch)
    shape = shape_of(arch, kind)
    share = share_of(shape, layout, first_stage=first_stage)
    way = way_of(job, layout)
    unfused = known = forms_of(kind, way, known_kind=not fallback)
    if job.framework.startswith("torchtitan") and layout.recomputation is Recomputation.SELECTIVE:
        known = with_selected_operators(known, way)
    elif job.framework.startswith(SEQUENCE_PARALLEL[:2]) or layout.compile:
        known = with_fused_kernels(known, way)
    forms = _with_sdpa(known, arch, job, layout)
    rows = layout.micro_batch_size * job.sequences_per_sample
    sequence = job.sequence_length + job.virtual_tokens
    meter = _meter(arch, job, layout, sequence, rows)
    error = forms.error
    derived = not forms.fallback and error < 0.1
    saved_error = 0.0 if derived or layout.recomputation is Recomputation.FULL else error
    saved_block = _at_least(meter.per_token(forms.saved, saved_error), 2.0 * meter.narrow["h"])  # at least its input
    full = job.lora is None and not job.virtual_tokens
    persistent = full and job.framework.startswith(MAIN_GRADIENT_FRAMEWORKS)
    whole = share.vocabulary if meter.sequence_split else share.vocabulary * np.asarray(layout.tensor_parallel)
    return Step(
        job=job,
        layout=layout,
        shape=shape,
        share=share,
        precision=precision_of(job, layout),
        forms=forms,
        divisors=_divisors(arch, job, layout, share),
        trained=_trained(shape, share, job, layout, full),
        tokens=rows * sequence / np.asarray(layout.context_parallel),
        hidden=arch.hidden_size,
        query_width=meter.wide["a"],
        key_width=meter.wide["k"],
        saved=_saved_layers(arch, job, layout, share, forms, saved_block, meter),
        saved_block=saved_block,
        rest=meter.per_token(forms.rest),
        forward=meter.per_token(forms.forward, error),
        backward=meter.per_token(forms.backward, error),
        bottom=meter.per_token(forms.bottom, error),
        attention_part=_evaluate(_attention_form(kind), meter.wide, rows),
        vocabulary=Bounds(share.vocabulary, whole, whole),
        trains_weights=full,
        known_kernels=known.saved is not unfused.saved,
        accumulates=np.where((np.asarray(layout.gradient_accumulation_steps) > 1) | persistent, 1.0, 0.0),
    )


@dataclass(frozen=True, slots=True)
class _Meter:
    """Evaluates linear forms on a card's widths: `narrow` with the hidden width split too, `wide` without.

    Frameworks with sequence parallelism split it; of others the interval spans both and the whole width is expected.
    """

    narrow: Mapping[str, Number]
    wide: Mapping[str, Number]
    rows: Number
    sequence_split: bool

    def per_token(self, form: Mapping[str, float], spread: float = 0.0) -> Bounds:
        """Bytes a token of a form, give or take the fraction `spread`."""
        low, high = _evaluate(form, self.narrow, self.rows), _evaluate(form, self.wide, self.rows)
        expected = low if self.sequence_split else high
        high = expected if self.sequence_split else high
        margin = spread * np.abs(expected)
        return Bounds(np.minimum(low, expected) - margin, expected, np.maximum(high, expected) + margin)


def _meter(arch: Architecture, job: Job, layout: LayoutLike, sequence: int, rows: Number) -> _Meter:
    narrow, wide = (_widths(arch, job, layout, sequence, hidden_split=split) for split in (True, False))
    return _Meter(narrow, wide, rows, job.framework.startswith(SEQUENCE_PARALLEL))


def _at_least(amount: Bounds, floor: Number) -> Bounds:
    return Bounds(np.maximum(amount.low, floor), np.maximum(amount.expected, floor), np.maximum(amount.high, floor))


def _with_sdpa(forms: BlockForms, arch: Architecture, job: Job, layout: LayoutLike) -> BlockForms:
    """Forms with what SDPA keeps above flash attention: kept, or made again where the block is recomputed."""
    windowed, every = sdpa_forms(arch, job, layout)
    if not windowed and not every:
        return forms
    share = arch.sliding_window_layers / arch.layers

    def plus(form: Mapping[str, float], fraction: float) -> dict[str, float]:
        total = dict(form)
        for extra, weight in ((windowed, fraction), (every, 1.0)):
            for symbol, factor in extra.items():
                total[symbol] = total.get(symbol, 0.0) + weight * factor
        return total

    if layout.recomputation is Recomputation.NONE:
        return replace(forms, saved=plus(forms.saved, share))
    return replace(forms, backward=plus(forms.backward, 1.0), bottom=plus(forms.bottom, 1.0))


def _evaluate(form: Mapping[str, float], widths: Mapping[str, Number], rows: Number) -> Number:
    """Value of a linear form; rotary tables (d, dr) exist once for the whole micro-batch."""
    total: Number = 0.0
    for symbol, factor in form.items():
        width = widths[symbol]
        total = total + factor * (width / rows if symbol in ("d", "dr") else width)
    return total


def _attention_form(kind: str) -> dict[str, float]:
    kept, dropped = (
        forms_of(kind, Way("full", checkpointing="none")),
        forms_of(kind, Way("full", checkpointing="attention")),
    )
    symbols = {*kept.saved, *dropped.saved}
    return {s: kept.saved.get(s, 0.0) - dropped.saved.get(s, 0.0) for s in symbols}


def _widths(
    arch: Architecture, job: Job, layout: LayoutLike, sequence: int, *, hidden_split: bool
) -> dict[str, Number]:
    """Widths of a block on one card. Tensor parallelism splits heads and MLP; `hidden_split` the hidden width too."""
    tensor = np.asarray(layout.tensor_parallel)
    h = arch.hidden_size / tensor if hidden_split else arch.hidden_size + 0.0 * tensor
    heads, head_dim = arch.attention_heads, arch.head_dim
    if not heads:  # no attention at all: the mixer's inner width takes the part of the heads
        inner = extra_count(arch, "lin_inner", 2 * arch.hidden_size)
        heads, head_dim = max(inner // 128, 1), 128
    kv_heads = arch.kv_heads or heads
    rope = arch.mla_qk_rope_head_dim
    routed = arch.experts_per_token * arch.moe_intermediate_size
    shared = extra_count(arch, "shared_ff", arch.shared_experts * arch.moe_intermediate_size)
    value = heads * (arch.mla_v_head_dim or head_dim)
    widths: dict[str, Number] = {
        "1": 1.0,
        "h": h,
        "f": (routed or arch.intermediate_size) / tensor,
        "a": heads * head_dim / tensor,
        "k": kv_heads * head_dim / np.minimum(tensor, kv_heads),
        "hq": heads / tensor,
        "d": head_dim,
        "r": job.lora.rank if job.lora else 0.0,
        "p": heads * sequence / tensor,
        "m": sequence,
        "t": arch.experts_per_token * h,
        "s": shared / tensor,
        "q": heads * head_dim / tensor,
        "v": value / tensor,
        "n": heads * (head_dim - rope) / tensor,
        "rk": arch.mla_kv_lora_rank,
        "rq": arch.mla_q_lora_rank,
        "x": arch.experts_per_token,
        "e": arch.experts,
        "dr": rope,
    }
    return widths


def _saved_layers(
    arch: Architecture,
    job: Job,
    layout: LayoutLike,
    share: Share,
    forms: BlockForms,
    block: Bounds,
    meter: _Meter,
) -> Bounds:
    """Bytes a token that the blocks of one stage keep; dense layers of a routed model keep their own MLP instead."""
    total = block * share.layers
    if arch.is_moe and arch.intermediate_size and layout.recomputation is not Recomputation.FULL:
        gated = (8.0 if job.lora is None else 6.0) * arch.intermediate_size / np.asarray(layout.tensor_parallel)
        routed = [sum(forms.saved.get(s, 0.0) * w[s] for s in ("f", "t", "s")) for w in (meter.narrow, meter.wide)]
        low, high = (share.dense_layers * (gated - r) for r in routed)
        total = Bounds(total.low + np.minimum(low, high), total.expected + high, total.high + np.maximum(low, high))
    if job.method is Method.FREEZE:  # below the first trained layer nothing is kept, unless inputs are recomputed
        kept = total * job.trained_layers_fraction
        if layout.recomputation is not Recomputation.FULL:
            return Bounds(kept.low, kept.expected, total.high)
    return total


def _divisors(arch: Architecture, job: Job, layout: LayoutLike, share: Share) -> Divisors:
    ranks = np.asarray(layout.shard_degree)
    order = (Sharding.NONE, Sharding.ZERO1, Sharding.ZERO2, Sharding.ZERO3, Sharding.FSDP2)
    stage = min(order.index(layout.sharding), 3)
    padding = _padding(arch, job, layout, np.maximum(ranks / share.expert_ranks, 1.0), share.expert_ranks)
    return Divisors(
        weights=ranks if stage >= 3 else 1.0,
        gradients=ranks if stage >= 2 else 1.0,
        optimizer=ranks if stage >= 1 else 1.0,
        experts=np.minimum(share.expert_ranks, ranks) * padding,
        padding=padding,
    )


def _padding(arch: Architecture, job: Job, layout: LayoutLike, shards: Number, expert_ranks: Number) -> Number:
    """FSDP2 splits a tensor of stacked experts by expert: over more ranks than experts the first ranks hold a whole
    expert each, and buffers are padded to as much for every rank. torchtitan then splits along another dimension.

    Source: traces of FSDP2 with 8 stacked experts on 16 and 64 ranks.
    """
    stacked = job.experts_implementation != "separate" and not job.framework.startswith("torchtitan")
    if layout.sharding is not Sharding.FSDP2 or not arch.experts or not stacked:
        return 1.0
    local = arch.experts / expert_ranks
    return np.ceil(local / shards) * shards / local


def _trained(shape: Shape, share: Share, job: Job, layout: LayoutLike, full: bool) -> TrainedElements:
    if not full:
        adapters, block = adapter_elements(shape, job, share, np.asarray(layout.tensor_parallel))
        if job.virtual_tokens:
            adapters, block = job.virtual_tokens * shape.hidden + 0.0 * share.layers, 0.0
        return TrainedElements(0.0, 0.0, 0.0, block, adapters, 0.0, adapters)
    if job.method is Method.FREEZE:
        fraction = job.trained_layers_fraction
        dense = (share.linear + share.other) * fraction
        return TrainedElements(0.0, 0.0, 0.0, share.block, dense, share.experts * fraction, 0.0)
    return TrainedElements(
        share.embedding, share.positions, share.head, share.block, share.dense_part, share.experts, 0.0
    )
