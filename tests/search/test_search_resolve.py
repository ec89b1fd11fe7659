"""Tasks, layouts, risk and time: the parts that the search is put together from."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from small_world import AS_OF, MEDIUM, SMALL, catalog, gpu, offer, purchase, scenario, serving, training

from engine.errors import InputError
from engine.layout.model import InferenceJob, Job, Method, Optimizer, Regime, Sharding
from engine.scenario import ModelChoice
from engine.search.clusters import Seed
from engine.search.layouts import Shape, serving_sets, take, training_sets
from engine.search.options import DELIVERY_SERVER, DELIVERY_SMALL, delivery_days
from engine.search.resolve import Knobs, precision_of, resolve_model, resolve_task
from engine.search.risk import RiskInput, risk_parts, risk_terms, total_risk
from engine.speed.hardware import cluster_for

CALM = RiskInput(
    memory_share=0.5, tight=False, time_width=0.0, rough_model=False, coarse_format=False, single_seller=False
)


def job_of(method: str, **changes: Any) -> Job:
    job = resolve_task(training("small", method, **changes), catalog()).jobs[0]
    assert isinstance(job, Job)
    return job


def regime_of(method: str, **changes: Any) -> Regime:
    return resolve_task(training("small", method, **changes), catalog()).tiers[0].regimes[0]


def test_models_by_id_alias_dimensions_and_size() -> None:
    known = catalog()
    assert resolve_model(ModelChoice(catalog_id="Small"), known) == SMALL
    assert resolve_model(ModelChoice(architecture=MEDIUM, catalog_id="small"), known) == MEDIUM
    guessed = resolve_model(ModelChoice(parameters_billion=7), known)
    assert guessed.basis == "size"
    assert guessed.parameters_total == pytest.approx(7e9, rel=0.1)
    for choice, code in (
        (ModelChoice(catalog_id="none"), "search.model_unknown"),
        (ModelChoice(), "search.model_missing"),
    ):
        with pytest.raises(InputError) as error:
            resolve_model(choice, known)
        assert error.value.code == code


def test_what_each_method_trains() -> None:
    assert job_of("full").lora is None
    assert job_of("lora", lora_rank=8).lora.rank == 8  # pyright: ignore[reportOptionalMemberAccess]
    assert job_of("qlora").weight_quantization == "nf4-dq"
    assert job_of("qlora").kbit_preparation and not job_of("qlora", framework="unsloth").kbit_preparation
    assert job_of("dpo", adapters=False).reference_model and not job_of("dpo").reference_model
    assert job_of("dpo").sequences_per_sample == 2
    padded = job_of("full", data={"examples": 100, "tokens_per_example": 512, "packed": False})
    assert padded.average_tokens_fraction == 512 / 2048


def test_usual_settings_first_lighter_ones_only_where_left_open() -> None:
    assert regime_of("full") is Regime.BF16_AMP
    assert regime_of("lora") is Regime.PURE_BF16
    assert regime_of("full", regime="fp32-master") is Regime.FP32_MASTER
    tiers = resolve_task(training("small", "full"), catalog()).tiers
    assert [t.optimizers[0] for t in tiers][:2] == [Optimizer.ADAMW, Optimizer.ADAMW_8BIT]
    pinned = resolve_task(training("small", "full", optimizer="sgd", offload="none"), catalog()).tiers
    assert [t.optimizers for t in pinned] == [(Optimizer.SGD,)]
    assert len(resolve_task(training("small", "lora"), catalog()).tiers) == 1


def test_everything_assumed_is_said() -> None:
    codes = {f.code for f in resolve_task(training("small", "full"), catalog()).assumptions}
    assert codes == {
        "assumption.regime_full",
        "assumption.optimizer",
        "assumption.attention",
        "assumption.knobs_searched",
    }
    stated = training("small", "full", regime="bf16-amp", optimizer="adamw", attention="flash", micro_batch_size=1,
                      recomputation="full", loss="plain")  # fmt: skip
    assert not resolve_task(stated, catalog()).assumptions
    long = training("small", "full", sequence_length=200_000)
    assert "assumption.beyond_context" in {f.code for f in resolve_task(long, catalog()).assumptions}


@pytest.mark.parametrize(
    ("task", "code"),
    [
        (training(data={"examples": 10}), "search.no_data"),
        (training(method="inference"), "search.inference_is_no_training"),
    ],
)
def test_what_contradicts_itself_is_an_input_error(task, code: str) -> None:
    with pytest.raises(InputError) as error:
        resolve_task(task, catalog())
    assert error.value.code == code


def test_cards_without_bf16_train_in_fp16() -> None:
    assert precision_of(gpu("volta", 32, None, fp16_flops=125e12, compute_capability="7.0")) == "fp16"
    assert precision_of(gpu("ampere", 80, 300)) == "bf16"
    assert precision_of(gpu("other", 64, None, fp16_flops=300e12, vendor="Huawei", compute_capability="")) == "bf16"


def test_serving_tries_the_published_format_and_coarser_ones() -> None:
    formats = [j.weight_quantization for j in resolve_task(serving(), catalog()).jobs]
    assert formats == ["none", "fp8", "awq4"]
    assert [j.weight_quantization for j in resolve_task(serving(weight_quantization="none"), catalog()).jobs] == [
        "none"
    ]
    assert resolve_task(serving(engine="llama.cpp"), catalog()).jobs[0].weight_quantization == "q8_0"


SHAPES = (Shape(1, 1), Shape(2, 1), Shape(4, 1), Shape(8, 1), Shape(8, 3), Shape(4, 2))


@pytest.mark.parametrize("batch", [1, 6, 50, 128])
def test_training_layouts_are_legal(batch: int) -> None:
    knobs = Knobs(shardings=tuple(Sharding), tensor_parallel=True, pipeline_parallel=True, context_parallel=True)
    job = Job(method=Method.FULL, sequence_length=65_536)
    seen = 0
    for layouts in training_sets(SMALL, job, knobs, SHAPES, global_batch_size=batch):
        block = layouts.block
        for index in range(len(layouts)):
            layout, shape = block.at(index), layouts.shapes[int(layouts.shape[index])]
            seen += 1
            assert layout.gpus == shape.gpus
            assert shape.gpus_per_node % layout.tensor_parallel == 0
            assert SMALL.attention_heads % layout.tensor_parallel == 0
            assert SMALL.layers % layout.pipeline_parallel == 0
            step = layout.data_parallel * layout.micro_batch_size * layout.gradient_accumulation_steps
            assert abs(step - batch) <= 0.1 * batch
            ranks = layout.data_parallel * layout.context_parallel
            assert layout.shard_degree == (1 if layout.sharding is Sharding.NONE else ranks)
            assert layout.sharding is Sharding.NONE or ranks > 1
    assert seen


def test_serving_layouts_use_all_cards_and_no_more_replicas_than_users() -> None:
    job = InferenceJob(concurrent_sequences=3)
    (layouts,) = serving_sets(SMALL, SHAPES, users=job.concurrent_sequences)
    for index in range(len(layouts)):
        layout, shape = layouts.block.at(index), layouts.shapes[int(layouts.shape[index])]
        assert layout.gpus == shape.gpus and layout.data_parallel <= 3
        assert layout.tensor_parallel <= shape.gpus_per_node
    picked = take(layouts.block, np.array([2, 0]))
    assert picked.at(0) == layouts.block.at(2) and picked.at(1) == layouts.block.at(0)


def test_risk_names_its_parts_and_adds_up() -> None:
    cluster = cluster_for(gpu("mid", 24, 120))
    fresh = Seed(0, "rent", offer("a", "mid", 1, provider_kind="hyperscaler"))
    assert risk_parts(fresh, cluster, CALM, scenario()) == {}
    spot = Seed(0, "rent", offer("s", "mid", 1, provider_kind="marketplace", term="spot", observed_on=None))
    nervous = RiskInput(
        memory_share=0.95, tight=True, time_width=1.0, rough_model=True, coarse_format=True, single_seller=True
    )
    parts = risk_parts(spot, cluster, nervous, scenario(region="US"))
    assert parts.keys() == {
        "risk.headroom", "risk.time_width", "risk.price_age", "risk.spot", "risk.provider", "risk.single_seller",
        "risk.region", "risk.model", "risk.format",
    }  # fmt: skip
    assert total_risk(parts) == pytest.approx(sum(t.expected for t in risk_terms(parts)))


def test_risk_of_hardware() -> None:
    card = gpu("controlled", 24, 120, export_controlled_for=("CN",), software_maturity=2, peer_to_peer=False)
    seed = Seed(0, "buy", None, purchase("u", "controlled", 1, condition="used"))
    several = cluster_for(card, gpus_per_node=4, nodes=2, assumed=True)
    parts = risk_parts(seed, several, CALM, scenario(region="CN"))
    assert {"risk.export", "risk.software", "risk.nodes", "risk.node_assumed", "risk.provider"} <= parts.keys()
    more = risk_parts(seed, cluster_for(card, gpus_per_node=4, nodes=8, assumed=True), CALM, scenario(region="CN"))
    assert more["risk.nodes"] > parts["risk.nodes"]


def test_waiting_before_the_work_can_start() -> None:
    card = gpu("mid", 24, 120)
    one, many = cluster_for(card), cluster_for(card, gpus_per_node=8, nodes=2)
    bought = Seed(0, "buy", None, purchase("m", "mid", 1))
    assert delivery_days(bought, card, one) == DELIVERY_SMALL
    assert delivery_days(bought, card, many) == DELIVERY_SERVER
    assert delivery_days(Seed(0, "shared", offer("q", "mid", 1, queue_days=5)), card, one).expected == 5
    assert delivery_days(Seed(0, "owned"), card, one).expected == 0
    assert scenario().as_of == AS_OF
