"""A window with the bundled catalogue, settings of its own, and everything closed when a test ends."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QCoreApplication, QEvent
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from engine.catalog.load import load_catalog
from engine.hardware.model import CatalogSnapshot
from gui.app import build_window
from gui.main_window import MainWindow
from gui.settings import SettingsFile
from gui.state import AppState


@pytest.fixture(scope="session")
def bundled() -> CatalogSnapshot:
    """The bundled catalogue."""
    return load_catalog(with_user_rows=False)


@pytest.fixture
def state(qapp: QApplication, bundled: CatalogSnapshot, tmp_path: Path) -> Iterator[AppState]:
    """A state that speaks English and never asks the engine by itself."""
    settings = SettingsFile(tmp_path / "settings.json")
    settings.update(language="en", theme="light")
    made = AppState(bundled, settings=settings, live_estimate=False)
    yield made
    made.close()


@pytest.fixture
def make_window(qapp: QApplication, qtbot: QtBot, state: AppState) -> Iterator[Callable[[], MainWindow]]:
    """Makes the window; afterwards no top-level window may be left."""
    made: list[MainWindow] = []

    def make() -> MainWindow:
        window = build_window(qapp, state)
        made.append(window)
        window.resize(1280, 800)
        window.show()
        return window

    yield make
    for window in made:
        window.close()
        window.deleteLater()
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
    left = [w for w in QApplication.topLevelWidgets() if w.isVisible()]
    assert not left, f"windows left behind: {left}"


@pytest.fixture
def window(make_window: Callable[[], MainWindow]) -> MainWindow:
    """The window, shown."""
    return make_window()
