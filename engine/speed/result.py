"""What the speed formulas answer."""

from __future__ import annotations

from dataclasses import dataclass

from engine.quantity import Bounds, Estimate, Frozen, Number, Term, TermBlock

__all__ = ["CORRECTION", "InferenceSpeed", "InferenceSpeedBlock", "TrainingSpeed", "TrainingSpeedBlock"]


#: The term that leads from the formulas to what the user measured; it is no part of the work.
CORRECTION = "speed.measured"


class TrainingSpeed(Frozen):
    """Speed of training. `terms` (seconds) add up to `step_seconds`; one step is one optimizer step."""

    step_seconds: Estimate
    tokens_per_step: float
    tokens_per_second_per_gpu: Estimate
    model_flops_utilization: Estimate  # model FLOPs (no recomputation) over dense peak of the compute precision
    bottleneck: str  # label code: speed.compute, speed.memory_bound, speed.communication, speed.offload, …
    terms: tuple[Term, ...] = ()


class InferenceSpeed(Frozen):
    """Speed of serving, for one replica spread over its cards unless said otherwise."""

    time_to_first_token_seconds: Estimate
    time_per_output_token_seconds: Estimate
    tokens_per_second: Estimate  # output tokens of all concurrent sequences and replicas together
    tokens_per_second_per_gpu: Estimate
    bottleneck: str
    terms: tuple[Term, ...] = ()


def _largest(terms: tuple[Term, ...]) -> str:
    """The part of the work that takes longest; "" without terms."""
    return max((t for t in terms if t.name != CORRECTION), key=lambda t: t.expected).name if terms else ""


@dataclass(frozen=True)
class TrainingSpeedBlock:
    """`TrainingSpeed` for many candidates; `terms` are mutually exclusive shares of the step."""

    step_seconds: Bounds
    tokens_per_step: Bounds
    tokens_per_second_per_gpu: Bounds
    model_flops_utilization: Bounds
    terms: tuple[TermBlock, ...]
    known: Number = True  # False where a rate of the card is not known: the figures mean nothing there

    def at(self, index: int | None = None) -> TrainingSpeed:
        """The speed of one candidate."""
        terms = tuple(t.at(index) for t in self.terms)
        return TrainingSpeed(
            step_seconds=self.step_seconds.at(index),
            tokens_per_step=self.tokens_per_step.at(index).expected,
            tokens_per_second_per_gpu=self.tokens_per_second_per_gpu.at(index),
            model_flops_utilization=self.model_flops_utilization.at(index),
            bottleneck=_largest(terms) or "speed.compute",
            terms=terms,
        )


@dataclass(frozen=True)
class InferenceSpeedBlock:
    """`InferenceSpeed` for many candidates."""

    time_to_first_token_seconds: Bounds
    time_per_output_token_seconds: Bounds
    tokens_per_second: Bounds
    tokens_per_second_per_gpu: Bounds
    terms: tuple[TermBlock, ...]
    known: Number = True  # False where a rate of the card is not known: the figures mean nothing there

    def at(self, index: int | None = None) -> InferenceSpeed:
        """The speed of one candidate."""
        terms = tuple(t.at(index) for t in self.terms)
        return InferenceSpeed(
            time_to_first_token_seconds=self.time_to_first_token_seconds.at(index),
            time_per_output_token_seconds=self.time_per_output_token_seconds.at(index),
            tokens_per_second=self.tokens_per_second.at(index),
            tokens_per_second_per_gpu=self.tokens_per_second_per_gpu.at(index),
            bottleneck=_largest(terms) or "speed.memory_bound",
            terms=terms,
        )
