"""How to start it: the chosen plan as the settings of the programs that can run it, to be copied or saved."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtGui import QFontDatabase, QGuiApplication
from PySide6.QtWidgets import QComboBox, QFileDialog, QHBoxLayout, QPlainTextEdit, QVBoxLayout, QWidget

from engine.advice.result import Assessment
from engine.errors import KnownError
from engine.files import write_atomically
from engine.i18n import Language
from engine.launch.recipes import recipes_of
from engine.launch.result import Recipe
from engine.messages import N_
from gui import dialogs
from gui.results import words
from gui.results.selection import Selection
from gui.state import AppState
from gui.widgets.basic import button, label
from gui.widgets.when_seen import WhenSeen
from gui.widgets.words import NP_, Words

__all__ = ["StartTab"]


class StartTab(QWidget):
    """One program at a time: what must be said beside it, the command and its files."""

    def __init__(self, state: AppState, selection: Selection, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._state, self._selection = state, selection
        self._words = Words(state, self)
        self._recipes: list[tuple[str, Recipe]] = []  # task, settings
        self.program = QComboBox()
        self.program.setObjectName("start.program")
        self.program.currentIndexChanged.connect(lambda _index: self._show())
        self.text = QPlainTextEdit()
        self.text.setObjectName("start.text")
        self.text.setReadOnly(True)
        self.text.setTabChangesFocus(True)
        self.text.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self.text.setFont(QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont))
        self.notes = label("", "small", selectable=True)
        self.copy = button(self._words, NP_("button", "Copy all"), "start.copy")
        self.save = button(self._words, NP_("button", "Save files…"), "start.save")
        self._build()
        self._seen = WhenSeen(self, lambda: self._fill(selection.assessment))
        selection.changed.connect(self._seen.ask)
        self._words.run(self._say)

    def _build(self) -> None:
        theme = self._state.theme
        self.copy.clicked.connect(lambda: QGuiApplication.clipboard().setText(self.text.toPlainText()))
        self.save.clicked.connect(self._ask_folder)
        caption = label("", "")
        self._words.bind(caption.setText, N_("Program"))
        caption.setBuddy(self.program)
        bar = QHBoxLayout()
        bar.addWidget(caption)
        bar.addWidget(self.program)
        bar.addStretch(1)
        bar.addWidget(self.copy)
        bar.addWidget(self.save)
        column = QVBoxLayout(self)
        column.setContentsMargins(*(theme.px(theme.m),) * 4)
        column.setSpacing(theme.px(theme.s))
        column.addLayout(bar)
        column.addWidget(self.notes)
        column.addWidget(self.text, 1)

    def _say(self, language: Language) -> None:
        self.text.setAccessibleName(language.gettext("How to start it"))
        self.program.setAccessibleName(language.gettext("Program"))
        self._seen.ask()

    def _fill(self, assessment: Assessment | None) -> None:
        advice = self._selection.advice
        chosen = self.program.currentText()
        self._recipes = []
        if assessment is not None and advice is not None:
            for task in assessment.tasks:
                name = words.task_name(advice, task.task_id) if len(assessment.tasks) > 1 else ""
                found = recipes_of(advice.scenario, self._state.catalog, assessment, task.task_id)
                self._recipes.extend((name, recipe) for recipe in found)
        self.program.blockSignals(True)
        self.program.clear()
        self.program.addItems([" · ".join(p for p in (name, r.program) if p) for name, r in self._recipes])
        self.program.setCurrentIndex(max(0, self.program.findText(chosen)) if self._recipes else -1)
        self.program.blockSignals(False)
        self._show()

    @property
    def recipe(self) -> Recipe | None:
        """The settings on screen."""
        index = self.program.currentIndex()
        return self._recipes[index][1] if 0 <= index < len(self._recipes) else None

    def _show(self) -> None:
        language, recipe = self._words.language, self.recipe
        for widget in (self.program, self.copy, self.save):
            widget.setEnabled(recipe is not None)
        if recipe is None:
            self.text.clear()
            self.notes.setText(
                language.gettext(
                    "None of the programs that are known here can be told this layout: ask your framework's "
                    "documentation for the settings under Details."
                )
                if self._selection.assessment is not None
                else ""
            )
            return
        self.text.setPlainText(recipe.text)
        self.notes.setText("\n".join(f"• {language.label(note)}" for note in recipe.notes))
        self.notes.setToolTip(recipe.source)
        self.text.setFocusPolicy(Qt.FocusPolicy.StrongFocus)

    def _ask_folder(self) -> None:
        language, settings = self._words.language, self._state.settings
        chosen = QFileDialog.getExistingDirectory(self, language.gettext("Save files…"), settings.last_folder)
        if chosen:
            self.save_into(Path(chosen))

    def save_into(self, chosen: Path) -> None:
        """Write the command and the files into a new folder inside the chosen one, so that nothing is written over."""
        recipe, language = self.recipe, self._words.language
        if recipe is None:
            return
        names = ["start.sh", *(f.name for f in recipe.files)]
        contents = [recipe.command + "\n", *(f.content for f in recipe.files)]
        folder = _new_folder(chosen, f"start-{recipe.program.lower().replace('.', '-')}")
        try:
            for name, content in zip(names, contents, strict=True):
                write_atomically(folder / name, content.encode("utf-8"))
        except KnownError as error:
            dialogs.show_error(self, language, error)
            return
        self._state.remember(last_folder=str(chosen))
        dialogs.show_message(
            self,
            language.gettext("Saved"),
            language.fill("Files written: {names}", names=", ".join(str(folder / name) for name in names)),
        )


def _new_folder(parent: Path, name: str) -> Path:
    """A folder of this name that is not there yet."""
    folder, number = parent / name, 2
    while folder.exists():
        folder, number = parent / f"{name}-{number}", number + 1
    return folder
