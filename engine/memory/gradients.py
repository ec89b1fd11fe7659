"""Gradients of what is trained: how many bytes exist at each moment of the step."""

from __future__ import annotations

import numpy as np

from engine.layout.model import Sharding
from engine.memory.step import Step
from engine.memory.terms import term
from engine.memory.weights import ZERO, sharded
from engine.quantity import Bounds, Number, TermBlock

__all__ = ["all_gradients", "expert_loop", "gradient_term", "kept_between_micro_steps", "whole_gradients"]


def whole_gradients(step: Step) -> dict[str, Number]:
    """Bytes of the gradients of the head, the embedding, one block, and everything, before any sharding."""
    trained = step.trained
    width = step.precision.gathered if step.gathers and step.trains_weights else step.precision.gradient
    return {
        "head": width * (trained.embedding if step.shape.tied else trained.head),
        "embedding": width * (trained.positions + (0.0 if step.shape.tied else trained.embedding)),
        "block": width * trained.block,
        "all": width * trained.total,
    }


#: Stacked tensors of the size of gate and up that exist at once where experts run in a loop: each gradient comes as a
#: whole tensor, zero elsewhere, beside the sum so far and the new sum. Gate and up are two thirds of the experts.
LOOP_COPIES = 3.0


def expert_loop(step: Step) -> Number:
    """Bytes of the gradients of one block's stacked experts while a loop over the experts adds them up.

    Source: traces with `experts="eager"` (the operator at the peak is `select_backward` or the sum).
    """
    if step.job.experts_implementation != "eager" or not step.trains_weights:
        return 0.0
    routed = np.maximum(step.share.layers - step.share.dense_layers, 1.0)
    width = step.precision.gathered if step.gathers else step.precision.gradient
    return width * step.share.experts / routed * (2.0 * LOOP_COPIES + 1.0) / 3.0


def all_gradients(step: Step) -> Number:
    """Bytes of all gradients that one rank keeps: 1/N of them from ZeRO-2 on, none if the host holds that part.

    With states in host memory the reduced part of the gradients goes there at once (ZeRO-Offload, arXiv:2101.06840).
    """
    trained = step.trained
    if step.states_on_host and step.layout.sharding in (Sharding.ZERO2, Sharding.ZERO3, Sharding.FSDP2):
        return 0.0 * trained.total
    elements = sharded(trained.dense, trained.experts, step.divisors.gradients, step.divisors.experts)
    return elements * _kept_width(step)


def _kept_width(step: Step) -> float:
    """Sharded gradients are kept in the dtype of the shards (FSDP2) or of the gradients."""
    fsdp = step.layout.sharding is Sharding.FSDP2
    return step.precision.trained if fsdp else step.precision.gradient


def gradient_term(step: Step, amount: Number, formula: str, *, at_step: bool = False, **values: Number) -> TermBlock:
    """Gradients alive at one moment. With 32-bit masters the interval spans 16- and 32-bit gradients (cases.md §2)."""
    scale = step.precision.gradient_step if at_step else step.precision.gradient_kept
    expected = amount if scale[1] == 1.0 else amount * scale[1]
    low, high = (expected if s == scale[1] else amount * s for s in (scale[0], scale[2]))
    if step.states_on_host:
        low = low * 0.0  # may be streamed to the host as they come
    return term(
        "memory.gradients",
        Bounds(low, expected, high),
        f"({formula}) * copies",
        f"traces; {ZERO}",
        copies=scale[1],
        **values,
    )


def kept_between_micro_steps(step: Step) -> Number:
    """Bytes of gradients that exist throughout: accumulated ones, or a persistent buffer of the framework."""
    return all_gradients(step) * step.accumulates
