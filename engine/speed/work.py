"""What a model has to compute for a token, by operator: FLOPs of matrices and of attention, bytes of the rest.

A matrix of n weights costs 2 n FLOP a token forward, and the same again for each of the two gradients (Kaplan et al.,
arXiv:2001.08361, section 2.1). Attention scores cost 2 (qk + v) FLOP per head and pair of tokens; causal masks leave
half of the pairs, a window w at most w of them.
"""

from __future__ import annotations

from dataclasses import dataclass

from engine.architecture.linears import LinearKind, attention_groups, extra_count, layer_linears, moe_layers
from engine.architecture.model import Architecture

__all__ = ["LinearWork", "ModelWork", "model_work"]

_ROUTED: frozenset[LinearKind] = frozenset({"expert"})


@dataclass(frozen=True, slots=True)
class LinearWork:
    """Equal matrices: weights that a token meets, all weights that the model holds, and their shorter side."""

    name: str
    active: float
    stored: float
    width: int
    routed: bool  # an expert: split over expert-parallel ranks, fed with the tokens that chose it
    outputs: float  # sum over the matrices that a token meets of inputs + outputs, for adapters
    adaptable: bool


@dataclass(frozen=True, slots=True)
class AttentionWork:
    """Layers of one kind of attention."""

    layers: int
    flops_per_pair: float  # forward, all layers and heads, for a query and a key
    window: int
    score_bytes: float  # bytes per pair and pass where scores are written to memory (eager attention)


@dataclass(frozen=True, slots=True)
class ModelWork:
    """Work of one model."""

    linears: tuple[LinearWork, ...]
    attention: tuple[AttentionWork, ...]
    head: float  # weights of the output projection
    hidden: int
    layers: int
    moe_layers: int
    experts_per_token: int
    qkv_width: float  # query, key and value elements per token, mean over layers
    kv_width: float  # key and value elements per token, mean over layers
    mlp_width: float  # elements inside the MLP (active experts together), mean over layers
    state_flops: float  # per token, of linear-attention states

    @property
    def block_active(self) -> float:
        """Weights of the blocks that a token meets."""
        return sum(x.active for x in self.linears)

    @property
    def block_stored(self) -> float:
        """Weights of the blocks."""
        return sum(x.stored for x in self.linears)

    @property
    def routed_stored(self) -> float:
        """Weights of all experts."""
        return sum(x.stored for x in self.linears if x.routed)


def model_work(architecture: Architecture) -> ModelWork:
    """Work of a model from its dimensions."""
    linears: list[LinearWork] = []
    for linear in layer_linears(architecture):
        if not linear.elements:
            continue
        linears.append(
            LinearWork(
                name=linear.name,
                active=linear.active_elements,
                stored=linear.elements,
                width=min(linear.inputs, linear.outputs),
                routed=linear.kind in _ROUTED,
                outputs=linear.layers * linear.used * (linear.inputs + linear.outputs),
                adaptable=linear.adaptable,
            )
        )
    groups = attention_groups(architecture)
    attention = tuple(
        AttentionWork(
            layers=g.layers,
            flops_per_pair=2.0 * g.layers * g.heads * (g.qk_dim + g.v_dim),
            window=g.window,
            score_bytes=float(g.layers * g.heads),
        )
        for g in groups
    )
    layers = architecture.layers
    queries = sum(g.layers * g.heads * g.qk_dim for g in groups) / layers
    keys_values = sum(g.layers * g.kv_heads * (g.qk_dim + g.v_dim) for g in groups) / layers
    routed = moe_layers(architecture)
    shared = extra_count(architecture, "shared_ff", architecture.shared_experts * architecture.moe_intermediate_size)
    inner = routed * (architecture.experts_per_token * architecture.moe_intermediate_size + shared)
    inner += (layers - routed) * architecture.intermediate_size
    return ModelWork(
        linears=tuple(linears),
        attention=attention,
        head=float(architecture.vocabulary_size * architecture.hidden_size),
        hidden=architecture.hidden_size,
        layers=layers,
        moe_layers=routed,
        experts_per_token=architecture.experts_per_token,
        qkv_width=queries + keys_values,
        kv_width=keys_values,
        mlp_width=inner / layers,
        # a recurrent state is decayed, updated and read once a token: 2 FLOP each and element (arXiv:2405.21060)
        state_flops=6.0 * architecture.state_elements_per_sequence,
    )


def mean_context(sequence_length: float, window: int) -> float:
    """Keys that a token of a causal sequence attends to, on average: s / 2, or less under a window."""
    if not window or window >= sequence_length:
        return sequence_length / 2
    return window - window * window / (2 * sequence_length)


def attention_flops_per_token(work: ModelWork, sequence_length: float) -> float:
    """Forward FLOPs of attention scores and values for a token, causal and windowed."""
    softmax = sum(a.flops_per_pair * mean_context(sequence_length, a.window) for a in work.attention)
    return softmax + work.state_flops
