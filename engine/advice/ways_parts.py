"""The ways as ledgers: from ranked plans and stated terms to months of cash, for one set of uncertain figures."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from engine.advice.result import ApiBaseline, Assessment
from engine.advice.ways_result import WayCode
from engine.cost.figures import Figures
from engine.cost.ledger import Ledger, Owning, Renting, merged, owning_ledger, renting_ledger
from engine.cost.own import HOST_POWER_FACTOR, LOAD, UNKNOWN_CARD_WATTS
from engine.cost.rent import HOURS_PER_MONTH, TERM_HOURS
from engine.quantity import Number
from engine.scenario import Scenario

__all__ = ["IDLE_SHARE", "Knobs", "Sources", "busy_hours", "ledgers", "load_kw"]

#: Draw of a machine that waits over its draw at work: cards idle at a tenth to a fifth of their limit, the host and its
#: fans at more (planning assumption).
IDLE_SHARE = 0.2
#: Months after which the second half is bought, way "stages".
SECOND_STAGE = 12


@dataclass(frozen=True)
class Knobs:
    """Uncertain figures of one reckoning: factors of the expected value where nothing else is said."""

    price: Number = 1.0
    rent: Number = 1.0
    use: Number = 1.0
    speed: Number = 1.0  # hours that the same work takes
    api: Number = 1.0
    tariff: Number = 0.0  # a kWh
    pue: Number = 1.0
    residual: Number = 0.0  # share of the price at the end
    late: int = 0  # months by which the work begins later than what is bought or committed
    life: float = 1.0


@dataclass(frozen=True)
class Sources:
    """What the ways rest on."""

    scenario: Scenario
    figures: Figures
    months: int
    jobs_per_month: float
    best: Mapping[str, Assessment]  # by term of the offer, "buy" and "owned"
    api: ApiBaseline | None
    residual_at: Callable[[float], float]  # share of the price left at the end, by a factor of the technical life


def busy_hours(assessment: Assessment) -> float:
    """Expected hours of the whole cluster for everything that is asked for."""
    return sum(t.busy_seconds.expected for t in assessment.tasks) / 3600


def load_kw(assessment: Assessment) -> float:
    """Power that the whole machine draws at work, kW at the socket."""
    cluster = assessment.plan.cluster
    watts = cluster.gpu.tdp_watts or float(UNKNOWN_CARD_WATTS.expected)
    return cluster.gpus * watts / 1000 * float(LOAD.expected) * float(HOST_POWER_FACTOR.expected)


def _money(sources: Sources, name: str) -> float:
    value = getattr(sources.scenario.economics.terms, name)
    return float(sources.figures.rates.convert(value, sources.figures.currency).amount) if value else 0.0


def _owning(sources: Sources, assessment: Assessment, knobs: Knobs) -> Owning:
    economics, cost = sources.scenario.economics, assessment.cost
    terms = economics.terms
    price = sum(t.expected for t in cost.cash_terms if t.name != "cost.energy")
    share = max(0.0, 1 - knobs.late / sources.months)  # of the project in which it works at all
    used = busy_hours(assessment) * sources.jobs_per_month * knobs.use * knobs.speed * share
    hours = np.minimum(HOURS_PER_MONTH, used)
    load = load_kw(assessment)
    rated = load / float(LOAD.expected)
    return Owning(
        price=price * knobs.price, load_kw=load, idle_kw=load * IDLE_SHARE, rated_kw=rated, busy_hours=hours,
        tariff=knobs.tariff, pue=knobs.pue, discount=terms.education_discount, duty_rate=terms.import_duty,
        tax_rate=terms.tax_rate, financed=terms.financed_share, loan_rate=terms.loan_rate,
        loan_months=min(terms.loan_months, sources.months), colocation=_money(sources, "colocation_per_kw_month"),
        staff_hours=terms.staff_hours_per_month, wage=float(sources.figures.engineer_hour.bounds.expected),
        life_months=max(1, round(economics.years * 12 * knobs.life)), warranty_months=terms.warranty_months,
        spares_rate=terms.spares_per_year, residual_share=knobs.residual,
    )  # fmt: skip


def _renting(sources: Sources, assessment: Assessment, knobs: Knobs) -> Renting:
    cost, offer = assessment.cost, assessment.plan.offer
    economics, figures = sources.scenario.economics, sources.figures
    terms = {t.name: t for t in cost.cash_terms}
    rent = terms["cost.rent"].values
    cards, hours = float(rent["gpus"]), busy_hours(assessment)
    used = hours * sources.jobs_per_month * knobs.use * knobs.speed
    committed = TERM_HOURS.get(offer.term) if offer else None
    if committed:
        billed: Number = HOURS_PER_MONTH * np.maximum(1, np.ceil(used / HOURS_PER_MONTH - 1e-9))
    else:
        billed = used * (float(rent["billed_hours"]) / hours if hours else 1.0)  # spot: lost work on top
    host = terms.get("cost.host_beside_gpu")
    kept, out = terms.get("cost.storage"), terms.get("cost.egress")
    return Renting(
        cards=cards, card_hour=float(rent["price_per_gpu_hour"]) * float(rent["exchange"]) * knobs.rent,
        billed_hours=billed,
        host_hour=float(host.values["processor_and_memory_per_gpu_hour"]) * knobs.rent if host else 0.0,
        kept_gb=(float(kept.values["stored_gb"]) if kept else 0.0) + economics.terms.snapshot_gb,
        gb_month=float(figures.storage_per_gb_month.bounds.expected),
        out_gb=float(out.values["result_gb"]) * sources.jobs_per_month if out else 0.0,
        out_price=float(figures.egress_per_gb.bounds.expected), support_share=economics.terms.support_share,
        tax_rate=economics.terms.tax_rate,
        term_months=max(1, round(committed / HOURS_PER_MONTH)) if committed else 1,
        top_up=_money(sources, "minimum_top_up"),
    )  # fmt: skip


def _later(ledger: Ledger, months: int) -> Ledger:
    """The same, begun so many months later."""
    lines: dict[str, Any] = {}
    for code, amounts in ledger.lines.items():
        lines[code] = np.concatenate((np.zeros((*amounts.shape[:-1], months)), amounts), axis=-1)
    return Ledger(ledger.months + months, lines)


def _until(ledger: Ledger, months: int, total: int) -> Ledger:
    """The same up to a month, nothing afterwards."""
    return Ledger(total, {c: a * (np.arange(total + 1) <= months) for c, a in ledger.lines.items()})


def _waits(ledger: Ledger, late: int) -> Ledger:
    """Bills by use that begin later; the project ends when it ends."""
    return Ledger(ledger.months, {c: a * (np.arange(ledger.months + 1) > late) for c, a in ledger.lines.items()})


def ledgers(sources: Sources, knobs: Knobs) -> dict[WayCode, Ledger]:
    """The cash of every way that can be had."""
    found: dict[WayCode, Ledger] = {"nothing": Ledger(sources.months, {})}
    best, months = sources.best, sources.months
    for term, way in _TERM_WAYS.items():
        if term in best and way not in found:
            ledger = renting_ledger(_renting(sources, best[term], knobs), months)
            by_use = way in ("on-demand", "spot", "shared")
            found[way] = _waits(ledger, knobs.late) if by_use else ledger
    if "owned" in best:
        found["owned"] = owning_ledger(replace(_owning(sources, best["owned"], knobs), price=0.0), months)
    if sources.api is not None:
        monthly = np.arange(months + 1) > knobs.late
        factor = sources.jobs_per_month * knobs.use * knobs.api * monthly
        lines = {t.name: t.expected * factor for t in sources.api.terms}
        found["api"] = Ledger(months, lines)
    if "buy" in best:
        found |= _bought(sources, knobs)
    return found


def _bought(sources: Sources, knobs: Knobs) -> dict[WayCode, Ledger]:
    own, months = _owning(sources, sources.best["buy"], knobs), sources.months
    found: dict[WayCode, Ledger] = {"buy": owning_ledger(own, months), "lease": _lease(own, months)}
    by_use = sources.best.get("on-demand")
    if by_use is None:
        return found
    rent = _renting(sources, by_use, knobs)
    wait = sources.scenario.economics.terms.wait_months
    if wait < months:
        before = _until(renting_ledger(rent, months), wait, months)
        found["wait"] = merged(before, _later(owning_ledger(own, months - wait), wait))
    cards = sources.best["buy"].plan.cluster.gpus
    if cards < 2:
        return found
    base = min(cards - 1, max(1, round(cards * sources.scenario.economics.terms.base_share))) / cards
    found["hybrid"] = merged(
        owning_ledger(_part(own, base), months),
        renting_ledger(replace(rent, cards=rent.cards * (1 - base)), months),
    )
    if months > SECOND_STAGE:
        first = math.ceil(cards / 2) / cards
        found["stages"] = merged(
            owning_ledger(_part(own, first), months),
            _later(owning_ledger(_part(own, 1 - first), months - SECOND_STAGE), SECOND_STAGE),
            _until(renting_ledger(replace(rent, cards=rent.cards * (1 - first)), months), SECOND_STAGE, months),
        )
    return found


def _part(own: Owning, share: float) -> Owning:
    """A machine with a share of the cards."""
    return replace(
        own, price=own.price * share, load_kw=own.load_kw * share, idle_kw=own.idle_kw * share,
        rated_kw=own.rated_kw * share,
    )  # fmt: skip


def _lease(own: Owning, months: int) -> Ledger:
    """The machine in equal payments over the project, nothing on the first day; it goes back at the end.

    payment = (price - residual / (1 + m)^n) x m / (1 - (1 + m)^-n), m = rate / 12; tax on every payment.
    """
    rate = own.loan_rate / 12
    net = own.price * (1 - own.discount)
    financed = net * (1 - own.residual_share / (1 + rate) ** months)
    share = rate / (1 - (1 + rate) ** -months) if rate else 1 / months
    paid = financed * share * (1 + own.tax_rate) * (np.arange(months + 1) > 0)
    rest = owning_ledger(replace(own, price=0.0, life_months=months), months)
    return merged(Ledger(months, {"own.lease": paid}), rest)


_TERM_WAYS: dict[str, WayCode] = {
    "shared": "shared", "on-demand": "on-demand", "spot": "spot", "reserved-1y": "reserved", "reserved-3y": "reserved",
    "reserved-1m": "reserved", "monthly": "monthly",
}  # fmt: skip
