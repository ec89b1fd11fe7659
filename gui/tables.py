"""Tables from a column list: one model over a tuple of values, one proxy that sorts and filters.

A `Column` says how a row is shown in a language, by which value it sorts, and what a screen reader says. The model
holds no widget and no knowledge of the domain; the same one serves results, sources and the catalogue.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeAlias, TypeVar

from PySide6.QtCore import (
    QAbstractTableModel,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    QSortFilterProxyModel,
    Qt,
)

from engine.i18n import Language

__all__ = ["ROW_ROLE", "SORT_ROLE", "Column", "Index", "SortValue", "TableModel", "TableProxy", "as_text"]

T = TypeVar("T")
Index: TypeAlias = QModelIndex | QPersistentModelIndex
#: What a row sorts by; `None` (not known) stands last whichever way one sorts.
SortValue: TypeAlias = float | str | None
Predicate: TypeAlias = Callable[[Any], bool]

ROW_ROLE = int(Qt.ItemDataRole.UserRole) + 1  # the value object of the row
SORT_ROLE = int(Qt.ItemDataRole.UserRole) + 2  # what the cell sorts by

_ROOT = QModelIndex()
_RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
_LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter


@dataclass(frozen=True)
class Column(Generic[T]):
    """One column: `header` and `hint` are English texts marked with `N_`, translated when shown."""

    key: str
    header: str
    shown: Callable[[T, Language], str]
    value: Callable[[T], SortValue]
    numeric: bool = False
    hint: str = ""
    spoken: Callable[[T, Language], str] | None = None  # where the shown text needs its unit or meaning in words
    width: int = 0  # characters that the column should offer at first; 0 = by its contents


class TableModel(QAbstractTableModel, Generic[T]):
    """Rows and columns; new rows are one reset."""

    def __init__(self, columns: tuple[Column[T], ...], language: Language, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.columns = columns
        self.language = language
        self._rows: tuple[T, ...] = ()
        self._sort_values: dict[int, list[SortValue]] = {}
        self._texts: list[str] | None = None

    @property
    def rows(self) -> tuple[T, ...]:
        """What is shown."""
        return self._rows

    def set_rows(self, rows: tuple[T, ...]) -> None:
        """Show other rows."""
        self.beginResetModel()
        self._rows, self._sort_values, self._texts = rows, {}, None
        self.endResetModel()

    def set_language(self, language: Language) -> None:
        """Say the same in another language."""
        self.beginResetModel()
        self.language, self._texts = language, None
        self.endResetModel()

    def sort_value(self, row: int, column: int) -> SortValue:
        """What a cell sorts by."""
        if column not in self._sort_values:
            self._sort_values[column] = [self.columns[column].value(r) for r in self._rows]
        return self._sort_values[column][row]

    def row_text(self, row: int) -> str:
        """All shown words of a row in lower case: what a person can search in."""
        if self._texts is None:
            self._texts = ["\n".join(c.shown(r, self.language) for c in self.columns).casefold() for r in self._rows]
        return self._texts[row]

    def row_of(self, wanted: Callable[[T], bool]) -> int:
        """The first row for which `wanted` is true; -1 where none is."""
        return next((i for i, r in enumerate(self._rows) if wanted(r)), -1)

    # Qt ---------------------------------------------------------------------------------------------------

    def rowCount(self, parent: Index = _ROOT) -> int:
        """Rows below the root."""
        return 0 if parent.isValid() else len(self._rows)

    def columnCount(self, parent: Index = _ROOT) -> int:
        """Columns below the root."""
        return 0 if parent.isValid() else len(self.columns)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """Text, sort value, row, words for a screen reader, alignment."""
        if not index.isValid() or index.row() >= len(self._rows):
            return None
        row, column = self._rows[index.row()], self.columns[index.column()]
        match role:
            case Qt.ItemDataRole.DisplayRole:
                return column.shown(row, self.language)
            case Qt.ItemDataRole.ToolTipRole:
                return column.shown(row, self.language) or None
            case Qt.ItemDataRole.TextAlignmentRole:
                return _RIGHT if column.numeric else _LEFT
            case Qt.ItemDataRole.AccessibleTextRole:
                words = (column.spoken or column.shown)(row, self.language)
                return f"{self.language.gettext(column.header)}: {words}"
            case _ if role == SORT_ROLE:
                return self.sort_value(index.row(), index.column())
            case _ if role == ROW_ROLE:
                return row
            case _:
                return None

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """Column names and what they mean."""
        if orientation != Qt.Orientation.Horizontal or not 0 <= section < len(self.columns):
            return None
        column = self.columns[section]
        match role:
            case Qt.ItemDataRole.DisplayRole:
                return self.language.gettext(column.header)
            case Qt.ItemDataRole.ToolTipRole:
                return self.language.gettext(column.hint or column.header)
            case Qt.ItemDataRole.TextAlignmentRole:
                return _RIGHT if column.numeric else _LEFT
            case _:
                return None


class TableProxy(QSortFilterProxyModel):
    """Sorts by value, unknown last; filters by words (all must occur) and by named conditions on the row."""

    def __init__(self, model: TableModel[Any], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._model = model
        self._words: tuple[str, ...] = ()
        self._conditions: dict[str, Predicate] = {}
        self.setSortRole(SORT_ROLE)
        self.setDynamicSortFilter(True)
        self.setSourceModel(model)

    def set_text(self, text: str) -> None:
        """Keep rows that contain every word of `text`."""
        self._words = tuple(text.casefold().split())
        self.invalidate()

    def set_condition(self, name: str, condition: Predicate | None) -> None:
        """Keep rows for which `condition` is true; `None` lifts it."""
        if condition is None:
            self._conditions.pop(name, None)
        else:
            self._conditions[name] = condition
        self.invalidate()

    def row_value(self, proxy_row: int) -> Any:
        """The value object of a visible row."""
        return self._model.rows[self.mapToSource(self.index(proxy_row, 0)).row()]

    def visible_row(self, wanted: Callable[[Any], bool]) -> int:
        """Where a row stands as sorted and filtered; -1 where it is not shown."""
        source = self._model.row_of(wanted)
        return -1 if source < 0 else self.mapFromSource(self._model.index(source, 0)).row()

    def filterAcceptsRow(self, source_row: int, source_parent: Index) -> bool:
        """Whether a row passes all conditions and contains all words."""
        if not all(c(self._model.rows[source_row]) for c in self._conditions.values()):
            return False
        return not self._words or all(w in self._model.row_text(source_row) for w in self._words)

    def lessThan(self, source_left: Index, source_right: Index) -> bool:
        """Order by value; what is not known stands last both ways."""
        left = self._model.sort_value(source_left.row(), source_left.column())
        right = self._model.sort_value(source_right.row(), source_right.column())
        if left is None or right is None:
            unknown_is_less = self.sortOrder() == Qt.SortOrder.DescendingOrder
            return (left is None and right is not None) if unknown_is_less else (left is not None and right is None)
        if isinstance(left, str) or isinstance(right, str):
            return str(left).casefold() < str(right).casefold()
        return left < right


def as_text(model: TableModel[Any], proxy: TableProxy, rows: list[int] | None = None) -> str:
    """The visible table (or some of its visible rows) as tab-separated text with a heading: what is copied."""
    language = model.language
    lines = ["\t".join(language.gettext(c.header) for c in model.columns)]
    for row in range(proxy.rowCount()) if rows is None else rows:
        value = proxy.row_value(row)
        lines.append("\t".join(c.shown(value, language).replace("\n", " ") for c in model.columns))
    return "\n".join(lines)
