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
}


def block_kind(model_type: str) -> str:
    """Kind of block of a `model_type`; "" where no derived factors apply and first principles are used."""
    return _KIND_OF_TYPE.get(model_type.lower(), "")
