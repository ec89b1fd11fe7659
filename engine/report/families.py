"""The families of options that every comparison must look at (rule R6), each with its plan or the reason why not."""

from __future__ import annotations

from collections.abc import Callable

from engine.advice.result import Advice, Assessment
from engine.messages.mark import N_
from engine.report import pieces
from engine.report.document import OPEN, Column, Join, Table, Text, Value, say

__all__ = ["option_families"]

#: Makers whose cards for the Chinese market are not Chinese cards.
FOREIGN_MAKERS = ("NVIDIA", "AMD", "Intel")
RESERVED = ("monthly", "reserved-1m", "reserved-1y", "reserved-3y")


def option_families(advice: Advice, best: Assessment) -> Table:
    """Do nothing, shared, API, cloud, reserved, smaller, recommended, larger, domestic."""
    gpus = best.plan.cluster.gpus

    def first(test: Callable[[Assessment], bool]) -> Assessment | None:
        return next((a for a in advice.ranked if test(a)), None)

    def term(a: Assessment) -> str:
        return a.plan.offer.term if a.plan.offer else ""

    size = best.plan.cluster.gpu.usable_bytes or 0
    families: list[tuple[str, Assessment | None]] = [
        (N_("Shared facility"), first(lambda a: a.plan.way == "shared")),
        (N_("Cloud, on demand or spot"), first(lambda a: term(a) in ("on-demand", "spot"))),
        (N_("Cloud, reserved or by the month"), first(lambda a: term(a) in RESERVED)),
        (
            N_("Smaller: fewer cards, or less memory"),
            first(lambda a: a.plan.cluster.gpus < gpus or 0 < (a.plan.cluster.gpu.usable_bytes or 0) < size),
        ),
        (N_("Recommended"), best),
        (
            N_("Larger: more cards, or more memory"),
            first(lambda a: a.plan.cluster.gpus > gpus or (a.plan.cluster.gpu.usable_bytes or 0) > size),
        ),
        (N_("Purchase"), first(lambda a: a.plan.way == "buy")),
        (N_("Chinese accelerators"), first(_domestic)),
    ]
    rows: list[tuple[Value, ...]] = [
        (say(N_("Do nothing")), say(N_("No money is spent; what the project loses: {x}"), x=OPEN))
    ]
    rows.extend(_row(words, found) for words, found in families)
    rows.append(_api(advice))
    return Table(
        "T6b",
        say(N_("Families of options: the best plan of each, or why there is none")),
        (
            Column(say(N_("Option")), weight=1.5),
            Column(say(N_("Plan")), weight=2.6),
            Column(say(N_("Memory")), weight=0.8),
            Column(pieces.days_title(advice), "right", 1),
            Column(say(N_("Cost of the job")), "right", 1.7),
        ),
        tuple(rows),
        (5,),
    )


def _domestic(assessment: Assessment) -> bool:
    """A card of a Chinese maker, not a foreign maker's edition for that market."""
    gpu = assessment.plan.cluster.gpu
    return "CN" in gpu.region_only and gpu.vendor not in FOREIGN_MAKERS


def _row(words: str, found: Assessment | None) -> tuple[Value, ...]:
    if found is None:
        return say(words), say(
            N_("No such plan meets memory, budget, deadline and region; see the reasons in appendix A4.")
        )
    return (
        say(words),
        Join(
            (
                pieces.plan_value(found.plan),
                Join((pieces.way_value(found.plan), pieces.seller_value(found.plan)), " · "),
            ),
            "\n",
        ),
        pieces.verdict_value(found),
        pieces.stacked("num", found.calendar_days),
        pieces.stacked("money", found.cost.cost_of_job),
    )


def _api(advice: Advice) -> tuple[Value, ...]:
    name = say(N_("Hosted API"))
    if not advice.api:
        return name, say(N_("No hosted model with a dated price does the same work."))
    if len(advice.scenario.tasks) > 1:
        return name, say(N_("Prices stand task by task in table T10b; a total needs all tasks."))
    cheapest = min(advice.api, key=lambda a: (a.cost.expected, a.provider, a.model))
    return (
        name,
        Text(f"{cheapest.provider}: {cheapest.model}"),
        Text("–"),
        say(N_("at once")) if cheapest.allowed else say(N_("not allowed")),
        pieces.stacked("money", cheapest.cost),
    )
