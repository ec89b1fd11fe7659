"""Full report: the ways of getting the same work done over the months of the project."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal

from engine.advice.result import Advice
from engine.advice.ways_result import WayCost, WaysComparison
from engine.layout.plan import Plan
from engine.messages.mark import N_
from engine.quantity import Estimate, MoneyEstimate
from engine.report import document as d
from engine.report import pieces
from engine.report.document import say

__all__ = ["uncertainty_blocks", "ways_blocks"]


def _money(amount: float | Estimate, currency: str) -> MoneyEstimate:
    """Rounded to whole units: a reckoning over years is not known to the cent."""
    three = amount if isinstance(amount, Estimate) else Estimate.exact(amount)
    low, expected, high = (Decimal(round(v)) for v in (three.low, three.expected, three.high))
    return MoneyEstimate(low=low, expected=expected, high=high, currency=currency)


def _cell(amount: float, currency: str) -> d.Value:
    return d.Amount("money", _money(amount, currency))


def ways_blocks(advice: Advice) -> tuple[d.Block, ...]:
    """Table of the ways, their cash by year, what one successful checkpoint costs."""
    ways = advice.ways
    if ways is None:
        return ()
    plans = {a.plan.id: a.plan for a in advice.ranked}
    blocks: list[d.Block] = [_ways_table(ways, plans), *(d.Paragraph(f, "warning") for f in ways.findings)]
    if any(w.way == "buy" and w.total for w in ways.ways):
        blocks.append(_years_table(ways))
    blocks.append(_lines_table(ways))
    if ways.checkpoint:
        blocks.append(_checkpoint_table(ways))
    return tuple(blocks)


def _remark(way: WayCost) -> d.Value:
    return way.remark if way.remark is not None else d.Text("–")


def _ways_table(ways: WaysComparison, plans: Mapping[str, Plan]) -> d.Table:
    rows: list[tuple[d.Value, ...]] = []
    strong: list[int] = []
    for way in ways.ways:
        if way.way == ways.cheapest:
            strong.append(len(rows))
        name: d.Value = d.Label(f"compare.{way.way}")
        if way.plan_id in plans:
            name = d.Join((name, pieces.plan_value(plans[way.plan_id])), "\n")
        if way.total is None or way.present_value is None:
            rows.append((name, d.Text("–"), d.Text("–"), d.Text("–"), _remark(way)))
            continue
        rows.append(
            (
                name,
                pieces.stacked("money", _money(way.total, ways.currency)),
                pieces.stacked("money", _money(way.present_value, ways.currency)),
                _cell(way.first_day, ways.currency),
                _remark(way),
            )
        )
    return d.Table(
        "T11b",
        say(
            N_("The same work for {months:int} months at {hours:num} hours a month, every way; in bold: the cheapest"),
            months=ways.months,
            hours=ways.hours_per_month,
        ),
        (
            d.Column(say(N_("Way")), weight=1.5),
            d.Column(say(N_("Cash in all")), "right", 1.5),
            d.Column(say(N_("Present value")), "right", 1.5),
            d.Column(say(N_("On the first day")), "right", 1.1),
            d.Column(say(N_("Remark")), weight=2.4),
        ),
        tuple(rows),
        tuple(strong),
        note=say(
            N_(
                "Expected value (90 % interval of {draws:int} draws, seed {seed}). What the machine is still worth at "
                "the end is taken off. Technical life {life:int} months; in the books {depreciation} a year over "
                "{years:num} years, which is no cash."
            ),
            draws=ways.draws,
            seed=str(ways.seed),
            life=ways.technical_months,
            depreciation=_cell(ways.depreciation_per_year, ways.currency),
            years=ways.accounting_years,
        ),
    )


def _shown(ways: WaysComparison) -> list[WayCost]:
    """Buying, what it is held against and the cheapest."""
    wanted = dict.fromkeys(("buy", ways.rented, ways.cheapest))
    return [w for w in ways.ways if w.way in wanted and w.total is not None]


def _years_table(ways: WaysComparison) -> d.Table:
    count = max(len(w.years) for w in _shown(ways)) - 1
    rows = tuple((d.Label(f"compare.{w.way}"), *(_cell(y, ways.currency) for y in w.years)) for w in _shown(ways))
    columns = [d.Column(say(N_("Way")), weight=1.4), d.Column(say(N_("First day")), "right", 1)]
    columns += [d.Column(say(N_("Year {number:int}"), number=n + 1), "right", 1) for n in range(count)]
    return d.Table("T11c", say(N_("Cash by year")), tuple(columns), rows)


def _lines_table(ways: WaysComparison) -> d.Table:
    rows = tuple(
        (d.Label(f"compare.{w.way}"), d.Label(code), _cell(amount, ways.currency))
        for w in _shown(ways)
        for code, amount in w.lines
    )
    return d.Table(
        "T11d",
        say(N_("What the cash of the project goes into")),
        (d.Column(say(N_("Way")), weight=1.2), d.Column(say(N_("Item")), weight=2),
         d.Column(say(N_("Expected")), "right", 1)),
        rows,
    )  # fmt: skip


def _checkpoint_table(ways: WaysComparison) -> d.Table:
    rows: list[tuple[d.Value, ...]] = [
        (d.Label(t.name), pieces.stacked("money", pieces.term_money(t))) for t in ways.checkpoint
    ]
    total = Estimate(
        low=sum(t.low for t in ways.checkpoint),
        expected=sum(t.expected for t in ways.checkpoint),
        high=sum(t.high for t in ways.checkpoint),
    )
    rows.append((say(N_("One successful checkpoint")), pieces.stacked("money", _money(total, ways.currency))))
    return d.Table(
        "T11e",
        say(N_("Cost of one successful checkpoint: trial and failed runs included")),
        (d.Column(say(N_("Part")), weight=2), d.Column(say(N_("Cost")), "right", 1)),
        tuple(rows),
        (len(rows) - 1,),
    )


def uncertainty_blocks(advice: Advice) -> tuple[d.Block, ...]:
    """Break-even with its interval, tornado, scenarios, energy and carbon."""
    ways = advice.ways
    if ways is None:
        return ()
    blocks: list[d.Block] = []
    if ways.rented is not None:
        blocks.append(d.Paragraph(_break_even(ways)))
        blocks.append(d.Figure("F9", "tornado"))
    blocks.append(_scenario_table(ways))
    blocks.append(_energy_table(ways))
    return tuple(blocks)


def _break_even(ways: WaysComparison) -> d.Value:
    low, expected, high = (say(N_("never")) if h is None else d.Amount("num", h) for h in ways.break_even_hours)
    early, paid, late = (say(N_("never")) if m is None else d.Amount("num", m) for m in ways.crossing_months)
    return say(
        N_(
            "Held against '{way}', buying costs the same over {months:int} months at {expected} hours of use a "
            "month ({low} to {high}). At the "
            "stated use it has paid after {paid} months ({early} to {late}); it pays in {share:pct} of "
            "the draws."
        ),
        way=d.Label(f"compare.{ways.rented}"),
        months=ways.months,
        expected=expected,
        low=low,
        high=high,
        paid=paid,
        early=early,
        late=late,
        share=ways.crossing_share,
    )


def _scenario_table(ways: WaysComparison) -> d.Table:
    rows: list[tuple[d.Value, ...]] = [
        (
            say(N_("As expected")),
            *(_cell(w.total.expected if w.total else 0.0, ways.currency) for w in _shown(ways)),
            d.Label(f"compare.{ways.cheapest}"),
        )
    ]
    for case in ways.scenarios:
        totals = dict(case.totals)
        cells = (_cell(totals[w.way], ways.currency) for w in _shown(ways))
        rows.append((d.Label(case.code), *cells, d.Label(f"compare.{case.cheapest}")))
    columns = [d.Column(say(N_("If")), weight=1.6)]
    columns += [d.Column(d.Label(f"compare.{w.way}"), "right", 1) for w in _shown(ways)]
    columns.append(d.Column(say(N_("Cheapest way")), weight=1.2))
    return d.Table(
        "T12b", say(N_("If one thing comes otherwise: cash of the whole project")), tuple(columns), tuple(rows)
    )


def _energy_table(ways: WaysComparison) -> d.Table:
    rows = tuple(
        (
            d.Label(f"compare.{w.way}"),
            d.Amount("int", round(w.kwh_per_year)),
            pieces.stacked("num", w.kg_co2_per_year),
        )
        for w in ways.ways
        if w.kg_co2_per_year is not None
    )
    source = next((t.source for t in ways.figures if t.name == "knob.grid"), "")
    return d.Table(
        "T12c",
        say(N_("Electricity and its greenhouse gas in a year, building overhead included")),
        (
            d.Column(say(N_("Way")), weight=1.5),
            d.Column(say(N_("kWh")), "right", 1),
            d.Column(say(N_("kg CO2e")), "right", 1.4),
        ),
        rows,
        note=say(N_("Grid: {source}. Making the hardware is not in it."), source=d.Source(source)),
    )
