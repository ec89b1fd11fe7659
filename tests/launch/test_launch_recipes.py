"""What is written for a program is read back as the very plan that was estimated."""

from __future__ import annotations

import json
from datetime import date
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from engine.advice.advise import advise
from engine.advice.result import Assessment
from engine.catalog.load import load_catalog
from engine.hardware.model import CatalogSnapshot
from engine.i18n import Language
from engine.launch.recipes import recipes_of
from engine.launch.result import Recipe
from engine.layout.model import InferenceJob, Job, Regime, Sharding
from engine.runs.read import read_command, read_run
from engine.runs.result import RunFile
from engine.runs.scenario import task_fields
from engine.scenario import Scenario

LLAMA, QWEN = "meta-llama/Llama-3.1-8B", "Qwen/Qwen2.5-14B"
#: Jobs on cards of one's own: model, card, number, workload.
JOBS: dict[str, tuple[str, str, int, dict[str, Any]]] = {
    "qlora": (LLAMA, "nvidia-rtx-4090", 1, {"method": "qlora", "sequence_length": 2048}),
    "lora": (LLAMA, "nvidia-h100-sxm-80gb", 2, {"method": "lora", "sequence_length": 4096, "lora_targets": "q,v"}),
    "rank": (LLAMA, "nvidia-h100-sxm-80gb", 1, {"method": "lora", "sequence_length": 1024, "lora_rank": 64}),
    "int8": (LLAMA, "nvidia-a100-sxm-80gb", 1, {"method": "lora", "weight_quantization": "int8"}),
    "full": (LLAMA, "nvidia-h100-sxm-80gb", 4, {"method": "full", "sequence_length": 4096}),
    "pure": (LLAMA, "nvidia-h100-sxm-80gb", 2, {"method": "full", "regime": "pure-bf16", "optimizer": "adamw_8bit"}),
    "zero3": (QWEN, "nvidia-h100-sxm-80gb", 8, {"method": "full", "framework": "deepspeed"}),
    "offload": (QWEN, "nvidia-h100-sxm-80gb", 2, {"method": "full", "framework": "deepspeed", "offload": "optimizer"}),
    "dpo": (LLAMA, "nvidia-h100-sxm-80gb", 1, {"method": "dpo", "adapters": True, "sequence_length": 2048}),
}
#: Settings of matrices split over cards, which are written but not read.
SPLIT = {"dp_shard_size", "tensor_parallel_size", "context_parallel_size"}
PROGRAMS = ("TRL", "LLaMA-Factory", "Axolotl")


@cache
def _catalog() -> CatalogSnapshot:
    return load_catalog(with_user_rows=False)


@cache
def _planned(name: str) -> tuple[Scenario, Assessment]:
    model, card, count, workload = JOBS[name]
    scenario = Scenario.model_validate(
        {
            "as_of": date(2026, 12, 1),
            "tasks": [{"id": "t1", "model": {"catalog_id": model},
                       "workload": {"kind": "training", "data": {"tokens": 10_000_000}, **workload}}],
            "constraints": {"ways": ["owned"], "owned": [{"gpu_id": card, "count": count}]},
        }
    )  # fmt: skip
    return scenario, advise(scenario, _catalog()).ranked[0]


def _recipe(name: str, program: str) -> Recipe:
    scenario, plan = _planned(name)
    return next(r for r in recipes_of(scenario, _catalog(), plan, "t1") if r.program == program)


def _read_back(recipe: Recipe, folder: Path) -> RunFile:
    for file in recipe.files:
        (folder / file.name).write_text(file.content, encoding="utf-8")
    if recipe.program == "TRL":
        return read_command(recipe.command, _catalog(), folder=folder)
    own = next(f.name for f in recipe.files if f.name in ("train.yaml", "axolotl.yaml"))
    return read_run(folder / own, _catalog())


