"""A dialog that corrects any row of the catalogue for oneself, or makes a row of one's own from it."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QDialog, QHBoxLayout, QVBoxLayout, QWidget

from engine.catalog import user
from engine.catalog.headings import headings_of
from engine.catalog.importing import corrected
from engine.errors import KnownError
from engine.messages import LABELS, N_
from gui.state import AppState
from gui.widgets.basic import Banner, button, label, scrolled
from gui.widgets.editors import TextEdit
from gui.widgets.forms import Form
from gui.widgets.words import NP_, Words

__all__ = ["CorrectDialog"]

#: Units in which people write a field: ending of the field, of the column's name, and the sign.
_UNITS = (("bytes_per_second", "gb_per_s", "GB/s"), ("flops", "tflops", "TFLOPS"), ("bytes", "gib", "GiB"))
_NOT_SHOWN = ("id", "origin", "current", "members_only", "usable_basis", "extra")


class CorrectDialog(QDialog):
    """All fields of a row as text; what was changed is read as a table's cells are, and kept as one's own row."""

    stored = Signal(object)

    def __init__(self, state: AppState, row: Any, parent: QWidget | None = None, *, copy: bool = False) -> None:
        super().__init__(parent)
        self._state, self._words, self.row, self._copy = state, Words(state, self), row, copy
        theme = state.theme
        self.resize(theme.px(760), theme.px(680))
        title = N_("A row of my own after this one") if copy else N_("Correct this row for me")
        self._words.bind(self.setWindowTitle, title)
        column = QVBoxLayout(self)
        column.setContentsMargins(*(theme.px(theme.xl),) * 4)
        column.setSpacing(theme.px(theme.m))
        heading, text = label("", "subtitle"), label("", "muted")
        self._words.bind(heading.setText, title)
        self._words.bind(
            text.setText,
            N_("The new row stands beside the old one. Change what is different, the name at least.")
            if copy
            else N_("Your values win everywhere and are marked as yours. Removing your row brings the original back."),
        )
        self.form = Form(self._words, "correct")
        area, fields = scrolled("correct.fields", margin=0)
        area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        fields.addWidget(self.form)
        fields.addStretch(1)
        self._shown: dict[str, str] = {}
        self._add_fields()
        self.problem = Banner("correct.problem")
        save = button(self._words, NP_("button", "Keep as my row"), "correct.save", "primary")
        save.clicked.connect(self.accept)
        cancel = button(self._words, NP_("button", "Cancel"), "correct.cancel")
        cancel.clicked.connect(self.reject)
        for widget in (heading, text, area, self.problem):
            column.addWidget(widget, 1 if widget is area else 0)
        buttons = QHBoxLayout()
        buttons.addStretch(1)
        buttons.addWidget(save)
        buttons.addWidget(cancel)
        column.addLayout(buttons)

    def _add_fields(self) -> None:
        known = headings_of(user.kind_of(self.row))
        for field in type(self.row).model_fields:
            if field in _NOT_SHOWN or f"field.{field}" not in LABELS:
                continue
            ending = next((u for u in _UNITS if field.endswith(u[0])), None)
            heading = field.removesuffix(ending[0]) + ending[1] if ending else field
            factor = known.get(heading, (field, 1.0))[1]
            editor = TextEdit()
            self._shown[heading] = _text(getattr(self.row, field), factor)
            editor.setText(self._shown[heading])
            self.form.add(heading, LABELS[f"field.{field}"], editor, unit=ending[2] if ending else "", wide=not ending)

    def changed(self) -> dict[str, str]:
        """What was written over, by the name of its column."""
        found: dict[str, str] = {}
        for heading, before in self._shown.items():
            editor = self.form.rows[heading].editor
            if isinstance(editor, TextEdit) and editor.text() != before:
                found[heading] = editor.text()
        return found

    def accept(self) -> None:
        """Read, keep, close; else say what can't be read."""
        language, changed = self._words.language, self.changed()
        name = next((h for h in ("name", "product", "provider", "item", "model") if h in changed), "")
        if self._copy and not changed.get(name, "").strip():
            self.problem.say(language.gettext("Give the new row a name of its own."), "danger")
            return
        if not changed:
            super().reject()
            return
        try:
            made = corrected(self.row, changed, self._state.catalog)
            if self._copy:
                words = "".join(c if c.isalnum() else " " for c in changed[name].lower()).split()
                made = made.model_copy(update={"id": f"user.{'-'.join(words)}"})
            saved = user.save(made)
        except KnownError as error:
            self.problem.say(language.error(error), "danger")
            return
        super().accept()
        self.stored.emit(saved)


def _text(value: object, factor: float) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, tuple):
        return "|".join(str(v) for v in value)
    if isinstance(value, int | float) and factor != 1:
        return f"{value / factor:.6g}"
    if isinstance(value, float):
        return f"{value:.0f}" if value.is_integer() else repr(value)
    return str(value)
