"""The head's output and the loss: what a large vocabulary costs."""

from __future__ import annotations

import numpy as np

from engine.layout.model import Loss, Method
from engine.memory.step import Step
from engine.memory.terms import term
from engine.quantity import Bounds, Number, TermBlock

__all__ = ["chunk_rows", "held_logits", "loss_backward", "loss_forward", "loss_kept"]

#: Preference losses take log-probabilities row by row or at once, and may hold the logits through backward.
PREFERENCE_SPREAD = (0.6, 1.0, 1.2)

#: Methods whose loss is made of log-probabilities of whole sequences.
PREFERENCE = (Method.DPO, Method.ORPO, Method.KTO, Method.SIMPO, Method.PPO, Method.GRPO)

LIGER = "chunk rule of Liger Kernel 0.8, arXiv:2410.10989; traces"


def chunk_rows(tokens: Number, vocabulary: Number, hidden: Number) -> Number:
    """Rows of logits that a chunked loss holds at a time: about as many bytes as the hidden states.

    min(T, next power of two of ceil(T / ceil(V / h))).
    """
    wanted = np.ceil(np.asarray(tokens, dtype=float) / np.ceil(vocabulary / hidden))
    _, exponent = np.frexp(np.maximum(wanted - 0.5, 0.5))  # exact next power of two of a whole number
    return np.minimum(np.ldexp(1.0, exponent), tokens)


def _spread(step: Step, amount: Bounds) -> Bounds:
    if step.job.method not in PREFERENCE:
        return amount
    low, expected, high = PREFERENCE_SPREAD
    return Bounds(amount.low * low, amount.expected * expected, amount.high * high)


def _compiled(step: Step, amount: Bounds) -> Bounds:
    """A compiler fuses log-softmax into its neighbours: 16-bit logits and their gradient, 4 bytes, may be all."""
    return Bounds(amount.low * 0.33, amount.expected, amount.high) if step.layout.compile else amount


def _soft_cap(step: Step) -> float:
    return 2.0 if step.shape.kind == "gemma2" else 0.0


def loss_forward(step: Step) -> TermBlock:
    """Logits while the loss is computed. Plain: 16-bit logits, their 32-bit copy and log-softmax, (2 + 4 + 4) a logit
    (8 where logits are 32-bit anyway). Chunked: one chunk of 16-bit logits, the head's input beside its gradient, and
    the head's gradient if it is trained.
    """
    if step.layout.loss is Loss.CHUNKED:
        rows = chunk_rows(step.tokens, step.vocabulary.expected, step.hidden)
        head = step.precision.gradient * (step.trained.embedding if step.shape.tied else step.trained.head)
        inputs = 2.0 * step.hidden * step.tokens * step.share.logits
        return term(
            "memory.logits",
            step.vocabulary * (rows * 2.0 * step.share.logits) + head + inputs,
            "rows * vocabulary * 2 * computes_loss + head_gradient + head_input",
            LIGER,
            head_input=inputs,
            rows=rows,
            vocabulary=step.vocabulary.expected,
            computes_loss=step.share.logits,
            head_gradient=head,
        )
    width = (8.0 if step.precision.logits == 4 else 10.0) + _soft_cap(step)
    return _plain(step, width)


def loss_backward(step: Step) -> TermBlock:
    """Plain loss in backward: log-softmax, gradient of the loss and gradient of log-softmax, 12 bytes a logit; and
    the logits themselves where the training loop holds the model's output.
    """
    return _plain(step, 12.0 + _soft_cap(step) + _held_width(step))


def loss_kept(step: Step) -> TermBlock | None:
    """What a plain loss keeps between forward and backward: log-softmax in 32 bits, and the logits where held."""
    if step.layout.loss is Loss.CHUNKED:
        return None
    return _plain(step, 4.0 + _soft_cap(step) + _held_width(step))


def held_logits(step: Step) -> TermBlock | None:
    """Logits alive in the blocks' backward pass because the training loop still holds the model's output."""
    return _plain(step, _held_width(step)) if _held_width(step) else None


def _held_width(step: Step) -> float:
    """Bytes a logit that a hand-written loop keeps through backward; the transformers Trainer drops its outputs."""
    holds = "plain loop" in step.job.framework and step.layout.loss is Loss.PLAIN
    return step.precision.logits if holds else 0.0


def _plain(step: Step, width: float) -> TermBlock:
    return term(
        "memory.logits",
        _compiled(step, _spread(step, step.vocabulary * (step.tokens * width * step.share.logits))),
        "tokens * vocabulary * bytes_per_logit * computes_loss",
        tokens=step.tokens,
        vocabulary=step.vocabulary.expected,
        bytes_per_logit=width,
        computes_loss=step.share.logits,
    )
