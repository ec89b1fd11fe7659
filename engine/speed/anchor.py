"""A measured rate as the anchor of estimates: the formulas only carry it from the run that was measured to another.

At the measured run the answer is the measurement with its own uncertainty. Away from it, the expected time follows
the ratio of the formulas, and the interval widens with the distance until it is as wide as without a measurement.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from engine.architecture.model import Architecture
from engine.hardware.model import Cluster
from engine.layout.model import InferenceJob, Job, LayoutLike
from engine.quantity import Bounds, Estimate, Number, TermBlock
from engine.scenario import MeasuredSpeed
from engine.speed.calibration import serving_stack
from engine.speed.hardware import compute_precision, hardware_block, usual_precision
from engine.speed.result import CORRECTION, InferenceSpeedBlock, TrainingSpeedBlock
from engine.speed.serving import inference_speed
from engine.speed.training import training_speed

__all__ = ["MEASUREMENT", "OTHER_CARD", "SpeedAnchor", "serving_anchored", "speed_anchor_of", "speed_anchored"]

#: Relative uncertainty of a measured rate (90 %): runs of one program on one card differ by a few percent (assumption).
MEASUREMENT = 0.05
#: Distance of a run that works in another way (recomputation, sharding, loss); 1 is one of twice or half the size.
OTHER_WAY = 0.5
#: On other cards, so much of the difference in the logarithm is taken to be the program's, and the rest the card's: a
#: single measurement can't tell them apart (judgement).
OTHER_CARD = 0.5
#: What must be the same for a measurement to speak of another run.
SAME_JOB = tuple(n for n in Job.model_fields if n not in ("sequence_length", "average_tokens_fraction"))
SAME_SERVICE = ("weight_quantization", "kv_cache_bits", "engine")
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

    def speaks_of(self, job: Job | InferenceJob, layout: LayoutLike) -> bool:
        """Whether a run is like the one that was measured: the same program and method, the same kind of offloading."""
        if type(job) is not type(self.measured.job):
            return False
        names = SAME_JOB if isinstance(job, Job) else SAME_SERVICE
        same = all(getattr(job, n) == getattr(self.measured.job, n) for n in names)
        return same and layout.offload is self.measured.layout.offload


def speed_anchor_of(measured: MeasuredSpeed, architecture: Architecture, cluster: Cluster) -> SpeedAnchor | None:
    """What the formulas say of the run that was measured; None where they can't tell its speed."""
    job, layout = measured.job, measured.layout
    found: TrainingSpeedBlock | InferenceSpeedBlock
    if isinstance(job, InferenceJob):
        precision = "fp8" if job.weight_quantization == "fp8" else usual_precision(cluster.gpu)
        hardware = hardware_block([cluster], precision=precision, framework=job.engine, stack=serving_stack(job.engine))
        found = inference_speed(architecture, job, layout, hardware)
    else:
        hardware = hardware_block([cluster], precision=compute_precision(layout.regime), framework=job.framework)
        found = training_speed(architecture, job, layout, hardware)
    if not bool(found.known):
        return None
    return SpeedAnchor(measured, found.tokens_per_second_per_gpu.at())


def speed_anchored(
    block: TrainingSpeedBlock,
    anchor: SpeedAnchor,
    job: Job,
    layout: LayoutLike,
    same_card: Number,
) -> TrainingSpeedBlock:
    """The same candidates, starting from the measurement. `same_card` tells where the measured card is the one used."""
    moved, term = _moved(block.step_seconds, block.known, anchor, job, layout, same_card)
    return replace(
        block,
        step_seconds=moved,
        tokens_per_second_per_gpu=_rate(block.tokens_per_second_per_gpu, block.step_seconds, moved),
        model_flops_utilization=_rate(block.model_flops_utilization, block.step_seconds, moved),
        terms=(*block.terms, term),
    )


