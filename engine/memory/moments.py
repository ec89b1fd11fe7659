"""The moments of a training step at which the peak can lie, each as a sum of named terms.

Between the first and the last block of the backward pass live bytes change linearly (activations go, gradients
come), so only the ends can be the maximum. Source: traces; see `block_factors.json` for versions.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from engine.layout.model import Loss, Optimizer, Recomputation, Sharding
from engine.memory.activations import (
    block_work,
    cast_copies,
    head_cast_copy,
    inputs,
    kept_activations,
    layer_activations,
)
from engine.memory.gradients import all_gradients, expert_loop, gradient_term, kept_between_micro_steps, whole_gradients
from engine.memory.logits import held_logits, loss_backward, loss_forward, loss_kept
from engine.memory.optimizer import Trained, scratch_bytes, state_bytes, states_formula
from engine.memory.result import Phase
from engine.memory.sharding import bucket_term, context_term, gather_term, optimizer_share, reduce_term
from engine.memory.step import Step
from engine.memory.terms import TRACE, term
from engine.memory.weights import padding_of_block, weight_terms
from engine.quantity import Bounds, Number, TermBlock

__all__ = ["Moment", "moments_of", "static_terms"]

#: A bf16 tensor more for each norm input and five 32-bit ones in the backward pass of a norm: 22 bytes a hidden
#: element above what the block keeps. Source: traces of FSDP2 (the operator at the peak is the norm's `mul`).
NORM_BACKWARD = 22.0

#: Bytes a hidden element that a recomputed block still holds when the backward pass of its second norm runs.
NORM_KEPT = 12.0


@dataclass(frozen=True, slots=True)
class Moment:
    """One instant: its label, its phase and what is allocated."""

    label: str
    phase: Phase
    terms: tuple[TermBlock, ...]


def static_terms(step: Step) -> list[TermBlock]:
    """What is there throughout: weights, states, accumulated gradients, inputs, reduction buckets."""
    terms = weight_terms(step)
    terms.append(_states(step))
    kept = kept_between_micro_steps(step)
    terms.append(gradient_term(step, kept, "kept_gradients", kept_gradients=kept))
    terms.append(inputs(step))
    bucket = bucket_term(step)
    return [*terms, bucket] if bucket else terms


def _trained_share(step: Step) -> Trained:
    elements = optimizer_share(step)
    ranks = step.divisors.optimizer
    shape, fraction = step.shape, step.share.layers / step.shape.layers
    if not step.trains_weights:
        return Trained(elements, 0.0, elements / 64, 0.0, 0.0)
    lines = sum((m.inputs + m.outputs) * m.count for m in shape.matrices) * fraction
    outside = np.where(step.share.embedding > 0, shape.vocabulary + shape.hidden, 0) * 1.0
    separate = step.job.experts_implementation == "separate"  # stacked experts are no matrices to Muon
    blocks = [m.size for m in shape.matrices if separate or m.group != "expert"] or [shape.block]
    inner = max(blocks) / np.asarray(step.layout.tensor_parallel)
    largest = np.maximum(np.maximum(step.share.embedding, step.share.head), inner)
    return Trained(
        elements=elements,
        matrices=(step.share.linear + (step.share.experts if separate else 0.0)) / ranks,
        rows_columns=(lines + outside + step.share.other) / ranks,
        largest=largest / ranks,
        largest_in_block=inner,
    )


def _states(step: Step) -> TermBlock:
    trained = _trained_share(step)
    optimizer, precision = step.layout.optimizer, step.precision
    amount = state_bytes(optimizer, trained, precision.state, precision.master)
    on_card = 1.0
    if step.states_on_host:
        amount, on_card = amount * 0.0, 0.0
    return term(
        "memory.optimizer_states",
        amount,
        f"({states_formula(optimizer)}) * on_card",
        f"{TRACE}; AdamW arXiv:1711.05101",
        elements=trained.elements,
        matrix_elements=trained.matrices,
        rows_and_columns=trained.rows_columns,
        bytes_per_state=precision.state,
        bytes_of_master=precision.master,
        on_card=on_card,
        optimizer=optimizer.value,
    )


def moments_of(step: Step) -> list[Moment]:
    """All moments of one card's step, those that cannot be the peak included."""
    static = static_terms(step)
    moments = [_loss_forward(step, static), _blocks_forward(step, static)]
    if step.gathers:
        moments.append(_gathering(step, static))
    if step.layout.sharding is Sharding.FSDP2 and step.layout.reshard_after_forward:
        moments.append(_root_gathering(step, static))
    if step.layout.loss is Loss.PLAIN:
        moments.append(_loss_backward(step, static))
    moments += [_first_block(step, static), _last_block(step, static)]
    if step.layout.sharding in (Sharding.ZERO2, Sharding.ZERO3, Sharding.FSDP2) and step.trains_weights:
        moments += [_inner_block(step, static, first=first) for first in (True, False)]
        moments.append(_root_reduction(step, static))
    if step.trains_weights:
        moments.append(_embedding(step, static))
    if not step.layout.optimizer_in_backward and not step.states_on_host:
        moments.append(_optimizer_step(step, static))
    return moments


