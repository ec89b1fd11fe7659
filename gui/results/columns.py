"""Columns of the comparison: how a ranked plan is shown, by which value it sorts. No Qt in here, no arithmetic."""

from __future__ import annotations

from dataclasses import dataclass

from engine.advice.result import Advice, Assessment, PickRole
from engine.i18n import Language
from engine.messages import N_
from gui.results import words
from gui.tables import Column

__all__ = ["COLUMNS", "RankedPlan", "ranked_plans"]


@dataclass(frozen=True)
class RankedPlan:
    """A ranked assessment with its place and the roles that it was picked for."""

    place: int
    assessment: Assessment
    roles: tuple[PickRole, ...] = ()


def ranked_plans(advice: Advice) -> tuple[RankedPlan, ...]:
    """The rows of the comparison, in the order of the advice."""
    return tuple(
        RankedPlan(
            place=number + 1,
            assessment=assessment,
            roles=tuple(p.role for p in advice.picks if p.index == number),
        )
        for number, assessment in enumerate(advice.ranked)
    )


def _price_age(row: RankedPlan, language: Language) -> str:
    age = row.assessment.cost.price_age_days
    if row.assessment.plan.way == "owned":
        return language.gettext("no price needed")
    return language.gettext("undated") if age is None else language.fill("{x:days}", x=age)


def _tokens_per_second(row: RankedPlan) -> float | None:
    task = words.tightest(row.assessment)
    if task.training is not None:
        return task.training.tokens_per_second_per_gpu.expected
    return task.inference.tokens_per_second_per_gpu.expected if task.inference is not None else None


def _shown_rate(row: RankedPlan, language: Language) -> str:
    rate = _tokens_per_second(row)
    return "–" if rate is None else language.number(rate)


COLUMNS: tuple[Column[RankedPlan], ...] = (
    Column(
        "place",
        N_("Rank"),
        shown=lambda r, lang: lang.number(r.place),
        value=lambda r: r.place,
        numeric=True,
        hint=N_("Place by the cost of the job with risk priced in."),
    ),
    Column(
        "plan",
        N_("GPUs"),
        shown=lambda r, lang: words.plan_name(r.assessment.plan, lang),
        value=lambda r: f"{r.assessment.plan.cluster.gpu.name} {r.assessment.plan.cluster.gpus:05d}",
        width=24,
    ),
    Column(
        "way",
        N_("Way"),
        shown=lambda r, lang: words.way_name(r.assessment.plan, lang),
        value=lambda r: r.assessment.plan.way,
    ),
    Column(
        "source",
        N_("From"),
        shown=lambda r, lang: words.plan_source(r.assessment.plan, lang),
        value=lambda r: _source_key(r),
        width=22,
    ),
    Column(
        "verdict",
        N_("Memory verdict"),
        shown=lambda r, lang: words.verdict_name(words.tightest(r.assessment).memory.verdict, lang),
        value=lambda r: words.verdict_rank(words.tightest(r.assessment).memory.verdict),
    ),
    Column(
        "cost",
        N_("Cost of the job"),
        shown=lambda r, lang: lang.money(r.assessment.cost.cost_of_job),
        value=lambda r: float(r.assessment.cost.cost_of_job.expected),
        numeric=True,
        hint=N_(
            "What this job uses up: rent, or loss in value of what is bought; electricity; and your own hours of "
            "setting up, though no one bills them. Plans are compared by it."
        ),
    ),
    Column(
        "cash",
        N_("Cash needed"),
        shown=lambda r, lang: lang.money(r.assessment.cost.cash_needed),
        value=lambda r: float(r.assessment.cost.cash_needed.expected),
        numeric=True,
        hint=N_(
            "What has to be paid out: the bill of the provider, or the whole price of what is bought. Your own hours "
            "are not cash. This is held against the budget."
        ),
    ),
    Column(
        "time",
        N_("Done after"),
        shown=lambda r, lang: words.days(r.assessment.calendar_days, lang),
        value=lambda r: r.assessment.calendar_days.expected,
        numeric=True,
        hint=N_("Calendar time until everything asked for is done, queue and delivery included."),
    ),
    Column(
        "spare",
        N_("Distance to the limit"),
        shown=lambda r, lang: words.distance(words.tightest(r.assessment).memory, lang),
        value=lambda r: _missing(r),
        numeric=True,
    ),
    Column(
        "peak",
        N_("Peak memory per GPU"),
        shown=lambda r, lang: lang.gib(words.tightest(r.assessment).memory.driver.expected),
        value=lambda r: words.tightest(r.assessment).memory.driver.expected,
        numeric=True,
        hint=N_("Expected peak as nvidia-smi would show it, of the task that needs most."),
    ),
    Column(
        "cost_range",
        N_("Cost, low to high"),
        shown=lambda r, lang: lang.money_range(r.assessment.cost.cost_of_job),
        value=lambda r: float(r.assessment.cost.cost_of_job.high),
        numeric=True,
        hint=N_("90 % interval. Below the table stands what makes it wide for the plan that you choose."),
    ),
    Column(
        "time_range",
        N_("Time, low to high"),
        shown=lambda r, lang: words.days_range(r.assessment.calendar_days, lang),
        value=lambda r: r.assessment.calendar_days.high,
        numeric=True,
    ),
    Column(
        "rate",
        N_("Tokens/s per GPU"),
        shown=_shown_rate,
        value=_tokens_per_second,
        numeric=True,
    ),
    Column(
        "risk",
        N_("Risk"),
        shown=lambda r, lang: lang.percent(r.assessment.risk),
        value=lambda r: r.assessment.risk,
        numeric=True,
        hint=N_("Sum of the named risks, as a surcharge on the cost; see Details."),
    ),
    Column(
        "ranked_by",
        N_("Cost with risk"),
        shown=lambda r, lang: lang.money(r.assessment.cost.risk_adjusted_cost),
        value=lambda r: float(r.assessment.cost.risk_adjusted_cost.expected),
        numeric=True,
        hint=N_("Cost of the job with failures and risk priced in: what plans are ranked by."),
    ),
    Column(
        "age",
        N_("Age of the price"),
        shown=_price_age,
        value=lambda r: r.assessment.cost.price_age_days,
        numeric=True,
    ),
    Column(
        "role",
        N_("Picked as"),
        shown=lambda r, lang: ", ".join(words.role_name(role, lang) for role in r.roles),
        value=lambda r: " ".join(r.roles) or None,
    ),
)


def _source_key(row: RankedPlan) -> str:
    plan = row.assessment.plan
    return plan.offer.provider if plan.offer else plan.purchase.seller if plan.purchase else ""


def _missing(row: RankedPlan) -> float | None:
    memory = words.tightest(row.assessment).memory
    return None if memory.usable_bytes is None else memory.missing_bytes
