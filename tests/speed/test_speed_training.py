"""A training step: its laws, its known times, and what links do to it."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from speed_cases import (
    A100,
    H100,
    LLAMA_1B,
    LLAMA_8B,
    LLAMA_70B,
    MIXTRAL,
    RTX4090,
    changed,
    gpu,
    layout,
    linked,
    model,
    speed,
    term,
)

from engine.hardware.model import Link
from engine.layout.model import Job, Layout, LayoutBlock, Lora, Offload
from engine.memory.training import training_memory
from engine.speed.hardware import cluster_for, hardware_block
from engine.speed.training import training_speed

PEAK_H100 = 989e12
PCIE = Link(kind="pcie-p2p", bytes_per_second=31.5e9, latency_seconds=12e-6)


def hours_at(utilization: float, name: str, cards: int, tokens: float, sequence_length: int) -> float:
    """Hours at a stated share of the H100's peak, from the model FLOPs that the formulas count."""
    found = speed(name, sequence_length=sequence_length)
    flops = found.model_flops_utilization.expected * PEAK_H100 * found.step_seconds.expected / found.tokens_per_step
    return flops * tokens / (PEAK_H100 * utilization * cards) / 3600


@pytest.mark.parametrize(
    ("name", "cards", "sequence_length", "least", "most"),
    [
        (LLAMA_8B, 1, 4096, 3.0, 3.9),
        (LLAMA_70B, 8, 4096, 3.3, 4.3),
        ("Qwen/Qwen2.5-32B", 8, 4096, 1.5, 2.0),
        (LLAMA_8B, 8, 131072, 1.2, 1.5),
    ],
)
def test_hours_for_100_million_tokens(name: str, cards: int, sequence_length: int, least: float, most: float) -> None:
    """Published ranges for a utilisation of 0.35 to 0.45 on H100s, without recomputation."""
    assert hours_at(0.45, name, cards, 1e8, sequence_length) == pytest.approx(least, rel=0.08)
    assert hours_at(0.35, name, cards, 1e8, sequence_length) == pytest.approx(most, rel=0.08)


def test_attention_outweighs_the_weights_at_131072_tokens() -> None:
    """About twice the term of the weights: three times the FLOPs of a short row. Without it, time is a third."""
    per_token = {s: hours_at(0.4, LLAMA_8B, 8, 1e8, s) for s in (1024, 131072)}
    assert per_token[131072] / per_token[1024] == pytest.approx(3, rel=0.12)


def test_full_recomputation_takes_a_third_more() -> None:
    """Four products instead of three."""
    plain, again = (term(speed(spread=layout(recomputation=r)), "speed.compute") for r in ("none", "full"))
    assert again / plain == pytest.approx(4 / 3, rel=0.04)


def test_frozen_weights_need_no_weight_gradient() -> None:
    """Forward and one gradient instead of two: adapters take about two thirds of the products, never half."""
    full = term(speed(), "speed.compute")
    adapters = term(speed(method="lora", lora=Lora(rank=16)), "speed.compute")
    assert 0.6 < adapters / full < 0.75


def test_preference_training_also_runs_the_reference() -> None:
    """Pairs double the tokens and the frozen reference adds a forward pass."""
    alone = term(speed(), "speed.compute")
    pairs = term(speed(method="dpo", sequences_per_sample=2, reference_model=True), "speed.compute")
    assert pairs / alone == pytest.approx(2 * 4 / 3, rel=0.05)


def test_experts_that_a_token_skips_take_no_time() -> None:
    """Mixtral computes 13 of its 47 billion weights."""
    found = speed(MIXTRAL, spread=layout(micro_batch_size=8))
    flops = found.model_flops_utilization.expected * PEAK_H100 * found.step_seconds.expected
    assert flops / found.tokens_per_step == pytest.approx(6 * 12.9e9, rel=0.15)


