"""The window driven by object names, in both languages: every page, every field named, nothing untranslated or lost."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest
from PySide6.QtCore import QMimeData, QPointF, Qt, QUrl
from PySide6.QtGui import QDropEvent
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QApplication,
    QComboBox,
    QLabel,
    QLineEdit,
    QPlainTextEdit,
    QPushButton,
    QWidget,
)
from pytestqt.qtbot import QtBot

from engine.errors import InputError
from engine.examples import EXAMPLES, example_content
from engine.i18n import Language
from engine.inputs import parse_scenario, scenario_json
from engine.scenario import Scenario
from gui import dialogs
from gui.about import AboutDialog, attributions
from gui.app import build_window
from gui.autosave import Rescued
from gui.crash import CrashDialog, CrashHandler, LastCrashDialog, report_text, take_traces
from gui.draft import Draft, OwnedDraft
from gui.main_window import MainWindow
from gui.problems import Page
from gui.settings import state_folder
from gui.state import AppState
from gui.theme import DARK, LIGHT, Theme
from gui.widgets import gpu_list
from gui.widgets.gpu_list import GpuPicker
from gui.wizard.flow import Step, steps


def child(window: QWidget, name: str) -> QWidget:
    """The one widget of a name."""
    found = window.findChildren(QWidget, name)
    assert len(found) == 1, f"{name}: {len(found)}"
    return found[0]


def press(qtbot: QtBot, window: QWidget, name: str) -> None:
    """Click a button."""
    widget = child(window, name)
    assert isinstance(widget, QAbstractButton)
    assert widget.isEnabled(), name
    widget.click()


def fill(qtbot: QtBot, window: QWidget, name: str, text: str) -> None:
    """Type into a field."""
    field = child(window, name)
    assert isinstance(field, QLineEdit)
    field.setFocus()
    field.selectAll()
    if text:
        qtbot.keyClicks(field, text)
    else:
        qtbot.keyClick(field, Qt.Key.Key_Delete)


def test_from_nothing_to_a_scenario_by_keyboard_and_mouse(qtbot: QtBot, window: MainWindow, state: AppState) -> None:
    finished: list[str] = []
    window.wizard.finished.disconnect()
    window.wizard.finished.connect(lambda: finished.append("yes"))
    press(qtbot, window, "start.new")
    press(qtbot, window, "task.goal.finetune")
    press(qtbot, window, "wizard.next")
    fill(qtbot, window, "model.catalog.search", "qwen2.5 7b")
    qtbot.keyClick(child(window, "model.catalog.search"), Qt.Key.Key_Down)
    assert state.draft.tasks[0].catalog_id
    qtbot.keyClick(child(window, "model.catalog.search"), Qt.Key.Key_Return)
    assert window.wizard.step.page is Page.DATA
    fill(qtbot, window, "data.examples", "20k")
    fill(qtbot, window, "data.tokens_per_example", "500")
    qtbot.keyClick(child(window, "data.tokens_per_example"), Qt.Key.Key_Return)
    fill(qtbot, window, "constraints.budget.amount", "20,000")
    press(qtbot, window, "wizard.next")
    press(qtbot, window, "wizard.next")
    assert window.wizard.step.page is Page.REVIEW
    press(qtbot, window, "wizard.next")
    assert finished == ["yes"]
    scenario = state.scenario
    assert scenario is not None
    assert scenario.constraints.budget is not None
    assert scenario.constraints.budget.amount == 20_000
    work = scenario.tasks[0].workload
    assert work.kind == "training"
    assert work.data.examples == 20_000


def test_next_goes_to_the_first_bad_field_and_says_what_is_wrong(qtbot: QtBot, window: MainWindow) -> None:
    window.open_example("full-70b-rented")
    window.wizard.go(Step(Page.DATA, 0))
    fill(qtbot, window, "data.epochs", "two")
    fill(qtbot, window, "data.global_batch_size", "0")
    press(qtbot, window, "wizard.next")
    assert window.wizard.step.page is Page.DATA
    bad = child(window, "data.epochs")
    assert window.focusWidget() is bad
    words = child(window, "data.epochs.problem")
    assert isinstance(words, QLabel)
    assert words.isVisible()
    assert words.text() in bad.accessibleDescription()
    assert child(window, "data.global_batch_size.problem").isVisible()
    fill(qtbot, window, "data.epochs", "2")
    assert not words.isVisible()


def test_back_and_forth_loses_nothing(qtbot: QtBot, window: MainWindow, state: AppState) -> None:
    window.open_example("serve-70b-50-users")
    before = state.draft
    window.wizard.go(Step(Page.TASK))
    for _ in steps(before):
        if window.wizard.step.page is not Page.REVIEW:
            press(qtbot, window, "wizard.next")
    while window.wizard.step.page is not Page.TASK:
        qtbot.keyClick(window.wizard.page.first_focus(), Qt.Key.Key_Left, Qt.KeyboardModifier.AltModifier)
    assert state.draft == before
    window.wizard.go(Step(Page.DATA, 0))
    fill(qtbot, window, "serving.concurrent_users", "many")
    window.wizard.go(Step(Page.MODEL, 0))
    window.wizard.go(Step(Page.DATA, 0))
    field = child(window, "serving.concurrent_users")
    assert isinstance(field, QLineEdit)
    assert field.text() == "many"


def test_escape_asks(qtbot: QtBot, window: MainWindow, monkeypatch: pytest.MonkeyPatch) -> None:
    window.open_example("weekend-api")
    answers = iter([False, True])
    monkeypatch.setattr(dialogs, "ask_leave", lambda *_: next(answers))
    qtbot.keyClick(window.wizard.page.first_focus(), Qt.Key.Key_Escape)
    assert window.stack.currentWidget() is window.wizard
    qtbot.keyClick(window.wizard.page.first_focus(), Qt.Key.Key_Escape)
    assert window.stack.currentWidget().objectName() == "start"


def test_tasks_can_be_added_copied_and_removed(qtbot: QtBot, window: MainWindow, state: AppState) -> None:
    window.open_example("full-70b-rented")
    window.wizard.go(Step(Page.TASK))
    press(qtbot, window, "task.duplicate")
    assert len(state.draft.tasks) == 2
    qtbot.waitUntil(lambda: child(window, "task.chip.1").isVisible())
    press(qtbot, window, "task.goal.serve")
    assert [t.method for t in state.draft.tasks] == ["full", "inference"]
    assert len([s for s in steps(state.draft) if s.task == 1]) == 2
    press(qtbot, window, "task.remove")
    assert [t.method for t in state.draft.tasks] == ["full"]
    assert not child(window, "task.remove").isEnabled()
    state.undo()
    assert len(state.draft.tasks) == 2


def test_cards_can_be_owned_and_excluded(
    qtbot: QtBot, window: MainWindow, state: AppState, monkeypatch: pytest.MonkeyPatch
) -> None:
    window.open_example("full-70b-rented")
    window.wizard.go(Step(Page.CONSTRAINTS))
    first, second = state.catalog.gpus[0].id, state.catalog.gpus[1].id
    monkeypatch.setattr(gpu_list, "ask_gpu", lambda *_: first)
    press(qtbot, window, "constraints.owned.add")
    fill(qtbot, window, f"constraints.owned.count.{first}", "4")
    monkeypatch.setattr(gpu_list, "ask_gpu", lambda *_: second)
    press(qtbot, window, "constraints.exclude_gpus.add")
    assert state.draft.owned == (OwnedDraft(gpu_id=first, count=4),)
    assert state.draft.exclude_gpus == (second,)
    press(qtbot, window, f"constraints.exclude_gpus.remove.{second}")
    assert state.draft.exclude_gpus == ()


def test_a_dropped_config_a_dropped_scenario_and_dropped_data(
    qtbot: QtBot, window: MainWindow, state: AppState, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def drop(path: Path) -> None:
        mime = QMimeData()
        mime.setUrls([QUrl.fromLocalFile(str(path))])
        none = (Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier)
        window.dropEvent(QDropEvent(QPointF(5, 5), Qt.DropAction.CopyAction, mime, *none))

    config = Path(__file__).parent.parent / "reference/data/configs/meta-llama--Llama-3.1-8B.json"
    drop(config)
    architecture = state.draft.tasks[0].architecture
    assert architecture is not None
    assert architecture.layers == 32
    data = tmp_path / "rows.jsonl"
    data.write_text('{"text": "abcd"}\n' * 40)
    drop(data)
    qtbot.waitUntil(lambda: state.draft.tasks[0].examples == 40, timeout=5000)
    assert state.draft.tasks[0].source_file == "rows.jsonl"
    assert state.draft.tasks[0].data_source == "file"
    said: list[str] = []
    monkeypatch.setattr(dialogs, "show_message", lambda _p, _title, text, **_k: said.append(text))
    picture = tmp_path / "cat.png"
    picture.write_bytes(b"x")
    drop(picture)
    assert "cat.png" in said[0]
    monkeypatch.setattr(dialogs, "ask_unsaved", lambda *_: "discard")
    path = tmp_path / "s.json"
    path.write_bytes(scenario_json(_example_scenario()))
    drop(path)
    assert state.draft.name == _example_scenario().name


def _example_scenario() -> Scenario:
    return parse_scenario(example_content("full-70b-rented", Language("en")), file="x")


def test_a_wrong_file_is_said_and_changes_nothing(
    window: MainWindow, state: AppState, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said: list[object] = []
    monkeypatch.setattr(dialogs, "show_error", lambda _p, _l, error: said.append(error.code))
    wrong = tmp_path / "wrong.json"
    wrong.write_text("{")
    before = state.draft
    window.open_path(wrong)
    assert said == ["scenario.not_json"]
    assert state.draft == before


def test_saving_asks_for_a_name_and_remembers_it(
    window: MainWindow, state: AppState, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    window.open_example("full-70b-rented")
    state.edit(name="mine")
    target = tmp_path / "mine"
    monkeypatch.setattr(dialogs, "ask_save", lambda *_: target)
    assert window.save()
    assert (tmp_path / "mine.json").exists()
    assert window.menus.recent.actions()[0].text() == "mine.json"
    assert "mine" in window.windowTitle()
    assert not window.isWindowModified()


def test_an_incomplete_draft_is_not_saved_as_a_scenario(window: MainWindow, monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []
    monkeypatch.setattr(dialogs, "show_message", lambda _p, _title, text, **_k: said.append(text))
    assert not window.save()
    assert "Choose what you want to do" in said[0]


@pytest.mark.parametrize(("answer", "replaced"), [("cancel", False), ("discard", True)])
def test_unsaved_changes_are_asked_about(
    window: MainWindow, state: AppState, monkeypatch: pytest.MonkeyPatch, answer: str, replaced: bool
) -> None:
    state.edit(name="precious")
    monkeypatch.setattr(dialogs, "ask_unsaved", lambda *_: answer)
    window.open_example("weekend-api")
    assert (state.draft.name != "precious") is replaced


def test_unsaved_work_is_offered_and_taken_up(qapp: QApplication, qtbot: QtBot, state: AppState) -> None:
    draft = Draft.new().changed(name="of yesterday")
    window = MainWindow(state, rescued=Rescued(saved_at=datetime.now(UTC), draft=draft))
    qtbot.addWidget(window)
    window.show()
    assert child(window, "start.resume").isVisible()
    press(qtbot, window, "start.resume")
    assert state.draft == draft
    assert state.unsaved
    window.close()


# every page in both languages ------------------------------------------------------------------------------------


def texts(root: QWidget) -> list[str]:
    """All that a person can read on visible widgets."""
    found: list[str] = []
    for widget in [root, *root.findChildren(QWidget)]:
        if not widget.isVisible():
            continue
        if isinstance(widget, QLabel | QAbstractButton):
            found.append(widget.text())
        elif isinstance(widget, QComboBox):
            found.append(widget.currentText())
        elif isinstance(widget, QLineEdit):
            found.append(widget.placeholderText())
        found.append(widget.toolTip())
        found.append(widget.accessibleName())
    return [re.sub("<[^>]*>", "", text) for text in found if text]


#: Names and abbreviations that Chinese practitioners write in Latin letters too.
_LATIN = re.compile(
    r"(qlora|lora|dora|dpo|pue|api|gpu|gpus|token|tokens?/s|kv|ttft|epoch|packing|logits|offload|adamw|config\.json|json"
    r"|jsonl|csv|txt|hugging|face|transformers|vllm|sdpa|usd|cny|eur|gbp|us\$|gib|gb|english|enter|esc|alt|ctrl|qwen\S*"
    r"|llama\S*|deepseek|nvidia|amd|intel|instinct|geforce|rtx|pytorch|flashattention|rank)",
    re.IGNORECASE,
)


def english_words(text: str) -> list[str]:
    """English words (two or more small letters in a row) that have no business in a Chinese window."""
    rest = _LATIN.sub(" ", text)
    return [w for w in re.findall(r"\b[a-z]{3,}\b", rest) if w not in ("llm",)]


@pytest.mark.parametrize("example", ["cn-university-campus-cluster", "weekend-api"])
def test_no_page_keeps_english_in_a_chinese_window(
    qtbot: QtBot, window: MainWindow, state: AppState, example: str
) -> None:
    state.set_language("zh_CN")
    left: dict[str, list[str]] = {}

    def look(name: str) -> None:
        for text in texts(window):
            if english_words(text) and "/" not in text and "http" not in text:
                left.setdefault(name, []).append(text)

    look("start")
    window.open_example(example)
    state.edit(max_gpus="x")  # so that a problem is shown
    state.edit_task(0, name="任务甲", project="")
    for step in steps(state.draft):
        window.wizard.go(step)
        for name in ("advanced", "serving_advanced", "naming"):
            if hasattr(window.wizard.page, name):
                getattr(window.wizard.page, name).open()
        if step.page is Page.MODEL:  # the catalogue's facts about a model are data
            window.wizard.pages[Page.MODEL].facts.hide()  # type: ignore[attr-defined]
        window.wizard.page.show_problems(state.draft.problems())
        QApplication.processEvents()
        look(f"{step.page}.{step.task}")
    assert left == {}


def test_switching_the_language_changes_every_word_and_back(window: MainWindow, state: AppState) -> None:
    window.open_example("full-70b-rented")
    for step in steps(state.draft):
        window.wizard.go(step)
        QApplication.processEvents()
        before = texts(window)
        state.set_language("zh_CN")
        QApplication.processEvents()
        assert sum(any("\u4e00" <= c <= "\u9fff" for c in t) for t in texts(window)) > 20
        state.set_language("en")
        QApplication.processEvents()
        assert sorted(texts(window)) == sorted(before)


@pytest.mark.parametrize("code", ["en", "zh_CN"])
def test_everything_that_takes_the_focus_has_a_name(window: MainWindow, state: AppState, code: str) -> None:
    state.set_language(code)
    nameless: list[str] = []

    def look(root: QWidget) -> None:
        for widget in root.findChildren(QWidget):
            if not widget.isVisible() or widget.focusPolicy() == Qt.FocusPolicy.NoFocus or widget.focusProxy():
                continue
            inner = isinstance(widget.parent(), QComboBox | QAbstractItemView) or widget.objectName().startswith("qt_")
            if inner or widget in (window.wizard.stack, window.stack):
                continue
            if isinstance(
                widget, QPushButton | QLineEdit | QComboBox | QAbstractItemView | QPlainTextEdit | QAbstractButton
            ):
                if not widget.accessibleName():
                    nameless.append(f"{type(widget).__name__} {widget.objectName()}")
                if not widget.objectName():
                    nameless.append(f"no object name: {widget.accessibleName()}")

    look(window)
    window.open_example("cn-university-campus-cluster")
    for step in steps(state.draft):
        window.wizard.go(step)
        for name in ("advanced", "serving_advanced", "naming"):
            if hasattr(window.wizard.page, name):
                getattr(window.wizard.page, name).open()
        QApplication.processEvents()
        look(window)
    assert nameless == []


@pytest.mark.parametrize("code", ["en", "zh_CN"])
@pytest.mark.parametrize("example", ["cn-university-campus-cluster", "serve-70b-50-users"])
def test_mnemonics_are_unique_on_a_page(window: MainWindow, state: AppState, code: str, example: str) -> None:
    state.set_language(code)
    window.open_example(example)
    menus = [a.text() for a in window.menuBar().actions()]
    for step in steps(state.draft):
        window.wizard.go(step)
        QApplication.processEvents()
        shown = [w for w in window.wizard.findChildren(QWidget) if w.isVisible()]
        marked = [w.text() for w in shown if isinstance(w, QAbstractButton) or (isinstance(w, QLabel) and w.buddy())]
        letters = [m[1].lower() for t in (*menus, *marked) if (m := re.search(r"&(\w)", t))]
        doubles = {x for x in letters if letters.count(x) > 1}
        assert not doubles, (step, doubles, marked)


@pytest.mark.parametrize("scale", [1.0, 2.0])
@pytest.mark.parametrize("code", ["en", "zh_CN"])
def test_no_word_is_cut_off(window: MainWindow, state: AppState, code: str, scale: float) -> None:
    """Buttons and one-line labels are at least as wide as their words, at both ends of the scale."""
    state.set_language(code)
    state.set_scale(scale)
    window.open_example("cn-university-campus-cluster")
    cut: list[str] = []
    for step in steps(state.draft):
        window.wizard.go(step)
        QApplication.processEvents()
        for widget in window.wizard.findChildren(QPushButton):
            if widget.isVisible() and widget.text() and widget.width() < widget.minimumSizeHint().width():
                cut.append(widget.text())
        for label in window.wizard.findChildren(QLabel):
            one_line = label.isVisible() and not label.wordWrap() and label.objectName() != "wizard.brief"
            if one_line and label.text() and label.width() + 1 < label.sizeHint().width():
                cut.append(label.text())
    assert cut == []


# dialogs, crash, end ---------------------------------------------------------------------------------------------


def test_about_names_versions_and_sources(qtbot: QtBot, state: AppState) -> None:
    dialog = AboutDialog(state)
    qtbot.addWidget(dialog)
    dialog.show()
    assert len(attributions()) > 5
    data = child(dialog, "about.data")
    assert isinstance(data, QPlainTextEdit)
    assert "CC BY 4.0" in data.toPlainText()
    assert any(state.catalog.version in text for text in texts(dialog))


def test_the_card_picker_finds_by_name_and_alias(qtbot: QtBot, state: AppState) -> None:
    dialog = GpuPicker(state, "Cards")
    qtbot.addWidget(dialog)
    dialog.list.search.setText("rtx 4090")
    shown = [dialog.list.view.model().index(r, 0).data() for r in range(dialog.list.view.model().rowCount())]
    assert any("4090" in text for text in shown)
    assert len(shown) < len(state.catalog.gpus) // 4


def test_a_mistake_of_ours_is_shown_once_and_can_be_copied(qtbot: QtBot, state: AppState) -> None:
    handler = CrashHandler(state)
    for _ in range(2):
        try:
            raise ZeroDivisionError("ours")
        except ZeroDivisionError as error:
            handler.report(error)
    assert handler.dialog is not None
    shown = handler.dialog
    press(qtbot, shown, "crash.copy")
    assert "ZeroDivisionError: ours" in QApplication.clipboard().text()
    assert "test_window.py" in QApplication.clipboard().text()
    shown.close()
    handler.uninstall()


def test_inputs_can_be_saved_from_the_crash_dialog(
    qtbot: QtBot, state: AppState, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    state.edit(name="rescued")
    dialog = CrashDialog(state, report_text(ValueError("x")))
    qtbot.addWidget(dialog)
    monkeypatch.setattr(dialogs, "ask_save", lambda *_: tmp_path / "inputs.json")
    press(qtbot, dialog, "crash.save")
    state.new()
    state.open_scenario(tmp_path / "inputs.json")  # unfinished, and yet it can be opened again
    assert state.draft.name == "rescued"
    assert state.unsaved and state.path is None
    (tmp_path / "other.json").write_text('{"tasks": []}')
    with pytest.raises(InputError):
        state.open_scenario(tmp_path / "other.json")
    assert state.draft.name == "rescued"


def test_hooks_are_given_back(state: AppState, tmp_path: Path) -> None:
    before = sys.excepthook
    handler = CrashHandler(state)
    trace = tmp_path / "mine.crash.txt"
    handler.install(trace)
    assert sys.excepthook is not before
    assert trace.exists()
    assert take_traces(tmp_path) == "", "a program that runs has not crashed"
    handler.uninstall()
    assert sys.excepthook is before
    assert not trace.exists()


CRASHES = """
import faulthandler, os
os.environ["QT_QPA_PLATFORM"] = "offscreen"
from PySide6.QtWidgets import QApplication
from engine.catalog.load import load_catalog
from gui import app
from gui.settings import state_folder
from gui.state import AppState
from gui.settings import state_folder
from gui.crash import trace_path
application = QApplication([])
state = AppState(load_catalog(with_user_rows=False), live_estimate=False)
window = app.build_window(application, state)
window.crash.install(trace_path(window.autosave.path))
state.edit(name="typed before the crash")
window.autosave.flush()
faulthandler._sigsegv()
"""


def test_after_a_hard_crash_the_next_start_offers_trace_and_work(
    qtbot: QtBot, qapp: QApplication, state: AppState, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "state"
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_STATE_HOME", str(folder))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    ended = subprocess.run([sys.executable, "-c", CRASHES], capture_output=True, check=False, timeout=120)
    assert ended.returncode != 0
    trace = take_traces(state_folder())
    assert "faulthandler" in trace or "Segmentation" in trace or "Fatal Python error" in trace
    assert "typed before" not in trace
    assert take_traces(state_folder()) == "", "told once"
    window = build_window(qapp, state)
    qtbot.addWidget(window)
    window.show()
    window.tell_last_crash(trace)
    dialog = window.findChild(LastCrashDialog)
    assert dialog is not None
    press(qtbot, dialog, "lastcrash.copy")
    assert QApplication.clipboard().text() == trace
    press(qtbot, dialog, "lastcrash.resume")
    assert state.draft.name == "typed before the crash"
    assert state.unsaved


def test_a_crash_without_unsaved_work_offers_none(qtbot: QtBot, state: AppState) -> None:
    dialog = LastCrashDialog(state, "Fatal Python error: Aborted", unsaved=False)
    qtbot.addWidget(dialog)
    assert dialog.findChild(QPushButton, "lastcrash.resume") is None
    press(qtbot, dialog, "lastcrash.close")


def test_closing_remembers_the_place_and_ends_all_work(make_window: Callable[[], MainWindow], state: AppState) -> None:
    window = make_window()
    window.open_example("full-70b-rented")
    state.request_advice()
    window.close()
    assert not state.busy
    assert state.settings.geometry


def test_none_is_not_used_up(qtbot: QtBot, window: MainWindow) -> None:
    """PySide6 6.12.0 lost a reference to None with each call on Python 3.10 and 3.11."""
    label = QLabel()
    qtbot.addWidget(label)

    def calls() -> None:
        for _ in range(500):
            label.setText("x")
            label.update()

    calls()
    before = sys.getrefcount(None)
    calls()
    assert abs(sys.getrefcount(None) - before) < 100


def luminance(colour: str) -> float:
    """Relative luminance (WCAG 2.2)."""
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    r, g, b = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts)
    return 0.2126 * r + 0.7152 * g + 0.0722 * b


def contrast(first: str, second: str) -> float:
    """Contrast ratio (WCAG 2.2)."""
    high, low = sorted((luminance(first), luminance(second)), reverse=True)
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
def test_text_can_be_read_and_borders_can_be_seen(theme: Theme) -> None:
    for text, grounds in {
        "text": ("window", "surface", "raised", "accent_soft"),
        "muted": ("window", "surface", "raised", "info_soft"),
        "accent": ("surface", "window", "accent_soft"),
        "on_accent": ("accent", "accent_hover"),
        "success": ("success_soft", "surface"),
        "warning": ("warning_soft", "surface"),
        "danger": ("danger_soft", "surface", "window"),
    }.items():
        for ground in grounds:
            assert contrast(getattr(theme, text), getattr(theme, ground)) >= 4.5, (text, ground)
    assert contrast(theme.border_strong, theme.surface) >= 3
    assert contrast(theme.border_strong, theme.window) >= 3


def test_every_example_opens_at_the_review(window: MainWindow, state: AppState) -> None:
    for example in EXAMPLES:
        window.open_example(example.name)
        assert window.wizard.step.page is Page.REVIEW
        assert state.draft.problems() == ()
