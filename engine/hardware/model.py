"""Hardware and offers: cards, systems of cards, clusters, dated ways to get them, and the catalogue snapshot."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import date
from decimal import Decimal
from functools import cached_property
from operator import attrgetter
from typing import Literal

from pydantic import ConfigDict, Field

from engine.architecture.model import Architecture
from engine.quantity import Currency, Frozen

__all__ = [
    "ApiPrice",
    "CatalogSnapshot",
    "Cluster",
    "Confidence",
    "CostItem",
    "ExchangeRate",
    "Gpu",
    "Link",
    "LinkKind",
    "Offer",
    "OfferTerm",
    "Origin",
    "PurchasePrice",
    "System",
]

Confidence = Literal["high", "medium", "low"]
Origin = Literal["catalog", "user", "scenario"]
#: Commercial term of an offer. "shared" is a campus cluster with a fee or none; "owned" costs energy and staff only.
OfferTerm = Literal[
    "buy", "on-demand", "spot", "reserved-1m", "reserved-1y", "reserved-3y", "monthly", "shared", "owned"
]
#: Price, in any currency, beyond which a figure is a slip.
MOST_PRICE = Decimal("1e12")


class Gpu(Frozen):
    """One card that a buyer can tell apart. Rates are dense, per card; `None` means not known, never zero."""

    id: str
    vendor: str
    name: str
    aliases: tuple[str, ...] = ()
    architecture: str = ""
    segment: Literal["datacenter", "cloud-only", "workstation", "edge", "consumer", "soc"] = "datacenter"
    form_factor: str = ""
    status: Literal["current", "legacy", "eol", "announced", "unofficial"] = "current"
    release_date: str = ""
    memory_gb: float | None = None  # marketed size, a label
    usable_bytes: int | None = None  # what the driver offers
    usable_basis: Literal["reported", "rule", "unknown"] = "unknown"
    devices: int = Field(default=1, ge=1)  # devices that software sees on one card; `usable_bytes` is that of one
    memory_type: str = ""
    memory_bytes_per_second: float | None = None
    bf16_flops: float | None = None
    fp16_flops: float | None = None
    fp8_flops: float | None = None
    fp4_flops: float | None = None
    int8_ops: float | None = None
    tf32_flops: float | None = None
    fp32_flops: float | None = None
    interconnect: str = ""
    interconnect_bytes_per_second: float | None = None  # bidirectional total of one card; 0 = no direct link
    peer_to_peer: bool = True  # False on GeForce 40/50: collectives go through host memory
    max_gpus_per_node: int | None = None
    pcie: str = ""
    pcie_bytes_per_second: float | None = None  # one direction
    tdp_watts: float | None = None
    ecc: str = ""
    mig: int | None = None
    compute_capability: str = ""
    software_stack: str = ""
    software_maturity: int = Field(default=1, ge=1, le=5)
    region_notes: str = ""
    export_controlled_for: tuple[str, ...] = ()  # ISO country codes, from dated region notes; never legal advice
    region_only: tuple[str, ...] = ()  # sold mainly in these countries (for example CN); empty = anywhere
    source_url: str = ""
    source_title: str = ""
    source_date: str = ""
    confidence: Confidence = "medium"
    notes: str = ""
    origin: Origin = "catalog"


class System(Frozen):
    """A node of several cards with its links: a server, a cloud instance shape or a workstation."""

    id: str
    name: str
    maker: str
    gpu_id: str
    gpus: int = Field(gt=0)
    topology: Literal[
        "NVSwitch", "NVLink pair", "PCIe", "xGMI", "none", "NeuronLink", "Ethernet mesh", "HCCS mesh", "other"
    ]
    intra_node_bytes_per_second: float | None = None  # bidirectional, per card (PCIe: bus maximum)
    fabric: str = ""
    inter_node_bytes_per_second: float | None = None  # per node, one direction
    vcpus: int | None = None
    ram_bytes: int | None = None
    nvme_bytes: int | None = None
    power_watts: float | None = None
    cloud: bool = False  # an instance of a cloud; False = something one can buy or build
    source_url: str = ""
    source_date: str = ""
    confidence: Confidence = "medium"
    notes: str = ""
    origin: Origin = "catalog"


LinkKind = Literal[
    "nvswitch", "nvlink-pair", "xgmi", "mesh", "pcie-p2p", "pcie-host", "infiniband", "roce", "efa", "ethernet", "none"
]


class Link(Frozen):
    """A link as collectives see it: one direction, per card."""

    kind: LinkKind
    bytes_per_second: float = Field(ge=0)
    latency_seconds: float = Field(ge=0)
    source: str = ""


class Cluster(Frozen):
    """`nodes` equal nodes of `gpus_per_node` cards; `system` is None where a plausible host is assumed."""

    gpu: Gpu
    system: System | None = None
    gpus_per_node: int = Field(gt=0)
    nodes: int = Field(default=1, gt=0)
    intra_node: Link
    inter_node: Link | None = None
    assumed: bool = False  # the node shape was not stated by the offer, a usual one is assumed
    in_use_bytes: int = 0  # memory that other programs hold on each card already

    @property
    def gpus(self) -> int:
        """Cards in the cluster."""
        return self.gpus_per_node * self.nodes


class Offer(Frozen):
    """One dated, sourced way to get cards by time. `price_per_gpu_hour` is per physical card, tax as the source."""

    id: str
    provider: str
    provider_kind: Literal["gpu-cloud", "hyperscaler", "marketplace", "monthly-host", "shared", "own"]
    product: str = ""
    gpu_ids: tuple[str, ...]  # several where the form factor is not stated, slowest first
    gpus_per_unit: int | None = None  # cards in the unit that is sold; None = not stated
    region: str = ""  # "" = not stated
    country: str = ""  # ISO code where the region tells it
    price_per_gpu_hour: Decimal = Field(ge=0, le=MOST_PRICE)
    currency: Currency
    term: OfferTerm
    vcpus: float | None = None
    ram_gb: float | None = None
    storage_gb: float | None = None
    interconnect: str = ""
    observed_on: date | None = None
    current: bool = True
    gpu_only: bool = False  # processor and memory are billed on top
    members_only: bool = False  # subsidised internal rates: history only, never offered to others
    queue_days: float = 0.0  # usual wait before a job starts (shared clusters)
    max_gpus: int | None = None
    valid_until: date | None = None  # of a quotation: last day on which the seller stands by it
    tax_included: bool | None = None  # None = not said
    includes: str = ""  # what the price covers beside the cards, in the seller's words
    file_path: str = ""  # the quotation itself, as a file on the user's computer
    file_sha256: str = ""
    source_url: str = ""
    source_title: str = ""
    confidence: Confidence = "medium"
    notes: str = ""
    origin: Origin = "catalog"


class PurchasePrice(Frozen):
    """One dated, sourced price of a card, or of a server with `cards` cards in it."""

    id: str
    gpu_ids: tuple[str, ...]
    product: str
    seller: str
    condition: Literal["new", "used", "msrp"]
    price: Decimal = Field(gt=0, le=MOST_PRICE)
    currency: Currency
    cards: int = Field(default=1, gt=0)
    whole_server: bool = False
    country: str = ""
    observed_on: date | None = None
    valid_until: date | None = None  # of a quotation: last day on which the seller stands by it
    tax_included: bool | None = None  # None = not said
    includes: str = ""  # what the price covers beside the cards, in the seller's words
    file_path: str = ""  # the quotation itself, as a file on the user's computer
    file_sha256: str = ""
    source_url: str = ""
    confidence: Confidence = "medium"
    notes: str = ""
    origin: Origin = "catalog"


class ApiPrice(Frozen):
    """Price of a model by API, per million tokens."""

    id: str
    provider: str
    model: str
    kind: Literal["inference", "fine-tune"]
    input_per_million_tokens: Decimal | None = None
    output_per_million_tokens: Decimal | None = None
    training_per_million_tokens: Decimal | None = None
    currency: Currency
    observed_on: date | None = None
    source_url: str = ""
    confidence: Confidence = "medium"
    notes: str = ""
    origin: Origin = "catalog"


class CostItem(Frozen):
    """A named figure that costs are built from: electricity, PUE, storage, wages, failures, residual value…"""

    id: str
    item: str
    kind: str  # electricity, pue, colocation, storage, egress, failure, spot, residual, power, wage, part, carbon, …
    value: Decimal
    unit: str
    low: Decimal | None = None
    high: Decimal | None = None
    country: str = ""
    observed_on: date | None = None
    source_url: str = ""
    confidence: Confidence = "medium"
    notes: str = ""
    origin: Origin = "catalog"


class ExchangeRate(Frozen):
    """`units_per_usd` units of `currency` for one US dollar on `observed_on`."""

    currency: Currency
    units_per_usd: Decimal = Field(ge=Decimal("1e-6"), le=Decimal("1e9"))
    observed_on: date
    source: str


#: Own offers of one kind up to this number are all looked at, so that every seller is seen in the answer.
MANY_ALIKE = 20
#: What decides on an offer apart from its price, its date, and who sells it.
_ALIKE = attrgetter(
    "gpu_ids", "term", "provider_kind", "gpus_per_unit", "region", "country", "currency", "vcpus", "ram_gb",
    "storage_gb", "interconnect", "current", "gpu_only", "members_only", "queue_days", "max_gpus", "valid_until",
    "tax_included", "confidence", "origin",
)  # fmt: skip


def _unbeaten(offers: Iterable[Offer]) -> Iterator[Offer]:
    """Offers that none of the others beats on both price and date; of equals, the first by id."""
    newest = date.min
    never = date.min
    seen = False
    for offer in sorted(offers, key=lambda o: (o.price_per_gpu_hour, -(o.observed_on or never).toordinal(), o.id)):
        day = offer.observed_on or never
        if not seen or day > newest:
            seen, newest = True, day
            yield offer


class CatalogSnapshot(Frozen):
    """Everything that the engine may know about the world at one moment; formulas never read the database."""

    model_config = ConfigDict(frozen=True, extra="forbid", ignored_types=(cached_property,))

    version: str
    sha256: str
    gpus: tuple[Gpu, ...]
    systems: tuple[System, ...] = ()
    offers: tuple[Offer, ...] = ()
    purchase_prices: tuple[PurchasePrice, ...] = ()
    api_prices: tuple[ApiPrice, ...] = ()
    cost_items: tuple[CostItem, ...] = ()
    exchange_rates: tuple[ExchangeRate, ...] = ()
    models: tuple[Architecture, ...] = ()
    model_aliases: dict[str, str] = Field(default_factory=dict)  # lower-case name -> model id
    gpu_aliases: dict[str, tuple[str, ...]] = Field(default_factory=dict)  # lower-case name -> gpu ids, slowest first

    @cached_property
    def gpu_by_id(self) -> dict[str, Gpu]:
        """Cards by id."""
        return {g.id: g for g in self.gpus}

    @cached_property
    def model_by_id(self) -> dict[str, Architecture]:
        """Models by id."""
        return {m.id: m for m in self.models}

    @cached_property
    def cost_by_id(self) -> dict[str, CostItem]:
        """Cost items by id."""
        return {c.id: c for c in self.cost_items}

    @cached_property
    def offers_to_look_at(self) -> tuple[Offer, ...]:
        """All offers but, of many own ones that are alike in all but seller, those that another beats.

        One beats another where it costs no more and was seen no earlier: it can't rank lower then, nor be riskier.
        """
        kept = [o for o in self.offers if o.origin == "catalog"]
        groups: dict[tuple[object, ...], list[Offer]] = {}
        for offer in self.offers:
            if offer.origin != "catalog":
                groups.setdefault(_ALIKE(offer), []).append(offer)
        for group in groups.values():
            kept.extend(_unbeaten(group) if len(group) > MANY_ALIKE else group)
        return tuple(kept)

    @cached_property
    def systems_by_gpu(self) -> dict[str, tuple[System, ...]]:
        """Systems that carry a card, smallest first."""
        found: dict[str, list[System]] = {}
        for system in sorted(self.systems, key=lambda s: (s.gpus, s.id)):
            found.setdefault(system.gpu_id, []).append(system)
        return {k: tuple(v) for k, v in found.items()}