METHODS = [
    {"method": "full"},
    {"method": "lora", "lora": Lora(rank=32)},
    {"method": "qlora", "lora": Lora(), "weight_quantization": "nf4"},
    {"method": "freeze", "trained_layers_fraction": 0.3},
    {"method": "dpo", "sequences_per_sample": 2, "reference_model": True},
]
SPREADS: list[dict[str, Any]] = [
    {},
    {"sharding": "fsdp2"},
    {"sharding": "zero3", "shard_degree": 4},
    {"sharding": "zero2"},
    {"sharding": "zero1", "tensor_parallel": 2},
    {"tensor_parallel": 8},
    {"pipeline_parallel": 4, "gradient_accumulation_steps": 8},
    {"context_parallel": 4, "sharding": "fsdp2"},
    {"sharding": "fsdp2", "offload": "optimizer"},
    {"sharding": "zero3", "offload": "optimizer+parameters"},
    {"pipeline_parallel": 8, "layer_split": True},
]


@pytest.mark.parametrize("job", METHODS, ids=lambda j: str(j["method"]))
@pytest.mark.parametrize("spread", SPREADS, ids=str)
def test_terms_add_up_and_utilization_stays_below_one(job: dict[str, Any], spread: dict[str, Any]) -> None:
    found = speed(on=linked(gpu(H100), 8), spread=layout(8, **spread), **job)
    for point in ("low", "expected", "high"):
        assert sum(getattr(t, point) for t in found.terms) == pytest.approx(getattr(found.step_seconds, point))
    assert all(t.low >= 0 and t.formula and t.source and t.unit == "seconds" for t in found.terms)
    assert 0 < found.model_flops_utilization.high < 1
    assert found.tokens_per_second_per_gpu.expected == pytest.approx(
        found.tokens_per_step / found.step_seconds.expected / 8
    )


@settings(max_examples=25, deadline=None)
@given(
    spread=st.sampled_from(SPREADS),
    job=st.sampled_from(METHODS),
    what=st.sampled_from(["bf16_flops", "memory_bytes_per_second", "pcie_bytes_per_second", "link", "latency"]),
    factor=st.floats(1.01, 20),
)
def test_faster_hardware_never_lengthens_a_step(
    spread: dict[str, Any], job: dict[str, Any], what: str, factor: float
) -> None:
    card, link = gpu(RTX4090), Link(kind="pcie-host", bytes_per_second=31.5e9, latency_seconds=3e-5)
    better_card, better_link = card, link
    if what == "link":
        better_link = Link(kind="pcie-host", bytes_per_second=31.5e9 * factor, latency_seconds=3e-5)
    elif what == "latency":
        better_link = Link(kind="pcie-host", bytes_per_second=31.5e9, latency_seconds=3e-5 / factor)
    else:
        better_card = changed(card, **{what: (getattr(card, what) or 0) * factor})
    before = speed(LLAMA_1B, on=linked(card, 8, link), spread=layout(8, **spread), **job).step_seconds
    after = speed(LLAMA_1B, on=linked(better_card, 8, better_link), spread=layout(8, **spread), **job).step_seconds
    for point in ("low", "expected", "high"):
        assert getattr(after, point) <= getattr(before, point) * (1 + 1e-9)


@settings(max_examples=20, deadline=None)
@given(st.integers(64, 60_000), st.sampled_from(SPREADS), st.sampled_from(METHODS))
def test_longer_rows_never_take_less_time(length: int, spread: dict[str, Any], job: dict[str, Any]) -> None:
    cluster = linked(gpu(A100), 8)
    short = speed(on=cluster, spread=layout(8, **spread), **{**job, "sequence_length": length})
    longer = speed(on=cluster, spread=layout(8, **spread), **{**job, "sequence_length": length + 500})
    assert longer.step_seconds.expected >= short.step_seconds.expected


