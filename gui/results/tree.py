"""The tree of the working as a Qt model: three columns over `Node`s."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from PySide6.QtCore import QAbstractItemModel, QModelIndex, QObject, Qt
from PySide6.QtGui import QFont

from engine.i18n import Language
from engine.messages import N_
from gui.results.working import Node
from gui.tables import Index

__all__ = ["WorkingModel"]

_ROOT = QModelIndex()
HEADERS = (N_("Item"), N_("Expected"), N_("Low – high"))


class WorkingModel(QAbstractItemModel):
    """Nodes numbered depth first; the number is the internal id of an index, so that no object is held by Qt."""

    def __init__(self, language: Language, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._language = language
        self._nodes: list[Node] = []
        self._parents: list[int] = []
        self._rows: list[int] = []
        self._children: list[list[int]] = []
        self._top: list[int] = []

    def set_nodes(self, nodes: Sequence[Node], language: Language) -> None:
        """Show another working."""
        self.beginResetModel()
        self._language = language
        self._nodes, self._parents, self._rows, self._children = [], [], [], []
        self._top = [self._add(node, -1, row) for row, node in enumerate(nodes)]
        self.endResetModel()

    def _add(self, node: Node, parent: int, row: int) -> int:
        number = len(self._nodes)
        self._nodes.append(node)
        self._parents.append(parent)
        self._rows.append(row)
        self._children.append([])
        self._children[number] = [self._add(child, number, i) for i, child in enumerate(node.children)]
        return number

    def node(self, index: Index) -> Node | None:
        """The node of an index."""
        return self._nodes[int(index.internalId())] if index.isValid() else None

    def _below(self, parent: Index) -> list[int]:
        return self._children[int(parent.internalId())] if parent.isValid() else self._top

    # Qt ---------------------------------------------------------------------------------------------------

    def index(self, row: int, column: int, parent: Index = _ROOT) -> QModelIndex:
        """The index of a child."""
        below = self._below(parent)
        if not (0 <= row < len(below) and 0 <= column < len(HEADERS)) or (parent.isValid() and parent.column() > 0):
            return QModelIndex()
        return self.createIndex(row, column, below[row])

    def parent(self, child: Index = _ROOT) -> QModelIndex:  # type: ignore[override]
        """The index above."""
        if not child.isValid():
            return QModelIndex()
        above = self._parents[int(child.internalId())]
        return QModelIndex() if above < 0 else self.createIndex(self._rows[above], 0, above)

    def rowCount(self, parent: Index = _ROOT) -> int:
        """Children of a node."""
        return 0 if parent.isValid() and parent.column() > 0 else len(self._below(parent))

    def columnCount(self, parent: Index = _ROOT) -> int:
        """Three columns everywhere."""
        return len(HEADERS)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """Text, and bold letters for totals."""
        node = self.node(index)
        if node is None:
            return None
        texts = (node.title, node.expected, node.span)
        match role:
            case Qt.ItemDataRole.DisplayRole:
                return texts[index.column()]
            case Qt.ItemDataRole.ToolTipRole:
                return node.title if index.column() == 0 else None
            case Qt.ItemDataRole.AccessibleTextRole:
                heading = self._language.gettext(HEADERS[index.column()])
                return f"{heading}: {texts[index.column()]}" if texts[index.column()] else ""
            case Qt.ItemDataRole.TextAlignmentRole:
                side = Qt.AlignmentFlag.AlignRight if index.column() else Qt.AlignmentFlag.AlignLeft
                return side | Qt.AlignmentFlag.AlignVCenter
            case Qt.ItemDataRole.FontRole if node.kind in ("total", "group"):
                font = QFont()
                font.setBold(True)
                return font
            case _:
                return None

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """Column names."""
        if orientation != Qt.Orientation.Horizontal or not 0 <= section < len(HEADERS):
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            return self._language.gettext(HEADERS[section])
        if role == Qt.ItemDataRole.TextAlignmentRole:
            side = Qt.AlignmentFlag.AlignRight if section else Qt.AlignmentFlag.AlignLeft
            return side | Qt.AlignmentFlag.AlignVCenter
        return None
