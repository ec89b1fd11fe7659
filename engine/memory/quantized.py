"""Bytes of weights in quantised formats, and which weights a format leaves alone."""

from __future__ import annotations

from dataclasses import dataclass

from engine.memory.shape import Shape
from engine.quantity import Bounds, Number

__all__ = ["FORMATS", "WeightFormat", "linear_bytes", "model_bits_per_weight", "unquantised_bytes_per_element"]


@dataclass(frozen=True, slots=True)
class WeightFormat:
    """A storage format of weights.

    `bits` is stored bits for one element of a quantised matrix, scales included. `whole_model` says that embedding
    and head are quantised too and that `bits` is an average over all weights (GGUF files mix formats by tensor).
    `per_matrix` bytes come with every matrix. `spread` is the relative uncertainty of `bits` between models.
    """

    bits: float
    source: str
    whole_model: bool = False
    experts: bool = True  # experts stacked in one tensor are quantised too
    per_matrix: float = 0.0
    spread: float = 0.0


_BITSANDBYTES = "bitsandbytes 0.50 layout: 4 bits and one scale for 64 elements (traced); arXiv:2305.14314"
_GGUF = "llama.cpp tools/quantize/README.md: bits per weight of Llama-3.1-8B, all tensors"

#: Formats by `WeightQuantization`.
FORMATS: dict[str, WeightFormat] = {
    "none": WeightFormat(16.0, "16-bit weights"),
    "fp8": WeightFormat(8.0, "one byte, one scale a matrix or channel", spread=0.01),
    "int8": WeightFormat(8.0, "LLM.int8(), arXiv:2208.07339: one byte, a scale a row", experts=False, spread=0.01),
    "nf4": WeightFormat(4.5, _BITSANDBYTES, experts=False, per_matrix=64.0),
    "nf4-dq": WeightFormat(4.0 + 8 / 64 + 32 / (64 * 256), _BITSANDBYTES, experts=False, per_matrix=1092.0),
    "fp4": WeightFormat(4.5, _BITSANDBYTES, experts=False, per_matrix=64.0),
    "int4": WeightFormat(4.25, "4 bits, a 16-bit scale and zero point for 64 to 128 elements", spread=0.04),
    "gptq4": WeightFormat(4.156, "GPTQ, groups of 128: 16-bit scale, 4-bit zero point (arXiv:2210.17323)", spread=0.02),
    "awq4": WeightFormat(4.156, "AWQ, groups of 128: 16-bit scale, 4-bit zero point (arXiv:2306.00978)", spread=0.02),
    "mxfp4": WeightFormat(4.25, "OCP MX v1.0: 4 bits and an 8-bit scale for 32 elements"),
    "q2_k": WeightFormat(3.1593, _GGUF, whole_model=True, spread=0.06),
    "q3_k_m": WeightFormat(4.00, "size of published Llama-3.1-8B files, 4.02 GB", whole_model=True, spread=0.04),
    "q4_0": WeightFormat(4.64, "size of published Llama-3.1-8B files, 4.66 GB", whole_model=True, spread=0.04),
    "q4_k_m": WeightFormat(4.8944, _GGUF, whole_model=True, spread=0.03),
    "q5_k_m": WeightFormat(5.7036, _GGUF, whole_model=True, spread=0.03),
    "q6_k": WeightFormat(6.5633, _GGUF, whole_model=True, spread=0.01),
    "q8_0": WeightFormat(8.5008, _GGUF, whole_model=True, spread=0.005),
}


def linear_bytes(elements: Number, matrices: Number, quantization: str) -> Bounds:
    """Bytes of the quantised matrices: elements * bits / 8 + matrices * per_matrix."""
    one = FORMATS[quantization]
    stored = elements * one.bits / 8
    return Bounds.around(stored, 1 - one.spread, 1 + one.spread) + matrices * one.per_matrix


def unquantised_bytes_per_element(quantization: str, *, kbit_preparation: bool, base: float) -> float:
    """Bytes an element of embedding, head and norms: 16 bits, or 32 after PEFT's k-bit preparation."""
    return 4.0 if kbit_preparation and quantization != "none" else base


def model_bits_per_weight(shape: Shape, quantization: str, *, experts_quantised: bool = True) -> float:
    """Average stored bits of a weight of the whole model, for speed and download size."""
    one = FORMATS[quantization]
    if one.whole_model or quantization == "none":
        return one.bits
    quantised = shape.linear + (shape.experts if experts_quantised or one.experts else 0)
    return (quantised * one.bits + (shape.total - quantised) * 16) / shape.total
