"""What a training configuration or a pasted command says: what was used, whether it fits, what is still asked."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from PySide6.QtCore import Signal
from PySide6.QtWidgets import (
    QDialog,
    QDialogButtonBox,
    QHBoxLayout,
    QHeaderView,
    QPlainTextEdit,
    QTreeWidget,
    QTreeWidgetItem,
    QVBoxLayout,
    QWidget,
)

from engine.errors import KnownError
from engine.i18n import Language
from engine.messages.mark import N_
from engine.runs.read import read_command, read_run
from engine.runs.result import RunFile
from engine.runs.scenario import case_of, task_fields
from engine.validation.estimate import estimate_case
from gui import dialogs
from gui.draft import TaskDraft
from gui.problems import Page
from gui.state import AppState
from gui.widgets.basic import Banner, bound_label, button, label
from gui.widgets.editors import ChoiceEdit, NumberEdit
from gui.widgets.words import Words

__all__ = ["RunDialog", "changes_of"]

#: Fields of a run's data that decide how the draft asks for it.
_LEFT = ("not_modelled", "unknown", "no_effect")


def changes_of(run: RunFile) -> dict[str, Any]:
    """What a run changes in the draft of a task."""
    found = task_fields(run)
    if "tokens" in found:
        found["data_source"] = "tokens"
    elif "examples" in found:
        found["data_source"] = "examples"
    model, size = run.case.get("model"), run.case.get("params_b")
    if model and Path(str(model)).is_dir():
        from engine.architecture.checkpoint import read_model

        found |= {"model_source": "config", "architecture": read_model(str(model)).architecture}
    elif model:
        found |= {"model_source": "catalog", "catalog_id": str(model)}
    elif size:
        found |= {"model_source": "size", "parameters_billion": size}
    return found


class RunDialog(QDialog):
    """Reads a file, or a command line that is pasted into it. `taken` names the wizard's page to go on with."""

    taken = Signal(object)

    def __init__(self, state: AppState, task: int, path: Path | None = None, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("run")
        self._state, self._task = state, task
        self.run: RunFile | None = None
        self._words = words = Words(state, self)
        words.bind(self.setWindowTitle, N_("Training configuration"))
        self.resize(state.theme.px(860), state.theme.px(680))
        column = QVBoxLayout(self)
        column.setContentsMargins(24, 20, 24, 20)
        column.setSpacing(10)
        self._build_paste(column)
        self.title = label("", "subtitle")
        column.addWidget(self.title)
        self.trouble = Banner("run.trouble")
        column.addWidget(self.trouble)
        self.asked = label("", selectable=True)
        self.asked.setObjectName("run.asked")
        column.addWidget(self.asked)
        self._build_tree(column)
        self._build_fit(column)
        self._build_buttons(column)
        words.run(lambda _language: self._show())
        self.paste.setVisible(path is None)
        if path is not None:
            self.read(path)

    # building -------------------------------------------------------------------------------------------------

    def _build_paste(self, column: QVBoxLayout) -> None:
        self.paste = QWidget()
        inside = QVBoxLayout(self.paste)
        inside.setContentsMargins(0, 0, 0, 0)
        caption = N_("Paste the command that starts your training here, or choose its configuration file")
        inside.addWidget(bound_label(self._words, caption))
        self.command = QPlainTextEdit()
        self.command.setObjectName("run.command")
        self.command.setMaximumHeight(self._state.theme.px(96))
        self.command.setTabChangesFocus(True)
        self._words.bind(self.command.setAccessibleName, caption)
        self.command.setPlaceholderText("accelerate launch train.py --model_name_or_path … --bf16 …")
        inside.addWidget(self.command)
        row = QHBoxLayout()
        self.read_button = button(self._words, N_("&Read the command"), "run.read", "primary")
        self.read_button.clicked.connect(self._read_command)
        self.open_button = button(self._words, N_("Choose a &file …"), "run.open")
        self.open_button.clicked.connect(self._ask)
        row.addWidget(self.read_button)
        row.addWidget(self.open_button)
        row.addStretch(1)
        inside.addLayout(row)
        column.addWidget(self.paste)

    def _build_tree(self, column: QVBoxLayout) -> None:
        self.tree = QTreeWidget()
        self.tree.setObjectName("run.keys")
        self.tree.setColumnCount(3)
        self.tree.setRootIsDecorated(True)
        self.tree.setUniformRowHeights(True)
        self.tree.header().setSectionResizeMode(QHeaderView.ResizeMode.Interactive)
        self._words.bind(self.tree.setAccessibleName, N_("Settings that were read"))
        column.addWidget(self.tree, 1)

    def _build_fit(self, column: QVBoxLayout) -> None:
        row = QHBoxLayout()
        row.addWidget(bound_label(self._words, N_("Will it fit on"), wrap=False))
        self.count = NumberEdit()
        self.count.setObjectName("run.count")
        self.count.setMaximumWidth(self._state.theme.px(70))
        self.count.set_value(1)
        self._words.bind(self.count.setAccessibleName, N_("Number of GPUs"))
        cards = sorted((g for g in self._state.catalog.gpus if g.usable_bytes), key=lambda g: g.name.lower())
        self.card = ChoiceEdit(self._words, [("", N_("Choose a card …")), *((g.id, g.name) for g in cards)])
        self.card.setObjectName("run.gpu")
        self._words.bind(self.card.setAccessibleName, N_("Which GPU"))
        row.addWidget(self.count)
        row.addWidget(label("×", wrap=False))
        row.addWidget(self.card, 1)
        column.addLayout(row)
        self.answer = Banner("run.answer")
        column.addWidget(self.answer)
        self.count.edited.connect(lambda _value: self._judge())
        self.card.edited.connect(lambda _value: self._judge())

    def _build_buttons(self, column: QVBoxLayout) -> None:
        buttons = QDialogButtonBox()
        self.take = button(self._words, N_("&Use it in the questions"), "run.take", "primary")
        self.take.clicked.connect(self._take)
        close = button(self._words, N_("C&lose"), "run.close")
        close.clicked.connect(self.reject)
        buttons.addButton(self.take, QDialogButtonBox.ButtonRole.ApplyRole)
        buttons.addButton(close, QDialogButtonBox.ButtonRole.RejectRole)
        column.addWidget(buttons)

    # reading --------------------------------------------------------------------------------------------------

    def read(self, path: Path) -> None:
        """Read a file."""
        self._try(lambda: read_run(path, self._state.catalog))

    def _read_command(self) -> None:
        text = self.command.toPlainText()
        self._try(lambda: read_command(text, self._state.catalog))

    def _ask(self) -> None:
        language = self._state.language
        filters = language.gettext("Training configurations") + " (*.yaml *.yml *.json *.sh *.bat *.cmd)"
        path = dialogs.ask_open(self, language.gettext("Choose a training configuration"), filters)
        if path is not None:
            self.read(path)

    def _try(self, read: Any) -> None:
        try:
            self.run = read()
        except KnownError as error:
            self.run = None
            self._show()
            self.trouble.say(self._state.language.error(error), "danger")
            return
        if self.run is not None:
            self.count.set_value(self.run.case.get("n_gpus", 1))
        self._show()

    # showing --------------------------------------------------------------------------------------------------

    def _show(self) -> None:
        run, language = self.run, self._state.language
        there = run is not None
        for widget in (self.title, self.asked, self.tree, self.card, self.count):
            widget.setEnabled(there)
        self.take.setEnabled(there)
        self.tree.clear()
        self.tree.setHeaderLabels([language.gettext("Key"), language.gettext("Value"), language.gettext("Decides")])
        self.trouble.say("")
        self.answer.say("")
        self.title.setText("")
        self.asked.setText("")
        self.asked.setVisible(False)
        if run is None:
            return
        name = run.file or language.gettext("The command")
        self.title.setText(
            language.fill("{file}, read as a configuration of {program}", file=name, program=run.program)
        )
        self.trouble.say("\n".join(language.text(note) for note in run.notes), "warning")
        asked = [language.label(f"run.sets.{key}") for key in run.asked if key != "gpu"]
        if asked:
            self.asked.setText(language.fill("Not said there: {names}", names=language.gettext(", ").join(asked)))
            self.asked.setVisible(True)
        self._fill_tree(run, language)
        self._judge()

    def _fill_tree(self, run: RunFile, language: Language) -> None:
        used: list[tuple[str, str, str]] = []
        for use in run.used:
            value = f"{use.value} → {use.taken}" if use.taken and use.taken != use.value else use.value
            used.append((use.key, value, language.label(f"run.sets.{use.sets}")))
        defaults = [(u.key, u.value, language.label(f"run.sets.{u.sets}")) for u in run.defaults]
        self._group(language.gettext("Used"), used)
        self._group(language.gettext("Not written; the program's own default"), defaults)
        for reason in _LEFT:
            rows = [(k.key, k.value, "") for k in run.keys_left(reason)]
            self._group(language.label(f"run.left.{reason}"), rows, folded=reason == "no_effect")
        for number, widest in ((0, 280), (1, 270)):
            self.tree.resizeColumnToContents(number)
            self.tree.setColumnWidth(number, min(self.tree.columnWidth(number), self._state.theme.px(widest)))

    def _group(self, title: str, rows: list[tuple[str, str, str]], *, folded: bool = False) -> None:
        if not rows:
            return
        head = QTreeWidgetItem([f"{title} ({len(rows)})"])
        head.setFirstColumnSpanned(True)
        self.tree.addTopLevelItem(head)
        head.setFirstColumnSpanned(True)
        for row in rows:
            item = QTreeWidgetItem(list(row))
            item.setToolTip(1, row[1])
            head.addChild(item)
        head.setExpanded(not folded)

    def _judge(self) -> None:
        """Whether the run fits on the chosen card; what it leaves open is taken from the current task."""
        run, language = self.run, self._state.language
        card, count = self.card.value(), self.count.value()
        if run is None or not card:
            self.answer.say("")
            return
        more = {k: v for k, v in _from_task(self._current()).items() if k not in run.case}
        try:
            case = case_of(run, {**more, "gpu_id": card, "n_gpus": count or 1})
            found = estimate_case(case, self._state.catalog)
        except KnownError as error:
            self.answer.say(language.error(error), "warning")
            return
        words = [language.text(f) for f in found.findings if f.code in _VERDICTS]
        left = [k.key for k in (*run.keys_left("not_modelled"), *run.keys_left("unknown"))]
        if left:
            words.append(language.fill("Not counted in this: {names}", names=", ".join(left)[:300]))
        kind = {"fits": "info", "fits_tightly": "warning"}.get(found.memory.verdict.value, "danger")
        taken = [language.text(f) for f in found.assumptions]
        self.answer.say("\n".join(words), kind)  # type: ignore[arg-type]
        self.answer.setToolTip("\n".join(taken))

    def _current(self) -> TaskDraft:
        tasks = self._state.draft.tasks
        return tasks[min(self._task, len(tasks) - 1)]

    def _take(self) -> None:
        if self.run is None:
            return
        try:
            changes = changes_of(self.run)
        except KnownError as error:
            self.trouble.say(self._state.language.error(error), "danger")
            return
        self._state.edit_task(self._task, **changes)
        self.accept()
        task = self._current()
        page = Page.TASK if not task.method else Page.MODEL if not task.model_document() else Page.DATA
        self.taken.emit(page)


_VERDICTS = ("case.fits", "case.fits_tightly", "case.does_not_fit", "case.verdict_unknown")


def _from_task(task: TaskDraft) -> dict[str, Any]:
    """What the task says of model and method, in the words of a case."""
    found: dict[str, Any] = {}
    if task.model_source == "catalog" and task.catalog_id:
        found["model"] = task.catalog_id
    elif task.model_source == "size" and task.parameters_billion:
        found["params_b"] = task.parameters_billion
    if task.method and task.method != "inference":
        found["method"] = task.method
    return found
