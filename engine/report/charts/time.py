"""F2: when each plan is done, and how many card-hours it uses, low - expected - high."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from engine.advice.result import Assessment
from engine.i18n import Language
from engine.quantity import Estimate
from engine.report.charts import canvas
from engine.report.charts.look import WAY_STYLES, Look, style_of
from engine.report.comparison import busy_hours
from engine.report.naming import plan_lines, plan_name

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["gpu_hours", "time_alt", "time_caption", "time_chart"]


def gpu_hours(assessment: Assessment) -> Estimate:
    """Card-hours of all tasks: busy hours times cards."""
    hours, gpus = busy_hours(assessment), assessment.plan.cluster.gpus
    return Estimate(low=hours.low * gpus, expected=hours.expected * gpus, high=hours.high * gpus)


def time_chart(
    assessments: Assessment | Sequence[Assessment],
    look: Look,
    language: Language,
    *,
    deadline_days: float | None = None,
    width: float = 7.0,
) -> Figure:
    """Days until done (queue and delivery included) beside card-hours, with the deadline."""
    shown = [assessments] if isinstance(assessments, Assessment) else list(assessments)
    figure = canvas.new_figure(look, width, 0.58 * len(shown) + 1.25)
    days_axes, hours_axes = figure.subplots(1, 2, sharey=True, width_ratios=(3, 2))
    _ranges(days_axes, shown, [a.calendar_days for a in shown], look, language)
    _ranges(hours_axes, shown, [gpu_hours(a) for a in shown], look, language)
    if deadline_days:
        words = language.fill("deadline {days} d", days=language.number(deadline_days))
        if deadline_days > canvas.FAR * max(a.calendar_days.high for a in shown):
            canvas.far_limit(days_axes, words, look)
        else:
            days_axes.set_xlim(0, max(deadline_days * 1.1, days_axes.get_xlim()[1]))
            canvas.limit_line(days_axes, deadline_days, words, look)
    canvas.dress(days_axes, look, xlabel=_days_words(shown, language))
    canvas.dress(hours_axes, look, xlabel=language.gettext("Card-hours in use"))
    days_axes.set_yticks(range(len(shown)), [plan_lines(a.plan, language) for a in shown])
    hours_axes.tick_params(axis="y", labelleft=False)
    for axes in (days_axes, hours_axes):
        axes.tick_params(axis="y", length=0)
        axes.set_ylim(len(shown) - 0.4, -0.6)
        canvas.axis_format(axes, "x", language.number, 5)
    return figure


def _days_words(shown: Sequence[Assessment], language: Language) -> str:
    """What the days run to: the end of the work, or the start of a service."""
    if all(t.inference is not None for a in shown for t in a.tasks):
        return language.gettext("Days until the service is ready")
    return language.gettext("Days until done, waiting included")


def _ranges(
    axes: Axes, shown: Sequence[Assessment], values: Sequence[Estimate], look: Look, language: Language
) -> None:
    axes.set_xlim(0, max(v.high for v in values) * 1.3 or 1.0)
    span = axes.get_xlim()[1]
    for y, (assessment, value) in enumerate(zip(shown, values, strict=True)):
        canvas.segment(axes, y, 0, value.expected, style_of(assessment.plan.way, WAY_STYLES), look, height=0.4)
        canvas.range_mark(axes, y, value.low, value.expected, value.high, look)
        canvas.text(axes, value.high + span * 0.02, y, language.number(value.expected), look, ha="left", weight="bold")


def time_caption(
    assessments: Assessment | Sequence[Assessment], language: Language, deadline_days: float | None = None
) -> str:
    """What figure F2 shows and assumes."""
    words = language.gettext(
        "Days until everything asked for is done (sweeps, repeated runs, queue and delivery included) and card-hours "
        "used. Bars: expected value; line: 90 % interval."
    )
    if deadline_days:
        line = language.fill("Deadline: {days} days.", days=language.number(deadline_days))
        words = f"{words} {line}"
    return words


def time_alt(assessments: Assessment | Sequence[Assessment], language: Language) -> str:
    """Figure F2 in words."""
    shown = [assessments] if isinstance(assessments, Assessment) else list(assessments)
    lines = [language.gettext("Bars of the days until each plan is done.")]
    for assessment in shown:
        days, hours = assessment.calendar_days, gpu_hours(assessment)
        lines.append(
            language.fill(
                "{plan}: {expected:num} days ({low:num} to {high:num}), {hours:num} card-hours.",
                plan=plan_name(assessment.plan, language),
                expected=days.expected,
                low=days.low,
                high=days.high,
                hours=hours.expected,
            )
        )
    return " ".join(lines)
