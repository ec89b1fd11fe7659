"""From finalists to `Assessment`s: exact price, memory and speed with all terms, and what to know of each plan."""

from __future__ import annotations

from collections.abc import Sequence

from engine.advice.result import Assessment, TaskAssessment
from engine.control import Control
from engine.cost.figures import Figures
from engine.cost.plan import price_plan
from engine.hardware.model import CatalogSnapshot
from engine.quantity import Estimate
from engine.scenario import Scenario
from engine.search.evaluate import Chosen, TaskTable
from engine.search.options import Option, plan_of
from engine.search.plan_findings import plan_findings
from engine.search.risk import risk_terms
from engine.search.timing import TaskTime, reliability_of, time_of_task
from engine.speed.result import InferenceSpeed, TrainingSpeed

__all__ = ["assessments_of"]


def assessments_of(
    options: Sequence[Option],
    tables: Sequence[TaskTable],
    scenario: Scenario,
    catalog: CatalogSnapshot,
    figures: Figures,
    control: Control,
) -> list[Assessment]:
    """Assess the options exactly; best first by the cost of the job with risk, then time, risk, id."""
    wanted = sorted({o.seed.cluster for o in options})
    chosen = [table.choose(wanted) for table in tables]
    reliability, clusters = reliability_of(catalog), tables[0].clusters
    tasks = {
        i: tuple(
            _task(table, c[i], time_of_task(table, i, clusters[i], reliability))
            for table, c in zip(tables, chosen, strict=True)
        )
        for i in wanted
    }
    found: list[Assessment] = []
    for done, option in enumerate(options):
        if done % 16 == 0:
            control.checkpoint(done, len(options))
        found.append(_assessment(option, tasks[option.seed.cluster], scenario, catalog, figures))
    return sorted(found, key=_order)


def _order(assessment: Assessment) -> tuple[float, float, float, str]:
    cost = float(assessment.cost.risk_adjusted_cost.expected)
    return (cost, assessment.calendar_days.expected, assessment.risk, assessment.plan.id)


def _task(table: TaskTable, choice: Chosen, time: TaskTime) -> TaskAssessment:
    return TaskAssessment(
        task_id=table.resolved.task.id,
        job=choice.job,
        layout=choice.layout,
        memory=choice.memory,
        training=choice.speed if isinstance(choice.speed, TrainingSpeed) else None,
        inference=choice.speed if isinstance(choice.speed, InferenceSpeed) else None,
        time_to_train_seconds=time.run_seconds,
        busy_seconds=time.busy_seconds,
        time_terms=time.terms,
    )


def _assessment(
    option: Option,
    tasks: tuple[TaskAssessment, ...],
    scenario: Scenario,
    catalog: CatalogSnapshot,
    figures: Figures,
) -> Assessment:
    plan = plan_of(option.seed, option.cluster)
    busy = option.busy_seconds
    cost = price_plan(
        plan,
        Estimate(low=busy.low / 3600, expected=busy.expected / 3600, high=busy.high / 3600),
        option.days,
        scenario,
        catalog,
        risk=option.risk,
        storage_gb=option.storage_gb,
        result_gb=option.result_gb,
        figures=figures,
    )
    return Assessment(
        plan=plan,
        tasks=tasks,
        cost=cost,
        calendar_days=option.days,
        risk=option.risk,
        risk_terms=risk_terms(option.parts),
        findings=plan_findings(option, plan, tasks, cost, scenario, catalog),
    )
