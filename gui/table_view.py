"""A table view for `TableModel`s: keyboard, sorting, copying, sensible column widths; and its search field."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from PySide6.QtCore import QItemSelectionModel, QModelIndex, QPoint, Qt, QTimer, Signal
from PySide6.QtGui import QAction, QGuiApplication, QKeyEvent, QKeySequence
from PySide6.QtWidgets import QAbstractItemView, QLineEdit, QMenu, QTableView, QWidget

from engine.i18n import Language
from gui.tables import TableModel, TableProxy, as_text

__all__ = ["SearchField", "TableView"]

#: No column is wider than this many average letters at first; the person may widen it.
MAX_LETTERS = 44
#: Rows that are measured for the first column widths.
MEASURED_ROWS = 20
#: Quiet time after a column was widened before wrapped rows take their new height.
ROWS_MS = 60


class TableView(QTableView):
    """Rows to choose one from. `row_chosen` follows the current row, `row_activated` Enter and double click."""

    row_chosen = Signal(object)
    row_activated = Signal(object)

    def __init__(
        self, model: TableModel[Any], proxy: TableProxy, name: str, parent: QWidget | None = None, *, wrap: bool = False
    ) -> None:
        super().__init__(parent)
        self.setObjectName(name)
        self._table, self._proxy, self._quiet = model, proxy, False
        self.setModel(proxy)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setAlternatingRowColors(True)
        self.setShowGrid(False)
        self.setWordWrap(wrap)
        self.setTabKeyNavigation(False)  # Tab leaves the table; arrows move in it
        self.sortByColumn(-1, Qt.SortOrder.AscendingOrder)  # as the rows come
        self.setSortingEnabled(True)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.customContextMenuRequested.connect(self._show_menu)
        self._shape_headers()
        self.copy_value, self.copy_row, self.copy_table = QAction(self), QAction(self), QAction(self)
        self.copy_value.setShortcut(QKeySequence.StandardKey.Copy)
        self.copy_value.setShortcutContext(Qt.ShortcutContext.WidgetShortcut)
        for action, slot in (
            (self.copy_value, self._copy_value),
            (self.copy_row, self._copy_row),
            (self.copy_table, self.copy_all),
        ):
            action.triggered.connect(slot)
            self.addAction(action)
        self.selectionModel().currentRowChanged.connect(self._tell)
        self.activated.connect(self._activate)
        model.modelReset.connect(self.fit_columns)
        self._rows_timer = QTimer(self)
        self._rows_timer.setSingleShot(True)
        self._rows_timer.setInterval(ROWS_MS)
        self._rows_timer.timeout.connect(self.resizeRowsToContents)
        if wrap:
            self.horizontalHeader().sectionResized.connect(lambda *_sizes: self._rows_timer.start())
            proxy.layoutChanged.connect(lambda *_args: self._rows_timer.start())
        self.retranslate(model.language)

    def _shape_headers(self) -> None:
        header = self.horizontalHeader()
        header.setHighlightSections(False)
        header.setStretchLastSection(True)
        header.setResizeContentsPrecision(MEASURED_ROWS)
        header.setSectionsMovable(True)
        header.setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        self.verticalHeader().hide()

    def retranslate(self, language: Language) -> None:
        """Words of the menu."""
        self.copy_value.setText(language.pgettext("menu", "Copy value"))
        self.copy_row.setText(language.pgettext("menu", "Copy row"))
        self.copy_table.setText(language.pgettext("menu", "Copy table"))

    def fit_columns(self) -> None:
        """Columns as wide as their contents, within bounds."""
        letter = self.fontMetrics().horizontalAdvance("0")
        self.horizontalHeader().setStyleSheet(f"QHeaderView::section {{ padding-right: {3 * letter}px; }}")  # the arrow
        self.resizeColumnsToContents()
        for number, column in enumerate(self._table.columns):
            limit = (column.width or MAX_LETTERS) * letter
            if self.columnWidth(number) > max(limit, self.horizontalHeader().sectionSizeHint(number)):
                self.setColumnWidth(number, max(limit, self.horizontalHeader().sectionSizeHint(number)))
        self.verticalHeader().setDefaultSectionSize(round(self.fontMetrics().height() * 1.9))

    def choose(self, wanted: Callable[[Any], bool]) -> None:
        """Make a row the current one without telling anybody."""
        row = self._proxy.visible_row(wanted)
        self._quiet = True
        if row < 0:
            self.selectionModel().clear()
        elif row != self.currentIndex().row() or not self.selectionModel().hasSelection():
            index = self._proxy.index(row, max(self.currentIndex().column(), 0))
            flags = QItemSelectionModel.SelectionFlag.ClearAndSelect | QItemSelectionModel.SelectionFlag.Rows
            self.selectionModel().setCurrentIndex(index, flags)
            self.scrollTo(index)
        self._quiet = False

    def current_row(self) -> Any | None:
        """The value object of the current row."""
        index = self.currentIndex()
        return self._proxy.row_value(index.row()) if index.isValid() else None

    # copying ------------------------------------------------------------------------------------------------

    def copy_all(self) -> None:
        """The visible table to the clipboard, with its heading."""
        QGuiApplication.clipboard().setText(as_text(self._table, self._proxy))

    def _copy_row(self) -> None:
        if self.currentIndex().isValid():
            text = as_text(self._table, self._proxy, [self.currentIndex().row()])
            QGuiApplication.clipboard().setText(text.partition("\n")[2])

    def _copy_value(self) -> None:
        if self.currentIndex().isValid():
            QGuiApplication.clipboard().setText(str(self.currentIndex().data(Qt.ItemDataRole.DisplayRole) or ""))

    def _show_menu(self, place: QPoint) -> None:
        menu = QMenu(self)
        menu.addActions([self.copy_value, self.copy_row, self.copy_table])
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.popup(self.viewport().mapToGlobal(place))

    # signals ------------------------------------------------------------------------------------------------

    def _tell(self, current: QModelIndex, _previous: QModelIndex) -> None:
        if current.isValid() and not self._quiet:
            self.row_chosen.emit(self._proxy.row_value(current.row()))

    def _activate(self, index: QModelIndex) -> None:
        self.row_activated.emit(self._proxy.row_value(index.row()))


class SearchField(QLineEdit):
    """Filters a table while one types; Esc empties it, Arrow down goes into the table."""

    def __init__(self, proxy: TableProxy, view: QWidget, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName(name)
        self.setClearButtonEnabled(True)
        self._view = view
        self.textChanged.connect(proxy.set_text)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Esc empties, Arrow down leaves for the table."""
        if event.key() == Qt.Key.Key_Escape and self.text():
            self.clear()
        elif event.key() == Qt.Key.Key_Down:
            self._view.setFocus(Qt.FocusReason.OtherFocusReason)
        else:
            super().keyPressEvent(event)

    def say(self, text: str, hint: str) -> None:
        """Placeholder and name for screen readers."""
        self.setPlaceholderText(text)
        self.setAccessibleName(text)
        self.setToolTip(hint)
