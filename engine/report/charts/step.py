"""F2a: what the time of a run, or of an output token of a service, goes into."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from engine.advice.result import Assessment, TaskAssessment
from engine.i18n import Language
from engine.report.charts import canvas
from engine.report.charts.look import TIME_STYLES, Look, style_of
from engine.report.naming import plan_lines, plan_name
from engine.speed.limits import limit_finding
from engine.speed.result import CORRECTION

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["split_alt", "split_caption", "split_chart", "time_shares"]

#: A part below it is left without its share in words.
WRITTEN_FROM = 0.06


def _longest(assessment: Assessment) -> TaskAssessment:
    return max(assessment.tasks, key=lambda t: t.busy_seconds.expected)


def time_shares(assessment: Assessment) -> dict[str, float]:
    """Share of each part in the time of one run of the longest task (a service: of an output token); they add up to 1.

    A run's parts are those of its steps and what comes on top: start, data, evaluations, checkpoints, failures.
    """
    task = _longest(assessment)
    speed = task.training or task.inference
    if speed is None:
        return {}
    parts = {t.name: t.expected for t in speed.terms if t.name != CORRECTION and t.expected > 0}
    step = sum(parts.values())
    run = {t.name: t.expected for t in task.time_terms if t.name.startswith("run.") and t.expected > 0}
    training = run.pop("run.training", 1.0)
    whole = training + sum(run.values())
    shares = {name: seconds / step * training / whole for name, seconds in parts.items()}
    return shares | {name: seconds / whole for name, seconds in run.items()}


def split_chart(
    assessments: Assessment | Sequence[Assessment], look: Look, language: Language, *, width: float = 7.0
) -> Figure:
    """One bar of full length for each plan, cut by what its time goes into."""
    shown = [assessments] if isinstance(assessments, Assessment) else list(assessments)
    found = [time_shares(a) for a in shown]
    names = sorted({n for shares in found for n in shares}, key=_position)
    entries = [(language.label(n), style_of(n, TIME_STYLES)) for n in names]
    below = canvas.legend_height([w for w, _style in entries], look, width)
    figure = canvas.new_figure(look, width, 0.5 * len(shown) + 0.75 + below)
    axes = figure.add_subplot()
    axes.set_xlim(0, 1)
    for y, shares in enumerate(found):
        left = 0.0
        for name in sorted(shares, key=_position):
            style, share = style_of(name, TIME_STYLES), shares[name]
            canvas.segment(axes, y, left, share, style, look)
            if share >= WRITTEN_FROM and not style.hatch:
                color = canvas.contrast(style.color)
                canvas.text(axes, left + share / 2, y, language.percent(share), look, ha="center", color=color)
            left += share
    canvas.dress(axes, look, xlabel=language.gettext("Share of the time"))
    axes.set_yticks(range(len(shown)), [plan_lines(a.plan, language) for a in shown])
    axes.tick_params(axis="y", length=0)
    axes.set_ylim(len(shown) - 0.45, -0.55)
    canvas.axis_format(axes, "x", language.percent)
    canvas.legend(figure, entries, look)
    return figure


def _position(name: str) -> tuple[int, str]:
    order = {n: i for i, n in enumerate(TIME_STYLES)}
    return order.get(name, len(order)), name


def split_caption(assessments: Assessment | Sequence[Assessment], language: Language) -> str:
    """What the figure shows, and for the first plan what limits it and what would help most."""
    first = assessments if isinstance(assessments, Assessment) else assessments[0]
    words = language.gettext(
        "What the time of one run goes into, expected values (a service: the time of one output token). Communication "
        "is what the cards wait for, beyond what they do at the same time."
    )
    task = _longest(first)
    speed = task.training or task.inference
    limit = limit_finding(speed) if speed is not None else None
    if limit is None:
        return words
    said = language.fill("{plan}: {reason}", plan=plan_name(first.plan, language), reason=language.text(limit))
    return f"{words} {said}"


def split_alt(assessments: Assessment | Sequence[Assessment], language: Language) -> str:
    """The figure in words."""
    shown = [assessments] if isinstance(assessments, Assessment) else list(assessments)
    lines = [language.gettext("Bars of the shares of the time of each plan.")]
    for assessment in shown:
        shares = sorted(time_shares(assessment).items(), key=lambda item: -item[1])[:4]
        items = language.gettext(", ").join(
            language.fill("{part} {share:pct}", part=language.label(name), share=share) for name, share in shares
        )
        lines.append(language.fill("{plan}: {items}.", plan=plan_name(assessment.plan, language), items=items))
    return " ".join(lines)
