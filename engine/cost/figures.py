"""The figures that every cost rests on, resolved once: the user's own, else the catalogue's for the region.

Each figure keeps low, expected and high and its source, so that the working can print them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal

from engine.cost.currency import Rates, rates_of
from engine.hardware.model import CatalogSnapshot, CostItem
from engine.quantity import Bounds, Money
from engine.scenario import Scenario

__all__ = ["Figure", "Figures", "figures_of"]

USER = "stated by the user"


@dataclass(frozen=True)
class Figure:
    """A figure in the scenario's currency (or a plain ratio), with where it comes from."""

    bounds: Bounds
    source: str
    assumed: bool = False  # nobody published it: a planning assumption of ours, said as such


@dataclass(frozen=True)
class Figures:
    """All resolved figures; money in `currency`."""

    currency: str
    rates: Rates
    electricity_per_kwh: Figure
    pue: Figure
    engineer_hour: Figure
    storage_per_gb_month: Figure
    egress_per_gb: Figure
    host_memory_per_gb: Figure
    host_base: Figure  # processor, board, case, power supply, cooler and disk of a workstation for up to four cards
    small_host: Figure  # a whole desktop machine around one card, without the card
    fabric_per_gpu: Figure  # switches and optics of an InfiniBand fabric
    gpu_only_addition: Figure  # processor and memory beside a GPU that is priced alone, per card-hour


def _money(item: CostItem, rates: Rates, currency: str) -> Bounds:
    unit_currency = item.unit.split("/")[0].split()[0]
    factor = rates.factor(unit_currency, currency)
    low, high = item.low if item.low is not None else item.value, item.high if item.high is not None else item.value
    low, high = min(low, item.value), max(high, item.value)
    return Bounds(float(low * factor), float(item.value * factor), float(high * factor))


def _cited(item: CostItem) -> str:
    day = item.observed_on.isoformat() if item.observed_on else "undated"
    return f"{item.item}, {day}, {item.source_url}"


def _find(items: Iterable[CostItem], *words: str, country: str = "") -> CostItem | None:
    """Latest item whose name holds all words (of that country, if given)."""
    matching = [
        i
        for i in items
        if all(w.lower() in i.item.lower() for w in words) and (not country or i.country in ("", country))
    ]
    dated = [i for i in matching if i.observed_on]
    return max(dated, key=lambda i: str(i.observed_on)) if dated else (matching[0] if matching else None)


#: Which electricity row stands for a region when the user gave no tariff.
ELECTRICITY_ROWS: dict[str, tuple[str, ...]] = {
    "CN": ("Electricity, Henan (China), commercial and industrial",),
    "EU": ("Electricity, European Union, non-household",),
    "UK": ("Electricity, European Union, non-household",),
    "US": ("Electricity, United States, commercial",),
}
WAGE_ROWS: dict[str, tuple[str, ...]] = {"CN": ("AI engineer wage, China",)}


def figures_of(scenario: Scenario, catalog: CatalogSnapshot) -> Figures:
    """Resolve all figures of a scenario."""
    items, economics = catalog.cost_items, scenario.economics
    rates, currency, region = rates_of(scenario, catalog), scenario.economics.currency, scenario.constraints.region

    def own(money: Money) -> Figure:
        return Figure(Bounds.exact(float(rates.convert(money, currency).amount)), USER)

    def row(fallback_usd: tuple[float, float, float], *words: str) -> Figure:
        item = _find(items, *words)
        if item is not None:
            return Figure(_money(item, rates, currency), _cited(item))
        return assumption(*fallback_usd)

    def assumption(low: float, expected: float, high: float) -> Figure:
        factor = float(rates.factor("USD", currency))
        return Figure(Bounds(low, expected, high) * factor, "planning assumption", assumed=True)

    electricity = (
        own(economics.electricity_per_kwh)
        if economics.electricity_per_kwh
        else row((0.08, 0.15, 0.30), *ELECTRICITY_ROWS.get(region, ELECTRICITY_ROWS["US"]))
    )
    wage = (
        own(economics.engineer_hour)
        if economics.engineer_hour
        else row((40, 67, 99), *WAGE_ROWS.get(region, ("ML engineer wage, United States, mid level",)))
    )
    if economics.pue is not None:
        pue = Figure(Bounds.exact(economics.pue), USER)
    else:
        item = _find(items, "PUE, industry average")
        pue = Figure(Bounds(1.1, float(item.value) if item else 1.54, 1.8), _cited(item) if item else "assumption")
    return Figures(
        currency=currency,
        rates=rates,
        electricity_per_kwh=electricity,
        pue=pue,
        engineer_hour=wage,
        storage_per_gb_month=row((0.015, 0.023, 0.10), "Object storage, Amazon S3 Standard"),
        egress_per_gb=row((0.0, 0.09, 0.12), "Internet egress, AWS S3"),
        host_memory_per_gb=row((7.0, 10.94, 18.75), "Memory, DDR5 RDIMM (64 GB modules), spot market"),
        host_base=_host_base(items, rates, currency) or assumption(4000, 6900, 10_000),
        small_host=assumption(1200, 2200, 3500),
        fabric_per_gpu=row((1709, 2000, 2295), "InfiniBand NDR fabric cost per GPU"),
        # about US$1.2 a card-hour beside an H100 priced alone, as the price collection notes for one provider
        gpu_only_addition=assumption(0.6, 1.2, 1.8),
    )


#: Parts of a four-card workstation that do not depend on the memory size.
HOST_PARTS = (
    "CPU, Threadripper Pro",
    "Motherboard, WRX90",
    "4 TB Gen5 NVMe",
    "Power supply, 2000 W",
    "Chassis, 4U",
    "CPU cooler",
)


def _host_base(items: Iterable[CostItem], rates: Rates, currency: str) -> Figure | None:
    found = [_find(items, "Workstation part", part) for part in HOST_PARTS]
    parts = [p for p in found if p is not None]
    if len(parts) < len(HOST_PARTS):
        return None
    total = sum((p.value * rates.factor(p.unit.split("/")[0], currency) for p in parts), Decimal(0))
    # a dearer or cheaper set of the same parts: the spread of the complete four-card rigs in the collection
    return Figure(Bounds.around(float(total), 0.8, 1.3), "; ".join(_cited(p) for p in parts))
