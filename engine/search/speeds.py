"""How fast candidates are: the speed of pairs of cluster and layout, starting from what the user measured."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.hardware.model import Cluster
from engine.layout.model import InferenceJob, Job
from engine.scenario import InferenceWorkload
from engine.search.resolve import ResolvedTask
from engine.speed.anchor import serving_anchored, speed_anchored
from engine.speed.hardware import HardwareBlock
from engine.speed.result import InferenceSpeedBlock, TrainingSpeedBlock
from engine.speed.serving import inference_speed
from engine.speed.training import training_speed

__all__ = ["measured_card", "misses_targets", "pace_of", "score_of", "speed_of"]

#: Busiest hours of a service against its average: offices work a third of the day (assumption).
PEAK_OVER_AVERAGE = 3.0


def measured_card(
    resolved: ResolvedTask, clusters: Sequence[Cluster], index: Sequence[int] | NDArray[np.int64]
) -> NDArray[np.bool_]:
    """Where the card of a cluster is the one whose speed the user measured."""
    anchor = resolved.speed_anchor
    if anchor is None:
        return np.zeros(len(index), np.bool_)
    return np.array([c.gpu.id == anchor.measured.gpu_id for c in clusters], np.bool_)[np.asarray(index)]


def speed_of(
    resolved: ResolvedTask, job: Job | InferenceJob, block: Any, rates: HardwareBlock, same_card: NDArray[np.bool_]
) -> TrainingSpeedBlock | InferenceSpeedBlock:
    """Speed of one task on pairs of layout and rates."""
    anchor = resolved.speed_anchor
    if anchor is not None and not anchor.speaks_of(job, block):
        anchor = None
    if isinstance(job, InferenceJob):
        service = inference_speed(resolved.architecture, job, block, rates)
        return service if anchor is None else serving_anchored(service, anchor, job, block, same_card)
    found = training_speed(resolved.architecture, job, block, rates)
    return found if anchor is None else speed_anchored(found, anchor, job, block, same_card)


def score_of(
    resolved: ResolvedTask, speed: TrainingSpeedBlock | InferenceSpeedBlock
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Seconds a token (less is better), and whether a service misses its targets (expected values)."""
    if isinstance(speed, TrainingSpeedBlock):
        score = np.asarray(speed.step_seconds.expected) / np.asarray(speed.tokens_per_step.expected)
        return np.where(speed.known, score, np.inf), np.zeros(score.shape, np.bool_)
    workload = resolved.serving
    rate = np.asarray(speed.tokens_per_second.expected)
    score = np.where(np.asarray(speed.known), 1.0 / rate, np.inf)
    return score, misses_targets(workload, speed) if workload is not None else np.zeros(score.shape, np.bool_)


def pace_of(speed: TrainingSpeedBlock | InferenceSpeedBlock) -> NDArray[np.float64]:
    """Rows low, expected, high, tokens: of a training step, or of one output token of a service."""
    if isinstance(speed, TrainingSpeedBlock):
        step, tokens = speed.step_seconds, speed.tokens_per_step.expected
    else:
        step, tokens = speed.tokens_per_second.reciprocal(), 1.0
    return np.array(np.broadcast_arrays(step.low, step.expected, step.high, tokens), float)


def misses_targets(workload: InferenceWorkload, speed: InferenceSpeedBlock) -> NDArray[np.bool_]:
    """Whether the first token or the next ones come too late, or the day's requests are too many."""
    first = np.asarray(speed.time_to_first_token_seconds.expected) > workload.first_token_seconds
    following = np.asarray(speed.time_per_output_token_seconds.expected) > 1 / workload.tokens_per_second_per_user
    if workload.outputs_only:
        return np.zeros(following.shape, np.bool_)  # nobody waits for a batch: it only has to be done
    needed = workload.requests_per_day * workload.output_tokens / 86_400 * PEAK_OVER_AVERAGE
    return first | following | (np.asarray(speed.tokens_per_second.expected) < needed)
