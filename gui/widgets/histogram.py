"""A small bar chart of lengths, painted by Qt: no axis but its ends, and a line at a limit."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QWidget

from gui.theme import Theme

__all__ = ["Histogram"]


class Histogram(QWidget):
    """Bars for (upper edge, count); those beyond `limit` stand in another colour and behind a line."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._bins: tuple[tuple[float, int], ...] = ()
        self._limit = 0.0
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def show_bins(self, bins: tuple[tuple[float, int], ...], limit: float, theme: Theme) -> None:
        """Show other bars."""
        self._bins, self._limit, self._theme = bins, limit, theme
        self.update()

    def sizeHint(self) -> QSize:
        """Wide and low."""
        return QSize(320, self._theme.px(84))

    def minimumSizeHint(self) -> QSize:
        """As the hint."""
        return self.sizeHint()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Bars, base line, limit."""
        if not self._bins:
            return
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        width, height = self.width() / len(self._bins), self.height() - 4.0
        most = max(count for _edge, count in self._bins) or 1
        lower, limit_at = 0.0, None
        for number, (upper, count) in enumerate(self._bins):
            colour = self._theme.warning if lower >= self._limit > 0 else self._theme.accent
            if lower < self._limit <= upper:
                limit_at = (number + (self._limit - lower) / (upper - lower)) * width
            bar = height * count / most
            painter.fillRect(QRectF(number * width + 1, height - bar, max(width - 2, 1), bar), QColor(colour))
            lower = upper
        painter.setPen(QPen(QColor(self._theme.border_strong), 1))
        painter.drawLine(QPointF(0, height), QPointF(self.width(), height))
        if limit_at is not None:
            painter.setPen(QPen(QColor(self._theme.danger), 2, Qt.PenStyle.DashLine))
            painter.drawLine(QPointF(limit_at, 0), QPointF(limit_at, height))
        painter.end()
