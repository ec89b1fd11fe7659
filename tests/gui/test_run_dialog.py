"""A training configuration dropped on the window or pasted: shown, judged, taken into the questions."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtWidgets import QTreeWidgetItemIterator
from pytestqt.qtbot import QtBot

from engine.errors import InputError
from engine.i18n import Language
from gui.files import FileKind, kind_of_file
from gui.main_window import MainWindow
from gui.problems import Page
from gui.run_dialog import RunDialog
from gui.start_page import StartPage
from gui.state import AppState
from gui.wizard.model_page import ModelPage

DATA = Path(__file__).parents[1] / "readers/data"
RUNS = DATA / "runs"


def _texts(dialog: RunDialog) -> dict[str, tuple[str, str]]:
    """Key -> (value, group) of what the dialog lists."""
    found: dict[str, tuple[str, str]] = {}
    walk = QTreeWidgetItemIterator(dialog.tree)
    while walk.value() is not None:
        item = walk.value()
        if item.parent() is not None:
            found[item.text(0)] = (item.text(1), item.parent().text(0))
        walk += 1
    return found


@pytest.fixture
def dialog(qtbot: QtBot, state: AppState) -> RunDialog:
    made = RunDialog(state, 0, RUNS / "axolotl/qlora.yml")
    qtbot.addWidget(made)
    made.show()
    return made


def test_every_key_is_listed_under_what_became_of_it(dialog: RunDialog) -> None:
    listed = _texts(dialog)
    assert listed["lora_r"][0] == "32"
    assert listed["base_model"][0].endswith("→ meta-llama/Meta-Llama-3-8B")
    assert "neither memory nor time" in listed["learning_rate"][1]
    assert "Number of GPUs" in dialog.asked.text()


def test_will_it_fit_is_answered_for_any_card(dialog: RunDialog, state: AppState) -> None:
    cards = {g.name: g.id for g in state.catalog.gpus}
    large = next(g.name for g in state.catalog.gpus if g.name.startswith("H200"))
    verdicts = {}
    for name in ("GeForce RTX 4090 24GB", large):
        dialog.card.set_value(cards[name])
        dialog.card.edited.emit(cards[name])
        verdicts[name] = dialog.answer.text.text()
    assert "Does not fit" in verdicts["GeForce RTX 4090 24GB"]
    assert verdicts[large].startswith("Fits on")


def test_it_is_taken_into_the_questions_and_can_be_undone(dialog: RunDialog, state: AppState) -> None:
    dialog.take.click()
    task = state.draft.tasks[0]
    assert (task.method, task.catalog_id, task.lora_rank) == ("qlora", "meta-llama/Meta-Llama-3-8B", 32)
    assert (task.sequence_length, task.micro_batch_size, task.global_batch_size, task.epochs) == (4096, 2, 8, 4)
    assert task.framework == "axolotl"
    state.undo()
    assert state.draft.tasks[0].method is None


def test_sharding_alone_is_judged_with_the_model_of_the_task(qtbot: QtBot, state: AppState) -> None:
    dialog = RunDialog(state, 0, RUNS / "sharding/ds-zero2.json")
    qtbot.addWidget(dialog)
    dialog.card.set_value(next(g.id for g in state.catalog.gpus if g.name.startswith("H100 SXM")))
    dialog.count.set_value(8)
    dialog.card.edited.emit("")
    assert "--set" in dialog.answer.text.text() or "model" in dialog.answer.text.text().lower()
    state.edit_task(0, catalog_id="Qwen/Qwen2.5-7B", method="full")
    dialog.card.edited.emit("")
    assert "H100" in dialog.answer.text.text()
    dialog.take.click()
    assert (state.draft.tasks[0].catalog_id, state.draft.tasks[0].method) == ("Qwen/Qwen2.5-7B", "full")


def test_a_pasted_command_is_read_in_both_languages(qtbot: QtBot, state: AppState) -> None:
    dialog = RunDialog(state, 0)
    qtbot.addWidget(dialog)
    dialog.show()
    assert not dialog.take.isEnabled()
    dialog.command.setPlainText("torchrun --nproc_per_node 4 train.py --model_name_or_path Qwen/Qwen3-8B --use_peft")
    dialog.read_button.click()
    assert dialog.count.value() == 4
    state.set_language("zh_CN")
    assert "读取" in dialog.title.text()
    dialog.command.setPlainText("echo 'hello")
    dialog.read_button.click()
    assert dialog.run is None
    assert dialog.trouble.text.text() == Language("zh_CN").error(InputError("run.no_command", file="-"))


def test_a_wrong_file_is_told_in_the_dialog(qtbot: QtBot, state: AppState, tmp_path: Path) -> None:
    path = tmp_path / "x.yaml"
    path.write_text("a: [")
    dialog = RunDialog(state, 0, path)
    qtbot.addWidget(dialog)
    assert "x.yaml" in dialog.trouble.text.text()
    assert not dialog.take.isEnabled()


def test_a_dropped_configuration_and_a_dropped_gguf_go_where_they_belong(window: MainWindow) -> None:
    window.take_file(RUNS / "llama-factory/full-ds3.yaml")
    dialog = window.findChild(RunDialog)
    assert dialog is not None
    assert dialog.isVisible()
    dialog.take.click()
    assert window.state.draft.tasks[0].catalog_id == "Qwen/Qwen2.5-7B"
    assert window.wizard.step.page in (Page.DATA, Page.TASK)
    window.take_file(DATA / "weights/tiny-llama-Q4_K_M.gguf")
    page = window.wizard.pages[Page.MODEL]
    assert isinstance(page, ModelPage)
    assert window.state.draft.tasks[0].architecture is not None
    shown = [page.fact_grid.itemAt(i).widget().text() for i in range(page.fact_grid.count())]  # type: ignore[attr-defined]
    assert "Q4_K_M" in shown


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        (RUNS / "axolotl/full.yml", FileKind.RUN),
        (RUNS / "sharding/ds-auto.json", FileKind.RUN),
        (RUNS / "llama-factory/unsloth.json", FileKind.RUN),
        (DATA / "weights/tiny-llama-Q4_K_M.gguf", FileKind.CONFIG),
        (DATA / "weights", FileKind.CONFIG),
    ],
)
def test_kinds(path: Path, kind: FileKind) -> None:
    assert kind_of_file(path) is kind


def test_the_start_page_asks_whether_a_training_fits(window: MainWindow) -> None:
    start = window.stack.currentWidget()
    assert isinstance(start, StartPage)
    start.run.click()
    dialog = window.findChild(RunDialog)
    assert dialog is not None
    assert dialog.paste.isVisible()
    dialog.close()
