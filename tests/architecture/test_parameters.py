"""Parameter counts against the published totals of the model table, and the laws that parts obey."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.architecture.cache import cache_elements
from engine.architecture.kinds import block_kind
from engine.architecture.linears import layer_linears
from engine.architecture.model import Architecture
from engine.architecture.parameters import parameter_parts, parameters_active, parameters_total
from engine.architecture.size import LARGEST_BILLION, SMALLEST_BILLION, from_size
from engine.catalog.load import load_base
from engine.errors import InputError
from engine.messages import LABELS

MODELS = load_base().models
#: Rows whose published total holds something that dimensions don't tell: the vocabulary of the instruct files differs.
ACTIVE_OFF = {"moonshotai/Kimi-K2-Instruct-0905"}


@pytest.mark.parametrize("model", [m for m in MODELS if m.confidence == "high"], ids=lambda m: m.id)
def test_total_equals_the_published_one(model: Architecture) -> None:
    assert parameters_total(model) == pytest.approx(model.parameters_total, rel=1e-3)
    if model.id not in ACTIVE_OFF:
        assert parameters_active(model) == pytest.approx(model.parameters_active, rel=1e-3)


def test_most_totals_are_exact_to_a_millionth() -> None:
    errors = [abs(parameters_total(m) / m.parameters_total - 1) for m in MODELS]
    assert sum(e <= 1e-6 for e in errors) >= 0.97 * len(errors)
    assert max(errors) < 2e-4


def test_cache_elements_equal_those_of_the_table() -> None:
    for m in MODELS:
        found = cache_elements(m)
        stated = (m.kv_elements_per_token_full, m.kv_elements_per_token_window, m.state_elements_per_sequence)
        assert (found.per_token_full, found.per_token_window, found.per_sequence) == stated, m.id


def test_every_part_has_words() -> None:
    assert {p.name for m in MODELS for p in parameter_parts(m)} <= LABELS.keys()


def test_llama_by_hand() -> None:
    """Llama-3.1-8B, counted on paper from its config: 8,030,261,248."""
    llama = load_base().model_by_id["meta-llama/Llama-3.1-8B"]
    parts = {p.name: p.count for p in parameter_parts(llama)}
    assert parts == {
        "part.embedding": 128256 * 4096,
        "part.head": 128256 * 4096,
        "part.attention": 32 * (2 * 4096 * 4096 + 2 * 4096 * 1024),
        "part.mlp": 32 * 3 * 4096 * 14336,
        "part.norms": 65 * 4096,
    }
    assert parameters_total(llama) == 8_030_261_248


def test_a_token_uses_the_chosen_experts_only() -> None:
    mixtral = load_base().model_by_id["mistralai/Mixtral-8x7B-v0.1"]
    experts = next(p for p in parameter_parts(mixtral) if p.name == "part.experts")
    assert experts.active * 4 == experts.count
    assert not any(x.adaptable for x in layer_linears(mixtral) if x.kind == "router")


DIMENSIONS = st.fixed_dictionaries(
    {
        "hidden_size": st.integers(1, 64).map(lambda n: 64 * n),
        "layers": st.integers(1, 100),
        "attention_heads": st.integers(1, 64),
        "head_dim": st.sampled_from([32, 64, 128]),
        "intermediate_size": st.integers(1, 20000),
        "vocabulary_size": st.integers(1, 300_000),
        "tied_embeddings": st.booleans(),
        "mlp": st.sampled_from(["swiglu", "gelu"]),
        "norm": st.sampled_from(["rms", "ln", "none"]),
        "attention_bias": st.sampled_from(["none", "qkv", "all"]),
        "experts": st.sampled_from([0, 8, 64]),
    }
)


def _made(dimensions: dict[str, object]) -> Architecture:
    routed = {"experts_per_token": 2, "moe_intermediate_size": 256} if dimensions["experts"] else {}
    fixed = {"id": "x", "name": "x", "parameters_total": 1, "parameters_active": 1}
    heads = {"kv_heads": dimensions["attention_heads"]}
    return Architecture.model_validate({**fixed, **heads, **routed, **dimensions})


@settings(max_examples=40, deadline=None)
@given(DIMENSIONS)
def test_parts_add_up_and_grow_with_every_dimension(dimensions: dict[str, object]) -> None:
    model = _made(dimensions)
    parts = parameter_parts(model)
    assert sum(p.count for p in parts) == parameters_total(model)
    assert all(0 <= p.active <= p.count for p in parts)
    assert parameters_active(model) <= parameters_total(model)
    for name in ("hidden_size", "layers", "intermediate_size", "vocabulary_size"):
        larger = _made({**dimensions, name: int(str(dimensions[name])) * 2})
        assert parameters_total(larger) >= parameters_total(model)


@settings(max_examples=60, deadline=None)
@given(st.floats(SMALLEST_BILLION, LARGEST_BILLION))
def test_a_size_gives_a_model_of_that_size(billions: float) -> None:
    model = from_size(billions)
    assert model.parameters_total == pytest.approx(billions * 1e9, rel=0.02)
    assert model.parameters_total == parameters_total(model)
    assert model.basis == "size"
    assert "hidden_size" in model.guessed
    assert model.attention_heads % model.kv_heads == 0


def test_a_size_resembles_a_real_model_of_that_size() -> None:
    real = load_base().model_by_id["meta-llama/Llama-3.1-70B"]
    guess = from_size(real.parameters_total / 1e9)
    assert (guess.hidden_size, guess.layers, guess.kv_heads) == (real.hidden_size, real.layers, real.kv_heads)


@pytest.mark.parametrize("billions", [0.0, -1.0, 1e9, float("nan")])
def test_an_impossible_size_is_refused(billions: float) -> None:
    with pytest.raises(InputError):
        from_size(billions)


def test_kinds_are_those_of_blocks_with_the_same_computation() -> None:
    assert block_kind("llama") == block_kind("mistral") == "llama"
    assert block_kind("Qwen3") == "qwen3"
    assert block_kind("qwen3_next") == block_kind("") == ""
