"""Which derived memory factors apply to a model: the kind of its transformer block."""

from __future__ import annotations

__all__ = ["block_kind"]

#: Hugging Face `model_type` -> kind of block with derived factors. Only where the block computes the same thing.
_KIND_OF_TYPE = {
    "llama": "llama",
    "mistral": "llama",
    "ministral": "llama",
    "smollm3": "llama",
    "granite": "llama",
    "aquila": "llama",
    "yi": "llama",
    "internlm3": "llama",
    "exaone": "llama",
    "seed_oss": "qwen2",
    "qwen2": "qwen2",
    "qwen3": "qwen3",
    "qwen3_moe": "qwen3_moe",
    "gemma2": "gemma2",
    "gemma3_text": "gemma3_text",
    "gemma3": "gemma3_text",
    "phi3": "phi3",
    "gpt_neox": "gpt_neox",
    "gpt2": "gpt2",
    "mixtral": "mixtral",
    "gpt_oss": "gpt_oss",
    "deepseek_v2": "deepseek_v3",
    "deepseek_v3": "deepseek_v3",
    "kimi_k2": "deepseek_v3",
    "glm4_moe_lite": "deepseek_v3",
    "olmo": "olmo",
    "olmo2": "olmo2",
    "olmo3": "olmo2",
    "gemma": "gemma",
    "cohere": "cohere",
    "cohere2": "cohere",
    "glm": "glm",
    "glm4": "glm4",
    "phi": "phi",
    "starcoder2": "starcoder2",
    "opt": "opt",
    "nemotron": "nemotron",
    "arcee": "arcee",
    "apertus": "apertus",
    "stablelm": "stablelm",
    "exaone4": "exaone4",
    "hunyuan_v1_dense": "hunyuan_v1_dense",
    "ernie4_5": "ernie4_5",
    "ernie4_5_moe": "ernie4_5_moe",
    "olmoe": "olmoe",
    "qwen2_moe": "qwen2_moe",
    "glm4_moe": "glm4_moe",
    "granitemoe": "granitemoe",
    "minimax_m2": "minimax_m2",
    "dots1": "dots1",
    "phimoe": "phimoe",
}


def block_kind(model_type: str) -> str:
    """Kind of block of a `model_type`; "" where no derived factors apply and first principles are used."""
    return _KIND_OF_TYPE.get(model_type.lower(), "")
