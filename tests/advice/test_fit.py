"""What would make it fit: each change, once made, gives just what was said, by the path that anyone else would take."""

from __future__ import annotations

import string
from functools import cache
from importlib.resources import files

import pytest

from engine.advice.advise import advise
from engine.advice.fit import fit_of_case, fit_of_plan, fit_on_card
from engine.advice.fit_changes import CHANGES, TOKEN_STEP, longest
from engine.advice.fit_result import FitAdvice, FitChange, FitLimit
from engine.catalog.load import load_catalog
from engine.control import Cancelled, Control
from engine.errors import InputError
from engine.hardware.model import CatalogSnapshot
from engine.layout.model import InferenceJob
from engine.memory.overheads import platform_for
from engine.memory.result import MemoryAssessment, Verdict
from engine.memory.serving import inference_memory
from engine.memory.training import training_memory
from engine.memory.verdict import assess
from engine.messages import LABELS, TEMPLATES
from engine.scenario import Scenario, Task
from engine.search.resolve import resolve_model, resolve_task, training_job
from engine.validation.estimate import estimate_case

CASES = (
    ("qlora-8b-own-card", "RTX 4090", 1),
    ("lora-32b-on-premises", "RTX 4090", 1),
    ("continued-8b-50b-tokens", "RTX 4090", 2),
    ("continued-8b-50b-tokens", "H100 PCIe 80GB", 1),
    ("serve-70b-50-users", "RTX 4090", 2),
    ("weekend-api", "RTX 4090", 1),
    ("cn-university-campus-cluster", "RTX 4090", 1),
)
GOOD = (Verdict.FITS, Verdict.FITS_TIGHTLY)


@cache
def known() -> CatalogSnapshot:
    return load_catalog(with_user_rows=False)


@cache
def example(name: str) -> Scenario:
    return Scenario.model_validate_json((files("resources") / "examples" / f"{name}.json").read_text(encoding="utf-8"))


@cache
def answer(name: str, gpu: str, gpus: int) -> FitAdvice:
    return fit_on_card(example(name), known(), gpu, gpus=gpus)


def again(scenario: Scenario, found: FitAdvice | FitChange, model: str = "") -> MemoryAssessment:
    """The memory of a job and layout by the formulas, from nothing but what the answer states."""
    task = scenario.tasks[0]
    architecture = resolve_model(task.model, known())
    if model:
        architecture = next(m for m in known().models if m.name == model)
    gpu = found.cluster.gpu
    if isinstance(found.job, InferenceJob):
        block = inference_memory(architecture, found.job, found.layout, platform=platform_for(gpu, found.job.engine))
    else:
        block = training_memory(architecture, found.job, found.layout, platform=platform_for(gpu, found.job.framework))
    return assess(block, gpu, in_use_bytes=found.cluster.in_use_bytes, headroom=scenario.constraints.headroom)


@pytest.mark.parametrize("case", CASES)
def test_each_change_gives_what_it_says(case: tuple[str, str, int]) -> None:
    found, scenario = answer(*case), example(case[0])
    assert found.changes
    for change in (*found.changes, *([found.pair] if found.pair else [])):
        made = again(scenario, change)
        assert made.verdict is change.memory.verdict
        assert made.driver == change.memory.driver
        assert change.saved_bytes == pytest.approx(found.memory.driver.expected - made.driver.expected, abs=1)
        assert change.layout.gpus == change.cluster.gpus


@pytest.mark.parametrize("case", CASES)
def test_a_change_applied_to_the_scenario_makes_the_same_job(case: tuple[str, str, int]) -> None:
    found, scenario = answer(*case), example(case[0])
    task = scenario.tasks[0]
    for change in found.changes:
        if not change.edits:
            assert change.cluster != found.cluster or change.codes == ("fit.shard",)
            continue
        work = task.workload.model_dump() | {e.field: e.value for e in change.edits}
        edited = Task.model_validate({**task.model_dump(), "workload": work})
        if isinstance(change.job, InferenceJob):
            assert change.job in resolve_task(edited, known()).jobs
        else:
            assert training_job(edited.workload) == change.job  # type: ignore[arg-type]
            stated = {n: work.get(n) for n in ("recomputation", "loss", "optimizer", "offload", "micro_batch_size")}
            assert all(v is None or getattr(change.layout, n) == v for n, v in stated.items())


@pytest.mark.parametrize("case", CASES)
def test_what_fits_comes_first_and_the_rest_helps(case: tuple[str, str, int]) -> None:
    found = answer(*case)
    fits = [c.fits for c in found.changes]
    assert fits == sorted(fits, reverse=True)
    for change in found.changes:
        assert change.memory.missing_bytes < found.memory.missing_bytes
    if found.pair is not None:
        assert found.pair.fits and len(set(found.pair.codes)) == 2
        singles = {c.codes[0]: c for c in found.changes}
        assert all(singles[code].memory.verdict is not Verdict.FITS for code in found.pair.codes)


