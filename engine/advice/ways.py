"""The ways of getting the same work done, held against each other over the months of the project.

The reference is the best purchase of the advice (else the best plan): it is busy for the stated hours a month, and
every other way does the same work in its own hours. Cash only: no share of a price is counted a second time.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from engine.advice.result import ApiBaseline, Assessment, Pick, PickRole
from engine.advice.ways_checkpoint import checkpoint_terms
from engine.advice.ways_parts import IDLE_SHARE, Knobs, Sources, busy_hours, ledgers, load_kw
from engine.advice.ways_remarks import ALL_WAYS, remark_of
from engine.advice.ways_result import ScenarioCost, Swing, WayCode, WayCost, WaysComparison
from engine.cost.age import age_days, price_spread
from engine.cost.figures import ASSUMPTION
from engine.cost.footprint import grid_intensity
from engine.cost.ledger import Ledger
from engine.cost.own import residual_share
from engine.cost.rent import HOURS_PER_MONTH
from engine.cost.uncertain import DRAWS, SEED, band, break_even_hours, crossing_months, drawn
from engine.findings import Finding, Severity
from engine.quantity import Bounds, Estimate, MoneyEstimate, Number, Term
from engine.scenario import InferenceWorkload
from engine.search.search import SearchResult

__all__ = ["compare_ways"]

#: Use of the machine around the stated hours: plans of use are seldom met (planning assumption).
USE = Bounds(0.6, 1.0, 1.2)
#: Technical life against the stated one (planning assumption).
SHORT_LIFE, LONG_LIFE = 0.75, 1.25
#: Ways that differ by less than this share cost the same.
TIE = 0.01
#: What could come otherwise, with the figures that it changes.
SCENARIOS: dict[str, dict[str, float | int]] = {
    "ways.price_up": {"price": 1.3},
    "ways.half_use": {"use": 0.5},
    "ways.six_months_late": {"late": 6},
    "ways.cloud_cheaper": {"rent": 0.7},
}
#: Ways that do the work; doing nothing is shown, but never the cheapest.
_RIVALS: tuple[WayCode, ...] = ("on-demand", "monthly", "reserved", "spot", "shared")


def compare_ways(result: SearchResult, picks: tuple[Pick, ...], api: tuple[ApiBaseline, ...]) -> WaysComparison | None:
    """All ways for the same work; None where nothing is ranked."""
    balanced = [result.ranked[p.index] for p in picks if p.role is PickRole.BALANCED]
    best = _best_of_terms((*balanced, *result.ranked))  # what is recommended stands for its own way
    reference = best.get("buy") or (result.ranked[0] if result.ranked else None)
    if reference is None or busy_hours(reference) <= 0:
        return None
    scenario = result.scenario
    economics = scenario.economics
    months = economics.terms.project_months or max(1, round(economics.years * 12))
    hours = _hours_per_month(result, reference)
    hosted = [a for a in api if a.allowed] if len(scenario.tasks) == 1 else []
    cheapest_api = min(hosted, key=lambda a: a.cost.expected, default=None)
    life = economics.years * 12

    def residual_at(factor: float) -> float:
        age = (months - 1) % max(1, round(life * factor)) + 1
        return float(residual_share(result.catalog, reference.plan.cluster.gpu, age / 12)[0].expected)

    jobs = hours / busy_hours(reference)
    sources = Sources(scenario, result.figures, months, jobs, best, cheapest_api, residual_at)
    bounds, share_source = _bounds(result, sources, reference, hours)
    expected = ledgers(sources, _knobs({k: float(b.expected) for k, b in bounds.items()}))
    draws = ledgers(sources, _draws(bounds))
    grid, grid_source = grid_intensity(result.catalog.cost_items, scenario.constraints.region)
    ways = tuple(_way(way, expected.get(way), draws.get(way), sources, grid, bounds) for way in ALL_WAYS)
    totals: dict[WayCode, float] = {w.way: w.total.expected for w in ways if w.total is not None and w.way != "nothing"}
    if not totals:
        return None
    rented: WayCode | None = next((w for w in _RIVALS if w in expected), None)
    machine = float(expected["buy"].lines["own.machine"][0]) if "buy" in expected else 0.0
    found = WaysComparison(
        currency=result.figures.currency, months=months, hours_per_month=hours, reference_plan_id=reference.plan.id,
        ways=ways, cheapest=_least(totals), rented=rented if "buy" in expected else None,
        tornado=_tornado(sources, bounds, rented) if "buy" in expected and rented else (),
        scenarios=_scenarios(sources, bounds), checkpoint=checkpoint_terms(result, reference),
        figures=_figures(result, bounds, share_source, grid, grid_source),
        depreciation_per_year=machine / economics.terms.accounting_years,
        accounting_years=economics.terms.accounting_years, technical_months=round(economics.years * 12),
        seed=SEED, draws=DRAWS,
    )  # fmt: skip
    return _with_crossing(found, sources, bounds, expected, draws)


def _least(totals: dict[WayCode, float]) -> WayCode:
    return min(totals, key=lambda way: totals[way])


def _best_of_terms(ranked: tuple[Assessment, ...]) -> dict[str, Assessment]:
    found: dict[str, Assessment] = {}
    for assessment in ranked:
        plan = assessment.plan
        found.setdefault(plan.offer.term if plan.offer is not None and plan.way in ("rent", "shared") else plan.way,
                         assessment)  # fmt: skip
    return found


def _hours_per_month(result: SearchResult, reference: Assessment) -> float:
    """As stated, or what the services take if that is more; no more than a month has."""
    months = {t.id: t.workload.months for t in result.scenario.tasks if isinstance(t.workload, InferenceWorkload)}
    up = sum(t.busy_seconds.expected / 3600 / months[t.task_id] for t in reference.tasks if t.task_id in months)
    return min(HOURS_PER_MONTH, max(result.scenario.economics.hours_per_month, up))


# what is uncertain -------------------------------------------------------------------------------------------------


def _bounds(
    result: SearchResult, sources: Sources, reference: Assessment, hours: float
) -> tuple[dict[str, Bounds], str]:
    scenario, cost = result.scenario, reference.cost
    machine = [t for t in cost.cash_terms if t.name != "cost.energy"] if reference.plan.way == "buy" else []
    price = sum(t.expected for t in machine)
    relative = Bounds(sum(t.low for t in machine) / price, 1.0, sum(t.high for t in machine) / price) if price else None
    rented = next((sources.best[t] for t in ("on-demand", "monthly", "spot") if t in sources.best), None)
    offer = rented.plan.offer if rented is not None else None
    rent = Bounds.exact(1.0)
    if offer is not None:
        rent = price_spread(age_days(offer.observed_on, scenario.as_of), own_quotation=offer.origin != "catalog")
    seconds = [t.busy_seconds for t in reference.tasks]
    busy = sum(s.expected for s in seconds)
    life = round(scenario.economics.years * 12)
    age = (sources.months - 1) % life + 1
    residual, source = residual_share(result.catalog, reference.plan.cluster.gpu, age / 12)
    return {
        "price": relative or Bounds.exact(1.0),
        "rent": rent,
        "api": _around(sources.api.cost) if sources.api is not None else Bounds.exact(1.0),
        "use": Bounds(USE.low, 1.0, min(float(USE.high), max(1.0, HOURS_PER_MONTH / hours))),
        "speed": Bounds(sum(s.low for s in seconds) / busy, 1.0, sum(s.high for s in seconds) / busy),
        "tariff": result.figures.electricity_per_kwh.bounds,
        "pue": result.figures.pue.bounds,
        "residual": residual,
    }, source


def _around(cost: MoneyEstimate) -> Bounds:
    expected = float(cost.expected) or 1.0
    return Bounds(float(cost.low) / expected, 1.0, float(cost.high) / expected)


def _knobs(values: dict[str, Number]) -> Knobs:
    return Knobs(**values)  # pyright: ignore[reportArgumentType]


def _draws(bounds: dict[str, Bounds]) -> Knobs:
    normal = np.random.default_rng(SEED).standard_normal((len(bounds), DRAWS, 1))
    return _knobs({name: drawn(b, z) for (name, b), z in zip(bounds.items(), normal, strict=True)})


def _way(
    way: WayCode, ledger: Ledger | None, draws: Ledger | None, sources: Sources, grid: Bounds, bounds: dict[str, Bounds]
) -> WayCost:
    remark = remark_of(way, sources, ledger is not None)
    if ledger is None or draws is None:
        return WayCost(way=way, remark=remark)
    rate, shape = sources.scenario.economics.discount_rate, (DRAWS, ledger.months + 1)
    paths = np.broadcast_to(draws.cumulative, shape)
    middle = ledger.cumulative
    low, high = np.quantile(paths, 0.05, axis=0), np.quantile(paths, 0.95, axis=0)
    band_of_months = zip(np.minimum(low, middle), middle, np.maximum(high, middle), strict=True)
    worth = np.broadcast_to(draws.present_value(rate), DRAWS)
    kwh = _kwh_per_year(way, sources, bounds)
    return WayCost(
        way=way, plan_id=_plan_id(way, sources), total=band(paths[:, -1], float(middle[-1])),
        present_value=band(worth, float(ledger.present_value(rate))), first_day=float(middle[0]),
        years=ledger.years(), cumulative=tuple((float(a), float(b), float(c)) for a, b, c in band_of_months),
        lines=tuple((c, float(a.sum())) for c, a in ledger.lines.items() if abs(float(a.sum())) >= 0.005),
        kwh_per_year=kwh,
        kg_co2_per_year=Estimate(low=kwh * float(grid.low), expected=kwh * float(grid.expected),
                                 high=kwh * float(grid.high)) if kwh else None,
        remark=remark,
    )  # fmt: skip


def _plan_id(way: WayCode, sources: Sources) -> str:
    best = sources.best
    key = {"lease": "buy", "hybrid": "buy", "stages": "buy", "wait": "buy"}.get(way, way)
    if way == "reserved":
        key = next((t for t in ("reserved-1y", "reserved-3y", "reserved-1m") if t in best), way)
    return best[key].plan.id if key in best else ""


def _kwh_per_year(way: WayCode, sources: Sources, bounds: dict[str, Bounds]) -> float:
    """Electricity of the work itself, bought or rented: the cards at work; a machine of one's own idles besides."""
    if way in ("nothing", "api"):
        return 0.0
    plan_id = _plan_id(way, sources)
    found = next((a for a in sources.best.values() if a.plan.id == plan_id), None)
    if found is None:
        return 0.0
    hours = min(HOURS_PER_MONTH, busy_hours(found) * sources.jobs_per_month)
    load = load_kw(found)
    idle = load * IDLE_SHARE * (HOURS_PER_MONTH - hours) if found.plan.way in ("buy", "owned") else 0.0
    return 12 * (load * hours + idle) * float(bounds["pue"].expected)


