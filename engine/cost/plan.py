"""`price_plan`: both figures of money for a plan that fits, by terms.

`cash_needed` is held against the budget: the bill (rent, shared), or the machine and the job's energy (buy).
`cost_of_job` ranks: the bill; or the machine's loss in value for this job; energy; and the engineer's hours of
setting it up. Salaries are not cash of the budget, so the engineer's hours stand in the cost of the job only.
"""

from __future__ import annotations

from decimal import ROUND_HALF_UP, Decimal

from engine.cost.age import age_days, price_spread
from engine.cost.figures import ASSUMPTION, Figures, figures_of
from engine.cost.own import (
    HOST_POWER_FACTOR,
    LOAD,
    UNKNOWN_CARD_WATTS,
    energy_kwh,
    life_terms,
    machine_terms,
    residual_share,
)
from engine.cost.rent import GPU_ONLY_CARD_GB, rent_terms
from engine.cost.result import CostAssessment
from engine.hardware.model import CatalogSnapshot, Cluster
from engine.layout.plan import Plan
from engine.quantity import Bounds, Estimate, MoneyEstimate, TermBlock
from engine.scenario import Scenario

__all__ = ["price_plan", "setup_hours"]

CENT = Decimal("0.01")
DAYS_PER_MONTH = 365 / 12


def setup_hours(cluster: Cluster) -> Bounds:
    """Engineer's hours to get a job running: one card, one node, several nodes.

    Planning assumption (no published figure): an afternoon to two days for one card, up to two weeks for a fabric.
    """
    if cluster.nodes > 1:
        return Bounds(16.0, 40.0, 80.0)
    return Bounds(4.0, 8.0, 24.0) if cluster.gpus > 1 else Bounds(2.0, 4.0, 12.0)


def price_plan(
    plan: Plan,
    busy_hours: Estimate,
    calendar_days: Estimate,
    scenario: Scenario,
    catalog: CatalogSnapshot,
    *,
    risk: float,
    storage_gb: float = 0.0,
    result_gb: float | None = None,
    figures: Figures | None = None,
) -> CostAssessment:
    """Cost of a plan that fits. `busy_hours` are hours of the whole cluster for everything that is asked for.

    `result_gb` is what is moved out of a rented machine (None: all that is stored). `risk` raises the
    cost of the job to the figure that plans are ranked by; `figures` may be passed in when many plans of one scenario
    are priced. InputError where an exchange rate is missing.
    """
    figures = figures or figures_of(scenario, catalog)
    hours = Bounds(busy_hours.low, busy_hours.expected, busy_hours.high)
    kwh = energy_kwh(plan.cluster, hours, figures)
    age: int | None = None
    match plan.way:
        case "rent" | "shared" if plan.offer is not None:
            age = age_days(plan.offer.observed_on, scenario.as_of)
            spread = price_spread(age, own_quotation=plan.offer.origin != "catalog")
            job_terms = rent_terms(
                plan.offer,
                gpus=plan.cluster.gpus,
                nodes=plan.cluster.nodes,
                hours=hours,
                spread=spread,
                storage_gb=storage_gb,
                figures=figures,
                result_gb=result_gb,
                card_gb=plan.cluster.gpu.memory_gb or GPU_ONLY_CARD_GB,
            )
            cash_terms = job_terms
        case "buy" if plan.purchase is not None:
            age = age_days(plan.purchase.observed_on, scenario.as_of)
            spread = price_spread(age, own_quotation=plan.purchase.origin != "catalog")
            machine = machine_terms(
                plan.purchase, plan.cluster, spread, figures, host_available=scenario.constraints.host_available
            )
            energy = _energy_term(plan.cluster, hours, kwh, figures)
            wear = life_terms(
                machine,
                residual_share(catalog, plan.cluster.gpu, scenario.economics.years),
                hours=hours,
                calendar_months=calendar_days.expected / DAYS_PER_MONTH,
                hours_per_month=scenario.economics.hours_per_month,
                years=scenario.economics.years,
                currency=figures.currency,
            )
            cash_terms, job_terms = (*machine.terms, energy), (wear, energy)
        case "owned":
            job_terms = cash_terms = (_energy_term(plan.cluster, hours, kwh, figures),)
        case _:
            raise ValueError(f"plan {plan.id} has no price")
    engineering = _engineering_term(plan.cluster, figures)
    job_terms = (*job_terms, engineering)
    job = _total(job_terms, figures.currency)
    return CostAssessment(
        cash_needed=_total(cash_terms, figures.currency),
        cost_of_job=job,
        risk_adjusted_cost=_scaled(job, 1 + risk),
        price_age_days=age,
        cash_terms=tuple(t.at() for t in cash_terms),
        job_terms=tuple(t.at() for t in job_terms),
        energy_kwh=float(kwh.expected),
    )


def _energy_term(cluster: Cluster, hours: Bounds, kwh: Bounds, figures: Figures) -> TermBlock:
    price, watts = figures.electricity_per_kwh, cluster.gpu.tdp_watts
    return TermBlock(
        "cost.energy",
        Bounds(kwh.low * price.bounds.low, kwh.expected * price.bounds.expected, kwh.high * price.bounds.high),
        "gpus * card_watts / 1000 * load * host_power * hours * pue * price_per_kwh",
        {
            "gpus": cluster.gpus,
            "card_watts": watts or float(UNKNOWN_CARD_WATTS.expected),
            "load": LOAD.expected,
            "host_power": HOST_POWER_FACTOR.expected,
            "hours": hours.expected,
            "pue": figures.pue.bounds.expected,
            "price_per_kwh": price.bounds.expected,
            "kwh": kwh.expected,
        },
        "; ".join((price.source, figures.pue.source) if watts else (price.source, figures.pue.source, ASSUMPTION)),
        figures.currency,
    )


def _engineering_term(cluster: Cluster, figures: Figures) -> TermBlock:
    hours, wage = setup_hours(cluster), figures.engineer_hour
    return TermBlock(
        "cost.engineering",
        Bounds(hours.low * wage.bounds.low, hours.expected * wage.bounds.expected, hours.high * wage.bounds.high),
        "setup_hours * engineer_hour",
        {"setup_hours": hours.expected, "engineer_hour": wage.bounds.expected},
        wage.source if wage.assumed else f"{wage.source}; {ASSUMPTION}",  # the hours are ours
        figures.currency,
    )


def _cents(value: float) -> Decimal:
    return Decimal(repr(float(value))).quantize(CENT, ROUND_HALF_UP)


def _total(terms: tuple[TermBlock, ...], currency: str) -> MoneyEstimate:
    """Sum of the terms, each rounded to the cent first, so that what is printed adds up."""
    low = sum((_cents(float(t.amount.low)) for t in terms), Decimal(0))
    expected = sum((_cents(float(t.amount.expected)) for t in terms), Decimal(0))
    high = sum((_cents(float(t.amount.high)) for t in terms), Decimal(0))
    return MoneyEstimate(low=min(low, expected), expected=expected, high=max(high, expected), currency=currency)


def _scaled(estimate: MoneyEstimate, factor: float) -> MoneyEstimate:
    exact = Decimal(repr(float(factor)))
    return MoneyEstimate(
        low=(estimate.low * exact).quantize(CENT),
        expected=(estimate.expected * exact).quantize(CENT),
        high=(estimate.high * exact).quantize(CENT),
        currency=estimate.currency,
    )
