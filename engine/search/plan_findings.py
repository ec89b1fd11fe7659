"""What a person should know about one plan: tight memory, old prices, assumptions about the node, chances missed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from engine.advice.result import TaskAssessment
from engine.cost.age import STALE_DAYS
from engine.cost.result import CostAssessment
from engine.findings import Finding, Severity
from engine.hardware.model import CatalogSnapshot
from engine.i18n import money_param
from engine.layout.model import InferenceJob, Job, Offload, Regime
from engine.layout.plan import Plan
from engine.memory.result import Verdict
from engine.quantity import Money
from engine.scenario import Scenario, TrainingWorkload
from engine.search.market import region_of
from engine.search.options import COARSE_FORMATS, Option
from engine.search.resolve import precision_of
from engine.speed.campaign import chance_within
from engine.speed.hardware import speed_findings
from engine.speed.limits import limit_finding

__all__ = ["plan_findings"]


def plan_findings(
    option: Option,
    plan: Plan,
    tasks: Sequence[TaskAssessment],
    cost: CostAssessment,
    scenario: Scenario,
    catalog: CatalogSnapshot,
) -> tuple[Finding, ...]:
    """All findings of one plan, the serious ones first."""
    found = [
        *_memory(plan, tasks),
        *_chances(option, cost, scenario),
        *_price(plan, cost, scenario),
        *_offer(plan, scenario, catalog),
        *_hardware(plan, scenario),
        *_layouts(tasks, scenario),
        *_speed(plan, tasks),
        *_time(tasks),
    ]
    order = [Severity.SERIOUS, Severity.WARNING, Severity.ADVICE, Severity.INFO]
    unique = {f.code + repr(sorted(f.params.items())): f for f in found}
    return tuple(sorted(unique.values(), key=lambda f: order.index(f.severity)))


def _finding(code: str, severity: Severity, source: str = "", **params: str | int | float | None) -> Finding:
    return Finding(code=code, severity=severity, params=params, source=source)


def _memory(plan: Plan, tasks: Sequence[TaskAssessment]) -> Iterator[Finding]:
    for task in tasks:
        memory = task.memory
        if memory.verdict is Verdict.FITS_TIGHTLY and memory.usable_bytes is not None:
            yield _finding(
                "plan.tight", Severity.WARNING, high=memory.driver.high + memory.in_use_bytes,
                usable=memory.usable_bytes, gpu=plan.cluster.gpu.name,
            )  # fmt: skip
        if memory.fallback:
            yield _finding("plan.memory_fallback", Severity.INFO)
        if task.layout.offload is not Offload.NONE:
            yield _finding("plan.offload", Severity.WARNING, host=memory.host_bytes * plan.cluster.gpus_per_node)
    if plan.cluster.gpu.usable_basis == "rule":
        yield _finding("plan.usable_by_rule", Severity.INFO, gpu=plan.cluster.gpu.name)


def _chances(option: Option, cost: CostAssessment, scenario: Scenario) -> Iterator[Finding]:
    deadline, budget = scenario.constraints.deadline_days, scenario.constraints.budget
    if deadline is not None and option.days.high > deadline:
        chance = chance_within(option.days, deadline)
        yield _finding("plan.may_be_late", Severity.WARNING, high=option.days.high, deadline=deadline, chance=chance)
    if budget is not None and option.over_budget + float(cost.cash_needed.high - cost.cash_needed.expected) > 0:
        high = Money(amount=cost.cash_needed.high, currency=cost.cash_needed.currency)
        yield _finding("plan.may_exceed_budget", Severity.WARNING, high=money_param(high), budget=money_param(budget))


def _price(plan: Plan, cost: CostAssessment, scenario: Scenario) -> Iterator[Finding]:
    row = plan.offer or plan.purchase
    if row is None:
        return
    if row.origin != "catalog":
        yield _finding("plan.own_price", Severity.INFO)
    elif row.observed_on is None:
        yield _finding("plan.price_undated", Severity.WARNING)
    elif cost.price_age_days is not None and cost.price_age_days > STALE_DAYS:
        yield _finding(
            "plan.price_stale", Severity.WARNING, days=cost.price_age_days, date=row.observed_on.isoformat(),
            source=row.source_url,
        )  # fmt: skip
    if plan.purchase is not None and plan.purchase.condition == "used":
        yield _finding("plan.used", Severity.WARNING)
    if row.confidence == "low":
        yield _finding("plan.price_weak_source", Severity.INFO)
    if plan.way == "buy" and scenario.economics.hours_per_month < IDLE_HOURS:
        yield _finding("plan.mostly_idle", Severity.ADVICE, hours=scenario.economics.hours_per_month)


#: Hours a month below which a bought machine stands still most of the time.
IDLE_HOURS = 150.0


def _offer(plan: Plan, scenario: Scenario, catalog: CatalogSnapshot) -> Iterator[Finding]:
    offer, region = plan.offer, scenario.constraints.region
    row = offer or plan.purchase
    if row is not None and len(row.gpu_ids) > 1:
        names = ", ".join(catalog.gpu_by_id[g].name for g in row.gpu_ids)
        yield _finding("plan.card_not_exact", Severity.WARNING, names=names, gpu=plan.cluster.gpu.name)
    if row is not None and row.origin == "catalog" and region and region_of(row.country) == "":
        yield _finding("plan.region_unknown", Severity.WARNING, region=f"region.{region}")
    if offer is None:
        return
    if offer.term == "spot":
        yield _finding("plan.spot", Severity.WARNING)
    if offer.gpu_only:
        yield _finding("plan.gpu_only", Severity.INFO)
    if offer.provider_kind == "marketplace":
        yield _finding("plan.marketplace", Severity.INFO)
    if offer.term.startswith("reserved") or offer.term == "monthly":
        yield _finding("plan.commitment", Severity.ADVICE, term=f"term.{offer.term}")


def _hardware(plan: Plan, scenario: Scenario) -> Iterator[Finding]:
    cluster, gpu, region = plan.cluster, plan.cluster.gpu, scenario.constraints.region
    if cluster.assumed and cluster.gpus > 1:
        link = f"link.{cluster.intra_node.kind}"
        yield _finding("plan.node_assumed", Severity.INFO, cards=cluster.gpus_per_node, link=link)
    if region and region in gpu.export_controlled_for and plan.way in ("rent", "buy"):
        yield _finding(
            "plan.export", Severity.SERIOUS, gpu=gpu.name, region=f"region.{region}",
            date=gpu.source_date or "?", source=gpu.source_url,
        )  # fmt: skip
    if gpu.segment == "consumer" and plan.way == "buy" and scenario.constraints.server_room and cluster.gpus > 1:
        yield _finding("plan.consumer_in_server_room", Severity.WARNING, gpu=gpu.name)
    if gpu.software_maturity <= YOUNG_SOFTWARE:
        yield _finding("plan.young_software", Severity.WARNING, gpu=gpu.name, stack=gpu.software_stack)


#: Maturity (1 to 5) up to which common training recipes are not expected to run unchanged.
YOUNG_SOFTWARE = 3


def _layouts(tasks: Sequence[TaskAssessment], scenario: Scenario) -> Iterator[Finding]:
    by_id = {t.id: t for t in scenario.tasks}
    for task in tasks:
        workload = by_id[task.task_id].workload
        if isinstance(workload, TrainingWorkload):
            layout = task.layout
            batch = layout.data_parallel * layout.micro_batch_size * layout.gradient_accumulation_steps
            if batch != workload.global_batch_size:
                yield _finding("plan.batch_changed", Severity.INFO, batch=batch, asked=workload.global_batch_size)
        if isinstance(task.job, InferenceJob):
            wanted = workload.weight_quantization if not isinstance(workload, TrainingWorkload) else None
            if wanted is None and task.job.weight_quantization in COARSE_FORMATS:
                yield _finding("plan.four_bit", Severity.WARNING, format=task.job.weight_quantization)


def _speed(plan: Plan, tasks: Sequence[TaskAssessment]) -> Iterator[Finding]:
    precision = precision_of(plan.cluster.gpu)
    for task in tasks:
        framework = task.job.framework if isinstance(task.job, Job) else task.job.engine
        yield from speed_findings(plan.cluster, precision, framework)
        speed = task.training or task.inference
        limit = limit_finding(speed) if speed is not None else None
        if limit is not None:
            yield limit
        if precision == "fp16" and isinstance(task.job, Job) and task.layout.regime is not Regime.FP32:
            yield _finding("plan.fp16_only", Severity.WARNING, gpu=plan.cluster.gpu.name)


def _time(tasks: Sequence[TaskAssessment]) -> Iterator[Finding]:
    """What the time of a run goes into, how often to write a checkpoint, and what the kept runs are of the whole."""
    for task in tasks:
        terms = {t.name: t for t in task.time_terms}
        training, checkpoints = terms.get("run.training"), terms.get("run.checkpoints")
        if training is None or checkpoints is None:
            continue
        whole = [sum(getattr(t, end) for n, t in terms.items() if n.startswith("run.")) for end in _ENDS]
        shares = sorted(getattr(training, end) / total for end, total in zip(_ENDS, whole, strict=True))
        expected = training.expected / whole[1]
        yield _finding("time.goodput", Severity.INFO, share=expected, low=shares[0], high=shares[2])
        interval = checkpoints.values["interval"]
        if isinstance(interval, float) and interval < training.expected:
            source = "Young, CACM 17(9), 1974"
            yield _finding("time.checkpoints", Severity.INFO, source, interval=interval)
        runs = [t.expected for n, t in terms.items() if n.startswith("campaign.")]
        kept = terms["campaign.final"].expected / sum(runs)
        if kept < MOST_OF_THE_WORK:
            yield _finding("time.campaign", Severity.INFO, share=kept)


_ENDS = ("low", "expected", "high")
#: Above it, what runs beside the kept ones is not worth a sentence.
MOST_OF_THE_WORK = 0.95
