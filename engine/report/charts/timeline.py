"""Memory through one step: what the program holds at each moment, as stacks from top to bottom, the peak marked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from engine.advice.result import Assessment
from engine.i18n import Language
from engine.memory.result import PhasePeak
from engine.messages.mark import N_
from engine.quantity import GIB
from engine.report.charts import canvas
from engine.report.charts.look import MEMORY_STYLES, Look, style_of
from engine.report.charts.memory import heaviest_task
from engine.report.naming import plan_name

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["moments_in_time", "timeline_alt", "timeline_caption", "timeline_chart"]

#: Moments in the order in which a step passes them.
ORDER = (
    "memory.moment.prefill",
    "memory.moment.decode",
    "memory.moment.block_gathering",
    "memory.moment.blocks_forward",
    "memory.moment.loss_forward",
    "memory.moment.loss_backward",
    "memory.moment.root_gathering",
    "memory.moment.first_block_backward",
    "memory.moment.second_block_backward",
    "memory.moment.inner_block_backward",
    "memory.moment.last_block_backward",
    "memory.moment.root_reduction",
    "memory.moment.embedding_backward",
    "memory.moment.optimizer_step",
)

PEAK_LINE = N_("{moment}: {amount:gib}, the peak; largest: {items}.")
MOMENT_LINE = N_("{moment}: {amount:gib}; largest: {items}.")


def moments_in_time(moments: Sequence[PhasePeak]) -> tuple[PhasePeak, ...]:
    """One card's moments as a step passes them; of the two ends of a pipeline, the one with the peak."""
    cards: list[list[PhasePeak]] = []
    for moment in moments:
        if not cards or any(m.moment == moment.moment for m in cards[-1]):
            cards.append([])
        cards[-1].append(moment)
    heaviest = max(cards, key=lambda c: max(m.allocated.expected for m in c), default=[])
    place = {name: i for i, name in enumerate(ORDER)}
    return tuple(sorted(heaviest, key=lambda m: place.get(m.moment, len(place))))


def _peak(moments: Sequence[PhasePeak]) -> int:
    return max(range(len(moments)), key=lambda i: moments[i].allocated.expected)


def timeline_chart(assessment: Assessment, look: Look, language: Language, *, width: float = 7.0) -> Figure:
    """Stacks of what the program holds on one card at each moment of a step (the plan's heaviest task)."""
    moments = moments_in_time(heaviest_task(assessment).memory.moments)
    place = {name: i for i, name in enumerate(MEMORY_STYLES)}
    present = {n for m in moments for n, v in m.amounts if v > 0}
    names = sorted(present, key=lambda n: (place.get(n, len(place)), n))
    entries = [(language.label(n), style_of(n, MEMORY_STYLES)) for n in names]
    below = canvas.legend_height([w for w, _style in entries], look, width)
    figure = canvas.new_figure(look, width, 0.34 * max(len(moments), 2) + 0.85 + below)
    axes = figure.add_subplot()
    limit = max((m.allocated.expected for m in moments), default=GIB) / GIB
    axes.set_xlim(0, limit * 1.2)
    axes.set_ylim(len(moments) - 0.45, -0.55)
    peak = _peak(moments) if moments else -1
    for y, moment in enumerate(moments):
        left, amounts = 0.0, dict(moment.amounts)
        for name in names:
            size = amounts.get(name, 0.0) / GIB
            if size > 0:
                canvas.segment(axes, y, left, size, style_of(name, MEMORY_STYLES), look)
                left += size
        words = language.number(moment.allocated.expected / GIB, 1)
        if y == peak:
            words = language.fill("◀ {amount} peak", amount=words)
        weight = {"weight": "bold", "color": look.limit} if y == peak else {}
        canvas.text(axes, left, y, f" {words}", look, ha="left", **weight)
    canvas.dress(axes, look, xlabel=language.gettext("Held by the program on one card (GiB)"))
    axes.set_yticks(range(len(moments)), [language.label(m.moment) for m in moments])
    canvas.axis_format(axes, "x", lambda v: language.number(v, 0 if limit > 4 else 1))
    axes.tick_params(axis="y", length=0)
    canvas.legend(figure, entries, look)
    return figure


def timeline_caption(_assessment: Assessment, language: Language) -> str:
    """What the figure shows and assumes."""
    return language.gettext(
        "One step from top to bottom: forward pass, backward pass, optimizer step. Expected memory that the program "
        "asks for; what the driver and the framework add comes on top of it."
    )


def timeline_alt(assessment: Assessment, language: Language) -> str:
    """The figure in words."""
    moments = moments_in_time(heaviest_task(assessment).memory.moments)
    lines = [language.fill("Memory through one step of {plan}.", plan=plan_name(assessment.plan, language))]
    for number, moment in enumerate(moments):
        largest = sorted(moment.amounts, key=lambda pair: -pair[1])[:3]
        lines.append(
            language.fill(
                PEAK_LINE if number == _peak(moments) else MOMENT_LINE,
                moment=language.label(moment.moment),
                amount=moment.allocated.expected,
                items=language.gettext(", ").join(f"{language.label(n)} {language.gib(v)}" for n, v in largest),
            )
        )
    return " ".join(lines)
