"""Work for a view that is out of sight waits until the view is looked at."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QEvent, QObject
from PySide6.QtWidgets import QWidget

__all__ = ["WhenSeen"]


class WhenSeen(QObject):
    """Calls `refresh` at once while the widget is in sight, else once when it next comes into sight."""

    def __init__(self, widget: QWidget, refresh: Callable[[], None]) -> None:
        super().__init__(widget)
        self._widget, self._refresh = widget, refresh
        self._stale = False
        widget.installEventFilter(self)

    def ask(self, *_ignored: object) -> None:
        """Something that the view shows has changed; a slot for any signal."""
        if self._widget.isVisible():
            self._stale = False
            self._refresh()
        else:
            self._stale = True

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Catch up when the view comes into sight."""
        if event.type() == QEvent.Type.Show and self._stale:
            self._stale = False
            self._refresh()
        return super().eventFilter(watched, event)
