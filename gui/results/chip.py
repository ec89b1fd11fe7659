"""Paints the memory verdict of a table cell as a chip in the theme's colours; its words say the same."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from PySide6.QtCore import QObject, QRect, Qt
from PySide6.QtGui import QColor, QPainter
from PySide6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem

from gui.tables import ROW_ROLE, Index
from gui.theme import Theme

__all__ = ["ChipDelegate"]


class ChipDelegate(QStyledItemDelegate):
    """`verdict_of(row)` gives the verdict's code; the cell's text is painted on the ground of that verdict."""

    def __init__(self, verdict_of: Callable[[Any], str], theme: Theme, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._verdict_of = verdict_of
        self.theme = theme

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """The cell's ground as usual, then the chip."""
        shown = QStyleOptionViewItem(option)
        self.initStyleOption(shown, index)
        text, shown.text = shown.text, ""
        style = shown.widget.style()
        style.drawControl(QStyle.ControlElement.CE_ItemViewItem, shown, painter, shown.widget)
        colour, ground = self.theme.verdict_colours(self._verdict_of(index.data(ROW_ROLE)))
        room, gap = shown.rect, self.theme.px(self.theme.s)
        width = min(shown.fontMetrics.horizontalAdvance(text) + 2 * gap, room.width() - gap)
        height = min(shown.fontMetrics.height() + self.theme.px(4), room.height())
        chip = QRect(room.left() + gap // 2, room.center().y() - height // 2, width, height)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(ground))
        painter.drawRoundedRect(chip, self.theme.px(5), self.theme.px(5))
        painter.setPen(QColor(colour))
        painter.drawText(chip, Qt.AlignmentFlag.AlignCenter, text)
        painter.restore()
