"""What is kept in 32 bits is asked in plain words where all weights are trained, and only there."""

from __future__ import annotations

from PySide6.QtWidgets import QComboBox
from pytestqt.qtbot import QtBot

from gui.main_window import MainWindow
from gui.problems import Page
from gui.state import AppState
from gui.wizard.choices import KEPT_IN_32_BITS
from gui.wizard.flow import Step


def test_the_question_is_asked_where_it_matters(qtbot: QtBot, window: MainWindow, state: AppState) -> None:
    state.edit_task(0, method="full")
    window.wizard.go(Step(Page.DATA, 0))
    page = window.wizard.page
    choice = page.findChild(QComboBox, "data.kept")
    assert isinstance(choice, QComboBox) and choice.isVisibleTo(page)
    assert choice.currentData() is None  # in doubt, the larger one
    for index, (value, _words) in enumerate(KEPT_IN_32_BITS):
        choice.setCurrentIndex(index)
        choice.activated.emit(index)
        assert state.draft.tasks[0].regime == value
    state.edit_task(0, regime="fp32")  # set under Advanced: nothing left to ask
    assert not choice.isVisibleTo(page)
    state.edit_task(0, regime="pure-bf16")
    assert choice.isVisibleTo(page) and choice.currentData() == "pure-bf16"
    state.edit_task(0, method="lora")
    assert not choice.isVisibleTo(page)
