"""Form rows: label, editor, unit, "why is this asked?", and the words of a problem. Accessible by construction."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import Qt
from PySide6.QtGui import QMouseEvent
from PySide6.QtWidgets import QBoxLayout, QGridLayout, QHBoxLayout, QLabel, QVBoxLayout, QWidget

from engine.i18n import Language
from gui.widgets.basic import WhyButton, label
from gui.widgets.editors import CheckEdit, MoneyEdit
from gui.widgets.words import Text, Words, plain, say

__all__ = ["Form", "FormRow"]


@dataclass
class FormRow:
    """One row of a form."""

    name: str
    editor: QWidget
    container: QWidget
    caption: QLabel | None
    problem_label: QLabel
    form: Form
    help: str = ""
    relevant: bool = True

    def show_problem(self, text: str) -> None:
        """Say what is wrong beside the field and to a screen reader; an empty text takes it back."""
        self.problem_label.setText(text)
        self.problem_label.setVisible(bool(text))
        for widget in (self.target, self.editor):
            widget.setAccessibleDescription(" ".join(part for part in (text, self.help) if part))
            bad = bool(text)
            if widget.property("bad") != bad:
                widget.setProperty("bad", bad)
                widget.style().unpolish(widget)
                widget.style().polish(widget)

    @property
    def target(self) -> QWidget:
        """The widget that takes the focus."""
        proxy = self.editor.focusProxy()
        return proxy if isinstance(proxy, QWidget) else self.editor

    def set_visible(self, visible: bool) -> None:
        """Show or hide the whole row; the others close up."""
        if visible != self.relevant:
            self.relevant = visible
            self.container.setVisible(visible)
            self.form.close_up()


class _TickLabel(QLabel):
    """A click on it is a click on its tick box."""

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Pass the click on."""
        buddy = self.buddy()
        if isinstance(buddy, CheckEdit) and self.rect().contains(event.position().toPoint()):
            buddy.click()


class Form(QWidget):
    """Rows of captions over editors, in one or two columns by the width that there is."""

    #: Width of one column at which captions, editors and units still have room, in widths of the digit 0.
    COLUMN_DIGITS = 40

    def __init__(self, words: Words, prefix: str, parent: QWidget | None = None, *, columns: int = 2) -> None:
        super().__init__(parent)
        self._words = words
        self._prefix = prefix
        self._columns = columns
        self._shown_columns = 0
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setHorizontalSpacing(24)
        self._grid.setVerticalSpacing(14)
        self._wide: set[str] = set()
        self.rows: dict[str, FormRow] = {}

    def add(
        self,
        name: str,
        caption: Text,
        editor: QWidget,
        *,
        unit: Text = "",
        why: Text = "",
        hint: Text = "",
        wide: bool = False,
    ) -> FormRow:
        """Add a row. `caption` may hold a mnemonic; `hint` stands below the editor; `wide` takes all columns."""
        words = self._words
        full = f"{self._prefix}.{name}"
        editor.setObjectName(full)
        container = QWidget(self)
        column = QVBoxLayout(container)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(4)
        caption_label = self._head(column, full, caption, editor, why)
        line = QHBoxLayout()
        line.setSpacing(8)
        line.addWidget(editor, 0 if isinstance(editor, CheckEdit) else 1)
        if isinstance(editor, CheckEdit):
            line.addWidget(self._tick_caption(caption, editor), 1)
        if unit:
            suffix = label("", "muted", wrap=False)
            words.bind(suffix.setText, unit)
            line.addWidget(suffix)
        if isinstance(editor, CheckEdit) and why:
            line.addWidget(self._why(full, caption, why), 0, Qt.AlignmentFlag.AlignVCenter)
        column.addLayout(line)
        if hint:
            note = label("", "small")
            words.bind(note.setText, hint)
            column.addWidget(note)
        problem = label("", "problem")
        problem.setObjectName(f"{full}.problem")
        problem.hide()
        column.addWidget(problem)
        column.addStretch(1)
        row = FormRow(name, editor, container, caption_label, problem, self)
        self._name(row, caption, why, hint)
        self.rows[name] = row
        if wide:
            self._wide.add(name)
        self._shown_columns = 0
        self._arrange(self._columns)
        return row

    def _head(self, column: QBoxLayout, full: str, caption: Text, editor: QWidget, why: Text) -> QLabel | None:
        if isinstance(editor, CheckEdit):  # its caption stands beside it
            return None
        head = QHBoxLayout()
        head.setSpacing(6)
        made = label("", "section", wrap=False)
        made.setBuddy(editor)
        self._words.bind(made.setText, caption)
        made.setTextFormat(Qt.TextFormat.AutoText)  # plain text would print the mnemonic's "&"
        head.addWidget(made)
        if why:
            head.addWidget(self._why(full, caption, why))
        head.addStretch(1)
        column.addLayout(head)
        return made

    def _tick_caption(self, caption: Text, editor: CheckEdit) -> QLabel:
        """The caption of a tick box: a label, because the text of a tick box can't break into lines."""
        made = _TickLabel()
        made.setWordWrap(True)
        made.setBuddy(editor)
        self._words.bind(made.setText, caption)
        return made

    def _why(self, full: str, caption: Text, why: Text) -> WhyButton:
        made = WhyButton(self._words, why, f"{full}.why")
        self._words.run(lambda language: made.name_after(plain(say(language, caption))))
        made.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        return made

    def _name(self, row: FormRow, caption: Text, why: Text, hint: Text) -> None:
        def apply(language: Language) -> None:
            name = plain(say(language, caption))
            row.help = " ".join(say(language, text) for text in (hint, why) if text)
            row.editor.setAccessibleName(name)
            row.editor.setAccessibleDescription(row.help)
            if isinstance(row.editor, MoneyEdit):
                row.editor.amount.setAccessibleName(name)
                row.editor.amount.setAccessibleDescription(row.help)
                row.editor.currency.setAccessibleName(language.fill("Currency of {field}", field=name))

        self._words.run(apply)

    def show_problems(self, problems: dict[str, str]) -> None:
        """Words beside the fields that have a problem, none beside the others."""
        for name, row in self.rows.items():
            row.show_problem(problems.get(name, ""))

    def resizeEvent(self, event: object) -> None:
        """Fold to one column where two would be cramped."""
        super().resizeEvent(event)  # type: ignore[arg-type]
        wanted = self.fontMetrics().horizontalAdvance("0") * self.COLUMN_DIGITS
        self._arrange(max(1, min(self._columns, self.width() // max(wanted, 1))))

    def close_up(self) -> None:
        """Put the rows that are shown in their places again."""
        columns, self._shown_columns = self._shown_columns or self._columns, 0
        self._arrange(columns)

    def _arrange(self, columns: int) -> None:
        if columns == self._shown_columns:
            return
        self._shown_columns = columns
        at_row = at_column = 0
        for row in self.rows.values():
            self._grid.removeWidget(row.container)
        for name, row in self.rows.items():
            if not row.relevant:
                continue
            if name in self._wide or isinstance(row.editor, CheckEdit):
                at_row, at_column = (at_row + 1 if at_column else at_row), 0
                self._grid.addWidget(row.container, at_row, 0, 1, columns)
                at_row += 1
                continue
            self._grid.addWidget(row.container, at_row, at_column)
            at_column += 1
            if at_column == columns:
                at_row, at_column = at_row + 1, 0
        for index in range(self._columns):
            self._grid.setColumnStretch(index, 1 if index < columns else 0)
