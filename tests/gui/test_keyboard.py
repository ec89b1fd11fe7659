"""The keyboard alone leads from the start page to a saved report, and one always sees where it is."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLineEdit, QTabWidget, QWidget
from pytestqt.qtbot import QtBot

from gui import dialogs
from gui.main_window import MainWindow
from gui.problems import Page
from gui.report.page import ReportPage
from gui.settings import SettingsFile
from gui.state import AppState
from gui.wizard.flow import steps

WAIT = 60_000
#: More steps of the tab key than any page has fields.
MANY = 60


def focused(window: MainWindow) -> QWidget:
    """What has the keyboard; the window itself where nothing has."""
    return QApplication.focusWidget() or window


def tab_to(window: MainWindow, name: str) -> QWidget:
    """Press the tab key until the field of this name has the keyboard."""
    passed: list[str] = []
    for _ in range(MANY):
        if focused(window).objectName() == name:
            return focused(window)
        QTest.keyClick(focused(window), Qt.Key.Key_Tab)
        passed.append(focused(window).objectName())
    raise AssertionError(f"{name} is not reached, only {passed}")


def test_from_the_start_page_to_a_saved_report_by_keyboard(
    qtbot: QtBot, window: MainWindow, state: AppState, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    window.activateWindow()
    QTest.keyClick(tab_to(window, "start.example.qlora-8b-own-card"), Qt.Key.Key_Space)
    assert window.wizard.step == steps(state.draft)[0] or window.wizard.step.page is Page.REVIEW
    for _ in range(10):
        if window.wizard.step.page is Page.REVIEW:
            break
        QTest.keyClick(tab_to(window, "wizard.next"), Qt.Key.Key_Return)
    assert window.wizard.step.page is Page.REVIEW
    with qtbot.waitSignal(state.advice_changed, timeout=WAIT, check_params_cb=lambda advice: advice is not None):
        QTest.keyClick(tab_to(window, "wizard.next"), Qt.Key.Key_Return)
    tab_to(window, "pick.cheapest")
    QTest.keyClick(focused(window), Qt.Key.Key_Return)
    QTest.keyClick(tab_to(window, "results.report"), Qt.Key.Key_Space)
    report = window.stack.currentWidget()
    assert isinstance(report, ReportPage)
    qtbot.waitUntil(lambda: report.preview is not None and report.controls.pdf.isEnabled(), timeout=WAIT)
    monkeypatch.setattr(dialogs, "ask_save", lambda *_args: tmp_path / "memo.pdf")
    with qtbot.waitSignal(report.exporter.saved, timeout=WAIT):
        QTest.keyClick(tab_to(window, "report.save"), Qt.Key.Key_Space)
    assert (tmp_path / "memo.pdf").read_bytes()[:5] == b"%PDF-"


def test_undo_and_redo_by_keyboard_reach_the_fields(window: MainWindow, state: AppState) -> None:
    window.open_example("full-70b-rented")
    window.wizard.go(next(s for s in steps(state.draft) if s.page is Page.DATA))
    before = state.draft
    field = tab_to(window, "data.sequence_length")
    assert isinstance(field, QLineEdit)
    shown = field.text()
    QTest.keyClick(field, Qt.Key.Key_A, Qt.KeyboardModifier.ControlModifier)
    QTest.keyClicks(field, "512")
    tab_to(window, "data.packed")
    typed = state.draft
    assert str(typed.tasks[0].sequence_length) == "512"
    QTest.keyClick(focused(window), Qt.Key.Key_Space)  # another field changes as well
    assert state.draft.tasks[0].packed != before.tasks[0].packed
    for _ in range(2):
        window.menus.actions["undo"].trigger()
    assert state.draft == before
    assert field.text() == shown
    for _ in range(2):
        window.menus.actions["redo"].trigger()
    assert field.text() == "512"


def unmarked(window: MainWindow) -> list[str]:
    """Fields of the page that look the same whether they have the keyboard or not."""
    QTest.qWait(50)  # the page takes its size
    page = window.stack.currentWidget()
    assert page is not None
    found: list[str] = []
    for widget in page.findChildren(QWidget):
        reached = widget.isVisible() and widget.isEnabled() and widget.focusPolicy() & Qt.FocusPolicy.TabFocus
        if not reached or isinstance(widget, QTabWidget) or widget.visibleRegion().isEmpty():
            continue
        place = widget.rect().adjusted(-4, -4, 4, 4).translated(widget.mapTo(window, QPoint(0, 0)))
        widget.setFocus(Qt.FocusReason.TabFocusReason)
        with_focus = window.grab(place).toImage()
        widget.clearFocus()
        if window.grab(place).toImage() == with_focus:
            found.append(widget.objectName() or type(widget).__name__)
    return found


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_one_sees_where_the_keyboard_is(qtbot: QtBot, window: MainWindow, state: AppState, theme: str) -> None:
    state.set_theme(theme)
    window.activateWindow()
    assert unmarked(window) == []
    window.open_example("qlora-8b-own-card")
    for step in steps(state.draft):
        window.wizard.go(step)
        assert unmarked(window) == [], step
    with qtbot.waitSignal(state.advice_changed, timeout=WAIT, check_params_cb=lambda advice: advice is not None):
        state.request_advice()
    window.go("results")
    tabs = window.findChild(QTabWidget, "results.tabs")
    assert tabs is not None
    for number in range(tabs.count()):
        tabs.setCurrentIndex(number)
        assert unmarked(window) == [], tabs.tabText(number)
    for place in ("report", "catalog"):
        window.go(place)
        assert unmarked(window) == [], place


def test_the_window_comes_back_as_it_was_left(
    make_window: Callable[[], MainWindow], state: AppState, tmp_path: Path
) -> None:
    window = make_window()
    window.resize(777, 666)  # smaller than the screen of a test
    state.set_language("zh_CN")
    state.set_theme("dark")
    window.close()
    other = AppState(state.catalog, settings=SettingsFile(tmp_path / "settings.json"), live_estimate=False)
    try:
        again = MainWindow(other)
        assert (again.width(), again.height()) == (777, 666)
        assert other.language.chinese and other.theme.name == "dark"
        again.close()
        again.deleteLater()
    finally:
        other.close()
