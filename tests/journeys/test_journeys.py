"""The window is driven through every example in both languages; pictures of every page are left in a build folder.

`GPU_ADVISOR_SHOTS` names the folder (default `build/screenshots`), `GPU_ADVISOR_THEME` light or dark. For pictures at
200 % set `QT_SCALE_FACTOR=2` as well.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtWidgets import QAbstractButton, QApplication, QLabel, QTabWidget, QWidget
from pytestqt.qtbot import QtBot

from engine.catalog.load import load_catalog
from engine.examples import EXAMPLES
from engine.hardware.model import CatalogSnapshot
from engine.report.pdf import page_count
from gui.app import build_window
from gui.charts.canvas import ChartView
from gui.main_window import MainWindow
from gui.problems import Page
from gui.report.page import ReportPage
from gui.report.preview import PreviewView
from gui.results.page import ResultsPage
from gui.state import AppState
from gui.wizard.flow import steps

ROOT = Path(__file__).resolve().parents[2]
SHOTS = Path(os.environ.get("GPU_ADVISOR_SHOTS", ROOT / "build" / "screenshots"))
THEME = os.environ.get("GPU_ADVISOR_THEME", "light")
ADVICE_MS = 60_000

Shoot = Callable[[QWidget, str], None]


@pytest.fixture(scope="module")
def catalog() -> CatalogSnapshot:
    """The bundled catalogue, read once."""
    return load_catalog(with_user_rows=False)


@pytest.fixture(params=["en", "zh_CN"])
def window(request: pytest.FixtureRequest, qtbot: QtBot, catalog: CatalogSnapshot) -> Iterator[MainWindow]:
    """The whole window, as it opens for a person who speaks that language."""
    application = QApplication.instance()
    assert isinstance(application, QApplication)
    state = AppState(catalog)
    state.set_language(request.param)
    state.set_theme(THEME)
    made = build_window(application, state)
    qtbot.addWidget(made)
    made.resize(1280, 800)
    made.show()
    qtbot.waitExposed(made)
    yield made
    made.close()


@pytest.fixture
def shoot(window: MainWindow, qtbot: QtBot) -> Shoot:
    """Takes a picture of the window."""
    folder = SHOTS / window.state.language.code / THEME

    def take(_page: QWidget, name: str) -> None:
        QApplication.processEvents()
        qtbot.wait(30)
        path = folder / f"{name}.png"
        path.parent.mkdir(parents=True, exist_ok=True)
        assert window.grab().save(str(path))

    return take


@pytest.mark.parametrize("example", [e.name for e in EXAMPLES])
def test_the_whole_road(window: MainWindow, qtbot: QtBot, shoot: Shoot, example: str) -> None:
    """Open an example, go through the questions, get advice, read it, print it."""
    shoot(window, "start")
    window.open_example(example)
    walk_the_questions(window, qtbot, shoot, example)
    results = ask(window, qtbot)
    advice = window.state.advice
    assert advice is not None and advice.picks, "an example has an answer"
    shoot(results, f"{example}/results")
    tabs = results.findChild(QTabWidget, "results.tabs")
    assert tabs is not None
    for number in range(tabs.count()):
        tabs.setCurrentIndex(number)
        QApplication.processEvents()
        qtbot.waitUntil(lambda: not drawing(results), timeout=ADVICE_MS)
        shoot(results, f"{example}/results-{number}")
        assert_translated(window)
    report = print_it(window, qtbot)
    shoot(report, f"{example}/report")
    assert_translated(window)


def test_catalogue_and_other_places(window: MainWindow, qtbot: QtBot, shoot: Shoot) -> None:
    """The catalogue's tabs can be opened and read."""
    window.go("catalog")
    page = window.stack.currentWidget()
    tabs = page.findChild(QTabWidget)
    assert tabs is not None
    for number in range(tabs.count()):
        tabs.setCurrentIndex(number)
        qtbot.wait(50)
        shoot(page, f"catalog/{number}")
        assert_translated(window)


