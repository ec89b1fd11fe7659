"""Serving: decoding reads, prompts compute, and both share the cards."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from speed_cases import A100, H100, LLAMA_8B, LLAMA_70B, MIXTRAL, RTX4090, changed, gpu, layout, linked, model

from engine.hardware.model import Cluster
from engine.layout.model import InferenceJob, Layout
from engine.speed.calibration import Stack
from engine.speed.hardware import hardware_block, serving_precision
from engine.speed.result import InferenceSpeed
from engine.speed.serving import inference_speed


def serve(
    name: str = LLAMA_8B,
    on: Cluster | None = None,
    *,
    spread: Layout | None = None,
    stack: Stack = "serving",
    **job: Any,
) -> InferenceSpeed:
    hardware = hardware_block([on or linked(gpu(H100), 1)], stack=stack)
    return inference_speed(model(name), InferenceJob.model_validate(job), spread or Layout(), hardware).at()


#: Single-stream decoding of llama.cpp, tokens/s, from a public comparison: card, model, weights, measured.
LLAMA_CPP = [
    (RTX4090, "meta-llama/Meta-Llama-3-8B", "q4_k_m", 127.74),
    (RTX4090, "meta-llama/Meta-Llama-3-8B", "none", 54.34),
    ("nvidia-rtx-a6000", "meta-llama/Meta-Llama-3-70B", "q4_k_m", 14.58),
    ("nvidia-l40s", "meta-llama/Meta-Llama-3-8B", "q4_k_m", 113.6),
    ("nvidia-rtx-3090", "meta-llama/Meta-Llama-3-8B", "none", 46.51),
]


@pytest.mark.parametrize(("card", "name", "weights", "measured"), LLAMA_CPP)
def test_single_stream_decoding_is_bandwidth(card: str, name: str, weights: str, measured: float) -> None:
    job = {"weight_quantization": weights, "prompt_tokens": 1, "output_tokens": 1024, "engine": "llama.cpp"}
    found = serve(name, linked(gpu(card), 1), stack="llama.cpp", **job)
    assert found.tokens_per_second.expected == pytest.approx(measured, rel=0.15)
    assert found.bottleneck == "speed.memory_bound"


@pytest.mark.parametrize(("users", "measured"), [(4, 210), (8, 377), (16, 644), (32, 975), (48, 1190)])
def test_batched_serving_of_a_7b_on_a_4090(users: int, measured: float) -> None:
    """Tokens/s of all users together, 256 tokens in and 128 out, from a published vLLM benchmark."""
    job = {"concurrent_sequences": users, "prompt_tokens": 256, "output_tokens": 128}
    found = serve("mistralai/Mistral-7B-v0.3", linked(gpu(RTX4090), 1), **job)
    assert found.tokens_per_second.low <= measured <= found.tokens_per_second.high
    assert found.tokens_per_second.expected == pytest.approx(measured, rel=0.25)


@pytest.mark.parametrize(
    "spread",
    [{}, {"tensor_parallel": 4}, {"pipeline_parallel": 4}, {"tensor_parallel": 2, "pipeline_parallel": 2}],
    ids=str,
)
def test_terms_add_up_to_the_time_of_a_token(spread: dict[str, int]) -> None:
    job = {"concurrent_sequences": 40}
    found = serve(LLAMA_70B, linked(gpu(H100), 4), spread=layout(4, **spread), **job)
    for point in ("low", "expected", "high"):
        total = sum(getattr(t, point) for t in found.terms)
        assert total == pytest.approx(getattr(found.time_per_output_token_seconds, point))
    assert all(t.formula and t.source for t in found.terms)


def test_more_users_share_the_weights() -> None:
    """Throughput rises with users, each of them waits longer."""
    few, many = (serve(concurrent_sequences=n) for n in (1, 64))
    assert many.tokens_per_second.expected > 10 * few.tokens_per_second.expected
    assert many.time_per_output_token_seconds.expected > few.time_per_output_token_seconds.expected
    assert many.time_to_first_token_seconds.expected > few.time_to_first_token_seconds.expected


def test_fewer_bits_read_faster() -> None:
    """Decoding one stream is bandwidth: a quarter of the bytes, nearly four times the speed."""
    full, small = (serve(LLAMA_70B, weight_quantization=q, prompt_tokens=1) for q in ("none", "awq4"))
    assert 2.5 < small.tokens_per_second.expected / full.tokens_per_second.expected < 4


def test_a_mixture_reads_only_the_experts_in_use() -> None:
    """One token meets 2 of 8 experts; a batch of 64 meets them all."""
    one, batch = (serve(MIXTRAL, linked(gpu(A100), 1), concurrent_sequences=n, prompt_tokens=1) for n in (1, 64))
    weights = [next(t for t in f.terms if t.name == "speed.memory_bound").values["weight_bytes"] for f in (one, batch)]
    assert float(weights[0]) == pytest.approx(2 * 12.9e9, rel=0.05)
    assert float(weights[1]) == pytest.approx(2 * 46.7e9, rel=0.05)


def test_replicas_share_the_users() -> None:
    one = serve(concurrent_sequences=32)
    four = serve(on=linked(gpu(H100), 4), spread=layout(4), concurrent_sequences=128)
    assert four.tokens_per_second.expected == pytest.approx(4 * one.tokens_per_second.expected)


@settings(max_examples=20, deadline=None)
@given(
    st.sampled_from(["bf16_flops", "memory_bytes_per_second", "interconnect_bytes_per_second"]),
    st.floats(1.01, 10),
    st.integers(1, 200),
    st.sampled_from([{}, {"tensor_parallel": 4}, {"pipeline_parallel": 2}]),
)
def test_faster_cards_never_serve_slower(what: str, factor: float, users: int, spread: dict[str, int]) -> None:
    card = gpu(H100)
    better = changed(card, **{what: getattr(card, what) * factor})
    job = {"concurrent_sequences": users}
    before, after = (serve(LLAMA_70B, linked(c, 4), spread=layout(4, **spread), **job) for c in (card, better))
    assert after.tokens_per_second.expected >= before.tokens_per_second.expected * (1 - 1e-9)


def test_experts_spread_over_cards_are_read_once_by_all_of_them() -> None:
    """Eight replicas of attention that share their experts read an eighth of these each; by themselves all of them."""
    on = linked(gpu(H100), 8)
    busy: dict[str, Any] = {"concurrent_sequences": 512, "prompt_tokens": 8, "output_tokens": 256}
    apart = serve(MIXTRAL, on, spread=Layout(data_parallel=8), **busy)
    shared = serve(MIXTRAL, on, spread=Layout(data_parallel=8, expert_parallel=8), **busy)
    assert _term(shared, "speed.memory_bound") < 0.3 * _term(apart, "speed.memory_bound")
    assert _term(shared, "speed.communication") > 0
    assert _term(apart, "speed.communication") == 0


def test_short_prompts_share_a_pass() -> None:
    """64 prompts of 128 tokens fit one pass of 8192: together they cost as much as one prompt of 8192, or less."""
    many = serve(concurrent_sequences=65, prompt_tokens=128, output_tokens=1)
    one = serve(concurrent_sequences=2, prompt_tokens=8192, output_tokens=1)
    assert _term(many, "speed.prefill") <= _term(one, "speed.prefill")


def test_the_stages_of_a_pipeline_compute_different_prompts_at_once() -> None:
    on = linked(gpu(H100), 8)
    job: dict[str, Any] = {"concurrent_sequences": 256, "prompt_tokens": 2048, "output_tokens": 128}
    pipeline = serve(LLAMA_70B, on, spread=Layout(pipeline_parallel=8), **job)
    tensor = serve(LLAMA_70B, on, spread=Layout(tensor_parallel=8), **job)
    assert _term(pipeline, "speed.prefill") < _term(tensor, "speed.prefill")


@pytest.mark.parametrize(
    ("card", "weights", "engine", "precision"),
    [
        ("nvidia-b200-sxm-180gb", "fp4", "tensorrt-llm", "fp4"),
        ("nvidia-b200-sxm-180gb", "mxfp4", "vllm", "fp8"),
        ("nvidia-b200-sxm-180gb", "fp4", "hf-transformers", "bf16"),
        (H100, "mxfp4", "vllm", "bf16"),
        (H100, "fp8", "vllm", "fp8"),
        (H100, "awq4", "vllm", "bf16"),
    ],
)
def test_what_multiplies_the_weights(card: str, weights: str, engine: str, precision: str) -> None:
    job = InferenceJob.model_validate({"weight_quantization": weights, "engine": engine})
    assert serving_precision(job, gpu(card)) == precision


@pytest.mark.parametrize(
    ("job", "measured"),
    [
        ({"concurrent_sequences": 64, "prompt_tokens": 128, "output_tokens": 128}, 9193),
        ({"concurrent_sequences": 64, "prompt_tokens": 128, "output_tokens": 2048}, 5367),
        ({"concurrent_sequences": 64, "prompt_tokens": 2048, "output_tokens": 128}, 2058),
        ({"concurrent_sequences": 32, "prompt_tokens": 2048, "output_tokens": 2048}, 2230),
    ],
)
def test_a_published_engine_at_a_fixed_batch(job: dict[str, int], measured: float) -> None:
    """LLaMA 7B in FP8 with an FP8 cache on one H100: performance page of TensorRT-LLM 0.5, output tokens/s."""
    hardware = hardware_block([linked(gpu(H100), 1)], precision="fp8", stack="serving")
    asked = InferenceJob.model_validate({**job, "weight_quantization": "fp8", "kv_cache_bits": 8})
    found = inference_speed(model("huggyllama/llama-7b"), asked, Layout(), hardware).at()
    assert found.tokens_per_second.expected == pytest.approx(measured, rel=0.2)


def _term(found: InferenceSpeed, name: str) -> float:
    return next(t.expected for t in found.terms if t.name == name)


@pytest.mark.parametrize(("weights", "slower"), [("nf4", True), ("nf4-dq", True), ("gptq4", False)])
def test_products_of_bitsandbytes_are_more_calls_where_the_host_starts_each(weights: str, slower: bool) -> None:
    """Published for Llama 2 7B on one A100 by one program: 31 tokens a second in 16 bits, 20 in 4, 17 doubly quantised;
    GPTQ weights as fast as 16-bit ones (README of Qwen-7B)."""
    plain, quantised = (
        serve(on=linked(gpu(A100), 1), stack="eager-serving", engine="hf-transformers", concurrent_sequences=1,
              prompt_tokens=16, output_tokens=64, weight_quantization=w)
        for w in ("none", weights)
    )  # fmt: skip
    waits = [next(t.expected for t in s.terms if t.name == "speed.overhead") for s in (plain, quantised)]
    if slower:
        assert waits[1] > 1.2 * waits[0]
        assert quantised.tokens_per_second.expected < plain.tokens_per_second.expected
    else:
        assert quantised.tokens_per_second.expected >= 0.95 * plain.tokens_per_second.expected


def test_programs_with_cudnn_attention_train_long_rows_faster_on_hopper_only() -> None:
    for card, faster in ((H100, True), (A100, False)):
        rates = [hardware_block([linked(gpu(card), 1)], framework=f) for f in ("megatron-lm", "torchtitan")]
        shares = [float(r.attention_efficiency.expected) for r in rates]
        assert (shares[0] > shares[1]) is faster
