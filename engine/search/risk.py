"""Risk of a plan as a sum of named parts, each a share of the job's cost that may be lost on top.

The weights are judgements, not measurements: they order plans whose cost differs little, and each is shown with its
reason. 0 is no risk beyond what the ranges say already.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from engine.cost.age import STALE_DAYS, age_days
from engine.hardware.model import Cluster
from engine.quantity import Estimate, Term
from engine.scenario import Scenario
from engine.search.clusters import Seed
from engine.search.market import MAX_PRICE_AGE_DAYS, region_of

__all__ = ["RiskInput", "risk_parts", "risk_terms", "total_risk"]

_SOURCE = "judgement"

HEADROOM_FROM = 0.70  # share of usable memory from which a fuller card is a risk
HEADROOM_FULL = 0.10  # at the edge of the headroom
HEADROOM_TIGHT = 0.25  # fits tightly: one run in four is stopped by the card and repeated with smaller settings
WIDTH = 0.05  # for a time range as wide as its expected value
WIDTH_MOST = 0.15
PRICE_AGE = 0.10  # at the greatest age that is admitted, or undated
SPOT = 0.15
SECOND_NODE = 0.04  # a network between machines; more for each doubling
EACH_DOUBLING = 0.02
SLOW_FABRIC = 0.06  # several nodes over plain Ethernet
HOST_TRAFFIC = 0.03  # several cards that exchange data through host memory
NODE_ASSUMED = 0.03
SINGLE_SELLER = 0.03
EXPORT = 0.10
REGION_UNKNOWN = 0.03
ROUGH_MODEL = 0.05  # memory by first principles, or dimensions guessed from a size
COARSE_FORMAT = 0.05  # a service in 4 bits: quality must be checked
SOFTWARE = (0.0, 0.30, 0.20, 0.10, 0.03, 0.0)  # by maturity of the stack, 1 (young) to 5 (everything runs)
USED_CARD = 0.06  # no warranty
PROVIDER = {
    "hyperscaler": 0.0,
    "gpu-cloud": 0.02,
    "monthly-host": 0.04,
    "marketplace": 0.08,  # hosts of private people that come and go
    "shared": 0.02,
    "own": 0.0,
}


@dataclass(frozen=True)
class RiskInput:
    """What the risk of a plan depends on, beyond its cluster and offer."""

    memory_share: float  # (high end of memory + in use) / usable, of the task that fills the card most
    tight: bool
    time_width: float  # (high - low) / expected of the busy time
    rough_model: bool
    coarse_format: bool
    single_seller: bool


def total_risk(parts: dict[str, float]) -> float:
    """Sum of the parts."""
    return sum(parts.values())


def risk_parts(seed: Seed, cluster: Cluster, known: RiskInput, scenario: Scenario) -> dict[str, float]:
    """The parts that are not zero, by label code."""
    gpu, region = cluster.gpu, scenario.constraints.region
    edge = 1 - scenario.constraints.headroom
    filled = min(1.0, max(0.0, (known.memory_share - HEADROOM_FROM) / max(1e-9, edge - HEADROOM_FROM)))
    several = cluster.gpus > 1
    parts = {
        "risk.headroom": HEADROOM_TIGHT if known.tight else HEADROOM_FULL * filled,
        "risk.time_width": min(WIDTH_MOST, WIDTH * known.time_width),
        "risk.price_age": _price_age(seed, scenario),
        "risk.spot": SPOT if seed.term == "spot" else 0.0,
        "risk.provider": _provider(seed),
        "risk.single_seller": SINGLE_SELLER if known.single_seller and seed.way in ("rent", "buy") else 0.0,
        "risk.software": SOFTWARE[gpu.software_maturity],
        "risk.nodes": _nodes(cluster.nodes),
        "risk.fabric": SLOW_FABRIC if cluster.inter_node is not None and cluster.inter_node.kind == "ethernet" else 0.0,
        "risk.host_traffic": HOST_TRAFFIC if several and cluster.intra_node.kind == "pcie-host" else 0.0,
        "risk.node_assumed": NODE_ASSUMED if cluster.assumed and several else 0.0,
        "risk.export": EXPORT
        if region and region in gpu.export_controlled_for and seed.way in ("rent", "buy")
        else 0.0,
        "risk.region": REGION_UNKNOWN if _region_unknown(seed, region) else 0.0,
        "risk.model": ROUGH_MODEL if known.rough_model else 0.0,
        "risk.format": COARSE_FORMAT if known.coarse_format else 0.0,
    }
    return {name: round(part, 6) for name, part in parts.items() if part > 0}


def risk_terms(parts: dict[str, float]) -> tuple[Term, ...]:
    """The parts as terms, with their reasons in the labels."""
    return tuple(_term(name, Estimate.exact(part)) for name, part in parts.items())


def _term(name: str, amount: Estimate) -> Term:
    return Term(
        name=name, unit="1", low=amount.low, expected=amount.expected, high=amount.high,
        formula="share_of_job_cost", values={"share_of_job_cost": amount.expected}, source=_SOURCE,
    )  # fmt: skip


def _price_age(seed: Seed, scenario: Scenario) -> float:
    row = seed.offer or seed.purchase
    if row is None or row.origin != "catalog":
        return 0.0
    age = age_days(row.observed_on, scenario.as_of)
    if age is None:
        return PRICE_AGE
    return PRICE_AGE * min(1.0, max(0.0, (age - STALE_DAYS) / (MAX_PRICE_AGE_DAYS - STALE_DAYS)))


def _nodes(nodes: int) -> float:
    return SECOND_NODE + EACH_DOUBLING * math.log2(nodes / 2) if nodes > 1 else 0.0


def _provider(seed: Seed) -> float:
    if seed.offer is not None:
        return PROVIDER[seed.offer.provider_kind]
    return USED_CARD if seed.purchase is not None and seed.purchase.condition == "used" else 0.0


def _region_unknown(seed: Seed, region: str) -> bool:
    if not region or seed.way not in ("rent", "buy"):
        return False
    row = seed.offer or seed.purchase
    return row is not None and row.origin == "catalog" and region_of(row.country) == ""
