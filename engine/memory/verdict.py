"""Does it fit? The thresholds of cases.md §1 and nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.hardware.model import Gpu
from engine.memory.result import MemoryAssessment, MemoryBlock, PhasePeak, Verdict
from engine.quantity import Number, Term, TermBlock

__all__ = ["DOES_NOT_FIT", "FITS", "FITS_TIGHTLY", "UNKNOWN", "VERDICT_OF_CODE", "assess", "verdicts"]

FITS, FITS_TIGHTLY, DOES_NOT_FIT, UNKNOWN = range(4)

#: Verdict of each code that `verdicts` gives.
VERDICT_OF_CODE = (Verdict.FITS, Verdict.FITS_TIGHTLY, Verdict.DOES_NOT_FIT, Verdict.UNKNOWN)

#: A term shown only where a moment other than the peak has a higher high end.
OTHER_MOMENT = "memory.other_moment"


def verdicts(
    block: MemoryBlock, usable_bytes: Number | None, in_use_bytes: Number = 0, headroom: Number = 0.10
) -> NDArray[np.int8]:
    """Code of the verdict for each candidate; NaN or None as usable bytes means unknown.

    `does_not_fit` if expected + in use > usable; `fits_tightly` if high + in use > (1 - headroom) * usable.
    """
    usable = np.asarray(np.nan if usable_bytes is None else usable_bytes, dtype=float)
    expected = np.asarray(block.driver.expected) + in_use_bytes
    high = np.asarray(block.driver.high) + in_use_bytes
    codes = np.select(
        [np.isnan(usable) | np.isnan(expected), expected > usable, high > (1 - np.asarray(headroom)) * usable],
        [UNKNOWN, DOES_NOT_FIT, FITS_TIGHTLY],
        default=FITS,
    )
    return np.asarray(codes, dtype=np.int8)


def assess(
    block: MemoryBlock,
    gpu: Gpu | None,
    *,
    index: int | None = None,
    in_use_bytes: int = 0,
    headroom: float = 0.10,
) -> MemoryAssessment:
    """One candidate of a block held against a card, with its terms at the peak. `index` is None for scalars."""
    usable = gpu.usable_bytes if gpu else None
    peak = int(_at(block.peak_moment, index))
    terms = [t.at(index) for t in block.terms_of_moment[peak]]
    allocated = block.allocated.at(index)
    missing = allocated.high - sum(t.high for t in terms)
    if missing > 0.5:
        label = "another moment of the step, less likely to be the peak, has a higher upper end"
        terms.append(Term(name=OTHER_MOMENT, unit="bytes", low=0, expected=0, high=missing, formula="0", source=label))
    terms += [t.at(index) for t in block.overhead_terms]
    code = int(_at(verdicts(block, usable, in_use_bytes, headroom), index))
    moments = tuple(
        PhasePeak(moment=label, phase=phase, allocated=amount.at(index), amounts=_amounts(terms_then, index))
        for (label, phase, amount), terms_then in zip(block.moments, block.terms_of_moment, strict=True)
    )
    return MemoryAssessment(
        allocated=allocated,
        reserved=block.reserved.at(index),
        driver=block.driver.at(index),
        usable_bytes=usable,
        in_use_bytes=in_use_bytes,
        headroom=headroom,
        verdict=VERDICT_OF_CODE[code],
        peak_phase=block.moments[peak][1],
        moments=moments,
        terms=tuple(t for t in terms if t.high or t.expected or t.low),
        fallback=block.fallback,
        host_bytes=float(_at(block.host_bytes, index)),
        anchor=block.anchor,
    )


def _amounts(terms: Sequence[TermBlock], index: int | None) -> tuple[tuple[str, float], ...]:
    """Expected bytes by term, those of one name added up."""
    found: dict[str, float] = {}
    for term in terms:
        amount = float(_at(term.amount.expected, index))
        if amount:
            found[term.name] = found.get(term.name, 0.0) + amount
    return tuple(found.items())


def _at(value: Any, index: int | None) -> Any:
    array = np.asarray(value)
    return array[index] if array.ndim and index is not None else array
