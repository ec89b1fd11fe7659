"""Cash of one way of doing a month's work again and again: named lines over the months, each rounded to the cent.

Month 0 is the day of signing; months 1 to n are paid at their end. Every figure may be a number or an array of shape
(draws, 1): the same lines serve one reckoning and a thousand draws.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.cost.rent import HOURS_PER_MONTH
from engine.quantity import Number

__all__ = ["ApiUse", "Ledger", "Owning", "Renting", "api_ledger", "merged", "owning_ledger", "renting_ledger"]

Amounts = NDArray[Any]  # shape (months + 1,) or (draws, months + 1)


@dataclass(frozen=True)
class Ledger:
    """Lines of cash by code; what comes in (a loan, the residual value) is negative."""

    months: int
    lines: Mapping[str, Amounts]

    @property
    def by_month(self) -> Amounts:
        """Cash of each month."""
        return np.asarray(sum(self.lines.values(), np.zeros(self.months + 1)))

    @property
    def total(self) -> Number:
        """All cash, undiscounted."""
        return self.by_month.sum(axis=-1)

    @property
    def cumulative(self) -> Amounts:
        """Cash so far at the end of each month."""
        return self.by_month.cumsum(axis=-1)

    def present_value(self, rate: float) -> Number:
        """Worth today at a yearly rate: each month's cash / (1 + rate)^(month / 12)."""
        return (self.by_month / (1 + rate) ** (np.arange(self.months + 1) / 12)).sum(axis=-1)

    def years(self, code: str = "") -> tuple[float, ...]:
        """Cash of the start and of each year, of one line or of all; scalars only."""
        amounts = self.lines[code] if code else self.by_month
        ends = range(1, self.months + 1, 12)
        return (float(amounts[0]), *(float(amounts[m : m + 12].sum()) for m in ends))


@dataclass(frozen=True)
class Owning:
    """A machine of one's own. Money in one currency; shares and rates are fractions."""

    price: Number  # of all that is bought, without tax
    load_kw: Number  # drawn at the socket while it works
    idle_kw: Number
    rated_kw: Number  # what the space must provide
    busy_hours: Number  # a month
    tariff: Number  # a kWh
    pue: Number = 1.0
    discount: float = 0.0  # education or negotiated
    duty_rate: float = 0.0
    tax_rate: float = 0.0
    financed: float = 0.0  # share of the first machine that is lent, repaid in equal months
    loan_rate: float = 0.0  # a year, charged monthly
    loan_months: int = 1
    colocation: Number = 0.0  # a kW and month
    staff_hours: float = 0.0  # a month
    wage: Number = 0.0
    life_months: int = 48  # technical life: then it is bought again
    warranty_months: int = 36
    spares_rate: Number = 0.0  # of the price a year, once the warranty is over
    residual_share: Number = 0.0  # of the price at the end of the project


@dataclass(frozen=True)
class Renting:
    """Cards by the hour. `billed_hours` a month are those of each card after rounding to what is sold."""

    cards: Number
    card_hour: Number
    billed_hours: Number
    host_hour: Number = 0.0  # processor and memory beside a card priced alone
    kept_gb: float = 0.0  # data, checkpoints and snapshots: billed while nothing runs
    gb_month: Number = 0.0
    out_gb: float = 0.0  # moved out a month
    out_price: Number = 0.0
    support_share: float = 0.0  # support plan, of the rent
    support_least: float = 0.0
    tax_rate: float = 0.0
    term_months: int = 1  # what is begun is paid to its end
    top_up: float = 0.0  # smallest payment in advance; what is left at the end is lost


@dataclass(frozen=True)
class ApiUse:
    """A month of a hosted model."""

    requests: Number
    prompt_tokens: float
    answer_tokens: float
    input_price: Number  # a million tokens
    output_price: Number
    hosting_hours: float = 0.0
    hosting_price: Number = 0.0
    tax_rate: float = 0.0


def _cents(amounts: Number) -> Amounts:
    """Rounded to the cent, halves away from zero."""
    values = np.asarray(amounts, dtype=float)
    return np.sign(values) * np.floor(np.abs(values) * 100 + 0.5) / 100


