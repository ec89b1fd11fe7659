"""What must hold for any job: monotone, split by sharding, the same for a scalar and for an array."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from traced_models import traced_models

from engine.architecture.model import Architecture
from engine.layout.model import Job, Layout, LayoutBlock, Lora, Sharding
from engine.memory.training import training_memory
from engine.quantity import TermBlock

MODELS = sorted(traced_models())
METHODS = ("full", "lora", "qlora", "prompt")


def _job(method: str, **more: Any) -> Job:
    values: dict[str, Any] = {"method": method, "sequence_length": 1024, **more}
    if method in ("lora", "qlora"):
        values.setdefault("lora", Lora())
    if method == "qlora":
        values["weight_quantization"] = "nf4-dq"
    if method == "prompt":
        values["virtual_tokens"] = 20
    return Job.model_validate(values)


def _layout(data: st.DataObject) -> Layout:
    return Layout(
        recomputation=data.draw(st.sampled_from(["none", "attention", "selective", "full"])),
        attention=data.draw(st.sampled_from(["flash", "sdpa", "eager"])),
        loss=data.draw(st.sampled_from(["plain", "chunked"])),
        regime=data.draw(st.sampled_from(["pure-bf16", "fp32-master", "bf16-amp"])),
        optimizer=data.draw(st.sampled_from(["adamw", "adamw_8bit", "adafactor"])),
    )


def _peak(arch: Architecture, job: Job, layout: Layout) -> tuple[float, float, float]:
    driver = training_memory(arch, job, layout).driver
    return float(driver.low), float(driver.expected), float(driver.high)


@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_never_falls_with_length_batch_or_rank(data: st.DataObject) -> None:
    arch = traced_models()[data.draw(st.sampled_from(MODELS))]
    method, layout = data.draw(st.sampled_from(METHODS)), _layout(data)
    small = _peak(arch, _job(method), layout)
    assert small[0] <= small[1] <= small[2]
    longer = _peak(arch, _job(method, sequence_length=4096), layout)
    assert longer[1] > small[1]
    wider = _peak(arch, _job(method), Layout.model_validate({**layout.model_dump(), "micro_batch_size": 4}))
    assert wider[1] > small[1]
    if method in ("lora", "qlora"):
        ranked = _peak(arch, _job(method, lora=Lora(rank=128)), layout)
        assert ranked[1] > small[1]


@settings(max_examples=25, deadline=None)
@given(name=st.sampled_from(MODELS), method=st.sampled_from(METHODS))
def test_never_falls_with_layers(name: str, method: str) -> None:
    arch = traced_models()[name]
    per_layer = (arch.parameters_total - arch.vocabulary_size * arch.hidden_size * 2) // arch.layers
    more = {
        **arch.model_dump(),
        "layers": arch.layers + 2,
        "full_attention_layers": arch.full_attention_layers + 2,
        "parameters_total": arch.parameters_total + 2 * max(per_layer, 1),
    }
    deeper = Architecture.model_validate(more)
    assert _peak(deeper, _job(method), Layout())[1] > _peak(arch, _job(method), Layout())[1]


def _expected(terms: tuple[TermBlock, ...], name: str) -> float:
    return sum(float(t.amount.expected) for t in terms if t.name == name)


@pytest.mark.parametrize(
    ("sharding", "split"),
    [
        ("zero1", {"memory.optimizer_states"}),
        ("zero2", {"memory.optimizer_states"}),
        ("zero3", {"memory.optimizer_states", "memory.weights"}),
        ("fsdp2", {"memory.optimizer_states", "memory.weights"}),
    ],
)
@pytest.mark.parametrize("name", ["llama-3.1-8b", "mixtral-8x7b", "deepseek-v3"])
def test_a_state_sharded_in_two_is_half(name: str, sharding: str, split: set[str]) -> None:
    arch = traced_models()[name]
    base = {"sharding": sharding, "regime": "pure-bf16"}
    one, two = (
        training_memory(arch, _job("full"), Layout.model_validate({**base, "data_parallel": n, "shard_degree": n}))
        for n in (2, 4)
    )
    for term in ("memory.optimizer_states", "memory.weights"):
        ratio = _expected(two.terms_of_moment[0], term) / _expected(one.terms_of_moment[0], term)
        assert ratio == pytest.approx(0.5 if term in split else 1.0, rel=1e-9), term


def test_activations_are_never_sharded_by_data_parallelism() -> None:
    arch = traced_models()["llama-3.1-8b"]
    one, many = (
        training_memory(arch, _job("full"), Layout(data_parallel=n, shard_degree=n, sharding="fsdp2")) for n in (2, 64)
    )
    for term in ("memory.activations", "memory.logits"):
        assert _expected(one.terms_of_moment[0], term) == _expected(many.terms_of_moment[0], term)


@settings(max_examples=30, deadline=None)
@given(data=st.data())
def test_a_scalar_and_arrays_agree(data: st.DataObject) -> None:
    arch = traced_models()[data.draw(st.sampled_from(MODELS))]
    job = _job(data.draw(st.sampled_from(METHODS)))
    n = data.draw(st.lists(st.sampled_from([1, 2, 8, 64]), min_size=1, max_size=4))
    sizes = np.array(n, dtype=np.int64)
    ones = np.ones_like(sizes)
    tensor = np.array([data.draw(st.sampled_from([1, 2, 8])) for _ in n])
    stages = np.array([data.draw(st.sampled_from([1, 4])) for _ in n])
    kinds = _layout(data)
    block = LayoutBlock(
        data_parallel=sizes,
        tensor_parallel=tensor,
        pipeline_parallel=stages,
        context_parallel=ones,
        expert_parallel=ones,
        shard_degree=sizes,
        micro_batch_size=ones * 2,
        gradient_accumulation_steps=np.array([data.draw(st.sampled_from([1, 8])) for _ in n]),
        sharding=data.draw(st.sampled_from(list(Sharding)[1:])),
        reshard_after_forward=True,
        recomputation=kinds.recomputation,
        attention=kinds.attention,
        loss=kinds.loss,
        regime=kinds.regime,
        optimizer=kinds.optimizer,
        optimizer_in_backward=False,
        offload=data.draw(st.sampled_from(list(type(kinds.offload)))),
    )
    many = training_memory(arch, job, block)
    for index in range(len(n)):
        single = training_memory(arch, job, block.at(index))
        for end in ("low", "expected", "high"):
            expected = np.broadcast_to(getattr(many.driver, end), sizes.shape)[index]
            assert float(getattr(single.driver, end)) == pytest.approx(float(expected), rel=1e-9), end
        host = np.broadcast_to(many.host_bytes, sizes.shape)[index]
        assert float(np.asarray(single.host_bytes)) == pytest.approx(float(host))


def test_offload_moves_states_to_the_host() -> None:
    arch, job = traced_models()["llama-3.1-8b"], _job("full")
    on_card = training_memory(arch, job, Layout(regime="fp32-master"))
    away = training_memory(arch, job, Layout(regime="fp32-master", offload="optimizer"))
    assert float(away.driver.expected) < float(on_card.driver.expected) - 12 * 8.0e9
    assert float(np.asarray(away.host_bytes)) >= 12 * 8.0e9  # 32-bit master and two states
    assert float(np.asarray(on_card.host_bytes)) == 0


def test_offloaded_weights_are_streamed_through_buffers() -> None:
    """On one card too: what is outside the blocks and a few blocks are there when they are used."""
    arch, job = traced_models()["llama-3.1-8b"], _job("full")
    away = training_memory(arch, job, Layout(regime="fp32-master", offload="optimizer+parameters"))
    for (label, _, _), terms in zip(away.moments, away.terms_of_moment, strict=True):
        assert _expected(terms, "memory.weights") == 0
        if label == "memory.moment.loss_backward":
            assert _expected(terms, "memory.gather_buffers") > 2 * 2 * arch.vocabulary_size * arch.hidden_size
    assert float(np.asarray(away.host_bytes)) >= (12 + 2) * 8.0e9


def test_optimizer_regimes_in_bytes_a_parameter() -> None:
    """States and weights of a 1.24 B model, textbook sums: 2+2+2, 4+4+4, 2+4+4+4 bytes and so on."""
    arch = traced_models()["llama-3.2-1b"]
    wanted = {
        ("pure-bf16", "adamw"): 2 + 2 * 2,
        ("bf16-amp", "adamw"): 4 + 2 * 4,
        ("fp32-master", "adamw"): 2 + 4 + 2 * 4,
        ("pure-bf16", "sgd"): 2,
        ("pure-bf16", "adamw_8bit"): 2 + 2 * (1 + 4 / 256),
        ("pure-bf16", "adamw_fp32"): 2 + 8,
        ("pure-bf16", "lion"): 2 + 2,
    }
    for (regime, optimizer), per_parameter in wanted.items():
        block = training_memory(arch, _job("full"), Layout(regime=regime, optimizer=optimizer))
        found = sum(_expected(block.terms_of_moment[0], f"memory.{n}") for n in ("weights", "optimizer_states"))
        assert found / arch.parameters_total == pytest.approx(per_parameter, rel=1e-6), (regime, optimizer)


def test_pipeline_stages_hold_their_share() -> None:
    arch, job = traced_models()["llama-3.1-8b"], _job("full")
    whole = training_memory(arch, job, Layout(regime="pure-bf16", recomputation="none"))
    staged = training_memory(
        arch,
        job,
        Layout(regime="pure-bf16", recomputation="none", pipeline_parallel=4, gradient_accumulation_steps=8),
    )
    first = staged.terms_of_moment[0]
    weights = _expected(first, "memory.weights") / _expected(whole.terms_of_moment[0], "memory.weights")
    assert 0.25 < weights < 0.30  # a quarter of the layers, and the embedding
    # four micro-batches in flight on a quarter of the layers: the same activations as the whole model
    kept = _expected(first, "memory.activations") / _expected(whole.terms_of_moment[0], "memory.activations")
    assert kept == pytest.approx(1.0, abs=0.02)


def test_recomputation_and_fused_kernels_keep_less() -> None:
    arch = traced_models()["llama-3.1-8b"]

    def kept(framework: str = "hf-transformers", **layout: Any) -> float:
        job = _job("full", sequence_length=4096, framework=framework)
        block = training_memory(arch, job, Layout.model_validate({"regime": "pure-bf16", **layout}))
        return _expected(block.terms_of_moment[0], "memory.activations")

    nothing, attention, whole = (kept(recomputation=r) for r in ("none", "attention", "full"))
    assert whole < attention < nothing
    assert kept(recomputation="none", compile=True) < nothing
    assert kept("megatron", recomputation="selective") < nothing
    assert whole < kept("torchtitan", recomputation="selective") < attention


def test_context_ranks_split_the_tokens_and_exchange_keys() -> None:
    arch = traced_models()["llama-3.1-8b"]
    one, eight = (
        training_memory(arch, _job("full", sequence_length=65536), Layout(context_parallel=n)) for n in (1, 8)
    )
    kept = [_expected(b.terms_of_moment[0], "memory.activations") for b in (one, eight)]
    assert kept[0] / kept[1] == pytest.approx(8)
    exchanged = [sum(_expected(t, "memory.context_exchange") for t in b.terms_of_moment) for b in (one, eight)]
    assert exchanged[0] == 0 < exchanged[1]


@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_regimes_are_ordered(data: st.DataObject) -> None:
    """16-bit training needs least, in every point of the interval; each regime that keeps 32 bits comes on top."""
    arch = traced_models()[data.draw(st.sampled_from(MODELS))]
    job = _job("full", sequence_length=data.draw(st.sampled_from([512, 4096, 16384])))
    common = {**_layout(data).model_dump(), "optimizer": "adamw"}

    def peak(regime: str) -> tuple[float, float, float]:
        return _peak(arch, job, Layout.model_validate({**common, "regime": regime}))

    pure = peak("pure-bf16")
    for regime in ("fp32-master", "bf16-amp", "fp32"):
        more = peak(regime)
        assert pure[1] < more[1], regime
        assert pure[2] <= more[2], regime


@settings(max_examples=30, deadline=None)
@given(data=st.data())
def test_all_states_split_by_ranks(data: st.DataObject) -> None:
    """What sharding splits is halved by twice the ranks, under any optimizer, regime and kind of adapter."""
    arch = traced_models()[data.draw(st.sampled_from(MODELS))]
    method = data.draw(st.sampled_from(["full", "lora"]))
    base = {**_layout(data).model_dump(), "sharding": "fsdp2"}
    one, two = (
        training_memory(arch, _job(method), Layout.model_validate({**base, "data_parallel": n, "shard_degree": n}))
        for n in (4, 8)
    )
    for term in ("memory.weights", "memory.optimizer_states", "memory.adapters"):
        before, after = (_expected(b.terms_of_moment[0], term) for b in (one, two))
        assert after == pytest.approx(before / 2, rel=1e-9), term


@settings(max_examples=30, deadline=None)
@given(data=st.data())
def test_allocated_is_the_sum_of_the_terms_at_the_peak(data: st.DataObject) -> None:
    arch = traced_models()[data.draw(st.sampled_from(MODELS))]
    job = _job(data.draw(st.sampled_from(METHODS)))
    block = training_memory(arch, job, _layout(data))
    terms = block.terms_of_moment[int(block.peak_moment)]
    assert float(block.allocated.expected) == pytest.approx(sum(float(t.amount.expected) for t in terms), rel=1e-12)
    assert float(block.allocated.low) <= float(block.allocated.expected) <= float(block.allocated.high)
    above = sum(float(t.amount.expected) for t in block.overhead_terms)
    assert float(block.driver.expected) == pytest.approx(float(block.allocated.expected) + above, rel=1e-12)


def test_any_block_of_layouts_is_what_its_layouts_are() -> None:
    """Where all candidates agree the formulas run on scalars: the answer still has an entry for each candidate."""
    arch, job = traced_models()["llama-3.1-8b"], _job("full")
    ones = np.ones(5, dtype=np.int64)
    kinds = {k: v for k, v in Layout().__dict__.items() if not isinstance(v, int) or isinstance(v, bool)}
    counts = {k: ones for k, v in Layout().__dict__.items() if isinstance(v, int) and not isinstance(v, bool)}
    block = training_memory(arch, job, LayoutBlock(**counts, **kinds))
    single = training_memory(arch, job, Layout())
    for amount in (block.allocated, block.reserved, block.driver):
        assert np.shape(amount.expected) == np.shape(amount.low) == np.shape(amount.high) == (5,)
    assert np.shape(block.peak_moment) == (5,)
    assert np.allclose(block.driver.expected, float(single.driver.expected), rtol=1e-12)


@pytest.mark.parametrize(("ranks", "held"), [(4, 1 / 4), (8, 1 / 8), (16, 1 / 8), (64, 1 / 8)])
def test_stacked_experts_are_not_split_further_than_experts(ranks: int, held: float) -> None:
    """FSDP2 splits a tensor of stacked experts by expert; separate experts, and ZeRO-3's flat buffers, by element."""
    arch = traced_models()["mixtral-8x7b"]  # 8 experts
    expert = arch.layers * 8 * 3 * arch.hidden_size * arch.moe_intermediate_size

    def weights(sharding: str, **more: Any) -> float:
        layout = Layout(data_parallel=ranks, shard_degree=ranks, sharding=sharding, regime="pure-bf16")
        return _expected(training_memory(arch, _job("full", **more), layout).terms_of_moment[0], "memory.weights") / 2

    rest = (arch.parameters_total - expert) / ranks
    assert weights("fsdp2") == pytest.approx(expert * held + rest, rel=1e-6)
    assert weights("zero3") == pytest.approx(arch.parameters_total / ranks, rel=1e-6)
    assert weights("fsdp2", experts_implementation="separate") == pytest.approx(arch.parameters_total / ranks, rel=1e-6)
