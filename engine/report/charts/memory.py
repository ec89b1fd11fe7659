"""F1: memory of each card as a stack of its terms, against what the card offers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from engine.advice.result import Assessment, TaskAssessment
from engine.i18n import Language
from engine.memory.result import MemoryAssessment, Verdict
from engine.quantity import GIB
from engine.report.charts import canvas
from engine.report.charts.look import MEMORY_STYLES, Look, style_of
from engine.report.naming import plan_lines, plan_name

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["heaviest_task", "memory_alt", "memory_caption", "memory_chart"]

#: Memory sizes that vendors print on cards, as guide lines: an "80 GB" card offers the driver close to 80 GiB.
CARD_SIZES = (24, 32, 48, 80, 96, 141, 180, 288)
#: A segment narrower than this share of the axis carries no number.
LABEL_SHARE = 0.07
#: In a small figure, items below this share of the total are drawn as one.
SMALL_SHARE = 0.05


def heaviest_task(assessment: Assessment) -> TaskAssessment:
    """The task that needs most memory on a card of this plan."""
    return max(assessment.tasks, key=lambda t: t.memory.driver.expected)


def memory_chart(
    assessments: Assessment | Sequence[Assessment],
    look: Look,
    language: Language,
    *,
    width: float = 7.0,
    card_sizes: bool = True,
    compact: bool = False,
) -> Figure:
    """Stack of one card's memory for each plan (its heaviest task), with interval, usable capacity and headroom.

    `compact` names each bar by its way alone, for a small figure beside text; `card_sizes` draws common card sizes.
    """
    shown = _listed(assessments)
    memories = [heaviest_task(a).memory for a in shown]
    if compact:
        memories = [_merged(m) for m in memories]
    present = {t.name for m in memories for t in m.terms if t.expected > 0}
    present |= {"memory.in_use"} if any(m.in_use_bytes for m in memories) else set()
    entries = [(language.label(n), style_of(n, MEMORY_STYLES)) for n in _ordered(present)]
    below = canvas.legend_height([w for w, _style in entries], look, width)
    row, around = (0.42, 0.5) if compact else (0.62, 0.85)
    figure = canvas.new_figure(look, width, row * len(shown) + around + below)
    axes = figure.add_subplot()
    limit = max(max(m.driver.high + m.in_use_bytes, m.usable_bytes or 0) for m in memories) / GIB
    axes.set_xlim(0, limit * 1.16)
    axes.set_ylim(len(shown) - 0.45, -0.55)
    for y, memory in enumerate(memories):
        _stack(axes, y, memory, look, language)
    if card_sizes:
        _size_lines(axes, limit * 1.16, look, language)
    canvas.dress(axes, look, xlabel=language.gettext("Memory of one card (GiB)"))
    names = [language.label(f"way.{a.plan.way}") if compact else plan_lines(a.plan, language) for a in shown]
    axes.set_yticks(range(len(shown)), names)
    canvas.axis_format(axes, "x", lambda v: language.number(v, 0))
    axes.tick_params(axis="y", length=0)
    canvas.legend(figure, entries, look)
    return figure


def memory_caption(assessments: Assessment | Sequence[Assessment], language: Language) -> str:
    """What figure F1 shows and assumes."""
    shown = _listed(assessments)
    headroom = max(heaviest_task(a).memory.headroom for a in shown)
    return language.fill(
        "Memory of one card by item, expected values; the line with a diamond is the 90 % interval of the total, the "
        "thick stroke what the card's driver offers, the shaded part before it the headroom of {headroom:pct}.",
        headroom=headroom,
    )


def memory_alt(assessments: Assessment | Sequence[Assessment], language: Language) -> str:
    """Figure F1 in words, for those who can't see it."""
    lines = [language.gettext("Stacked bars of the memory of one card.")]
    for assessment in _listed(assessments):
        memory = heaviest_task(assessment).memory
        largest = sorted(memory.terms, key=lambda t: -t.expected)[:3]
        lines.append(
            language.fill(
                "{plan}: expected {expected:gib} ({low:gib} to {high:gib}), usable {usable}; {verdict}. "
                "Largest: {items}.",
                plan=plan_name(assessment.plan, language),
                expected=memory.driver.expected,
                low=memory.driver.low,
                high=memory.driver.high,
                usable=language.gib(memory.usable_bytes) if memory.usable_bytes else language.gettext("unknown"),
                verdict=language.label(f"verdict.{memory.verdict}"),
                items=language.gettext(", ").join(
                    f"{language.label(t.name)} {language.gib(t.expected)}" for t in largest
                ),
            )
        )
    return " ".join(lines)


