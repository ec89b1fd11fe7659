"""Random shapes of further kinds of block, as arguments of their transformers configs, and the ways to trace them."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import product
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
        self.per_token, self.experts, self.width = 2, 16, 256
        self.shared = rng.choice([1, 2, 3])
        self.rank, self.query_rank = rng.choice([128, 192, 256, 512]), rng.choice([160, 224, 320, 448])
        self.plain, self.rotary, value = rng.choice([64, 96, 128]), rng.choice([32, 64]), rng.choice([64, 96, 128])
        self.value = min(value, self.plain + self.rotary)  # the attention kernel takes no wider values than keys

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
    #: dense | layer_norm (no autocast: the tracer's list of operators differs) | routed | latent | reference
    group: str = "dense"
    layers: str = "num_hidden_layers"
    shared: bool = False
    #: experts per token to choose from, and the width of an expert as a part of the hidden width: as the kind has them
    routing: tuple[tuple[int, ...], float, float] = ((6, 8, 10), 0.3, 0.75)

    def draw(self, rng: random.Random) -> tuple[Random, dict[str, Any]]:
        """A shape, and the arguments of its config but for the number of layers."""
        shape = Random(rng)
        if self.group in ("routed", "latent"):
            choices, narrow, wide = self.routing
            shape.per_token = rng.choice(choices)
            shape.experts = rng.choice([16, 32, 64])
            shape.width = max(int(shape.hidden * rng.uniform(narrow, wide) / 32), 2) * 32
        return shape, self.config(shape)

    def widths(self, s: Random) -> dict[str, float]:
        """Symbols of the factors and their values, most telling first."""
        found: dict[str, float] = {"h": s.hidden, "f": s.inner, "a": s.heads * s.head_dim, "k": s.kv_heads * s.head_dim}
        found |= {"hq": s.heads, "d": s.head_dim, "1": 1}
        if self.group == "latent":
            found = {"h": s.hidden, "f": 0, "q": s.heads * (s.plain + s.rotary), "v": s.heads * s.value}
            found |= {"n": s.heads * s.plain, "rk": s.rank, "rq": s.query_rank, "hq": s.heads, "dr": s.rotary, "1": 1}
        if self.group in ("routed", "latent"):
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


_HALF: dict[str, Any] = {
    "rope_parameters": {"rope_type": "default", "rope_theta": 10000.0, "partial_rotary_factor": 0.5}
}
_QUARTER: dict[str, Any] = {
    "rope_parameters": {"rope_type": "default", "rope_theta": 10000.0, "partial_rotary_factor": 0.25}
}
_QUIET: dict[str, Any] = {"resid_pdrop": 0.0, "embd_pdrop": 0.0, "attention_dropout": 0.0}


def _neox(s: Random) -> dict[str, Any]:
    s.tie_heads(grouped=False)
    return _without(s.dense("gpt_neox"), "num_key_value_heads", "head_dim")


def _gpt2(s: Random) -> dict[str, Any]:
    s.tie_heads(grouped=False)
    config = s.dense(
        "gpt2", n_embd=s.hidden, n_inner=s.inner, n_head=s.heads, n_positions=LONG, **_QUIET, attn_pdrop=0.0
    )
    names = ("hidden_size", "intermediate_size", "num_attention_heads", "num_key_value_heads", "head_dim")
    return _without(config, *names, "max_position_embeddings", "attention_dropout")


def _opt(s: Random) -> dict[str, Any]:
    s.tie_heads(grouped=False)
    config = s.dense("opt", ffn_dim=s.inner, dropout=0.0, word_embed_proj_dim=s.hidden)
    return _without(config, "intermediate_size", "num_key_value_heads", "head_dim")


def _glm4_moe(s: Random, *, norms: bool = False) -> dict[str, Any]:
    more = {"n_routed_experts": s.experts, "n_shared_experts": s.shared, "first_k_dense_replace": 0}
    return _without(s.routed("glm4_moe", **more, n_group=1, topk_group=1, use_qk_norm=norms, **_HALF), "num_experts")


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


def _latent(s: Random) -> dict[str, Any]:
    config = s.routed(
        "deepseek_v3", n_routed_experts=s.experts, n_shared_experts=s.shared, n_group=1, topk_group=1,
        q_lora_rank=s.query_rank, kv_lora_rank=s.rank, qk_nope_head_dim=s.plain, qk_rope_head_dim=s.rotary,
        v_head_dim=s.value, first_k_dense_replace=0, num_key_value_heads=s.heads,
    )  # fmt: skip
    return _without(config, "head_dim", "num_experts")


def _latent_without_query_rank(s: Random) -> dict[str, Any]:
    s.query_rank = 0
    return {**_latent(s), "q_lora_rank": None}


def _dots(s: Random) -> dict[str, Any]:
    config = s.routed("dots1", n_routed_experts=s.experts, n_shared_experts=s.shared, first_k_dense_replace=0)
    return _without({**config, "n_group": 1, "topk_group": 1, "sliding_window": None}, "num_experts")


def _phimoe(s: Random) -> dict[str, Any]:
    s.tie_heads(grouped=True)
    return {**_without(_local("phimoe")(s), "head_dim"), "sliding_window": None}


def _local(kind: str) -> Config:
    def config(s: Random) -> dict[str, Any]:
        made = s.routed(kind, num_local_experts=s.experts, intermediate_size=s.width)
        return _without(made, "num_experts", "moe_intermediate_size")

    return config


def _granite_moe(s: Random) -> dict[str, Any]:
    s.tie_heads(grouped=True)
    config = s.routed("granitemoe", num_local_experts=s.experts, intermediate_size=s.width)
    return _without(config, "head_dim", "num_experts", "moe_intermediate_size")


def _minimax_m2(s: Random) -> dict[str, Any]:
    more = {"num_local_experts": s.experts, "intermediate_size": s.width, "rotary_dim": s.head_dim // 2}
    return _without(s.routed("minimax_m2", **more), "num_experts", "moe_intermediate_size")


KINDS: dict[str, Kind] = {
    "llama": Kind(_free("llama"), "reference"),
    "qwen3": Kind(_free("qwen3")),
    "gemma2": Kind(_free("gemma2", sliding_window=LONG)),
    "gemma3_text": Kind(_free("gemma3_text", sliding_window=LONG)),
    "phi3": Kind(_tied("phi3", sliding_window=None)),
    "gpt_neox": Kind(_neox, "layer_norm"),
    "gpt2": Kind(_gpt2, "layer_norm", layers="n_layer"),
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
    "glm4_moe_qk": Kind(partial(_glm4_moe, norms=True), "routed", shared=True),
    "mixtral": Kind(_local("mixtral"), "routed", routing=((1, 2, 3), 2.5, 4.0)),
    "qwen3_moe": Kind(lambda s: s.routed("qwen3_moe"), "routed"),
    "gpt_oss": Kind(_local("gpt_oss"), "routed", routing=((3, 4, 5), 0.7, 1.3)),
    # latent attention, without and with low-rank queries
    "deepseek_v3": Kind(_latent_without_query_rank, "latent", shared=True),
    "deepseek_v3_q": Kind(_latent, "latent", shared=True),
    "exaone": Kind(_free("exaone")),
    "dots1": Kind(_dots, "routed", shared=True),
    "phimoe": Kind(_phimoe, "routed", routing=((1, 2, 3), 1.2, 2.0)),
}


def _ways() -> dict[str, dict[str, Any]]:
    """Settings of the traced step by the key of the way, those that tell most first."""
    found: dict[str, dict[str, Any]] = {}
    for recomputed in ("none", "full", "attention"):
        found[f"full/ckpt_{recomputed}/flash"] = {"checkpointing": recomputed}
    for recomputed in ("none", "full"):
        tail = {"checkpointing": recomputed}
        found[f"full/ckpt_{recomputed}/eager"] = {**tail, "attention": "eager"}
        found[f"full/fp32_autocast/ckpt_{recomputed}/flash"] = {**tail, "param_dtype": "fp32", "autocast": True}
    precisions = {"fp32": {}, "bf16": {"lora_dtype": "bf16"}, "autocast": {"autocast": True}}
    for method, targets, (name, precision), dropout, kbit, recomputed in product(
        ("lora", "qlora"), ("all", "attention", "qv"), precisions.items(), (0.0, 0.05), (False, True), ("none", "full")
    ):
        if kbit and (method == "lora" or name != "autocast"):
            continue
        key = "/".join([method, targets, name, *["dropout"] * bool(dropout), *["kbit_prepare"] * kbit])
        settings = {"method": method, "lora_targets": targets, **precision, "checkpointing": recomputed}
        settings |= {"lora_dropout": dropout} if dropout else {}
        settings |= {"kbit_prepare": True} if kbit else {}
        found[f"{key}/ckpt_{recomputed}/flash"] = settings
        if targets == "all" and not dropout and not kbit:
            found[f"{key}/ckpt_{recomputed}/eager"] = {**settings, "attention": "eager"}
    return found


WAYS = _ways()


def ways_of(kind: str) -> list[str]:
    """Keys of the ways in which a kind is traced: all for the kind whose differences are carried over to others."""
    group = KINDS[kind].group
    if group == "reference":
        return list(WAYS)
    skipped = ["lora/attention/bf16", "lora/attention/autocast", "qlora/attention", "qlora/qv", "qv/bf16", "qv/auto"]
    skipped += ["fp32/dropout", "autocast/dropout", "qlora/all/bf16/dropout"]
    if group == "layer_norm":
        skipped += ["autocast"]
    elif group in ("routed", "latent"):  # stacked experts stay in 16 bits; "all" adapters are those of attention
        skipped += ["qlora", "fp32_autocast", "qv", "lora/attention"]
    ways = [key for key in WAYS if not any(s in key for s in skipped)]
    return [k for k in ways if not k.endswith("eager") or k.startswith(("full", "lora/all/fp32"))]
