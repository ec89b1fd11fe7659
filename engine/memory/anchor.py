"""A measured peak as the anchor of estimates: the formulas only carry it from the run that was measured to another.

At the measured run the answer is the measurement with its own uncertainty. Away from it, the expected value follows
the ratio of the formulas, and the interval widens with the distance until it is as wide as without a measurement.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from engine.architecture.model import Architecture
from engine.hardware.model import Gpu
from engine.layout.model import InferenceJob, Job, Layout, LayoutLike, Regime
from engine.memory.overheads import platform_for
from engine.memory.result import Anchored, MemoryBlock
from engine.memory.serving import inference_memory
from engine.memory.training import training_memory
from engine.quantity import Bounds, Estimate, Number, TermBlock
from engine.scenario import MeasuredPeak

__all__ = ["Anchor", "anchor_of", "anchored"]

#: Relative uncertainty of a measurement (90 %): PyTorch counts requested bytes exactly, only runs differ; its reserve
#: differs more from run to run; readings of the driver come at intervals and see other programs (assumption).
MEASUREMENT = {"allocated": 0.005, "reserved": 0.015, "driver": 0.03}
#: Distance of another way to split the work over cards; 1 is a run of twice or half the memory.
OTHER_SPLIT = 0.5
#: What must be the same for a measurement to speak of another run.
SAME_JOB = tuple(n for n in Job.model_fields if n not in ("sequence_length", "average_tokens_fraction"))
SAME_SERVICE = ("weight_quantization", "kv_cache_bits", "engine")
SAME_LAYOUT = (
    "sharding", "recomputation", "attention", "loss", "optimizer", "optimizer_in_backward", "offload", "layer_split",
    "compile",
)  # fmt: skip
SPLITS = ("tensor_parallel", "pipeline_parallel", "context_parallel", "shard_degree")
_MIXED = (Regime.BF16_AMP, Regime.FP16_AMP)  # take the same memory


@dataclass(frozen=True)
class Anchor:
    """A measurement beside what the formulas say of the very run."""

    measured: MeasuredPeak
    expected: Estimate  # by the formulas, of the kind that was measured

    @property
    def factor(self) -> float:
        """Measured over expected."""
        return self.measured.peak_bytes / self.expected.expected

    @property
    def within(self) -> bool:
        """Whether the measurement lies within the interval of the formulas."""
        return self.expected.low <= self.measured.peak_bytes <= self.expected.high

    def speaks_of(self, job: Job | InferenceJob, layout: LayoutLike) -> bool:
        """Whether a run is like the one that was measured: the same kinds of everything, other sizes at most."""
        there, then = self.measured.job, self.measured.layout
        if type(job) is not type(there):
            return False
        names = SAME_JOB if isinstance(job, Job) else SAME_SERVICE
        same = all(getattr(job, n) == getattr(there, n) for n in names)
        same = same and all(getattr(layout, n) == getattr(then, n) for n in SAME_LAYOUT)
        return same and (layout.regime == then.regime or {layout.regime, then.regime} <= set(_MIXED))


def anchor_of(measured: MeasuredPeak, architecture: Architecture, gpu: Gpu | None) -> Anchor:
    """What the formulas say of the run that was measured."""
    block = _memory(architecture, measured.job, measured.layout, gpu)
    bounds: Bounds = getattr(block, measured.kind)
    return Anchor(measured, bounds.at())


def _memory(architecture: Architecture, job: Job | InferenceJob, layout: Layout, gpu: Gpu | None) -> MemoryBlock:
    if isinstance(job, InferenceJob):
        return inference_memory(architecture, job, layout, platform=platform_for(gpu, job.engine))
    return training_memory(architecture, job, layout, platform=platform_for(gpu, job.framework))


def anchored(block: MemoryBlock, anchor: Anchor, layout: LayoutLike) -> MemoryBlock:
    """The same candidates, starting from the measurement; what lies above the measured kind is added as before."""
    kind, factor = anchor.measured.kind, anchor.factor
    base: Bounds = getattr(block, kind)
    moved = _moved(base, anchor, layout)
    scaled = {n: getattr(block, n) * factor for n in ("allocated", "reserved")}
    found = {**scaled, kind: moved}
    if kind == "allocated":
        found["reserved"] = _above(moved, block.allocated, block.reserved)
    if kind != "driver":
        found["driver"] = _above(found["reserved"], block.reserved, block.driver)
    change = found["driver"].expected - block.driver.expected
    term = TermBlock(
        name="memory.measured",
        amount=Bounds.exact(change),
        formula="formulas * (measured / formulas_for_the_measured_run - 1)",
        values={
            "formulas": base.expected,
            "measured": float(anchor.measured.peak_bytes),
            "formulas_for_the_measured_run": anchor.expected.expected,
        },
        source="measured by the user",
    )
    note = Anchored(kind=kind, peak_bytes=anchor.measured.peak_bytes, factor=factor)
    return replace(block, **found, overhead_terms=(*block.overhead_terms, term), anchor=note)


def _moved(base: Bounds, anchor: Anchor, layout: LayoutLike) -> Bounds:
    """The measured kind of memory: by the ratio, with an interval that widens with the distance."""
    expected = np.asarray(base.expected, float)
    distance = np.abs(np.log2(expected / anchor.expected.expected))
    for name in SPLITS:
        other = np.asarray(getattr(layout, name)) != getattr(anchor.measured.layout, name)
        distance = np.where(other, np.maximum(distance, OTHER_SPLIT), distance)
    distance = np.minimum(distance, 1.0)
    own = MEASUREMENT[anchor.measured.kind]
    centre = expected * anchor.factor
    low = centre * (1 - np.hypot(own, distance * (1 - base.low / expected)))
    high = centre * (1 + np.hypot(own, distance * (base.high / expected - 1)))
    # far from the measurement a low one is no promise: the high end returns to that of the formulas
    return Bounds(low, centre, np.maximum(high, np.maximum(centre, distance * base.high)))


def _above(moved: Bounds, lower: Bounds, upper: Bounds) -> Bounds:
    """What the upper count adds to the lower one, on top of what the lower one has become."""

    def added(name: str) -> Number:
        return np.maximum(getattr(upper, name) - getattr(lower, name), 0.0)

    return Bounds(moved.low + added("low"), moved.expected + added("expected"), moved.high + added("high"))
