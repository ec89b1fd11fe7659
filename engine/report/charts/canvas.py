"""What all charts share: an empty figure in our font, axes, legends, and files of fixed bytes."""

from __future__ import annotations

import io
import threading
from collections.abc import Callable, Sequence
from functools import cache
from importlib.resources import as_file, files
from typing import TYPE_CHECKING, Any

from engine.report.charts.look import Look, Style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.patches import Patch

__all__ = [
    "FAMILIES",
    "axis_format",
    "legend",
    "limit_line",
    "new_figure",
    "png_bytes",
    "range_mark",
    "segment",
    "svg_bytes",
]

#: Our bundled font first; the one that matplotlib brings along has the rare signs.
FAMILIES = ["Noto Sans SC", "DejaVu Sans"]
#: A limit further out than so many times the longest bar is named at the edge of the chart.
FAR = 2.5
#: matplotlib keeps global settings and caches: one thread draws at a time.
_drawing = threading.RLock()


@cache
def _register_fonts() -> None:
    from matplotlib.font_manager import fontManager

    for weight in ("Regular", "Bold"):
        with as_file(files("resources") / "fonts" / f"NotoSansSC-{weight}.otf") as path:
            fontManager.addfont(str(path))


def new_figure(look: Look, width: float, height: float) -> Figure:
    """An empty figure, `width` x `height` inches, never through pyplot."""
    from matplotlib.figure import Figure

    with _drawing:
        _register_fonts()
    figure = Figure(figsize=(width, height), layout="constrained")
    figure.patch.set_facecolor(look.background)
    return figure


def dress(axes: Axes, look: Look, *, xlabel: str = "", ylabel: str = "", grid: str = "x") -> None:
    """Labels with units, our font, quiet spines and a grid across the measured axis."""
    axes.set_facecolor(look.background)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    for side in ("left", "bottom"):
        axes.spines[side].set_color(look.muted)
    axes.tick_params(colors=look.muted, labelcolor=look.text, labelsize=look.font_size, labelfontfamily=FAMILIES)
    axes.grid(True, axis=grid, color=look.grid, linewidth=0.6)  # type: ignore[arg-type]
    axes.set_axisbelow(True)
    words: dict[str, Any] = {"color": look.text, "family": FAMILIES, "size": look.font_size}
    if xlabel:
        axes.set_xlabel(xlabel, **words)
    if ylabel:
        axes.set_ylabel(ylabel, **words)


def text(axes: Axes, x: float, y: float, words: str, look: Look, **more: Any) -> None:
    """A text in our font at data coordinates."""
    settings: dict[str, Any] = {"color": look.text, "family": FAMILIES, "size": look.font_size, "va": "center"}
    axes.text(x, y, words, **{**settings, **more})


def segment(axes: Axes, y: float, left: float, width: float, style: Style, look: Look, height: float = 0.56) -> None:
    """One piece of a horizontal stacked bar: the hatch in a colour that reads on the fill, then its outline."""
    place: dict[str, Any] = {"left": left, "height": height}
    _hatched(axes.barh(y, width, color=style.color, **place).patches[0], style, look)
    axes.barh(y, width, color="none", edgecolor=look.edge, linewidth=0.7, **place)


def _hatched(patch: Patch, style: Style, look: Look) -> None:
    """A hatch has the colour of the edge, which is not drawn."""
    patch.set_facecolor(style.color)
    patch.set_edgecolor(contrast(style.color))
    patch.set_linewidth(0)
    if style.hatch and look.hatches:
        patch.set_hatch(style.hatch)
        patch.set_hatch_linewidth(0.5)


