"""A measured rate as the anchor of estimates: the formulas only carry it from the run that was measured to another.

At the measured run the answer is the measurement with its own uncertainty. Away from it, the expected time follows
the ratio of the formulas, and the interval widens with the distance until it is as wide as without a measurement.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from engine.architecture.model import Architecture
from engine.hardware.model import Cluster
from engine.layout.model import Job, LayoutLike
from engine.quantity import Bounds, Estimate, Number, TermBlock
from engine.scenario import MeasuredSpeed
from engine.speed.hardware import compute_precision, hardware_block
from engine.speed.result import CORRECTION, TrainingSpeedBlock
from engine.speed.training import training_speed

__all__ = ["MEASUREMENT", "OTHER_CARD", "SpeedAnchor", "speed_anchor_of", "speed_anchored"]

#: Relative uncertainty of a measured rate (90 %): runs of one program on one card differ by a few percent (assumption).
MEASUREMENT = 0.05
#: Distance of a run that works in another way (recomputation, sharding, loss); 1 is one of twice or half the size.
OTHER_WAY = 0.5
#: On other cards, so much of the difference in the logarithm is taken to be the program's, and the rest the card's: a
#: single measurement can't tell them apart (judgement).
OTHER_CARD = 0.5
#: What must be the same for a measurement to speak of another run.
SAME_JOB = tuple(n for n in Job.model_fields if n not in ("sequence_length", "average_tokens_fraction"))
WAYS = ("sharding", "recomputation", "attention", "loss", "optimizer", "regime", "compile")
SPLITS = ("tensor_parallel", "pipeline_parallel", "context_parallel")


@dataclass(frozen=True)
class SpeedAnchor:
    """A measurement beside what the formulas say of the very run."""

    measured: MeasuredSpeed
    expected: Estimate  # tokens per second of a card, by the formulas

    @property
    def factor(self) -> float:
        """Measured over expected rate."""
        return self.measured.tokens_per_second_per_gpu / self.expected.expected

    @property
    def within(self) -> bool:
        """Whether the measurement lies within the interval of the formulas."""
        return self.expected.low <= self.measured.tokens_per_second_per_gpu <= self.expected.high

    def speaks_of(self, job: Job, layout: LayoutLike) -> bool:
        """Whether a run is like the one that was measured: the same program and method, the same kind of offloading."""
        same = all(getattr(job, n) == getattr(self.measured.job, n) for n in SAME_JOB)
        return same and layout.offload is self.measured.layout.offload


def speed_anchor_of(measured: MeasuredSpeed, architecture: Architecture, cluster: Cluster) -> SpeedAnchor | None:
    """What the formulas say of the run that was measured; None where they can't tell its speed."""
    layout = measured.layout
    hardware = hardware_block([cluster], precision=compute_precision(layout.regime), framework=measured.job.framework)
    found = training_speed(architecture, measured.job, layout, hardware)
    if not bool(found.known):
        return None
    return SpeedAnchor(measured, found.tokens_per_second_per_gpu.at())


def speed_anchored(
    block: TrainingSpeedBlock, anchor: SpeedAnchor, layout: LayoutLike, same_card: Number, sequence_length: int
) -> TrainingSpeedBlock:
    """The same candidates, starting from the measurement. `same_card` tells where the measured card is the one used."""
    step = block.step_seconds
    # where nothing is known, nothing is moved: the step never ends
    base = np.where(np.isfinite(np.asarray(step.expected, float)), step.expected, 1.0)
    power = np.where(same_card, 1.0, OTHER_CARD)
    slower = np.power(1.0 / anchor.factor, power)
    distance = np.where(same_card, _distance(anchor, layout, sequence_length), 1.0)
    centre = base * slower
    low = centre * (1 - np.minimum(0.95, np.hypot(MEASUREMENT, distance * (1 - step.low / base))))
    high = centre * (1 + np.hypot(MEASUREMENT, distance * (step.high / base - 1)))
    known = np.asarray(block.known, bool)
    moved = Bounds(*(np.where(known, x, np.inf) for x in (low, centre, high)))
    change = np.where(known, centre - base, 0.0)
    term = TermBlock(
        name=CORRECTION,
        # the interval of the whole comes from the measurement, so that the parts keep theirs
        amount=Bounds.exact(change),
        formula="step_seconds * (slower - 1)",
        values={
            "step_seconds": base,
            "slower": slower,
            "formulas": anchor.expected.expected,
            "measured": anchor.measured.tokens_per_second_per_gpu,
            "share": power,
        },
        source="measured by the user",
        unit="seconds",
    )

    def rate(old: Bounds) -> Bounds:
        """Rates go with the inverse of the step."""
        unit = np.asarray(old.expected, float) * base
        return moved.reciprocal(unit)

    return replace(
        block,
        step_seconds=moved,
        tokens_per_second_per_gpu=rate(block.tokens_per_second_per_gpu),
        model_flops_utilization=rate(block.model_flops_utilization),
        terms=(*block.terms, term),
    )


def _distance(anchor: SpeedAnchor, layout: LayoutLike, sequence_length: int) -> Number:
    """How far a run is from the measured one: 0 is the same, 1 is twice or half of something that matters."""
    there = anchor.measured.layout
    tokens = layout.micro_batch_size * sequence_length / (there.micro_batch_size * anchor.measured.job.sequence_length)
    longer = abs(np.log2(sequence_length / anchor.measured.job.sequence_length))
    cards = np.abs(np.log2(layout.gpus / there.gpus))
    distance: Number = np.maximum(np.maximum(np.abs(np.log2(tokens)), longer), 0.5 * cards)
    if any(getattr(layout, n) != getattr(there, n) for n in WAYS):
        distance = np.maximum(distance, OTHER_WAY)
    for name in SPLITS:
        other = np.asarray(getattr(layout, name)) != getattr(there, name)
        distance = np.where(other, np.maximum(distance, OTHER_WAY), distance)
    return np.minimum(distance, 1.0)
