"""Options: each way to get a cluster on which every task works, with time, money and risk, before exact pricing.

Rent is priced for all clusters of an offer in one pass of the very formula that prices a single plan; what is bought
or owned is priced exactly at once, there are few of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from engine.cost.age import age_days, price_spread
from engine.cost.figures import Figures
from engine.cost.plan import price_plan, setup_hours
from engine.cost.rent import GPU_ONLY_CARD_GB, rent_terms, spot_factor
from engine.hardware.model import CatalogSnapshot, Cluster, Gpu, Offer
from engine.layout.model import InferenceJob
from engine.layout.plan import Plan
from engine.quantity import Bounds, Estimate
from engine.scenario import Scenario
from engine.search.clusters import Candidates, Seed
from engine.search.evaluate import GOOD_SLOW, NOTHING, TIGHT, TIGHT_SLOW, TaskTable
from engine.search.risk import RiskInput, risk_parts, total_risk
from engine.search.timing import TaskTime, reliability_of, result_gb, stored_gb, time_of_task

__all__ = ["Option", "delivery_days", "options_of", "plan_of"]

DAY = 86_400.0
#: Days from an order to a running machine: cards and desktop machines; servers, modules and several nodes. Planning
#: assumptions, to be replaced by the seller's word (the checklist's question on delivery time).
DELIVERY_SMALL = Estimate(low=3, expected=14, high=30)
DELIVERY_SERVER = Estimate(low=28, expected=56, high=112)
COARSE_FORMATS = frozenset({"awq4", "gptq4", "int4", "nf4", "nf4-dq", "fp4", "q4_0", "q4_k_m", "q3_k_m", "q2_k"})


@dataclass(frozen=True)
class Option:
    """A way to get a cluster on which all tasks work; money in the scenario's currency, expected values."""

    seed: Seed
    cluster: Cluster
    busy_seconds: Estimate
    days: Estimate
    tight: bool
    slow: bool  # misses the targets of a service
    risk: float
    parts: dict[str, float]
    storage_gb: float
    result_gb: float
    cost: float  # of the job
    cash: float
    id: str
    over_budget: float = 0.0  # cash above the budget, in the scenario's currency; <= 0 is within
    days_late: float = 0.0  # days after the deadline; <= 0 is in time

    @property
    def works(self) -> bool:
        """Whether it meets the targets, the budget and the deadline."""
        return not self.slow and self.over_budget <= 0 and self.days_late <= 0

    @cached_property
    def ranking_cost(self) -> float:
        """Cost of the job with risk."""
        return self.cost * (1 + self.risk)

    @cached_property
    def key(self) -> tuple[float, float, float, str]:
        """Order of options; the id breaks what is left of a tie."""
        return (self.ranking_cost, self.days.expected, self.risk, self.id)


@dataclass(frozen=True)
class _Work:
    """All tasks on one cluster."""

    busy: Estimate
    calendar: Estimate  # seconds that count towards the deadline
    tight: bool
    slow: bool
    memory_share: float
    rough: bool
    coarse: bool
    storage_gb: float
    result_gb: float


def plan_id(seed: Seed, cluster: Cluster) -> str:
    """An id that the same plan has tomorrow."""
    host = cluster.system.id if cluster.system is not None else "host"
    return f"{seed.way}/{seed.source_id}/{cluster.gpu.id}/{host}/{cluster.gpus_per_node}x{cluster.nodes}"


def plan_of(seed: Seed, cluster: Cluster) -> Plan:
    """The plan of a seed."""
    return Plan(id=plan_id(seed, cluster), cluster=cluster, way=seed.way, offer=seed.offer, purchase=seed.purchase)


def delivery_days(seed: Seed, gpu: Gpu, cluster: Cluster) -> Estimate:
    """Days before the work can start: the queue of a shared cluster, the delivery of what is bought."""
    if seed.offer is not None:
        return Estimate.exact(seed.offer.queue_days)
    if seed.way != "buy":
        return Estimate.exact(0.0)
    small = cluster.nodes == 1 and cluster.gpus_per_node <= 4 and gpu.form_factor in ("PCIe", "SoC", "desktop SoC")
    return DELIVERY_SMALL if small else DELIVERY_SERVER


