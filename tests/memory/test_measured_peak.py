"""A measured peak anchors the estimates of like runs, honestly: narrow at the run, as wide as before far from it."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import Literal

import pytest

from engine.advice.advise import advise
from engine.advice.result import Advice
from engine.catalog.load import load_catalog
from engine.hardware.model import CatalogSnapshot
from engine.inputs import parse_scenario
from engine.layout.model import Job, Layout, Method, Recomputation
from engine.memory.anchor import MEASUREMENT, Anchor, anchor_of, anchored
from engine.memory.result import MemoryBlock
from engine.memory.training import training_memory
from engine.quantity import GIB
from engine.scenario import MeasuredPeak, ModelChoice, Scenario

KINDS: tuple[Literal["allocated", "reserved", "driver"], ...] = ("allocated", "reserved", "driver")
RUN = Layout(micro_batch_size=4, gradient_accumulation_steps=4)
JOB = Job(method=Method.FULL, sequence_length=2048)


@cache
def known() -> CatalogSnapshot:
    return load_catalog(with_user_rows=False)


MODEL = "meta-llama/Llama-3.1-8B"


def block(layout: Layout = RUN, job: Job = JOB) -> MemoryBlock:
    model = known().model_by_id[known().model_aliases.get(MODEL.lower(), MODEL)]
    return training_memory(model, job, layout)


def peak(kind: Literal["allocated", "reserved", "driver"], value: float) -> MeasuredPeak:
    return MeasuredPeak(
        task_id="t", gpu_id="x", kind=kind, peak_bytes=round(value), model=ModelChoice(catalog_id=MODEL), job=JOB,
        layout=RUN,
    )  # fmt: skip


def of(
    kind: Literal["allocated", "reserved", "driver"], factor: float, layout: Layout = RUN, job: Job = JOB
) -> tuple[Anchor, MemoryBlock, MemoryBlock]:
    model = known().model_by_id[known().model_aliases.get(MODEL.lower(), MODEL)]
    measured = peak(kind, getattr(block(), kind).at().expected * factor)
    anchor = anchor_of(measured, model, None)
    there = block(layout, job)
    return anchor, there, anchored(there, anchor, layout)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("factor", [0.8, 1.0, 1.15])
def test_at_the_measured_run_the_answer_is_the_measurement(
    kind: Literal["allocated", "reserved", "driver"], factor: float
) -> None:
    anchor, before, after = of(kind, factor)
    got = getattr(after, kind).at()
    assert got.expected == pytest.approx(anchor.measured.peak_bytes)
    assert (got.high - got.low) / got.expected == pytest.approx(2 * MEASUREMENT[kind])
    driver, terms = after.driver.at(), after.overhead_terms
    assert terms[-1].name == "memory.measured"
    assert before.driver.at().expected + float(terms[-1].amount.expected) == pytest.approx(driver.expected)
    for name in KINDS:
        one = getattr(after, name).at()
        assert one.low <= one.expected <= one.high
    assert after.allocated.at().expected <= after.reserved.at().expected <= driver.expected


def test_the_interval_widens_with_the_distance_and_returns_to_that_of_the_formulas() -> None:
    widths: list[float] = []
    for size in (4, 6, 12, 24, 48):
        layout = Layout(micro_batch_size=size, gradient_accumulation_steps=4)
        anchor, before, after = of("driver", 0.8, layout)
        got, free = after.driver.at(), before.driver.at()
        assert got.expected == pytest.approx(free.expected * anchor.factor)
        widths.append(got.relative_width)
        if free.expected >= 2 * anchor.expected.expected:
            assert got.high >= free.high  # a low measurement is no promise for a run of twice the memory
    assert widths == sorted(widths)


def test_a_measurement_says_nothing_of_other_kinds_of_run() -> None:
    anchor, _before, _after = of("driver", 1.0)
    assert anchor.speaks_of(JOB, RUN)
    assert anchor.speaks_of(JOB.model_copy(update={"sequence_length": 4096}), RUN)
    assert not anchor.speaks_of(JOB.model_copy(update={"method": Method.LORA}), RUN)
    assert not anchor.speaks_of(JOB, RUN.model_copy(update={"recomputation": Recomputation.NONE}))


def test_whether_the_formulas_expected_it() -> None:
    assert of("driver", 1.0)[0].within
    assert not of("driver", 2.0)[0].within and not of("driver", 0.3)[0].within


@cache
def free() -> Advice:
    text = (files("resources") / "examples" / "qlora-8b-own-card.json").read_text(encoding="utf-8")
    return advise(Scenario.model_validate_json(text), known())


@pytest.mark.parametrize(("factor", "code"), [(1.02, "measured.anchored"), (1.6, "measured.differs")])
def test_a_scenario_with_a_measurement(factor: float, code: str) -> None:
    advice = free()
    chosen = advice.ranked[advice.picks[0].index]
    task, gpu = chosen.tasks[0], chosen.plan.cluster.gpu
    measured = MeasuredPeak(
        task_id=task.task_id, gpu_id=gpu.id, kind="driver", peak_bytes=round(task.memory.driver.expected * factor),
        model=advice.scenario.tasks[0].model, job=task.job, layout=task.layout,
    )  # fmt: skip
    scenario = Scenario.model_validate({**advice.scenario.model_dump(), "measured": [measured.model_dump()]})
    assert parse_scenario(scenario.model_dump_json().encode(), file="x.json") == scenario
    found = advise(scenario, known())
    assert code in {f.code for f in found.findings}
    alike = [
        t for a in found.ranked for t in a.tasks
        if a.plan.cluster.gpu.id == gpu.id and t.layout == task.layout
    ]  # fmt: skip
    for one in alike:
        assert one.memory.anchor is not None
        assert one.memory.driver.expected == pytest.approx(measured.peak_bytes, abs=1)
        assert sum(t.expected for t in one.memory.terms) == pytest.approx(one.memory.driver.expected)
    assert alike or factor > 1.5
    other = scenario.model_copy(update={"measured": ()})
    assert advise(other, known()).ranked[0].tasks[0].memory.driver == advice.ranked[0].tasks[0].memory.driver
    assert measured.peak_bytes > GIB
