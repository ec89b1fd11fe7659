"""Full report, first part: the summary, what was asked for (defaults marked), the work."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel

from engine.advice.result import Advice, Assessment
from engine.messages.mark import N_
from engine.report.charts.time import gpu_hours
from engine.report.comparison import serving_only
from engine.report.document import (
    OPEN,
    Amount,
    Block,
    Column,
    Fact,
    Facts,
    Join,
    Label,
    Paragraph,
    Section,
    Table,
    Text,
    Value,
    say,
)
from engine.report.pieces import (
    given,
    method_value,
    model_name,
    money_and_range,
    money_text,
    numbered,
    plan_value,
    rules_sentence,
    seller_value,
    task_name,
    way_value,
)
from engine.report.risks import top_risks
from engine.report.thresholds import threshold_lines
from engine.report.ways import cheaper_api
from engine.scenario import InferenceWorkload, ReportDetails, Scenario, Task, TrainingWorkload

__all__ = ["head", "inputs_section", "request_sections", "workload_section"]


def head(advice: Advice, details: ReportDetails, identity: tuple[Fact, ...]) -> Facts:
    """Cover: who asks, and what identifies the report."""
    return Facts(
        (
            Fact(say(N_("Applicant")), given(details.applicant)),
            Fact(say(N_("Unit")), given(details.unit)),
            Fact(say(N_("Source of money")), given(details.fund)),
            Fact(say(N_("Decision asked for by")), given(details.decision_by)),
            Fact(say(N_("Prices as of")), Amount("date", advice.scenario.as_of)),
            *identity,
        )
    )


def request_sections(advice: Advice, best: Assessment, details: ReportDetails) -> tuple[Section, ...]:
    """Decision summary, stated inputs, workload."""
    return (
        Section(numbered(1, N_("Decision summary")), _summary(advice, best, details)),
        inputs_section(2, advice.scenario, details),
        workload_section(3, advice.scenario),
    )


def inputs_section(number: int, scenario: Scenario, details: ReportDetails) -> Section:
    """All constraints and economic figures, defaults marked."""
    return Section(numbered(number, N_("What is asked for")), _inputs(scenario, details))


def workload_section(number: int, scenario: Scenario) -> Section:
    """Every task by its sizes."""
    return Section(numbered(number, N_("The work")), _workload(scenario))


def _summary(advice: Advice, best: Assessment, details: ReportDetails) -> tuple[Block, ...]:
    own = (best.plan.way, best.plan.cluster.gpu.id)
    others = [a for a in advice.ranked if (a.plan.way, a.plan.cluster.gpu.id) != own]
    lead = say(
        N_("Recommended: {plan}, {way}, {seller}. Cash needed: {cash}. Cost of the job: {job}. {time}"),
        plan=plan_value(best.plan),
        way=way_value(best.plan),
        seller=seller_value(best.plan),
        cash=money_and_range(best.cost.cash_needed),
        job=money_and_range(best.cost.cost_of_job),
        time=_time(advice, best),
    )
    blocks: list[Block] = [Paragraph(lead, "lead")]
    if others:
        cheapest = min(others, key=lambda a: (a.cost.cost_of_job.expected, a.plan.id))
        blocks.append(
            Paragraph(
                say(
                    N_("The cheapest other way to do the work is {plan} ({way}, {seller}) at {job}."),
                    plan=plan_value(cheapest.plan),
                    way=way_value(cheapest.plan),
                    seller=seller_value(cheapest.plan),
                    job=money_and_range(cheapest.cost.cost_of_job),
                )
            )
        )
    blocks.extend(cheaper_api(advice, best))
    risk = top_risks(advice, best, 1)
    if risk:
        blocks.append(Paragraph(say(N_("Largest uncertainty: {risk}."), risk=risk[0].what)))
    blocks.append(_picks(advice, best))
    lines = threshold_lines(advice, best.cost.cash_needed.money, purchase=best.plan.way == "buy")
    if lines:
        blocks.append(Paragraph(Join(lines, "\n")))
    blocks.append(Paragraph(rules_sentence(), "note"))
    blocks.append(Paragraph(say(N_("Reason for the request: {reason}"), reason=given(details.why_now))))
    return tuple(blocks)


def _time(advice: Advice, best: Assessment) -> Value:
    template = (
        N_("Ready to serve in {days:num} days; about {hours:int} card-hours in all.")
        if serving_only(advice)
        else N_("Done in {days:num} days with about {hours:int} card-hours.")
    )
    return say(template, days=best.calendar_days.expected, hours=gpu_hours(best).expected)


def _picks(advice: Advice, best: Assessment) -> Table:
    rows: list[tuple[Value, ...]] = []
    for pick in advice.picks:
        plan = advice.ranked[pick.index]
        rows.append(
            (
                Label(f"role.{pick.role}"),
                Join((plan_value(plan.plan), Join((way_value(plan.plan), seller_value(plan.plan)), " · ")), "\n"),
                Join(tuple(pick.reasons), "\n"),
            )
        )
    strong = tuple(i for i, p in enumerate(advice.picks) if advice.ranked[p.index] is best)
    return Table(
        "T1",
        say(N_("The three picks and what decided")),
        (
            Column(say(N_("Pick")), weight=1),
            Column(say(N_("Plan")), weight=2),
            Column(say(N_("Reasons")), weight=4),
        ),
        tuple(rows),
        strong,
    )


def _default(owner: BaseModel, name: str) -> Literal["", "default"]:
    """Marks a field that nobody stated."""
    return "" if name in owner.model_fields_set else "default"


def _inputs(scenario: Scenario, details: ReportDetails) -> tuple[Block, ...]:
    c, e = scenario.constraints, scenario.economics
    none: Value = say(N_("no limit"))

    def fact(owner: BaseModel, name: str, words: str, value: Value) -> Fact:
        return Fact(say(words), value, _default(owner, name))

    ways = Join(tuple(Label(f"way.{w}") for w in c.ways))
    yes, no = say(N_("yes")), say(N_("no"))
    rows = [
        fact(c, "budget", N_("Budget"), money_text(c.budget) if c.budget else none),
        fact(
            c, "deadline_days", N_("Deadline"), say(N_("{x:num} days"), x=c.deadline_days) if c.deadline_days else none
        ),
        fact(c, "ways", N_("Ways examined"), ways),
        fact(c, "region", N_("Region"), Text(c.region) if c.region else none),
        fact(c, "allow_spot", N_("Interruptible (spot) cards allowed"), yes if c.allow_spot else no),
        fact(c, "data_may_leave", N_("Data may leave the building"), yes if c.data_may_leave else no),
        fact(
            c,
            "export_controlled_allowed",
            N_("Export-controlled cards allowed"),
            yes if c.export_controlled_allowed else no,
        ),
        fact(c, "server_room", N_("A server room is available"), yes if c.server_room else no),
        fact(c, "max_gpus", N_("Most cards"), Amount("int", c.max_gpus)),
        fact(c, "headroom", N_("Headroom in memory"), Amount("pct", c.headroom)),
        fact(e, "hours_per_month", N_("Use of bought cards, hours a month"), Amount("num", e.hours_per_month)),
        fact(e, "years", N_("Technical life of bought cards, years"), Amount("num", e.years)),
        fact(
            e,
            "electricity_per_kwh",
            N_("Electricity, per kWh"),
            money_text(e.electricity_per_kwh) if e.electricity_per_kwh else say(N_("catalogue figure of the region")),
        ),
        fact(
            e,
            "engineer_hour",
            N_("Engineer's hour"),
            money_text(e.engineer_hour) if e.engineer_hour else say(N_("catalogue figure of the region")),
        ),
        fact(
            e,
            "pue",
            N_("Power of the room over that of the machines (PUE)"),
            Amount("num", e.pue) if e.pue is not None else say(N_("catalogue figure")),
        ),
        fact(e, "discount_rate", N_("Discount rate a year"), Amount("pct", e.discount_rate)),
    ]
    rows.extend(
        Fact(say(N_("Cards that are there")), say(N_("{n:int} × {card}"), n=o.count, card=o.gpu_id)) for o in c.owned
    )
    note = Paragraph(
        say(
            N_(
                "“default” marks what nobody stated: the program's own figure was taken. All inputs are "
                "printed in full "
                "in appendix A2."
            )
        ),
        "note",
    )
    enquiry = Paragraph(
        say(
            N_("Existing and shared equipment (enquiry with date and answer): {answer}"),
            answer=given(details.shared_enquiry),
        )
    )
    return Facts(tuple(rows), columns=2), note, enquiry


def _workload(scenario: Scenario) -> tuple[Block, ...]:
    blocks: list[Block] = []
    for i, task in enumerate(scenario.tasks, 1):
        facts = Facts(tuple(_task_facts(task)), columns=2)
        blocks.append(Paragraph(say(N_("Task {i:int}: {name}"), i=i, name=task_name(task)), "lead"))
        blocks.append(facts)
    return tuple(blocks)


def _task_facts(task: Task) -> list[Fact]:
    work = task.workload
    facts = [
        Fact(say(N_("Method")), method_value(task)),
        Fact(say(N_("Model")), model_name(task.model), "assumed" if task.model.parameters_billion else ""),
        Fact(say(N_("Project")), Text(task.project) if task.project else OPEN),
    ]
    return facts + (_training_facts(work) if isinstance(work, TrainingWorkload) else _serving_facts(work))


def _training_facts(work: TrainingWorkload) -> list[Fact]:
    data, runs = work.data, work.runs

    return [
        Fact(say(N_("Tokens of one run")), Amount("count", data.tokens_per_run)),
        Fact(say(N_("Epochs")), Amount("num", data.epochs), _default(data, "epochs")),
        Fact(say(N_("Sequence length")), Amount("int", work.sequence_length), _default(work, "sequence_length")),
        Fact(say(N_("Sequences per step")), Amount("int", work.global_batch_size), _default(work, "global_batch_size")),
        Fact(say(N_("Final runs")), Amount("int", runs.final_runs), _default(runs, "final_runs")),
        Fact(
            say(N_("Trial runs and their length")),
            say(N_("{n:int} × {share:pct}"), n=runs.sweep_runs, share=runs.sweep_fraction),
            _default(runs, "sweep_runs"),
        ),
        Fact(
            say(N_("Run time lost to failed runs")),
            Amount("pct", runs.failed_fraction),
            _default(runs, "failed_fraction"),
        ),
        Fact(say(N_("Software")), Text(work.framework), _default(work, "framework")),
    ]


def _serving_facts(work: InferenceWorkload) -> list[Fact]:
    return [
        Fact(say(N_("Users at once")), Amount("int", work.concurrent_users), _default(work, "concurrent_users")),
        Fact(say(N_("Requests a day")), Amount("int", work.requests_per_day), _default(work, "requests_per_day")),
        Fact(
            say(N_("Tokens of prompt and answer")),
            say(N_("{a:int} + {b:int}"), a=work.prompt_tokens, b=work.output_tokens),
            _default(work, "prompt_tokens"),
        ),
        Fact(say(N_("Months of service")), Amount("num", work.months), _default(work, "months")),
        Fact(
            say(N_("Target, tokens a second for each user")),
            Amount("num", work.tokens_per_second_per_user),
            _default(work, "tokens_per_second_per_user"),
        ),
        Fact(
            say(N_("Target, seconds to the first token")),
            Amount("num", work.first_token_seconds),
            _default(work, "first_token_seconds"),
        ),
    ]
