"""What a card has cost on the days on which it was seen: for a price chart. In one currency, at the latest rates."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from decimal import Decimal

from engine.hardware.model import CatalogSnapshot, Offer, PurchasePrice

__all__ = ["PriceHistory", "PricePoint", "price_history"]


@dataclass(frozen=True, slots=True)
class PricePoint:
    """One price as it was seen: per card-hour for a rent, per card for a purchase."""

    day: date
    amount: Decimal
    term: str
    seller: str
    own: bool


@dataclass(frozen=True, slots=True)
class PriceHistory:
    """Prices of one card, oldest first; prices for members, without a day or without a rate are left out."""

    gpu: str
    currency: str
    rent: tuple[PricePoint, ...]
    buy: tuple[PricePoint, ...]


def price_history(catalog: CatalogSnapshot, gpu_id: str, currency: str) -> PriceHistory:
    """All dated prices of a card: offers per card-hour, and purchases of bare cards per card."""
    rates = {r.currency: r.units_per_usd for r in sorted(catalog.exchange_rates, key=lambda r: r.observed_on)}
    rates["USD"] = Decimal(1)

    def point(row: Offer | PurchasePrice, amount: Decimal, term: str, seller: str) -> PricePoint | None:
        if row.observed_on is None or row.currency not in rates or currency not in rates:
            return None
        shown = amount / rates[row.currency] * rates[currency]
        return PricePoint(row.observed_on, shown, term, seller, row.origin == "user")

    rent = (
        point(o, o.price_per_gpu_hour, o.term, o.provider)
        for o in catalog.offers
        if o.gpu_ids == (gpu_id,) and not o.members_only and o.term != "shared"
    )
    buy = (
        point(p, p.price / p.cards, p.condition, p.seller)
        for p in catalog.purchase_prices
        if p.gpu_ids == (gpu_id,) and not p.whole_server
    )
    name = catalog.gpu_by_id[gpu_id].name if gpu_id in catalog.gpu_by_id else gpu_id
    return PriceHistory(
        name,
        currency,
        tuple(sorted((p for p in rent if p is not None), key=lambda p: p.day)),
        tuple(sorted((p for p in buy if p is not None), key=lambda p: p.day)),
    )
