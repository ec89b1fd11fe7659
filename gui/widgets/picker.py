"""A list that is searched by typing: one line to filter, the list below, words for the chosen entry beside it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import (
    QAbstractListModel,
    QEvent,
    QItemSelectionModel,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    QSignalBlocker,
    QSortFilterProxyModel,
    Qt,
    Signal,
)
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QLabel, QLineEdit, QListView, QVBoxLayout, QWidget

from engine.i18n import Language
from gui.widgets.basic import label
from gui.widgets.words import Text, Words, plain, say

__all__ = ["Entry", "SearchList"]

_ROOT = QModelIndex()
_KEY = int(Qt.ItemDataRole.UserRole) + 1
_SOUGHT = int(Qt.ItemDataRole.UserRole) + 2


@dataclass(frozen=True)
class Entry:
    """One entry: `key` is its identity, `shown` its line, `sought` further words by which it is found."""

    key: str
    shown: str
    sought: str = ""


class _Entries(QAbstractListModel):
    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._entries: tuple[Entry, ...] = ()

    def replace(self, entries: Sequence[Entry]) -> None:
        """Show other entries."""
        self.beginResetModel()
        self._entries = tuple(entries)
        self.endResetModel()

    def rowCount(self, parent: QModelIndex | QPersistentModelIndex = _ROOT) -> int:
        """One row an entry."""
        return 0 if parent.isValid() else len(self._entries)

    def data(self, index: QModelIndex | QPersistentModelIndex, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        """The line, the key, or what is searched."""
        if not index.isValid():
            return None
        entry = self._entries[index.row()]
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole):
            return entry.shown
        if role == _KEY:
            return entry.key
        return f"{entry.key} {entry.shown} {entry.sought}".lower() if role == _SOUGHT else None


class _Filter(QSortFilterProxyModel):
    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._needles: list[str] = []

    def seek(self, text: str) -> None:
        """Keep the entries that hold every word of `text`, in any order."""
        self._needles = text.lower().replace("-", " ").split()
        self.invalidate()

    def filterAcceptsRow(self, row: int, parent: QModelIndex | QPersistentModelIndex) -> bool:
        """Whether an entry holds all words."""
        hay = str(self.sourceModel().index(row, 0, parent).data(_SOUGHT)).replace("-", " ")
        return all(needle in hay for needle in self._needles)


class SearchList(QWidget):
    """Search line over a list. Arrow keys move in the list while one types; `chosen(key)` when the choice changes."""

    chosen = Signal(str)
    activated = Signal(str)

    def __init__(self, words: Words, name: str, caption: Text, hint: Text, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._words = words
        self._model, self._filter = _Entries(self), _Filter(self)
        self._filter.setSourceModel(self._model)
        self.search = QLineEdit()
        self.search.setObjectName(f"{name}.search")
        self.search.setClearButtonEnabled(True)
        self.search.installEventFilter(self)
        self.view = QListView()
        self.view.setObjectName(f"{name}.list")
        self.view.setModel(self._filter)
        self.view.setUniformItemSizes(True)
        self.view.setEditTriggers(QListView.EditTrigger.NoEditTriggers)
        self.view.setTextElideMode(Qt.TextElideMode.ElideMiddle)
        self.found: QLabel = label("", "small")
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(6)
        for widget in (self.search, self.view, self.found):
            column.addWidget(widget)
        words.bind(self.search.setPlaceholderText, hint)
        words.run(lambda language: self._name(plain(say(language, caption)), language))
        self.setFocusProxy(self.search)
        self.search.textChanged.connect(self._seek)
        self.view.selectionModel().currentChanged.connect(self._moved)
        self.view.activated.connect(lambda index: self.activated.emit(str(index.data(_KEY))))

    def set_entries(self, entries: Sequence[Entry]) -> None:
        """Show other entries; the choice stays if it is still there."""
        key = self.current()
        with QSignalBlocker(self):
            self._model.replace(entries)
        self._count()
        if key:
            self.set_current(key)

    def current(self) -> str:
        """Key of the chosen entry; empty where none is."""
        return str(self.view.currentIndex().data(_KEY) or "")

    def set_current(self, key: str) -> None:
        """Choose an entry without telling anyone; a search that hides it is given up."""
        if key == self.current():
            return
        with QSignalBlocker(self):
            index = self._find(key)
            if key and not index.isValid() and self.search.text():
                self.search.clear()
                index = self._find(key)
            self.view.selectionModel().setCurrentIndex(index, QItemSelectionModel.SelectionFlag.ClearAndSelect)
            if index.isValid():
                self.view.scrollTo(index, QListView.ScrollHint.PositionAtCenter)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Arrow and page keys in the search line move through the list."""
        if watched is self.search and event.type() == QEvent.Type.KeyPress and isinstance(event, QKeyEvent):
            keys = (Qt.Key.Key_Down, Qt.Key.Key_Up, Qt.Key.Key_PageDown, Qt.Key.Key_PageUp)
            if event.key() in keys:
                if not self.view.currentIndex().isValid():
                    self.view.setCurrentIndex(self._filter.index(0, 0))
                else:
                    self.view.keyPressEvent(event)
                return True
        return super().eventFilter(watched, event)

    def _find(self, key: str) -> QModelIndex:
        if not key:
            return QModelIndex()
        hits = self._filter.match(self._filter.index(0, 0), _KEY, key, 1, Qt.MatchFlag.MatchExactly)
        return hits[0] if hits else QModelIndex()

    def _seek(self, text: str) -> None:
        self._filter.seek(text)
        self._count()

    def _count(self) -> None:
        language = self._words.language
        shown, total = self._filter.rowCount(), self._model.rowCount()
        self.found.setText(language.fill("{shown:int} of {total:int} shown", shown=shown, total=total))

    def _moved(self, index: QModelIndex) -> None:
        if index.isValid():
            self.chosen.emit(str(index.data(_KEY)))

    def _name(self, caption: str, language: Language) -> None:
        self.search.setAccessibleName(language.fill("Search: {what}", what=caption))
        self.view.setAccessibleName(caption)
        self._count()
