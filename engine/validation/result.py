"""What keeping score answers: groups of errors, outcomes, and the rows that could not be used."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from engine.findings import Finding
from engine.quantity import Estimate, Frozen

__all__ = ["Comparison", "Group", "Outcome", "Quantity", "Unexpressed", "ValidationReport"]

#: What is compared: bytes of one card; tokens/s of one card; seconds of a step; fraction of the peak; FLOP/s of the
#: model on one card; seconds; GPU-hours.
Quantity = Literal["memory", "tokens_per_second", "step_seconds", "mfu", "flops", "time_to_train", "gpu_hours"]


@dataclass(frozen=True, slots=True)
class Comparison:
    """One measured (or traced) number beside its estimate."""

    row_id: str
    kind: str
    quantity: Quantity
    primary: bool  # the number that the row's kind is about; others that it carries are secondary
    method: str
    framework: str
    gpu: str
    memory_metric: str  # "" where memory is not compared
    several_gpus: bool
    stated: bool  # all settings are stated
    shape_guessed: bool
    measured: float
    estimate: Estimate
    phase_right: bool | None = None  # traced rows: whether the peak lies in the phase of the trace

    @property
    def error(self) -> float:
        """expected / measured - 1."""
        return self.estimate.expected / self.measured - 1

    @property
    def covered(self) -> bool:
        """Whether the measured number lies in the interval."""
        return self.estimate.low <= self.measured <= self.estimate.high


class Group(Frozen):
    """Errors of the rows that share what is not None. Errors are fractions of the measured number."""

    kind: str | None = None
    method: str | None = None
    framework: str | None = None
    gpu: str | None = None
    quantity: Quantity | None = None
    memory_metric: str | None = None
    gpus: Literal["one", "several"] | None = None
    settings: Literal["stated", "partial"] | None = None
    pooled: str | None = None  # the key by which groups of too few rows were put together
    rows: int
    median_abs_error: float
    p90_abs_error: float
    p95_abs_error: float
    max_abs_error: float
    bias: float  # median error
    coverage: float | None  # share of rows inside the interval; None: intervals are not judged
    coverage_judged: bool  # enough rows to judge the coverage
    median_width: float | None  # (high - low) / expected
    median_low: float  # bootstrap interval of the median |error|
    median_high: float
    phase_right: float | None = None


class Outcome(Frozen):
    """How many rows with a reported outcome got which verdict."""

    reported: Literal["fits", "measured", "oom", "oom_cause_unknown"]
    fits: int = 0
    fits_tightly: int = 0
    does_not_fit: int = 0
    unknown: int = 0


class Unexpressed(Frozen):
    """A row that could not be used, and why."""

    id: str
    kind: str
    reason: Finding


class ValidationReport(Frozen):
    """Score of a file. `rows = used + len(unexpressed)`."""

    file: str
    format: Literal["traced", "measured"]
    split: str | None
    rows: int
    used: int
    rows_by_kind: dict[str, int]
    used_by_kind: dict[str, int]
    groups: tuple[Group, ...]
    secondary_groups: tuple[Group, ...]  # further numbers of the rows
    guessed_groups: tuple[Group, ...]  # models whose shape was not known
    outcomes: tuple[Outcome, ...]
    unexpressed: tuple[Unexpressed, ...]
    catalog_version: str
    catalog_sha256: str
