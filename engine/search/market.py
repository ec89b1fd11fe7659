"""Which cards, offers and prices a scenario admits, and the one reason why each other one is out.

Nothing here depends on whether the job fits: that is decided later. Prices are read as of the scenario's date.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import date
from typing import TypeVar

from engine.cost.age import age_days
from engine.findings import Finding, Severity
from engine.hardware.model import CatalogSnapshot, Gpu, Offer, PurchasePrice
from engine.scenario import Constraints, Scenario

__all__ = ["MAX_PRICE_AGE_DAYS", "Market", "card_ids", "market_of", "region_of", "way_of"]

#: A price older than a year is history, not an offer: in 2025-26 the H100 index rose by 40 % and Chinese clouds by
#: 35 to 50 % within one (cost items "H100 cloud price index", "Price rise, Alibaba Cloud and Baidu GPU instances").
MAX_PRICE_AGE_DAYS = 365

_Row = TypeVar("_Row", Offer, PurchasePrice)

_EUROPEAN_UNION = frozenset(
    {
        "AT", "BE", "BG", "HR", "CY", "CZ", "DK", "EE", "FI", "FR", "DE", "GR", "HU", "IE", "IT", "LV", "LT", "LU",
        "MT", "NL", "PL", "PT", "RO", "SK", "SI", "ES", "SE", "EU",
    }
)  # fmt: skip
_REGIONS = {"CN": "CN", "US": "US", "GB": "UK", "UK": "UK"}


def region_of(country: str) -> str:
    """The scenario's region that a country belongs to; "" where the country is not known."""
    if not country:
        return ""
    return "EU" if country in _EUROPEAN_UNION else _REGIONS.get(country, "other")


def way_of(offer: Offer) -> str:
    """How one gets the cards of an offer: rented, shared or owned already."""
    if offer.term == "owned" or offer.provider_kind == "own":
        return "owned"
    return "shared" if offer.term == "shared" or offer.provider_kind == "shared" else "rent"


@dataclass(frozen=True)
class Market:
    """What may be used. `closed` holds, by card, why it may not be used at all; `refused` why an offer may not."""

    offers: tuple[Offer, ...]
    purchases: tuple[PurchasePrice, ...]
    closed: dict[str, Finding]
    restricted: dict[str, Finding]  # cards that may not be bought or rented, but may be there already
    refused: tuple[tuple[Offer | PurchasePrice, Finding], ...]


def market_of(scenario: Scenario, catalog: CatalogSnapshot) -> Market:
    """Sort the catalogue and the scenario's own rows into what may be used and what not, with reasons."""
    closed = {g.id: f for g in catalog.gpus if (f := _closed(g, scenario.constraints, catalog)) is not None}
    restricted = {g.id: f for g in catalog.gpus if (f := _restricted(g, scenario.constraints)) is not None}
    offers: list[Offer] = []
    purchases: list[PurchasePrice] = []
    refused: list[tuple[Offer | PurchasePrice, Finding]] = []
    for offer in _latest_offers(_merged(scenario.offers, catalog.offers_to_look_at), scenario.as_of):
        reason = _refused_offer(offer, scenario, catalog, restricted)
        if reason is None:
            offers.append(offer)
        else:
            refused.append((offer, reason))
    for purchase in _latest_purchases(_merged(scenario.purchase_prices, catalog.purchase_prices), scenario.as_of):
        reason = _refused_purchase(purchase, scenario, catalog, restricted)
        if reason is None:
            purchases.append(purchase)
        else:
            refused.append((purchase, reason))
    return Market(tuple(offers), tuple(purchases), closed, restricted, tuple(refused))


def _reason(code: str, **params: str | int | float | None) -> Finding:
    return Finding(code=code, severity=Severity.INFO, params=params)


# cards ------------------------------------------------------------------------------------------------------------


def card_ids(names: Iterable[str], catalog: CatalogSnapshot) -> set[str]:
    """Card ids of ids or names as people write them."""
    found: set[str] = set()
    for name in names:
        found.update(catalog.gpu_aliases.get(name.lower(), (name,)))
        found.add(name)
    return found


def _closed(gpu: Gpu, constraints: Constraints, catalog: CatalogSnapshot) -> Finding | None:
    owned = gpu.id in card_ids([o.gpu_id for o in constraints.owned], catalog)
    if gpu.id in card_ids(constraints.exclude_gpus, catalog):
        return _reason("rejected.excluded", gpu=gpu.name)
    if constraints.include_gpus and gpu.id not in card_ids(constraints.include_gpus, catalog):
        return _reason("rejected.not_included", gpu=gpu.name)
    vendors = {v.lower() for v in constraints.vendors}
    if vendors and gpu.vendor.lower() not in vendors and not owned:
        return _reason("rejected.vendor", gpu=gpu.name, vendor=gpu.vendor)
    if gpu.usable_bytes is None:
        return _reason("rejected.memory_unknown", gpu=gpu.name)
    return None


