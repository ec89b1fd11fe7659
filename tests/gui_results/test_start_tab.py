"""The tab that says how the chosen plan is started."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtGui import QGuiApplication
from pytestqt.qtbot import QtBot

from engine.advice.advise import advise
from engine.catalog.load import load_catalog
from engine.examples import example_content
from engine.i18n import Language
from engine.inputs import parse_scenario
from gui import dialogs
from gui.results.selection import Selection
from gui.results.start_tab import StartTab
from gui.state import AppState


@pytest.mark.parametrize(("name", "program"), [("qlora-8b-own-card", "TRL"), ("serve-70b-50-users", "vLLM")])
def test_it_can_be_copied_and_saved_and_nothing_is_written_over(
    qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, program: str
) -> None:
    catalog = load_catalog(with_user_rows=False)
    state, selection = AppState(catalog), Selection()
    tab = StartTab(state, selection)
    qtbot.addWidget(tab)
    tab.show()
    selection.set_advice(advise(parse_scenario(example_content(name, Language("en")), file=name), catalog))
    qtbot.waitUntil(lambda: tab.recipe is not None)
    assert tab.recipe is not None and tab.recipe.program == program
    tab.copy.click()
    assert QGuiApplication.clipboard().text() == tab.text.toPlainText()
    said: list[str] = []
    monkeypatch.setattr(dialogs, "show_message", lambda _parent, _title, text, **_more: said.append(text))
    tab.save_into(tmp_path)
    tab.save_into(tmp_path)
    folders = sorted(p.name for p in tmp_path.iterdir() if p.name.startswith("start-"))
    assert folders == [f"start-{program.lower()}", f"start-{program.lower()}-2"]
    assert (tmp_path / folders[0] / "start.sh").read_text(encoding="utf-8").strip() in tab.text.toPlainText()
    assert len(said) == 2
    state.close()
