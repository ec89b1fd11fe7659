"""The dimensions of a model from the metadata of its GGUF file, through the reader of `config.json`.

The keys are those of llama.cpp (gguf-py/gguf/constants.py); they are put under the names that the model's own
configuration uses, so that what a type implies without saying stands in one place only.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from engine.architecture.config_reader import architecture_from_config
from engine.architecture.gguf import GgufHeader
from engine.architecture.model import Architecture
from engine.errors import InputError

__all__ = ["FILE_TYPES", "architecture_from_gguf", "gguf_format"]

#: llama.cpp's name of an architecture -> `model_type`; others have the same name, or are unknown and said to be.
_TYPES = {
    "gptneox": "gpt_neox", "starcoder": "gpt_bigcode", "command-r": "cohere", "phi2": "phi", "qwen2moe": "qwen2_moe",
    "qwen2vl": "qwen2_vl_text", "qwen3moe": "qwen3_moe", "qwen3next": "qwen3_next", "qwen35": "qwen3_5_text",
    "qwen35moe": "qwen3_5_moe_text", "qwen3vl": "qwen3_vl_text", "qwen3vlmoe": "qwen3_vl_moe_text",
    "gemma3": "gemma3_text", "glm4moe": "glm4_moe", "grok": "grok-1", "deepseek2": "deepseek_v3",
    "bailingmoe": "bailing_moe", "bailingmoe2": "bailing_moe_v2", "ernie4_5-moe": "ernie4_5_moe",
    "falcon-h1": "falcon_h1", "hunyuan-moe": "hunyuan_v1_moe", "hunyuan-dense": "hunyuan_v1_dense",
    "gpt-oss": "gpt_oss", "lfm2moe": "lfm2_moe", "minimax-m2": "minimax_m2", "mimo2": "mimo_v2_flash",
    "exaone-moe": "exaone_moe",
}  # fmt: skip
#: Recurrent or unusual blocks whose sizes the metadata does not give under keys that are read here.
_NOT_READ = frozenset({
    "rwkv6", "rwkv6qwen2", "rwkv7", "arwkv7", "jamba", "plamo2", "nemotron_h", "nemotron_h_moe", "granitehybrid",
    "qwen3next", "qwen35", "qwen35moe", "falcon-h1", "mamba", "mamba2", "lfm2", "lfm2moe", "kimi-linear", "gemma3n",
    "gemma4", "openelm", "deci", "glm-dsa", "t5", "t5encoder", "bert", "modern-bert", "nomic-bert", "nomic-bert-moe",
    "jina-bert-v2", "jina-bert-v3", "neo-bert", "clip", "wavtokenizer-dec",
})  # fmt: skip
#: Key after the architecture's name -> key of a configuration.
_KEYS = {
    "embedding_length": "hidden_size", "block_count": "num_hidden_layers", "context_length": "max_position_embeddings",
    "attention.head_count": "num_attention_heads", "attention.head_count_kv": "num_key_value_heads",
    "attention.sliding_window": "sliding_window", "expert_used_count": "num_experts_per_tok",
    "expert_feed_forward_length": "moe_intermediate_size", "expert_shared_count": "n_shared_experts",
    "expert_shared_feed_forward_length": "shared_expert_intermediate_size",
    "leading_dense_block_count": "first_k_dense_replace", "attention.q_lora_rank": "q_lora_rank",
    "attention.kv_lora_rank": "kv_lora_rank", "nextn_predict_layers": "num_nextn_predict_layers",
}  # fmt: skip
#: `general.file_type` -> name of the format (llama.h, enum llama_ftype).
FILE_TYPES = {
    0: "F32", 1: "F16", 2: "Q4_0", 3: "Q4_1", 7: "Q8_0", 8: "Q5_0", 9: "Q5_1", 10: "Q2_K", 11: "Q3_K_S", 12: "Q3_K_M",
    13: "Q3_K_L", 14: "Q4_K_S", 15: "Q4_K_M", 16: "Q5_K_S", 17: "Q5_K_M", 18: "Q6_K", 19: "IQ2_XXS", 20: "IQ2_XS",
    21: "Q2_K_S", 22: "IQ3_XS", 23: "IQ3_XXS", 24: "IQ1_S", 25: "IQ4_NL", 26: "IQ3_S", 27: "IQ3_M", 28: "IQ2_S",
    29: "IQ2_M", 30: "IQ4_XS", 31: "IQ1_M", 32: "BF16", 36: "TQ1_0", 37: "TQ2_0", 38: "MXFP4", 39: "NVFP4",
}  # fmt: skip


def architecture_from_gguf(header: GgufHeader, where: str, *, name: str) -> Architecture:
    """The dimensions that the metadata state; `InputError` names the fact that is missing."""
    kind = str(header.pairs.get("general.architecture") or "")
    if not kind:
        raise InputError("model.missing_key", file=where, key="general.architecture")
    if kind in _NOT_READ:
        raise InputError("model.gguf_architecture", file=where, architecture=kind[:40])
    return architecture_from_config(_config(header, kind), where, name=name)


def _config(header: GgufHeader, kind: str) -> dict[str, Any]:
    pairs, shapes = header.pairs, header.shapes
    own = {k.removeprefix(f"{kind}."): v for k, v in pairs.items() if k.startswith(f"{kind}.")}
    config: dict[str, Any] = {"model_type": _TYPES.get(kind, kind), "dtype": "bfloat16"}
    config |= {there: own[here] for here, there in _KEYS.items() if own.get(here) is not None}
    embedding = shapes.get("token_embd.weight", ())
    vocabulary = own.get("vocab_size") or header.lengths.get("tokenizer.ggml.tokens")
    config["vocab_size"] = embedding[1] if len(embedding) == 2 else vocabulary
    if kind == "llama" and own.get("expert_count"):
        config["model_type"] = "mixtral"
    if own.get("expert_count"):
        config["num_experts"] = own["expert_count"]
    _widths(config, own)
    _heads(config, own)
    if shapes:
        config |= _told_by_tensors(shapes)
    if config["model_type"] == "deepseek_v3" and not any("exp_probs_b" in name for name in shapes):
        config["model_type"] = "deepseek_v2"  # no correction of the router's scores
    if config["model_type"] == "falcon" and config.get("num_key_value_heads") not in (None, 1):
        config["n_head_kv"] = config["num_key_value_heads"]
    layers = config.get("num_hidden_layers")
    further = config.pop("num_nextn_predict_layers", 0)
    if isinstance(layers, int) and isinstance(further, int) and 0 < further < layers:
        config["num_hidden_layers"] = layers - further  # llama.cpp counts them among the blocks
    return config


def _told_by_tensors(shapes: Mapping[str, tuple[int, ...]]) -> dict[str, Any]:
    """What the metadata leave out and the names of the tensors tell."""
    output = "blk.0.attn_output.bias" in shapes
    queries = "blk.0.attn_q.bias" in shapes or "blk.0.attn_qkv.bias" in shapes
    return {
        "tie_word_embeddings": "output.weight" not in shapes,
        "attention_bias": output,
        "add_qkv_bias": queries and not output,
        "mlp_bias": "blk.0.ffn_up.bias" in shapes,
    }


def _widths(config: dict[str, Any], own: Mapping[str, Any]) -> None:
    width = own.get("feed_forward_length")
    if width is not None:
        config["intermediate_size"] = width
        if config["model_type"] in ("llama4", "llama4_text"):
            config |= {"intermediate_size_mlp": width, "intermediate_size": own.get("expert_feed_forward_length")}
    step = own.get("interleave_moe_layer_step")
    if step:
        config["interleave_moe_layer_step"] = step


def _heads(config: dict[str, Any], own: Mapping[str, Any]) -> None:
    key, value = own.get("attention.key_length_mla"), own.get("attention.value_length_mla")
    if config.get("kv_lora_rank"):  # older files keep the widths of one head under the plain keys
        key = key or own.get("attention.key_length") or 0
        rope = own.get("rope.dimension_count") or 0
        if isinstance(key, int) and isinstance(rope, int):
            config |= {"qk_rope_head_dim": rope, "qk_nope_head_dim": key - rope}
        config["v_head_dim"] = value or own.get("attention.value_length")
        config["num_key_value_heads"] = config.get("num_attention_heads")
    elif own.get("attention.key_length") is not None:
        config["head_dim"] = own["attention.key_length"]


def gguf_format(header: GgufHeader) -> str:
    """Name of the file's format: what it states, else the type of most of its bytes."""
    stated = header.pairs.get("general.file_type")
    if isinstance(stated, int) and stated in FILE_TYPES:
        return FILE_TYPES[stated]
    kinds = header.tensors.stored
    return kinds[0].dtype if kinds else ""
