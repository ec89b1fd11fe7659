"""One of a few choices: as cards with a title and a sentence, or as a row of buttons."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import (
    QButtonGroup,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from engine.i18n import Language
from gui.widgets.basic import label
from gui.widgets.words import Text, Words, plain, say

__all__ = ["ChoiceCards", "Segments"]


class _ChoiceCard(QPushButton):
    """A button that holds a title and a sentence, and is as high as they need."""

    def __init__(self, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName(name)
        self.setProperty("look", "choice")
        self.setCheckable(True)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        column = self._column = QVBoxLayout(self)
        column.setContentsMargins(16, 12, 16, 12)
        column.setSpacing(4)
        self.title: QLabel = label("", "section")
        self.note: QLabel = label("", "muted")
        for part in (self.title, self.note):
            part.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
            column.addWidget(part)
        column.addStretch(1)

    def say(self, title: str, note: str) -> None:
        """Set the words."""
        self.title.setText(title)
        self.note.setText(note)
        self.setAccessibleName(plain(title))
        self.setAccessibleDescription(note)
        self.updateGeometry()

    def hasHeightForWidth(self) -> bool:
        """The sentence wraps."""
        return True

    def heightForWidth(self, width: int) -> int:
        """Height of the wrapped words."""
        return self._column.totalHeightForWidth(width)

    def sizeHint(self) -> QSize:
        """Room for the words at a comfortable width."""
        width = self.fontMetrics().horizontalAdvance("0") * 36
        return QSize(width, self.heightForWidth(width))

    def minimumSizeHint(self) -> QSize:
        """As narrow as a few words."""
        width = self.fontMetrics().horizontalAdvance("0") * 22
        return QSize(width, self.heightForWidth(max(width, self.width())))


class ChoiceCards(QWidget):
    """Cards in a grid, of which one is chosen; `edited(key)` when a person chooses."""

    edited = Signal(object)

    def __init__(
        self,
        words: Words,
        name: str,
        choices: Sequence[tuple[str, Text, Text]],
        parent: QWidget | None = None,
        *,
        columns: int = 2,
    ) -> None:
        super().__init__(parent)
        self.setObjectName(name)
        self._columns, self._shown_columns = columns, 0
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setSpacing(12)
        self._group = QButtonGroup(self)
        self.cards: dict[str, _ChoiceCard] = {}
        for key, title, note in choices:
            card = _ChoiceCard(f"{name}.{key}", self)
            self._group.addButton(card)
            self.cards[key] = card
            card.clicked.connect(lambda _checked=False, chosen=key: self.edited.emit(chosen))
            words.run(lambda language, c=card, t=title, n=note: c.say(say(language, t), say(language, n)))
        self._arrange(columns)

    def value(self) -> str:
        """Key of the chosen card; empty where none is."""
        return next((key for key, card in self.cards.items() if card.isChecked()), "")

    def set_value(self, key: str) -> None:
        """Choose a card without telling anyone."""
        self._group.setExclusive(False)
        for name, card in self.cards.items():
            card.setChecked(name == key)
        self._group.setExclusive(True)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """One column where two would be cramped."""
        super().resizeEvent(event)
        one = self.fontMetrics().horizontalAdvance("0") * 34
        self._arrange(max(1, min(self._columns, self.width() // max(one, 1))))

    def _arrange(self, columns: int) -> None:
        if columns == self._shown_columns:
            return
        self._shown_columns = columns
        for number, card in enumerate(self.cards.values()):
            self._grid.removeWidget(card)
            self._grid.addWidget(card, number // columns, number % columns)
        for column in range(self._columns):
            self._grid.setColumnStretch(column, 1 if column < columns else 0)


class Segments(QWidget):
    """A row of buttons, of which one is down; `edited(value)` when a person chooses."""

    edited = Signal(object)

    def __init__(
        self, words: Words, name: str, choices: Sequence[tuple[Any, Text]], parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.setObjectName(name)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(8)
        self._group = QButtonGroup(self)
        self.buttons: dict[Any, QPushButton] = {}
        for value, text in choices:
            made = QPushButton()
            made.setObjectName(f"{name}.{value}")
            made.setProperty("look", "segment")
            made.setCheckable(True)
            words.run(lambda language, b=made, t=text: self._say(b, language, t))
            made.clicked.connect(lambda _checked=False, chosen=value: self.edited.emit(chosen))
            self._group.addButton(made)
            self.buttons[value] = made
            row.addWidget(made)
        row.addStretch(1)

    @staticmethod
    def _say(made: QPushButton, language: Language, text: Text) -> None:
        made.setText(say(language, text))
        made.setAccessibleName(plain(say(language, text)))

    def set_value(self, value: Any) -> None:
        """Press a button down without telling anyone."""
        if value in self.buttons:
            self.buttons[value].setChecked(True)
