"""The program's icon."""

from __future__ import annotations

from importlib.resources import files

from PySide6.QtGui import QIcon, QPixmap

__all__ = ["program_icon"]


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
