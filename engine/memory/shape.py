"""Widths and element counts of a model as the memory formulas need them, and each card's share of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from engine.architecture.linears import dense_layers, extra_count, layer_linears, moe_layers
from engine.architecture.model import Architecture
from engine.layout.model import LayoutLike
from engine.quantity import Number

__all__ = ["Matrix", "Shape", "Share", "shape_of", "share_of"]

Group = Literal["attention", "mlp", "expert"]

#: Kinds whose query, key and value (and gate and up) projections are one matrix each.
FUSED_ATTENTION = frozenset({"phi3", "gpt_neox", "gpt2"})
FUSED_MLP = frozenset({"phi3", "glm4", "glm"})

#: Kinds whose MLP has no gate.
PLAIN_MLP = frozenset({"gpt_neox", "gpt2", "starcoder2", "opt", "nemotron", "arcee", "apertus", "phi"})


@dataclass(frozen=True, slots=True)
class Matrix:
    """`count` equal matrices in the whole model; `adaptable` ones are ordinary linear layers of a block."""

    name: str
    group: Group
    inputs: int
    outputs: int
    count: int
    adaptable: bool

    @property
    def size(self) -> int:
        """Elements of one."""
        return self.inputs * self.outputs


@dataclass(frozen=True, slots=True)
class Shape:
    """Element counts of a whole model; `block` is the largest single layer."""

    kind: str
    hidden: int
    layers: int
    dense_layers: int  # layers without routed experts in a model that has experts
    vocabulary: int
    tied: bool
    embedding: int
    head: int  # elements of a head of its own; 0 where it is the embedding
    positions: int  # learned positions and other tables beside the token embedding
    matrices: tuple[Matrix, ...]
    linear: int  # elements of ordinary linear layers
    experts: int  # elements of routed experts
    other: int  # norms, biases, routers, small tables: all else inside the blocks, and the final norm
    block: int
    total: int


def shape_of(arch: Architecture, kind: str) -> Shape:
    """Counts by role; they add up to `parameters_total`. What matrices do not explain counts as norms and biases."""
    matrices = _matrices(arch, kind)
    embedding = arch.vocabulary_size * int(extra_count(arch, "emb_dim", arch.hidden_size))
    head = 0 if arch.tied_embeddings else embedding
    positions = extra_count(arch, "pos") * arch.hidden_size
    positions += extra_count(arch, "ple_vocab") * extra_count(arch, "ple_dim") * arch.layers
    linear = sum(m.size * m.count for m in matrices if m.group != "expert")
    experts = sum(m.size * m.count for m in matrices if m.group == "expert")
    inside = arch.parameters_total - embedding - head - positions
    if linear + experts > inside > 0:  # tied or shared layers: the published total is the truth
        matrices_scale = inside / (linear + experts)
        linear, experts = int(linear * matrices_scale), int(experts * matrices_scale)
    other = max(inside - linear - experts, 0)
    routed = moe_layers(arch)
    dense_mlp = sum(m.size * m.count for m in matrices if m.name.startswith("dense_mlp."))
    expert_block = (experts + sum(m.size * m.count for m in matrices if m.name.startswith("shared."))) / max(routed, 1)
    dense_block = dense_mlp / max(dense_layers(arch), 1)
    common = (linear - dense_mlp - (expert_block * routed - experts) + other) / arch.layers
    return Shape(
        kind=kind,
        hidden=arch.hidden_size,
        layers=arch.layers,
        dense_layers=arch.layers - routed if routed else 0,
        vocabulary=arch.vocabulary_size,
        tied=arch.tied_embeddings,
        embedding=embedding,
        head=head,
        positions=positions,
        matrices=matrices,
        linear=linear,
        experts=experts,
        other=other,
        block=int(common + max(expert_block, dense_block)),
        total=arch.parameters_total,
    )


def _matrices(arch: Architecture, kind: str) -> tuple[Matrix, ...]:
    found: list[Matrix] = []
    for one in layer_linears(arch):
        group: Group = "expert" if one.kind == "expert" else "attention" if one.kind == "attention" else "mlp"
        prefix = {"mlp": "dense_mlp.", "shared_expert": "shared."}.get(one.kind, "")
        if one.kind == "router":
            continue  # kept in 16 or 32 bits, neither adapted nor quantised: counts as "other"
        name = prefix + one.name
        found.append(Matrix(name, group, one.inputs, one.outputs, one.count, one.adaptable))
    if kind in FUSED_ATTENTION:
        found = _fused(found, ("q_proj", "k_proj", "v_proj"), "qkv_proj")
    if kind in FUSED_MLP:
        found = _fused(found, ("dense_mlp.gate_proj", "dense_mlp.up_proj"), "dense_mlp.gate_up_proj")
    return tuple(found)


def _fused(matrices: list[Matrix], names: tuple[str, ...], fused: str) -> list[Matrix]:
    parts = [m for m in matrices if m.name in names]
    if not parts:
        return matrices
    one = parts[0]
    joined = Matrix(fused, one.group, one.inputs, sum(m.outputs for m in parts), one.count, True)
    return [joined, *(m for m in matrices if m.name not in names)]


@dataclass(frozen=True, slots=True)
class Share:
    """What one card of a pipeline stage holds before any data-parallel sharding. Counts are elements.

    `expert_ranks` is the expert-parallel degree: experts are sharded over that many ranks fewer.
    """

    layers: Number
    dense_layers: Number
    embedding: Number
    positions: Number
    head: Number  # a head of its own
    logits: Number  # 1 where the stage computes the loss, else 0
    linear: Number
    experts: Number
    other: Number
    block: Number
    block_linear: Number
    vocabulary: Number  # columns of logits on this card
    expert_ranks: Number
    in_flight: Number  # micro-batches whose activations are held at once

    @property
    def dense_part(self) -> Number:
        """Elements that are not routed experts."""
        return self.embedding + self.positions + self.head + self.linear + self.other

    @property
    def total(self) -> Number:
        """All elements."""
        return self.dense_part + self.experts


def share_of(shape: Shape, layout: LayoutLike, *, first_stage: bool) -> Share:
    """Share of the first or of the last pipeline stage; without a pipeline both are the whole model.

    Tensor parallelism splits matrices, embedding and head by columns or rows and replicates norms
    (arXiv:1909.08053); expert parallelism spreads whole experts; 1F1B holds as many micro-batches in the first
    stage as there are stages (arXiv:2104.04473).
    """
    tensor, stages = np.asarray(layout.tensor_parallel), np.asarray(layout.pipeline_parallel)
    expert = np.asarray(layout.expert_parallel)
    alone = stages == 1
    layers = np.ceil(shape.layers / stages)
    fraction = layers / shape.layers
    has_embedding = np.where(alone, 1.0, 1.0 if first_stage else 0.0)
    has_head = np.where(alone, 1.0, 0.0 if first_stage else 1.0)
    dense = np.minimum(shape.dense_layers, layers) if first_stage else shape.dense_layers - (shape.layers - layers)
    if shape.dense_layers and shape.dense_layers > shape.layers / 4:  # interleaved rather than in front
        dense = shape.dense_layers * fraction
    dense = np.maximum(dense, 0)
    routed_fraction = (layers - dense) / max(shape.layers - shape.dense_layers, 1) if shape.experts else fraction
    tied_head = np.where(alone, 0.0, has_head) * shape.embedding if shape.tied else 0.0  # the last stage keeps a copy
    # interleaving keeps a part of the others' share besides (arXiv:2205.05198, section 4.2.3)
    held = stages + (stages - 1) / layout.virtual_stages if layout.virtual_stages > 1 else stages
    in_flight = np.minimum(held, layout.gradient_accumulation_steps) if first_stage else 1.0
    in_flight = 1.0 if layout.layer_split else np.where(alone, 1.0, in_flight)
    expert_block = shape.experts / max(shape.layers - shape.dense_layers, 1)
    common_block = shape.block - expert_block
    return Share(
        layers=layers,
        dense_layers=dense,
        embedding=has_embedding * shape.embedding / tensor,
        positions=has_embedding * shape.positions,
        head=(has_head * shape.head + tied_head) / tensor,
        logits=has_head,
        linear=shape.linear * fraction / tensor,
        experts=shape.experts * routed_fraction / (expert * tensor),
        other=shape.other * fraction,
        block=common_block / tensor + expert_block / (expert * tensor),
        block_linear=shape.linear / shape.layers / tensor,
        vocabulary=shape.vocabulary / tensor,
        expert_ranks=expert,
        in_flight=in_flight,
    )
