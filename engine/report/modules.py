"""Sections of the profiles that the full report has not: basic facts, lines crossed, duplication, requirements with
their tests, site, running, compliance, acceptance, targets. What only the applicant knows prints as open."""

from __future__ import annotations

from engine.advice.result import Advice, Assessment
from engine.messages.mark import N_
from engine.report import document as d
from engine.report import pieces
from engine.report.charts.memory import heaviest_task
from engine.report.charts.time import gpu_hours
from engine.report.document import say
from engine.report.full_results import per_second
from engine.report.rules import acceptance_tests, crossed_lines
from engine.scenario import ReportDetails

__all__ = [
    "acceptance", "basic_facts", "compliance", "duplication", "energy", "market", "need", "operation", "procedure",
    "requirements", "site", "targets",
]  # fmt: skip

#: Products that a neutral requirement should be met by (rule R7).
PRODUCTS_WANTED = 3
PRODUCTS_NAMED = 8


def _facts(*rows: tuple[str, d.Value]) -> d.Facts:
    return d.Facts(tuple(d.Fact(d.Say(name), value) for name, value in rows))


def basic_facts(advice: Advice, best: Assessment, details: ReportDetails) -> tuple[d.Block, ...]:
    """M02: what is asked for, from which money, by whom."""
    cluster = best.plan.cluster
    each = best.cost.cash_needed
    return (
        _facts(
            (N_("Equipment name (the same everywhere)"), pieces.given(details.equipment_name)),
            (N_("Configuration that was computed"), pieces.plan_value(best.plan)),
            (N_("Number of cards"), d.Amount("count", cluster.gpus)),
            (N_("Amount asked for"), pieces.money_and_range(each)),
            (N_("Way"), pieces.way_value(best.plan)),
            (N_("Source of money, amount approved"), pieces.given(details.fund)),
            (N_("End of the money; who pays afterwards"), pieces.given(details.money_ends)),
            (N_("Research instrument or general equipment; imported or not"), pieces.given(details.classification)),
            (N_("Place of installation"), pieces.given(details.site)),
            (N_("Person in charge"), pieces.given(details.applicant)),
            (N_("Co-signer"), pieces.given(details.cosigner)),
        ),
    )


def procedure(advice: Advice, best: Assessment, details: ReportDetails) -> tuple[d.Block, ...]:
    """M10 with T1a: lines that the amount crosses, and what follows (rules R12, R19)."""
    amount = best.cost.cash_needed.money
    lines = crossed_lines(advice.scenario.constraints.region, amount, purchase=best.plan.way == "buy")
    blocks: list[d.Block] = []
    if lines:
        rows = tuple(
            (
                pieces.money_text(line.amount),
                line.effect,
                d.Join((line.document, d.Text(line.rule_date)), ", "),
                d.Join((d.Label(f"reading.{line.confidence}"), d.Label(f"scope.{line.scope}")), ", "),
                d.Text(line.id),
            )
            for line in lines
        )
        blocks.append(
            d.Table(
                "T1a",
                say(
                    N_("Lines that the amount of {amount} reaches, and what follows"), amount=pieces.money_text(amount)
                ),
                (
                    d.Column(say(N_("From")), "right", 1),
                    d.Column(say(N_("What follows")), weight=3),
                    d.Column(say(N_("Document, date")), weight=1.9),
                    d.Column(say(N_("How sure")), weight=1.4),
                    d.Column(say(N_("No.")), weight=1),
                ),
                rows,
            )
        )
    else:
        blocks.append(
            d.Paragraph(
                say(
                    N_(
                        "The register holds no line for this region and currency that {amount} reaches. "
                        "Ask the purchasing office: {open}."
                    ),
                    amount=pieces.money_text(amount),
                    open=d.OPEN,
                )
            )
        )
    blocks.append(d.Paragraph(pieces.rules_sentence(), "note"))
    blocks.append(
        _facts(
            (N_("Proposed method of purchase"), pieces.given(details.purchase_method)),
            (N_("Related purchases of the unit this year"), pieces.given(details.related_purchases)),
        )
    )
    return tuple(blocks)


def need(advice: Advice, _best: Assessment, details: ReportDetails) -> tuple[d.Block, ...]:
    """M03: tasks with their projects, and why the equipment is needed."""
    rows = tuple(
        (pieces.task_name(t), d.Text(t.project) if t.project.strip() else d.OPEN, pieces.task_sentence(t))
        for t in advice.scenario.tasks
    )
    return (
        d.Paragraph(say(N_("Purpose: {text}"), text=pieces.given(details.purpose))),
        d.Paragraph(say(N_("Why now: {text}"), text=pieces.given(details.why_now))),
        d.Table(
            "T2a",
            say(N_("Tasks that the equipment serves")),
            (
                d.Column(say(N_("Task")), weight=1.2),
                d.Column(say(N_("Project")), weight=1),
                d.Column(say(N_("What is computed")), weight=3),
            ),
            rows,
        ),
    )


