"""States of the optimizer and the scratch memory of its step."""

from __future__ import annotations

from dataclasses import dataclass

from engine.layout.model import Optimizer
from engine.quantity import Bounds, Number

__all__ = ["EIGHT_BIT_STATE", "Trained", "scratch_bytes", "state_bytes", "states_formula"]

#: Bytes of one 8-bit state: one byte and a 32-bit scale for 256 elements (bitsandbytes; arXiv:2110.02861).
EIGHT_BIT_STATE = 1 + 4 / 256


@dataclass(frozen=True, slots=True)
class Trained:
    """What the optimizer updates on one card, after sharding. Counts are elements, `rows_columns` lines of matrices."""

    elements: Number
    matrices: Number  # elements of matrices inside blocks (Muon)
    rows_columns: Number  # rows + columns of all matrices, and the elements of vectors (Adafactor)
    largest: Number  # the greatest single matrix
    largest_in_block: Number


def state_bytes(optimizer: Optimizer, trained: Trained, state: float, master: float) -> Bounds:
    """Bytes of the states, the 32-bit master copy included where there is one.

    AdamW keeps two states an element (arXiv:1711.05101) in the dtype of the weights (torch), in 32 bits, or in 8;
    Adafactor one number a row and a column (arXiv:1804.04235); Lion one state (arXiv:2302.06675); Muon one for
    matrices in blocks, AdamW for the rest. Source: traces. Paged states may lie in host memory: low is none.
    """
    n = trained.elements
    copy = master * n
    match optimizer:
        case Optimizer.ADAMW | Optimizer.ADAMW_FOREACH:
            return Bounds.exact(2 * state * n + copy)
        case Optimizer.ADAMW_FP32:
            return Bounds.exact(8.0 * n + copy)
        case Optimizer.ADAMW_8BIT:
            return Bounds.exact(2 * EIGHT_BIT_STATE * n + copy)
        case Optimizer.PAGED_ADAMW_8BIT:
            full = 2 * EIGHT_BIT_STATE * n + copy
            return Bounds(copy, full, full)
        case Optimizer.ADAMW_MASTER:
            return Bounds.exact(8.0 * n + max(master, 4.0) * n)
        case Optimizer.SGD:
            return Bounds.exact(copy)
        case Optimizer.SGD_MOMENTUM | Optimizer.LION:
            return Bounds.exact(state * n + copy)
        case Optimizer.ADAFACTOR:
            return Bounds.exact(state * trained.rows_columns + copy)
        case Optimizer.MUON:
            return Bounds.exact(state * (2 * n - trained.matrices) + copy)


def states_formula(optimizer: Optimizer) -> str:
    """The working of `state_bytes` as text."""
    match optimizer:
        case Optimizer.ADAMW | Optimizer.ADAMW_FOREACH:
            return "elements * (2 * bytes_per_state + bytes_of_master)"
        case Optimizer.ADAMW_FP32:
            return "elements * (8 + bytes_of_master)"
        case Optimizer.ADAMW_8BIT | Optimizer.PAGED_ADAMW_8BIT:
            return "elements * (2 * (1 + 4 / 256) + bytes_of_master)"
        case Optimizer.ADAMW_MASTER:
            return "elements * (8 + max(bytes_of_master, 4))"
        case Optimizer.SGD:
            return "elements * bytes_of_master"
        case Optimizer.SGD_MOMENTUM | Optimizer.LION:
            return "elements * (bytes_per_state + bytes_of_master)"
        case Optimizer.ADAFACTOR:
            return "rows_and_columns * bytes_per_state + elements * bytes_of_master"
        case Optimizer.MUON:
            return "(2 * elements - matrix_elements) * bytes_per_state + elements * bytes_of_master"


def scratch_bytes(optimizer: Optimizer, trained: Trained, width: float, *, master_apart: bool) -> Number:
    """Memory that exists only during the step.

    Foreach AdamW: square roots of one state; a 32-bit master copy: gradients upcast at once; Adafactor and Lion:
    one matrix; Muon: about five copies of a matrix in its orthogonalisation. Source: traces. `master_apart` says
    that the interval of the gradients spans the upcast already.
    """
    match optimizer:
        case Optimizer.ADAMW_FOREACH:
            return width * trained.elements
        case Optimizer.ADAMW_MASTER:
            return 0.0 if master_apart else 4.0 * trained.elements
        case Optimizer.LION | Optimizer.ADAFACTOR:
            return width * trained.largest
        case Optimizer.MUON:
            return 5 * width * trained.largest_in_block
        case _:
            return 0.0
