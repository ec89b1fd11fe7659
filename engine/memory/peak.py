"""From the moments of a step to one answer: the greatest, and the way from allocated to driver bytes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from engine.memory.moments import Moment
from engine.memory.overheads import MemoryPlatform, overhead_terms
from engine.memory.result import MemoryBlock
from engine.memory.terms import add
from engine.quantity import Bounds, Number, TermBlock

__all__ = ["block_from_moments"]


def block_from_moments(
    moments: Sequence[Moment], platform: MemoryPlatform, *, gpus: Number, fallback: bool, host_bytes: Number
) -> MemoryBlock:
    """The peak is the moment with the greatest expected bytes; the high end is the greatest high of any moment."""
    amounts = [add(m.terms) for m in moments]
    expected = np.stack([np.broadcast_arrays(a.expected, *(b.expected for b in amounts))[0] for a in amounts])
    peak = np.argmax(expected, axis=0)
    shape = expected.shape[1:]
    low, high = (np.stack([np.broadcast_to(getattr(a, n), shape) for a in amounts]) for n in ("low", "high"))
    at_peak_low = np.take_along_axis(low, peak[None], axis=0)[0]
    at_peak = np.take_along_axis(expected, peak[None], axis=0)[0]
    allocated = Bounds(np.minimum(at_peak_low, at_peak), at_peak, np.maximum(high.max(axis=0), at_peak))
    terms = overhead_terms(platform, allocated, gpus)
    reserved = allocated + add([t for t in terms if t.name == "memory.fragmentation"])
    driver = reserved + add([t for t in terms if t.name != "memory.fragmentation"])
    return MemoryBlock(
        allocated=allocated,
        reserved=reserved,
        driver=driver,
        peak_moment=peak,
        moments=tuple((m.label, m.phase, a) for m, a in zip(moments, amounts, strict=True)),
        terms_of_moment=tuple(_joined(m.terms) for m in moments),
        overhead_terms=tuple(terms),
        fallback=fallback,
        host_bytes=host_bytes,
    )


def _joined(terms: Sequence[TermBlock]) -> tuple[TermBlock, ...]:
    """Terms in the order in which people read them."""
    order = {n: i for i, n in enumerate(ORDER)}
    return tuple(sorted(terms, key=lambda t: order.get(t.name, len(order))))


#: Order in which terms are shown everywhere.
ORDER = (
    "memory.weights",
    "memory.adapters",
    "memory.reference_model",
    "memory.optimizer_states",
    "memory.gradients",
    "memory.activations",
    "memory.block_work",
    "memory.logits",
    "memory.kv_cache",
    "memory.cast_copies",
    "memory.gather_buffers",
    "memory.reduce_buffers",
    "memory.step_scratch",
    "memory.inputs",
)