# what follows ------------------------------------------------------------------------------------------------------


def _difference(sources: Sources, knobs: Knobs, rented: WayCode) -> float:
    found = ledgers(sources, knobs)
    return float(found["buy"].total) - float(found[rented].total)


def _tornado(sources: Sources, bounds: dict[str, Bounds], rented: WayCode) -> tuple[Swing, ...]:
    base = _knobs({k: float(b.expected) for k, b in bounds.items()})
    swings = [
        Swing(
            knob=f"knob.{name}",
            low=_difference(sources, replace(base, **{name: float(b.low)}), rented),
            high=_difference(sources, replace(base, **{name: float(b.high)}), rented),
        )
        for name, b in bounds.items()
    ]
    lives = [
        _difference(sources, replace(base, life=life, residual=sources.residual_at(life)), rented)
        for life in (SHORT_LIFE, LONG_LIFE)
    ]
    swings = [s for s in swings if abs(s.high - s.low) >= 1]  # what moves nothing decides nothing
    swings.append(Swing(knob="knob.life", low=lives[0], high=lives[1]))
    return tuple(sorted(swings, key=lambda s: -abs(s.high - s.low)))


def _scenarios(sources: Sources, bounds: dict[str, Bounds]) -> tuple[ScenarioCost, ...]:
    base = _knobs({k: float(b.expected) for k, b in bounds.items()})
    found: list[ScenarioCost] = []
    for code, changes in SCENARIOS.items():
        costs = ledgers(sources, replace(base, **changes))
        totals: dict[WayCode, float] = {w: float(c.total) for w, c in costs.items() if w != "nothing"}
        found.append(
            ScenarioCost(code=code, totals=tuple(totals.items()), cheapest=min(totals, key=lambda w: totals[w]))
        )
    return tuple(found)


