"""Floating-point operations: hand counts, published rules, and laws."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.architecture.flops import (
    forward_flops,
    forward_flops_per_token,
    model_flops_per_token,
    training_flops,
    training_flops_per_token,
    visible_tokens,
)
from engine.catalog.load import load_base

CATALOG = load_base()
LLAMA = CATALOG.model_by_id["meta-llama/Llama-3.1-8B"]
MODELS = CATALOG.models


def test_short_training_is_six_times_the_parameters() -> None:
    """6 N, arXiv:2001.08361: without the embedding, which is looked up and not multiplied."""
    multiplied = LLAMA.parameters_total - 128256 * 4096 - 65 * 4096
    assert model_flops_per_token(LLAMA, 1) == pytest.approx(6 * multiplied, rel=1e-3)


def test_attention_at_128k_outweighs_the_weights() -> None:
    """12 L H Q T of arXiv:2204.02311 appendix B, of which a causal mask needs half: 1.03e11 a token at 131072."""
    flops = forward_flops(LLAMA, 131072)
    assert 3 * flops["attention_scores"] == pytest.approx(12 * 32 * 32 * 128 * 131072 / 2, rel=1e-4)
    assert flops["attention_scores"] > flops["mlp"] + flops["attention_projections"]


def test_visible_tokens_are_the_mean_of_a_causal_mask() -> None:
    for length in (1, 2, 7, 100):
        for window in (0, 1, 3, 99, 100, 200):
            counted = [min(i + 1, window) if window else i + 1 for i in range(length)]
            assert visible_tokens(length, window) == pytest.approx(sum(counted) / length)


def test_frozen_weights_have_no_weight_gradient() -> None:
    forward = forward_flops_per_token(LLAMA, 2048)
    scores = forward_flops(LLAMA, 2048)["attention_scores"]
    full = training_flops_per_token(LLAMA, 2048)
    frozen = training_flops_per_token(LLAMA, 2048, weights_trained=False)
    assert full == pytest.approx(3 * forward)
    assert frozen == pytest.approx(2 * forward + scores)  # both matrices of the scores still need a gradient


def test_recomputation_repeats_the_blocks_but_not_the_head() -> None:
    plain, again = training_flops(LLAMA, 2048), training_flops(LLAMA, 2048, recomputation="full")
    forward = forward_flops(LLAMA, 2048)
    assert again["logits"] == plain["logits"]
    assert again["mlp"] == pytest.approx(plain["mlp"] + forward["mlp"])
    attention = training_flops(LLAMA, 2048, recomputation="attention")
    assert attention["mlp"] == plain["mlp"]
    assert attention["attention_scores"] > plain["attention_scores"]


def test_a_reference_model_adds_its_forward_pass() -> None:
    with_reference = training_flops_per_token(LLAMA, 2048, reference_forwards=1)
    assert with_reference == pytest.approx(training_flops_per_token(LLAMA, 2048) * 4 / 3)


def test_a_decoded_token_sees_its_whole_context() -> None:
    mean, last = (forward_flops(LLAMA, 4096, decoding=d)["attention_scores"] for d in (False, True))
    assert last == pytest.approx(2 * mean, rel=1e-3)


def test_experts_count_as_used() -> None:
    mixtral = CATALOG.model_by_id["mistralai/Mixtral-8x7B-v0.1"]
    assert model_flops_per_token(mixtral, 1) == pytest.approx(6 * mixtral.parameters_active, rel=0.02)


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(MODELS), st.integers(1, 1_000_000), st.integers(1, 8))
def test_flops_grow_with_the_sequence_and_arrays_agree(model, length: int, factor: int) -> None:  # type: ignore[no-untyped-def]
    short, longer = forward_flops_per_token(model, length), forward_flops_per_token(model, length * factor)
    assert longer >= short > 0
    both = forward_flops_per_token(model, np.array([length, length * factor]))
    assert np.broadcast_to(both, 2) == pytest.approx([short, longer])
