"""Table T6: the best plan of each way side by side."""

from __future__ import annotations

from engine.advice.result import Advice, ApiBaseline, Assessment
from engine.messages.mark import N_
from engine.report.comparison import best_of_each_way
from engine.report.document import Column, Join, Label, Paragraph, Table, Text, Value, say
from engine.report.pieces import (
    days_title,
    missing_way,
    money_and_range,
    plan_value,
    price_note,
    seller_value,
    stacked,
    verdict_value,
    way_value,
)

__all__ = ["allowed_api", "cheaper_api", "ways_table"]


def ways_table(advice: Advice, best: Assessment) -> Table:
    """Best plan of each way, with the reason where a way has none."""
    found = best_of_each_way(advice)
    rows: list[tuple[Value, ...]] = []
    strong: list[int] = []
    for way in ("shared", "rent", "buy", *(("owned",) if "owned" in found else ())):
        if way not in found:
            rows.append((Label(f"way.{way}"), missing_way(advice, way)))
            continue
        option = found[way]
        if option is best:
            strong.append(len(rows))
        rows.append(
            (
                way_value(option.plan),
                Join((plan_value(option.plan), seller_value(option.plan)), "\n"),
                verdict_value(option),
                stacked("num", option.calendar_days),
                stacked("money", option.cost.cash_needed),
                stacked("money", option.cost.cost_of_job),
                price_note(option, advice.scenario),
            )
        )
    hosted = allowed_api(advice)
    if hosted is not None:
        rows.append(
            (
                Label("way.api"),
                Text(f"{hosted.provider}: {hosted.model}"),
                Text("–"),
                say(N_("at once")),
                stacked("money", hosted.cost),
                stacked("money", hosted.cost),
                Text("P"),
            )
        )
    return Table(
        "T6",
        say(N_("Best plan of each way; in bold: the one asked for")),
        (
            Column(say(N_("Way")), weight=1.2),
            Column(say(N_("Cards and supplier")), weight=2.1),
            Column(say(N_("Memory")), weight=0.9),
            Column(days_title(advice), "right", 1.3),
            Column(say(N_("Cash needed")), "right", 2.2),
            Column(say(N_("Cost of the job")), "right", 2.2),
            Column(say(N_("Price of")), weight=1.2),
        ),
        tuple(rows),
        tuple(strong),
        note=say(
            N_(
                "Expected value (90 % interval), computed here. P: published price, Q: quotation or fee "
                "stated to you, "
                "⚠: older than 60 days or undated. Cost of the job: what this work alone uses up, the "
                "engineer's hours "
                "included; of a bought machine, its loss in value."
            )
        ),
    )


def allowed_api(advice: Advice) -> ApiBaseline | None:
    """The cheapest hosted API that may be used, where the scenario is one task (several have no single price)."""
    found = [a for a in advice.api if a.allowed]
    if len(advice.scenario.tasks) > 1 or not found:
        return None
    return min(found, key=lambda a: (a.cost.expected, a.provider, a.model))


def cheaper_api(advice: Advice, best: Assessment) -> tuple[Paragraph, ...]:
    """A warning where a hosted API is expected to do the same work for less than the plan that is asked for."""
    hosted = allowed_api(advice)
    if hosted is None or hosted.cost.currency != best.cost.cost_of_job.currency:
        return ()
    if hosted.cost.expected >= best.cost.cost_of_job.expected:
        return ()
    words = say(
        N_("A hosted API is expected to do the same work for less: {name}, {cost}. Say why it will not do, or use it."),
        name=Text(f"{hosted.provider}: {hosted.model}"),
        cost=money_and_range(hosted.cost),
    )
    return (Paragraph(words, "warning"),)
