"""What one element costs in each role (weights, gradients, states, copies), by precision regime."""

from __future__ import annotations

from dataclasses import dataclass

from engine.layout.model import Job, LayoutLike, Regime, Sharding

__all__ = ["FOUR_BIT", "Precision", "is_four_bit", "precision_of", "trains_adapters", "uses_autocast"]

#: Formats that are dequantised matrix by matrix while training goes on (QLoRA, arXiv:2305.14314).
FOUR_BIT = frozenset({"nf4", "nf4-dq", "fp4", "int4", "gptq4", "awq4", "mxfp4"})


def is_four_bit(quantization: str) -> bool:
    """Whether the frozen weights are held in about four bits."""
    return quantization in FOUR_BIT


@dataclass(frozen=True, slots=True)
class Precision:
    """Bytes an element.

    `gradient_kept` and `gradient_step` are (low, expected, high) multiples of the gradient's own bytes that exist
    during the backward pass and in the optimizer step: where 32-bit master weights stand beside 16-bit weights,
    frameworks differ in whether the gradient is kept in 16 or 32 bits, or in both for the moment of the step.
    """

    base: float  # weights as they are held (frozen or trained, not adapters)
    trained: float  # what is trained: the weights, or the adapters
    gradient: float
    state: float  # one optimizer state
    master: float  # separate 32-bit copy of what is trained
    copies: float  # 16-bit copies that autocast makes of 32-bit matrices
    gathered: float  # weights gathered by ZeRO-3 or FSDP
    reduced: float  # gradients while they are reduced
    logits: float
    gradient_kept: tuple[float, float, float] = (1.0, 1.0, 1.0)
    gradient_step: tuple[float, float, float] = (1.0, 1.0, 1.0)


#: Frameworks that accumulate into one persistent 32-bit gradient buffer
#: (Megatron-LM, --accumulate-allreduce-grads-in-fp32).
MAIN_GRADIENT_FRAMEWORKS = ("megatron", "nemo")
#: Frameworks whose mixed precision holds a frozen base in 32 bits and casts at each use (Lightning Fabric, bf16-mixed);
#: others load it in 16 bits.
FULL_BASE_FRAMEWORKS = ("litgpt",)


def trains_adapters(job: Job) -> bool:
    """Whether low-rank adapters are trained and the model itself is frozen."""
    return job.lora is not None


def uses_autocast(job: Job, layout: LayoutLike) -> bool:
    """Whether operators run under autocast. Hand-written loops over a 16-bit base compute in its dtype without it."""
    mixed = layout.regime in (Regime.BF16_AMP, Regime.FP16_AMP)
    return mixed and not (trains_adapters(job) and "plain loop" in job.framework)


def precision_of(job: Job, layout: LayoutLike) -> Precision:
    """Bytes an element in each role (cases.md §2: regimes). For adapters the regime speaks of the frozen base."""
    regime = layout.regime
    sharded_weights = layout.sharding in (Sharding.ZERO3, Sharding.FSDP2)
    if trains_adapters(job) or job.virtual_tokens:
        return _frozen_base(job, regime, mixed=uses_autocast(job, layout))
    if regime is Regime.PURE_BF16:
        return Precision(2, 2, 2, 2, 0, 0, 2, 2, 2)
    if regime is Regime.FP32:
        return Precision(4, 4, 4, 4, 0, 0, 4, 4, 4)
    if regime in (Regime.BF16_AMP, Regime.FP16_AMP):
        if sharded_weights:  # the shards are 32-bit, what is gathered is 16-bit: autocast copies nothing
            return Precision(4, 4, 4, 4, 0, 0, 2, 4, 2)
        return Precision(4, 4, 4, 4, 0, 2, 2, 4, 2)
    if layout.sharding is Sharding.FSDP2:  # 32-bit shards are the master copy; 16-bit weights exist while gathered
        return Precision(4, 4, 4, 4, 0, 0, 2, 4, 2)
    if job.framework.startswith(MAIN_GRADIENT_FRAMEWORKS):
        return Precision(2, 2, 2, 4, 4, 0, 2, 4, 2, (2.0, 2.0, 2.0), (2.0, 2.0, 2.0))
    return Precision(2, 2, 2, 4, 4, 0, 2, 4, 2, (1.0, 1.0, 2.0), (1.0, 2.0, 3.0))


def _frozen_base(job: Job, regime: Regime, *, mixed: bool) -> Precision:
    cast = mixed and job.framework.startswith(FULL_BASE_FRAMEWORKS) and job.weight_quantization == "none"
    base = 4.0 if regime is Regime.FP32 or cast else 2.0
    size = 4.0 if job.lora is None or job.lora.adapter_dtype == "fp32" else 2.0
    head_in_32_bits = regime is Regime.FP32 or (job.kbit_preparation and not mixed)
    master = 4.0 if regime is Regime.FP32_MASTER and size < 4 else 0.0
    state = 4.0 if master else size
    return Precision(base, size, size, state, master, 2 if cast else 0, base, size, 4.0 if head_in_32_bits else 2.0)
