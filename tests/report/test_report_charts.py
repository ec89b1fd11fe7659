"""Charts: what is drawn equals the numbers, in both languages and all looks, the same bytes each time."""

from __future__ import annotations

import subprocess
import sys
from importlib.resources import files

import pytest
from matplotlib.figure import Figure
from sample_advice import sample_advice

from engine import Scenario, advise, load_catalog
from engine.advice.result import Advice
from engine.advice.ways_result import WaysComparison
from engine.architecture.model import Architecture
from engine.i18n import LANGUAGES, Language
from engine.layout.model import Job, Layout, Method
from engine.memory.training import training_memory
from engine.memory.verdict import assess
from engine.quantity import GIB
from engine.report import charts
from engine.report.charts.canvas import contrast
from engine.report.charts.look import COST_STYLES, MEMORY_STYLES, WAY_STYLES, style_of
from engine.report.charts.timeline import moments_in_time

ADVICE = sample_advice()


def _ways() -> WaysComparison:
    """A service that could be bought, rented or had by API, under the bundled catalogue."""
    text = (files("resources") / "examples" / "serve-70b-50-users.json").read_text(encoding="utf-8")
    found = advise(Scenario.model_validate_json(text), load_catalog()).ways
    assert found is not None and found.tornado
    return found


WAYS = _ways()

#: Llama 3.1 8B by its published config.json.
MEDIUM = Architecture(
    id="medium", name="Medium 8B", family="llama", block_kind="llama", hidden_size=4096, layers=32, attention_heads=32,
    kv_heads=8, head_dim=128, intermediate_size=14_336, vocabulary_size=128_256, max_context=131_072,
    full_attention_layers=32, kv_elements_per_token_full=32 * 2 * 8 * 128, parameters_total=8_030_261_248,
    parameters_active=8_030_261_248,
)  # fmt: skip


def every_chart(advice: Advice, look: charts.Look, language: Language) -> dict[str, Figure]:
    return {
        "memory": charts.memory_chart(advice.ranked, look, language),
        "one": charts.memory_chart(advice.ranked[0], look, language, compact=True, card_sizes=False, width=4.2),
        "timeline": charts.timeline_chart(advice.ranked[0], look, language),
        "time": charts.time_chart(advice.ranked, look, language, deadline_days=60),
        "cost": charts.cost_chart(advice.ranked, look, language),
        "cash": charts.cost_chart(
            advice.ranked, look, language, kind="cash", budget=advice.scenario.constraints.budget
        ),
        "ways": charts.ways_chart(WAYS, look, language),
        "tornado": charts.tornado_chart(WAYS, look, language),
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
    )
    for text in texts:
        assert "H100 SXM 80GB" in text and "RTX 4090" in text
    assert "GiB" in texts[0]


@pytest.mark.parametrize("code", LANGUAGES)
def test_the_ways_are_told_in_words(code: str) -> None:
    language = Language(code)  # type: ignore[arg-type]
    text = charts.ways_alt(WAYS, language)
    assert all(language.label(f"compare.{way}") in text for way in ("buy", "on-demand", "api"))
    assert all(language.label(s.knob) in charts.tornado_alt(WAYS, language) for s in WAYS.tornado)


def test_importing_the_charts_is_cheap() -> None:
    heavy = ("matplotlib", "typst", "xlsxwriter", "pypdfium2")
    code = "import sys, engine.report.charts, engine.report.pdf, engine.report.export"
    code += f"; print([m for m in {heavy} if m in sys.modules])"
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert answer.stdout.strip() == "[]"


def test_a_step_has_its_moments_in_order_and_its_peak_marked() -> None:
    memory = training_memory(
        MEDIUM,
        Job(method=Method.FULL, sequence_length=2048),
        Layout(micro_batch_size=2, pipeline_parallel=2, gradient_accumulation_steps=4),
    )
    assessed = assess(memory, None)
    moments = moments_in_time(assessed.moments)
    assert len({m.moment for m in moments}) == len(moments) < len(assessed.moments)  # one of the two stages
    phases = [("forward", "backward", "optimizer").index(m.phase) for m in moments]
    assert phases == sorted(phases)
    assert max(m.allocated.expected for m in moments) == pytest.approx(assessed.allocated.expected)
    for moment in moments:
        assert sum(v for _name, v in moment.amounts) == pytest.approx(moment.allocated.expected)
    first = ADVICE.ranked[0]
    task = first.tasks[0].model_copy(update={"memory": assessed})
    plan = first.model_copy(update={"tasks": (task,)})
    figure = charts.timeline_chart(plan, charts.LIGHT, Language("en"))
    assert sum("peak" in t.get_text() for t in figure.axes[0].texts) == 1
    assert "the peak" in charts.timeline_alt(plan, Language("en"))
    assert "峰值" in charts.timeline_alt(plan, Language("zh_CN"))