def _listed(assessments: Assessment | Sequence[Assessment]) -> list[Assessment]:
    return [assessments] if isinstance(assessments, Assessment) else list(assessments)


def _ordered(names: set[str]) -> list[str]:
    order = {name: i for i, name in enumerate(MEMORY_STYLES)}
    return sorted(names, key=lambda n: (order.get(n, len(order)), n))


def _merged(memory: MemoryAssessment) -> MemoryAssessment:
    """The same memory with all small items in one, for a small figure; the total stays."""
    total = sum(t.expected for t in memory.terms)
    small = [t for t in memory.terms if t.expected < SMALL_SHARE * total]
    if len(small) < 2:
        return memory
    rest = small[0].model_copy(
        update={
            "name": "memory.other",
            "low": sum(t.low for t in small),
            "expected": sum(t.expected for t in small),
            "high": sum(t.high for t in small),
        }
    )
    return memory.model_copy(update={"terms": (*(t for t in memory.terms if t not in small), rest)})


def _stack(axes: Axes, y: int, memory: MemoryAssessment, look: Look, language: Language) -> None:
    span = axes.get_xlim()[1]
    left = 0.0
    sizes: dict[str, float] = {"memory.in_use": memory.in_use_bytes / GIB} if memory.in_use_bytes else {}
    for term in memory.terms:
        sizes[term.name] = sizes.get(term.name, 0.0) + term.expected / GIB
    for name in _ordered(set(sizes)):
        size = sizes[name]
        if size <= 0:
            continue
        style = style_of(name, MEMORY_STYLES)
        canvas.segment(axes, y, left, size, style, look)
        if size > LABEL_SHARE * span:
            box = {"facecolor": style.color, "edgecolor": "none", "pad": 1.2}
            canvas.text(
                axes, left + size / 2, y, language.number(size, 1), look, color=canvas.contrast(style.color),
                ha="center", bbox=box, zorder=4, size=look.font_size - 0.5,
            )  # fmt: skip
        left += size
    in_use = memory.in_use_bytes / GIB
    driver = memory.driver
    canvas.range_mark(
        axes, y + 0.38, driver.low / GIB + in_use, driver.expected / GIB + in_use, driver.high / GIB + in_use, look
    )
    if memory.usable_bytes:
        _capacity(axes, y, memory.usable_bytes / GIB, memory.headroom, memory.verdict, look, language)


def _capacity(
    axes: Axes, y: int, usable: float, headroom: float, verdict: Verdict, look: Look, language: Language
) -> None:
    from matplotlib.patches import Rectangle

    axes.add_patch(
        Rectangle(
            (usable * (1 - headroom), y - 0.33), usable * headroom, 0.66, facecolor=look.limit, alpha=0.14, linewidth=0
        )
    )
    axes.plot([usable, usable], [y - 0.42, y + 0.42], color=look.limit, linewidth=2.2, zorder=5, solid_capstyle="butt")
    fits = verdict in (Verdict.FITS, Verdict.FITS_TIGHTLY)
    words = language.number(usable, 1) if fits else f"{language.number(usable, 1)} ✗ {language.gettext('does not fit')}"
    canvas.text(axes, usable, y, f" {words}", look, color=look.limit, ha="left", weight="bold")


def _size_lines(axes: Axes, limit: float, look: Look, language: Language) -> None:
    """Common card sizes as thin lines, named along the top."""
    named = [s for s in CARD_SIZES if s < limit]
    last = -limit
    for size in named:
        axes.axvline(size, color=look.muted, linewidth=0.7, linestyle=":", zorder=0)
        if size - last < limit * 0.055:
            continue
        last = size
        axes.annotate(
            f"{size}", xy=(size, 1.0), xycoords=("data", "axes fraction"), xytext=(0, 2), textcoords="offset points",
            ha="center", va="bottom", color=look.muted, family=canvas.FAMILIES, size=look.font_size - 1.5,
            annotation_clip=False,
        )  # fmt: skip
    if named:
        axes.annotate(
            language.gettext("card sizes as sold (GB)"), xy=(1.0, 1.0), xycoords="axes fraction", xytext=(0, 12),
            textcoords="offset points", ha="right", va="bottom", color=look.muted, family=canvas.FAMILIES,
            size=look.font_size - 1.5, annotation_clip=False,
        )  # fmt: skip
