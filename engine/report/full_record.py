"""Full report, last part: findings, risks, prices and sources, the working, all inputs, the reproducibility record."""

from __future__ import annotations

import json
from datetime import datetime

import engine
from engine.advice.result import Advice, Assessment
from engine.cost.age import STALE_DAYS
from engine.findings import Finding, Severity
from engine.messages.mark import N_
from engine.quantity import Term
from engine.report import document as d
from engine.report import pieces
from engine.report.document import say
from engine.report.record import scenario_sha256
from engine.report.risks import risks_of

__all__ = ["findings_table", "identity", "instructions", "record_facts", "record_sections"]

_ORDER = {Severity.SERIOUS: 0, Severity.WARNING: 1, Severity.ADVICE: 2, Severity.INFO: 3}


def record_sections(
    advice: Advice, best: Assessment, shown: tuple[Assessment, ...], moment: datetime, hashes: dict[str, str]
) -> tuple[d.Section, ...]:
    """Findings to reproducibility."""
    return (
        d.Section(
            pieces.numbered(10, N_("Risks and findings")),
            (_risk_table(advice, best), findings_table((*advice.findings, *best.findings))),
        ),
        d.Section(pieces.numbered(11, N_("Prices and their sources")), (_prices(advice, shown),)),
        d.Section(pieces.numbered(12, N_("Declarations")), _declarations()),
        d.Section(say(N_("A1 The working of the recommended plan")), _working(advice, best), new_page=True),
        d.Section(
            say(N_("A2 All inputs")),
            (
                d.Paragraph(say(N_("The scenario file as it was computed; saved as a file it can be opened again."))),
                d.Code(
                    json.dumps(
                        advice.scenario.model_dump(mode="json", exclude_defaults=False), ensure_ascii=False, indent=1
                    )
                ),
            ),
            new_page=True,
        ),
        d.Section(say(N_("A3 How to repeat the calculation")), (record_facts(advice, moment, hashes), *instructions())),
    )


def identity(hashes: dict[str, str], advice: Advice) -> tuple[d.Fact, ...]:
    """What identifies a report on its cover."""
    return (
        d.Fact(say(N_("Report ID")), d.Text(hashes["report_id"])),
        d.Fact(say(N_("Program")), d.Text(f"GPU Advisor {engine.__version__}")),
        d.Fact(
            say(N_("Catalogue of cards and prices")), d.Text(f"{advice.catalog_version} ({advice.catalog_sha256[:12]})")
        ),
    )


def _risk_table(advice: Advice, best: Assessment) -> d.Table:
    rows = tuple((d.Amount("int", i), r.what, r.measure) for i, r in enumerate(risks_of(advice, best), 1))
    return d.Table(
        "T17",
        say(N_("Risks that the numbers show, most serious first")),
        (
            d.Column(say(N_("No.")), "right"),
            d.Column(say(N_("Risk")), weight=1),
            d.Column(say(N_("Measure")), weight=1),
        ),
        rows,
    )


def findings_table(findings: tuple[Finding, ...]) -> d.Table:
    """Findings by severity, each once."""
    every = {f.model_dump_json(): f for f in findings}.values()
    rows = tuple((d.Label(f.severity), f) for f in sorted(every, key=lambda f: _ORDER[f.severity]))
    return d.Table(
        "T17b",
        say(N_("Findings and assumptions of the calculation")),
        (d.Column(say(N_("Kind")), weight=0.5), d.Column(say(N_("Finding")), weight=5)),
        rows,
    )


def _prices(advice: Advice, shown: tuple[Assessment, ...]) -> d.Table:
    rows: list[tuple[d.Value, ...]] = []
    for assessment in shown:
        row = assessment.plan.offer or assessment.plan.purchase
        if row is None:
            continue
        offer, purchase = assessment.plan.offer, assessment.plan.purchase
        amount = offer.price_per_gpu_hour if offer else purchase.price if purchase else 0
        unit = N_("{x} a card-hour") if offer else N_("{x} for {n:int} cards")
        price = say(unit, x=say(N_("{m:money}"), m=f"{amount} {row.currency}"), n=purchase.cards if purchase else 1)
        age = (advice.scenario.as_of - row.observed_on).days if row.observed_on else None
        stale = age is None or age > STALE_DAYS
        age_words: d.Value = say(N_("undated")) if age is None else say(N_("{n:int} days"), n=age)
        rows.append(
            (
                d.Join((pieces.plan_value(assessment.plan), pieces.seller_value(assessment.plan)), "\n"),
                price,
                d.Text("P" if row.origin == "catalog" else "Q"),
                d.Amount("date", row.observed_on) if row.observed_on else d.Text("–"),
                d.Join((age_words, d.Text("⚠")), " ") if stale else age_words,
                d.Text(row.source_url or "–"),
            )
        )
    return d.Table(
        "T9",
        say(N_("Prices used; taxes as the source states them")),
        (
            d.Column(say(N_("Plan and supplier")), weight=1.6),
            d.Column(say(N_("Price")), "right", 1.2),
            d.Column(say(N_("Evidence")), weight=0.6),
            d.Column(say(N_("Seen on")), weight=0.9),
            d.Column(say(N_("Age")), weight=0.7),
            d.Column(say(N_("Source")), weight=2.2),
        ),
        tuple(rows),
        note=say(
            N_(
                "Evidence: M measured by the applicant, D vendor document, Q quotation or stated fee, C "
                "computed here, P published by others, A assumption. ⚠: older than 60 days or undated. "
                "Three comparable quotations are still to be obtained: {open}."
            ),
            open=d.OPEN,
        ),
    )