def options_of(
    scenario: Scenario,
    catalog: CatalogSnapshot,
    candidates: Candidates,
    tables: Sequence[TaskTable],
    figures: Figures,
) -> list[Option]:
    """All options on which every task works, in no order that matters."""
    works = _works(catalog, candidates, tables)
    sellers = _sellers(candidates)
    priced = [
        *_rented(candidates, works, scenario, figures),
        *_bought_and_owned(candidates, works, scenario, catalog, figures),
    ]
    limits = _limits(scenario, figures)
    return [
        _option(seed, candidates.clusters[seed.cluster], works[seed.cluster], cost, cash, sellers, scenario, limits)
        for seed, cost, cash in priced
    ]


def _works(catalog: CatalogSnapshot, candidates: Candidates, tables: Sequence[TaskTable]) -> dict[int, _Work]:
    """All tasks on each cluster that can be had and where every task works."""
    reliability = reliability_of(catalog)
    worst = np.max([t.rank[: candidates.obtainable] for t in tables], axis=0)
    found: dict[int, _Work] = {}
    for index in np.flatnonzero(worst < NOTHING).tolist():
        cluster = candidates.clusters[index]
        times = [time_of_task(table, index, cluster, reliability, working=False) for table in tables]
        found[index] = _work(tables, index, cluster, times)
    return found


def _work(tables: Sequence[TaskTable], index: int, cluster: Cluster, times: list[TaskTime]) -> _Work:
    ranks = [int(t.rank[index]) for t in tables]
    usable = cluster.gpu.usable_bytes or 1
    shares, storage = [], 0.0
    for table in tables:
        chosen = table.sets[int(table.chosen_set[index])]
        high = float(np.asarray(chosen.memory.driver.high)[table.chosen_layout[index]])
        shares.append((high + cluster.in_use_bytes) / usable)
        storage += stored_gb(table, index)
    return _Work(
        busy=_sum([t.busy_seconds for t in times]),
        calendar=_sum([t.busy_seconds for t in times if t.occupies_calendar]),
        tight=any(r in (TIGHT, TIGHT_SLOW) for r in ranks),
        slow=any(r >= GOOD_SLOW for r in ranks),
        memory_share=max(shares),
        rough=any(
            t.sets[int(t.chosen_set[index])].memory.fallback or t.resolved.architecture.basis == "size" for t in tables
        ),
        coarse=any(_coarse(t.sets[int(t.chosen_set[index])].job) for t in tables),
        storage_gb=storage,
        result_gb=sum(result_gb(t) for t in tables),
    )


def _coarse(job: object) -> bool:
    return isinstance(job, InferenceJob) and job.weight_quantization in COARSE_FORMATS


def _sum(estimates: Sequence[Estimate]) -> Estimate:
    return Estimate(
        low=sum(e.low for e in estimates),
        expected=sum(e.expected for e in estimates),
        high=sum(e.high for e in estimates),
    )


def _sellers(candidates: Candidates) -> dict[tuple[str, str], int]:
    """How many sellers there are of each card and way."""
    found: dict[tuple[str, str], set[str]] = {}
    for seed in candidates.seeds:
        found.setdefault((candidates.clusters[seed.cluster].gpu.id, seed.way), set()).add(seed.seller)
    return {key: len(names) for key, names in found.items()}


# money ------------------------------------------------------------------------------------------------------------


def _rented(
    candidates: Candidates, works: dict[int, _Work], scenario: Scenario, figures: Figures
) -> Iterator[tuple[Seed, float, float]]:
    by_offer: dict[str, list[Seed]] = {}
    for seed in candidates.seeds:
        if seed.offer is not None and seed.way in ("rent", "shared") and seed.cluster in works:
            by_offer.setdefault(seed.offer.id, []).append(seed)
    wage = float(figures.engineer_hour.bounds.expected)
    for seeds in by_offer.values():
        offer = seeds[0].offer
        if offer is None:
            continue
        bills = _bills(offer, seeds, candidates, works, scenario, figures)
        for seed, bill in zip(seeds, bills, strict=True):
            engineering = float(setup_hours(candidates.clusters[seed.cluster]).expected) * wage
            yield seed, float(bill) + engineering, float(bill)


