"""The program's icon."""

from __future__ import annotations

from collections.abc import Callable
from importlib.resources import files

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QIcon, QPainter, QPen, QPixmap, QPolygonF

from gui.theme import Theme

__all__ = ["fold_icon", "program_icon", "step_icon"]


def program_icon() -> QIcon:
    """The icon of the window and the About box, sharp at the usual sizes."""
    content = (files("resources") / "icons" / "gpu-advisor.svg").read_bytes()
    icon = QIcon()
    for size in (16, 32, 64, 128, 256):
        scaled = content.replace(b'viewBox="0 0 64 64"', f'viewBox="0 0 64 64" width="{size}" height="{size}"'.encode())
        pixmap = QPixmap()
        if pixmap.loadFromData(scaled, "SVG"):
            icon.addPixmap(pixmap)
    return icon


def step_icon(theme: Theme, *, done: bool) -> QIcon:
    """A tick for a step that is complete, a ring for one that is not."""
    if done:
        return _drawn(theme.success, lambda p: p.drawPolyline(_points((2.5, 8.5), (6.5, 12.5), (13.5, 4))))
    return _drawn(theme.border_strong, lambda p: p.drawEllipse(QRectF(3.5, 3.5, 9, 9)))


def fold_icon(theme: Theme, *, opened: bool) -> QIcon:
    """An arrow to the right for what is folded away, downwards for what is open."""
    points = ((4, 6), (8, 10), (12, 6)) if opened else ((6, 4), (10, 8), (6, 12))
    return _drawn(theme.accent, lambda p: p.drawPolyline(_points(*points)))


def _points(*points: tuple[float, float]) -> QPolygonF:
    return QPolygonF([QPointF(x, y) for x, y in points])


def _drawn(colour: str, draw: Callable[[QPainter], object]) -> QIcon:
    """An icon of 16 pixels a side, sharp up to a threefold scale."""
    ratio, side = 3.0, 16
    pixmap = QPixmap(round(side * ratio), round(side * ratio))
    pixmap.setDevicePixelRatio(ratio)
    pixmap.fill(Qt.GlobalColor.transparent)
    painter = QPainter(pixmap)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    pen = QPen(QColor(colour), 2.0)
    pen.setCapStyle(Qt.PenCapStyle.RoundCap)
    pen.setJoinStyle(Qt.PenJoinStyle.RoundJoin)
    painter.setPen(pen)
    draw(painter)
    painter.end()
    return QIcon(pixmap)
