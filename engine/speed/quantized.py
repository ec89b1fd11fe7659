"""Bytes of a stored weight by format, and what turning it back into 16 bits costs."""

from __future__ import annotations

from collections.abc import Mapping

from engine.layout.model import WeightQuantization

__all__ = ["dequantization_bytes", "stored_bytes"]

#: Bits per quantised weight with its scales. nf4/fp4: 4 + 32/64 (double: 4 + 8/64 + 32/16384), QLoRA, arXiv:2305.14314;
#: mxfp4: 4 + 8/32, OCP MX specification 1.0; gptq/awq: group of 128 with 16-bit scale and 4-bit zero, arXiv:2210.17323;
#: GGUF: block layouts of ggml (bytes per block of 256 or 32, mixtures for _m as reported by llama.cpp's quantize).
_BITS: Mapping[WeightQuantization, float] = {
    "none": 16.0, "nf4": 4.5, "nf4-dq": 4.127, "fp4": 4.5, "int8": 8.03, "int4": 4.25, "gptq4": 4.16, "awq4": 4.16,
    "fp8": 8.0, "mxfp4": 4.25, "q2_k": 3.0, "q3_k_m": 3.91, "q4_0": 4.5, "q4_k_m": 4.85, "q5_k_m": 5.69,
    "q6_k": 6.56, "q8_0": 8.5,
}  # fmt: skip
#: Formats whose matrices are expanded to 16 bits before each product in training.
_EXPANDED: frozenset[WeightQuantization] = frozenset({"nf4", "nf4-dq", "fp4", "int4", "gptq4", "awq4", "mxfp4"})


def stored_bytes(quantization: WeightQuantization) -> float:
    """Bytes of one quantised weight, scales included."""
    return _BITS[quantization] / 8


def dequantization_bytes(quantization: WeightQuantization) -> float:
    """Bytes read and written to expand one stored weight to 16 bits for a pass; 0 where products read it as it is."""
    return stored_bytes(quantization) + 2.0 if quantization in _EXPANDED else 0.0
