"""The sizes of a model that its speed depends on: matrices with their shapes, widths of what passes between them.

A matrix of n weights costs 2 n FLOP a token forward, and the same again for each of the two gradients (Kaplan et al.,
arXiv:2001.08361, section 2.1). FLOPs of attention come from `engine.architecture.flops`.
"""

from __future__ import annotations

from dataclasses import dataclass

from engine.architecture.flops import forward_flops_per_token
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
class ModelWork:
    """Work of one model."""

    linears: tuple[LinearWork, ...]
    score_elements: float  # attention scores for a pair of tokens, all layers and heads
    head: float  # weights of the output projection
    hidden: int
    layers: int
    moe_layers: int
    experts_per_token: int
    qkv_width: float  # query, key and value elements per token, mean over layers
    kv_width: float  # key and value elements per token, mean over layers
    mlp_width: float  # elements inside the MLP (active experts together), mean over layers
    architecture: Architecture

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
    layers = architecture.layers
    queries = sum(g.layers * g.heads * g.qk_dim for g in groups) / layers
    keys_values = sum(g.layers * g.kv_heads * (g.qk_dim + g.v_dim) for g in groups) / layers
    routed = moe_layers(architecture)
    shared = extra_count(architecture, "shared_ff", architecture.shared_experts * architecture.moe_intermediate_size)
    inner = routed * (architecture.experts_per_token * architecture.moe_intermediate_size + shared)
    inner += (layers - routed) * architecture.intermediate_size
    return ModelWork(
        linears=tuple(linears),
        score_elements=float(sum(g.layers * g.heads for g in groups)),
        head=float(architecture.vocabulary_size * architecture.hidden_size),
        hidden=architecture.hidden_size,
        layers=layers,
        moe_layers=routed,
        experts_per_token=architecture.experts_per_token,
        qkv_width=queries + keys_values,
        kv_width=keys_values,
        mlp_width=inner / layers,
        architecture=architecture,
    )


def attention_flops_per_token(work: ModelWork, sequence_length: float) -> float:
    """Forward FLOPs for a token that are no matrix of weights: attention scores and values, recurrent states."""
    every = float(forward_flops_per_token(work.architecture, sequence_length))
    return max(0.0, every - 2.0 * (work.block_active + work.head))