def _with_crossing(
    found: WaysComparison, sources: Sources, bounds: dict[str, Bounds], expected: dict[WayCode, Ledger],
    draws: dict[WayCode, Ledger],
) -> WaysComparison:  # fmt: skip
    findings = list(_disagreement(found))
    if found.rented is None:
        return found.model_copy(update={"findings": tuple(findings)})
    months = crossing_months(draws["buy"].cumulative, draws[found.rented].cumulative)
    middle = crossing_months(expected["buy"].cumulative, expected[found.rented].cumulative)
    hours = _break_even(sources, _draws({**bounds, "use": Bounds.exact(1.0)}), found)
    base = _knobs({k: float(b.expected) for k, b in bounds.items()})
    return found.model_copy(
        update={
            "crossing_months": _three(months, float(middle[0])),
            "crossing_share": float(np.isfinite(months).mean()),
            "break_even_hours": _three(hours, float(_break_even(sources, base, found)[0])),
            "findings": tuple(findings),
        }
    )


def _break_even(sources: Sources, knobs: Knobs, found: WaysComparison) -> np.ndarray:
    assert found.rented is not None
    idle, busy = (ledgers(sources, replace(knobs, use=use)) for use in (1e-9, 1.0))
    own = idle["buy"].total, busy["buy"].total
    hours = break_even_hours(own, (idle[found.rented].total, busy[found.rented].total), found.hours_per_month)
    return np.atleast_1d(np.where(np.asarray(hours) > HOURS_PER_MONTH, np.inf, hours))


