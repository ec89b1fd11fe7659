"""Floating-point operations per token, by operator, from the dimensions of a model.

A multiply-add counts as two. Everything takes a sequence length that is a number or an array of candidates.
Sources: 2 per weight and token, arXiv:2001.08361 §2.1; attention scores and the factor 3 of training,
arXiv:2204.02311 appendix B, here with the causal half that kernels skip; recomputation, arXiv:2205.05198.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import numpy as np

from engine.architecture.linears import (
    HEAVY_RATIO,
    LIGHT_RATIO,
    LinearKind,
    attention_groups,
    extra_count,
    layer_linears,
)
from engine.architecture.model import Architecture
from engine.quantity import Number

__all__ = [
    "BLOCK_OPERATORS",
    "RecomputationKind",
    "forward_flops",
    "forward_flops_per_token",
    "model_flops_per_token",
    "training_flops",
    "training_flops_per_token",
    "visible_tokens",
]

#: Names of `engine.layout.model.Recomputation`; that enumeration lives in a layer above this one.
RecomputationKind = Literal["none", "attention", "selective", "full"]

_OPERATOR_OF: dict[LinearKind, str] = {
    "attention": "attention_projections",
    "indexer": "attention_projections",
    "mlp": "mlp",
    "expert": "experts",
    "shared_expert": "mlp",
    "router": "router",
    "linear_attention": "linear_attention",
    "per_layer_embedding": "mlp",
}
#: Operators inside the blocks, in the order of `forward_flops`; "logits" follows them.
BLOCK_OPERATORS = ("attention_projections", "attention_scores", "linear_attention", "mlp", "experts", "router")


def visible_tokens(sequence_length: Number, window: int = 0) -> Number:
    """Tokens that a token attends to on average, itself included, under a causal mask.

    (S + 1) / 2, and W - W (W - 1) / (2 S) where a window of W tokens is shorter than the sequence S.
    """
    length = np.asarray(sequence_length, dtype=float)
    causal = (length + 1) / 2
    if not window:
        return causal if causal.ndim else float(causal)
    windowed = window - window * (window - 1) / (2 * np.maximum(length, window))
    mean = np.where(length <= window, causal, windowed)
    return mean if mean.ndim else float(mean)


def forward_flops(arch: Architecture, sequence_length: Number, *, decoding: bool = False) -> Mapping[str, Number]:
    """FLOP of the forward pass for one token, by operator.

    `decoding` asks for the token after `sequence_length` others (it sees them all) instead of the mean over a sequence.
    Dense formulas: sparse attention that picks tokens by an index (DeepSeek-V3.2, GLM-5) reads fewer at long context
    unless `extra["index_topk"]` states how many.
    """
    flops: dict[str, Number] = dict.fromkeys(BLOCK_OPERATORS, 0)
    for linear in layer_linears(arch):
        name = _OPERATOR_OF[linear.kind]
        flops[name] = flops[name] + 2 * linear.active_elements
    flops["attention_scores"] = _attention_scores(arch, sequence_length, decoding=decoding)
    flops["linear_attention"] = flops["linear_attention"] + _state_flops(arch)
    flops["logits"] = 2 * arch.hidden_size * arch.vocabulary_size
    return flops


def forward_flops_per_token(arch: Architecture, sequence_length: Number, *, decoding: bool = False) -> Number:
    """FLOP of the forward pass for one token, all operators."""
    return _sum(forward_flops(arch, sequence_length, decoding=decoding))


def model_flops_per_token(arch: Architecture, sequence_length: Number) -> Number:
    """FLOP that training all weights needs for one token: three forward passes, nothing computed twice."""
    return 3 * forward_flops_per_token(arch, sequence_length)


def training_flops(
    arch: Architecture,
    sequence_length: Number,
    *,
    weights_trained: bool = True,
    trained_layers_fraction: float = 1.0,
    recomputation: RecomputationKind = "none",
    reference_forwards: float = 0.0,
) -> Mapping[str, Number]:
    """FLOP that a training step executes for one token, by operator.

    forward 1; backward 1 for the gradient of activations and 1 for that of weights, the latter only where weights
    are trained (adapters and prompts train through a frozen model); attention scores have no weights, their backward
    pass is always 2. Recomputation runs the forward pass of the blocks again (only attention, where so asked).
    `trained_layers_fraction`: the backward pass stops below the lowest trained layer.
    `reference_forwards`: forward passes of a frozen copy (preference methods).
    Adapters' own FLOP, r (inputs + outputs) a matrix, are below 1 % at usual ranks and left out.
    """
    forward = forward_flops(arch, sequence_length)
    result: dict[str, Number] = {}
    for name, amount in forward.items():
        attention = name == "attention_scores"
        backward = 2.0 if weights_trained or attention else 1.0
        reach = trained_layers_fraction if name != "logits" else 1.0
        again = 1.0 if _recomputed(name, recomputation) else 0.0
        result[name] = amount * (1.0 + (backward + again) * reach + reference_forwards)
    return result


def training_flops_per_token(
    arch: Architecture,
    sequence_length: Number,
    *,
    weights_trained: bool = True,
    trained_layers_fraction: float = 1.0,
    recomputation: RecomputationKind = "none",
    reference_forwards: float = 0.0,
) -> Number:
    """FLOP that a training step executes for one token, all operators; see `training_flops`."""
    return _sum(
        training_flops(
            arch,
            sequence_length,
            weights_trained=weights_trained,
            trained_layers_fraction=trained_layers_fraction,
            recomputation=recomputation,
            reference_forwards=reference_forwards,
        )
    )


def _recomputed(operator: str, recomputation: RecomputationKind) -> bool:
    if recomputation == "full":
        return operator != "logits"
    return recomputation in ("attention", "selective") and operator == "attention_scores"


def _sum(flops: Mapping[str, Number]) -> Number:
    total: Number = 0
    for amount in flops.values():
        total = total + amount
    return total


def _attention_scores(arch: Architecture, sequence_length: Number, *, decoding: bool) -> Number:
    """Scores and weighted values: 2 (qk_dim + v_dim) for each head, layer and visible token."""

    def seen(window: int) -> Number:
        if not decoding:
            return visible_tokens(sequence_length, window)
        return np.minimum(sequence_length, window) if window else sequence_length

    if arch.extra.get("attn") == "v4":
        light, heavy = extra_count(arch, "csa_layers"), extra_count(arch, "hca_layers")
        pairs = arch.layers * seen(arch.sliding_window)
        pairs = pairs + seen(0) * (light / LIGHT_RATIO + heavy / HEAVY_RATIO)
        return 4 * arch.attention_heads * arch.head_dim * pairs
    chosen = extra_count(arch, "index_topk")
    total: Number = 0
    for group in attention_groups(arch):
        total = total + 2 * group.layers * group.heads * (group.qk_dim + group.v_dim) * seen(group.window or chosen)
    index_heads = extra_count(arch, "idx_heads")
    if index_heads:
        layers = extra_count(arch, "m3_idx_layers") or extra_count(arch, "idx_layers", arch.full_attention_layers)
        total = total + 2 * layers * index_heads * extra_count(arch, "idx_dim") * seen(0)
    return total


def _state_flops(arch: Architecture) -> int:
    """Recurrent state of linear-attention layers: decay, update, read-out, and the short convolutions."""
    layers = arch.linear_layers

    def size(name: str, default: int = 0) -> int:
        return extra_count(arch, f"lin_{name}", default)

    match arch.extra.get("lin"):
        case "gdn" | "gdn_split":  # read, correct, write: three products with the state, arXiv:2412.06464 eq. 10
            keys, values = size("nk") * size("dk"), size("nv") * size("dv")
            return layers * (6 * values * size("dk") + 2 * (2 * keys + values) * size("conv"))
        case "kda":
            width = size("nk") * size("dk")
            return layers * (6 * width * size("dk") + 2 * 3 * width * size("conv"))
        case "mamba1":  # arXiv:2312.00752: discretise, decay, update, read-out
            return layers * (9 * size("inner") * size("state") + 2 * size("inner") * size("conv"))
        case "mamba2":  # arXiv:2405.21060: decay, update, read-out
            inner = size("nh") * size("hd")
            return layers * (5 * inner * size("state") + 2 * inner * size("conv"))
        case "shortconv":
            return layers * arch.hidden_size * (2 * size("conv") + 2)
        case "lightning":
            return layers * 5 * arch.attention_heads * arch.head_dim**2
        case _:
            return 0
