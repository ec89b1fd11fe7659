"""Every cluster that could be had, with the ways to get it: bought, rented as sold, shared, owned.

Nodes come as they are sold: cards by the piece go into a machine of 1, 2, 4 or 8; whole servers and instances come
whole. What an offer does not say about its node is matched to the smallest system that carries the card, and marked.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Literal

from engine.hardware.model import CatalogSnapshot, Cluster, Gpu, Offer, OfferTerm, PurchasePrice, System
from engine.scenario import Constraints, OwnedGpus, Scenario
from engine.search.market import Market, way_of
from engine.speed.hardware import cluster_for

__all__ = ["Candidates", "Seed", "candidates_of", "node_counts"]

#: Cards in one machine that are tried where cards are sold by the piece.
CARDS_PER_MACHINE = (1, 2, 4, 8)
USUAL_CARDS_PER_NODE = 8  # where the catalogue has no typical maximum
OFFICE_CARDS = 4  # more do not fit a workstation case or an office socket
OFFICE_WATTS = 2000.0  # what one 230 V, 10 A socket gives, less a fifth for the rest of the machine
_DESKTOP = ("consumer", "workstation", "soc", "edge")
_MODULES = ("SXM", "OAM", "superchip", "module", "rack", "pod", "instance")

Way = Literal["buy", "rent", "shared", "owned"]


@dataclass(frozen=True)
class Seed:
    """One way to get one cluster (an index into `Candidates.clusters`); a plan once it is priced."""

    cluster: int
    way: Way
    offer: Offer | None = None
    purchase: PurchasePrice | None = None

    @property
    def seller(self) -> str:
        """Who sells or lends it; "" for owned cards."""
        if self.offer is not None:
            return self.offer.provider
        return self.purchase.seller if self.purchase is not None else ""

    @property
    def source_id(self) -> str:
        """Id of the offer or price; "owned" where there is none."""
        if self.offer is not None:
            return self.offer.id
        return self.purchase.id if self.purchase is not None else "owned"

    @property
    def term(self) -> OfferTerm:
        """Commercial term."""
        if self.offer is not None:
            return self.offer.term
        return "buy" if self.purchase is not None else "owned"


@dataclass
class _Builder:
    """Collects clusters, each once, and the seeds that use them."""

    catalog: CatalogSnapshot
    max_gpus: int
    clusters: list[Cluster] = field(default_factory=list)
    seeds: list[Seed] = field(default_factory=list)
    _index: dict[tuple[object, ...], int] = field(default_factory=dict)

    def cluster(
        self, gpu: Gpu, system: System | None, per_node: int, nodes: int, *, assumed: bool = False, in_use: int = 0
    ) -> int:
        key = (gpu.id, system.id if system else "", per_node, nodes, assumed, in_use)
        found = self._index.get(key)
        if found is None:
            found = self._index[key] = len(self.clusters)
            self.clusters.append(
                cluster_for(
                    gpu, system, gpus_per_node=per_node, nodes=nodes, assumed=assumed, in_use_bytes=in_use
                )
            )  # fmt: skip
        return found


@dataclass(frozen=True)
class Candidates:
    """All clusters, the ways to get them, and the first cluster that has none (only looked at for its memory)."""

    clusters: tuple[Cluster, ...]
    seeds: tuple[Seed, ...]
    obtainable: int  # clusters before this index have a seed


def node_counts(per_node: int, max_gpus: int) -> tuple[int, ...]:
    """Numbers of nodes tried: each up to 8, then steps of about a third, within `max_gpus` cards."""
    most = max_gpus // per_node
    steps = (*range(1, 9), 10, 12, 16, 20, 24, 32, 40, 48, 64, 80, 96, 128, 192, 256, 384, 512)
    return tuple(n for n in steps if n <= most)


def candidates_of(scenario: Scenario, catalog: CatalogSnapshot, market: Market) -> Candidates:
    """All that could be had within the scenario's limits, in an order that does not depend on the catalogue's."""
    constraints = scenario.constraints
    builder = _Builder(catalog, constraints.max_gpus)
    for owned in constraints.owned if "owned" in constraints.ways else ():
        _add_owned(builder, owned, market)
    for offer in sorted(market.offers, key=lambda o: o.id):
        gpu = catalog.gpu_by_id[offer.gpu_ids[0]]
        if gpu.id not in market.closed:
            _add_offer(builder, offer, gpu)
    for purchase in sorted(market.purchases, key=lambda p: p.id):
        gpu = catalog.gpu_by_id[purchase.gpu_ids[0]]
        if gpu.id not in market.closed:
            _add_purchase(builder, purchase, gpu, constraints)
    obtainable = len(builder.clusters)
    reached = {c.gpu.id for c in builder.clusters}
    for gpu in sorted(catalog.gpus, key=lambda g: g.id):
        if gpu.id not in reached and gpu.id not in market.closed:
            _add_unpriced(builder, gpu)
    return Candidates(tuple(builder.clusters), tuple(builder.seeds), obtainable)


def _most_per_node(gpu: Gpu) -> int:
    return gpu.max_gpus_per_node or USUAL_CARDS_PER_NODE


def _machines(most: int) -> Iterator[int]:
    yield from (n for n in CARDS_PER_MACHINE if n <= most)
    if most not in CARDS_PER_MACHINE:
        yield most


def _smallest_system(
    catalog: CatalogSnapshot, gpu: Gpu, cards: int, *, maker: str = "", cloud: bool | None = None
) -> tuple[System | None, bool]:
    """The smallest system with at least so many of the card, the seller's own first; whether it is the seller's."""
    systems = [s for s in catalog.systems_by_gpu.get(gpu.id, ()) if s.gpus >= cards]
    own = [s for s in systems if maker and (s.maker.lower() in maker.lower() or maker.lower() in s.maker.lower())]
    if own:
        return own[0], True
    fitting = [s for s in systems if cloud is None or s.cloud == cloud]
    return (fitting or systems or [None])[0], False


# owned ------------------------------------------------------------------------------------------------------------


def _add_owned(builder: _Builder, owned: OwnedGpus, market: Market) -> None:
    catalog = builder.catalog
    slowest = catalog.gpu_aliases.get(owned.gpu_id.lower(), (owned.gpu_id,))[0]  # a name may mean several cards
    gpu = catalog.gpu_by_id.get(owned.gpu_id) or catalog.gpu_by_id.get(slowest)
    if gpu is None or gpu.id in market.closed:
        return
    per_node = min(owned.count, max(_most_per_node(gpu), 1))
    counts = {*_machines(per_node), per_node}
    shapes = [(n, 1) for n in sorted(counts)]
    shapes += [(per_node, n) for n in node_counts(per_node, min(owned.count, builder.max_gpus)) if n > 1]
    for cards, nodes in shapes:
        if cards * nodes <= builder.max_gpus:
            index = builder.cluster(gpu, None, cards, nodes, in_use=owned.in_use_bytes)
            builder.seeds.append(Seed(index, "owned"))


# rented and shared ------------------------------------------------------------------------------------------------


def _add_offer(builder: _Builder, offer: Offer, gpu: Gpu) -> None:
    way = way_of(offer)
    most = min(builder.max_gpus, offer.max_gpus or builder.max_gpus)
    for system, per_node, nodes, assumed in _offer_shapes(builder.catalog, offer, gpu, most):
        index = builder.cluster(gpu, system, per_node, nodes, assumed=assumed)
        builder.seeds.append(Seed(index, "owned" if way == "owned" else "shared" if way == "shared" else "rent", offer))


def _offer_shapes(
    catalog: CatalogSnapshot, offer: Offer, gpu: Gpu, most: int
) -> Iterator[tuple[System | None, int, int, bool]]:
    """(system, cards of a node, nodes, assumed) of an offer.

    Hosts of a marketplace belong to different people: one node only. Cards rented one by one form several nodes only
    by whole machines.
    """
    unit = offer.gpus_per_unit
    unstated = unit is None
    if unit is None:
        smallest, _ = _smallest_system(catalog, gpu, 1, maker=offer.provider, cloud=True)
        unit = smallest.gpus if smallest is not None else 1
    per_node_choices: Iterable[int] = (unit,) if unit > 1 else _machines(_most_per_node(gpu))
    several = offer.provider_kind not in ("marketplace", "own")
    largest = unit if unit > 1 else _most_per_node(gpu)
    for per_node in per_node_choices:
        system, sellers_own = _smallest_system(catalog, gpu, per_node, maker=offer.provider, cloud=True)
        if per_node == 1 and not (sellers_own and system is not None and system.gpus == 1):
            system = None  # one card needs no link: naming another seller's machine would mislead
        assumed = unstated or (not sellers_own and per_node > 1)
        for nodes in node_counts(per_node, most):
            if nodes > 1 and not (several and per_node == largest):
                break
            yield system, per_node, nodes, assumed


# bought -----------------------------------------------------------------------------------------------------------


def _add_purchase(builder: _Builder, purchase: PurchasePrice, gpu: Gpu, constraints: Constraints) -> None:
    for system, per_node, nodes in _purchase_shapes(builder.catalog, purchase, gpu, builder.max_gpus):
        if constraints.server_room or _stands_in_an_office(gpu, per_node, nodes):
            index = builder.cluster(gpu, system, per_node, nodes, assumed=False)
            builder.seeds.append(Seed(index, "buy", None, purchase))


def _purchase_shapes(
    catalog: CatalogSnapshot, purchase: PurchasePrice, gpu: Gpu, most: int
) -> Iterator[tuple[System | None, int, int]]:
    if purchase.whole_server or purchase.cards > 1:
        system, _ = _smallest_system(catalog, gpu, purchase.cards, cloud=False)
        yield from ((system, purchase.cards, n) for n in node_counts(purchase.cards, most))
    elif gpu.form_factor.startswith(_MODULES) and "PCIe" not in gpu.form_factor:
        system, _ = _smallest_system(catalog, gpu, 2, cloud=False)
        per_node = system.gpus if system is not None else _most_per_node(gpu)
        yield from ((system, per_node, n) for n in node_counts(per_node, most))
    elif gpu.segment in ("soc", "edge"):
        yield None, 1, 1
    else:
        for per_node in _machines(min(_most_per_node(gpu), most)):
            yield None, per_node, 1
        full = _most_per_node(gpu)
        if gpu.segment == "datacenter" and full > 1:
            yield from ((None, full, n) for n in node_counts(full, most) if n > 1)


def _stands_in_an_office(gpu: Gpu, per_node: int, nodes: int) -> bool:
    """Cards with fans of their own in a workstation; passively cooled cards and modules need a server's wind."""
    if gpu.segment not in _DESKTOP or nodes > 1 or per_node > OFFICE_CARDS:
        return False
    return per_node * (gpu.tdp_watts or 0.0) <= OFFICE_WATTS


def _add_unpriced(builder: _Builder, gpu: Gpu) -> None:
    """Shapes of a card that nobody offers, so that its memory can still be judged.

    As with what is bought, desktop cards and whole computers (Apple, Ryzen AI) are not linked over several machines.
    """
    full = _most_per_node(gpu)
    for per_node in _machines(min(full, builder.max_gpus)):
        builder.cluster(gpu, None, per_node, 1)
    if gpu.segment in _DESKTOP:
        return
    for nodes in node_counts(full, builder.max_gpus):
        if nodes > 1:
            builder.cluster(gpu, None, full, nodes)
