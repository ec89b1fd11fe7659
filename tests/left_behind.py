"""What a test of the window may leave behind."""

from __future__ import annotations

import sys
from typing import Any

__all__ = ["windows_and_timers"]


def windows_and_timers() -> list[Any]:
    """Windows in sight and running timers of the application, where there is one."""
    widgets: Any = sys.modules.get("PySide6.QtWidgets")
    application = widgets.QApplication.instance() if widgets else None
    if application is None:
        return []
    core: Any = sys.modules["PySide6.QtCore"]
    core.QCoreApplication.sendPostedEvents(None, core.QEvent.Type.DeferredDelete)
    windows = [w for w in widgets.QApplication.topLevelWidgets() if w.isVisible()]
    return windows + [t for t in application.findChildren(core.QTimer) if t.isActive()]