def _three(values: np.ndarray, middle: float) -> tuple[float | None, float | None, float | None]:
    low, high = np.quantile(values, (0.05, 0.95), method="nearest")
    return _finite(min(float(low), middle)), _finite(middle), _finite(max(float(high), middle))


def _finite(value: float) -> float | None:
    return value if np.isfinite(value) else None


def _disagreement(found: WaysComparison) -> tuple[Finding, ...]:
    """A note where the discount rate decides which way is cheapest."""
    worth: dict[WayCode, float] = {
        w.way: w.present_value.expected for w in found.ways if w.present_value is not None and w.way != "nothing"
    }
    cheapest: WayCode = _least(worth)
    if worth[found.cheapest] <= worth[cheapest] * (1 + TIE):
        return ()
    params = {"undiscounted": f"compare.{found.cheapest}", "discounted": f"compare.{cheapest}"}
    return (Finding(code="ways.discount_decides", severity=Severity.WARNING, params={**params}),)


def _figures(
    result: SearchResult, bounds: dict[str, Bounds], residual: str, grid: Bounds, grid_source: str
) -> tuple[Term, ...]:
    figures, currency = result.figures, result.figures.currency
    sources = {
        "tariff": (figures.electricity_per_kwh.source, currency),
        "pue": (figures.pue.source, "1"),
        "residual": (residual, "1"),
    }
    rows = [(f"knob.{n}", b, *sources.get(n, (ASSUMPTION if n == "use" else "", "1"))) for n, b in bounds.items()]
    rows.append(("knob.grid", grid, grid_source, "kg/kWh"))
    terms: list[Term] = []
    for name, b, source, unit in rows:
        shown = b.at()
        terms.append(Term(name=name, unit=unit, low=shown.low, expected=shown.expected, high=shown.high, formula=name,
                          source=source))  # fmt: skip
    return tuple(terms)