def _moment(label: str, phase: Phase, *parts: TermBlock | list[TermBlock] | None) -> Moment:
    terms: list[TermBlock] = []
    for part in parts:
        terms += part if isinstance(part, list) else [part] if part is not None else []
    return Moment(f"memory.moment.{label}", phase, tuple(terms))


def _all_copies(step: Step) -> TermBlock | None:
    if not step.precision.copies:
        return None
    head = step.share.embedding if step.shape.tied else step.share.head
    return cast_copies(step, step.share.linear + head)


def _loss_forward(step: Step, static: list[TermBlock]) -> Moment:
    return _moment(
        "loss_forward",
        "forward",
        static,
        kept_activations(step),
        loss_forward(step),
        _all_copies(step),
        head_cast_copy(step),
        gather_term(step, 1.0, before_backward=True, kept_more=1.0),
    )


def _blocks_forward(step: Step, static: list[TermBlock]) -> Moment:
    work = block_work(step, step.forward)
    kept = kept_activations(step, with_rest=False)
    gathered = gather_term(step, 2.0, before_backward=True)
    return _moment("blocks_forward", "forward", static, kept, work, context_term(step), _all_copies(step), gathered)


def _gathering(step: Step, static: list[TermBlock]) -> Moment:
    """Between two blocks of the forward pass: one still whole, the next one whole beside its flat buffer."""
    kept = kept_activations(step, with_rest=False)
    return _moment("block_gathering", "forward", static, kept, gather_term(step, 3.0, before_backward=True))


def _root_gathering(step: Step, static: list[TermBlock]) -> Moment:
    """Backward begins: what stands outside the blocks is whole again, beside the flat buffer that it came in.

    Source: traces of FSDP2; its root is resharded after the forward pass like every block.
    """
    twice = gather_term(step, 0.0, copies=2.0)
    return _moment("root_gathering", "backward", static, kept_activations(step), loss_kept(step), twice)


def _loss_backward(step: Step, static: list[TermBlock]) -> Moment:
    copies = None
    if step.precision.copies:
        head = step.share.embedding if step.shape.tied else step.share.head
        all_kept = step.layout.recomputation is Recomputation.NONE
        copies = cast_copies(step, head + (step.share.linear if all_kept else 0.0))
    return _moment(
        "loss_backward",
        "backward",
        static,
        kept_activations(step),
        loss_backward(step),
        copies,
        head_cast_copy(step),
        gather_term(step, 1.0, before_backward=True),
    )


def _layer_copies(step: Step) -> TermBlock | None:
    if not step.precision.copies:
        return None
    if step.layout.recomputation is Recomputation.NONE:
        return _all_copies(step)
    return cast_copies(step, step.share.block_linear)


