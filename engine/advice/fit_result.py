"""What would make it fit: changes with what they save and cost, and the limits of what fits as it is."""

from __future__ import annotations

from engine.findings import Finding
from engine.hardware.model import Cluster
from engine.layout.model import InferenceJob, Job, Layout
from engine.memory.result import MemoryAssessment, Verdict
from engine.quantity import Frozen, Money

__all__ = ["Edit", "FitAdvice", "FitChange", "FitLimit"]


class Edit(Frozen):
    """One field of the task's workload and its new value."""

    field: str
    value: str | int | float | bool | None


class FitChange(Frozen):
    """One change, or two together, with the answer of the usual formulas once it is made."""

    codes: tuple[str, ...]  # label codes such as fit.recompute; two of a pair
    words: tuple[Finding, ...]  # one sentence each, with the values
    edits: tuple[Edit, ...]  # fields of the workload; empty where only hardware or layout change
    job: Job | InferenceJob
    layout: Layout
    cluster: Cluster
    memory: MemoryAssessment
    saved_bytes: float  # expected bytes on each card, against the base
    time_factor: float | None = None  # seconds for each token against the base; None where a speed is not known
    cost_difference: Money | None = None  # of the whole job on the same plan; None where no plan is priced
    keeps_result: bool = True  # False: what is learned or answered may differ

    @property
    def fits(self) -> bool:
        """Whether it fits then, tightly or not."""
        return self.memory.verdict in (Verdict.FITS, Verdict.FITS_TIGHTLY)


class FitLimit(Frozen):
    """How far one figure may go with everything else as it is."""

    code: str  # label code: fit.limit.sequence_length …
    now: float
    most: float | None  # fits with the headroom; None where not even the least does
    most_tightly: float | None  # fits at all
    name: str = ""  # of the model that is the largest
    name_tightly: str = ""
    capped: bool = False  # more was not tried: the model's own limit, or all there is


class FitAdvice(Frozen):
    """One task on one cluster: how it stands, what would change that, and how far it could go."""

    task_id: str
    model: str
    cluster: Cluster
    job: Job | InferenceJob
    layout: Layout
    memory: MemoryAssessment
    changes: tuple[FitChange, ...]  # those that make it fit first, the cheapest first
    pair: FitChange | None = None  # where no single one does, or two together cost less time
    limits: tuple[FitLimit, ...] = ()

    @property
    def best_fits(self) -> bool:
        """Whether it fits as it is, or with one change or two."""
        as_it_is = self.memory.verdict in (Verdict.FITS, Verdict.FITS_TIGHTLY)
        return as_it_is or self.pair is not None or any(c.fits for c in self.changes)
