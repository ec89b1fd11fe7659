"""The whole search of a scenario: resolve, gather, evaluate, price, rank."""

from __future__ import annotations

from dataclasses import dataclass

from engine.advice.result import Assessment
from engine.control import Control
from engine.cost.figures import Figures, figures_of
from engine.errors import InputError
from engine.hardware.model import CatalogSnapshot
from engine.scenario import Scenario, TrainingWorkload
from engine.search.assessments import assessments_of
from engine.search.clusters import Candidates, candidates_of
from engine.search.evaluate import TaskTable, evaluate_task
from engine.search.market import Market, card_ids, market_of
from engine.search.options import Option, options_of
from engine.search.resolve import COVERED_METHODS, ResolvedTask, resolve_tasks
from engine.search.select import finalists

__all__ = ["SearchResult", "search"]


@dataclass(frozen=True)
class SearchResult:
    """Everything that advice is made of. `tier` is 0 with the usual settings, more where lighter ones were needed."""

    scenario: Scenario
    catalog: CatalogSnapshot
    market: Market
    candidates: Candidates
    figures: Figures
    resolved: tuple[ResolvedTask, ...]
    tables: tuple[TaskTable, ...]
    options: tuple[Option, ...]
    ranked: tuple[Assessment, ...]
    tier: int
    looked_at: int  # pairs of cluster and layout whose memory was held against the card

    @property
    def plans(self) -> int:
        """Ways to get a cluster on which the work could be done, within the limits or not."""
        return len(self.options)


def search(scenario: Scenario, catalog: CatalogSnapshot, control: Control | None = None) -> SearchResult:
    """Search all that could be had; lighter settings are tried only where the usual ones leave nothing.

    InputError where the scenario names what does not exist or a method that is not covered.
    """
    control = control or Control()
    for task in scenario.tasks:
        workload = task.workload
        if isinstance(workload, TrainingWorkload) and workload.method not in COVERED_METHODS:
            raise InputError("search.method_not_covered", method=f"method.{workload.method.value}")
    _check_cards(scenario, catalog)
    resolved = resolve_tasks(scenario, catalog)
    figures = figures_of(scenario, catalog)
    market = market_of(scenario, catalog)
    candidates = candidates_of(scenario, catalog, market)
    first: SearchResult | None = None
    looked_at = 0
    for tier in range(max(len(r.tiers) for r in resolved)):
        result = _search_tier(tier, resolved, scenario, catalog, market, candidates, figures, control, looked_at)
        looked_at = result.looked_at
        first = first or result
        if result.ranked:
            return result
    if first is None:
        raise ValueError("a scenario has at least one task")
    return first


def _check_cards(scenario: Scenario, catalog: CatalogSnapshot) -> None:
    """InputError where an owned or wanted card does not exist: leaving it out in silence would change the answer."""
    constraints = scenario.constraints
    for name in (*(o.gpu_id for o in constraints.owned), *constraints.include_gpus):
        if not card_ids([name], catalog) & catalog.gpu_by_id.keys():
            raise InputError("search.gpu_unknown", gpu=name)


def _search_tier(
    tier: int,
    resolved: tuple[ResolvedTask, ...],
    scenario: Scenario,
    catalog: CatalogSnapshot,
    market: Market,
    candidates: Candidates,
    figures: Figures,
    control: Control,
    looked_at: int,
) -> SearchResult:
    tables = tuple(
        evaluate_task(
            task,
            task.tiers[min(tier, len(task.tiers) - 1)],
            candidates.clusters,
            headroom=scenario.constraints.headroom,
            timed=candidates.obtainable,
            control=control,
        )
        for task in resolved
    )
    control.checkpoint()
    options = options_of(scenario, catalog, candidates, tables, figures)
    control.checkpoint()
    ranked = assessments_of(finalists(options, scenario), tables, scenario, catalog, figures, control)
    return SearchResult(
        scenario=scenario,
        catalog=catalog,
        market=market,
        candidates=candidates,
        figures=figures,
        resolved=resolved,
        tables=tables,
        options=tuple(options),
        ranked=tuple(ranked),
        tier=tier,
        looked_at=looked_at + sum(t.looked_at for t in tables),
    )
