"""Background work, the shared state, autosave: one answer at a time, nothing lost, nothing left running."""

from __future__ import annotations

import logging
import subprocess
import sys
import threading
import time
from datetime import UTC, datetime
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from engine.control import Control
from engine.errors import InputError
from engine.examples import example_content
from engine.hardware.model import CatalogSnapshot
from engine.inputs import read_scenario
from engine.scenario import Scenario
from gui.autosave import Autosave, Rescued, Slot, open_slots, read_autosave
from gui.draft import Draft, MoneyDraft
from gui.jobs import JobRunner
from gui.settings import SettingsFile
from gui.state import AppState


def test_a_job_answers_on_the_gui_thread_and_reports_progress(qtbot: QtBot) -> None:
    runner = JobRunner()
    threads: list[int] = []
    steps: list[tuple[int, int]] = []
    runner.succeeded.connect(lambda _value: threads.append(threading.get_ident()))
    runner.progress.connect(lambda done, total: steps.append((done, total)))

    def work(control: Control) -> int:
        control.checkpoint(1, 2)
        return threading.get_ident()

    with qtbot.waitSignal(runner.succeeded) as answer:
        runner.submit(work)
    assert threads == [threading.get_ident()]
    assert answer.args[0] != threads[0]
    assert steps == [(1, 2)]
    runner.close()


def test_only_the_latest_answer_arrives(qtbot: QtBot) -> None:
    runner = JobRunner()
    answers: list[object] = []
    runner.succeeded.connect(answers.append)
    gate = threading.Event()

    def slow(control: Control) -> str:
        while not gate.wait(0.01):
            control.checkpoint()
        return "slow"

    runner.submit(slow)
    with qtbot.waitSignal(runner.succeeded):
        runner.submit(lambda _control: "quick")
    gate.set()
    runner.close()
    assert answers == ["quick"]


def test_a_falsy_answer_is_an_answer(qtbot: QtBot) -> None:
    runner = JobRunner()
    with qtbot.waitSignal(runner.succeeded) as answer:
        runner.submit(lambda _control: 0)
    assert answer.args == [0]
    runner.close()


def test_errors_arrive_as_they_are(qtbot: QtBot) -> None:
    runner = JobRunner()

    def wrong(_control: Control) -> None:
        raise InputError("dataset.missing", path="x")

    with qtbot.waitSignal(runner.failed) as caught:
        runner.submit(wrong)
    assert isinstance(caught.args[0], InputError)
    assert not runner.busy
    runner.close()


def test_a_cancelled_job_is_silent_and_its_thread_ends(qtbot: QtBot) -> None:
    runner = JobRunner()
    answers: list[object] = []
    runner.succeeded.connect(answers.append)
    runner.failed.connect(answers.append)
    started = threading.Event()

    def endless(control: Control) -> None:
        started.set()
        while True:
            control.checkpoint()
            time.sleep(0.001)

    before = threading.active_count()
    runner.submit(endless)
    assert started.wait(5)
    with qtbot.waitSignal(runner.cancelled):
        runner.cancel()
    assert not runner.busy
    runner.close()
    assert threading.active_count() <= before
    assert answers == []


def asking(bundled: CatalogSnapshot, folder: Path) -> tuple[AppState, list[Scenario]]:
    """A state whose adviser writes down what it was asked."""
    asked: list[Scenario] = []

    def advise(scenario: Scenario, _catalog: CatalogSnapshot, _control: Control) -> object:
        asked.append(scenario)
        return f"advice on {scenario.name}"

    settings = SettingsFile(folder / "settings.json")
    settings.update(language="en")
    return AppState(bundled, settings=settings, advise=advise), asked  # type: ignore[arg-type]


def test_a_burst_of_edits_asks_the_engine_once(qtbot: QtBot, bundled: CatalogSnapshot, tmp_path: Path) -> None:
    state, asked = asking(bundled, tmp_path)
    state.open_example(example_content("full-70b-rented", state.language), "x")
    with qtbot.waitSignal(state.advice_changed):
        for number in range(5):
            state.edit(name=f"take {number}")
    assert [s.name for s in asked] == ["take 4"]
    assert state.advice == "advice on take 4"
    state.edit(name="another")
    assert state.advice is None
    state.close()


def test_an_incomplete_draft_has_no_advice_and_asks_nothing(
    qtbot: QtBot, bundled: CatalogSnapshot, tmp_path: Path
) -> None:
    state, asked = asking(bundled, tmp_path)
    with qtbot.waitSignal(state.advice_changed) as answer:
        state.edit(name="x")
    assert answer.args == [None]
    assert asked == []
    state.close()


def test_equal_edits_are_no_edits(state: AppState) -> None:
    changes: list[object] = []
    state.draft_changed.connect(changes.append)
    state.edit(name="a")
    state.edit(name="a")
    state.edit(budget=MoneyDraft(amount="5", currency="USD"))
    assert len(changes) == 2
    state.undo()
    assert state.draft.budget.amount is None
    state.redo()
    assert state.draft.budget.amount == "5"


def test_saving_and_opening(state: AppState, tmp_path: Path) -> None:
    state.open_example(example_content("qlora-8b-own-card", state.language), "x")
    assert not state.unsaved
    state.edit(name="mine")
    assert state.unsaved
    path = tmp_path / "mine.json"
    state.save(path)
    assert not state.unsaved
    assert state.settings.recent == (str(path),)
    before = state.draft
    state.new()
    state.open_scenario(path)
    assert state.draft.to_scenario() == before.to_scenario()


