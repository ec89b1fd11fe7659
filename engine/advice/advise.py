"""`advise`: from a scenario and a catalogue to ranked, explained advice. Pure but for the clock in `searched`."""

from __future__ import annotations

from time import perf_counter

from engine.advice.api import api_baselines
from engine.advice.picks import picks_of
from engine.advice.rejections import rejections_of
from engine.advice.result import Advice, Searched
from engine.advice.rules import findings_of
from engine.advice.ways import compare_ways
from engine.control import Control
from engine.hardware.model import CatalogSnapshot
from engine.scenario import Scenario
from engine.search.search import search

__all__ = ["advise"]


def advise(scenario: Scenario, catalog: CatalogSnapshot, control: Control | None = None) -> Advice:
    """The best things to do for a scenario, and why; the rest, and why not.

    The same scenario and catalogue give the same advice (apart from `searched.seconds`), in whatever order the
    catalogue lists its rows. Raises `Cancelled` when `control` is cancelled, InputError where the scenario names a
    model that does not exist or a method that is not covered. That nothing works is an answer, not an error: the
    picks are empty then, and the findings say what comes nearest and what would change it.
    """
    begun = perf_counter()
    result = search(scenario, catalog, control)
    picks = picks_of(result.ranked, scenario)
    api = api_baselines(result, picks)
    rejected = rejections_of(result)
    return Advice(
        scenario=scenario,
        picks=picks,
        ranked=result.ranked,
        rejected=rejected,
        api=api,
        ways=compare_ways(result, picks, api),
        findings=findings_of(result, picks, api),
        catalog_version=catalog.version,
        catalog_sha256=catalog.sha256,
        searched=Searched(
            clusters=len(result.candidates.clusters),
            candidates=result.looked_at,
            plans=result.plans,
            seconds=perf_counter() - begun,
        ),
    )