def test_switching_the_language_reaches_every_page(window: MainWindow, qtbot: QtBot) -> None:
    """What is on the screen follows the language at once, back and forth."""
    window.open_example(EXAMPLES[0].name)
    ask(window, qtbot)
    first = texts(window)
    other = "en" if window.state.language.chinese else "zh_CN"
    own = window.state.language.code
    window.state.set_language(other)
    QApplication.processEvents()
    assert texts(window) != first
    window.state.set_language(own)
    QApplication.processEvents()
    assert texts(window) == first


def walk_the_questions(window: MainWindow, qtbot: QtBot, shoot: Shoot, example: str) -> None:
    """From the first question to the last by "Next", and back to the first by "Back"; nothing is lost."""
    wizard, before = window.wizard, window.state.draft
    wizard.go(steps(before)[0])
    visited = 0
    while wizard.step.page is not Page.REVIEW:
        qtbot.waitUntil(lambda: not window.state.busy, timeout=ADVICE_MS)
        shoot(wizard, f"{example}/question-{visited}-{wizard.step.page.name.lower()}")
        assert_translated(window)
        at = wizard.step
        wizard.go_on()
        assert wizard.step != at, f"stuck at {at}: {wizard.message.text()}"
        visited += 1
    shoot(wizard, f"{example}/question-{visited}-review")
    assert_translated(window)
    for _ in range(visited):
        wizard.go_back()
    assert wizard.step == steps(before)[0]
    assert window.state.draft == before


def ask(window: MainWindow, qtbot: QtBot) -> ResultsPage:
    """To the results, waiting for the engine."""
    window.go("results")
    qtbot.waitUntil(lambda: window.state.advice is not None and not window.state.busy, timeout=ADVICE_MS)
    page = window.stack.currentWidget()
    assert isinstance(page, ResultsPage)
    QApplication.processEvents()
    return page


def print_it(window: MainWindow, qtbot: QtBot) -> ReportPage:
    """To the report, waiting for its preview."""
    window.go("report")
    page = window.stack.currentWidget()
    assert isinstance(page, ReportPage)
    qtbot.waitUntil(lambda: page.preview is not None, timeout=ADVICE_MS)
    assert page.preview is not None
    assert page_count(page.preview.pdf) == 1, "the memo is one page"
    qtbot.waitUntil(lambda: not drawing(page), timeout=ADVICE_MS)
    return page


def drawing(page: QWidget) -> bool:
    """Whether a picture in sight is still being made."""
    views = [*page.findChildren(ChartView), *page.findChildren(PreviewView)]
    return any(view.busy for view in views if view.isVisible())


def texts(window: MainWindow) -> list[str]:
    """What labels and buttons say."""
    shown = [w.text() for w in window.findChildren(QLabel) if w.isVisible()]
    return shown + [w.text() for w in window.findChildren(QAbstractButton) if w.isVisible()]


#: English words that a Chinese window may hold: names, units, terms that practitioners write in English.
ENGLISH = re.compile(
    r"\b(the|and|of|is|are|to|with|for|from|this|that|your|which|memory|cost|price|card|cards|days|hours|fits|"
    r"please|add|choose|plan|plans)\b"
)


def words_of_sources(catalog: CatalogSnapshot) -> set[str]:
    """Remarks, titles and names of the catalogue: they stand as the source wrote them."""
    rows = (*catalog.gpus, *catalog.systems, *catalog.offers, *catalog.purchase_prices, *catalog.api_prices)
    return {text for row in (*rows, *catalog.cost_items) for text in row.model_dump().values() if isinstance(text, str)}


def assert_translated(window: MainWindow) -> None:
    """No English sentence stands in the Chinese window."""
    if not window.state.language.chinese:
        return
    quoted = words_of_sources(window.state.catalog)
    left = [t for t in texts(window) if len(ENGLISH.findall(t)) >= 2 and "http" not in t and t not in quoted]
    assert not left, f"untranslated: {left[:5]}"
