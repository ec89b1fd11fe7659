"""Pieces that several reports use: names of plans, models and tasks, and the reason why a way is missing."""

from __future__ import annotations

from decimal import ROUND_HALF_UP, Decimal

from engine.advice.result import Advice, Assessment
from engine.cost.age import STALE_DAYS
from engine.i18n import money_param
from engine.layout.plan import Plan
from engine.messages.mark import N_
from engine.quantity import Estimate, Money, MoneyEstimate, Term
from engine.report.charts.memory import heaviest_task
from engine.report.comparison import serving_only
from engine.report.document import OPEN, Amount, Join, Kind, Label, Ordinal, Range, Say, Text, Value, say
from engine.scenario import ModelChoice, Scenario, Task, TrainingWorkload

__all__ = [
    "base_and_range",
    "days_title",
    "given",
    "method_value",
    "missing_way",
    "model_name",
    "money_and_range",
    "money_text",
    "numbered",
    "plan_value",
    "price_note",
    "range_columns",
    "rules_sentence",
    "seller_value",
    "stacked",
    "task_name",
    "task_of",
    "task_sentence",
    "term_amount",
    "term_money",
    "verdict_value",
    "way_value",
]


def plan_value(plan: Plan) -> Value:
    """Cards and their number."""
    cluster = plan.cluster
    if cluster.nodes > 1:
        return say(N_("{gpus} × {card} ({nodes} nodes)"), gpus=cluster.gpus, card=cluster.gpu.name, nodes=cluster.nodes)
    return Text(f"{cluster.gpus} × {cluster.gpu.name}")


def way_value(plan: Plan) -> Value:
    """Buy, rent (with its term), shared, own."""
    if plan.way == "rent" and plan.offer is not None:
        return Join((Label("way.rent"), Label(f"term.{plan.offer.term}")), " · ")
    return Label(f"way.{plan.way}")


def seller_value(plan: Plan) -> Value:
    """Who rents, shares or sells."""
    name = plan.offer.provider if plan.offer else plan.purchase.seller if plan.purchase else ""
    return Text(name or "–")


def task_of(scenario: Scenario, task_id: str) -> Task:
    """The task of the scenario that an assessment speaks of."""
    return next(t for t in scenario.tasks if t.id == task_id)


def task_name(task: Task) -> Value:
    """The name that the user gave, else method and model."""
    return Text(task.name) if task.name else Join((method_value(task), model_name(task.model)), " · ")


def method_value(task: Task) -> Value:
    """What is done, in words."""
    return Label(
        f"method.{task.workload.method}" if isinstance(task.workload, TrainingWorkload) else "method.inference"
    )


def model_name(model: ModelChoice) -> Value:
    """Catalogue id, name of what was read from a file, or the size alone."""
    if model.architecture is not None:
        return Text(model.architecture.name)
    if model.catalog_id:
        return Text(model.catalog_id)
    return say(N_("a model of {size:count} parameters (shape assumed)"), size=(model.parameters_billion or 0) * 1e9)


def task_sentence(task: Task) -> Value:
    """One sentence on what is asked for."""
    work = task.workload
    if isinstance(work, TrainingWorkload):
        return say(
            N_(
                "{method} of {model}: {tokens:count} tokens a run, {runs:int} final and {sweeps:int} "
                "trial runs, sequences of {length:int} tokens."
            ),
            method=method_value(task),
            model=model_name(task.model),
            tokens=work.data.tokens_per_run,
            runs=work.runs.final_runs,
            sweeps=work.runs.sweep_runs,
            length=work.sequence_length,
        )
    return say(
        N_(
            "Serving {model} to {users:int} users at once: {requests:int} requests a day of "
            "{prompt:int} + {output:int} tokens, for {months:num} months."
        ),
        model=model_name(task.model),
        users=work.concurrent_users,
        requests=work.requests_per_day,
        prompt=work.prompt_tokens,
        output=work.output_tokens,
        months=work.months,
    )


def days_title(advice: Advice) -> Value:
    """What a column of days runs to."""
    return say(N_("Days until ready")) if serving_only(advice) else say(N_("Days until done"))


def verdict_value(assessment: Assessment) -> Value:
    """Whether the heaviest task fits, in words."""
    return Label(f"verdict.{heaviest_task(assessment).memory.verdict}")


