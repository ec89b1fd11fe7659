"""Cost of the job by item, for several plans."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

from engine.advice.result import Assessment
from engine.i18n import Language
from engine.quantity import Money, MoneyEstimate, Term
from engine.report.charts import canvas
from engine.report.charts.look import COST_STYLES, Look, style_of
from engine.report.charts.money import money_axis
from engine.report.naming import plan_lines, plan_name

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["cost_alt", "cost_caption", "cost_chart"]

Kind = Literal["job", "cash"]


def _parts(assessment: Assessment, kind: Kind) -> tuple[tuple[Term, ...], MoneyEstimate]:
    cost = assessment.cost
    return (cost.job_terms, cost.cost_of_job) if kind == "job" else (cost.cash_terms, cost.cash_needed)


def cost_chart(
    assessments: Assessment | Sequence[Assessment],
    look: Look,
    language: Language,
    *,
    kind: Kind = "job",
    budget: Money | None = None,
    width: float = 7.0,
) -> Figure:
    """Stacked items of the cost of the job (or of the cash needed, with the budget as a line)."""
    shown = [assessments] if isinstance(assessments, Assessment) else list(assessments)
    names = {t.name for a in shown for t in _parts(a, kind)[0] if t.expected > 0}
    entries = [(language.label(n), style_of(n, COST_STYLES)) for n in sorted(names, key=_position)]
    below = canvas.legend_height([w for w, _style in entries], look, width)
    figure = canvas.new_figure(look, width, 0.6 * len(shown) + 0.75 + below)
    axes = figure.add_subplot()
    totals = [_parts(a, kind)[1] for a in shown]
    currency = totals[0].currency
    limit = float(budget.amount) if budget is not None and budget.currency == currency and kind == "cash" else 0.0
    longest = max(*(float(t.high) for t in totals), 1.0)
    far = limit > canvas.FAR * longest
    reach = (longest if far else max(longest, limit)) * 1.22
    unit, written = money_axis(reach, currency, language)
    axes.set_xlim(0, reach)
    for y, assessment in enumerate(shown):
        terms, total = _parts(assessment, kind)
        left = 0.0
        for term in sorted(terms, key=lambda t: _position(t.name)):
            if term.expected <= 0:
                continue
            canvas.segment(axes, y, left, term.expected, style_of(term.name, COST_STYLES), look)
            left += term.expected
        low, expected, high = float(total.low), float(total.expected), float(total.high)
        canvas.range_mark(axes, y + 0.37, low, expected, high, look)
        words = language.money_document(total)
        canvas.text(axes, max(high, left) + reach * 0.012, y, words, look, ha="left", weight="bold")
    if budget is not None and far:
        words = language.fill("budget {amount}", amount=language.money_document(budget))
        canvas.far_limit(axes, words, look)
    elif limit:
        canvas.limit_line(axes, limit, language.gettext("budget"), look)
    label = language.gettext("Cost of the job") if kind == "job" else language.gettext("Cash needed")
    canvas.dress(axes, look, xlabel=language.fill("{quantity} ({unit})", quantity=label, unit=unit))
    axes.set_yticks(range(len(shown)), [plan_lines(a.plan, language) for a in shown])
    axes.tick_params(axis="y", length=0)
    axes.set_ylim(len(shown) - 0.45, -0.55)
    canvas.axis_format(axes, "x", written)
    canvas.legend(figure, entries, look)
    return figure


def _position(name: str) -> tuple[int, str]:
    order = {n: i for i, n in enumerate(COST_STYLES)}
    return order.get(name, len(order)), name


def cost_caption(assessments: Assessment | Sequence[Assessment], language: Language, *, kind: Kind = "job") -> str:
    """What the figure shows and assumes."""
    if kind == "cash":
        return language.gettext(
            "Money that has to be available, by item, expected values; the line with a diamond is the 90 % interval."
        )
    return language.gettext(
        "Cost of the job by item, expected values; the line with a diamond is the 90 % interval. A bought machine "
        "counts with its loss in value during the job, not with its price."
    )


def cost_alt(assessments: Assessment | Sequence[Assessment], language: Language, *, kind: Kind = "job") -> str:
    """The figure in words."""
    shown = [assessments] if isinstance(assessments, Assessment) else list(assessments)
    lines = [language.gettext("Stacked bars of the cost of each plan by item.")]
    for assessment in shown:
        terms, total = _parts(assessment, kind)
        largest = sorted(terms, key=lambda t: -t.expected)[:3]
        items = language.gettext(", ").join(language.label(t.name) for t in largest)
        lines.append(
            language.fill(
                "{plan}: {expected} ({range}). Largest items: {items}.",
                plan=plan_name(assessment.plan, language),
                expected=language.money_document(total),
                range=language.money_range(total),
                items=items,
            )
        )
    return " ".join(lines)
