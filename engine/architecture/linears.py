"""The matrices of a model: the single description that parameters, FLOPs, adapters and quantisation read."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from engine.architecture.model import Architecture

__all__ = [
    "HEAVY_RATIO",
    "LIGHT_RATIO",
    "AttentionGroup",
    "Linear",
    "LinearKind",
    "attention_groups",
    "dense_layers",
    "extra_count",
    "layer_linears",
    "moe_layers",
]

#: Tokens that one compressed entry stands for in DeepSeek-V4's two kinds of layers (its public modelling code).
LIGHT_RATIO, HEAVY_RATIO = 4, 128

LinearKind = Literal[
    "attention", "indexer", "mlp", "expert", "shared_expert", "router", "linear_attention", "per_layer_embedding"
]


@dataclass(frozen=True, slots=True)
class Linear:
    """`per_layer` equal matrices of `inputs` x `outputs` in each of `layers` layers; a token uses `used` of them.

    `adaptable` says that adapters and weight quantisation treat it as an ordinary linear layer of the block.
    """

    name: str
    kind: LinearKind
    inputs: int
    outputs: int
    layers: int
    per_layer: int = 1
    used: int = 1
    adaptable: bool = True

    @property
    def count(self) -> int:
        """How many such matrices the model has."""
        return self.layers * self.per_layer

    @property
    def elements(self) -> int:
        """Weights of all of them, without biases."""
        return self.count * self.inputs * self.outputs

    @property
    def active_elements(self) -> int:
        """Weights that one token is multiplied with."""
        return self.layers * self.used * self.inputs * self.outputs


@dataclass(frozen=True, slots=True)
class AttentionGroup:
    """Softmax-attention layers of one shape. `window` is 0 where a token sees all tokens before it."""

    layers: int
    heads: int
    kv_heads: int
    qk_dim: int
    v_dim: int
    window: int
    key_layers: int  # layers with a key projection of their own (fewer where layers share a cache)
    value_layers: int  # layers with a value projection of their own (0 where values are the keys)


def extra_count(arch: Architecture, key: str, default: int = 0) -> int:
    """A further size of a rare block, from `Architecture.extra`."""
    value = arch.extra.get(key, default)
    return int(float(value)) if value != "" else default


def moe_layers(arch: Architecture) -> int:
    """Layers that route tokens to experts: after the first dense ones, every `moe_layer_frequency`-th."""
    if not arch.experts:
        return 0
    return extra_count(arch, "moe_layers", (arch.layers - arch.first_dense_layers) // arch.moe_layer_frequency)


def dense_layers(arch: Architecture) -> int:
    """Layers with a plain MLP (in some models beside the experts)."""
    if arch.mlp == "none":
        return 0
    return extra_count(arch, "dense_layers", arch.layers - moe_layers(arch))


def attention_groups(arch: Architecture) -> tuple[AttentionGroup, ...]:
    """Layers of softmax attention by shape: full attention first, then those with a sliding window."""
    if not arch.attention_heads:
        return ()
    full, window = arch.full_attention_layers, arch.sliding_window_layers
    if full + window + arch.linear_layers == 0:
        full = arch.layers
    value_dim = arch.mla_v_head_dim or extra_count(arch, "v_head_dim", arch.head_dim)
    wide = extra_count(arch, "g_hd", arch.head_dim)
    share = extra_count(arch, "kv_share", 1)
    groups: list[AttentionGroup] = []
    if full:
        own = math.ceil(full / share) - extra_count(arch, "kv_shared_full")
        groups.append(
            AttentionGroup(
                layers=full,
                heads=arch.attention_heads,
                kv_heads=extra_count(arch, "g_kv", arch.kv_heads),
                qk_dim=wide,
                v_dim=wide if wide != arch.head_dim else value_dim,
                window=0,
                key_layers=own,
                value_layers=0 if extra_count(arch, "k_eq_v") else own,
            )
        )
    if window:
        own = math.ceil(window / share) - extra_count(arch, "kv_shared_swa")
        groups.append(
            AttentionGroup(
                layers=window,
                heads=extra_count(arch, "swa_heads", arch.attention_heads),
                kv_heads=extra_count(arch, "swa_kv", arch.kv_heads),
                qk_dim=arch.head_dim,
                v_dim=value_dim,
                window=arch.sliding_window,
                key_layers=own,
                value_layers=own,
            )
        )
    return tuple(groups)


def layer_linears(arch: Architecture) -> tuple[Linear, ...]:
    """All matrices of the transformer blocks; embedding and head are not among them.

    Source: parameter formula of the model table (`resources/models`), checked against published weight totals.
    """
    return (*_attention(arch), *_linear_attention(arch), *_mlps(arch), *_mixing(arch))


def _attention(arch: Architecture) -> list[Linear]:
    if arch.extra.get("attn") == "v4":
        return _compressed_attention(arch)
    found: list[Linear] = []
    for group in attention_groups(arch):
        if arch.mla_kv_lora_rank:
            found += _latent_attention(arch, group)
            continue
        d, queries = arch.hidden_size, group.heads * group.qk_dim
        found += [
            Linear("q_proj", "attention", d, queries, group.layers),
            Linear("k_proj", "attention", d, group.kv_heads * group.qk_dim, group.key_layers),
            Linear("v_proj", "attention", d, group.kv_heads * group.v_dim, group.value_layers),
            Linear("o_proj", "attention", group.heads * group.v_dim, d, group.layers),
        ]
        gate = arch.extra.get("attn_gate")
        if gate:
            width = queries if gate == "elem" else group.heads
            found.append(Linear("gate", "attention", d, width, group.layers, adaptable=gate == "elem"))
    return found + _indexer(arch)


def _latent_attention(arch: Architecture, group: AttentionGroup) -> list[Linear]:
    """Multi-head latent attention, arXiv:2405.04434."""
    d, heads, rope = arch.hidden_size, group.heads, arch.mla_qk_rope_head_dim
    q_rank, kv_rank = arch.mla_q_lora_rank, arch.mla_kv_lora_rank
    if q_rank:
        queries = [
            Linear("q_a_proj", "attention", d, q_rank, group.layers),
            Linear("q_b_proj", "attention", q_rank, heads * group.qk_dim, group.layers),
        ]
    else:
        queries = [Linear("q_proj", "attention", d, heads * group.qk_dim, group.layers)]
    expanded = heads * (group.qk_dim - rope + group.v_dim)
    return [
        *queries,
        Linear("kv_a_proj", "attention", d, kv_rank + rope, group.layers),
        Linear("kv_b_proj", "attention", kv_rank, expanded, group.layers),
        Linear("o_proj", "attention", heads * group.v_dim, d, group.layers),
    ]


def _indexer(arch: Architecture) -> list[Linear]:
    """Small attention that picks the tokens to attend to (DeepSeek-V3.2, GLM-5)."""
    heads, width = extra_count(arch, "idx_heads"), extra_count(arch, "idx_dim")
    if not heads:
        return []
    d = arch.hidden_size
    if extra_count(arch, "m3_idx_layers"):
        layers = extra_count(arch, "m3_idx_layers")
        return [
            Linear("indexer_q", "indexer", d, heads * width, layers, adaptable=False),
            Linear("indexer_k", "indexer", d, width, layers, adaptable=False),
        ]
    layers = extra_count(arch, "idx_layers", arch.full_attention_layers or arch.layers)
    return [
        Linear("indexer_q", "indexer", arch.mla_q_lora_rank or d, heads * width, layers, adaptable=False),
        Linear("indexer_k", "indexer", d, width, layers, adaptable=False),
        Linear("indexer_weights", "indexer", d, heads, layers, adaptable=False),
    ]


def _compressed_attention(arch: Architecture) -> list[Linear]:
    """Attention over compressed blocks of one shared key-value head (DeepSeek-V4), with grouped output projection."""
    d, heads, width = arch.hidden_size, arch.attention_heads, arch.head_dim
    q_rank, layers = arch.mla_q_lora_rank, arch.layers
    groups, o_rank = extra_count(arch, "o_groups"), extra_count(arch, "o_lora")
    found = [
        Linear("q_a_proj", "attention", d, q_rank, layers),
        Linear("q_b_proj", "attention", q_rank, heads * width, layers),
        Linear("kv_proj", "attention", d, width, layers),
        Linear("o_a_proj", "attention", heads * width // groups, o_rank, layers, groups, groups),
        Linear("o_b_proj", "attention", groups * o_rank, d, layers),
    ]
    index_heads, index_width = extra_count(arch, "idx_heads"), extra_count(arch, "idx_dim")
    light, heavy = extra_count(arch, "csa_layers"), extra_count(arch, "hca_layers")
    return [
        *found,
        Linear("compressor", "attention", d, 2 * 2 * width, light),
        Linear("compressor_heavy", "attention", d, 2 * width, heavy),
        Linear("indexer_q", "indexer", q_rank, index_heads * index_width, light, adaptable=False),
        Linear("indexer_compressor", "indexer", d, 2 * 2 * index_width, light, adaptable=False),
        Linear("indexer_weights", "indexer", d, index_heads, light, adaptable=False),
    ]


def _linear_attention(arch: Architecture) -> list[Linear]:
    kind, layers, d = arch.extra.get("lin"), arch.linear_layers, arch.hidden_size
    if not kind or not layers:
        return []

    def size(name: str, default: int = 0) -> int:
        return extra_count(arch, f"lin_{name}", default)

    def matrix(name: str, inputs: int, outputs: int) -> Linear:
        return Linear(name, "linear_attention", inputs, outputs, layers)

    match kind:
        case "gdn" | "gdn_split":  # gated delta net, arXiv:2412.06464
            keys, values = size("nk") * size("dk"), size("nv") * size("dv")
            return [
                matrix("in_proj_qk", d, 2 * keys),
                matrix("in_proj_v", d, values),
                matrix("in_proj_z", d, values),
                matrix("in_proj_ba", d, 2 * size("nv")),
                matrix("out_proj", values, d),
            ]
        case "kda":  # Kimi delta attention, arXiv:2510.26692
            width, low = size("nk") * size("dk"), size("dk")
            return [
                matrix("in_proj_qkv", d, 3 * width),
                matrix("decay_a", d, low),
                matrix("decay_b", low, width),
                matrix("gate_a", d, low),
                matrix("gate_b", low, width),
                matrix("beta", d, size("nk")),
                matrix("out_proj", width, d),
            ]
        case "mamba1":  # arXiv:2312.00752
            inner, state, rank = size("inner"), size("state"), size("rank")
            return [
                matrix("in_proj", d, 2 * inner),
                matrix("x_proj", inner, rank + 2 * state),
                matrix("dt_proj", rank, inner),
                matrix("out_proj", inner, d),
            ]
        case "mamba2":  # arXiv:2405.21060
            inner = size("nh") * size("hd")
            states = 2 * size("groups", 1) * size("state")
            return [matrix("in_proj", d, 2 * inner + states + size("nh")), matrix("out_proj", inner, d)]
        case "shortconv":
            return [matrix("in_proj", d, 3 * d), matrix("out_proj", d, d)]
        case "lightning":  # arXiv:2401.04658
            width = arch.attention_heads * arch.head_dim
            return [
                matrix("qkv_proj", d, 3 * width),
                matrix("output_gate", d, width),
                matrix("out_proj", width, d),
            ]
        case _:
            return []


def _mlp(arch: Architecture, kind: LinearKind, width: int, layers: int, per_layer: int, used: int) -> list[Linear]:
    """Gate, up and down of a gated MLP; up and down of a plain one."""
    routed = kind == "expert"
    d = extra_count(arch, "latent", arch.hidden_size) if routed else arch.hidden_size
    names = ("gate_proj", "up_proj") if arch.mlp in ("swiglu", "geglu") else ("up_proj",)
    inward = [Linear(n, kind, d, width, layers, per_layer, used) for n in names]
    return [*inward, Linear("down_proj", kind, width, d, layers, per_layer, used)]


def _mlps(arch: Architecture) -> list[Linear]:
    found: list[Linear] = []
    dense, routed, d = dense_layers(arch), moe_layers(arch), arch.hidden_size
    wide = extra_count(arch, "wide_layers")
    if dense and arch.intermediate_size:
        found += _mlp(arch, "mlp", arch.intermediate_size, dense - wide, 1, 1)
    if wide:
        found += _mlp(arch, "mlp", 2 * arch.intermediate_size, wide, 1, 1)
    if not routed:
        return found
    found += _mlp(arch, "expert", arch.moe_intermediate_size, routed, arch.experts, arch.experts_per_token)
    shared_width = extra_count(arch, "shared_ff", arch.shared_experts * arch.moe_intermediate_size)
    if shared_width:
        found += _mlp(arch, "shared_expert", shared_width, routed, 1, 1)
    if extra_count(arch, "shared_gate"):
        found.append(Linear("shared_expert_gate", "router", d, 1, routed, adaptable=False))
    destinations = arch.experts + extra_count(arch, "zero_experts")
    found.append(Linear("router", "router", d, destinations, routed, adaptable=False))
    latent = extra_count(arch, "latent")
    if latent:
        found += [
            Linear("latent_in", "mlp", d, latent, routed),
            Linear("latent_out", "mlp", latent, d, routed),
        ]
    return found


def _mixing(arch: Architecture) -> list[Linear]:
    """Per-layer inputs, low-rank residuals and alternating updates of Gemma 3n and 4."""
    width, d, layers = extra_count(arch, "ple_dim"), arch.hidden_size, arch.layers
    found: list[Linear] = []
    if width:
        found += [
            Linear("per_layer_model_projection", "per_layer_embedding", d, layers * width, 1, adaptable=False),
            Linear("per_layer_input_gate", "per_layer_embedding", d, width, layers, adaptable=False),
            Linear("per_layer_projection", "per_layer_embedding", width, d, layers, adaptable=False),
        ]
    rank = extra_count(arch, "laurel_rank")
    if rank:
        found += [
            Linear("laurel_left", "mlp", d, rank, layers, adaptable=False),
            Linear("laurel_right", "mlp", rank, d, layers, adaptable=False),
        ]
    streams = extra_count(arch, "altup")
    if streams:
        found += [
            Linear("altup_projections", "mlp", d, d, 1, 2 * (streams - 1), 2 * (streams - 1), adaptable=False),
            Linear("altup_prediction", "router", streams, streams * streams, layers, adaptable=False),
            Linear("altup_correction", "router", streams, streams, layers, adaptable=False),
            Linear("altup_router", "router", d, streams, layers, adaptable=False),
        ]
    return found