def _declarations() -> tuple[d.Block, ...]:
    return (
        d.Paragraph(
            say(
                N_(
                    "Export control, class of the data, conflicts of interest and the truth of the "
                    "statements are declared by the applicant: {open}. This report gives no legal opinion."
                ),
                open=d.OPEN,
            )
        ),
        d.Paragraph(pieces.rules_sentence(), "note"),
        d.Signature((say(N_("Applicant")), say(N_("Date")))),
        d.Signature((say(N_("Head of the unit")), say(N_("Date")))),
    )


def _working(advice: Advice, best: Assessment) -> tuple[d.Block, ...]:
    blocks: list[d.Block] = [
        d.Paragraph(
            say(
                N_(
                    "Every amount above is a sum of these items; the same code computed them. Memory in GiB "
                    "(2^30 bytes); vendors' capacities in GB (10^9 bytes); rates are dense peaks, never with "
                    "sparsity."
                )
            ),
            "note",
        )
    ]
    for task in best.tasks:
        name = pieces.task_name(pieces.task_of(advice.scenario, task.task_id))
        blocks.append(_terms("T20", say(N_("Memory of one card: {task}"), task=name), task.memory.terms))
        speed = task.training or task.inference
        if speed is not None and speed.terms:
            blocks.append(_terms("T20", say(N_("Time of one step: {task}"), task=name), speed.terms))
        if task.time_terms:
            blocks.append(_terms("T20", say(N_("Time of everything: {task}"), task=name), task.time_terms))
    blocks.append(_terms("T20", say(N_("Cash needed")), best.cost.cash_terms))
    blocks.append(_terms("T20", say(N_("Cost of the job")), best.cost.job_terms))
    if best.risk_terms:
        blocks.append(_terms("T20", say(N_("Risk added to the cost")), best.risk_terms))
    return tuple(blocks)


def _terms(number: str, caption: d.Value, terms: tuple[Term, ...]) -> d.Table:
    rows = tuple(
        (
            d.Label(t.name),
            pieces.term_amount(t),
            d.Join((d.Source(t.formula), d.Text(_substituted(t))), "\n") if t.values else d.Source(t.formula),
            d.Source(t.source),
        )
        for t in terms
    )
    return d.Table(
        number,
        caption,
        (
            d.Column(say(N_("Item")), weight=1.1),
            d.Column(say(N_("Amount")), "right", 1.1),
            d.Column(say(N_("Formula and values")), weight=2.6),
            d.Column(say(N_("Source")), weight=1.6),
        ),
        rows,
    )


def _substituted(term: Term) -> str:
    """The values of a term, each with its name; fractions to six digits, whole numbers exactly."""
    return ", ".join(f"{name} = {_shown(value)}" for name, value in term.values.items())


def _shown(value: float | int | str) -> str:
    if isinstance(value, int):
        return f"{value:,}"
    return f"{value:.6g}" if isinstance(value, float) else value


def record_facts(advice: Advice, moment: datetime, hashes: dict[str, str]) -> d.Facts:
    """What identifies the calculation."""
    scenario, searched = advice.scenario, advice.searched
    return d.Facts(
        (
            d.Fact(say(N_("Report ID")), d.Text(hashes["report_id"])),
            d.Fact(say(N_("Program")), d.Text(f"GPU Advisor {engine.__version__}")),
            d.Fact(say(N_("Catalogue version")), d.Text(advice.catalog_version)),
            d.Fact(say(N_("Catalogue SHA-256")), d.Text(advice.catalog_sha256)),
            d.Fact(say(N_("Scenario SHA-256")), d.Text(scenario_sha256(scenario))),
            d.Fact(say(N_("Result SHA-256")), d.Text(hashes["result_sha256"])),
            d.Fact(say(N_("Prices as of")), d.Amount("date", scenario.as_of)),
            d.Fact(say(N_("Created")), d.Text(moment.isoformat(timespec="minutes"))),
            d.Fact(
                say(N_("Examined")),
                say(
                    N_("{clusters:int} machines, {n:int} ways to run the work, {plans:int} plans"),
                    clusters=searched.clusters,
                    n=searched.candidates,
                    plans=searched.plans,
                ),
            ),
            d.Fact(say(N_("Random draws")), say(N_("none: the calculation is deterministic"))),
            d.Fact(say(N_("Network used")), say(N_("no"))),
        )
    )


def instructions() -> tuple[d.Block, ...]:
    """How to compute it again."""
    return (
        d.Paragraph(
            say(
                N_(
                    "Save the record (JSON) with this report and check it with the first command below: it computes "
                    "everything again and says whether it is identical, or what differs. Without the record, save "
                    "the scenario of appendix A2 as scenario.json and use the second command; the record that it "
                    "writes carries the same result hash, with the same program and catalogue version."
                )
            )
        ),
        d.Code("gpu-advisor verify report.json\ngpu-advisor advise scenario.json --record again.json"),
    )
