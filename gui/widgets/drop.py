"""A place to drop a file on, with a button for those who'd rather choose it."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QDragEnterEvent, QDragLeaveEvent, QDropEvent
from PySide6.QtWidgets import QFrame, QPushButton, QVBoxLayout, QWidget

from gui.widgets.basic import bound_label, button, set_look
from gui.widgets.words import Text, Words

__all__ = ["DropZone", "dropped_path"]


def dropped_path(event: QDropEvent) -> Path | None:
    """The one local file of a drop; None where there is none, or more than one."""
    urls = [url for url in event.mimeData().urls() if url.isLocalFile()]
    return Path(urls[0].toLocalFile()) if len(urls) == 1 else None


class DropZone(QFrame):
    """Sends `dropped(Path)` for a dropped file and `wanted()` when the button asks for a file dialog."""

    dropped = Signal(object)
    wanted = Signal()

    def __init__(self, words: Words, name: str, text: Text, action: Text, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName(name)
        self.setProperty("look", "drop")
        self.setAcceptDrops(True)
        column = QVBoxLayout(self)
        column.setContentsMargins(16, 20, 16, 20)
        column.setSpacing(10)
        caption = bound_label(words, text, "muted")
        caption.setAlignment(Qt.AlignmentFlag.AlignCenter)
        column.addWidget(caption)
        self.button: QPushButton = button(words, action, f"{name}.open")
        column.addWidget(self.button, 0, Qt.AlignmentFlag.AlignCenter)
        self.button.clicked.connect(self.wanted)
        self.setFocusProxy(self.button)

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        """Show that a file is welcome."""
        if dropped_path(event) is not None:
            event.acceptProposedAction()
            set_look(self, "drop-ready")

    def dragLeaveEvent(self, event: QDragLeaveEvent) -> None:
        """The file went away again."""
        set_look(self, "drop")

    def dropEvent(self, event: QDropEvent) -> None:
        """Take the file."""
        set_look(self, "drop")
        path = dropped_path(event)
        if path is not None:
            event.acceptProposedAction()
            self.dropped.emit(path)
