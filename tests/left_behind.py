"""What a test of the window may leave behind."""

from __future__ import annotations

import sys
import weakref
from typing import Any

__all__ = ["watch_timers", "windows_and_timers"]

_started: weakref.WeakSet[Any] = weakref.WeakSet()


def watch_timers() -> None:
    """Take note of each timer that is started from now on, whoever owns it."""
    core: Any = sys.modules.get("PySide6.QtCore")
    if core is None or hasattr(core.QTimer, "watched"):
        return
    start = core.QTimer.start

    def noted(timer: Any, *args: Any) -> None:
        _started.add(timer)
        start(timer, *args)

    core.QTimer.start, core.QTimer.watched = noted, True


def windows_and_timers() -> list[Any]:
    """Windows in sight and running timers, where there is an application."""
    widgets: Any = sys.modules.get("PySide6.QtWidgets")
    application = widgets.QApplication.instance() if widgets else None
    if application is None:
        return []
    core: Any = sys.modules["PySide6.QtCore"]
    alive = sys.modules["shiboken6"].isValid
    core.QCoreApplication.sendPostedEvents(None, core.QEvent.Type.DeferredDelete)
    windows = [w for w in widgets.QApplication.topLevelWidgets() if w.isVisible()]
    timers = {*application.findChildren(core.QTimer), *(t for t in _started if alive(t))}
    return windows + [t for t in timers if t.isActive()]
