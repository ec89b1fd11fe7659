"""How often each part of the work is done in a micro-step: forward, two gradients, recomputation, reference passes."""

from __future__ import annotations

from dataclasses import dataclass

from engine.layout.model import Attention, Job, LayoutLike, Method, Recomputation

__all__ = ["Passes", "passes_for", "trains_adapters"]

#: Preference methods that also run a frozen reference over the same tokens (DPO arXiv:2305.18290, KTO 2402.01306,
#: knowledge distillation: the teacher, taken to be of the student's size).
_WITH_REFERENCE = frozenset({Method.DPO, Method.KTO, Method.DISTILL})
#: Matrix products of attention, in units of the forward pass: gradients need dQ, dK, dV and dP, twice the forward two;
#: fused kernels also repeat QK^T (FlashAttention-2, arXiv:2307.08691, section 3.1).
_ATTENTION_BACKWARD = {Attention.FLASH: 2.5, Attention.SDPA: 2.5, Attention.EAGER: 2.0}


@dataclass(frozen=True, slots=True)
class Passes:
    """Multiples of one forward pass. `needed` counts what the method needs, without recomputation."""

    blocks: float  # matrices of the layers
    blocks_needed: float
    attention: float
    attention_needed: float
    head: float
    elementwise: float  # reads and writes between the matrices
    forward: float  # times that the layers' weights are read or gathered
    weight_reads: float
    layer_forwards: float  # forward passes through the layers, for collectives and kernels
    layer_backwards: float
    reference: float  # forward passes of a frozen reference model


def trains_adapters(job: Job) -> bool:
    """Whether only adapters (or a prompt) are trained, the model itself frozen."""
    return job.lora is not None or job.virtual_tokens > 0


def _products_again(job: Job, layout: LayoutLike) -> float:
    """Share of the products that selective recomputation repeats.

    The scores alone in Megatron-LM (arXiv:2205.05198, section 5); torchtitan's selection by operator keeps every second
    product and repeats the others (its `selective_ac_option: op`).
    """
    by_operator = layout.recomputation is Recomputation.SELECTIVE and "torchtitan" in job.framework.lower()
    return 0.5 if by_operator else 0.0


def passes_for(job: Job, layout: LayoutLike) -> Passes:
    """Multiples of the forward pass for one micro-step of training.

    Full training: forward 1, gradients of activations 1 and of weights 1. Frozen weights need no gradient, but
    activations are still propagated through them. `freeze` trains the last layers only: both gradients for that share.
    Full recomputation repeats the forward pass of the layers, selective and attention-only that of the scores.
    """
    frozen = trains_adapters(job)
    share = job.trained_layers_fraction if job.method is Method.FREEZE else 1.0
    weight_gradient = 0.0 if frozen else share
    activation_gradient = share
    again = 1.0 if layout.recomputation is Recomputation.FULL else 0.0
    products = max(again, _products_again(job, layout))
    reference = 1.0 if job.reference_model or job.method in _WITH_REFERENCE else 0.0
    scores_again = 0.0 if layout.recomputation is Recomputation.NONE else 1.0
    backward = activation_gradient + weight_gradient
    return Passes(
        blocks=1 + backward + products * share + reference,
        blocks_needed=1 + backward + reference,
        attention=1 + _ATTENTION_BACKWARD[layout.attention] * share + scores_again * share + reference,
        attention_needed=1 + 2 * share + reference,
        head=2 + (0.0 if frozen or job.method is Method.FREEZE else 1.0) + reference,
        elementwise=1 + 2 * share + again * share + reference,
        forward=1 + again * share + reference,
        weight_reads=1 + activation_gradient + again * share + reference,
        layer_forwards=1 + again * share + reference,
        layer_backwards=share,
        reference=reference,
    )
