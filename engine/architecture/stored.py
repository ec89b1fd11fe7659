"""The number format in which a model's file holds it, as formats of weights are named here."""

from __future__ import annotations

from engine.architecture.model import Architecture

__all__ = ["own_format", "stored_bits"]

#: Beginning of a GGUF format's name -> the modelled format whose kernels and layout are nearest. Sizes do not follow
#: from it: they are those of the file.
_NEAREST = (
    ("iq1", "q2_k"), ("iq2", "q2_k"), ("q2", "q2_k"), ("tq", "q2_k"), ("iq3", "q3_k_m"), ("q3", "q3_k_m"),
    ("iq4", "q4_0"), ("q4_0", "q4_0"), ("q4_1", "q4_0"), ("q4_k", "q4_k_m"), ("q5", "q5_k_m"), ("q6", "q6_k"),
    ("q8", "q8_0"),
)  # fmt: skip


def own_format(architecture: Architecture) -> str | None:
    """The format that a GGUF file is served in; None where the model was not read from one, or is not quantised."""
    if not architecture.stored_bits:
        return None
    name = architecture.native_dtype.lower()
    return next((kind for start, kind in _NEAREST if name.startswith(start)), None)


def stored_bits(architecture: Architecture, quantization: str) -> float:
    """Average bits of a weight in the file, where weights are served in this very format; else 0."""
    return architecture.stored_bits if own_format(architecture) == quantization else 0.0
