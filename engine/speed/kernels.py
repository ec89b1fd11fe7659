"""Kernels that the host starts beyond the usual count, and how long a card waits for those of a decoding step."""

from __future__ import annotations

import numpy as np

from engine.layout.model import InferenceJob, LayoutLike, WeightQuantization
from engine.quantity import Bounds, Number
from engine.speed.hardware import HardwareBlock
from engine.speed.work import ModelWork

__all__ = ["calls_of_quantized", "decode_kernels", "waiting_for_kernels"]

#: Formats whose products bitsandbytes computes, and the name of what each call starts. Its 8-bit products are left out:
#: the same format is also GPTQ's, whose measured runs start no more kernels than 16-bit ones.
_BITSANDBYTES = {"nf4": "4bit", "fp4": "4bit", "nf4-dq": "4bit_dq"}


def calls_of_quantized(quantization: WeightQuantization, hardware: HardwareBlock) -> float:
    """Kernels that a product with 4-bit weights of bitsandbytes starts beyond the product itself; 0 for others."""
    name = _BITSANDBYTES.get(quantization)
    return float(hardware.calibration.constant(f"kernels_{name}", hardware.stack).expected) if name else 0.0


def decode_kernels(work: ModelWork, job: InferenceJob, layout: LayoutLike, hardware: HardwareBlock) -> Number:
    """Kernels that a decoding step starts, all stages together.

    Where PyTorch starts each from the host, products with weights of bitsandbytes are several calls, and so are sums
    over tensor-parallel ranks; engines replay a recorded graph that holds as many for any format.
    """
    known, stack = hardware.calibration, hardware.stack
    kernels: Number = work.layers * float(known.constant("decode_kernels_per_layer", stack).expected)
    if stack != "eager-serving":
        return kernels
    products = sum(1 for x in work.linears if not x.routed)
    kernels = kernels + work.layers * products * calls_of_quantized(job.weight_quantization, hardware)
    sums = float(known.constant("decode_kernels_per_sum", stack).expected)
    return kernels + np.where(layout.tensor_parallel > 1, 2.0 * work.layers * sums, 0.0)


def waiting_for_kernels(kernels: Number, hardware: HardwareBlock, busy: Bounds) -> Bounds:
    """Gaps between kernels, the engine's own work for a step, and waiting where the host starts kernels too slowly.

    Engines that replay recorded graphs have gaps only; eager PyTorch starts each kernel from the host, which is hidden
    as long as the card is busy for longer.
    """
    known, stack = hardware.calibration, hardware.stack
    launch = known.constant("decode_launch_seconds", stack) * kernels
    waiting = Bounds(
        np.maximum(0.0, launch.low - busy.low),
        np.maximum(0.0, launch.expected - busy.expected),
        np.maximum(0.0, launch.high - busy.high),
    )
    gaps = known.constant("decode_gap_seconds", stack) * kernels
    return waiting + gaps + known.constant("step_overhead_seconds", stack)
