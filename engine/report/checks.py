"""Checks before a report is handed in: what must be mended, what to look at, and where it is mended."""

from __future__ import annotations

import re
from dataclasses import dataclass

from engine.advice.result import Advice, Assessment
from engine.cost.age import STALE_DAYS
from engine.messages.mark import N_
from engine.report.charts.memory import heaviest_task
from engine.report.document import Value, say
from engine.scenario import ReportDetails

__all__ = ["Check", "checks_of"]

#: Shares of the peak rate outside which a claimed speed needs a second look (report specification, checks).
MFU_LOW, MFU_HIGH = 0.15, 0.60
#: Least spare memory at the high end, as a share of what is usable (usual planning range 10 to 30 %).
HEADROOM = 0.10
#: Hours of use a year beyond which little is left for failures and upkeep.
MOST_HOURS_A_YEAR = 8000
QUOTATIONS_WANTED = 3
#: Words that need proof or are removed (rule R18).
_SUPERLATIVES = re.compile(
    r"国际领先|国内领先|世界一流|唯一|最先进|填补空白|"
    r"\bstate[- ]of[- ]the[- ]art\b|\bunique\b|\bbest\b|\bworld[- ]class\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Check:
    """One thing to mend; a report with a `blocking` one stays a draft."""

    blocking: bool
    what: Value
    where: Value


def checks_of(advice: Advice, best: Assessment, details: ReportDetails, open_fields: int) -> tuple[Check, ...]:
    """Everything found, what blocks first."""
    found = [*_statements(details, open_fields), *_prices(advice, best), *_figures(advice, best)]
    return tuple(sorted(found, key=lambda c: not c.blocking))


def _statements(details: ReportDetails, open_fields: int) -> list[Check]:
    page = say(N_("Report page, what only you can state"))
    found: list[Check] = []
    if open_fields:
        found.append(Check(True, say(N_("{n:int} fields are still to be completed"), n=open_fields), page))
    quotations = [line for line in re.split(r"[\n;；]", details.quotations) if line.strip()]
    if len(quotations) < QUOTATIONS_WANTED:
        words = say(N_("{n:int} quotations are stated, three are expected (one a line)"), n=len(quotations))
        found.append(Check(False, words, page))
    for text in details.model_dump().values():
        for hit in _SUPERLATIVES.findall(text):
            words = say(N_("“{word}” needs proof beside it, or is left out"), word=hit)
            found.append(Check(False, words, page))
    return found


def _prices(advice: Advice, best: Assessment) -> list[Check]:
    row = best.plan.offer or best.plan.purchase
    page = say(N_("Catalogue, own price or quotation"))
    if row is None:
        return []
    if row.observed_on is None:
        return [Check(True, say(N_("The price of the plan has no date")), page)]
    age = (advice.scenario.as_of - row.observed_on).days
    if age > STALE_DAYS:
        return [Check(False, say(N_("The price of the plan is {n:int} days old"), n=age), page)]
    return []


def _figures(advice: Advice, best: Assessment) -> list[Check]:
    task_page, use_page = say(N_("Questions, the work")), say(N_("Questions, money"))
    found: list[Check] = []
    memory = heaviest_task(best).memory
    if memory.usable_bytes:
        spare = 1 - memory.driver.high / memory.usable_bytes
        if spare < HEADROOM:
            words = say(
                N_("Only {x:pct} of the memory is spare at the high end; 10 % or more is usual"), x=max(spare, 0)
            )
            found.append(Check(False, words, task_page))
    for task in best.tasks:
        use = task.training.model_flops_utilization.expected if task.training else None
        if use is not None and not MFU_LOW <= use <= MFU_HIGH:
            words = say(N_("A run uses {x:pct} of the peak rate; usual is 15 % to 60 %: measure it"), x=use)
            found.append(Check(False, words, task_page))
    if best.plan.way == "buy":
        hours = advice.scenario.economics.hours_per_month * 12
        if hours > MOST_HOURS_A_YEAR:
            found.append(
                Check(False, say(N_("{h:int} hours of use a year leave no time for upkeep"), h=hours), use_page)
            )
        if best.plan.cluster.gpu.segment == "consumer":
            words = say(
                N_(
                    "The cards are consumer cards: the driver's licence and the maker's warranty may exclude a "
                    "server room"
                )
            )
            found.append(Check(False, words, task_page))
    return found