def _first_block(step: Step, static: list[TermBlock]) -> Moment:
    whole = whole_gradients(step)
    stays = 0.0 if step.layout.optimizer_in_backward else 1.0 - step.accumulates
    part = step.forms.gradient_part * stays
    # used up at once by the step or the sum, unless it is but a part (tied) or awaits the reduction (sharded)
    head = whole["head"] * (1.0 if step.shape.tied or step.gathers else stays)
    gradients = gradient_term(
        step,
        head + part * whole["block"] + expert_loop(step),
        "head_gradient + part_of_block * block_gradients + loop_over_experts",
        loop_over_experts=expert_loop(step),
        head_gradient=head,
        part_of_block=part,
        block_gradients=whole["block"],
    )
    return _moment(
        "first_block_backward",
        "backward",
        static,
        kept_activations(step, with_rest=False),
        block_work(step, step.backward),
        context_term(step),
        gradients,
        held_logits(step),
        _layer_copies(step),
        gather_term(step, 2.0, before_backward=True),
    )


def _last_block(step: Step, static: list[TermBlock]) -> Moment:
    whole, part = whole_gradients(step), step.forms.gradient_part
    layout = step.layout
    if layout.optimizer_in_backward:
        alive, formula = part * whole["block"], "part_of_block * block_gradients"
        values: dict[str, Number] = {}
    elif layout.sharding in (Sharding.ZERO2, Sharding.ZERO3, Sharding.FSDP2):
        done = _sharded_block_gradients(step, 1.0)
        alive = done + whole["head"] + part * whole["block"]
        formula = "sharded_gradients + head_gradient + part_of_block * block_gradients"
        values = {"sharded_gradients": done, "head_gradient": whole["head"]}
    else:
        alive = whole["all"] - whole["embedding"] - (1 - part) * whole["block"]
        formula = "all_gradients - embedding_gradient - (1 - part_of_block) * block_gradients"
        values = {"all_gradients": whole["all"], "embedding_gradient": whole["embedding"]}
    late = part * whole["block"] / 3  # gradients exist already: a new one lives until it is added
    alive = alive * (1 - step.accumulates) + late * step.accumulates + expert_loop(step)
    formula = f"({formula}) * (1 - accumulated) + part_of_block * block_gradients / 3 * accumulated + loop_over_experts"
    values |= {"loop_over_experts": expert_loop(step)}
    values |= {"part_of_block": part, "block_gradients": whole["block"], "accumulated": step.accumulates}
    copies = _layer_copies(step)
    if copies is not None and layout.recomputation is Recomputation.NONE:
        copies = cast_copies(step, step.share.block)
    return _moment(
        "last_block_backward",
        "backward",
        static,
        layer_activations(step, 1.0),
        block_work(step, step.bottom),
        context_term(step),
        gradient_term(step, alive, formula, at_step=False, **values),
        held_logits(step),
        copies,
        gather_term(step, 1.0),
        reduce_term(step, step.trained.block + padding_of_block(step)),
    )


def _inner_block(step: Step, static: list[TermBlock], *, first: bool) -> Moment:
    """The second (or the second to last) block of backward when its MLP is done: its gradients whole, those of the
    block before in reduction.
    """
    blocks = np.maximum(step.share.layers - 1.0, 1.0) if first else 2.0
    whole = whole_gradients(step)
    mlp = 1.0 - _attention_share(step)
    done = _sharded_block_gradients(step, blocks) * (1 - step.accumulates)
    root = whole["head"]
    work = step.hidden * (NORM_BACKWARD + NORM_KEPT) + step.attention_part
    if step.layout.recomputation is not Recomputation.FULL:
        kept = step.saved_block.expected
        work = np.maximum(work - kept, step.hidden * NORM_BACKWARD)
    gradients = gradient_term(
        step,
        done + root + mlp * whole["block"],
        "sharded_gradients + head_gradient + mlp_share * block_gradients",
        sharded_gradients=done,
        head_gradient=root,
        mlp_share=mlp,
        block_gradients=whole["block"],
    )
    return _moment(
        "second_block_backward" if first else "inner_block_backward",
        "backward",
        static,
        layer_activations(step, blocks),
        block_work(step, Bounds.around(work, 0.8, 1.2)),
        gradients,
        gather_term(step, 2.0),
        reduce_term(step, step.trained.block + padding_of_block(step)),
    )


def _root_elements(step: Step) -> Number:
    return step.trained.embedding + step.trained.positions + step.trained.head + step.hidden * step.trains_weights