def limits_of(found: FitAdvice) -> dict[str, FitLimit]:
    return {limit.code: limit for limit in found.limits}


@pytest.mark.parametrize("case", [c for c in CASES if c[0] in ("qlora-8b-own-card", "cn-university-campus-cluster")])
def test_one_more_step_does_not_fit(case: tuple[str, str, int]) -> None:
    found, scenario = answer(*case), example(case[0])
    limit = limits_of(found)["fit.limit.sequence_length"]
    for most, good in ((limit.most, (Verdict.FITS,)), (limit.most_tightly, GOOD)):
        if most is None:
            first = found.model_copy(update={"job": found.job.model_copy(update={"sequence_length": TOKEN_STEP})})
            assert again(scenario, first).verdict not in good
            continue
        for length, expected in ((most, True), (most + TOKEN_STEP, False)):
            there = found.model_copy(update={"job": found.job.model_copy(update={"sequence_length": int(length)})})
            assert (again(scenario, there).verdict in good) is expected
    model = limits_of(found)["fit.limit.model"]
    assert again(scenario, found, model.name).verdict is Verdict.FITS
    larger = [m for m in known().models if model.most is not None and m.parameters_total > model.most]
    assert larger and all(again(scenario, found, m.name).verdict is not Verdict.FITS for m in larger[::7])


def test_full_fine_tuning_of_7b_on_one_24_gb_card_needs_another_method() -> None:
    """16 bytes for each weight are 122 GB: no setting of a single kind saves so much, adapters do."""
    found = answer("cn-university-campus-cluster", "RTX 4090", 1)
    assert found.memory.verdict is Verdict.DOES_NOT_FIT
    by_code = {c.codes[0]: c for c in found.changes}
    assert by_code["fit.lora"].fits and by_code["fit.qlora"].fits
    assert not by_code["fit.lora"].keeps_result
    assert not by_code["fit.optimizer_8bit"].fits and not by_code["fit.offload"].fits
    assert by_code["fit.more_cards"].cluster.gpus >= 122 / 24


def test_a_plan_of_the_advice_has_prices() -> None:
    scenario = example("cn-university-campus-cluster")
    advice = advise(scenario, known())
    plan = advice.ranked[0]
    found = fit_of_plan(plan, scenario, known())
    assert found.memory.driver == max(plan.tasks, key=lambda t: t.memory.driver.expected).memory.driver
    offload = next(c for c in found.changes if c.codes == ("fit.offload",))
    assert offload.time_factor is not None and offload.time_factor > 1
    assert offload.cost_difference is not None and offload.cost_difference.amount > 0
    assert all(c.cost_difference is None for c in found.changes if c.cluster != found.cluster)


def test_a_case_of_the_command_line_is_judged_alike() -> None:
    case = estimate_case(
        {"model": "meta-llama/Llama-3.1-8B", "method": "full", "gpu": "A100 80GB", "seq_len": 4096, "micro_batch": 8,
         "activation_checkpointing": "none", "optimizer": "adamw"}, known(),
    )  # fmt: skip
    assert case.gpu_id is not None
    cluster = answer("lora-32b-on-premises", case.gpu_id, 1).cluster
    found = fit_of_case(case.architecture, case.job, case.layout, cluster, known())
    assert found.memory.driver == case.memory.driver
    codes = {c.codes[0] for c in found.changes}
    assert {"fit.recompute", "fit.micro_batch", "fit.chunked_loss", "fit.lora"} <= codes
    assert found.changes[0].fits or found.pair is not None


def test_the_same_question_has_the_same_answer_and_can_be_called_off() -> None:
    name, gpu, gpus = CASES[0]
    assert fit_on_card(example(name), known(), gpu, gpus=gpus) == answer(name, gpu, gpus)
    control = Control()
    control.cancel()
    with pytest.raises(Cancelled):
        fit_on_card(example(name), known(), gpu, gpus=gpus, control=control)
    with pytest.raises(InputError):
        fit_on_card(example(name), known(), "no such card")


@pytest.mark.parametrize("edge", [0, 127, 128, 129, 4000, 4096])
def test_bisection_finds_the_edge(edge: int) -> None:
    found = longest(lambda n: n <= edge, 128, 4096, 128)
    assert found == (edge // 128 * 128 or None)


def test_every_change_has_words() -> None:
    for code in CHANGES:
        assert code in LABELS and code in TEMPLATES and f"fit.why.{code.removeprefix('fit.')}" in LABELS
    for case in CASES:
        found = answer(*case)
        for change in (*found.changes, *([found.pair] if found.pair else [])):
            for words in change.words:
                fields = {f for _t, f, _s, _c in string.Formatter().parse(TEMPLATES[words.code]) if f}
                assert fields == set(words.params)
        assert all(limit.code in LABELS for limit in found.limits)
