"""A measured rate anchors the times of like runs, honestly: narrow at the run, as wide as before far from it."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from speed_cases import H100, LLAMA_8B, gpu, linked, model

from engine.advice.advise import advise
from engine.advice.result import Advice, Assessment
from engine.catalog.load import load_catalog
from engine.hardware.model import CatalogSnapshot
from engine.layout.model import Job, Layout, Method, Offload, Recomputation
from engine.scenario import MeasuredSpeed, ModelChoice, Scenario
from engine.speed.anchor import MEASUREMENT, SpeedAnchor, speed_anchor_of, speed_anchored
from engine.speed.hardware import hardware_block
from engine.speed.result import TrainingSpeed, TrainingSpeedBlock
from engine.speed.training import training_speed

RUN = Layout(micro_batch_size=4, gradient_accumulation_steps=4)
JOB = Job(method=Method.FULL, sequence_length=2048)


def block(layout: Layout = RUN, job: Job = JOB) -> TrainingSpeedBlock:
    cluster = linked(gpu(H100), 1)
    return training_speed(model(LLAMA_8B), job, layout, hardware_block([cluster], framework=job.framework))


def anchor(factor: float) -> SpeedAnchor:
    measured = MeasuredSpeed(
        task_id="t", gpu_id=H100, model=ModelChoice(catalog_id=LLAMA_8B), job=JOB, layout=RUN,
        tokens_per_second_per_gpu=block().at().tokens_per_second_per_gpu.expected * factor,
    )  # fmt: skip
    found = speed_anchor_of(measured, model(LLAMA_8B), linked(gpu(H100), 1))
    assert found is not None
    return found


def moved(factor: float, layout: Layout = RUN, job: Job = JOB, *, same_card: bool = True) -> TrainingSpeed:
    return speed_anchored(block(layout, job), anchor(factor), job, layout, same_card).at()


@pytest.mark.parametrize("factor", [0.4, 1.0, 1.3])
def test_at_the_measured_run_the_answer_is_the_measurement(factor: float) -> None:
    found, rate = moved(factor), block().at().tokens_per_second_per_gpu.expected * factor
    assert found.tokens_per_second_per_gpu.expected == pytest.approx(rate)
    assert found.step_seconds.high == pytest.approx(found.step_seconds.expected * (1 + MEASUREMENT))
    assert found.step_seconds.low == pytest.approx(found.step_seconds.expected * (1 - MEASUREMENT))
    assert anchor(factor).factor == pytest.approx(factor)


@given(
    factor=st.floats(0.3, 2.0),
    length=st.sampled_from([512, 2048, 8192]),
    micro=st.sampled_from([1, 4, 16]),
    recomputation=st.sampled_from(list(Recomputation)),
    same=st.booleans(),
)
@settings(max_examples=40, deadline=None)
def test_the_split_still_adds_up_and_ranges_widen_with_the_distance(
    factor: float, length: int, micro: int, recomputation: Recomputation, same: bool
) -> None:
    layout = RUN.model_copy(update={"micro_batch_size": micro, "recomputation": recomputation})
    job = JOB.model_copy(update={"sequence_length": length})
    plain, found = block(layout, job).at(), moved(factor, layout, job, same_card=same)
    assert sum(t.expected for t in found.terms) == pytest.approx(found.step_seconds.expected)
    assert found.bottleneck == plain.bottleneck
    step, usual = found.step_seconds, plain.step_seconds
    assert step.low <= step.expected <= step.high
    assert step.relative_width <= usual.relative_width + 2.2 * MEASUREMENT
    tokens = plain.tokens_per_second_per_gpu.expected * usual.expected
    assert found.tokens_per_second_per_gpu.expected * step.expected == pytest.approx(tokens)


def test_on_another_card_half_of_the_difference_is_carried_over() -> None:
    plain, found = block().at(), moved(0.5, same_card=False)
    assert found.step_seconds.expected == pytest.approx(plain.step_seconds.expected * 2**0.5)
    assert found.step_seconds.relative_width == pytest.approx(plain.step_seconds.relative_width, rel=0.05)


def test_it_speaks_of_the_same_program_and_method_only() -> None:
    found = anchor(1.0)
    assert found.speaks_of(JOB.model_copy(update={"sequence_length": 512}), RUN)
    assert not found.speaks_of(JOB.model_copy(update={"framework": "torchtitan"}), RUN)
    assert not found.speaks_of(JOB.model_copy(update={"method": Method.DPO}), RUN)
    assert not found.speaks_of(JOB, RUN.model_copy(update={"offload": Offload.OPTIMIZER}))


@cache
def known() -> CatalogSnapshot:
    return load_catalog(with_user_rows=False)


@cache
def answered() -> tuple[Scenario, Advice]:
    text = (files("resources") / "examples" / "qlora-8b-own-card.json").read_text(encoding="utf-8")
    scenario = Scenario.model_validate_json(text)
    return scenario, advise(scenario, known())


def measured(plan: Assessment, factor: float) -> Scenario:
    scenario, _ = answered()
    task, cluster = plan.tasks[0], plan.plan.cluster
    assert task.training is not None
    assert isinstance(task.job, Job)
    one = MeasuredSpeed(
        task_id=task.task_id, gpu_id=cluster.gpu.id, gpus_per_node=cluster.gpus_per_node, nodes=cluster.nodes,
        system_id=cluster.system.id if cluster.system is not None else "", model=scenario.tasks[0].model,
        job=task.job, layout=task.layout,
        tokens_per_second_per_gpu=task.training.tokens_per_second_per_gpu.expected * factor,
    )  # fmt: skip
    return scenario.model_copy(update={"measured_speeds": (one,)})


def test_advice_starts_from_the_measurement_says_so_and_forgets_it_when_it_is_removed() -> None:
    _, before = answered()
    plan = before.ranked[before.picks[0].index]
    wanted = measured(plan, 0.5)
    after = advise(Scenario.model_validate_json(wanted.model_dump_json()), known())
    same = next(a for a in after.ranked if a.plan.id == plan.plan.id)
    new, old = same.tasks[0].training, plan.tasks[0].training
    assert new is not None
    assert old is not None
    assert same.tasks[0].layout == plan.tasks[0].layout
    assert new.step_seconds.expected == pytest.approx(2 * old.step_seconds.expected)
    assert new.step_seconds.relative_width < 0.5 * old.step_seconds.relative_width
    assert same.calendar_days.expected > plan.calendar_days.expected
    codes = [f.code for f in after.findings]
    assert "measured.speed_anchored" in codes or "measured.speed_differs" in codes
    removed = advise(wanted.model_copy(update={"measured_speeds": ()}), known())
    assert removed.ranked == before.ranked


def test_a_rate_that_the_formulas_exclude_is_a_warning() -> None:
    _, before = answered()
    plan = before.ranked[before.picks[0].index]
    assert "measured.speed_differs" in [f.code for f in advise(measured(plan, 0.05), known()).findings]
    assert "measured.speed_anchored" in [f.code for f in advise(measured(plan, 1.0), known()).findings]


def test_a_measurement_of_another_model_is_left_alone() -> None:
    scenario, before = answered()
    plan = before.ranked[before.picks[0].index]
    other = measured(plan, 0.5).measured_speeds[0].model_copy(update={"model": ModelChoice(parameters_billion=3)})
    found = advise(scenario.model_copy(update={"measured_speeds": (other,)}), known())
    assert found.ranked == before.ranked


def test_a_service_starts_from_its_measured_rate_too() -> None:
    text = (files("resources") / "examples" / "serve-70b-50-users.json").read_text(encoding="utf-8")
    scenario = Scenario.model_validate_json(text)
    before = advise(scenario, known())
    plan = before.ranked[before.picks[0].index]
    task, cluster = plan.tasks[0], plan.plan.cluster
    assert task.inference is not None
    one = MeasuredSpeed(
        task_id=task.task_id, gpu_id=cluster.gpu.id, gpus_per_node=cluster.gpus_per_node, nodes=cluster.nodes,
        system_id=cluster.system.id if cluster.system is not None else "", model=scenario.tasks[0].model,
        job=task.job, layout=task.layout,
        tokens_per_second_per_gpu=task.inference.tokens_per_second_per_gpu.expected * 0.9,
    )  # fmt: skip
    after = advise(scenario.model_copy(update={"measured_speeds": (one,)}), known())
    same = next(a for a in after.ranked if a.plan.id == plan.plan.id).tasks[0]
    assert same.inference is not None
    assert same.layout == task.layout
    assert same.inference.tokens_per_second.expected == pytest.approx(0.9 * task.inference.tokens_per_second.expected)
    token = same.inference.time_per_output_token_seconds
    assert token.expected == pytest.approx(task.inference.time_per_output_token_seconds.expected / 0.9)
    assert sum(t.expected for t in same.inference.terms) == pytest.approx(token.expected)
    assert token.relative_width == pytest.approx(2 * MEASUREMENT)
    assert "measured.speed_anchored" in [f.code for f in after.findings]