def _restricted(gpu: Gpu, constraints: Constraints) -> Finding | None:
    region = constraints.region
    if region and region in gpu.export_controlled_for and not constraints.export_controlled_allowed:
        return _reason("rejected.export", gpu=gpu.name, region=f"region.{region}", date=gpu.source_date or "?")
    if region and gpu.region_only and region not in gpu.region_only:
        return _reason("rejected.region_only", gpu=gpu.name, countries=", ".join(gpu.region_only))
    return None


# offers and prices ------------------------------------------------------------------------------------------------


def _merged(own: tuple[_Row, ...], catalog: tuple[_Row, ...]) -> list[_Row]:
    """The scenario's own rows win over those of the catalogue with the same id; sorted by id."""
    rows = {row.id: row for row in catalog}
    for row in own:  # whatever the file says, what stands in a scenario is the user's word
        rows[row.id] = row if row.origin != "catalog" else row.model_copy(update={"origin": "scenario"})
    return [rows[key] for key in sorted(rows)]


def _latest_offers(offers: Iterable[Offer], as_of: date) -> Iterator[Offer]:
    """Offers as they stood on the date.

    The catalogue says which rows are current today. Where a provider's word on a card and term has changed after the
    date, its last word before the date counts instead.
    """
    groups: dict[tuple[object, ...], list[Offer]] = {}
    for offer in offers:
        if offer.origin != "catalog":
            yield offer
        elif not offer.members_only:
            groups.setdefault((offer.provider, offer.gpu_ids, offer.term), []).append(offer)
    for rows in groups.values():
        seen = [row for row in rows if row.observed_on is None or row.observed_on <= as_of]
        if len(seen) == len(rows):
            yield from (row for row in rows if row.current)
        elif seen:
            last = max(row.observed_on or date.min for row in seen)
            yield from (row for row in seen if (row.observed_on or date.min) == last)


def _latest_purchases(prices: Iterable[PurchasePrice], as_of: date) -> Iterator[PurchasePrice]:
    """The last price up to the date of each seller, product, size and condition."""
    latest: dict[tuple[object, ...], PurchasePrice] = {}
    for price in prices:
        if price.origin != "catalog":
            yield price
            continue
        if price.observed_on is not None and price.observed_on > as_of:
            continue
        key = (price.gpu_ids, price.product, price.seller, price.condition, price.cards)
        known = latest.get(key)
        if known is None or (known.observed_on or date.min) <= (price.observed_on or date.min):
            latest[key] = price
    yield from latest.values()


def _refused_offer(
    offer: Offer, scenario: Scenario, catalog: CatalogSnapshot, restricted: dict[str, Finding]
) -> Finding | None:
    constraints, way = scenario.constraints, way_of(offer)
    if way not in constraints.ways:
        return _reason("rejected.way", way=f"way.{way}")
    if not all(g in catalog.gpu_by_id for g in offer.gpu_ids) or not offer.gpu_ids:
        return _reason("rejected.unknown_card", name=offer.product or offer.id)
    if way != "rent":
        return None
    if not constraints.data_may_leave:
        return _reason("rejected.data_must_stay")
    if offer.term == "spot" and not constraints.allow_spot:
        return _reason("rejected.spot", provider=offer.provider)
    region = region_of(offer.country)
    if constraints.region and region and region != constraints.region:
        return _reason("rejected.offer_region", provider=offer.provider, region=offer.region or offer.country)
    if (reason := restricted.get(offer.gpu_ids[0])) is not None:
        return reason
    return _too_old(offer, scenario.as_of)


def _refused_purchase(
    purchase: PurchasePrice, scenario: Scenario, catalog: CatalogSnapshot, restricted: dict[str, Finding]
) -> Finding | None:
    constraints = scenario.constraints
    if "buy" not in constraints.ways:
        return _reason("rejected.way", way="way.buy")
    if not all(g in catalog.gpu_by_id for g in purchase.gpu_ids) or not purchase.gpu_ids:
        return _reason("rejected.unknown_card", name=purchase.product or purchase.id)
    gpu = catalog.gpu_by_id[purchase.gpu_ids[0]]
    if purchase.condition == "msrp" and gpu.status != "current" and purchase.origin == "catalog":
        return _reason("rejected.no_longer_sold", gpu=gpu.name)
    region = region_of(purchase.country)
    if constraints.region and region and region != constraints.region:
        return _reason("rejected.offer_region", provider=purchase.seller, region=purchase.country)
    if (reason := restricted.get(gpu.id)) is not None:
        return reason
    return _too_old(purchase, scenario.as_of)


def _too_old(row: Offer | PurchasePrice, as_of: date) -> Finding | None:
    age = age_days(row.observed_on, as_of)
    if row.origin != "catalog" or age is None or age <= MAX_PRICE_AGE_DAYS:
        return None
    return _reason("rejected.price_too_old", date=row.observed_on.isoformat() if row.observed_on else None)
