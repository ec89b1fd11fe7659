"""Weights that live on a card: trained or frozen, quantised or not, adapters, and a reference model."""

from __future__ import annotations

import numpy as np

from engine.layout.model import Regime
from engine.memory.quantized import FORMATS, linear_bytes, unquantised_bytes_per_element
from engine.memory.step import Step
from engine.memory.terms import TRACE, term
from engine.quantity import Bounds, Number, TermBlock

__all__ = ["base_bytes", "block_bytes", "padding_of_block", "root_bytes", "sharded", "weight_terms"]

ZERO = "ZeRO, arXiv:1910.02054"


def sharded(dense: Number, experts: Number, ranks: Number, expert_ranks: Number) -> Number:
    """Share of one rank: experts are spread over the expert-parallel ranks already, so over fewer ranks again."""
    return dense / ranks + experts / np.maximum(ranks / expert_ranks, 1.0)


def base_bytes(step: Step) -> tuple[Bounds, Bounds]:
    """Bytes of the model's own weights on one card before data-parallel sharding: all but experts, experts."""
    share, quantization = step.share, step.job.weight_quantization
    if step.trains_weights or quantization == "none":
        return Bounds.exact(share.dense_part * step.precision.base), Bounds.exact(share.experts * step.precision.base)
    kept = unquantised_bytes_per_element(
        quantization, kbit_preparation=step.job.kbit_preparation, base=step.precision.base
    )
    fraction = share.layers / step.shape.layers
    matrices = sum(m.count for m in step.shape.matrices if m.group != "expert") * fraction
    experts_quantised = FORMATS[quantization].experts or step.job.experts_implementation == "separate"
    dense = linear_bytes(share.linear, matrices, quantization) + (share.dense_part - share.linear) * kept
    if not experts_quantised:
        return dense, Bounds.exact(share.experts * kept)
    return dense, linear_bytes(share.experts, 0.0, quantization)


def root_bytes(step: Step, width: float) -> Number:
    """Bytes of what stands outside the blocks: embedding, head, final norm."""
    return (step.share.embedding + step.share.positions + step.share.head + step.shape.hidden) * width


def padding_of_block(step: Step) -> Number:
    """Elements by which the buffers of one block exceed its weights, because shards of stacked experts are padded."""
    routed = np.maximum(step.share.layers - step.share.dense_layers, 1.0)
    return step.share.experts / routed * (step.divisors.padding - 1.0)


def block_bytes(step: Step) -> Number:
    """Bytes of one block's weights when gathered."""
    if step.trains_weights or step.job.weight_quantization == "none":
        return (step.share.block + padding_of_block(step)) * step.precision.gathered
    dense, experts = base_bytes(step)
    root = root_bytes(step, step.precision.base)
    return np.maximum(dense.expected + experts.expected - root, 0.0) / step.share.layers


def weight_terms(step: Step) -> list[TermBlock]:
    """Weights, adapters and reference model, after sharding and offloading."""
    ranks, expert_ranks = step.divisors.weights, step.divisors.experts
    dense, experts = base_bytes(step)
    terms: list[TermBlock] = []
    if not step.weights_on_host:
        amount = Bounds(
            *(
                sharded(d, e, ranks, expert_ranks)
                for d, e in ((dense.low, experts.low), (dense.expected, experts.expected), (dense.high, experts.high))
            )
        )
        if step.trains_weights:
            formula = "(elements / ranks + expert_elements / max(ranks / expert_ranks, 1)) * bytes_per_element"
            values: dict[str, Number | str] = {
                "elements": step.share.dense_part,
                "expert_elements": step.share.experts,
                "bytes_per_element": step.precision.base,
            }
            source = f"{TRACE}; {ZERO}"
        else:
            formula = "dense_bytes / ranks + expert_bytes / max(ranks / expert_ranks, 1)"
            values = {"dense_bytes": dense.expected, "expert_bytes": experts.expected}
            values["format"] = step.job.weight_quantization
            source = FORMATS[step.job.weight_quantization].source
        terms.append(term("memory.weights", amount, formula, source, ranks=ranks, expert_ranks=expert_ranks, **values))
    if not step.trains_weights:
        terms.append(
            term(
                "memory.adapters",
                step.trained.adapters * step.precision.trained / ranks,
                "elements * bytes_per_element / ranks",
                elements=step.trained.adapters,
                bytes_per_element=step.precision.trained,
                ranks=ranks,
            )
        )
    if step.job.reference_model:
        terms.append(_reference_model(step))
    return terms


def _reference_model(step: Step) -> TermBlock:
    """A frozen copy of the whole model (DPO, arXiv:2305.18290), in the dtype of the policy or in 16 bits."""
    ranks, expert_ranks = step.divisors.weights, step.divisors.experts
    elements = sharded(step.share.dense_part, step.share.experts, ranks, expert_ranks)
    width = 4.0 if step.layout.regime in (Regime.FP32, Regime.BF16_AMP, Regime.FP16_AMP) else 2.0
    return term(
        "memory.reference_model",
        Bounds(elements * 2.0, elements * width, elements * width),
        "elements_on_card * bytes_per_element",
        "direct preference optimisation, arXiv:2305.18290",
        elements_on_card=elements,
        bytes_per_element=width,
    )
