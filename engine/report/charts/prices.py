"""Prices of a card over the days on which they were seen: renting above, buying below."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from engine.catalog.history import PriceHistory, PricePoint
from engine.i18n import Language
from engine.quantity import Money
from engine.report.charts import canvas
from engine.report.charts.look import BLUE, GREEN, GREY, ORANGE, PURPLE, VERMILION, Look

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["prices_alt", "prices_caption", "prices_chart"]

#: Colour and mark of each term and condition: told apart by both, so that grey print shows them too.
_MARKS: dict[str, tuple[str, str]] = {
    "on-demand": (BLUE, "o"),
    "spot": (ORANGE, "v"),
    "reserved-1m": (GREEN, "s"),
    "reserved-1y": (GREEN, "D"),
    "reserved-3y": (GREEN, "P"),
    "monthly": (PURPLE, "^"),
    "new": (BLUE, "o"),
    "used": (VERMILION, "v"),
    "msrp": (GREY, "s"),
}


def prices_chart(history: PriceHistory, look: Look, language: Language, *, width: float = 7.0) -> Figure:
    """Each price as a mark on its day; the user's own have a ring."""
    parts = [
        (points, prefix, words)
        for points, prefix, words in (
            (history.rent, "term", language.gettext("Rent per card-hour")),
            (history.buy, "condition", language.gettext("Purchase per card")),
        )
        if points
    ]
    figure = canvas.new_figure(look, width, 0.5 + 2.3 * max(1, len(parts)))
    axes = figure.subplots(max(1, len(parts)), 1, squeeze=False, sharex=True)[:, 0]
    for panel, (points, prefix, words) in zip(axes, parts, strict=False):
        _panel(panel, points, prefix, look, language)
        canvas.dress(panel, look, ylabel=f"{words} ({history.currency})", grid="both")
        canvas.axis_format(panel, "y", language.number, 5)
    if not parts:
        canvas.dress(axes[0], look)
    return figure


def _panel(axes: Axes, points: Sequence[PricePoint], prefix: str, look: Look, language: Language) -> None:
    from matplotlib.dates import AutoDateLocator, ConciseDateFormatter, date2num

    for term in dict.fromkeys(p.term for p in points):
        color, mark = _MARKS.get(term, (GREY, "x"))
        of_term = [p for p in points if p.term == term]
        label = f"{prefix}.{term}"
        axes.scatter(
            [date2num(p.day) for p in of_term],
            [float(p.amount) for p in of_term],
            c=color,
            marker=mark,
            s=20,
            alpha=0.75,
            label=language.label(label),
        )
    own = [p for p in points if p.own]
    if own:
        axes.scatter(
            [date2num(p.day) for p in own],
            [float(p.amount) for p in own],
            facecolors="none",
            edgecolors=look.limit,
            s=70,
            linewidths=1.4,
            label=language.gettext("Yours"),
        )
    locator = AutoDateLocator(minticks=3, maxticks=7)
    axes.xaxis.set_major_locator(locator)
    axes.xaxis.set_major_formatter(ConciseDateFormatter(locator, formats=["%Y", "%Y-%m", "%m-%d", "", "", ""],
                                                        zero_formats=["", "%Y", "%Y-%m", "", "", ""],
                                                        offset_formats=[""] * 6))  # fmt: skip
    axes.set_ylim(0, float(max(p.amount for p in points)) * 1.4 or 1.0)  # room for the legend above the marks
    axes.legend(
        loc="upper left",
        ncols=4,
        frameon=False,
        labelcolor=look.text,
        prop={"family": canvas.FAMILIES, "size": look.font_size - 1},
    )


def prices_caption(history: PriceHistory, language: Language) -> str:
    """What the chart shows."""
    return language.fill(
        "Prices of {gpu} on the days on which they were seen, converted at the latest rate of exchange. Each mark is "
        "one row of the catalogue.",
        gpu=history.gpu,
    )


def prices_alt(history: PriceHistory, language: Language) -> str:
    """The chart in words: for each term how many prices there are, between which amounts and days."""
    lines = [language.fill("Prices of {gpu} over time.", gpu=history.gpu)]
    for points, prefix in ((history.rent, "term"), (history.buy, "condition")):
        for term in dict.fromkeys(p.term for p in points):
            found = [p for p in points if p.term == term]
            latest = found[-1]
            label = f"{prefix}.{term}"
            amounts = [p.amount for p in found]
            lines.append(
                language.fill(
                    "{term:label}: {count:int} prices from {low} to {high}; the latest, of {day:date}, is {latest}.",
                    term=label,
                    count=len(found),
                    low=language.money(Money(amount=min(amounts), currency=history.currency)),
                    high=language.money(Money(amount=max(amounts), currency=history.currency)),
                    day=latest.day.isoformat(),
                    latest=language.money(Money(amount=latest.amount, currency=history.currency)),
                )
            )
    return " ".join(lines)
