"""What the cost formulas answer."""

from __future__ import annotations

from engine.quantity import Frozen, MoneyEstimate, Term

__all__ = ["CostAssessment"]


class CostAssessment(Frozen):
    """Two figures of money, never mixed (design §6): `cash_needed` meets the budget, `cost_of_job` ranks.

    `job_terms` add up to `cost_of_job`, `cash_terms` to `cash_needed`; the unit of a term is its currency.
    """

    cash_needed: MoneyEstimate
    cost_of_job: MoneyEstimate
    risk_adjusted_cost: MoneyEstimate  # cost of the job, failures and risk priced in: what plans are ranked by
    price_age_days: int | None = None  # age of the oldest price used; None = undated
    cash_terms: tuple[Term, ...] = ()
    job_terms: tuple[Term, ...] = ()
    energy_kwh: float = 0.0
