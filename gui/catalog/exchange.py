"""Dialogs that show what a table or a pack would change before it does, and one that corrects a row."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QComboBox, QDialog, QHBoxLayout, QLabel, QPlainTextEdit, QPushButton, QVBoxLayout, QWidget

from engine.catalog import packs, user
from engine.catalog.headings import headings_of
from engine.catalog.importing import IMPORTED_KINDS, ImportPlan, RowPlan, apply_plan, changed_fields, plan_import
from engine.catalog.table_file import read_table, table_of
from engine.catalog.trust import trusted_keys
from engine.errors import KnownError
from engine.i18n import Language
from engine.messages import LABELS, N_
from gui import dialogs
from gui.catalog.shown import field_value
from gui.state import AppState
from gui.table_view import TableView
from gui.tables import Column, TableModel, TableProxy
from gui.widgets.basic import Banner, button, label
from gui.widgets.words import NP_, Text, Words

__all__ = ["ImportDialog", "PackDialog", "PlanDialog", "undo"]


def _what(row: RowPlan, language: Language, names: dict[str, str]) -> str:
    """Why a row is refused, or which of its fields change."""
    if row.reasons:
        return " ".join(language.text(f) for f in row.reasons)
    if row.row is None or row.before is None:
        return ""
    parts: list[str] = []
    for field in changed_fields(row.before, row.row):
        name = language.label(f"field.{field}") if f"field.{field}" in LABELS else field
        before, after = (field_value(r, field, language, names) or "–" for r in (row.before, row.row))
        parts.append(f"{name}: {before} → {after}")
    return "; ".join(parts)


def _columns(names: dict[str, str]) -> tuple[Column[RowPlan], ...]:
    def status(row: RowPlan, language: Language) -> str:
        code = f"row.{row.status}"
        return language.label(code)

    def what(row: RowPlan, language: Language) -> str:
        return _what(row, language, names) or "–"

    return (
        Column("line", N_("Line"), lambda r, _l: str(r.line or ""), lambda r: float(r.line), numeric=True),
        Column("status", N_("What becomes of it"), status, lambda r: r.status),
        Column("what", N_("Reason or change"), what, lambda r: r.status, width=60),
        Column("title", N_("Row"), lambda r, _l: r.title, lambda r: r.title, width=40),
    )  # fmt: skip


class PlanDialog(QDialog):
    """Rows with what becomes of each; nothing is written before the button is pressed."""

    stored = Signal(object)  # number of rows
    TITLE: Text = ""
    ACTION: Text = ""

    def __init__(self, state: AppState, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._state, self._words = state, Words(state, self)
        theme = state.theme
        self.resize(theme.px(980), theme.px(680))
        self._words.bind(self.setWindowTitle, self.TITLE)
        self.column = QVBoxLayout(self)
        self.column.setContentsMargins(*(theme.px(theme.xl),) * 4)
        self.column.setSpacing(theme.px(theme.m))
        title = label("", "subtitle")
        self._words.bind(title.setText, self.TITLE)
        self.column.addWidget(title)
        self.head = QVBoxLayout()
        self.column.addLayout(self.head)
        names = {gpu.id: gpu.name for gpu in state.catalog.gpus}
        self.model: TableModel[RowPlan] = TableModel(_columns(names), state.language, self)
        self.proxy = TableProxy(self.model, self)
        self.view = TableView(self.model, self.proxy, "plan.table")
        self.view.setAccessibleName(state.language.gettext("What becomes of each row"))
        self.counts: QLabel = label("", "small")
        self.problem = Banner("plan.problem")
        self.apply_button = button(self._words, self.ACTION, "plan.apply", "primary")
        self.apply_button.clicked.connect(self.accept)
        cancel: QPushButton = button(self._words, NP_("button", "Cancel"), "plan.cancel")
        cancel.clicked.connect(self.reject)
        self.column.addWidget(self.view, 1)
        self.column.addWidget(self.counts)
        self.column.addWidget(self.problem)
        buttons = QHBoxLayout()
        buttons.addStretch(1)
        buttons.addWidget(self.apply_button)
        buttons.addWidget(cancel)
        self.column.addLayout(buttons)
        self._show(())

    def write(self) -> int:
        """Write what was shown; how many rows."""
        raise NotImplementedError

    def accept(self) -> None:
        """Write, and close; what goes wrong is said here."""
        try:
            count = self.write()
        except KnownError as error:
            self.problem.say(self._words.language.error(error), "danger")
            return
        super().accept()
        self.stored.emit(count)

    def _show(self, rows: tuple[RowPlan, ...]) -> None:
        self.model.set_rows(rows)
        language = self._words.language
        parts: list[str] = []
        for status in ("new", "changed", "removed", "same", "refused"):
            count, code = sum(r.status == status for r in rows), f"row.{status}"
            if count:
                parts.append(f"{language.label(code)}: {language.number(count)}")
        self.counts.setText("   ".join(parts))
        self.apply_button.setEnabled(any(r.status in ("new", "changed", "removed") for r in rows))


class ImportDialog(PlanDialog):
    """A table from a file or pasted from a spreadsheet."""

    TITLE = N_("Import a table")
    ACTION = NP_("button", "Keep new and changed rows")

    def __init__(self, state: AppState, parent: QWidget | None = None) -> None:
        super().__init__(state, parent)
        self.plan: ImportPlan | None = None
        self._source: Path | None = None
        self.kind = QComboBox()
        self.kind.setObjectName("import.kind")
        for kind in IMPORTED_KINDS:
            code = f"kind.{kind}"
            self.kind.addItem(state.language.label(code), kind)
        self.kind.setCurrentIndex(IMPORTED_KINDS.index("purchase_price"))
        self.kind.setAccessibleName(state.language.gettext("What the rows are"))
        choose = button(self._words, NP_("button", "Choose a file…"), "import.file")
        choose.clicked.connect(self._ask)
        self.pasted = QPlainTextEdit()
        self.pasted.setObjectName("import.pasted")
        self.pasted.setTabChangesFocus(True)
        self.pasted.setFixedHeight(state.theme.px(96))
        words = state.language.gettext("Or paste cells from a spreadsheet here, the line of headings first.")
        self.pasted.setPlaceholderText(words)
        self.pasted.setAccessibleName(words)
        row = QHBoxLayout()
        row.addWidget(self.kind)
        row.addWidget(choose)
        row.addStretch(1)
        self.head.addLayout(row)
        self.head.addWidget(self.pasted)
        self.kind.currentIndexChanged.connect(lambda _index: self.read())
        self.pasted.textChanged.connect(self._pasted)

    def open_file(self, path: Path) -> None:
        """Read a file."""
        self._source = path
        self.read()

    def _ask(self) -> None:
        language = self._words.language
        path = dialogs.ask_open(self, language.gettext("Import a table"), "CSV, TSV, TXT (*.csv *.tsv *.txt)")
        if path is not None:
            self.open_file(path)

    def _pasted(self) -> None:
        self._source = None
        self.read()

    def read(self) -> None:
        """Read what is there and show what becomes of it."""
        kind, text = str(self.kind.currentData()), self.pasted.toPlainText()
        self.plan = None
        self.problem.say("", "danger")
        if self._source is None and not text.strip():
            self._show(())
            return
        known = headings_of(kind)
        try:
            table = read_table(self._source, known) if self._source is not None else table_of(text, known)
            usual = {"currency": self._state.draft.currency}
            self.plan = plan_import(kind, table, self._state.catalog, usual)
        except KnownError as error:
            self._show(())
            self.problem.say(self._words.language.error(error), "danger")
            return
        self._show(self.plan.rows)
        if self.plan.ignored:
            said = self._words.language.fill(
                "Columns that mean nothing here: {names}", names=", ".join(self.plan.ignored)
            )
            self.counts.setText(f"{self.counts.text()}   {said}")

    def write(self) -> int:
        """Keep the new and changed rows."""
        if self.plan is None:
            return 0
        title = self._source.name if self._source is not None else self._words.language.gettext("pasted table")
        return apply_plan(self.plan, title)


class PackDialog(PlanDialog):
    """The change log of a pack."""

    TITLE = N_("Apply a pack")
    ACTION = NP_("button", "Apply the pack")

    def __init__(self, state: AppState, path: Path, parent: QWidget | None = None) -> None:
        super().__init__(state, parent)
        language = state.language
        self.plan = packs.plan_pack(packs.read_pack(path, trusted_keys()), state.catalog)
        manifest = self.plan.pack.manifest
        said = language.fill(
            "Pack {title}, version {version}, made on {day:date}",
            title=manifest.title,
            version=manifest.version,
            day=manifest.made_on.isoformat(),
        )
        self.head.addWidget(label(said))
        for finding in self.plan.findings:
            self.head.addWidget(label(language.text(finding), "muted", selectable=True))
        self._show(self.plan.rows)

    def write(self) -> int:
        """Apply it."""
        return packs.apply_pack(self.plan)


def undo(parent: QWidget, state: AppState, done: Callable[[], object]) -> None:
    """Take back the latest change of the user's rows, and say which it was."""
    language = state.language
    try:
        change = user.undo_last()
    except KnownError as error:
        dialogs.show_error(parent, language, error)
        return
    done()
    action = f"change.{change.action}"
    words = language.fill(
        "{day:date} {action:label}: {title} ({rows:int} rows)",
        day=change.at.date().isoformat(),
        action=action,
        title=change.title,
        rows=change.rows,
    )
    dialogs.show_message(parent, language.gettext("Undone"), words)
