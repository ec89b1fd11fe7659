"""Timings of the memory formulas; run with -m benchmark."""

from __future__ import annotations

import time

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


def _block(size: int) -> LayoutBlock:
    powers = 2 ** np.random.default_rng(0).integers(0, 7, size=size)
    ones = np.ones(size, dtype=np.int64)
    return LayoutBlock(
        data_parallel=powers,
        tensor_parallel=ones,
        pipeline_parallel=ones,
        context_parallel=ones,
        expert_parallel=ones,
        shard_degree=powers,
        micro_batch_size=ones,
        gradient_accumulation_steps=ones,
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


def test_a_million_candidates() -> None:
    arch = traced_models()["llama-3.1-70b"]
    job = Job.model_validate({"method": "full", "sequence_length": 4096})
    block = _block(100_000)
    started = time.perf_counter()
    for _ in range(10):
        verdicts(training_memory(arch, job, block), 80 * 2.0**30)
    seconds = time.perf_counter() - started
    print(f"\n1 000 000 candidates in {seconds:.2f} s")
    assert seconds < 10


def test_one_candidate() -> None:
    arch = traced_models()["llama-3.1-70b"]
    job = Job.model_validate({"method": "full", "sequence_length": 4096})
    started = time.perf_counter()
    for _ in range(100):
        training_memory(arch, job, Layout())
    seconds = (time.perf_counter() - started) / 100
    print(f"\none candidate in {seconds * 1e3:.2f} ms")
    assert seconds < 0.02