def _monthly(amount: Number, months: int) -> Amounts:
    """The same in every month, nothing on the day of signing."""
    return _cents(amount) * (np.arange(months + 1) > 0)


def owning_ledger(own: Owning, months: int) -> Ledger:
    """Cash of a machine over the project; a project longer than its life buys again."""
    month = np.arange(months + 1)
    net = own.price * (1 - own.discount)
    machine = _cents(net) * ((month % own.life_months == 0) & (month < months))
    duty = _cents(machine * own.duty_rate)
    tax = _cents((machine + duty) * own.tax_rate)
    borrowed = _cents((machine + duty + tax) * own.financed) * (month == 0)
    rate, count = own.loan_rate / 12, own.loan_months
    share = rate / (1 - (1 + rate) ** -count) if rate else 1 / count
    repaid = _cents(borrowed[..., :1] * share) * ((month > 0) & (month <= count))
    kwh = (own.busy_hours * own.load_kw + (HOURS_PER_MONTH - own.busy_hours) * own.idle_kw) * own.pue
    aged = (month > 0) & ((month - 1) % own.life_months + 1 > own.warranty_months)
    lines = {
        "own.machine": machine,
        "own.duty": duty,
        "own.tax": tax,
        "own.borrowed": -borrowed,
        "own.repaid": repaid,
        "own.electricity": _monthly(kwh * own.tariff, months),
        "own.space": _monthly(own.rated_kw * own.colocation, months),
        "own.staff": _monthly(own.staff_hours * own.wage, months),
        "own.spares": _cents(net * own.spares_rate / 12) * aged,
        "own.residual": -_cents(net * own.residual_share) * (month == months),
    }
    return Ledger(months, lines)


def renting_ledger(rent: Renting, months: int) -> Ledger:
    """Bills of rented cards over the project."""
    month = np.arange(months + 1)
    bill = _monthly(rent.cards * rent.card_hour * rent.billed_hours, months)
    host = _monthly(rent.cards * rent.host_hour * rent.billed_hours, months)
    kept = _monthly(rent.kept_gb * rent.gb_month, months)
    out = _monthly(rent.out_gb * rent.out_price, months)
    support = _cents(np.maximum(rent.support_share * (bill + host), rent.support_least)) * (month > 0)
    tax = _cents((bill + host + kept + out + support) * rent.tax_rate)
    left = -months % rent.term_months
    lines = {
        "rent.cards": bill,
        "rent.host": host,
        "rent.kept": kept,
        "rent.out": out,
        "rent.support": support,
        "rent.tax": tax,
        "rent.unused_term": _cents(left * bill * (1 + rent.tax_rate)) * (month == months),
    }
    lines["rent.unspent"] = np.zeros(months + 1)
    if rent.top_up:
        spent = (bill + host + kept + out + support + tax).sum(axis=-1, keepdims=True)
        lines["rent.unspent"] = _cents(np.ceil(spent / rent.top_up) * rent.top_up - spent) * (month == months)
    return Ledger(months, lines)


def api_ledger(api: ApiUse, months: int) -> Ledger:
    """Bills of a hosted model over the project."""
    taken = _monthly(api.requests * api.prompt_tokens / 1e6 * api.input_price, months)
    given = _monthly(api.requests * api.answer_tokens / 1e6 * api.output_price, months)
    hosting = _monthly(api.hosting_hours * api.hosting_price, months)
    tax = _cents((taken + given + hosting) * api.tax_rate)
    return Ledger(months, {"api.input": taken, "api.output": given, "api.hosting": hosting, "api.tax": tax})


def merged(*ledgers: Ledger) -> Ledger:
    """Several at once, the same line of two added."""
    months = max(one.months for one in ledgers)
    lines: dict[str, Amounts] = {}
    for one in ledgers:
        for code, amounts in one.lines.items():
            lines[code] = lines[code] + amounts if code in lines else amounts
    return Ledger(months, lines)