@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize("name", JOBS)
def test_what_is_written_is_read_back_as_the_same_plan(name: str, program: str, tmp_path: Path) -> None:
    scenario, plan = _planned(name)
    names = {r.program for r in recipes_of(scenario, _catalog(), plan, "t1")}
    layout, missing = plan.tasks[0].layout, set[str]()
    if layout.tensor_parallel > 1:
        missing |= {"LLaMA-Factory"}
    if layout.regime is Regime.BF16_AMP and not layout.sharding.value.startswith("zero"):
        missing |= {"Axolotl"}  # loads weights in 16 bits
    assert names >= set(PROGRAMS) - missing
    if program not in names:
        return
    job, layout = plan.tasks[0].job, plan.tasks[0].layout
    assert isinstance(job, Job)
    found = _read_back(_recipe(name, program), tmp_path)
    assert not {k.key for k in found.keys_left("unknown") if "parallelism_config" not in k.key}
    assert not {k.key for k in found.keys_left("not_modelled")} - SPLIT
    fields = task_fields(found)
    assert found.case["model"] == JOBS[name][0]
    assert fields["method"] == job.method
    assert fields["micro_batch_size"] == layout.micro_batch_size
    assert int(found.case["grad_accum"]) == layout.gradient_accumulation_steps
    assert fields["sequence_length"] == job.sequence_length
    assert fields["recomputation"] == layout.recomputation
    assert fields["attention"] == layout.attention
    assert fields["optimizer"] == layout.optimizer
    assert fields.get("loss", "plain") == layout.loss
    assert fields.get("weight_quantization", "none") == job.weight_quantization
    if job.lora is not None:
        assert (fields["lora_rank"], fields["lora_targets"]) == (job.lora.rank, job.lora.targets)
    elif layout.sharding.value.startswith("zero"):
        assert fields["regime"] in (layout.regime, Regime.FP32_MASTER)  # DeepSpeed keeps a 32-bit master anyway
    else:
        assert Regime(fields["regime"]) is layout.regime


@pytest.mark.parametrize("name", ["zero3", "offload"])
def test_zero_and_what_goes_to_the_host_stand_in_deepspeed_s_file(name: str) -> None:
    layout = _planned(name)[1].tasks[0].layout
    recipe = _recipe(name, "TRL")
    settings = json.loads(next(f.content for f in recipe.files if f.name == "deepspeed.json"))["zero_optimization"]
    assert f"zero{settings['stage']}" == layout.sharding.value
    assert ("offload_optimizer" in settings) is (layout.offload.value != "none")


def test_sharding_by_fsdp_stands_in_accelerate_s_file(tmp_path: Path) -> None:
    layout = _planned("full")[1].tasks[0].layout
    assert layout.sharding is Sharding.FSDP2
    recipe = _recipe("full", "TRL")
    (tmp_path / "accelerate.yaml").write_text(next(f.content for f in recipe.files if f.name == "accelerate.yaml"))
    found = read_run(tmp_path / "accelerate.yaml", _catalog())
    assert found.case["parallel"] == "fsdp=full" and int(found.case["n_gpus"]) == 4


def test_a_layout_that_no_trainer_can_be_told_is_left_to_torchtitan() -> None:
    scenario, plan = _planned("full")
    split = plan.tasks[0].layout.model_copy(update={"pipeline_parallel": 2, "data_parallel": 1})
    changed = plan.model_copy(update={"tasks": (plan.tasks[0].model_copy(update={"layout": split}),)})
    (recipe,) = recipes_of(scenario, _catalog(), changed, "t1")
    assert recipe.program == "torchtitan" and "--parallelism.pipeline_parallel_degree=2" in recipe.command


@pytest.mark.parametrize("engine", ["vllm", "sglang", "llama.cpp"])
def test_a_service_is_started_with_the_length_and_the_users_that_were_estimated(engine: str) -> None:
    scenario = Scenario.model_validate(
        {
            "as_of": date(2026, 12, 1),
            "tasks": [{"id": "t1", "model": {"catalog_id": LLAMA},
                       "workload": {"kind": "inference", "concurrent_users": 8, "engine": engine}}],
            "constraints": {"ways": ["owned"], "owned": [{"gpu_id": "nvidia-h100-sxm-80gb", "count": 1}]},
        }
    )  # fmt: skip
    plan = advise(scenario, _catalog()).ranked[0]
    job = plan.tasks[0].job
    assert isinstance(job, InferenceJob)
    (recipe,) = recipes_of(scenario, _catalog(), plan, "t1")
    length = (job.prompt_tokens + job.output_tokens) * (8 if engine == "llama.cpp" else 1)
    assert f" {length}" in recipe.command and " 8" in recipe.command
    for language in (Language("en"), Language("zh_CN")):
        assert all(language.label(note) != note for note in recipe.notes)
