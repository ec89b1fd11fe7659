"""Older and terser configurations, put into the words of their present ones.

Each follows the public modelling code of the type: another name of the type, other names or meanings of keys, and
values that the code takes where a file leaves them out.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

__all__ = ["translated"]

#: Former names of a type.
_TYPES = {"phi-msft": "phi", "mixformer-sequential": "phi", "hf_olmo": "olmo"}
#: Values that stand in the modelling code alone (transformers, Gemma3TextConfig).
_DEFAULTS: Mapping[str, Mapping[str, Any]] = {
    "gemma3_text": {
        "vocab_size": 262_208, "num_attention_heads": 8, "num_key_value_heads": 4, "head_dim": 256,
        "max_position_embeddings": 131_072,
    },
}  # fmt: skip


def translated(values: Mapping[str, Any]) -> dict[str, Any]:
    """The same configuration with the keys that are read here."""
    found = dict(values)
    kind = str(found.get("model_type") or "").lower()
    if kind in _DIALECTS:
        found |= _DIALECTS[kind](found)
    if kind in _TYPES:
        found["model_type"] = _TYPES[kind]
    for key, value in _DEFAULTS.get(kind, {}).items():
        if found.get(key) is None:
            found[key] = value
    return found


def _qwen(values: Mapping[str, Any]) -> dict[str, Any]:
    """The first Qwen states the width of gate and up projection together."""
    width = values.get("intermediate_size")
    return {"intermediate_size": width // 2} if isinstance(width, int) and not isinstance(width, bool) else {}


def _olmo(values: Mapping[str, Any]) -> dict[str, Any]:
    """OLMo before Transformers took it over: ratios instead of widths, a table padded beyond its vocabulary."""
    width, ratio = values.get("d_model"), values.get("mlp_ratio")
    found: dict[str, Any] = {"tie_word_embeddings": values.get("weight_tying", True)}
    if isinstance(width, int) and isinstance(ratio, int):
        gated = str(values.get("activation_type") or "swiglu") == "swiglu"
        found["intermediate_size"] = values.get("mlp_hidden_size") or (width * ratio // 2 if gated else width * ratio)
        if values.get("mlp_hidden_size") and gated and isinstance(values["mlp_hidden_size"], int):
            found["intermediate_size"] = values["mlp_hidden_size"] // 2
    if values.get("embedding_size"):
        found["vocab_size"] = values["embedding_size"]
    return found


def _phi3_small(values: Mapping[str, Any]) -> dict[str, Any]:
    """Widths under names of its own; its activation gates, and everything has a bias."""
    return {
        "intermediate_size": values.get("ff_intermediate_size"),
        "hidden_act": "gelu",
        "attention_bias": True,
        "mlp_bias": True,
    }


_DIALECTS: Mapping[str, Callable[[Mapping[str, Any]], dict[str, Any]]] = {
    "qwen": _qwen,
    "hf_olmo": _olmo,
    "phi3small": _phi3_small,
}