def test_a_file_that_cannot_be_opened_changes_nothing(state: AppState, tmp_path: Path) -> None:
    state.edit(name="mine")
    wrong = tmp_path / "wrong.json"
    wrong.write_text("{")
    with pytest.raises(InputError):
        state.open_scenario(wrong)
    assert state.draft.name == "mine"
    assert state.can_undo


def test_language_and_theme_are_remembered(state: AppState, bundled: CatalogSnapshot, tmp_path: Path) -> None:
    state.set_language("zh_CN")
    state.set_theme("dark")
    state.set_scale(1.5)
    again = AppState(bundled, settings=SettingsFile(tmp_path / "settings.json"), live_estimate=False)
    assert again.language.code == "zh_CN"
    assert (again.theme.name, again.theme.scale) == ("dark", 1.5)
    assert again.usual_currency == "CNY"
    again.close()


def test_two_states_do_not_know_of_each_other(state: AppState, bundled: CatalogSnapshot, tmp_path: Path) -> None:
    other = AppState(bundled, settings=SettingsFile(tmp_path / "other.json"), live_estimate=False)
    state.edit(name="one")
    assert other.draft.name == ""
    other.close()


def test_unsaved_work_is_written_and_goes_when_it_is_saved(qtbot: QtBot, state: AppState, tmp_path: Path) -> None:
    path = tmp_path / "unsaved.json"
    autosave = Autosave(state, Slot(path))
    state.open_example(example_content("qlora-8b-own-card", state.language), "x")
    state.edit(name="half done")
    qtbot.waitUntil(path.exists, timeout=5000)
    rescued = read_autosave(path)
    assert rescued is not None
    assert rescued.draft == state.draft
    state.save(tmp_path / "done.json")
    autosave.flush()
    assert not path.exists()


def test_unsaved_work_survives_a_kill(tmp_path: Path) -> None:
    path = tmp_path / "unsaved.json"
    code = f"""
import os, signal, sys
os.environ["QT_QPA_PLATFORM"] = "offscreen"
from pathlib import Path
from PySide6.QtWidgets import QApplication
from engine.hardware.model import CatalogSnapshot
from gui.autosave import Autosave, Slot
from gui.settings import SettingsFile
from gui.state import AppState
app = QApplication([])
catalog = CatalogSnapshot(version="1", sha256="0", gpus=())
state = AppState(catalog, settings=SettingsFile(Path({str(tmp_path / "s.json")!r})))
autosave = Autosave(state, Slot(Path({str(path)!r})))
state.edit(name="before the power went")
autosave.flush()
os.kill(os.getpid(), signal.SIGKILL)
"""
    subprocess.run([sys.executable, "-c", code], check=False, timeout=60)
    rescued = read_autosave(path)
    assert rescued is not None
    assert rescued.draft.name == "before the power went"


def test_damaged_unsaved_work_is_no_obstacle(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = tmp_path / "unsaved.json"
    path.write_bytes(b"{")
    with caplog.at_level(logging.WARNING):
        assert read_autosave(path) is None
    assert read_autosave(tmp_path / "none.json") is None


def test_a_saved_scenario_carries_the_users_own_offers(bundled: CatalogSnapshot, tmp_path: Path, qtbot: QtBot) -> None:
    own = bundled.offers[0].model_copy(update={"id": "mine", "origin": "user"})
    catalog = bundled.model_copy(update={"offers": (*bundled.offers, own)})
    state = AppState(catalog, settings=SettingsFile(tmp_path / "s.json"), live_estimate=False)
    state.open_example(example_content("qlora-8b-own-card", state.language), "x")
    state.save(tmp_path / "a.json")
    assert not state.unsaved
    assert [o.id for o in read_scenario(tmp_path / "a.json").offers] == ["mine"]
    state.close()


def unsaved(folder: Path, name: str, saved_at: datetime) -> Path:
    """Work that a program which is no more has left."""
    path = folder / f"{name}.json"
    path.write_text(Rescued(saved_at=saved_at, draft=Draft.new().changed(name=name)).model_dump_json(), "utf-8")
    return path


def test_two_programs_keep_their_unsaved_work_apart(tmp_path: Path) -> None:
    first, nothing = open_slots(tmp_path)
    second, still_nothing = open_slots(tmp_path)
    assert first.path != second.path
    assert nothing is None and still_nothing is None
    unsaved(tmp_path, first.path.stem, datetime.now(UTC))
    assert open_slots(tmp_path)[1] is None, "the first program still runs"
    first.release()
    again, rescued = open_slots(tmp_path)
    assert rescued is not None and again.path != first.path, "what is offered is not written over"
    assert open_slots(tmp_path)[1] is None, "it is offered by one program only"


def test_the_newest_left_over_work_is_offered_and_the_older_one_next_time(tmp_path: Path) -> None:
    old = unsaved(tmp_path, "unsaved-1", datetime(2026, 11, 1, tzinfo=UTC))
    new = unsaved(tmp_path, "unsaved-2", datetime(2026, 11, 2, tzinfo=UTC))
    (tmp_path / "unsaved-3.json").write_bytes(b"{")
    own, rescued = open_slots(tmp_path)
    assert rescued is not None and rescued.draft.name == "unsaved-2"
    assert own.path.name == "unsaved-4.json"
    rescued.forget()
    assert not new.exists() and old.exists()
    assert open_slots(tmp_path)[1] is not None


def test_a_folder_that_cannot_be_written_is_no_obstacle(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("")
    slot, rescued = open_slots(blocked)
    assert rescued is None and slot.path.parent == blocked