def duplication(advice: Advice, _best: Assessment, details: ReportDetails) -> tuple[d.Block, ...]:
    """M06: what is there already; comes before the sizing in China."""
    blocks: list[d.Block] = [
        _facts(
            (N_("Equipment of the same type: unit, age, hours of last year, why not"), pieces.given(details.existing)),
            (N_("Answer of the shared facility, with its date"), pieces.given(details.shared_enquiry)),
        )
    ]
    if advice.scenario.constraints.region == "CN":
        blocks.append(
            d.Paragraph(
                say(
                    N_(
                        "Reviewers hold comparable shared equipment against 1,200 hours a year: below that line and "
                        "able to do the work, it is used first (T-CN-09)."
                    )
                ),
                "note",
            )
        )
    return tuple(blocks)


def requirements(advice: Advice, best: Assessment, _details: ReportDetails) -> tuple[d.Block, ...]:
    """M08: properties, not brands (R7); each with the test that proves it (R14) and the products that meet it."""
    memory = heaviest_task(best).memory
    cluster = best.plan.cluster
    rows: list[tuple[d.Value, ...]] = [
        (
            say(N_("★ Usable memory of one card")),
            say(N_("at least {x}"), x=d.Amount("gib", memory.driver.high)),
            say(N_("read with the vendor's tool; reference run without an out-of-memory error")),
        ),
        (
            say(N_("★ Cards that work on one job")),
            say(N_("at least {n:int}"), n=cluster.gpus),
            say(N_("all seen at full link width; reference run over all of them")),
        ),
    ]
    for task in best.tasks:
        name = pieces.task_name(pieces.task_of(advice.scenario, task.task_id))
        if task.training is not None:
            rate = task.training.tokens_per_second_per_gpu.low * cluster.gpus
            rows.append(
                (
                    say(N_("★ Speed of all cards together: {task}"), task=name),
                    say(N_("at least {x:int} tokens a second"), x=rate),
                    say(N_("reference training run with the applicant's model, 24 to 72 hours")),
                )
            )
        if task.inference is not None:
            first = task.inference.time_to_first_token_seconds.high
            each = per_second(task.inference.time_per_output_token_seconds).low
            rows.append(
                (
                    say(N_("★ Service at full load: {task}"), task=name),
                    say(
                        N_("first token within {first:duration}, {rate:num} tokens a second or more for each user"),
                        first=first,
                        rate=each,
                    ),
                    say(N_("reference serving test at the stated load")),
                )
            )
    if best.plan.way == "buy":
        rows.append(
            (
                say(N_("★ Steady under full load")),
                say(N_("72 hours without an uncorrected error")),
                say(N_("burn-in of all cards together")),
            )
        )
    table = d.Table(
        "T7",
        say(N_("Mandatory requirements (★) and the acceptance test of each; values from the sizing")),
        (
            d.Column(say(N_("Requirement")), weight=1.6),
            d.Column(say(N_("Value")), weight=1.6),
            d.Column(say(N_("Proved by")), weight=2),
        ),
        tuple(rows),
    )
    return table, d.Paragraph(_products(advice, memory.driver.high))


def _products(advice: Advice, needed: float) -> d.Value:
    """Cards among the plans that offer the memory, as examples; fewer than three need a reason."""
    names = dict.fromkeys(
        a.plan.cluster.gpu.name for a in advice.ranked if (a.plan.cluster.gpu.usable_bytes or 0) >= needed
    )
    shown = d.Join(tuple(d.Text(n) for n in list(names)[:PRODUCTS_NAMED]))
    if len(names) >= PRODUCTS_WANTED:
        return say(
            N_("{n:int} products were found that meet the memory requirement and do the work, for example: {names}."),
            n=len(names),
            names=shown,
        )
    return say(
        N_("Only these products were found that do the work: {names}. Reason why there are fewer than three: {open}."),
        names=shown,
        open=d.OPEN,
    )


def market(_advice: Advice, _best: Assessment, details: ReportDetails) -> tuple[d.Block, ...]:
    """M09: the applicant's own quotations; the prices of the calculation stand beside them."""
    return (_facts((N_("Three quotations: supplier, date, validity, tax, amount"), pieces.given(details.quotations))),)


