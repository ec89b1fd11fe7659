"""The risks of a plan that its own numbers show, most serious first, each with a measure."""

from __future__ import annotations

from dataclasses import dataclass

from engine.advice.result import Advice, Assessment
from engine.cost.age import STALE_DAYS
from engine.memory.result import Verdict
from engine.messages.mark import N_
from engine.report.charts.memory import heaviest_task
from engine.report.comparison import break_evens, hours_per_month, serving_only
from engine.report.document import Value, say

__all__ = ["RiskLine", "risks_of", "top_risks"]


@dataclass(frozen=True, slots=True)
class RiskLine:
    """What may go wrong and what is done about it; a higher weight stands first."""

    weight: float
    what: Value
    measure: Value


def top_risks(advice: Advice, assessment: Assessment, count: int) -> tuple[RiskLine, ...]:
    """The `count` most serious risks."""
    return risks_of(advice, assessment)[:count]


def risks_of(advice: Advice, assessment: Assessment) -> tuple[RiskLine, ...]:
    """All risks that the numbers of this plan show; there are always at least three."""
    found = [*_memory(assessment), *_time(advice, assessment), *_money(advice, assessment), *_way(advice, assessment)]
    return tuple(sorted(found, key=lambda r: -r.weight))


def _memory(assessment: Assessment) -> list[RiskLine]:
    memory = heaviest_task(assessment).memory
    if memory.verdict is Verdict.FITS_TIGHTLY:
        return [
            RiskLine(
                0.9,
                say(
                    N_("Memory fits tightly: at the high end {high:gib} of {usable:gib}"),
                    high=memory.driver.high,
                    usable=memory.usable_bytes or 0,
                ),
                say(N_("trial run with the longest sequences; else a smaller micro-batch or the next larger card")),
            )
        ]
    width = memory.driver.relative_width
    weight = 0.55 if memory.fallback else 0.2
    return [
        RiskLine(
            weight,
            say(N_("Memory is computed, not measured (interval {width:pct} wide)"), width=width),
            say(N_("trial run that reads the peak memory before the money is spent")),
        )
    ]


def _time(advice: Advice, assessment: Assessment) -> list[RiskLine]:
    if serving_only(advice):
        return [
            RiskLine(
                0.3,
                say(N_("More users at once, or longer prompts, than stated: answers come slower")),
                say(N_("load test at the stated number of users before the service opens")),
            )
        ]
    days, deadline = assessment.calendar_days, advice.scenario.constraints.deadline_days
    if deadline and days.high > deadline:
        return [
            RiskLine(
                0.85,
                say(
                    N_("The deadline of {deadline:num} days may be missed: up to {high:num} days"),
                    deadline=deadline,
                    high=days.high,
                ),
                say(N_("measure one hour of training early; more cards or fewer trial runs if it is slow")),
            )
        ]
    return [
        RiskLine(
            0.3,
            say(
                N_("The work takes longer than expected: up to {high:num} days instead of {expected:num}"),
                high=days.high,
                expected=days.expected,
            ),
            say(N_("measure the speed in a trial run and correct the plan")),
        )
    ]


def _money(advice: Advice, assessment: Assessment) -> list[RiskLine]:
    age = assessment.cost.price_age_days
    budget, cash = advice.scenario.constraints.budget, assessment.cost.cash_needed
    lines: list[RiskLine] = []
    if budget is not None and budget.currency == cash.currency and cash.high > budget.amount:
        lines.append(
            RiskLine(
                0.8,
                say(N_("The budget may not be enough: up to {high:money}"), high=f"{cash.high} {cash.currency}"),
                say(N_("binding quotation before approval; reserve for the difference")),
            )
        )
    if assessment.plan.way == "owned":
        return lines
    if age is None:
        what = say(N_("The price is undated and may have changed"))
    else:
        what = say(N_("The price has moved since it was seen ({age:int} days ago)"), age=age)
    old = age is None or age > STALE_DAYS
    if assessment.plan.way == "shared":
        measure = say(N_("have the shared facility confirm its fee in writing"))
    else:
        measure = say(N_("three dated quotations on the same configuration, with their validity"))
    lines.append(RiskLine(0.75 if old else 0.4, what, measure))
    return lines


def _way(advice: Advice, assessment: Assessment) -> list[RiskLine]:
    plan = assessment.plan
    match plan.way:
        case "buy":
            points = break_evens(advice)
            weight = 0.7 if points and not points[0].pays else 0.45
            return [
                RiskLine(
                    weight,
                    say(
                        N_("The machine is used less than the planned {hours:num} hours a month"),
                        hours=hours_per_month(advice, assessment),
                    ),
                    say(N_("open it to other groups; review the use after 12 months")),
                )
            ]
        case "rent" if plan.offer is not None and plan.offer.term == "spot":
            return [
                RiskLine(
                    0.8,
                    say(N_("The provider may take the cards away at any time (spot)")),
                    say(N_("checkpoint every hour at least, and test the restart first")),
                )
            ]
        case "rent":
            return [
                RiskLine(
                    0.35,
                    say(N_("The provider has no free cards when they are needed, or leaves the market")),
                    say(N_("a second supplier on the list; keep data and checkpoints in a place of your own")),
                )
            ]
        case "shared":
            return [
                RiskLine(
                    0.5,
                    say(
                        N_("The queue of the shared cluster is longer than the stated {days:num} days"),
                        days=plan.offer.queue_days if plan.offer else 0.0,
                    ),
                    say(N_("ask for a reservation; rent for the part that is late")),
                )
            ]
        case _:
            return [
                RiskLine(
                    0.35,
                    say(N_("The cards are needed by others at the same time")),
                    say(N_("agree on the hours with those who run the machine")),
                )
            ]
