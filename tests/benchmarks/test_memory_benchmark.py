"""Timings of the memory formulas on one core; run with -m benchmark. Processor time, the best of several rounds."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
import pytest
from traced_models import traced_models

from engine.layout.model import (
    Attention,
    Job,
    Layout,
    LayoutBlock,
    Loss,
    Offload,
    Optimizer,
    Recomputation,
    Regime,
    Sharding,
)
from engine.memory.training import training_memory
from engine.memory.verdict import verdicts

pytestmark = pytest.mark.benchmark

SIZE = 100_000  # candidates of a block
PEAKS_PER_SECOND = 2_000_000  # at least, on one core
ONE_ESTIMATE = 1e-3  # seconds at most, with all terms


def _block(*, degrees: bool) -> LayoutBlock:
    """Candidates that differ in data-parallel ranks and micro-batch, or in tensor and context ranks too."""
    rng = np.random.default_rng(0)

    def powers(most: int, vary: bool = True) -> np.ndarray:
        return 2 ** rng.integers(0, most if vary else 1, size=SIZE)

    ranks = powers(7)
    return LayoutBlock(
        data_parallel=ranks,
        tensor_parallel=powers(4, degrees),
        pipeline_parallel=powers(1),
        context_parallel=powers(3, degrees),
        expert_parallel=powers(1),
        shard_degree=ranks,
        micro_batch_size=powers(4),
        gradient_accumulation_steps=powers(4, degrees),
        sharding=Sharding.FSDP2,
        reshard_after_forward=True,
        recomputation=Recomputation.FULL,
        attention=Attention.FLASH,
        loss=Loss.PLAIN,
        regime=Regime.BF16_AMP,
        optimizer=Optimizer.ADAMW,
        optimizer_in_backward=False,
        offload=Offload.NONE,
    )


def _best(run: Callable[[], object], rounds: int, calls: int = 1) -> float:
    """Processor seconds of one call, in the best round."""
    found: list[float] = []
    for _ in range(rounds):
        started = time.process_time()
        for _ in range(calls):
            run()
        found.append((time.process_time() - started) / calls)
    return min(found)


@pytest.mark.parametrize("degrees", [False, True], ids=["ranks vary", "all degrees vary"])
def test_candidate_peaks_as_arrays(degrees: bool) -> None:
    arch, block = traced_models()["llama-3.1-70b"], _block(degrees=degrees)
    job = Job.model_validate({"method": "full", "sequence_length": 4096})
    found = training_memory(arch, job, block)
    assert np.shape(found.allocated.expected) == (SIZE,)
    peaks = SIZE / _best(lambda: training_memory(arch, job, block), rounds=10)
    judged = SIZE / _best(lambda: verdicts(training_memory(arch, job, block), 80 * 2.0**30), rounds=5)
    print(f"\n{peaks / 1e6:.2f} million candidate peaks a second, {judged / 1e6:.2f} with their verdicts")
    assert peaks >= PEAKS_PER_SECOND * (0.5 if degrees else 1.0)


def test_one_estimate() -> None:
    arch = traced_models()["llama-3.1-70b"]
    job = Job.model_validate({"method": "full", "sequence_length": 4096})
    seconds = _best(lambda: training_memory(arch, job, Layout()), rounds=10, calls=20)
    print(f"\none estimate with all terms in {seconds * 1e3:.2f} ms")
    assert seconds <= ONE_ESTIMATE
