"""Bytes of the key-value cache while generating."""

from __future__ import annotations

import numpy as np

from engine.architecture.model import Architecture
from engine.quantity import Number

__all__ = ["STATE_BYTES", "kv_cache_bytes", "kv_elements"]

#: States of linear and state-space layers are kept in 32 bits by serving software (model table, cache notes).
STATE_BYTES = 4.0


def kv_elements(arch: Architecture, sequence_length: Number) -> tuple[Number, float]:
    """Cached elements of one sequence: those that are keys and values, and those of recurrent states.

    full * tokens + window * min(tokens, window) + states. Grouped heads and the compressed vectors of latent
    attention are counted as they are cached (arXiv:2305.13245, arXiv:2405.04434).
    """
    per_token, windowed = arch.kv_elements_per_token_full, arch.kv_elements_per_token_window
    if not per_token and not windowed and arch.kv_heads:
        heads = 2 * arch.kv_heads * arch.head_dim
        if arch.mla_kv_lora_rank:
            heads = arch.mla_kv_lora_rank + arch.mla_qk_rope_head_dim
        full = arch.full_attention_layers or (arch.layers - arch.sliding_window_layers - arch.linear_layers)
        per_token, windowed = heads * full, heads * arch.sliding_window_layers
    seen = np.minimum(sequence_length, arch.sliding_window) if arch.sliding_window else sequence_length
    return per_token * sequence_length + windowed * seen, float(arch.state_elements_per_sequence)


def kv_cache_bytes(
    arch: Architecture, *, sequence_length: Number, sequences: Number, element_bits: Number = 16
) -> Number:
    """Bytes of the cache of one whole replica: sequences * (elements * bits / 8 + states * 4).

    `element_bits` is that of the cache, not of the weights: 16, 8, or 4; 8- and 4-bit caches are given with their
    scales (one 16-bit scale for 32 elements at 4 bits and for 8 bits as GGUF stores it; FP8 caches have none).
    """
    elements, states = kv_elements(arch, sequence_length)
    return sequences * (elements * element_bits / 8 + states * STATE_BYTES)