def _bills(
    offer: Offer,
    seeds: Sequence[Seed],
    candidates: Candidates,
    works: dict[int, _Work],
    scenario: Scenario,
    figures: Figures,
) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """What is billed for each cluster of an offer: `engine.cost.rent` over arrays."""
    clusters = [candidates.clusters[s.cluster] for s in seeds]
    busy = np.array([(w.busy.low, w.busy.expected, w.busy.high) for w in (works[s.cluster] for s in seeds)]).T / 3600
    storage = works[seeds[0].cluster].storage_gb
    spread = price_spread(age_days(offer.observed_on, scenario.as_of), own_quotation=offer.origin != "catalog")
    terms = rent_terms(
        offer,
        gpus=np.array([c.gpus for c in clusters]),
        nodes=np.array([c.nodes for c in clusters]),
        hours=Bounds(*busy),
        spread=spread,
        storage_gb=storage,
        result_gb=works[seeds[0].cluster].result_gb,
        figures=figures,
        card_gb=np.array([c.gpu.memory_gb or GPU_ONLY_CARD_GB for c in clusters]),
    )
    total = np.zeros(len(seeds))
    for term in terms:
        total = total + term.amount.expected
    return total


def _bought_and_owned(
    candidates: Candidates, works: dict[int, _Work], scenario: Scenario, catalog: CatalogSnapshot, figures: Figures
) -> Iterator[tuple[Seed, float, float]]:
    for seed in candidates.seeds:
        if seed.way not in ("buy", "owned") or seed.cluster not in works:
            continue
        cluster, work = candidates.clusters[seed.cluster], works[seed.cluster]
        cost = price_plan(
            plan_of(seed, cluster),
            _scaled(work.busy, 1 / 3600),
            _days(seed, cluster, work),
            scenario,
            catalog,
            risk=0.0,
            figures=figures,
        )
        yield seed, float(cost.cost_of_job.expected), float(cost.cash_needed.expected)


def _limits(scenario: Scenario, figures: Figures) -> tuple[float, float]:
    budget = scenario.constraints.budget
    most = float(figures.rates.convert(budget, figures.currency).amount) if budget is not None else np.inf
    return most, scenario.constraints.deadline_days or np.inf


def _days(seed: Seed, cluster: Cluster, work: _Work) -> Estimate:
    wait = delivery_days(seed, cluster.gpu, cluster)
    longer = spot_factor(cluster.nodes) if seed.term == "spot" else Bounds.exact(1.0)
    return Estimate(
        low=wait.low + work.calendar.low / DAY * float(longer.low),
        expected=wait.expected + work.calendar.expected / DAY * float(longer.expected),
        high=wait.high + work.calendar.high / DAY * float(longer.high),
    )


def _scaled(estimate: Estimate, factor: float) -> Estimate:
    return Estimate(low=estimate.low * factor, expected=estimate.expected * factor, high=estimate.high * factor)


def _option(
    seed: Seed,
    cluster: Cluster,
    work: _Work,
    cost: float,
    cash: float,
    sellers: dict[tuple[str, str], int],
    scenario: Scenario,
    limits: tuple[float, float],
) -> Option:
    known = RiskInput(
        memory_share=work.memory_share,
        tight=work.tight,
        time_width=work.busy.relative_width,
        rough_model=work.rough,
        coarse_format=work.coarse,
        single_seller=sellers[cluster.gpu.id, seed.way] == 1,
    )
    parts = risk_parts(seed, cluster, known, scenario)
    days = _days(seed, cluster, work)
    return Option(
        seed=seed,
        cluster=cluster,
        busy_seconds=work.busy,
        days=days,
        tight=work.tight,
        slow=work.slow,
        risk=total_risk(parts),
        parts=parts,
        storage_gb=work.storage_gb,
        result_gb=work.result_gb,
        cost=cost,
        cash=cash,
        id=plan_id(seed, cluster),
        over_budget=cash - limits[0],
        days_late=days.expected - limits[1],
    )
