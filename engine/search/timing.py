"""How long a task keeps a cluster busy: all runs of a campaign, the months of a service, or one batch of outputs."""

from __future__ import annotations

from dataclasses import dataclass

from engine.hardware.model import CatalogSnapshot, Cluster, CostItem
from engine.layout.model import Job, LayoutLike, Optimizer, Regime
from engine.quantity import Estimate, Term
from engine.scenario import InferenceWorkload
from engine.search.evaluate import TaskTable
from engine.search.resolve import ResolvedTask
from engine.speed.campaign import Reliability, campaign_hours, run_time, service_hours
from engine.speed.communication import trained_parameters
from engine.speed.work import model_work

__all__ = ["TaskTime", "checkpoint_bytes", "reliability_of", "result_gb", "stored_gb", "time_of_task"]

HOUR = 3600.0
DAYS_PER_MONTH = 365 / 12
#: The cost item that tells how often cards interrupt a large run.
FAILURE_ITEM = "unexpected interruption rate"
#: Bytes of one trained weight in a checkpoint that can be resumed: the weight, its 32-bit master copy where there is
#: one, and two AdamW states in the format that the regime keeps them in (cases.md §2).
CHECKPOINT_BYTES = {
    Regime.PURE_BF16: 2 + 4,
    Regime.FP32_MASTER: 2 + 4 + 8,
    Regime.BF16_AMP: 4 + 8,
    Regime.FP16_AMP: 4 + 8,
    Regime.FP32: 4 + 8,
}
CHECKPOINT_BYTES_8BIT = 4 + 2
CHECKPOINT_BYTES_ADAPTER = 4 + 8  # adapters and their states in 32 bits
#: Start-up of a batch of outputs: loading the model and warming up (assumption).
BATCH_START_HOURS = 0.5


@dataclass(frozen=True)
class TaskTime:
    """Time of one task on one cluster."""

    busy_seconds: Estimate
    run_seconds: Estimate | None  # one final run; None for serving
    terms: tuple[Term, ...]
    occupies_calendar: bool = True  # a service counts as done once it answers


def reliability_of(catalog: CatalogSnapshot) -> Reliability:
    """Failures per card-hour from the catalogue's cost items; none where it has no such item."""
    item = next((i for i in catalog.cost_items if FAILURE_ITEM in i.item.lower()), None)
    if item is None:
        return Reliability()
    return Reliability(failures_per_gpu_hour=float(item.value), source=_cited(item))


def _cited(item: CostItem) -> str:
    day = item.observed_on.isoformat() if item.observed_on else "undated"
    return f"{item.item}, {day}, {item.source_url}"


def checkpoint_bytes(resolved: ResolvedTask, layout: LayoutLike) -> float:
    """Bytes of a checkpoint from which training can go on."""
    job = resolved.jobs[0]
    if not isinstance(job, Job):
        return 0.0
    trained = trained_parameters(model_work(resolved.architecture), resolved.architecture.parameters_total, job)
    if job.lora is not None or job.virtual_tokens:
        return trained * CHECKPOINT_BYTES_ADAPTER
    if layout.optimizer in (Optimizer.ADAMW_8BIT, Optimizer.PAGED_ADAMW_8BIT):
        return trained * CHECKPOINT_BYTES_8BIT
    return trained * CHECKPOINT_BYTES[layout.regime]


def stored_gb(table: TaskTable, index: int) -> float:
    """Storage in GB that a task needs on this cluster: the model in 16 bits and the checkpoints that are kept."""
    workload = table.resolved.training
    kept = workload.checkpoints_kept * _checkpoint(table, index) if workload is not None else 0.0
    return (table.resolved.architecture.parameters_total * 2.0 + kept) / 1e9


def result_gb(table: TaskTable) -> float:
    """What a task leaves behind, in GB: the adapters or the model in 16 bits of each final run; none of a service."""
    workload, job = table.resolved.training, table.resolved.jobs[0]
    if workload is None or not isinstance(job, Job):
        return 0.0
    total = table.resolved.architecture.parameters_total
    adapters = job.lora is not None or job.virtual_tokens
    kept = trained_parameters(model_work(table.resolved.architecture), total, job) if adapters else total
    return workload.runs.final_runs * kept * 2.0 / 1e9


def _checkpoint(table: TaskTable, index: int) -> float:
    """Checkpoint size of the chosen layout; the same for all layouts of a set, so computed once for each."""
    number = int(table.chosen_set[index])
    if number not in table.checkpoints:
        table.checkpoints[number] = checkpoint_bytes(table.resolved, table.sets[number].layouts.block)
    return table.checkpoints[number]


def time_of_task(
    table: TaskTable, index: int, cluster: Cluster, reliability: Reliability, *, working: bool = True
) -> TaskTime:
    """Time of a task on the cluster with this index, with the best layout found for it.

    `working=False` leaves out the terms: thousands of clusters are timed, only those listed show how.
    """
    low, expected, high, tokens = (float(v) for v in table.pace[:, index])
    pace = Estimate(low=min(low, expected), expected=expected, high=max(high, expected))
    resolved = table.resolved
    if (serving := resolved.serving) is not None:
        return _service_time(serving, pace)
    workload = resolved.training
    if workload is None:
        raise ValueError("a task trains or serves")
    run = run_time(
        pace,
        tokens,
        workload.data.tokens_per_run,
        checkpoint_bytes=_checkpoint(table, index),
        gpus=cluster.gpus,
        nodes=cluster.nodes,
        reliability=reliability,
        working=working,
    )
    runs = workload.runs
    campaign = campaign_hours(
        run,
        final_runs=runs.final_runs,
        sweep_runs=runs.sweep_runs,
        sweep_fraction=runs.sweep_fraction,
        failed_fraction=runs.failed_fraction,
        working=working,
    )
    return TaskTime(_seconds(campaign.busy_hours), run.seconds, (*run.terms, *campaign.terms))


def _service_time(workload: InferenceWorkload, pace: Estimate) -> TaskTime:
    if not workload.outputs_only:
        hours = service_hours(workload.months)
        term = _term("time.service", _seconds(hours), "months * hours_per_month * 3600",
                     {"months": workload.months, "hours_per_month": 730.0})  # fmt: skip
        return TaskTime(_seconds(hours), None, (term,), occupies_calendar=False)
    requests = workload.requests_per_day * workload.months * DAYS_PER_MONTH
    outputs = requests * workload.output_tokens
    working = Estimate(low=pace.low * outputs, expected=pace.expected * outputs, high=pace.high * outputs)
    start = Estimate.exact(BATCH_START_HOURS * HOUR)
    terms = (
        _term("time.batch", working, "requests * output_tokens / tokens_per_second",
              {"requests": requests, "output_tokens": workload.output_tokens, "tokens_per_second": 1 / pace.expected}),
        _term("time.batch_start", start, "start_hours * 3600", {"start_hours": BATCH_START_HOURS}),
    )  # fmt: skip
    busy = Estimate(
        low=working.low + start.low, expected=working.expected + start.expected, high=working.high + start.high
    )
    return TaskTime(busy, None, terms)


def _seconds(hours: Estimate) -> Estimate:
    return Estimate(low=hours.low * HOUR, expected=hours.expected * HOUR, high=hours.high * HOUR)


def _term(name: str, amount: Estimate, formula: str, values: dict[str, float | int | str]) -> Term:
    return Term(
        name=name, unit="seconds", low=amount.low, expected=amount.expected, high=amount.high,
        formula=formula, values=values, source="stated by the user",
    )  # fmt: skip
