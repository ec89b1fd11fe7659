"""Parameters of a model from its dimensions: exact counts by part, in total and as used by one token."""

from __future__ import annotations

from dataclasses import dataclass

from engine.architecture.linears import (
    HEAVY_RATIO,
    LIGHT_RATIO,
    Linear,
    LinearKind,
    attention_groups,
    extra_count,
    layer_linears,
    moe_layers,
)
from engine.architecture.model import Architecture

__all__ = ["Part", "parameter_parts", "parameters_active", "parameters_total"]


@dataclass(frozen=True, slots=True)
class Part:
    """One kind of weights. `active` are those that one token uses; `layers` is 0 for parts outside the blocks.

    `name` is a label code. `quantizable` says whether 4-bit loaders convert it (linear layers of the blocks;
    stacked experts only where the software keeps them as separate layers).
    """

    name: str
    count: int
    active: int
    layers: int
    quantizable: bool

    @property
    def per_layer(self) -> float:
        """Weights of one layer that carries the part."""
        return self.count / self.layers if self.layers else float(self.count)


#: Part that a kind of matrix is counted under.
_PART_OF: dict[LinearKind, str] = {
    "attention": "part.attention",
    "indexer": "part.indexer",
    "mlp": "part.mlp",
    "expert": "part.experts",
    "shared_expert": "part.shared_experts",
    "router": "part.router",
    "linear_attention": "part.linear_attention",
    "per_layer_embedding": "part.per_layer_embedding",
}
_QUANTIZABLE: frozenset[LinearKind] = frozenset({"attention", "mlp", "expert", "shared_expert", "linear_attention"})


def parameter_parts(arch: Architecture) -> tuple[Part, ...]:
    """Weights by part; the counts add up to `parameters_total`.

    Source: the parameter formula of the model table, held against published weight totals (tests).
    """
    d, vocabulary = arch.hidden_size, arch.vocabulary_size
    width = extra_count(arch, "emb_dim", d)
    embedding = vocabulary * width + extra_count(arch, "pos") * d
    if width != d:
        embedding += 2 * width * d  # projections into and out of the blocks
    parts = [Part("part.embedding", embedding, embedding, 0, False)]
    table = extra_count(arch, "ple_vocab") * extra_count(arch, "ple_dim") * arch.layers
    if table:
        parts.append(Part("part.per_layer_table", table, 0, 0, False))
    head = (0 if arch.tied_embeddings else vocabulary * d) + extra_count(arch, "head_bias") * vocabulary
    if head:
        parts.append(Part("part.head", head, head, 0, False))
    linears = layer_linears(arch)
    for kind, name in _PART_OF.items():
        mine = [x for x in linears if x.kind == kind]
        if mine:
            parts.append(
                Part(
                    name,
                    sum(x.elements for x in mine),
                    sum(x.active_elements for x in mine),
                    max(x.layers for x in mine),
                    kind in _QUANTIZABLE,
                )
            )
    vectors = {"part.biases": _biases(arch, linears), "part.norms": _norms(arch), "part.small": _small(arch)}
    parts += [Part(name, count, active, arch.layers, False) for name, (count, active) in vectors.items() if count]
    return tuple(parts)


def parameters_total(arch: Architecture) -> int:
    """Weights of the text model: tied heads once; no multi-token prediction, vision or quantisation scales."""
    return sum(part.count for part in parameter_parts(arch))


def parameters_active(arch: Architecture) -> int:
    """Weights that one token uses: the total less the idle experts and per-layer embedding tables."""
    return sum(part.active for part in parameter_parts(arch))


def _biases(arch: Architecture, linears: tuple[Linear, ...]) -> tuple[int, int]:
    """Biases of linear layers, and what is added to router scores: total and active."""
    total = 0
    queries_keys_values = {"q_proj", "k_proj", "v_proj"}
    biased = {"none": set[str](), "qkv": queries_keys_values, "all": queries_keys_values | {"o_proj"}}
    total += sum(
        x.count * x.outputs for x in linears if x.kind == "attention" and x.name in biased[arch.attention_bias]
    )
    if extra_count(arch, "mlp_bias"):
        total += sum(x.count * x.outputs for x in linears if x.kind in ("mlp", "shared_expert"))
    routed = moe_layers(arch)
    total += extra_count(arch, "router_bias") * routed * arch.experts + extra_count(arch, "zero_bias") * routed
    active = total
    if extra_count(arch, "expert_bias"):
        experts = [x for x in linears if x.kind == "expert"]
        total += sum(x.count * x.outputs for x in experts)
        active += sum(x.layers * x.used * x.outputs for x in experts)
    return total, active


