"""The program's icon."""

from __future__ import annotations

from importlib.resources import files

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QIcon, QPainter, QPen, QPixmap, QPolygonF

from gui.theme import Theme

__all__ = ["program_icon", "step_icon"]


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
    ratio, side = 3.0, 16
    pixmap = QPixmap(round(side * ratio), round(side * ratio))
    pixmap.setDevicePixelRatio(ratio)
    pixmap.fill(Qt.GlobalColor.transparent)
    painter = QPainter(pixmap)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    pen = QPen(QColor(theme.success if done else theme.border_strong), 2.0)
    pen.setCapStyle(Qt.PenCapStyle.RoundCap)
    pen.setJoinStyle(Qt.PenJoinStyle.RoundJoin)
    painter.setPen(pen)
    if done:
        painter.drawPolyline(QPolygonF([QPointF(2.5, 8.5), QPointF(6.5, 12.5), QPointF(13.5, 4)]))
    else:
        painter.drawEllipse(QRectF(3.5, 3.5, 9, 9))
    painter.end()
    return QIcon(pixmap)
