"""Memory of serving: cache, weights by format, engines."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from traced_models import traced_models

from engine.architecture.cache import cache_elements
from engine.architecture.model import Architecture
from engine.layout.model import InferenceJob, Layout
from engine.memory.kv_cache import kv_cache_bytes, kv_elements
from engine.memory.quantized import FORMATS
from engine.memory.serving import inference_memory
from engine.memory.verdict import assess
from engine.quantity import GB

#: Sizes of published GGUF files of Llama 3.1 (llama.cpp, quantize README): GB.
GGUF_FILES = {("llama-3.1-8b", "q4_k_m"): 4.9, ("llama-3.1-70b", "q4_k_m"): 43.1}


def _terms(model: str, **job: object) -> dict[str, float]:
    found = assess(inference_memory(traced_models()[model], InferenceJob.model_validate(job), Layout()), None)
    return {t.name: t.expected for t in found.terms}


def test_cache_of_grouped_heads() -> None:
    """2 (K and V) * 32 layers * 8 heads * 128 * 2 bytes = 128 KiB a token of Llama-3.1-8B."""
    arch = traced_models()["llama-3.1-8b"]
    assert kv_cache_bytes(arch, sequence_length=8192, sequences=1) == 2**30
    assert kv_cache_bytes(arch, sequence_length=8192, sequences=3, element_bits=8) == 3 * 2**29


def test_cache_of_latent_attention_is_the_compressed_vector() -> None:
    """512 + 64 elements a token and layer, once for all heads."""
    arch = traced_models()["deepseek-v3"]
    assert kv_cache_bytes(arch, sequence_length=1000, sequences=1) == 1000 * 61 * 576 * 2


def test_windowed_layers_stop_growing() -> None:
    arch = traced_models()["gemma-3-1b"]
    short, long = (kv_elements(arch, n)[0] for n in (512, 5120))
    grown = long - short
    assert grown == (5120 - 512) * 4 * 2 * 256  # only the four full layers


@pytest.mark.parametrize("name", sorted(traced_models()))
def test_cache_agrees_with_the_catalogue_rule(name: str) -> None:
    arch = traced_models()[name]
    elements = cache_elements(arch)
    filled = Architecture.model_validate(
        {
            **arch.model_dump(),
            "kv_elements_per_token_full": elements.per_token_full,
            "kv_elements_per_token_window": elements.per_token_window,
        }
    )
    for length in (100, 10_000):
        assert kv_elements(arch, length)[0] == kv_elements(filled, length)[0]


@pytest.mark.parametrize(("model", "quantization"), GGUF_FILES)
def test_gguf_weights_match_published_files(model: str, quantization: str) -> None:
    weights = _terms(model, weight_quantization=quantization, engine="llama.cpp")["memory.weights"]
    assert weights / GB == pytest.approx(GGUF_FILES[model, quantization], rel=0.02)


def test_four_bit_formats_leave_embeddings_alone() -> None:
    arch = traced_models()["llama-3.1-8b"]
    weights = _terms("llama-3.1-8b", weight_quantization="awq4")["memory.weights"]
    head_and_embedding = 2 * arch.vocabulary_size * arch.hidden_size
    linear = arch.parameters_total - head_and_embedding
    assert weights == pytest.approx(2 * head_and_embedding + linear * FORMATS["awq4"].bits / 8, rel=0.002)


def test_the_cache_has_bits_of_its_own() -> None:
    """Four-bit weights do not make the cache smaller; an 8-bit cache does, whatever the weights are."""
    sixteen = _terms("llama-3.1-8b", weight_quantization="awq4")["memory.kv_cache"]
    assert sixteen == _terms("llama-3.1-8b")["memory.kv_cache"]
    assert _terms("llama-3.1-8b", kv_cache_bits=8)["memory.kv_cache"] == sixteen / 2


def test_logits_are_those_of_the_last_position() -> None:
    few, many = (_terms("llama-3.1-8b", prompt_tokens=n)["memory.logits"] for n in (128, 8192))
    assert few == many
    assert few <= 10 * 128256


@settings(max_examples=30, deadline=None)
@given(
    name=st.sampled_from(sorted(traced_models())),
    users=st.integers(1, 64),
    tokens=st.integers(1, 32768),
    engine=st.sampled_from(["vllm", "llama.cpp", "hf-transformers"]),
)
def test_never_falls_with_users_or_tokens(name: str, users: int, tokens: int, engine: str) -> None:
    def driver(sequences: int, prompt: int) -> float:
        job = InferenceJob.model_validate(
            {"concurrent_sequences": sequences, "prompt_tokens": prompt, "engine": engine}
        )
        bounds = inference_memory(traced_models()[name], job, Layout()).driver
        assert float(bounds.low) <= float(bounds.expected) <= float(bounds.high)
        return float(bounds.expected)

    assert driver(users + 1, tokens) > driver(users, tokens)
    assert driver(users, tokens + 512) >= driver(users, tokens)


def test_tensor_ranks_split_weights_and_cache_but_not_latent_cache() -> None:
    job = InferenceJob(concurrent_sequences=8)
    for name, split in (("llama-3.1-70b", 8), ("deepseek-v3", 1)):
        one, eight = (
            {
                t.name: float(np.asarray(t.amount.expected))
                for t in inference_memory(traced_models()[name], job, Layout(tensor_parallel=n)).terms_of_moment[0]
            }
            for n in (1, 8)
        )
        assert one["memory.kv_cache"] / eight["memory.kv_cache"] == pytest.approx(split)
        assert one["memory.weights"] / eight["memory.weights"] == pytest.approx(8, rel=0.01)


def test_more_replicas_share_the_users() -> None:
    arch, job = traced_models()["llama-3.1-8b"], InferenceJob(concurrent_sequences=64, prompt_tokens=4096)
    one, two = (float(inference_memory(arch, job, Layout(data_parallel=n)).driver.expected) for n in (1, 2))
    assert one - two > 0.4 * kv_cache_bytes(arch, sequence_length=4096, sequences=64)