def _norm_width(arch: Architecture) -> int:
    return {"rms": 1, "ln_nobias": 1, "ln": 2, "none": 0}[arch.norm] * arch.hidden_size


def _norms(arch: Architecture) -> tuple[int, int]:
    """Norms of the blocks, the last one, and those inside attention and linear layers."""
    width = _norm_width(arch)
    total = extra_count(arch, "norms", 2) * arch.layers * width + extra_count(arch, "final_norm", 1) * width
    total += extra_count(arch, "emb_norm") * width
    for group in attention_groups(arch):
        if arch.mla_kv_lora_rank:
            total += group.layers * (arch.mla_q_lora_rank + arch.mla_kv_lora_rank)
        if arch.qk_norm == "head":
            total += (group.layers + group.key_layers) * group.qk_dim
        elif arch.qk_norm == "full":
            total += (group.layers * group.heads + group.key_layers * group.kv_heads) * group.qk_dim
    return total, total


def _small(arch: Architecture) -> tuple[int, int]:
    """Vectors of rare blocks: attention sinks, convolutions, decay rates, index norms, residual scales."""
    total = _linear_attention_vectors(arch)
    groups = attention_groups(arch)
    if extra_count(arch, "sinks"):
        total += sum(g.layers * g.heads for g in groups)
    if extra_count(arch, "swa_sinks"):
        total += sum(g.layers * g.heads for g in groups if g.window)
    total += extra_count(arch, "other_per_layer") * arch.layers
    total += _index_norms(arch) + _compressed_attention_vectors(arch)
    return total, total


def _index_norms(arch: Architecture) -> int:
    width = extra_count(arch, "idx_dim")
    if not width or arch.extra.get("attn") == "v4":
        return 0
    if extra_count(arch, "m3_idx_layers"):
        return extra_count(arch, "m3_idx_layers") * 2 * width
    return extra_count(arch, "idx_layers", arch.full_attention_layers or arch.layers) * 2 * width


def _compressed_attention_vectors(arch: Architecture) -> int:
    """Norms, block positions, sinks and hyper-connections of DeepSeek-V4 (its public modelling code)."""
    if arch.extra.get("attn") != "v4":
        return 0
    layers, width, streams = arch.layers, arch.head_dim, extra_count(arch, "hc")
    light, heavy, index = extra_count(arch, "csa_layers"), extra_count(arch, "hca_layers"), extra_count(arch, "idx_dim")
    mixes = (2 + streams) * streams  # into, out of and between the residual streams
    total = 2 * layers * (mixes * (streams * arch.hidden_size + 1) + 3)  # before attention and before the MLP
    total += streams * streams * arch.hidden_size + streams + 1  # at the head
    total += layers * (arch.mla_q_lora_rank + width + arch.attention_heads)  # query and key norms, sinks
    total += light * (LIGHT_RATIO * 2 + 1) * width + heavy * (HEAVY_RATIO + 1) * width
    return total + light * (LIGHT_RATIO * 2 + 1) * index


def _linear_attention_vectors(arch: Architecture) -> int:
    kind, layers, d = arch.extra.get("lin"), arch.linear_layers, arch.hidden_size

    def size(name: str, default: int = 0) -> int:
        return extra_count(arch, f"lin_{name}", default)

    per_layer = 0
    match kind:
        case "gdn" | "gdn_split":
            channels = 2 * size("nk") * size("dk") + size("nv") * size("dv")
            per_layer = channels * size("conv") + 2 * size("nv") + size("dv")
        case "kda":
            width = size("nk") * size("dk")
            per_layer = 3 * width * size("conv") + size("nk") + width + size("dk")
        case "mamba1":
            inner, state = size("inner"), size("state")
            per_layer = inner * (size("conv") + 1) + inner * state + inner + inner
            per_layer += size("bcdt_norm") * (size("rank") + 2 * state)
        case "mamba2":
            inner = size("nh") * size("hd")
            channels = inner + 2 * size("groups", 1) * size("state")
            per_layer = channels * (size("conv") + 1) + 3 * size("nh") + size("norm", 1) * inner
        case "shortconv":
            per_layer = d * size("conv")
        case "lightning":
            per_layer = arch.attention_heads * arch.head_dim
        case _:
            return 0
    return layers * per_layer
