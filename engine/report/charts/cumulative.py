"""F3: cumulative cash of the options over months: the purchase as a step, the bills as slopes, where they cross."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from engine.advice.result import Advice
from engine.i18n import Language
from engine.quantity import Bounds
from engine.report.charts import canvas
from engine.report.charts.look import WAY_STYLES, Look, style_of
from engine.report.charts.money import money_axis
from engine.report.comparison import BreakEven, CashPath, break_evens, cash_paths
from engine.report.glyphs import printable
from engine.report.naming import plan_name

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["cumulative_alt", "cumulative_caption", "cumulative_cost_chart"]

_DASHES = {"buy": "-", "rent": (0, (6, 2)), "shared": (0, (2, 1.5)), "owned": (0, (8, 2, 2, 2))}


def cumulative_cost_chart(advice: Advice, look: Look, language: Language, *, width: float = 7.0) -> Figure:
    """Cumulative cash of the best plan of each way, with bands, over the stated years of use."""
    figure = canvas.new_figure(look, width, 3.4)
    axes = figure.add_subplot()
    months = advice.scenario.economics.years * 12
    paths = cash_paths(advice)
    reach = max((float(p.after(months).high) for p in paths), default=1.0) * 1.08 or 1.0
    currency = paths[0].currency if paths else advice.scenario.economics.currency
    unit, written = money_axis(reach, currency, language)
    for path in paths:
        _path(axes, path, months, look, language)
    axes.set_xlim(0, months * 1.02)
    axes.set_ylim(0, reach)
    for point in break_evens(advice):
        _crossing(axes, point, look, language)
    label = language.gettext("Cumulative cash")
    canvas.dress(
        axes,
        look,
        xlabel=language.gettext("Months of use"),
        ylabel=language.fill("{quantity} ({unit})", quantity=label, unit=unit),
        grid="both",
    )
    canvas.axis_format(axes, "x", lambda v: language.number(v, 0), 8)
    canvas.axis_format(axes, "y", written)
    axes.legend(
        loc="upper left",
        frameon=False,
        labelcolor=look.text,
        handlelength=2.8,
        prop={"family": canvas.FAMILIES, "size": look.font_size},
    )
    return figure


def _path(axes: Axes, path: CashPath, months: float, look: Look, language: Language) -> None:
    time = np.linspace(0, months, 61)
    way = path.assessment.plan.way
    color = style_of(way, WAY_STYLES).color

    def line(kind: str) -> np.ndarray:
        bounds: tuple[Bounds, Bounds] = (path.upfront, path.monthly)
        start, slope = (float(getattr(b, kind)) for b in bounds)
        return start + slope * time

    axes.fill_between(time, line("low"), line("high"), color=color, alpha=0.18, linewidth=0)
    label = language.fill(
        "{way}: {plan}", way=language.label(f"way.{way}"), plan=printable(plan_name(path.assessment.plan, language))
    )
    axes.plot(time, line("expected"), color=color, linewidth=2.0, linestyle=_DASHES.get(way, "-"), label=label)


def _crossing(axes: Axes, point: BreakEven, look: Look, language: Language) -> None:
    """Mark where buying has paid against another way, if it does within the years shown."""
    low, expected, high = point.months
    life = point.life_months
    if low is not None and low < life:
        end = min(high if high is not None else life, life)
        axes.axvspan(low, end, color=look.muted, alpha=0.12, linewidth=0)
    if expected is None or expected > life:
        return
    y = point.buy.after(expected).expected
    axes.plot([expected], [y], marker="o", markersize=6, color=look.limit, zorder=6)
    axes.annotate(
        language.fill("buying has paid after {months} months", months=language.number(expected)),
        xy=(expected, y),
        xytext=(8 if expected < 0.6 * life else -8, -14),
        textcoords="offset points",
        ha="left" if expected < 0.6 * life else "right",
        color=look.limit,
        family=canvas.FAMILIES,
        size=look.font_size,
        zorder=7,
    )


def cumulative_caption(advice: Advice, language: Language) -> str:
    """What figure F3 shows and assumes."""
    economics = advice.scenario.economics
    return language.fill(
        "Cash paid so far if the same work goes on at {hours:num} hours a month for {years:num} years; residual value "
        "and engineer's hours not counted. Bands: 90 % interval; grey span: when buying has paid.",
        hours=path_hours(advice),
        years=economics.years,
    )


def path_hours(advice: Advice) -> float:
    """Busy hours a month of the plan that sets the pace: the purchase, else the recommended plan."""
    paths = {p.assessment.plan.way: p.hours_per_month for p in cash_paths(advice)}
    return paths.get("buy", next(iter(paths.values()), advice.scenario.economics.hours_per_month))


def cumulative_alt(advice: Advice, language: Language) -> str:
    """Figure F3 in words."""
    months = advice.scenario.economics.years * 12
    lines = [language.gettext("Lines of cumulative cash over the months, one for each way.")]
    for path in cash_paths(advice):
        end = path.after(months)
        lines.append(
            language.fill(
                "{plan}: {start} at once, {end} after {months:num} months.",
                plan=plan_name(path.assessment.plan, language),
                start=_money(float(path.upfront.expected), path.currency, language),
                end=_money(end.expected, path.currency, language),
                months=months,
            )
        )
    for point in break_evens(advice):
        other = plan_name(point.other.assessment.plan, language)
        if point.pays:
            lines.append(
                language.fill(
                    "Against {other} buying has paid after {months:num} months.", other=other, months=point.months[1]
                )
            )
        else:
            lines.append(language.fill("Against {other} buying does not pay at this use.", other=other))
    return " ".join(lines)


def _money(amount: float, currency: str, language: Language) -> str:
    unit, written = money_axis(amount, currency, language)
    return f"{written(amount)} {unit}"
