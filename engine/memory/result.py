"""What the memory formulas answer: three memories, the verdict, and the terms at the peak."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

from engine.quantity import Bounds, Estimate, Frozen, Number, Term, TermBlock

__all__ = ["Anchored", "MemoryAssessment", "MemoryBlock", "Phase", "PhasePeak", "Verdict"]

Phase = Literal["forward", "backward", "optimizer", "load", "prefill", "decode"]


class Verdict(StrEnum):
    """Does it fit? (cases.md §1)"""

    FITS = "fits"
    FITS_TIGHTLY = "fits_tightly"
    DOES_NOT_FIT = "does_not_fit"
    UNKNOWN = "unknown"


class PhasePeak(Frozen):
    """Highest allocated bytes of one moment of the step."""

    moment: str  # label code
    phase: Phase
    allocated: Estimate
    amounts: tuple[tuple[str, float], ...] = ()  # term and expected bytes; they add up to `allocated`


class Anchored(Frozen):
    """The measurement that an estimate starts from."""

    kind: Literal["allocated", "reserved", "driver"]
    peak_bytes: int
    factor: float  # measured over what the formulas expect for the very run


class MemoryAssessment(Frozen):
    """Memory of one card. `terms` add up to `driver` at the moment of the peak."""

    allocated: Estimate
    reserved: Estimate
    driver: Estimate
    usable_bytes: int | None
    in_use_bytes: int = 0
    headroom: float = 0.10
    verdict: Verdict
    peak_phase: Phase
    moments: tuple[PhasePeak, ...] = ()
    terms: tuple[Term, ...] = ()
    fallback: bool = False  # no derived factors for this kind of block: first principles, wider interval
    host_bytes: float = 0.0  # host RAM that the card's rank needs (offload, loading)
    anchor: Anchored | None = None  # set where the user measured a like run

    @property
    def missing_bytes(self) -> float:
        """Bytes short of fitting (expected); negative = bytes to spare; 0 where unknown."""
        if self.usable_bytes is None:
            return 0.0
        return self.driver.expected + self.in_use_bytes - self.usable_bytes


@dataclass(frozen=True)
class MemoryBlock:
    """Memory of many candidates, before it is held against a card."""

    allocated: Bounds
    reserved: Bounds
    driver: Bounds
    peak_moment: Number  # index into `moments`
    moments: tuple[tuple[str, Phase, Bounds], ...]  # label code, phase, allocated
    terms_of_moment: tuple[tuple[TermBlock, ...], ...]  # for each moment, allocated terms; same order as `moments`
    overhead_terms: tuple[TermBlock, ...]  # from allocated to driver
    fallback: bool = False
    host_bytes: Number = 0.0
    anchor: Anchored | None = None