def _sharded_block_gradients(step: Step, running: Number) -> Number:
    """Reduced gradients of all blocks but the last `running` ones."""
    each = all_gradients(step) / np.maximum(step.trained.total, 1.0)
    blocks = all_gradients(step) - each * _root_elements(step)
    return np.maximum(blocks * (1 - running / step.share.layers), 0.0)


def _attention_share(step: Step) -> Number:
    """Part of a block's weights that is attention."""
    attention = sum(m.size * m.count for m in step.shape.matrices if m.group == "attention") / step.shape.layers
    return min(attention / max(step.shape.block, 1), 1.0)


def _root_reduction(step: Step, static: list[TermBlock]) -> Moment:
    """The end of backward: gradients of embedding, head and final norm are reduced in one flat buffer."""
    outside = _root_elements(step)
    whole = outside * step.precision.gathered
    done = _sharded_block_gradients(step, 0.0) * (1 - step.accumulates)
    gradients = gradient_term(
        step,
        done + whole,
        "sharded_gradients + gradients_outside_blocks",
        sharded_gradients=done,
        gradients_outside_blocks=whole,
    )
    return _moment("root_reduction", "backward", static, gradients, reduce_term(step, outside))


def _embedding(step: Step, static: list[TermBlock]) -> Moment:
    if step.gathers and step.layout.sharding in (Sharding.ZERO3, Sharding.FSDP2):
        return _sharded_embedding(step, static)
    tied = 2.0 if step.shape.tied else 0.0
    in_backward = 1.0 if step.layout.optimizer_in_backward else 0.0
    none = 0.0 if step.layout.optimizer_in_backward else 1.0
    alive = all_gradients(step) * none * (1 - step.accumulates)
    width = step.precision.gradient
    extra = tied + np.maximum(step.accumulates, in_backward)
    last = step.trained.embedding * width
    gradients = gradient_term(
        step,
        alive + extra * last,
        "gradients + parts_of_embedding * embedding_gradient",
        gradients=alive,
        parts_of_embedding=extra,
        embedding_gradient=last,
    )
    flowing = 0.0 if step.shape.tied else 2.0 * step.hidden
    return _moment(
        "embedding_backward",
        "backward",
        static,
        block_work(step, Bounds.exact(flowing + 0.0 * step.tokens)),
        gradients,
        held_logits(step),
        gather_term(step, 0.0),
    )


def _sharded_embedding(step: Step, static: list[TermBlock]) -> Moment:
    """The same where gradients outside the blocks are whole until they are reduced, beside the last block's buffer."""
    whole = whole_gradients(step)
    done = _sharded_block_gradients(step, 0.0) * (1 - step.accumulates)
    outside = whole["head"] * (3.0 if step.shape.tied else 1.0) + whole["embedding"]
    gradients = gradient_term(
        step,
        done + outside,
        "sharded_gradients + gradients_outside_blocks",
        sharded_gradients=done,
        gradients_outside_blocks=outside,
    )
    reduced = reduce_term(step, step.trained.block + padding_of_block(step))
    return _moment("embedding_backward", "backward", static, gradients, gather_term(step, 0.0), reduced)


def _optimizer_step(step: Step, static: list[TermBlock]) -> Moment:
    persistent = kept_between_micro_steps(step)
    alive = all_gradients(step) - persistent
    trained, optimizer = _trained_share(step), step.layout.optimizer
    width = step.precision.trained
    scratch = scratch_bytes(optimizer, trained, width, master_apart=bool(step.precision.master))
    terms: list[TermBlock | list[TermBlock] | None] = [
        static,
        gradient_term(step, alive, "gradients_of_this_step", at_step=True, gradients_of_this_step=alive),
    ]
    if optimizer in (
        Optimizer.ADAMW_FOREACH,
        Optimizer.ADAMW_MASTER,
        Optimizer.LION,
        Optimizer.ADAFACTOR,
        Optimizer.MUON,
    ):
        terms.append(term("memory.step_scratch", scratch, "scratch", scratch=scratch, optimizer=optimizer.value))
    return _moment("optimizer_step", "optimizer", *terms)