def contrast(color: str) -> str:
    """Black or white, whichever reads better on a colour (relative luminance of WCAG 2)."""
    channels = [int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    luminance = 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
    return "#000000" if luminance > 0.179 else "#ffffff"


def range_mark(axes: Axes, y: float, low: float, expected: float, high: float, look: Look) -> None:
    """The 90 % interval as a line with end strokes, the expected value as a diamond."""
    axes.errorbar(
        [expected],
        [y],
        xerr=[[expected - low], [high - expected]],
        fmt="D",
        markersize=3.6,
        color=look.text,
        ecolor=look.text,
        elinewidth=1.2,
        capsize=3.5,
        markeredgecolor=look.background,
        markeredgewidth=0.6,
        zorder=6,
    )


def limit_line(axes: Axes, x: float, words: str, look: Look) -> None:
    """A dashed line through the whole height with its meaning written at the top."""
    axes.axvline(x, color=look.limit, linewidth=1.3, linestyle=(0, (5, 3)), zorder=5)
    axes.annotate(
        words,
        xy=(x, 1.0),
        xycoords=("data", "axes fraction"),
        xytext=(0, 3),
        textcoords="offset points",
        ha="center",
        va="bottom",
        color=look.limit,
        family=FAMILIES,
        size=look.font_size,
        annotation_clip=False,
    )


def far_limit(axes: Axes, words: str, look: Look) -> None:
    """A limit that lies far beyond the axis: named at its right end instead of squeezing everything else."""
    axes.annotate(
        f"{words} →",
        xy=(1.0, 1.0),
        xycoords="axes fraction",
        xytext=(0, 3),
        textcoords="offset points",
        ha="right",
        va="bottom",
        color=look.limit,
        family=FAMILIES,
        size=look.font_size,
        annotation_clip=False,
    )


def axis_format(axes: Axes, which: str, shown: Callable[[float], str], ticks: int = 6) -> None:
    """Numbers of an axis as the language writes them."""
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    axis = axes.xaxis if which == "x" else axes.yaxis
    axis.set_major_locator(MaxNLocator(nbins=ticks))
    axis.set_major_formatter(FuncFormatter(lambda value, _position: shown(value)))


def legend(figure: Figure, entries: Sequence[tuple[str, Style]], look: Look) -> None:
    """One legend below the chart: colour, hatch and words of every component that occurs."""
    from matplotlib.patches import Patch

    if not entries:
        return
    patches = [Patch(label=words) for words, _style in entries]
    for patch, (_words, style) in zip(patches, entries, strict=True):
        _hatched(patch, style, look)
    figure.legend(
        handles=patches,
        loc="outside lower left",
        ncols=_columns([words for words, _style in entries], look, figure.get_figwidth()),
        frameon=False,
        handlelength=1.6,
        columnspacing=1.2,
        labelcolor=look.text,
        prop={"family": FAMILIES, "size": look.font_size},
    )


def _columns(words: Sequence[str], look: Look, width: float) -> int:
    """As many legend columns as fit `width` inches: a hanzi is one em wide, a Latin letter about 0.6."""
    ems = [sum(1.0 if ord(c) > 0x2E80 else 0.6 for c in w) for w in words]
    for columns in range(min(5, len(words)), 1, -1):
        rows = -(-len(words) // columns)
        widest = sum(max(ems[i * rows : (i + 1) * rows], default=0.0) + 4.2 for i in range(columns))
        if widest * look.font_size / 72 <= width - 0.2:
            return columns
    return 1


def legend_height(words: Sequence[str], look: Look, width: float) -> float:
    """Inches that a legend of these words takes below a chart of `width` inches."""
    rows = -(-len(words) // _columns(words, look, width)) if words else 0
    return rows * look.font_size * 1.55 / 72 + 0.12


def svg_bytes(figure: Figure) -> bytes:
    """The figure as SVG; the same figure gives the same bytes."""
    import matplotlib

    out = io.BytesIO()
    settings: Any = {"svg.hashsalt": "gpu-advisor", "svg.fonttype": "path"}
    with _drawing, matplotlib.rc_context(settings):
        figure.savefig(out, format="svg", metadata={"Date": None, "Creator": None})
    return out.getvalue()


def png_bytes(figure: Figure, dpi: int = 144) -> bytes:
    """The figure as PNG."""
    out = io.BytesIO()
    with _drawing:
        figure.savefig(out, format="png", dpi=dpi, metadata={"Software": None})
    return out.getvalue()
