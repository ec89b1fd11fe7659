"""Cached elements while generating: keys and values of full and windowed layers, and recurrent states."""

from __future__ import annotations

from dataclasses import dataclass

from engine.architecture.linears import HEAVY_RATIO, LIGHT_RATIO, attention_groups, extra_count
from engine.architecture.model import Architecture

__all__ = ["CacheElements", "cache_elements"]


@dataclass(frozen=True, slots=True)
class CacheElements:
    """Elements per token that grow with the sequence, those that stop at the window, and those of a whole sequence."""

    per_token_full: int
    per_token_window: int
    per_sequence: int


def cache_elements(arch: Architecture) -> CacheElements:
    """Elements to keep for one sequence: full x tokens + window x min(tokens, window) + states.

    Latent attention (arXiv:2405.04434) caches its compressed vector and the rotary part once for all heads, plus index
    keys. Keys that double as values are cached twice, as serving software does today.
    """
    if arch.extra.get("attn") == "v4":
        return _compressed_elements(arch)
    full = window = 0
    for group in attention_groups(arch):
        if arch.mla_kv_lora_rank:
            elements = group.layers * (arch.mla_kv_lora_rank + arch.mla_qk_rope_head_dim)
        else:
            kept = extra_count(arch, "kv_layers_swa" if group.window else "kv_layers_full", group.key_layers)
            elements = kept * group.kv_heads * (group.qk_dim + group.v_dim)
        if group.window:
            window += elements
        else:
            full += elements
    index_layers = extra_count(arch, "m3_idx_layers") or extra_count(arch, "idx_layers", arch.full_attention_layers)
    full += index_layers * extra_count(arch, "idx_dim")
    return CacheElements(full, window, _state_elements(arch))


def _compressed_elements(arch: Architecture) -> CacheElements:
    """DeepSeek-V4: one entry (and index key) for `LIGHT_RATIO` tokens, one for `HEAVY_RATIO`, and a window in full."""
    light, heavy = extra_count(arch, "csa_layers"), extra_count(arch, "hca_layers")
    full = light * (arch.head_dim + extra_count(arch, "idx_dim")) // LIGHT_RATIO + heavy * arch.head_dim // HEAVY_RATIO
    return CacheElements(full, arch.layers * arch.head_dim, 0)


def _state_elements(arch: Architecture) -> int:
    """Recurrent state and the last inputs of the short convolution, for all linear layers of one sequence."""

    def size(name: str, default: int = 0) -> int:
        return extra_count(arch, f"lin_{name}", default)

    past = max(size("conv") - 1, 0)
    match arch.extra.get("lin"):
        case "gdn" | "gdn_split":
            values = size("nv") * size("dv")
            state, channels = values * size("dk"), 2 * size("nk") * size("dk") + values
        case "kda":
            width = size("nk") * size("dk")
            state, channels = width * size("dk"), 3 * width
        case "mamba1":
            state, channels = size("inner") * size("state"), size("inner")
        case "mamba2":
            inner = size("nh") * size("hd")
            state, channels = inner * size("state"), inner + 2 * size("groups", 1) * size("state")
        case "shortconv":
            state, channels = 0, arch.hidden_size
        case "lightning":
            state, channels = arch.attention_heads * arch.head_dim**2, 0
        case _:
            return 0
    return arch.linear_layers * (state + channels * past)
