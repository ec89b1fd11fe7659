"""The record of a report checked from the window's menu."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from engine.advice.advise import advise
from engine.catalog.load import load_catalog
from engine.examples import scenario_or_example
from engine.i18n import Language
from engine.report.export import record_bytes
from gui import dialogs
from gui.main_window import MainWindow
from gui.state import AppState


@pytest.fixture
def record() -> bytes:
    return record_bytes(advise(scenario_or_example(Path("qlora-8b-own-card"), Language("en")), load_catalog()))


@pytest.mark.parametrize("altered", [False, True])
def test_a_record_is_checked_and_the_answer_shown(
    state: AppState, qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, record: bytes, altered: bool
) -> None:
    window = MainWindow(state)
    qtbot.addWidget(window)
    value = json.loads(record)
    value["result"]["ranked"][0]["risk"] += 0.5 if altered else 0
    path = tmp_path / "record.json"
    path.write_text(json.dumps(value), encoding="utf-8")
    shown: list[tuple[str, bool]] = []
    monkeypatch.setattr(dialogs, "ask_open", lambda *_a: path)
    monkeypatch.setattr(dialogs, "show_message", lambda _p, _t, text, warning=False: shown.append((text, warning)))
    with qtbot.waitSignal(window.record_checker.checked, timeout=20_000):
        window.menus.actions["verify"].trigger()
    assert shown[0][1] is altered
    assert ("result.ranked[0].risk" in shown[0][0]) is altered
    window.close()