def test_steps_scale_with_accumulation() -> None:
    """Twice the micro-steps take twice the time, apart from what is done once a step."""
    once, twice = (speed(spread=layout(gradient_accumulation_steps=n)) for n in (8, 16))
    assert twice.tokens_per_step == 2 * once.tokens_per_step
    assert twice.step_seconds.expected / once.step_seconds.expected == pytest.approx(2, rel=0.03)


@pytest.mark.parametrize("spread", SPREADS, ids=str)
def test_an_array_gives_what_its_elements_give(spread: dict[str, Any]) -> None:
    card = gpu(H100)
    clusters = [linked(card, 8), linked(card, 8, PCIE), linked(card, 8, nodes=2)]
    single = layout(8, **spread)
    values = {f.name: getattr(single, f.name) for f in fields(LayoutBlock)}
    index = np.array([0, 1, 2, 0])
    arrays = {k: np.full(4, v) for k, v in values.items() if isinstance(v, int) and not isinstance(v, bool)}
    arrays["micro_batch_size"] = np.array([1, 1, 1, 2])
    block = LayoutBlock(**(values | arrays))
    job = Job(method="full", sequence_length=2048)  # pyright: ignore[reportArgumentType]
    many = training_speed(model(LLAMA_1B), job, block, hardware_block(clusters, framework="trl", index=index))
    for i, which in enumerate(index):
        one = speed(LLAMA_1B, on=clusters[which], stack="trl", spread=block.at(i), method="full", sequence_length=2048)
        assert many.at(i).model_dump() == _close(one.model_dump())


def _close(value: Any) -> Any:
    if isinstance(value, dict):
        return {k: _close(v) for k, v in value.items()}
    if isinstance(value, tuple | list):
        return type(value)(_close(v) for v in value)
    return pytest.approx(value) if isinstance(value, float) else value


def test_full_training_suffers_from_a_bus_and_adapters_do_not() -> None:
    """Eight cards with NVLink and on PCIe: gradients of all weights cross the bus, adapters are a hundredth."""

    def slowdown(**job: Any) -> float:
        on_link, on_bus = (
            speed(on=linked(gpu(A100), 8, link), stack="trl", spread=layout(8), sequence_length=2048, **job)
            for link in (None, PCIE)
        )
        return on_bus.step_seconds.expected / on_link.step_seconds.expected

    assert slowdown(method="full") > 2
    assert slowdown(method="lora", lora=Lora(rank=16)) < 1.05
    quantized = slowdown(method="qlora", lora=Lora(rank=16), weight_quantization="nf4")
    assert quantized < 1.05


def test_sharded_frozen_weights_still_cross_the_bus() -> None:
    """LoRA under FSDP gathers the whole frozen model for each pass: the saving of adapters is gone."""
    base = {"method": "lora", "lora": Lora(rank=16), "sequence_length": 2048, "stack": "trl"}
    shard = layout(8, sharding="fsdp2")
    on_link, on_bus = (speed(on=linked(gpu(A100), 8, link), spread=shard, **base) for link in (None, PCIE))
    assert on_bus.step_seconds.expected > 2 * on_link.step_seconds.expected


def test_two_cards_without_peer_to_peer_can_be_slower_than_one() -> None:
    """Full training of a small model with short rows: summing gradients through host memory takes longer than both."""
    work = {"method": "full", "sequence_length": 1024, "stack": "trl"}
    alone = speed(LLAMA_1B, on=cluster_for(gpu(RTX4090)), spread=layout(), **work)
    pair = speed(LLAMA_1B, on=cluster_for(gpu(RTX4090), gpus_per_node=2), spread=layout(2, sharding="fsdp2"), **work)
    assert 2 * pair.tokens_per_second_per_gpu.expected < alone.tokens_per_second_per_gpu.expected
    assert pair.bottleneck == "speed.communication"


def test_tensor_parallelism_across_nodes_costs_more_than_within() -> None:
    inside = speed(on=linked(gpu(H100), 8), spread=layout(8, tensor_parallel=8))
    across = speed(on=linked(gpu(H100), 4, nodes=2), spread=layout(8, tensor_parallel=8))
    assert term(across, "speed.communication") > 1.3 * term(inside, "speed.communication")