def base_and_range(kind: Kind, estimate: Estimate) -> Value:
    """The expected value with low – high in brackets; an exact value alone."""
    if estimate.low == estimate.high:
        return Amount(kind, estimate.expected)
    return say(N_("{expected} ({range})"), expected=Amount(kind, estimate.expected), range=Range(kind, estimate))


def stacked(kind: Kind, estimate: Estimate | MoneyEstimate) -> Value:
    """The expected value and below it low – high, for a cell of a table."""
    low, high = estimate.low, estimate.high
    value = estimate if isinstance(estimate, MoneyEstimate) else estimate.expected
    return Amount(kind, value) if low == high else Join((Amount(kind, value), Range(kind, estimate)), "\n")


def range_columns(kind: Kind, estimate: Estimate) -> tuple[Value, Value, Value]:
    """Low, expected and high as three cells."""
    return Amount(kind, estimate.low), Amount(kind, estimate.expected), Amount(kind, estimate.high)


def price_note(assessment: Assessment, scenario: Scenario) -> Value:
    """Date of the price with its evidence type, and a warning mark where it is old (rule R8)."""
    plan = assessment.plan
    row = plan.offer or plan.purchase
    if row is None:
        return Text("–")
    kind = Text("P") if row.origin == "catalog" else Text("Q")
    if row.observed_on is None:
        return Join((kind, say(N_("undated ⚠"))), " ")
    day = Amount("date", row.observed_on)
    if (scenario.as_of - row.observed_on).days > STALE_DAYS:
        return Join((kind, day, Text("⚠")), " ")
    return Join((kind, day), " ")


def missing_way(advice: Advice, way: str) -> Say:
    """Why a way has no plan."""
    constraints = advice.scenario.constraints
    if way not in constraints.ways:
        return say(N_("Not examined: the request leaves this way out."))
    if way == "rent" and not constraints.data_may_leave:
        return say(N_("Not possible: the data may not leave the building."))
    if way == "shared" and not any(o.term == "shared" for o in advice.scenario.offers):
        return say(N_("No shared cluster is named in the request; ask the shared facility and add its conditions."))
    return say(N_("No plan of this way meets memory, budget and deadline; the reasons stand in the full report."))


def given(text: str, limit: int | None = None) -> Value:
    """What the applicant wrote, cut to a length; open where nothing was written."""
    if not text.strip():
        return OPEN
    return Text(text if limit is None or len(text) <= limit else text[: limit - 1].rstrip() + "…")


def numbered(number: int, title: str) -> Value:
    """A heading with its number, as each language counts its sections."""
    return say(N_("{number}. {title}"), number=Ordinal(number), title=Say(title))


def money_and_range(cost: MoneyEstimate) -> Value:
    """ "expected (low – high)" of money."""
    if cost.low == cost.high:
        return Amount("money", cost)
    return say(N_("{expected} ({range})"), expected=Amount("money", cost), range=Range("money", cost))


def money_text(money: Money) -> Value:
    """A stated amount of money."""
    return say(N_("{x:money}"), x=money_param(money))


def rules_sentence() -> Value:
    """The sentence that every report with rules in it must print (rule R12)."""
    return say(
        N_(
            "Lines and procedures follow the documents listed with their dates; the institution's current rules "
            "prevail."
        )
    )


def term_money(term: Term) -> MoneyEstimate:
    """The amount of a cost term, to the cent."""

    def cents(value: float) -> Decimal:
        return Decimal(repr(float(value))).quantize(Decimal("0.01"), ROUND_HALF_UP)

    low, expected, high = cents(term.low), cents(term.expected), cents(term.high)
    return MoneyEstimate(low=low, expected=expected, high=high, currency=term.unit)


def term_amount(term: Term) -> Value:
    """The amount of any term, with its interval, in the unit of the reader."""
    match term.unit:
        case "bytes":
            return stacked("gib", term.estimate)
        case "seconds":
            return stacked("duration", term.estimate)
        case "1":
            return stacked("pct", term.estimate)
        case unit if len(unit) == 3 and unit.isupper():
            return stacked("money", term_money(term))
        case unit:
            return Join((stacked("num", term.estimate), Text(unit)), " ")
