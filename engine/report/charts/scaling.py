"""F2b: time against the number of cards, and how much of its best each card still does."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from engine.advice.scaling_result import Scaling
from engine.i18n import Language
from engine.report.charts import canvas
from engine.report.charts.look import BLUE, ORANGE, Look

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["scaling_alt", "scaling_caption", "scaling_chart"]

#: Numbers of cards that are written below the axis at most; more would touch each other.
MOST_TICKS = 7


def scaling_chart(scaling: Scaling, look: Look, language: Language, *, width: float = 7.0) -> Figure:
    """Days until done against cards, with the deadline; beside it the use of each card, batch fixed and growing."""
    figure = canvas.new_figure(look, width, 3.0)
    days, use = figure.subplots(1, 2, width_ratios=(3, 2))
    _days(days, scaling, look, language)
    _use(use, scaling, look, language)
    words = language.gettext("Number of cards")
    canvas.dress(days, look, xlabel=words, ylabel=language.gettext("Days until done, waiting included"), grid="both")
    canvas.dress(use, look, xlabel=words, ylabel=language.gettext("Work of a card, share of its best"), grid="both")
    _cards(days, [p.gpus for p in scaling.points], language)
    _cards(use, sorted({p.gpus for p in (*scaling.points, *scaling.weak)}), language)
    canvas.axis_format(days, "y", language.number, 5)
    canvas.axis_format(use, "y", language.percent, 5)
    figure.legend(
        loc="outside lower center",
        ncols=2,
        frameon=False,
        labelcolor=look.text,
        prop={"family": canvas.FAMILIES, "size": look.font_size},
    )
    return figure


def _days(axes: Axes, scaling: Scaling, look: Look, language: Language) -> None:
    points = scaling.points
    cards = [p.gpus for p in points]
    axes.fill_between(
        cards, [p.days.low for p in points], [p.days.high for p in points], color=BLUE, alpha=0.22, linewidth=0
    )
    axes.plot(cards, [p.days.expected for p in points], color=BLUE, linewidth=1.5, marker="o", markersize=3.2)
    changed = [p for p in points if p.batch_changed]
    if changed:
        said = language.gettext("batch up to a tenth larger or smaller")
        hollow = look.background
        axes.plot(
            [p.gpus for p in changed], [p.days.expected for p in changed], "o", color=BLUE, markerfacecolor=hollow,
            markersize=5, label=said,
        )  # fmt: skip
    own = next((p for p in points if p.gpus == scaling.gpus), None)
    if own is not None:
        axes.plot([own.gpus], [own.days.expected], color=BLUE, marker="D", markersize=8, linestyle="none")
    if any(p.wait_days for p in points):
        said = language.gettext("of these, queue and delivery")
        axes.plot(cards, [p.wait_days for p in points], ":", color=look.muted, linewidth=1.4, label=said)
    top = max(p.days.high for p in points)
    deadline = scaling.deadline_days
    if deadline and deadline <= canvas.FAR * top:
        axes.axhline(deadline, color=look.limit, linewidth=1.3, linestyle=(0, (5, 3)))
        top = max(top, deadline)
    if deadline:
        far = " ↑" if deadline > canvas.FAR * top else ""
        said = language.fill("deadline {days} d", days=language.number(deadline)) + far
        canvas.text(axes, 1.0, 1.03, said, look, transform=axes.transAxes, ha="right", color=look.limit)
    axes.set_ylim(0, top * 1.12)
    if scaling.worthwhile_up_to < cards[-1]:
        axes.axvline(scaling.worthwhile_up_to, color=look.muted, linewidth=1.1, linestyle=(0, (1, 2)))
        said = language.fill("pays off up to {gpus:int}", gpus=scaling.worthwhile_up_to)
        canvas.text(axes, 0.0, 1.03, said, look, transform=axes.transAxes, ha="left", color=look.muted)


def _use(axes: Axes, scaling: Scaling, look: Look, language: Language) -> None:
    series: tuple[tuple[Sequence[int], Sequence[float], str, str, str], ...] = (
        (
            [p.gpus for p in scaling.points],
            [p.efficiency for p in scaling.points],
            "-",
            BLUE,
            language.gettext("same batch (strong scaling)"),
        ),
        (
            [p.gpus for p in scaling.weak],
            [p.efficiency for p in scaling.weak],
            "--",
            ORANGE,
            language.gettext("batch grows with the cards (weak scaling)"),
        ),
    )
    for cards, shares, line, color, words in series:
        axes.plot(cards, shares, line, color=color, linewidth=1.4, marker="o", markersize=3, label=words)
    axes.set_ylim(0, 1.08)


def _cards(axes: Axes, cards: Sequence[int], language: Language) -> None:
    """Cards on a logarithmic axis, written where they are; of many only the doublings."""
    from matplotlib.ticker import NullLocator

    shown = list(cards)
    if len(shown) > MOST_TICKS:
        shown = [cards[0]]
        shown += [c for c in cards[1:] if any(c == cards[0] * 2**k for k in range(1, 12))]
    axes.set_xscale("log", base=2)
    axes.xaxis.set_minor_locator(NullLocator())
    axes.set_xticks(shown, [language.number(c) for c in shown])


def scaling_caption(scaling: Scaling, language: Language) -> str:
    """What figure F2b shows, and what follows from it."""
    words = language.fill(
        "The same work on fewer and more of {gpu}, each number with the layout that is fastest there. Line: expected "
        "value; shaded: 90 % interval; diamond: this plan ({gpus:int}).",
        gpu=scaling.gpu,
        gpus=scaling.gpus,
    )
    return " ".join([words, *(language.text(f) for f in scaling.findings)])


def scaling_alt(scaling: Scaling, language: Language) -> str:
    """Figure F2b in words."""
    lines = [language.gettext("Curve of the days until done against the number of cards.")]
    lines += [
        language.fill(
            "{gpus:int} cards: {expected:num} days ({low:num} to {high:num}), each card at {share:pct} of its best.",
            gpus=p.gpus,
            expected=p.days.expected,
            low=p.days.low,
            high=p.days.high,
            share=p.efficiency,
        )
        for p in scaling.points
    ]
    return " ".join(lines)
