"""What can my GPU do? From cards to a table to a scenario."""

from __future__ import annotations

import pytest
from pytestqt.qtbot import QtBot

from engine.catalog.load import load_catalog
from engine.errors import WorldError
from engine.memory.result import Verdict
from engine.scenario import OwnedGpus, Scenario
from gui import abilities, dialogs
from gui.abilities import AbilitiesDialog
from gui.draft import OwnedDraft
from gui.state import AppState


@pytest.fixture
def dialog(qtbot: QtBot) -> AbilitiesDialog:
    state = AppState(load_catalog(with_user_rows=False))
    made = AbilitiesDialog(state)
    qtbot.addWidget(made)
    made.show()
    made.destroyed.connect(state.close)
    return made


def test_cards_become_a_table_and_a_line_a_scenario(qtbot: QtBot, dialog: AbilitiesDialog) -> None:
    assert not dialog.make.isEnabled()
    with qtbot.waitSignal(dialog.jobs.succeeded, timeout=60_000):
        dialog.set_owned((OwnedDraft(gpu_id="nvidia-rtx-4090", count=1),))
    rows = dialog.model.rows
    assert len(rows) > 15
    small, large = rows[0], rows[-1]
    assert small.heaviest == "full" and large.heaviest is None
    assert any(
        (r.uses["qlora"].verdict is Verdict.FITS and r.uses["full"].tier > 0) or r.heaviest == "qlora" for r in rows
    )
    dialog.view.selectRow(0)
    assert dialog.make.isEnabled()
    wanted: list[Scenario] = []
    dialog.scenario_wanted.connect(wanted.append)
    dialog.make.click()
    assert wanted[0].constraints.owned == (OwnedGpus(gpu_id="nvidia-rtx-4090"),)
    assert wanted[0].tasks[0].model.catalog_id == small.model_id


def test_detection_fills_the_list_or_says_why_not(
    qtbot: QtBot, dialog: AbilitiesDialog, monkeypatch: pytest.MonkeyPatch
) -> None:
    said: list[str] = []
    monkeypatch.setattr(dialogs, "show_error", lambda _parent, _language, error: said.append(error.code))

    def none(_catalog: object) -> object:
        raise WorldError("detect.no_driver")

    monkeypatch.setattr(abilities, "detect_owned", none)
    dialog.detect.click()
    assert said == ["detect.no_driver"]
    monkeypatch.setattr(abilities, "detect_owned", lambda _catalog: ((OwnedGpus(gpu_id="nvidia-l4", count=2),), ()))
    with qtbot.waitSignal(dialog.jobs.succeeded, timeout=60_000):
        dialog.detect.click()
    assert dialog.model.rows[0].uses["inference"].gpus in (1, 2)
    dialog.set_owned(())
    assert dialog.model.rows == () and not dialog.progress.isVisible()
    dialog.reject()
