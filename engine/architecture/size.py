"""A plausible model from its size alone; every dimension of it is a guess, and says so."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from engine.architecture.cache import cache_elements
from engine.architecture.model import Architecture
from engine.architecture.parameters import parameters_active, parameters_total
from engine.errors import InputError

__all__ = ["LARGEST_BILLION", "SMALLEST_BILLION", "from_shape", "from_size"]

SMALLEST_BILLION, LARGEST_BILLION = 0.05, 20_000.0

#: (billions of parameters, hidden size, layers) of well-known dense decoders: SmolLM2-135M, Llama 3.2 1B and 3B,
#: Llama 3.1 8B, Qwen2.5-14B and 32B, Llama 3.1 70B and 405B. Sizes between them are interpolated in logarithms.
_SHAPES = (
    (0.135, 576, 30),
    (1.24, 2048, 16),
    (3.21, 3072, 28),
    (8.03, 4096, 32),
    (14.8, 5120, 48),
    (32.8, 5120, 64),
    (70.6, 8192, 80),
    (405.9, 16384, 126),
)
_HEAD_DIM = 128  # of nearly every decoder from 1B on
_KV_HEADS = 8  # usual number with grouped queries
_VOCABULARY, _SMALL_VOCABULARY = 128_000, 49_152  # Llama 3 / SmolLM2, rounded
_TIED_BELOW = 4.0  # billions: smaller models usually share head and embedding
_SMALL_BELOW = 1.0
_GUESSED = (
    "hidden_size", "layers", "attention_heads", "kv_heads", "head_dim", "intermediate_size", "vocabulary_size",
    "tied_embeddings",
)  # fmt: skip


def from_size(parameters_billion: float) -> Architecture:
    """A dense decoder of about this many billion parameters, shaped like well-known ones of its size.

    The MLP width is chosen so that the count comes out right (within 2 %). `basis` is "size", `guessed` lists the rest.
    """
    if not SMALLEST_BILLION <= parameters_billion <= LARGEST_BILLION:
        raise InputError(
            "model.size_out_of_range", value=parameters_billion, smallest=SMALLEST_BILLION, largest=LARGEST_BILLION
        )
    hidden, layers = _shape(parameters_billion)
    small = parameters_billion < _SMALL_BELOW
    head_dim = 64 if small else _HEAD_DIM
    heads = hidden // head_dim
    name = f"{parameters_billion:g}B"
    fields: dict[str, Any] = {
        "id": f"size/{name}",
        "name": name,
        "family": "Generic",
        "basis": "size",
        "block_kind": "llama",
        "hidden_size": hidden,
        "layers": layers,
        "attention_heads": heads,
        "kv_heads": max(k for k in range(1, _KV_HEADS + 1) if heads % k == 0),
        "head_dim": head_dim,
        "vocabulary_size": _SMALL_VOCABULARY if small else _VOCABULARY,
        "tied_embeddings": parameters_billion < _TIED_BELOW,
        "guessed": _GUESSED,
    }
    without_mlp = _counted({**fields, "intermediate_size": 0}).parameters_total
    step = 64 if parameters_billion < _TIED_BELOW else 128
    width = (parameters_billion * 1e9 - without_mlp) / (3 * hidden * layers)
    return _counted({**fields, "intermediate_size": max(step, round(width / step) * step)})


def from_shape(name: str, **dimensions: Any) -> Architecture:
    """An ordinary decoder from the dimensions that a source states; `basis` is "shape"."""
    return _counted({"id": name, "name": name, "basis": "shape", **dimensions})


def _shape(billions: float) -> tuple[int, int]:
    sizes = np.log([s[0] for s in _SHAPES])
    at = math.log(billions)
    hidden = _log_interpolate(at, sizes, [s[1] for s in _SHAPES])
    layers = _log_interpolate(at, sizes, [s[2] for s in _SHAPES])
    unit = 128 if billions < _SMALL_BELOW else 512 if billions < 100 else 1024
    return max(unit, round(hidden / unit) * unit), max(2, round(layers))


def _log_interpolate(at: float, sizes: np.ndarray[Any, Any], values: list[int]) -> float:
    """Between the known shapes; beyond them both width and depth grow with the cube root of the size."""
    logs = np.log(values)
    if at < sizes[0] or at > sizes[-1]:
        end = 0 if at < sizes[0] else -1
        return float(np.exp(logs[end] + (at - sizes[end]) / 3))
    return float(np.exp(np.interp(at, sizes, logs)))


def _counted(fields: dict[str, Any]) -> Architecture:
    draft = Architecture.model_validate({"parameters_total": 1, "parameters_active": 1, **fields})
    cache = cache_elements(draft)
    return draft.model_validate(
        {
            **draft.model_dump(),
            "parameters_total": parameters_total(draft),
            "parameters_active": parameters_active(draft),
            "kv_elements_per_token_full": cache.per_token_full,
            "kv_elements_per_token_window": cache.per_token_window,
            "state_elements_per_sequence": cache.per_sequence,
        }
    )
