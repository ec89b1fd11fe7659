"""Conversion between currencies by dated rates."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from decimal import Decimal

from engine.errors import InputError
from engine.hardware.model import CatalogSnapshot, ExchangeRate
from engine.quantity import Money
from engine.scenario import Scenario

__all__ = ["Rates", "rates_of"]


@dataclass(frozen=True)
class Rates:
    """Units of each currency for one US dollar, with the date and source of each rate."""

    by_currency: dict[str, ExchangeRate]

    def factor(self, source: str, target: str) -> Decimal:
        """Units of `target` for one unit of `source`; InputError where a rate is missing."""
        if source == target:
            return Decimal(1)
        return self._per_usd(target) / self._per_usd(source)

    def convert(self, money: Money, target: str) -> Money:
        """The same value in another currency."""
        return Money(amount=money.amount * self.factor(money.currency, target), currency=target)

    def described(self, source: str, target: str) -> str:
        """Date and source of the rates that a conversion rests on; empty where none is needed."""
        used = [self.by_currency[c] for c in (source, target) if c != "USD" and c in self.by_currency]
        return (
            "; ".join(f"{r.currency} {r.observed_on.isoformat()} {r.source}" for r in used) if source != target else ""
        )

    def _per_usd(self, currency: str) -> Decimal:
        if currency == "USD":
            return Decimal(1)
        rate = self.by_currency.get(currency)
        if rate is None:
            raise InputError("cost.no_exchange_rate", currency=currency)
        return rate.units_per_usd


def rates_of(scenario: Scenario, catalog: CatalogSnapshot) -> Rates:
    """The latest rate of each currency up to the scenario's date; the scenario's own rates win."""
    found = _latest(catalog.exchange_rates, scenario.as_of)
    found.update(_latest(scenario.exchange_rates, date.max))
    return Rates(found)


def _latest(rates: Iterable[ExchangeRate], as_of: date) -> dict[str, ExchangeRate]:
    """Latest rate not after `as_of`; the earliest later one where there is no other."""
    found: dict[str, ExchangeRate] = {}
    for rate in sorted(rates, key=lambda r: r.observed_on):
        if rate.observed_on <= as_of or rate.currency not in found:
            found[rate.currency] = rate
    return found
