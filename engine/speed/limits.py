"""What takes most of the time, and the change that would help most, as a finding."""

from __future__ import annotations

from engine.findings import Finding, Severity
from engine.speed.result import CORRECTION, InferenceSpeed, TrainingSpeed

__all__ = ["limit_finding"]

#: A step could at most become this much shorter or more for a change to be worth naming.
_SMALLEST_SHARE = 0.05


def limit_finding(speed: TrainingSpeed | InferenceSpeed) -> Finding | None:
    """The largest part of a step (or of the time per output token) with its share and what shortens it.

    `gain` is the most that the change can bring (Amdahl's law, AFIPS 1967): the time without that part at all; for
    matrix work, which always remains, the time at twice the rate.
    None where the terms are left out.
    """
    parts = [t for t in speed.terms if t.name != CORRECTION]
    total = sum(t.expected for t in parts)
    if not total:
        return None
    largest = max(parts, key=lambda t: t.expected)
    share = largest.expected / total
    if share < _SMALLEST_SHARE:
        return None
    what = largest.name.removeprefix("speed.")
    saved = share / 2 if what == "compute" else share
    serving = isinstance(speed, InferenceSpeed) and what in ("memory_bound", "communication", "overhead")
    return Finding(
        code=f"speed.limit.{what}.serving" if serving else f"speed.limit.{what}",
        severity=Severity.ADVICE,
        params={"share": share, "gain": 1 / max(1 - saved, 0.01)},
        source=largest.source,
    )