def site(_advice: Advice, best: Assessment, details: ReportDetails) -> tuple[d.Block, ...]:
    """M13: where it stands and what it draws."""
    if best.plan.way in ("rent", "shared"):
        return (
            d.Paragraph(
                say(N_("Nothing is installed: the cards stand at the provider. Place of the data and network: {text}."),
                    text=pieces.given(details.site))
            ),
        )  # fmt: skip
    cluster = best.plan.cluster
    rows: list[tuple[str, d.Value]] = [(N_("Place, circuit, cooling, floor load, network"), pieces.given(details.site))]
    if cluster.gpu.tdp_watts:
        kilowatts = cluster.gpus * cluster.gpu.tdp_watts / 1000
        rows.append(
            (
                N_("Power of the cards alone at full load"),
                say(
                    N_("{n:int} × {w:int} W = {kw:num} kW (vendor's figure); the host and the cooling come on top"),
                    n=cluster.gpus,
                    w=cluster.gpu.tdp_watts,
                    kw=kilowatts,
                ),
            )
        )
    rows.append((N_("Signed by the facilities office"), d.OPEN))
    return (_facts(*rows),)


def operation(advice: Advice, best: Assessment, details: ReportDetails) -> tuple[d.Block, ...]:
    """M14: who runs it, for how many hours, for whom."""
    hours = gpu_hours(best)
    return (
        _facts(
            (
                N_("Card-hours of the tasks above (computed)"),
                say(N_("{hours} card-hours"), hours=pieces.base_and_range("num", hours)),
            ),
            (
                N_("Hours a month that bought cards work for all (stated)"),
                say(N_("{x:num} h"), x=advice.scenario.economics.hours_per_month),
            ),
            (N_("Expected hours a year: own, campus, outside"), pieces.given(details.hours_forecast)),
            (N_("Operator, share of time, running money"), pieces.given(details.operator)),
            (N_("Access for others, fees, queue rules"), pieces.given(details.sharing)),
        ),
    )


def compliance(advice: Advice, _best: Assessment, details: ReportDetails) -> tuple[d.Block, ...]:
    """M15: declarations of the applicant; nothing is judged here (rule R13)."""
    may_leave = advice.scenario.constraints.data_may_leave
    stated = say(N_("may leave the building")) if may_leave else say(N_("may not leave the building"))
    return (
        _facts(
            (N_("Data (stated)"), stated),
            (N_("Class of the data and where it lies"), pieces.given(details.data_class)),
            (
                N_("Export control and lawful channel: applicant's declaration"),
                pieces.given(details.export_declaration),
            ),
        ),
        d.Paragraph(
            say(N_("These are declarations of the applicant. This report gives no legal opinion.")), "note"
        ),
    )  # fmt: skip


def energy(_advice: Advice, best: Assessment, _details: ReportDetails) -> tuple[d.Block, ...]:
    """M16: energy of the job."""
    return (
        d.Paragraph(
            say(
                N_("Energy of the whole job, cooling included: {kwh:int} kWh (computed; appendix A1)."),
                kwh=best.cost.energy_kwh,
            )
        ),
    )


def acceptance(_advice: Advice, best: Assessment, _details: ReportDetails) -> tuple[d.Block, ...]:
    """M17 with T16: tests of this hardware, pass values, and an empty column for the record."""
    rows = tuple(
        (d.Text(t.id), t.test, t.measure, t.passes, d.Label(f"basis.{t.basis}"), d.Text(""))
        for t in acceptance_tests(best)
    )
    return (
        d.Table(
            "T16",
            say(N_("Acceptance tests; a value of the contract comes before the value here")),
            (
                d.Column(say(N_("No.")), weight=0.6),
                d.Column(say(N_("Test")), weight=2.2),
                d.Column(say(N_("Measured")), weight=1.2),
                d.Column(say(N_("Passes if")), weight=2),
                d.Column(say(N_("Basis")), weight=0.9),
                d.Column(say(N_("Result, signature")), weight=1.1),
            ),
            rows,
        ),
        d.Paragraph(
            say(N_("A failed test is repeated once after repair; the last payment follows when all have passed.")),
            "note",
        ),
    )


def targets(_advice: Advice, best: Assessment, details: ReportDetails) -> tuple[d.Block, ...]:
    """M19: what it is for, with a date to check it."""
    return (
        _facts(
            (N_("Output, quality and service targets, with date and checker"), pieces.given(details.benefits)),
            (
                N_("Done or ready, after the order (computed)"),
                say(N_("{days} days"), days=pieces.base_and_range("num", best.calendar_days)),
            ),
            (N_("Review"), say(N_("12 months after acceptance"))),
        ),
    )
