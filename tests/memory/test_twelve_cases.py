"""Twelve jobs in stated regimes on which peer tools were compared (`reference/data/twelve_cases.csv`)."""

from __future__ import annotations

import csv
from functools import cache
from typing import Any

import pytest
from traced_models import DATA, traced_models

from engine.hardware.model import Gpu
from engine.layout.model import InferenceJob, Job, Layout, Lora
from engine.memory.overheads import platform_for
from engine.memory.result import MemoryAssessment
from engine.memory.serving import inference_memory
from engine.memory.training import training_memory
from engine.memory.verdict import assess
from engine.quantity import GIB

H100 = Gpu(id="h100", vendor="NVIDIA", name="H100", compute_capability="9.0")
FULL = {"method": "full", "sequence_length": 4096}
LORA = {"method": "lora", "sequence_length": 2048, "lora": Lora(rank=16)}
QLORA = {**LORA, "method": "qlora", "weight_quantization": "nf4-dq"}
EIGHT = {"data_parallel": 8, "shard_degree": 8, "sharding": "fsdp2"}
BF16 = {"regime": "pure-bf16"}
AMP = {"regime": "bf16-amp"}
MASTER = {"regime": "pure-bf16", "optimizer": "adamw_master"}
SHARDED_MASTER = {"regime": "fp32-master"}
LONG = {**FULL, "sequence_length": 131072}
RING = {"context_parallel": 8, "shard_degree": 8, "sharding": "fsdp2", "regime": "fp32-master"}

#: Case -> model, job, layout.
TRAINING: dict[str, tuple[str, dict[str, Any], dict[str, Any]]] = {
    "a1": ("llama-3.1-8b", FULL, BF16),
    "a2": ("llama-3.1-8b", FULL, AMP),
    "a3": ("llama-3.1-8b", FULL, MASTER),
    "b1": ("llama-3.1-8b", FULL, {**BF16, "optimizer": "adamw_8bit"}),
    "b2": ("llama-3.1-8b", FULL, {**AMP, "optimizer": "adamw_8bit"}),
    "c1": ("llama-3.1-8b", LORA, {**BF16, "micro_batch_size": 2}),
    "c2": ("llama-3.1-8b", LORA, {**BF16, "micro_batch_size": 2, "loss": "chunked"}),
    "d1": ("llama-3.1-8b", QLORA, BF16),
    "d2": ("llama-3.1-8b", {**QLORA, "weight_quantization": "nf4", "kbit_preparation": True}, AMP),
    "d3": ("llama-3.1-8b", QLORA, {**BF16, "loss": "chunked"}),
    "e1": ("llama-3.1-70b", QLORA, BF16),
    "f1": ("llama-3.1-70b", FULL, {**BF16, **EIGHT}),
    "f2": ("llama-3.1-70b", FULL, {**SHARDED_MASTER, **EIGHT}),
    "g1": (
        "llama-3.1-70b",
        {**LORA, "lora": Lora(rank=16, adapter_dtype="bf16")},
        {**BF16, "data_parallel": 2, "shard_degree": 2, "sharding": "fsdp2"},
    ),
    "h1": ("mixtral-8x7b", {**QLORA, "experts_implementation": "separate"}, BF16),
    "h2": ("mixtral-8x7b", QLORA, BF16),
    "i1": ("qwen2.5-32b", FULL, {**BF16, **EIGHT}),
    "i2": ("qwen2.5-32b", FULL, {**SHARDED_MASTER, **EIGHT}),
    "j1": ("llama-3.1-8b", LONG, RING),
}
SERVING: dict[str, tuple[str, dict[str, Any]]] = {
    "k1": ("llama-3.1-8b", {"concurrent_sequences": 32, "prompt_tokens": 7680, "output_tokens": 512}),
    "l1": ("llama-3.1-70b", {"weight_quantization": "awq4", "prompt_tokens": 3584, "output_tokens": 512}),
}


@cache
def _rows() -> dict[str, dict[str, str]]:
    with (DATA / "twelve_cases.csv").open(encoding="utf-8", newline="") as stream:
        return {row["id"]: row for row in csv.DictReader(stream)}


def _training(case: str) -> MemoryAssessment:
    model, job, layout = TRAINING[case]
    platform = platform_for(H100, "hf-transformers")
    block = training_memory(
        traced_models()[model], Job.model_validate(job), Layout.model_validate(layout), platform=platform
    )
    return assess(block, H100)


def _serving(model: str, **job: Any) -> MemoryAssessment:
    block = inference_memory(traced_models()[model], InferenceJob(**job), Layout(), platform=platform_for(H100))
    return assess(block, H100)


def test_every_case_is_covered() -> None:
    assert set(_rows()) == {*TRAINING, *SERVING}


@pytest.mark.parametrize("case", [c for c in TRAINING if c not in ("g1", "h1", "h2", "j1")])
def test_traced_cases(case: str) -> None:
    row = _rows()[case]
    assert row["basis"] == "traced"
    tolerance = float(row["tolerance"].rstrip("%")) / 100
    allocated = _training(case).allocated.expected / GIB
    assert allocated == pytest.approx(float(row["peak_allocated_gib"]), rel=tolerance)


def _inside(case: str, found: MemoryAssessment) -> None:
    low, high = (float(part) for part in _rows()[case]["peak_allocated_gib"].split("-"))
    assert low <= found.driver.expected / GIB <= high


@pytest.mark.parametrize("case", ["g1", "h1", "h2", "j1"])
def test_analytic_training_cases(case: str) -> None:
    _inside(case, _training(case))


@pytest.mark.parametrize("case", SERVING)
def test_serving_cases(case: str) -> None:
    model, job = SERVING[case]
    _inside(case, _serving(model, **job))


def test_four_bit_serving_covers_awq_to_gguf() -> None:
    job = {**SERVING["l1"][1], "weight_quantization": "q4_k_m", "engine": "llama.cpp"}
    _inside("l1", _serving("llama-3.1-70b", **job))


def test_long_context_spans_the_losses() -> None:
    """Chunked loss near the low end, full 32-bit logits below the high end."""
    model, job, layout = TRAINING["j1"]
    chunked = training_memory(
        traced_models()[model], Job.model_validate(job), Layout.model_validate({**layout, "loss": "chunked"})
    )
    assert assess(chunked, None).driver.expected / GIB == pytest.approx(28, rel=0.1)


@pytest.mark.parametrize("case", [c for c in TRAINING if c != "j1"])  # j1 states no loss: its range spans both
def test_stated_regimes_have_narrow_intervals(case: str) -> None:
    assert _training(case).driver.relative_width <= 0.25


def test_unstated_gradients_of_the_master_regime_are_spanned() -> None:
    """Without the optimizer's habit stated, the interval reaches from freed 16-bit to kept 16- and 32-bit gradients."""
    model, job, _ = TRAINING["a3"]
    block = training_memory(traced_models()[model], Job.model_validate(job), Layout(regime="fp32-master"))
    found = assess(block, None)
    assert found.allocated.low <= 16.2 * 8.03e9
    assert found.allocated.high >= 149.5 * GIB
