"""Ways against each other on the same work: best plan of each way, cumulative cash, break-even.

Cash only, no amortised purchase price, so that the price of a machine is never counted twice:

    months until buying has paid = price of the machine / (monthly bill for the same work - monthly running cost)

The same work: the purchase does `hours_per_month` of work (scenario); an option that is slower or faster at the job
of the scenario needs hours in proportion to its own time for that job.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from engine.advice.result import Advice, Assessment
from engine.cost.payback import months_to_pay, present_value_of_months, utilization_to_pay
from engine.cost.rent import HOURS_PER_MONTH, TERM_HOURS
from engine.quantity import Bounds, Estimate, MoneyEstimate, Term
from engine.scenario import InferenceWorkload

__all__ = [
    "BreakEven",
    "CashPath",
    "best_of_each_way",
    "break_evens",
    "cash_path",
    "cash_paths",
    "hours_per_month",
    "months_to_pay",
    "recommended",
    "serving_only",
    "whole_life",
]

WAYS = ("shared", "rent", "buy", "owned")
RUNNING_TERMS = ("cost.energy",)
ONE_OFF_TERMS = ("cost.engineering",)


@dataclass(frozen=True, slots=True)
class CashPath:
    """Money that leaves the account under one option: at once, and in every month of the reference work."""

    assessment: Assessment
    upfront: Bounds
    monthly: Bounds
    hours_per_month: float  # busy hours of this option for a month's reference work
    currency: str

    def after(self, months: float) -> Estimate:
        """Cumulative cash after so many months."""
        total = self.upfront + self.monthly * months
        return total.at()


@dataclass(frozen=True, slots=True)
class BreakEven:
    """Where buying and the other way cost the same. `None`: not reached, however much the cards are used."""

    buy: CashPath
    other: CashPath
    months: tuple[float | None, float | None, float | None]  # low, expected, high
    utilization: tuple[float | None, float | None, float | None]  # of all hours of the machine's life
    life_months: float

    @property
    def pays(self) -> bool:
        """Whether buying is expected to pay within the machine's life at the stated use."""
        return self.months[1] is not None and self.months[1] <= self.life_months


def recommended(advice: Advice) -> Assessment | None:
    """The plan that the report recommends: the balanced pick, else the first pick, else the first ranked."""
    by_role = {p.role.value: p for p in advice.picks}
    for role in ("balanced", "cheapest", "least_risk"):
        if role in by_role:
            return advice.ranked[by_role[role].index]
    return advice.ranked[0] if advice.ranked else None


def best_of_each_way(advice: Advice) -> dict[str, Assessment]:
    """For each way the plan that ranks first; the recommended plan stands for its own way."""
    found: dict[str, Assessment] = {}
    first = recommended(advice)
    if first is not None:
        found[first.plan.way] = first
    for assessment in advice.ranked:
        found.setdefault(assessment.plan.way, assessment)
    return {way: found[way] for way in WAYS if way in found}


def cash_path(assessment: Assessment, jobs_per_month: float) -> CashPath:
    """Cash of one option when the scenario's whole job is done `jobs_per_month` times a month.

    Bought and owned: the machine at once, then energy. Rented and shared: the bill of each job; with a term that
    commits to whole months or years, the committed months whether used or not. The engineer's hours are left out:
    they are the same kind of work under every way and no cash of this budget.
    """
    cost = assessment.cost
    hours = busy_hours(assessment)
    upfront, per_job = Bounds.exact(0.0), Bounds.exact(0.0)
    for term in cost.cash_terms:
        amount = _bounds(term)
        if assessment.plan.way in ("buy", "owned") and term.name not in RUNNING_TERMS:
            upfront = upfront + amount
        elif term.name not in ONE_OFF_TERMS:
            per_job = per_job + amount
    monthly = per_job * jobs_per_month
    committed = TERM_HOURS.get(assessment.plan.offer.term) if assessment.plan.offer else None
    if committed:
        monthly = _committed_monthly(cost.cash_terms, hours.expected * jobs_per_month, monthly)
    return CashPath(assessment, upfront, monthly, hours.expected * jobs_per_month, cost.cash_needed.currency)


