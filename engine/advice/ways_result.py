"""What the ways of getting the same work done cost over the months."""

from __future__ import annotations

from typing import Literal

from engine.findings import Finding
from engine.quantity import Currency, Estimate, Frozen, Term

__all__ = ["ScenarioCost", "Swing", "WayCode", "WayCost", "WaysComparison"]

WayCode = Literal[
    "nothing", "shared", "api", "on-demand", "spot", "reserved", "monthly", "owned", "lease", "buy", "hybrid", "stages",
    "wait",
]  # fmt: skip


class WayCost(Frozen):
    """One way over the whole project; without `total` it is not to be had, and `remark` says why."""

    way: WayCode
    plan_id: str = ""  # plan of the advice whose prices it rests on
    total: Estimate | None = None  # cash of the project, what the machine is still worth taken off
    present_value: Estimate | None = None
    first_day: float = 0.0  # cash on the day of signing
    years: tuple[float, ...] = ()  # the day of signing, then each year
    cumulative: tuple[tuple[float, float, float], ...] = ()  # low, expected, high after each month
    lines: tuple[tuple[str, float], ...] = ()  # expected cash of the project by label code
    kwh_per_year: float = 0.0
    kg_co2_per_year: Estimate | None = None  # of the electricity
    remark: Finding | None = None


class Swing(Frozen):
    """How far one uncertain figure alone moves (buy - rent); negative: buying is cheaper."""

    knob: str
    low: float  # figure at its low end
    high: float


class ScenarioCost(Frozen):
    """What the ways cost if one thing comes otherwise."""

    code: str
    totals: tuple[tuple[WayCode, float], ...]
    cheapest: WayCode


class WaysComparison(Frozen):
    """All ways on the same work, in one currency."""

    currency: Currency
    months: int
    hours_per_month: float  # busy hours of the reference machine
    reference_plan_id: str
    ways: tuple[WayCost, ...]
    cheapest: WayCode
    rented: WayCode | None = None  # what buying is held against
    crossing_months: tuple[float | None, float | None, float | None] = (None, None, None)  # low, expected, high
    crossing_share: float = 0.0  # share of the draws in which buying pays within the project
    break_even_hours: tuple[float | None, float | None, float | None] = (None, None, None)  # a month
    tornado: tuple[Swing, ...] = ()
    scenarios: tuple[ScenarioCost, ...] = ()
    checkpoint: tuple[Term, ...] = ()  # cost of one successful checkpoint, of the reference plan
    figures: tuple[Term, ...] = ()  # what was assumed, with its source
    findings: tuple[Finding, ...] = ()
    depreciation_per_year: float = 0.0  # in the books
    accounting_years: float = 0.0
    technical_months: int = 0
    seed: int = 0
    draws: int = 0
