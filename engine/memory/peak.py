"""From the moments of a step to one answer: the greatest, and the way from allocated to driver bytes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.memory.moments import Moment
from engine.memory.overheads import MemoryPlatform, Parts, overhead_terms, spread_term
from engine.memory.result import MemoryBlock
from engine.memory.terms import add
from engine.quantity import Bounds, Number, TermBlock

__all__ = ["block_from_moments"]


def block_from_moments(
    moments: Sequence[Moment],
    platform: MemoryPlatform,
    *,
    gpus: Number,
    fallback: bool,
    host_bytes: Number,
    eager: bool = False,
) -> MemoryBlock:
    """The peak is the moment with the greatest expected bytes; the high end is the greatest high of any moment."""
    parts = [_parts(m) for m in moments]
    moments = [
        replace(m, terms=(*m.terms, spread_term(platform, p.fixed, _uncertain(m))))
        for m, p in zip(moments, parts, strict=True)
    ]
    amounts = [add(m.terms) for m in moments]
    expected = _stacked([a.expected for a in amounts])
    peak = np.argmax(expected, axis=0)
    shape = expected.shape[1:]
    low, high = (np.stack([np.broadcast_to(getattr(a, n), shape) for a in amounts]) for n in ("low", "high"))

    def at_peak(values: NDArray[Any]) -> NDArray[Any]:
        return np.take_along_axis(values, peak[None], axis=0)[0]

    top = at_peak(expected)
    allocated = Bounds(np.minimum(at_peak(low), top), top, np.maximum(high.max(axis=0), top))
    shares = (at_peak(_stacked([getattr(p, n) for p in parts], shape)) for n in ("fixed", "changing", "cache"))
    terms = overhead_terms(platform, Parts(*shares), gpus, eager=eager)
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


def _stacked(values: Sequence[Number], shape: tuple[int, ...] | None = None) -> NDArray[Any]:
    common = np.broadcast_shapes(*(np.shape(v) for v in values)) if shape is None else shape
    return np.stack([np.broadcast_to(np.asarray(v, dtype=float), common) for v in values])


def _uncertain(moment: Moment) -> Number:
    """Bytes whose size depends on the program: all that comes and goes, but for the gradients, which are known."""
    known = (*FIXED, "memory.kv_cache", "memory.gradients")
    total = add([t for t in moment.terms if t.name not in known]).expected
    return np.maximum(total, 0.0)


def _parts(moment: Moment) -> Parts:
    """Allocated bytes of a moment: what stays for the whole run, the cache, and what comes and goes."""
    fixed: Number = 0.0
    changing: Number = 0.0
    cache: Number = 0.0
    for one in moment.terms:
        if one.name in FIXED:
            fixed = fixed + one.amount.expected
        elif one.name == "memory.kv_cache":
            cache = cache + one.amount.expected
        else:
            changing = changing + one.amount.expected
    return Parts(fixed, np.maximum(changing, 0.0), cache)


def _joined(terms: Sequence[TermBlock]) -> tuple[TermBlock, ...]:
    """Terms in the order in which people read them."""
    order = {n: i for i, n in enumerate(ORDER)}
    return tuple(sorted(terms, key=lambda t: order.get(t.name, len(order))))


#: Terms that are allocated once and stay.
FIXED = frozenset({"memory.weights", "memory.adapters", "memory.reference_model", "memory.optimizer_states"})

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
    "memory.context_exchange",
    "memory.step_scratch",
    "memory.inputs",
    "memory.engine_graphs",
    "memory.program_differences",
)