def _committed_monthly(terms: tuple[Term, ...], hours_per_month: float, otherwise: Bounds) -> Bounds:
    """Bill of a month under a term that is paid by whole months: as many sets of cards as the hours need."""
    for term in terms:
        billed = term.values.get("billed_hours")
        if term.name == "cost.rent" and isinstance(billed, int | float) and billed > 0:
            sets = max(1, math.ceil(hours_per_month / HOURS_PER_MONTH))
            return _bounds(term) * (HOURS_PER_MONTH * sets / billed)
    return otherwise


def cash_paths(advice: Advice) -> tuple[CashPath, ...]:
    """Cash of the best plan of each way for the same monthly work; empty where nothing is ranked."""
    best = best_of_each_way(advice)
    reference = best.get("buy") or recommended(advice)
    if reference is None:
        return ()
    jobs = hours_per_month(advice, reference) / max(busy_hours(reference).expected, 1e-9)
    return tuple(cash_path(a, jobs) for a in best.values())


def hours_per_month(advice: Advice, assessment: Assessment) -> float:
    """Busy hours a month of the reference work: as stated, or what the services of the scenario take if that is more.

    A service is up day and night for its months, however few hours of use were stated for bought cards.
    """
    months = {t.id: t.workload.months for t in advice.scenario.tasks if isinstance(t.workload, InferenceWorkload)}
    up = sum(t.busy_seconds.expected / 3600 / months[t.task_id] for t in assessment.tasks if t.task_id in months)
    return max(advice.scenario.economics.hours_per_month, up)


def break_evens(advice: Advice) -> tuple[BreakEven, ...]:
    """Buying against each other way that is billed by use, renting first; empty where nothing is to compare."""
    paths = {p.assessment.plan.way: p for p in cash_paths(advice)}
    buy = paths.get("buy")
    if buy is None:
        return ()
    return tuple(_break_even(advice, buy, paths[way]) for way in ("rent", "shared") if way in paths)


def _break_even(advice: Advice, buy: CashPath, other: CashPath) -> BreakEven:
    pairs = (
        (buy.upfront.low, float(other.monthly.high) - float(buy.monthly.low)),
        (buy.upfront.expected, float(other.monthly.expected) - float(buy.monthly.expected)),
        (buy.upfront.high, float(other.monthly.low) - float(buy.monthly.high)),
    )
    months = [months_to_pay(float(price), saved) for price, saved in pairs]
    life = advice.scenario.economics.years * 12
    stated = hours_per_month(advice, buy.assessment) / HOURS_PER_MONTH
    used = [utilization_to_pay(m, life, stated) for m in months]
    return BreakEven(buy, other, (months[0], months[1], months[2]), (used[0], used[1], used[2]), life)


def whole_life(advice: Advice, assessment: Assessment) -> tuple[MoneyEstimate, MoneyEstimate, float]:
    """Cash over the stated years of use: undiscounted, net present value, and the years.

    A rented or shared plan is paid for the job only, so its whole life is the job.
    """
    from decimal import Decimal

    economics = advice.scenario.economics
    if assessment.plan.way in ("rent", "shared"):
        return assessment.cost.cash_needed, assessment.cost.cash_needed, 0.0
    path = cash_path(assessment, hours_per_month(advice, assessment) / max(busy_hours(assessment).expected, 1e-9))
    months = economics.years * 12
    total = path.upfront + path.monthly * months
    present = path.upfront + path.monthly * present_value_of_months(months, economics.discount_rate)

    def money(bounds: Bounds) -> MoneyEstimate:
        low, expected, high = (
            Decimal(repr(float(v))).quantize(Decimal("0.01")) for v in (bounds.low, bounds.expected, bounds.high)
        )
        return MoneyEstimate(low=low, expected=expected, high=high, currency=path.currency)

    return money(total), money(present), economics.years


def serving_only(advice: Advice) -> bool:
    """Whether nothing is trained: days then run until the service is ready, not until the work is done."""
    return all(isinstance(t.workload, InferenceWorkload) for t in advice.scenario.tasks)


def busy_hours(assessment: Assessment) -> Estimate:
    """Hours of the whole cluster for all tasks of the scenario."""
    return Estimate(
        low=sum(t.busy_seconds.low for t in assessment.tasks) / 3600,
        expected=sum(t.busy_seconds.expected for t in assessment.tasks) / 3600,
        high=sum(t.busy_seconds.high for t in assessment.tasks) / 3600,
    )


def _bounds(term: Term) -> Bounds:
    return Bounds(term.low, term.expected, term.high)
