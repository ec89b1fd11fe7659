"""Qt's own buttons follow the language of the window, at once and every time."""

from __future__ import annotations

from PySide6.QtWidgets import QApplication, QDialogButtonBox
from pytestqt.qtbot import QtBot

from engine.catalog.load import load_catalog
from gui.app import build_window
from gui.state import AppState


def _close() -> str:
    box = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
    return box.button(QDialogButtonBox.StandardButton.Close).text()


def test_they_follow_the_language(qtbot: QtBot, qapp: QApplication) -> None:
    state = AppState(load_catalog(with_user_rows=False))
    state.set_language("en")
    window = build_window(qapp, state)
    qtbot.addWidget(window)
    english = _close()
    state.set_language("zh_CN")
    assert "关闭" in _close()
    state.set_language("en")
    assert _close() == english
    window.close()
