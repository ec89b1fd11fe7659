"""Full report, third part: cost by item, cash over the months, break-even, what the range comes from, the API."""

from __future__ import annotations

from engine.advice.result import Advice, Assessment
from engine.messages.mark import N_
from engine.quantity import MoneyEstimate
from engine.report import document as d
from engine.report import pieces
from engine.report.document import say
from engine.report.full_ways import uncertainty_blocks, ways_blocks

__all__ = ["cost_sections"]


def cost_sections(advice: Advice, best: Assessment, shown: tuple[Assessment, ...]) -> tuple[d.Section, ...]:
    """Sections 8 and 9."""
    ids = tuple(a.plan.id for a in shown)
    money: list[d.Block] = [
        d.Paragraph(
            say(
                N_(
                    "Two figures of money are kept apart: the cash needed is held against the budget; the "
                    "cost of the job "
                    "ranks the plans. A bought machine counts with its loss in value during the job, a "
                    "rented one with its "
                    "bill; both with the engineer's hours."
                )
            )
        ),
        _terms_table(best),
        d.Figure("F8", "cost", ids),
        d.Figure("F8b", "cash", ids),
    ]
    if advice.ways is not None:
        money.append(d.Figure("F3", "ways"))
    money.extend(ways_blocks(advice))
    if advice.api:
        money.append(_api_table(advice))
    return (
        d.Section(pieces.numbered(8, N_("Cost")), tuple(money)),
        d.Section(pieces.numbered(9, N_("Uncertainty")), (_range_table(best), *uncertainty_blocks(advice))),
    )


def _terms_table(best: Assessment) -> d.Table:
    cost = best.cost
    rows: list[tuple[d.Value, ...]] = []
    strong: list[int] = []
    for words, terms, total in (
        (N_("Cash needed"), cost.cash_terms, cost.cash_needed),
        (N_("Cost of the job"), cost.job_terms, cost.cost_of_job),
    ):
        for term in terms:
            rows.append((d.Label(term.name), *_money_cells(pieces.term_money(term))))
        strong.append(len(rows))
        rows.append((say(words), *_money_cells(total)))
    return d.Table(
        "T10",
        say(N_("Cost of the recommended plan by item")),
        (
            d.Column(say(N_("Item")), weight=2),
            d.Column(say(N_("Low")), "right", 1),
            d.Column(say(N_("Expected")), "right", 1),
            d.Column(say(N_("High")), "right", 1),
        ),
        tuple(rows),
        tuple(strong),
    )


def _money_cells(cost: MoneyEstimate) -> tuple[d.Value, d.Value, d.Value]:
    def one(amount: object) -> d.Value:
        return d.Amount(
            "money",
            MoneyEstimate.model_validate(
                {"low": amount, "expected": amount, "high": amount, "currency": cost.currency}
            ),
        )

    return one(cost.low), one(cost.expected), one(cost.high)


def _api_table(advice: Advice) -> d.Table:
    rows: list[tuple[d.Value, ...]] = []
    for api in advice.api:
        allowed = say(N_("yes")) if api.allowed else say(N_("no"))
        task = pieces.task_name(pieces.task_of(advice.scenario, api.task_id))
        rows.append(
            (task, d.Text(f"{api.provider}: {api.model}"), pieces.stacked("money", api.cost), allowed, api.finding)
        )
    return d.Table(
        "T10b",
        say(N_("The same work by a hosted API")),
        (
            d.Column(say(N_("Task")), weight=1),
            d.Column(say(N_("Provider and model")), weight=1.3),
            d.Column(say(N_("Cost")), "right", 1.2),
            d.Column(say(N_("Allowed")), weight=0.6),
            d.Column(say(N_("Remark")), weight=2.6),
        ),
        tuple(rows),
    )


def _range_table(best: Assessment) -> d.Table:
    """Which items the width of the cost comes from, widest first."""
    terms = sorted(best.cost.job_terms, key=lambda t: -(t.high - t.low))
    width = sum(t.high - t.low for t in terms) or 1.0
    rows = tuple(
        (
            d.Label(t.name),
            *_money_cells(pieces.term_money(t)),
            d.Amount("pct", (t.high - t.low) / width),
            d.Source(t.source),
        )
        for t in terms
    )
    return d.Table(
        "T12",
        say(N_("What the range of the cost of the job comes from, widest item first")),
        (
            d.Column(say(N_("Item")), weight=1.3),
            d.Column(say(N_("Low")), "right", 0.9),
            d.Column(say(N_("Base")), "right", 0.9),
            d.Column(say(N_("High")), "right", 0.9),
            d.Column(say(N_("Share of the range")), "right", 0.8),
            d.Column(say(N_("Source")), weight=2.2),
        ),
        rows,
    )
