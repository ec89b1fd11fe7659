"""Bytes that an optimizer step moves, and bytes a parameter takes on links, by regime and optimizer."""

from __future__ import annotations

from engine.layout.model import Optimizer, Regime

__all__ = ["gradient_bytes", "newton_schulz_flops", "step_bytes_per_parameter", "weight_bytes"]

_EIGHT_BIT = frozenset({Optimizer.ADAMW_8BIT, Optimizer.PAGED_ADAMW_8BIT})
#: States per parameter and whether they are kept in FP32 whatever the weights are.
_STATES: dict[Optimizer, float] = {
    Optimizer.ADAFACTOR: 0.0,
    Optimizer.SGD: 0.0,
    Optimizer.SGD_MOMENTUM: 1.0,
    Optimizer.LION: 1.0,
    Optimizer.MUON: 1.0,
}
#: A for-each optimizer walks over the tensors once for each of its elementary operations instead of once: reads and
#: writes of Adam counted from its update rule (about nine passes over 32-bit operands against two fused ones).
_FOREACH_FACTOR = 2.5
#: Five Newton-Schulz steps of Muon, three products each, on an m x n matrix: about 5 * 2 * (2 m + n) m n FLOP, which is
#: 30 times the short side for a square matrix (Jordan et al., Muon, 2024).
_NEWTON_SCHULZ = 30.0


def weight_bytes(regime: Regime) -> float:
    """Bytes of a trained weight as it is stored for the optimizer."""
    return 2.0 if regime in (Regime.PURE_BF16, Regime.FP32_MASTER) else 4.0


def gradient_bytes(regime: Regime) -> float:
    """Bytes of a gradient while it is accumulated and reduced."""
    return 2.0 if regime in (Regime.PURE_BF16, Regime.FP32_MASTER) else 4.0


def step_bytes_per_parameter(regime: Regime, optimizer: Optimizer) -> float:
    """Bytes read and written for each trained parameter in one optimizer step.

    Gradient read twice (norm for clipping, update), weight read and written, each state read and written; a 32-bit
    master copy is read and written besides the 16-bit weight.
    """
    weight, gradient = weight_bytes(regime), gradient_bytes(regime)
    master = optimizer is Optimizer.ADAMW_MASTER or regime is Regime.FP32_MASTER
    if optimizer in _EIGHT_BIT:
        state = 1.0
    elif master or optimizer is Optimizer.ADAMW_FP32:
        state = 4.0
    else:
        state = weight
    count = _STATES.get(optimizer, 2.0)
    moved = 2 * gradient + 2 * weight + (8.0 if master else 0.0) + 2 * count * state
    if optimizer is Optimizer.ADAFACTOR:
        moved += 8.0  # the squared update and the scaled update pass through memory in 32 bits
    return moved * (_FOREACH_FACTOR if optimizer is Optimizer.ADAMW_FOREACH else 1.0)


def newton_schulz_flops(optimizer: Optimizer, short_side: float) -> float:
    """FLOPs for each trained parameter that Muon spends on orthogonalisation; 0 for other optimizers."""
    return _NEWTON_SCHULZ * short_side if optimizer is Optimizer.MUON else 0.0
