"""Editors for a draft's values. Each has `set_value` (draft -> widget, silent) and a signal when a person edits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtGui import QFocusEvent, QWheelEvent
from PySide6.QtWidgets import QCheckBox, QComboBox, QHBoxLayout, QLineEdit, QSizePolicy, QWidget

from engine.i18n import Language
from gui.draft import MoneyDraft
from gui.widgets.numbers import editable_number, read_amount, read_number
from gui.widgets.words import Text, Words, say

__all__ = ["CURRENCIES", "CheckEdit", "ChoiceEdit", "MoneyEdit", "NumberEdit", "PercentEdit", "TextEdit"]

#: Currencies that the editors offer; a scenario file may state others, which are kept.
CURRENCIES: tuple[str, ...] = ("USD", "CNY", "EUR", "GBP")


class TextEdit(QLineEdit):
    """A line of free text."""

    edited = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.textEdited.connect(lambda text: self.edited.emit(text))

    def set_value(self, value: str) -> None:
        """Show a value, unless it is what is being typed."""
        if self.text() != value:
            self.setText(value)


class NumberEdit(QLineEdit):
    """A number as people type it ("50B", "5亿", "1,000"); what can't be read is kept as text and marked."""

    edited = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._value: object = None
        self._language = Language("en")
        self.setMinimumWidth(110)
        self.textEdited.connect(self._typed)

    def value(self) -> object:
        """The number, the text that could not be read, or None."""
        return self._value

    def set_value(self, value: object) -> None:
        """Show a value; the text stays while it already means that value."""
        if self._read(self.text()) != value or (value is None and self.text()):
            self.setText(self._write(value))
        self._value = value

    def _read(self, text: str) -> object:
        return read_number(text)

    def _write(self, value: object) -> str:
        return editable_number(value, self._language)

    def _typed(self, text: str) -> None:
        self._value = self._read(text)
        self.edited.emit(self._value)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        """Tidy what was typed: 50B becomes 50,000,000,000."""
        super().focusOutEvent(event)
        self.setText(self._write(self._value))


class PercentEdit(NumberEdit):
    """A fraction shown as per cent."""

    def _read(self, text: str) -> object:
        value = read_number(text.strip().rstrip("%％"))
        return value / 100 if isinstance(value, int | float) else value

    def _write(self, value: object) -> str:
        if isinstance(value, int | float):
            return editable_number(round(value * 100, 6), self._language)
        return str(value or "")


class ChoiceEdit(QComboBox):
    """One of several values, shown by their words. A value that is not among them is kept and shown as it is."""

    edited = Signal(object)

    def __init__(self, words: Words, choices: Sequence[tuple[Any, Text]], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._choices = list(choices)
        self.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
        self.setMinimumContentsLength(8)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        words.run(self._fill)
        self.activated.connect(lambda index: self.edited.emit(self.itemData(index)))

    def value(self) -> Any:
        """The chosen value."""
        return self.currentData()

    def set_value(self, value: Any) -> None:
        """Choose a value without telling anyone."""
        index = next((i for i in range(self.count()) if self.itemData(i) == value), -1)
        with QSignalBlocker(self):
            if index < 0:
                self.addItem(str(value), value)
                index = self.count() - 1
            self.setCurrentIndex(index)

    def set_choices(self, choices: Sequence[tuple[Any, Text]], language: Language) -> None:
        """Offer other choices; the chosen one stays if it is still among them."""
        self._choices = list(choices)
        self._fill(language)

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Leave the wheel to the page: scrolling past a box must not change it."""
        event.ignore()

    def _fill(self, language: Language) -> None:
        current = self.currentData()
        with QSignalBlocker(self):
            self.clear()
            for value, text in self._choices:
                self.addItem(say(language, text), value)
        if current is not None or any(value is None for value, _ in self._choices):
            self.set_value(current)


class CheckEdit(QCheckBox):
    """Yes or no."""

    edited = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.clicked.connect(lambda on: self.edited.emit(on))

    def value(self) -> bool:
        """Whether it is ticked."""
        return self.isChecked()

    def set_value(self, value: bool) -> None:
        """Tick or not, without telling anyone."""
        with QSignalBlocker(self):
            self.setChecked(value)


class _Amount(NumberEdit):
    """The exact amount as text: money is never a float."""

    def _read(self, text: str) -> object:
        amount = read_amount(text)
        return (text or None) if amount is None else f"{amount.normalize():f}"


class MoneyEdit(QWidget):
    """An amount with its currency; an empty amount means none is stated."""

    edited = Signal(object)  # MoneyDraft

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(8)
        self.amount = _Amount()
        self.currency = QComboBox()
        self.currency.addItems(list(CURRENCIES))
        self.currency.wheelEvent = lambda e: e.ignore()  # type: ignore[method-assign]
        self.currency.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        row.addWidget(self.amount, 1)
        row.addWidget(self.currency)
        self.setFocusProxy(self.amount)
        self.amount.edited.connect(lambda _value: self.edited.emit(self.value()))
        self.currency.activated.connect(lambda _index: self.edited.emit(self.value()))

    def setObjectName(self, name: str) -> None:
        """Name the parts too, for tests and style sheets."""
        super().setObjectName(name)
        self.amount.setObjectName(f"{name}.amount")
        self.currency.setObjectName(f"{name}.currency")

    def value(self) -> MoneyDraft:
        """What is typed."""
        amount = self.amount.value()
        return MoneyDraft(amount=None if amount is None else str(amount), currency=self.currency.currentText())

    def set_value(self, value: MoneyDraft) -> None:
        """Show a value without telling anyone."""
        with QSignalBlocker(self.currency):
            if self.currency.findText(value.currency) < 0:
                self.currency.addItem(value.currency)
            self.currency.setCurrentText(value.currency)
        self.amount.set_value(value.amount)
