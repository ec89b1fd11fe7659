"""From the moments of a step to one answer: the greatest, and the way from allocated to driver bytes."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from itertools import takewhile
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
    sums = _sums(moments)
    spreads = [spread_term(platform, s.fixed, s.uncertain) for s in sums]
    moments = [replace(m, terms=(*m.terms, t)) for m, t in zip(moments, spreads, strict=True)]
    amounts = [s.amount + t.amount for s, t in zip(sums, spreads, strict=True)]
    shape = np.broadcast_shapes(*(np.shape(a.expected) for a in amounts), np.shape(gpus))
    peak = np.broadcast_to(np.argmax(_stacked([a.expected for a in amounts]), axis=0), shape)

    def at_peak(values: Sequence[Number]) -> NDArray[Any]:
        if all(v is values[0] for v in values):
            return np.broadcast_to(values[0], shape)
        choices: Any = values
        return np.choose(peak, choices)  # of at most 32 moments

    top = at_peak([a.expected for a in amounts])
    low = np.minimum(at_peak([a.low for a in amounts]), top)
    allocated = Bounds(low, top, np.maximum(reduce(np.maximum, [a.high for a in amounts]), top))
    fixed, cache = (at_peak([getattr(s, n) for s in sums]) for n in ("fixed", "cache"))
    changing = np.maximum(top - fixed - cache, 0.0)
    terms = overhead_terms(platform, Parts(fixed, changing, cache), gpus, eager=eager)
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


def _stacked(values: Sequence[Number]) -> NDArray[Any]:
    common = np.broadcast_shapes(*(np.shape(v) for v in values))
    return np.stack([np.broadcast_to(np.asarray(v, dtype=float), common) for v in values])


@dataclass(frozen=True, slots=True)
class _Sums:
    """Bytes of a moment, in all and by how certain they are and how the allocator sees them."""

    amount: Bounds
    fixed: Number  # stays for the whole run
    cache: Number
    gradients: Number

    @property
    def uncertain(self) -> Number:
        """Bytes whose size depends on the program: what comes and goes, but for the gradients, which are known."""
        return np.maximum(self.amount.expected - self.fixed - self.cache - self.gradients, 0.0)


def _sums(moments: Sequence[Moment]) -> list[_Sums]:
    """Sums of each moment; terms that all moments of one stage begin with are added up once."""
    by_stage: dict[int, list[Moment]] = {}
    for one in moments:
        by_stage.setdefault(id(one.terms[0]) if one.terms else 0, []).append(one)
    found: dict[int, _Sums] = {}
    for stage in by_stage.values():
        columns = zip(*(m.terms for m in stage), strict=False)
        common = len(list(takewhile(lambda column: all(t is column[0] for t in column), columns)))
        shared = _sum(stage[0].terms[:common])
        for one in stage:
            rest = _sum(one.terms[common:])
            fixed, cache, gradients = (
                b if _is_zero(a) else a if _is_zero(b) else a + b
                for a, b in ((getattr(shared, n), getattr(rest, n)) for n in ("fixed", "cache", "gradients"))
            )
            found[id(one)] = _Sums(shared.amount + rest.amount, fixed, cache, gradients)
    return [found[id(m)] for m in moments]


def _is_zero(value: Number) -> bool:
    return isinstance(value, float) and value == 0.0


def _sum(terms: Sequence[TermBlock]) -> _Sums:
    def of(names: Collection[str]) -> Number:
        return add([t for t in terms if t.name in names]).expected

    return _Sums(add(terms), of(FIXED), of(("memory.kv_cache",)), of(("memory.gradients",)))


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
