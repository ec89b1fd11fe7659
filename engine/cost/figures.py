"""The figures that every cost rests on, resolved once: the user's own, else the catalogue's for the region.

Each figure keeps low, expected and high and its source, so that the working can print them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date

from engine.cost.currency import Rates, rates_of
from engine.hardware.model import CatalogSnapshot, CostItem
from engine.messages.mark import N_
from engine.quantity import Bounds, Money
from engine.scenario import Scenario

__all__ = ["ASSUMPTION", "STAND_IN", "USER", "Figure", "Figures", "figures_of"]

#: Phrases of ours in a source; where sources are shown they are put into the reader's language.
USER = N_("stated by the user")
ASSUMPTION = N_("planning assumption")
STAND_IN = N_("nothing published for this case, the nearest figure stands in")


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
    gpu_only_addition: Figure  # processor and memory beside a GPU priced alone, per hour and decimal GB of the card


def _money(item: CostItem, rates: Rates, currency: str) -> Bounds:
    unit_currency = item.unit.split("/")[0].split()[0]
    factor = rates.factor(unit_currency, currency)
    low, high = item.low if item.low is not None else item.value, item.high if item.high is not None else item.value
    low, high = min(low, item.value), max(high, item.value)
    return Bounds(float(low * factor), float(item.value * factor), float(high * factor))


def _cited(item: CostItem) -> str:
    day = item.observed_on.isoformat() if item.observed_on else "undated"
    return f"{item.item}, {day}, {item.source_url}"


@dataclass(frozen=True)
class _Rows:
    """Rows of the catalogue that give a figure: the expected one, those that span what others pay, and a fallback."""

    expected: str
    span: tuple[str, ...] = ()
    fallback_usd: tuple[float, float, float] = (0.0, 0.0, 0.0)  # low, expected, high where no row is found


#: Which electricity row stands for a region when the user gave no tariff: a business pays it. The span is that of
#: all tariffs of those countries, because the user's own is not known. No British row is published.
ELECTRICITY: dict[str, tuple[str, tuple[str, ...]]] = {
    "CN": ("Electricity, Henan (China), commercial and industrial", ("CN",)),
    "EU": ("Electricity, European Union, non-household", ("EU", "DE")),
    "UK": ("Electricity, European Union, non-household", ("EU", "DE")),
    "US": ("Electricity, United States, commercial", ("US",)),
}
ELECTRICITY_FALLBACK_USD = (0.08, 0.15, 0.30)  # US$/kWh: the span of the regions above, for a catalogue without rows
_WAGE_US = _Rows(
    "ML engineer wage, United States, mid level", ("ML engineer wage, United States, senior",), (40, 67, 99)
)
WAGES: dict[str, _Rows] = {
    "CN": _Rows("AI engineer wage, China", ("Algorithm engineer wage, China, 3-5 years",), (20, 30, 43)),
    "US": _WAGE_US,
}
#: A provider of one's own choice: from object storage without extras to a network volume beside the cards.
STORAGE = _Rows(
    "Object storage, Amazon S3 Standard",
    ("Object storage, Cloudflare R2", "Network volume, RunPod"),
    (0.015, 0.023, 0.10),
)
#: Several clouds of cards charge nothing, Google up to US$0.12.
EGRESS = _Rows("Internet egress, AWS S3", ("Internet egress, Lambda", "Internet egress, Google"), (0.0, 0.09, 0.12))
#: Modules of 64 GB before the rise of 2026, at spot, and modules of 128 GB.
HOST_MEMORY = _Rows(
    "Memory, DDR5 RDIMM (64 GB modules), spot market",
    ("Memory, DDR5 RDIMM (64 GB modules)", "Memory, DDR5 RDIMM (128 GB modules), spot market"),
    (7.0, 10.94, 18.75),
)
FABRIC = _Rows("InfiniBand NDR fabric cost per GPU", (), (1709, 2000, 2295))
#: PUE around the industry average: 1.0 for a machine in an office that needs no cooling of its own, 1.8 for an old
#: server room (above the "older facility" of 1.4 to 1.6 in the collection).
PUE_LOW, PUE_FALLBACK, PUE_HIGH = 1.0, 1.54, 1.8
#: US$ of a whole desktop machine without its card: no dated row (the complete RTX 4090 workstation of the collection,
#: CNY 28,000-38,000, less a card of about CNY 16,000, is CNY 12,000-22,000).
SMALL_HOST_USD = (1200, 2200, 3500)
#: US$ of the parts of a four-card workstation where the catalogue lacks one of them.
HOST_BASE_FALLBACK_USD = (4000, 6900, 10_000)
#: US$ an hour and GB of card memory for processor and memory beside a card priced alone: the price collection notes
#: about US$1.2 beside an H100 of 80 GB; smaller cards are sold beside smaller machines, spot and terms are cheaper.
GPU_ONLY_USD_PER_GB_HOUR = (0.005, 1.2 / 80, 0.02)


def _find(items: Iterable[CostItem], as_of: date, *words: str) -> CostItem | None:
    """Latest item up to that day whose name holds all words; a row of the user's wins, then dated ones."""
    matching = [i for i in items if all(w.lower() in i.item.lower() for w in words)]

    def rank(item: CostItem) -> tuple[bool, int, int]:
        seen = item.observed_on
        if seen is None:
            return item.origin != "catalog", 1, 0
        # of rows seen only later the earliest is the nearest
        return item.origin != "catalog", 2 if seen <= as_of else 0, (1 if seen <= as_of else -1) * seen.toordinal()

    return max(matching, key=rank) if matching else None


