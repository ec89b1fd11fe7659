"""Time against the number of cards: what more of the same cards bring, and from where on they bring little."""

from __future__ import annotations

from engine.findings import Finding
from engine.quantity import Estimate, Frozen

__all__ = ["Scaling", "ScalingPoint", "WeakPoint"]


class ScalingPoint(Frozen):
    """The same work on so many cards (strong scaling), each number with the layout that is fastest there."""

    gpus: int
    nodes: int
    days: Estimate  # until everything asked for is done, queue and delivery included
    wait_days: float  # of these, the queue or delivery that is expected before the work starts
    card_hours: Estimate
    efficiency: float  # rate of a card against its best over all numbers that were tried
    waiting: float  # share of the longest task's step that the cards wait for each other
    chance: float | None = None  # of keeping the deadline; None where there is none
    batch_changed: bool = False  # the number does not divide the batch, which is up to a tenth larger or smaller


class WeakPoint(Frozen):
    """A batch that grows with the cards (weak scaling), on so many of them, for the longest task."""

    gpus: int
    batch: int  # sequences of a step
    tokens_per_second: Estimate  # of all cards
    efficiency: float  # rate of a card against its best over all numbers that were tried


class Scaling(Frozen):
    """One plan with fewer and more of its cards. Both series rise in cards; none where no task becomes faster."""

    gpu: str
    gpus: int  # of the plan
    task_id: str  # the longest task, of which the weak series is
    points: tuple[ScalingPoint, ...]
    weak: tuple[WeakPoint, ...]
    worthwhile_up_to: int  # beyond, added cards work at less than half of a card's best rate
    fastest: int  # more cards take longer, or are not tried
    deadline_days: float | None = None
    in_time_from: int | None = None  # fewest cards that are expected to keep the deadline
    findings: tuple[Finding, ...] = ()
