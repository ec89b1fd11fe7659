"""A state without files, the sample's words in both languages, and pages that are closed when a test ends."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import pytest
import results_sample as sample
from PySide6.QtCore import QCoreApplication, QEvent
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from engine.advice.result import Advice
from engine.catalog.load import load_catalog
from engine.hardware.model import CatalogSnapshot
from engine.i18n import Language
from engine.messages import LABELS, TEMPLATES
from gui.settings import SettingsFile
from gui.state import AppState
from gui.theme import apply_theme, install_fonts

Page = TypeVar("Page", bound=QWidget)

WORDS = {
    "sample.note": "A note.",
    "sample.advice": "An advice.",
    "sample.tight": "Only {x:gib} stay free.",
    "sample.short": "Needs {x:gib} more per card.",
    "sample.dear": "{over:money} over the budget.",
    "sample.reason": "Costs {amount:money} less than {name}.",
    "sample.api": "The same by API costs {amount:money}.",
}


@pytest.fixture(autouse=True)
def sample_words(monkeypatch: pytest.MonkeyPatch) -> None:
    """The sample's sentences stand beside the engine's own."""
    for code, text in WORDS.items():
        monkeypatch.setitem(TEMPLATES, code, text)
    for code in ("memory.moment.backward", "speed.time.final_runs", "risk.price_age"):
        if code not in LABELS:
            monkeypatch.setitem(LABELS, code, code.rpartition(".")[2])


@pytest.fixture(scope="session")
def bundled() -> CatalogSnapshot:
    """The bundled catalogue."""
    return load_catalog(with_user_rows=False)


@pytest.fixture(scope="session")
def fonts(qapp: QApplication) -> tuple[str, ...]:
    """The bundled fonts, once."""
    return install_fonts()


@pytest.fixture
def state(qapp: QApplication, fonts: tuple[str, ...], bundled: CatalogSnapshot, tmp_path: Path) -> Iterator[AppState]:
    """A state whose language is English and whose engine is never asked."""
    file = SettingsFile(tmp_path / "settings.json")
    file.update(language="en", theme="light")

    def never(*_args: Any) -> Advice:
        return sample.advice()

    made = AppState(bundled, settings=file, advise=never, live_estimate=False)
    apply_theme(qapp, made.theme)
    yield made
    made.close()


@pytest.fixture
def opened(qtbot: QtBot, state: AppState) -> Iterator[Callable[[type[Page]], Page]]:
    """Opens a page at a usual size; its background work ends and it is deleted with the test."""
    pages: list[QWidget] = []

    def make(kind: type[Page]) -> Page:
        page = kind(state)  # type: ignore[call-arg]
        page.resize(1180, 720)
        page.show()
        pages.append(page)
        return page

    yield make
    for page in pages:
        page.close_jobs()  # type: ignore[attr-defined]
        page.close()
        page.deleteLater()
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)


@pytest.fixture
def english() -> Language:
    """English."""
    return Language("en")


@pytest.fixture
def chinese() -> Language:
    """Simplified Chinese."""
    return Language("zh_CN")