def test_a_pipeline_idles_less_with_more_micro_batches() -> None:
    """(stages - 1) / micro-batches of the work, arXiv:2104.04473."""
    for steps in (4, 16):
        spread = layout(8, pipeline_parallel=8, gradient_accumulation_steps=steps)
        found = speed(on=linked(gpu(H100), 8), spread=spread)
        once = found.step_seconds.expected - term(found, "speed.bubble")
        assert term(found, "speed.bubble") / once == pytest.approx(7 / steps, rel=0.1)


def test_layers_on_several_cards_without_a_schedule_are_no_faster_than_one_card() -> None:
    split = layout(4, pipeline_parallel=4, layer_split=True)
    one, four = speed(), speed(on=linked(gpu(H100), 4), spread=split)
    assert four.step_seconds.expected >= 0.9 * one.step_seconds.expected  # the update alone is shared out


def test_offloading_the_optimizer_costs_seconds() -> None:
    """7B on 8 A800, 8 micro-steps: 15 s became 35 s in a published run; held within a factor of 2."""
    spread = {"sharding": "zero2", "gradient_accumulation_steps": 8, "recomputation": "full"}
    plain, off = (
        speed(
            "meta-llama/Llama-2-7b-hf",
            on=linked(gpu("nvidia-a800-sxm-80gb"), 8),
            stack="hf-trainer",
            spread=layout(8, offload=offload, **spread),
        )
        for offload in (Offload.NONE, Offload.OPTIMIZER)
    )
    assert 7.6 < plain.step_seconds.expected < 31
    assert 1.5 < off.step_seconds.expected / plain.step_seconds.expected < 4


def test_padding_counts_as_time_but_not_as_data() -> None:
    full, half = speed(), speed(average_tokens_fraction=0.5)
    assert half.step_seconds == full.step_seconds
    assert half.tokens_per_step == full.tokens_per_step / 2


def test_an_unknown_rate_is_unknown_and_never_zero() -> None:
    card = changed(gpu(H100), bf16_flops=None, fp16_flops=None)
    block = training_speed(
        model(LLAMA_8B), Job(method="full", sequence_length=1024), layout(), hardware_block([cluster_for(card)])  # pyright: ignore[reportArgumentType]
    )  # fmt: skip
    assert not block.known
    assert block.step_seconds.expected == np.inf
    with pytest.raises(ValueError, match="not ordered"):
        block.at()


def test_generating_methods_have_no_known_speed() -> None:
    job = Job(method="grpo", sequence_length=1024)  # pyright: ignore[reportArgumentType]
    assert not training_speed(model(LLAMA_8B), job, Layout(), hardware_block([linked(gpu(H100), 1)])).known


def test_interleaved_stages_idle_less_and_hold_a_little_more() -> None:
    """Bubble 1 / v of the plain schedule's (arXiv:2104.04473, section 2.2.2), activations by (p - 1) / (p v) more."""
    plain = layout(32, pipeline_parallel=8, micro_batch_size=1, gradient_accumulation_steps=16)
    cut = plain.model_copy(update={"virtual_stages": 2})
    on = linked(gpu(H100), 8, nodes=4)
    one, two = (speed(on=on, spread=s, stack="megatron-lm") for s in (plain, cut))
    # 32 layers on 8 stages of 2 pieces divide evenly
    assert term(two, "speed.bubble") == pytest.approx(term(one, "speed.bubble") / 2, rel=0.05)
    assert term(two, "speed.communication") >= term(one, "speed.communication")
    job = Job.model_validate({"method": "full", "sequence_length": 4096})
    held = [training_memory(model(LLAMA_8B), job, s).driver.at().expected for s in (plain, cut)]
    assert held[0] < held[1] < 1.3 * held[0]
