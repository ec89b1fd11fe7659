"""F3: cumulative cash of the ways over the months of the project, with the months in which buying has paid."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from engine.advice.ways_result import WayCost, WaysComparison
from engine.i18n import Language
from engine.report.charts import canvas
from engine.report.charts.look import Look
from engine.report.charts.money import money_axis

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["tornado_alt", "tornado_caption", "tornado_chart", "ways_alt", "ways_caption", "ways_chart"]

#: Colours that people with colour blindness tell apart (Okabe and Ito), each with its own dashes.
_STYLES = {
    "buy": ("#0072B2", "-"), "on-demand": ("#D55E00", (0, (6, 2))), "shared": ("#009E73", (0, (2, 1.5))),
    "api": ("#CC79A7", (0, (1, 1))), "lease": ("#56B4E9", (0, (8, 2, 2, 2))), "hybrid": ("#E69F00", (0, (4, 1, 1, 1))),
    "monthly": ("#8C6D31", (0, (5, 1))), "reserved": ("#7F7F7F", (0, (3, 1))), "spot": ("#B2912F", (0, (1, 2))),
    "owned": ("#4D4D4D", (0, (8, 2))),
}  # fmt: skip
MOST_LINES = 6
_BUY, _RENT = "#0072B2", "#D55E00"


def _drawn(ways: WaysComparison) -> list[WayCost]:
    found = [w for w in ways.ways if w.total is not None and w.way in _STYLES]
    first = ("buy", ways.rented, ways.cheapest)
    return sorted(found, key=lambda w: (w.way not in first, list(_STYLES).index(w.way)))[:MOST_LINES]


def ways_chart(ways: WaysComparison, look: Look, language: Language, *, width: float = 7.0) -> Figure:
    """A line for each way; bands for buying and the way it is held against."""
    figure = canvas.new_figure(look, width, 3.8)
    axes = figure.add_subplot()
    drawn = _drawn(ways)
    banded = {"buy", ways.rented} if ways.rented else {ways.cheapest}
    # a dear way must not press the others to the floor
    tops = sorted(w.cumulative[-1][2 if w.way in banded else 1] for w in drawn)
    reach = max(min(tops[-1], 3 * tops[len(tops) // 2]), *(w.first_day for w in drawn)) * 1.08 or 1.0
    unit, written = money_axis(reach, ways.currency, language)
    months = range(ways.months + 1)
    for way in drawn:
        color, dashes = _STYLES[way.way]
        if way.way in banded:
            low, high = [c[0] for c in way.cumulative], [c[2] for c in way.cumulative]
            axes.fill_between(months, low, high, color=color, alpha=0.16, linewidth=0)
        middle = [c[1] for c in way.cumulative]
        label = language.label(f"compare.{way.way}")
        axes.plot(months, middle, color=color, linestyle=dashes, linewidth=1.9, label=label)
    _crossing(axes, ways, look)
    axes.set_xlim(0, ways.months)
    axes.set_ylim(0, reach)
    words = language.fill("{quantity} ({unit})", quantity=language.gettext("Cumulative cash"), unit=unit)
    canvas.dress(axes, look, xlabel=language.gettext("Months of use"), ylabel=words, grid="both")
    canvas.axis_format(axes, "x", lambda v: language.number(v, 0), 8)
    canvas.axis_format(axes, "y", written)
    figure.legend(
        loc="outside lower center",
        ncols=3,
        frameon=False,
        labelcolor=look.text,
        handlelength=3.2,
        prop={"family": canvas.FAMILIES, "size": look.font_size},
    )
    return figure


def _crossing(axes: Axes, ways: WaysComparison, look: Look) -> None:
    low, expected, high = ways.crossing_months
    if low is not None and low < ways.months:
        axes.axvspan(low, ways.months if high is None else high, color=look.muted, alpha=0.12, linewidth=0)
    if expected is not None:
        axes.axvline(expected, color=look.limit, linewidth=1.1, linestyle=(0, (3, 2)))


def ways_caption(ways: WaysComparison, language: Language) -> str:
    """What the figure shows."""
    return language.fill(
        "Cash paid so far if the same work goes on at {hours:num} hours a month; at the end what the machine is "
        "still worth is taken off. Bands: 90 % of {draws:int} draws (seed {seed}); dashed line and "
        "grey span: buying has paid.",
        hours=ways.hours_per_month,
        draws=ways.draws,
        seed=str(ways.seed),
    )


def ways_alt(ways: WaysComparison, language: Language) -> str:
    """The figure in words."""
    lines: list[str] = []
    for way in _drawn(ways):
        lines.append(
            language.fill(
                "{way}: {start} on the first day, {end} after {months:int} months.",
                way=language.label(f"compare.{way.way}"),
                start=_money(way.first_day, ways.currency, language),
                end=_money(way.cumulative[-1][1], ways.currency, language),
                months=ways.months,
            )
        )
    return " ".join(lines)


def tornado_chart(ways: WaysComparison, look: Look, language: Language, *, width: float = 7.0) -> Figure:
    """What buying costs more or less than renting if one figure alone lies at its low or high end."""
    swings: Sequence = ways.tornado[::-1]
    figure = canvas.new_figure(look, width, 0.9 + 0.32 * len(swings))
    axes = figure.add_subplot()
    reach = max(abs(v) for s in swings for v in (s.low, s.high)) * 1.1 or 1.0
    unit, written = money_axis(reach, ways.currency, language)
    totals = {w.way: w.total.expected for w in ways.ways if w.total is not None}
    middle = totals["buy"] - totals[ways.rented or ways.cheapest]
    for row, swing in enumerate(swings):
        axes.barh(row - 0.18, swing.low - middle, left=middle, height=0.34, color=_BUY, hatch="")
        axes.barh(row + 0.18, swing.high - middle, left=middle, height=0.34, color=_RENT, hatch="//", edgecolor="white")
    axes.axvline(0, color=look.limit, linewidth=1.2)
    axes.axvline(middle, color=look.muted, linewidth=1.0, linestyle=(0, (3, 2)))
    axes.set_xlim(-reach, reach)
    axes.set_yticks(range(len(swings)), [language.label(s.knob) for s in swings], family=canvas.FAMILIES)
    title = language.gettext("Buying less renting: left of the line buying is cheaper")
    canvas.dress(axes, look, xlabel=language.fill("{quantity} ({unit})", quantity=title, unit=unit), grid="x")
    canvas.axis_format(axes, "x", written)
    return figure


def tornado_caption(ways: WaysComparison, language: Language) -> str:
    """What the figure shows."""
    return language.fill(
        "Plain bar: the figure at its low end, hatched: at its high end (90 % interval), all others as expected. "
        "Dashed line: everything as expected. Held against: {way}.",
        way=language.label(f"compare.{ways.rented}"),
    )


def tornado_alt(ways: WaysComparison, language: Language) -> str:
    """The figure in words."""
    return " ".join(
        language.fill(
            "{figure}: {low} to {high}.",
            figure=language.label(s.knob),
            low=_money(s.low, ways.currency, language),
            high=_money(s.high, ways.currency, language),
        )
        for s in ways.tornado
    )


def _money(amount: float, currency: str, language: Language) -> str:
    unit, written = money_axis(abs(amount), currency, language)
    return f"{written(amount)} {unit}"
