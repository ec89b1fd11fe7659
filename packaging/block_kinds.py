"""Random shapes of further kinds of block, as arguments of their transformers configs, and the ways to trace them."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

__all__ = ["KINDS", "WAYS", "Kind", "Random", "ways_of"]

VOCABULARY = 64  # so small that the loss never is the peak
LONG = 65536  # a window or a table of positions beyond every traced length


class Random:
    """Independent widths with realistic proportions."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.head_dim = rng.choice([64, 128])
        self.kv_heads = rng.choice([2, 3, 4])
        self.heads = self.kv_heads * rng.choice([2, 3, 4, 7])
        self.hidden = self.heads * rng.choice([32, 48, 64, 80, 96, 112, 128])
        if self.hidden < 320:
            self.hidden *= 4
        self.inner = int(self.hidden * rng.uniform(2.7, 4.6) / 16) * 16
        self.per_token = rng.choice([1, 2, 3, 4])
        self.experts = rng.choice([8, 16, 32, 64])
        self.width = rng.randrange(4, 14) * 32
        self.shared = rng.choice([1, 2, 3])

    def tie_heads(self, *, grouped: bool) -> None:
        """Heads that together are as wide as the hidden state."""
        self.heads = self.kv_heads * max(1, self.hidden // (self.kv_heads * self.head_dim))
        self.hidden = self.heads * self.head_dim
        self.inner = int(self.hidden * self.rng.uniform(2.7, 4.6) / 16) * 16
        if not grouped:
            self.kv_heads = self.heads

    def dense(self, kind: str, **more: Any) -> dict[str, Any]:
        """Arguments that nearly all configs share."""
        return {
            "model_type": kind,
            "hidden_size": self.hidden,
            "intermediate_size": self.inner,
            "num_attention_heads": self.heads,
            "num_key_value_heads": self.kv_heads,
            "head_dim": self.head_dim,
            "vocab_size": VOCABULARY,
            "max_position_embeddings": LONG,
            "tie_word_embeddings": False,
            "pad_token_id": 0,
            "bos_token_id": 1,
            "eos_token_id": 2,
            **more,
        }

    def routed(self, kind: str, **more: Any) -> dict[str, Any]:
        """The same with routed experts."""
        counts = {"num_experts": self.experts, "num_experts_per_tok": self.per_token}
        return self.dense(kind, **{**counts, "moe_intermediate_size": self.width, **more})


Config = Callable[[Random], dict[str, Any]]


@dataclass(frozen=True)
class Kind:
    """How to draw a kind of block; `group` says which ways of training it is traced in."""

    config: Config
    group: str = "dense"  # dense | layer_norm (no autocast: the tracer's list of operators differs) | routed
    layers: str = "num_hidden_layers"
    shared: bool = False

    def widths(self, s: Random) -> dict[str, float]:
        """Symbols of the factors and their values, most telling first."""
        found: dict[str, float] = {"h": s.hidden, "f": s.inner, "a": s.heads * s.head_dim, "k": s.kv_heads * s.head_dim}
        found |= {"hq": s.heads, "d": s.head_dim, "1": 1}
        if self.group == "routed":
            found |= {"f": s.per_token * s.width, "t": s.per_token * s.hidden, "x": s.per_token, "e": s.experts}
        if self.shared:
            found["s"] = s.shared * s.width
        return found


def _without(config: dict[str, Any], *names: str) -> dict[str, Any]:
    return {k: v for k, v in config.items() if k not in names}


def _tied(kind: str, *, grouped: bool = True, drop: tuple[str, ...] = ("head_dim",), **more: Any) -> Config:
    def config(s: Random) -> dict[str, Any]:
        s.tie_heads(grouped=grouped)
        return _without(s.dense(kind, **more), *drop)

    return config


def _free(kind: str, **more: Any) -> Config:
    return lambda s: s.dense(kind, **more)


def _opt(s: Random) -> dict[str, Any]:
    s.tie_heads(grouped=False)
    config = s.dense("opt", ffn_dim=s.inner, dropout=0.0, word_embed_proj_dim=s.hidden)
    return _without(config, "intermediate_size", "num_key_value_heads", "head_dim")


def _glm4_moe(s: Random) -> dict[str, Any]:
    more = {"n_routed_experts": s.experts, "n_shared_experts": s.shared, "first_k_dense_replace": 0}
    return _without(s.routed("glm4_moe", **more, n_group=1, topk_group=1, use_qk_norm=False), "num_experts")


def _ernie_moe(s: Random) -> dict[str, Any]:
    names = {"moe_num_experts": s.experts, "moe_k": s.per_token, "moe_num_shared_experts": s.shared}
    config = s.routed("ernie4_5_moe", **names, moe_layer_start_index=0)
    return _without(config, "num_experts", "num_experts_per_tok")


def _olmoe(s: Random) -> dict[str, Any]:
    s.tie_heads(grouped=True)
    return _without(s.routed("olmoe", intermediate_size=s.width), "head_dim", "moe_intermediate_size")


def _qwen2_moe(s: Random) -> dict[str, Any]:
    s.tie_heads(grouped=True)
    more = {"shared_expert_intermediate_size": s.shared * s.width}
    return _without(s.routed("qwen2_moe", **more), "head_dim")


def _granite_moe(s: Random) -> dict[str, Any]:
    s.tie_heads(grouped=True)
    config = s.routed("granitemoe", num_local_experts=s.experts, intermediate_size=s.width)
    return _without(config, "head_dim", "num_experts", "moe_intermediate_size")


def _minimax_m2(s: Random) -> dict[str, Any]:
    more = {"num_local_experts": s.experts, "intermediate_size": s.width, "rotary_dim": s.head_dim // 2}
    return _without(s.routed("minimax_m2", **more), "num_experts", "moe_intermediate_size")


_HALF = {"rope_parameters": {"rope_type": "default", "rope_theta": 10000.0, "partial_rotary_factor": 0.5}}
_QUARTER = {"rope_parameters": {"rope_type": "default", "rope_theta": 10000.0, "partial_rotary_factor": 0.25}}
_QUIET = {"resid_pdrop": 0.0, "embd_pdrop": 0.0, "attention_dropout": 0.0}

KINDS: dict[str, Kind] = {
    # norm behind attention and MLP, norms over all queries and keys
    "olmo2": Kind(_tied("olmo2")),
    "olmo": Kind(_tied("olmo")),
    # four norms, rotary on half of a head, gate and up in one matrix
    "glm4": Kind(_free("glm4", **_HALF, attention_bias=True)),
    "glm": Kind(_free("glm", **_HALF, attention_bias=True)),
    "gemma": Kind(_free("gemma")),
    # attention and MLP in parallel behind one norm
    "cohere": Kind(_tied("cohere")),
    "phi": Kind(_tied("phi", grouped=False, **_HALF, **_QUIET), "layer_norm"),
    # plain MLP
    "starcoder2": Kind(_tied("starcoder2", residual_dropout=0.0, embedding_dropout=0.0), "layer_norm"),
    "opt": Kind(_opt, "layer_norm"),
    "nemotron": Kind(_free("nemotron", **_HALF), "layer_norm"),
    "arcee": Kind(_free("arcee")),
    "apertus": Kind(_free("apertus")),
    "stablelm": Kind(_tied("stablelm", **_QUARTER), "layer_norm"),
    # norms on queries and keys
    "exaone4": Kind(_free("exaone4", sliding_window=LONG, sliding_window_pattern=4)),
    "hunyuan_v1_dense": Kind(_free("hunyuan_v1_dense")),
    "ernie4_5": Kind(_free("ernie4_5")),
    # routed experts
    "olmoe": Kind(_olmoe, "routed"),
    "qwen2_moe": Kind(_qwen2_moe, "routed", shared=True),
    "glm4_moe": Kind(_glm4_moe, "routed", shared=True),
    "ernie4_5_moe": Kind(_ernie_moe, "routed", shared=True),
    "granitemoe": Kind(_granite_moe, "routed"),
    "minimax_m2": Kind(_minimax_m2, "routed"),
}


def _ways() -> dict[str, dict[str, Any]]:
    """Settings of the traced step by the key of the way."""
    found: dict[str, dict[str, Any]] = {}
    for checkpointing in ("none", "full", "attention"):
        found[f"full/ckpt_{checkpointing}/flash"] = {"checkpointing": checkpointing}
    for checkpointing in ("none", "full"):
        tail = {"checkpointing": checkpointing}
        for targets in ("all", "attention"):
            lora = {"method": "lora", "lora_targets": targets, **tail}
            found[f"lora/{targets}/fp32/ckpt_{checkpointing}/flash"] = lora
        found[f"full/ckpt_{checkpointing}/eager"] = {**tail, "attention": "eager"}
        found[f"lora/all/bf16/ckpt_{checkpointing}/flash"] = {"method": "lora", "lora_dtype": "bf16", **tail}
        mixed = {"param_dtype": "fp32", "autocast": True, **tail}
        found[f"full/fp32_autocast/ckpt_{checkpointing}/flash"] = mixed
        found[f"lora/all/autocast/ckpt_{checkpointing}/flash"] = {"method": "lora", "autocast": True, **tail}
        found[f"qlora/all/fp32/ckpt_{checkpointing}/flash"] = {"method": "qlora", **tail}
        found[f"qlora/all/bf16/ckpt_{checkpointing}/flash"] = {"method": "qlora", "lora_dtype": "bf16", **tail}
        found[f"qlora/all/autocast/ckpt_{checkpointing}/flash"] = {"method": "qlora", "autocast": True, **tail}
        prepared = {"method": "qlora", "autocast": True, "kbit_prepare": True, **tail}
        found[f"qlora/all/autocast/kbit_prepare/ckpt_{checkpointing}/flash"] = prepared
        found[f"lora/qv/fp32/ckpt_{checkpointing}/flash"] = {"method": "lora", "lora_targets": "qv", **tail}
        dropped = {"method": "lora", "lora_dtype": "bf16", "lora_dropout": 0.05, **tail}
        found[f"lora/all/bf16/dropout/ckpt_{checkpointing}/flash"] = dropped
    return found


WAYS = _ways()


def ways_of(kind: str) -> list[str]:
    """Keys of the ways in which a kind is traced."""
    group = KINDS[kind].group
    skipped: tuple[str, ...] = ()
    if group == "layer_norm":
        skipped = ("autocast",)
    elif group == "routed":  # stacked experts stay in 16 bits; "all" adapters are those of attention
        skipped = ("qlora", "fp32_autocast", "qv", "lora/attention")
    return [key for key in WAYS if not any(s in key for s in skipped)]
