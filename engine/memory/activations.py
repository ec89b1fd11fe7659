"""What the forward pass keeps for backward, the working memory of one block, and copies that autocast makes."""

from __future__ import annotations

import numpy as np

from engine.layout.model import Loss, Offload, Recomputation
from engine.memory.precision import uses_autocast
from engine.memory.step import Step
from engine.memory.terms import TRACE, term
from engine.quantity import Bounds, Number, TermBlock

__all__ = ["block_work", "cast_copies", "head_cast_copy", "inputs", "kept_activations", "layer_activations"]


def inputs(step: Step) -> TermBlock:
    """Token ids and labels, 8 bytes each."""
    return term("memory.inputs", 16.0 * step.tokens, "16 * tokens", tokens=step.tokens)


def rest_per_token(step: Step) -> Bounds:
    """Bytes a token kept outside the blocks; a plain loss under adapters lacks the gradient of its input (2h)."""
    if step.layout.loss is Loss.PLAIN and not step.trains_weights:
        return step.rest + (-2.0 * step.hidden)
    return step.rest


def kept_activations(step: Step, *, with_rest: bool = True) -> TermBlock:
    """Activations of all blocks: what autograd keeps, or the inputs of recomputed blocks.

    Offloaded ones live in host memory but for two blocks on their way. A pipeline's first stage holds those of
    several micro-batches.
    """
    layers = step.saved * step.share.in_flight
    if step.layout.offload is Offload.ACTIVATIONS:
        two = step.saved_block * np.minimum(2.0, step.share.layers)
        layers = Bounds(two.low, two.expected, two.high)
    if step.layout.recomputation is Recomputation.SELECTIVE and not step.known_kernels:
        # which operators are recomputed differs: from attention alone to every second block's inner tensors
        more = step.attention_part * step.share.layers
        layers = Bounds(layers.low * 0.5, layers.expected, layers.high + more)
    rest = rest_per_token(step) * (step.share.logits if with_rest else 0.0)
    return term(
        "memory.activations",
        (layers + rest) * step.tokens,
        "tokens * (kept_per_token + rest_per_token)",
        tokens=step.tokens,
        kept_per_token=layers.expected,
        rest_per_token=rest.expected,
        layers=step.share.layers,
        micro_batches_in_flight=step.share.in_flight,
    )


def layer_activations(step: Step, blocks: Number) -> TermBlock:
    """Activations of the `blocks` blocks that backward has not finished yet."""
    held = np.minimum(blocks, step.share.layers)
    flight = np.maximum(step.share.in_flight - 1, 0) * step.share.layers
    count = held + (0.0 if step.layout.offload is Offload.ACTIVATIONS else flight)
    return term(
        "memory.activations",
        step.saved_block * (step.tokens * count),
        "tokens * blocks * kept_per_token_and_block",
        tokens=step.tokens,
        blocks=count,
        kept_per_token_and_block=step.saved_block.expected,
    )


def block_work(step: Step, per_token: Bounds) -> TermBlock:
    """Tensors that exist only while one block runs: recomputed ones, gradients of activations, upcasts."""
    return term(
        "memory.block_work",
        per_token * step.tokens,
        "tokens * bytes_per_token",
        TRACE,
        tokens=step.tokens,
        bytes_per_token=per_token.expected,
    )


def cast_copies(step: Step, elements: Number) -> TermBlock:
    """16-bit copies of 32-bit matrices, which autocast keeps until it ends."""
    return term(
        "memory.cast_copies",
        step.precision.copies * elements,
        "bytes_per_element * elements",
        bytes_per_element=step.precision.copies,
        elements=elements,
    )


def head_cast_copy(step: Step) -> TermBlock | None:
    """A frozen 32-bit head under autocast is cast without the cache, and the copy is saved for backward."""
    mixed = uses_autocast(step.job, step.layout)
    if not (mixed and step.job.kbit_preparation and step.layout.loss is Loss.PLAIN and not step.trains_weights):
        return None
    elements = (step.share.embedding if step.shape.tied else step.share.head) * step.share.logits
    return term("memory.cast_copies", 2.0 * elements, "2 * elements", elements=elements)
