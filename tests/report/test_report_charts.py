"""Charts: what is drawn equals the numbers, in both languages and all looks, the same bytes each time."""

from __future__ import annotations

import subprocess
import sys

import pytest
from matplotlib.figure import Figure
from sample_advice import sample_advice

from engine.advice.result import Advice
from engine.i18n import LANGUAGES, Language
from engine.quantity import GIB
from engine.report import charts
from engine.report.charts.canvas import contrast
from engine.report.charts.look import COST_STYLES, MEMORY_STYLES, WAY_STYLES, style_of

ADVICE = sample_advice()


def every_chart(advice: Advice, look: charts.Look, language: Language) -> dict[str, Figure]:
    return {
        "memory": charts.memory_chart(advice.ranked, look, language),
        "one": charts.memory_chart(advice.ranked[0], look, language, compact=True, card_sizes=False, width=4.2),
        "time": charts.time_chart(advice.ranked, look, language, deadline_days=60),
        "cost": charts.cost_chart(advice.ranked, look, language),
        "cash": charts.cost_chart(
            advice.ranked, look, language, kind="cash", budget=advice.scenario.constraints.budget
        ),
        "cumulative": charts.cumulative_cost_chart(advice, look, language),
    }


@pytest.mark.parametrize("code", LANGUAGES)
def test_svg_is_deterministic(code: str) -> None:
    language = Language(code)  # type: ignore[arg-type]
    first = {k: charts.svg_bytes(f) for k, f in every_chart(ADVICE, charts.PRINT, language).items()}
    second = {k: charts.svg_bytes(f) for k, f in every_chart(ADVICE, charts.PRINT, language).items()}
    assert first == second
    assert all(b"<svg" in s and b"<dc:date>" not in s for s in first.values())


@pytest.mark.parametrize("look", [charts.LIGHT, charts.DARK])
def test_screen_looks_draw(look: charts.Look) -> None:
    for figure in every_chart(ADVICE, look, Language("en")).values():
        assert charts.png_bytes(figure, 50).startswith(b"\x89PNG")


def test_bars_add_up_to_the_expected_peak() -> None:
    figure = charts.memory_chart(ADVICE.ranked[0], charts.LIGHT, Language("en"))
    axes = figure.axes[0]
    right = max(p.get_x() + p.get_width() for c in axes.containers for p in getattr(c, "patches", ()))
    assert right == pytest.approx(ADVICE.ranked[0].tasks[0].memory.driver.expected / GIB)


def test_every_measured_axis_has_a_unit() -> None:
    for name, figure in every_chart(ADVICE, charts.LIGHT, Language("en")).items():
        for axes in figure.axes:
            label = axes.get_xlabel()
            assert label, name
            assert "(" in label or "hours" in label or "Days" in label or "Months" in label


@pytest.mark.parametrize("styles", [MEMORY_STYLES, COST_STYLES, WAY_STYLES])
def test_components_are_told_apart_without_colour(styles: dict[str, object]) -> None:
    looks = list(styles.values())
    assert len(set(looks)) == len(looks)


def test_an_unknown_component_keeps_its_look() -> None:
    assert style_of("memory.new_thing", MEMORY_STYLES) == style_of("memory.new_thing", MEMORY_STYLES)


def test_numbers_read_on_their_fill() -> None:
    assert contrast("#0072B2") == "#ffffff"
    assert contrast("#F0E442") == "#000000"


@pytest.mark.parametrize("code", LANGUAGES)
def test_alternative_texts_name_every_plan(code: str) -> None:
    language = Language(code)  # type: ignore[arg-type]
    texts = (
        charts.memory_alt(ADVICE.ranked, language),
        charts.time_alt(ADVICE.ranked, language),
        charts.cost_alt(ADVICE.ranked, language),
        charts.cumulative_alt(ADVICE, language),
    )
    for text in texts:
        assert "H100 SXM 80GB" in text and "RTX 4090" in text
    assert "GiB" in texts[0]


def test_importing_the_charts_is_cheap() -> None:
    heavy = ("matplotlib", "typst", "xlsxwriter", "pypdfium2")
    code = "import sys, engine.report.charts, engine.report.pdf, engine.report.export"
    code += f"; print([m for m in {heavy} if m in sys.modules])"
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert answer.stdout.strip() == "[]"
