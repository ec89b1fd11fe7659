"""Buffers of data parallelism: gathered weights, and gradients on their way through a reduction.

FSDP2 keeps the weights outside the blocks gathered from the first operator to the end of backward, beside those of
the running block and one buffer for the next. ZeRO-3 gathers by module within a budget. Source: traces of FSDP2;
DeepSpeed's documented defaults (stage3_max_live_parameters 1e9 elements, reduce_bucket_size 5e8 elements).
"""

from __future__ import annotations

import numpy as np

from engine.layout.model import Sharding
from engine.memory.gradients import whole_gradients
from engine.memory.precision import MAIN_GRADIENT_FRAMEWORKS
from engine.memory.step import Step
from engine.memory.terms import TRACE, term
from engine.memory.weights import block_bytes, root_bytes, sharded
from engine.quantity import Bounds, Number, TermBlock

__all__ = ["bucket_term", "context_term", "gather_term", "optimizer_share", "reduce_term"]

LIVE_ELEMENTS = 1e9  # elements; DeepSpeed stage3_max_live_parameters
BUCKET_ELEMENTS = 5e8  # elements; DeepSpeed reduce_bucket_size and allgather_bucket_size
OVERLAP = 4.5  # buckets that overlap_comm may use at once, by the same reference
DEEPSPEED = "DeepSpeed configuration reference: ZeRO options and their defaults"


def gather_term(
    step: Step, blocks: float, *, before_backward: bool = False, kept_more: float = 0.0, copies: float = 1.0
) -> TermBlock | None:
    """Whole weights that exist beside the shards while `blocks` blocks are gathered.

    `before_backward`: where weights that are not resharded are all there, and `kept_more` buffers with them.
    `copies`: how often the weights outside the blocks exist (2 while they are copied out of a buffer).
    """
    if not step.gathers:
        return None
    root, block = copies * root_bytes(step, step.precision.gathered), block_bytes(step)
    several = (np.asarray(step.divisors.weights) > 1) | step.weights_on_host
    held: Number = blocks
    if before_backward and not step.layout.reshard_after_forward:
        held = step.share.layers + (blocks - 1.0) + kept_more
    amount = Bounds.exact((root + block * held) * several)
    if step.layout.sharding is Sharding.ZERO3:
        everything = root + block * step.share.layers
        budget = np.minimum(LIVE_ELEMENTS * step.precision.gathered, everything)
        live = np.maximum(amount.expected, budget * several)
        prefetch = np.minimum(BUCKET_ELEMENTS * step.precision.gathered, everything) * several
        amount = Bounds(np.minimum(amount.expected, block * blocks * several), live, live + prefetch)
        held = (live / np.maximum(several, 1) - root) / block
    return term(
        "memory.gather_buffers",
        amount,
        "(outside_blocks + block * blocks) * sharded",
        TRACE if step.layout.sharding is Sharding.FSDP2 else DEEPSPEED,
        outside_blocks=root,
        block=block,
        blocks=held,
        sharded=several * 1.0,
    )


def reduce_term(step: Step, elements: Number) -> TermBlock | None:
    """Flat buffer in which FSDP2 and ZeRO-2/3 reduce the gradients of one group of weights."""
    if step.layout.sharding not in (Sharding.ZERO2, Sharding.ZERO3, Sharding.FSDP2):
        return None
    several = np.asarray(step.divisors.gradients) > 1
    width = step.precision.reduced
    amount = Bounds.exact(width * elements * several)
    if step.layout.sharding is not Sharding.FSDP2:
        bucket = np.minimum(BUCKET_ELEMENTS, step.trained.total) * width * several
        expected = np.maximum(amount.expected, 2 * bucket)
        amount = Bounds(np.minimum(amount.expected, bucket), expected, np.maximum(expected, OVERLAP * bucket))
        elements = amount.expected / width
    return term(
        "memory.reduce_buffers",
        amount,
        "bytes_per_element * elements * sharded",
        TRACE if step.layout.sharding is Sharding.FSDP2 else DEEPSPEED,
        bytes_per_element=width,
        elements=elements,
        sharded=several * 1.0,
    )


def bucket_term(step: Step) -> TermBlock | None:
    """Buffers that exist for the whole step where gradients are reduced without being sharded.

    PyTorch DDP copies all gradients into buckets unless they are views of them (gradient_as_bucket_view, off by
    default); Megatron reduces in place; DeepSpeed ZeRO-1 has buckets of a fixed size for reducing and gathering.
    """
    replicas = np.asarray(step.layout.data_parallel) * np.asarray(step.layout.context_parallel) > 1
    whole = whole_gradients(step)["all"]
    if step.layout.sharding is Sharding.NONE:
        in_place = step.job.framework.startswith(MAIN_GRADIENT_FRAMEWORKS)
        amount = whole * replicas * (0.0 if in_place else 1.0)
        return term(
            "memory.reduce_buffers",
            Bounds(0.0 * amount, amount, amount),
            "gradients * copied",
            "PyTorch DistributedDataParallel: gradient_as_bucket_view=False",
            gradients=whole,
            copied=replicas * (0.0 if in_place else 1.0),
        )
    if step.layout.sharding is Sharding.ZERO1:
        several = np.asarray(step.divisors.optimizer) > 1
        one = np.minimum(BUCKET_ELEMENTS, step.trained.total) * step.precision.gradient * several
        return term(
            "memory.reduce_buffers",
            Bounds(0.0 * one, one, 2 * one),
            "bucket_bytes",
            DEEPSPEED,
            bucket_bytes=one,
        )
    return None


def context_term(step: Step) -> TermBlock | None:
    """Keys and values that travel between context-parallel ranks while one block's attention runs.

    A ring double-buffers the k and v of two ranks (8 k bytes a token) and keeps a 32-bit output (4 a); gathering
    all keys and values at once takes 4 k for the tokens of every rank. Source: ring attention, arXiv:2310.01889.
    """
    ranks = np.asarray(step.layout.context_parallel)
    if not np.any(ranks > 1):
        return None
    several = np.where(ranks > 1, 1.0, 0.0)
    ring = step.tokens * (8 * step.key_width + 4 * step.query_width) * several
    gathered = step.tokens * (4 * step.key_width * ranks + 4 * step.query_width) * several
    return term(
        "memory.context_exchange",
        Bounds(4 * step.tokens * step.key_width * several, ring, np.maximum(ring, gathered)),
        "tokens * (8 * key_width + 4 * query_width) * several_ranks",
        "ring attention, arXiv:2310.01889",
        tokens=step.tokens,
        key_width=step.key_width,
        query_width=step.query_width,
        several_ranks=several,
    )


def optimizer_share(step: Step) -> Number:
    """Elements that one rank's optimizer updates."""
    trained = step.trained
    return sharded(trained.dense, trained.experts, step.divisors.optimizer, step.divisors.experts)