def serving_anchored(
    block: InferenceSpeedBlock,
    anchor: SpeedAnchor,
    job: InferenceJob,
    layout: LayoutLike,
    same_card: Number,
) -> InferenceSpeedBlock:
    """As `speed_anchored`, for the time of an output token of a service; the first token moves by the same factor."""
    before = block.time_per_output_token_seconds
    moved, term = _moved(before, block.known, anchor, job, layout, same_card)
    slower = np.asarray(term.values["slower"], float)
    return replace(
        block,
        time_to_first_token_seconds=block.time_to_first_token_seconds * slower,
        time_per_output_token_seconds=moved,
        tokens_per_second=_rate(block.tokens_per_second, before, moved),
        tokens_per_second_per_gpu=_rate(block.tokens_per_second_per_gpu, before, moved),
        terms=(*block.terms, term),
    )


def _moved(
    seconds: Bounds,
    known: Number,
    anchor: SpeedAnchor,
    job: Job | InferenceJob,
    layout: LayoutLike,
    same_card: Number,
) -> tuple[Bounds, TermBlock]:
    """Time by the ratio of the formulas, its interval widening with the distance, and the correction as a term."""
    # where nothing is known, nothing is moved: the time never ends
    base = np.where(np.isfinite(np.asarray(seconds.expected, float)), seconds.expected, 1.0)
    power = np.where(same_card, 1.0, OTHER_CARD)
    slower = np.power(1.0 / anchor.factor, power)
    distance = np.where(same_card, _distance(anchor, job, layout), 1.0)
    centre = base * slower
    low = centre * (1 - np.minimum(0.95, np.hypot(MEASUREMENT, distance * (1 - seconds.low / base))))
    high = centre * (1 + np.hypot(MEASUREMENT, distance * (seconds.high / base - 1)))
    sure = np.asarray(known, bool)
    moved = Bounds(*(np.where(sure, x, np.inf) for x in (low, centre, high)))
    term = TermBlock(
        name=CORRECTION,
        # the interval of the whole comes from the measurement, so that the parts keep theirs
        amount=Bounds.exact(np.where(sure, centre - base, 0.0)),
        formula="seconds * (slower - 1)",
        values={
            "seconds": base,
            "slower": slower,
            "formulas": anchor.expected.expected,
            "measured": anchor.measured.tokens_per_second_per_gpu,
            "share": power,
        },
        source="measured by the user",
        unit="seconds",
    )
    return moved, term


def _rate(old: Bounds, before: Bounds, after: Bounds) -> Bounds:
    """Rates go with the inverse of the time."""
    finite = np.where(np.isfinite(np.asarray(before.expected, float)), before.expected, 1.0)
    return after.reciprocal(np.asarray(old.expected, float) * finite)


def _distance(anchor: SpeedAnchor, job: Job | InferenceJob, layout: LayoutLike) -> Number:
    """How far a run is from the measured one: 0 is the same, 1 is twice or half of something that matters."""
    there, then = anchor.measured.layout, anchor.measured.job
    if isinstance(job, InferenceJob):
        assert isinstance(then, InferenceJob)
        users = job.concurrent_sequences / layout.data_parallel
        load: Number = np.abs(np.log2(users / (then.concurrent_sequences / there.data_parallel)))
        context, known = (2 * j.prompt_tokens + j.output_tokens for j in (job, then))
        longer = abs(np.log2(max(context, 1) / max(known, 1)))
    else:
        assert isinstance(then, Job)
        longer = abs(np.log2(job.sequence_length / then.sequence_length))
        tokens = layout.micro_batch_size * job.sequence_length / (there.micro_batch_size * then.sequence_length)
        load = np.abs(np.log2(tokens))
    cards = np.abs(np.log2(layout.gpus / there.gpus))
    distance: Number = np.maximum(np.maximum(load, longer), 0.5 * cards)
    if any(getattr(layout, n) != getattr(there, n) for n in WAYS):
        distance = np.maximum(distance, OTHER_WAY)
    for name in SPLITS:
        other = np.asarray(getattr(layout, name)) != getattr(there, name)
        distance = np.where(other, np.maximum(distance, OTHER_WAY), distance)
    return np.minimum(distance, 1.0)