@dataclass(frozen=True)
class _Resolver:
    """Finds figures in the catalogue as of a day and turns them into one currency."""

    items: tuple[CostItem, ...]
    as_of: date
    rates: Rates
    currency: str

    def own(self, money: Money) -> Figure:
        """A figure that the user stated."""
        return Figure(Bounds.exact(float(self.rates.convert(money, self.currency).amount)), USER)

    def assumption(self, usd: tuple[float, float, float]) -> Figure:
        """A figure of ours in US dollars."""
        return Figure(Bounds(*usd) * float(self.rates.factor("USD", self.currency)), ASSUMPTION, assumed=True)

    def rows(self, rows: _Rows, *, stand_in: bool = False) -> Figure:
        """The expected row, spanned by the others."""
        item = _find(self.items, self.as_of, rows.expected)
        if item is None:
            return self.assumption(rows.fallback_usd)
        others = [o for name in rows.span if (o := _find(self.items, self.as_of, name)) is not None]
        return self.spanned(item, others, stand_in=stand_in)

    def spanned(self, item: CostItem, others: Iterable[CostItem], *, stand_in: bool = False) -> Figure:
        """The item's value, from the lowest to the highest of all given."""
        middle = _money(item, self.rates, self.currency)
        # a row that the user put in is the user's price: what others pay says nothing about it
        around = [] if item.origin != "catalog" else [_money(o, self.rates, self.currency) for o in others]
        low = min(float(b.low) for b in (middle, *around))
        high = max(float(b.high) for b in (middle, *around))
        source = f"{_cited(item)}; {STAND_IN}" if stand_in else _cited(item)
        return Figure(Bounds(low, middle.expected, high), source)

    def electricity(self, region: str) -> Figure:
        """Price of a kWh in a region; without one, the American row within the span of all."""
        name, countries = ELECTRICITY.get(region, (ELECTRICITY["US"][0], ()))
        item = _find(self.items, self.as_of, name)
        if item is None:
            return self.assumption(ELECTRICITY_FALLBACK_USD)
        others = [
            i
            for i in self.items
            if i.kind == "electricity" and i.unit.endswith("/kWh") and (not countries or i.country in countries)
        ]
        return self.spanned(item, others, stand_in=region in ("UK", "other"))

    def pue(self, stated: float | None) -> Figure:
        """Energy at the meter over that of the machines."""
        if stated is not None:
            return Figure(Bounds.exact(stated), USER)
        item = _find(self.items, self.as_of, "PUE, industry average")
        if item is None:
            return Figure(Bounds(PUE_LOW, PUE_FALLBACK, PUE_HIGH), ASSUMPTION, assumed=True)
        value = float(item.value)
        return Figure(Bounds(min(PUE_LOW, value), value, max(PUE_HIGH, value)), _cited(item))


def figures_of(scenario: Scenario, catalog: CatalogSnapshot) -> Figures:
    """Resolve all figures of a scenario as of its date."""
    economics, region = scenario.economics, scenario.constraints.region
    rates, currency = rates_of(scenario, catalog), economics.currency
    find = _Resolver(catalog.cost_items, scenario.as_of, rates, currency)
    tariff, wage = economics.electricity_per_kwh, economics.engineer_hour
    return Figures(
        currency=currency,
        rates=rates,
        electricity_per_kwh=find.own(tariff) if tariff else find.electricity(region),
        pue=find.pue(economics.pue),
        engineer_hour=find.own(wage)
        if wage
        else find.rows(WAGES.get(region, _WAGE_US), stand_in=region not in ("", *WAGES)),
        storage_per_gb_month=find.rows(STORAGE),
        egress_per_gb=find.rows(EGRESS),
        host_memory_per_gb=find.rows(HOST_MEMORY),
        host_base=_host_base(find) or find.assumption(HOST_BASE_FALLBACK_USD),
        small_host=find.assumption(SMALL_HOST_USD),
        fabric_per_gpu=find.rows(FABRIC),
        gpu_only_addition=find.assumption(GPU_ONLY_USD_PER_GB_HOUR),
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
#: A dearer or cheaper set of the same parts: the two complete four-card rigs of the collection stand at -11 and +11 %
#: of their mean, and the two lists of parts there differ by a third.
HOST_PARTS_LOW, HOST_PARTS_HIGH = 0.8, 1.3


def _host_base(find: _Resolver) -> Figure | None:
    found = [_find(find.items, find.as_of, "Workstation part", part) for part in HOST_PARTS]
    parts = [p for p in found if p is not None]
    if len(parts) < len(HOST_PARTS):
        return None
    total = sum(float(_money(p, find.rates, find.currency).expected) for p in parts)
    return Figure(Bounds.around(total, HOST_PARTS_LOW, HOST_PARTS_HIGH), "; ".join(_cited(p) for p in parts))
