"""Terms: they add up, and the working that they show gives the number that they state."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from traced_models import case_of, traced_models, traced_rows

from engine.i18n import Language
from engine.layout.model import InferenceJob, Job, Layout, Lora
from engine.memory.overheads import platform_for
from engine.memory.result import MemoryAssessment, MemoryBlock
from engine.memory.serving import inference_memory
from engine.memory.training import training_memory
from engine.memory.verdict import assess
from engine.messages import LABELS

RULES: dict[str, Any] = {"max": max, "min": min, "ceil": math.ceil, "__builtins__": {}}


def _checks(found: MemoryAssessment) -> None:
    for end in ("low", "expected", "high"):
        total = sum(getattr(t, end) for t in found.terms)
        assert total == pytest.approx(getattr(found.driver, end), rel=1e-9), end
    for term in found.terms:
        numbers = {k: v for k, v in term.values.items() if not isinstance(v, str)}
        shown = eval(term.formula, RULES, numbers)  # the working is arithmetic over its own values
        assert shown == pytest.approx(term.expected, rel=1e-6, abs=1.0), term
        assert term.source, term.name
        assert term.name in LABELS, term.name


@pytest.mark.parametrize("row", traced_rows()[::9], ids=lambda r: r["case_id"])
def test_terms_of_traced_rows(row: dict[str, str]) -> None:
    _checks(assess(training_memory(*case_of(row)), None))


@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_terms_of_any_layout(data: st.DataObject) -> None:
    found = _any_training(data)
    _checks(assess(found, None))


@settings(max_examples=25, deadline=None)
@given(data=st.data())
def test_terms_of_any_serving(data: st.DataObject) -> None:
    job = InferenceJob(
        weight_quantization=data.draw(st.sampled_from(["none", "fp8", "awq4", "q4_k_m", "nf4"])),
        kv_cache_bits=data.draw(st.sampled_from([4, 8, 16])),
        concurrent_sequences=data.draw(st.integers(1, 64)),
        prompt_tokens=data.draw(st.integers(1, 8192)),
        engine=data.draw(st.sampled_from(["vllm", "llama.cpp", "hf-transformers", "sglang"])),
    )
    layout = Layout(
        tensor_parallel=data.draw(st.sampled_from([1, 2, 8])), pipeline_parallel=data.draw(st.sampled_from([1, 2]))
    )
    model = data.draw(st.sampled_from(sorted(traced_models())))
    _checks(assess(inference_memory(traced_models()[model], job, layout), None))


def _any_training(data: st.DataObject) -> MemoryBlock:
    method = data.draw(st.sampled_from(["full", "pretrain", "lora", "qlora", "prompt", "freeze", "dpo"]))
    adapters = method in ("lora", "qlora") or (method == "dpo" and data.draw(st.booleans()))
    job = Job(
        method=method,
        sequence_length=data.draw(st.sampled_from([512, 4096, 32768])),
        lora=Lora(targets=data.draw(st.sampled_from(["all-linear", "q,v", "mlp"]))) if adapters else None,
        weight_quantization="nf4-dq" if method == "qlora" else "none",
        reference_model=method == "dpo" and not adapters,
        sequences_per_sample=2 if method == "dpo" else 1,
        virtual_tokens=20 if method == "prompt" else 0,
        trained_layers_fraction=0.25 if method == "freeze" else 1.0,
        framework=data.draw(st.sampled_from(["hf-transformers", "megatron", "torchtitan", "deepspeed"])),
    )
    degree = data.draw(st.sampled_from([1, 2, 8]))
    sharding = data.draw(st.sampled_from(["none", "zero1", "zero2", "zero3", "fsdp2"]))
    layout = Layout(
        data_parallel=degree,
        shard_degree=1 if sharding == "none" else degree,
        sharding=sharding,
        tensor_parallel=data.draw(st.sampled_from([1, 2])),
        pipeline_parallel=data.draw(st.sampled_from([1, 4])),
        context_parallel=data.draw(st.sampled_from([1, 2])),
        gradient_accumulation_steps=data.draw(st.sampled_from([1, 8])),
        recomputation=data.draw(st.sampled_from(["none", "attention", "selective", "full"])),
        loss=data.draw(st.sampled_from(["plain", "chunked"])),
        regime=data.draw(st.sampled_from(["pure-bf16", "fp32-master", "bf16-amp", "fp32"])),
        optimizer=data.draw(st.sampled_from(["adamw", "adamw_8bit", "sgd", "adafactor", "lion", "muon"])),
        offload=data.draw(st.sampled_from(["none", "optimizer", "optimizer+parameters", "activations"])),
    )
    model = data.draw(st.sampled_from(sorted(traced_models())))
    return training_memory(traced_models()[model], job, layout, platform=platform_for(None, job.framework))


def test_reserved_and_driver_follow_from_the_terms() -> None:
    found = assess(training_memory(*case_of(traced_rows()[0])), None)
    by_name = {t.name: t.expected for t in found.terms}
    assert found.reserved.expected - found.allocated.expected == pytest.approx(by_name["memory.fragmentation"])
    outside = by_name["memory.context"] + by_name["memory.workspace"]
    assert found.driver.expected - found.reserved.expected == pytest.approx(outside)


def test_every_moment_and_phase_has_words_in_both_languages() -> None:
    names = {m for row in traced_rows()[:3] for m, _, _ in training_memory(*case_of(row)).moments}
    for language in (Language("en"), Language("zh_CN")):
        for code in (*names, "forward", "backward", "optimizer", "fits", "fits_tightly", "does_not_fit", "unknown"):
            assert language.label(code) != code
    assert not np.isnan(len(names))


def test_a_base_that_mixed_precision_keeps_in_32_bits_takes_twice_as_much() -> None:
    """LitGPT under bf16-mixed: 7B took more than 40 GB with LoRA and no recomputation (published out-of-memory run)."""
    arch = traced_models()["llama-3.1-8b"]
    layout = Layout.model_validate({"regime": "bf16-amp", "recomputation": "none"})

    def peak(framework: str) -> float:
        job = Job.model_validate({
            "method": "lora", "sequence_length": 1304, "framework": framework,
            "lora": {"rank": 8, "targets": "q,v", "adapter_dtype": "fp32"},
        })  # fmt: skip
        return float(training_memory(arch, job, layout).allocated.expected)

    weights = 2 * 8.03e9
    assert 1.8 * weights < peak("litgpt") - peak("hf-transformers") < 2.1 * weights
