"""What DoRA takes beyond LoRA (arXiv:2402.09353), from first principles: no run of it is among our traces.

Each adapted matrix has a magnitude for every output, and its direction is scaled by it: for the gradient of the
magnitude the outputs of base and adapter are kept, and the norm needs the product of the adapter's two matrices, added
to the (unpacked) weight.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from engine.layout.model import Recomputation
from engine.memory.lora import adapted_matrices
from engine.memory.result import MemoryBlock, TermBlock
from engine.memory.step import Step
from engine.quantity import Bounds, Number

__all__ = ["with_dora"]

#: Outputs that each adapted matrix keeps for backward: of base and adapter; one where a kernel fuses them, three where
#: the scaled one is a tensor of its own.
KEPT_OUTPUTS = Bounds(1.0, 2.0, 3.0)
OUTPUT_BYTES = 2.0  # in 16 bits
#: Bytes for each element of the largest adapted matrix while its norm is taken: product and sum in 32 bits, and a copy
#: of the weight in 16; only the product where the rest is freed or chunked, one more sum at worst.
NORM_BYTES = Bounds(4.0, 10.0, 14.0)


def with_dora(block: MemoryBlock, step: Step) -> MemoryBlock:
    """The block with DoRA's own bytes as a term, in every count of memory."""
    matrices = adapted_matrices(step.shape, step.job)
    if not matrices:
        return block
    layers, tensor = max(1, step.shape.layers), np.asarray(step.layout.tensor_parallel)
    outputs = sum(m.outputs * m.count for m in matrices) / layers / tensor
    kept: Number = step.share.layers * step.share.in_flight
    if step.layout.recomputation is Recomputation.FULL:
        kept = 1.0
    saved = step.tokens * outputs * OUTPUT_BYTES * kept
    largest = max(m.size for m in matrices) / tensor
    amount = KEPT_OUTPUTS * saved + NORM_BYTES * largest
    term = TermBlock(
        name="memory.dora",
        amount=amount,
        formula="kept_outputs * tokens * outputs * output_bytes * layers_kept + norm_bytes * largest_matrix",
        values={
            "kept_outputs": KEPT_OUTPUTS.expected,
            "tokens": step.tokens,
            "outputs": outputs,
            "output_bytes": OUTPUT_BYTES,
            "layers_kept": kept,
            "norm_bytes": NORM_BYTES.expected,
            "largest_matrix": largest,
        },
        source="DoRA, arXiv:2402.09353",
    )
    counts = {name: getattr(block, name) + amount for name in ("allocated", "reserved", "driver")}
    return replace(block, **counts, overhead_terms=(*block.overhead_terms, term))
