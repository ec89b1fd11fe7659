"""Whether a window can be opened here, found out before Qt ends the process for lack of a screen or a library."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from typing import Literal

__all__ = ["SYSTEM_LIBRARIES", "ScreenProblem", "screen_problem"]

ScreenProblem = Literal["no_screen", "no_qt", "qt_library"]

#: What a window needs of a bare Debian or Ubuntu; the other systems bring it along.
SYSTEM_LIBRARIES = (
    "libegl1 libgl1 libglib2.0-0 libxkbcommon0 libxkbcommon-x11-0 libdbus-1-3 libfontconfig1 libxcb-cursor0 "
    "libxcb-icccm4 libxcb-keysyms1 libxcb-shape0 libxcb-image0 libxcb-render-util0"
)
#: Opens and closes a Qt application; Qt aborts the process where the platform plugin can't load, hence a process apart.
_PROBE = "from PySide6.QtWidgets import QApplication; QApplication([])"
_PROBE_SECONDS = 20
_WINDOWLESS = frozenset({"offscreen", "minimal", "vnc", "linuxfb"})


def screen_problem() -> ScreenProblem | None:
    """Why no window can be opened; None where one can."""
    if importlib.util.find_spec("PySide6") is None:
        return "no_qt"
    if os.environ.get("QT_QPA_PLATFORM", "").partition(":")[0] in _WINDOWLESS:
        return "no_screen"
    if sys.platform.startswith("linux") and not (os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")):
        return "no_screen"
    if getattr(sys, "frozen", False) or sys.platform in ("win32", "darwin"):
        return None
    try:
        probe = subprocess.run(
            [sys.executable, "-c", _PROBE], capture_output=True, text=True, timeout=_PROBE_SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return "no_screen"
    if probe.returncode == 0:
        return None
    said = probe.stderr
    missing = "cannot open shared object" in said or "xcb-cursor" in said or "ImportError" in said
    return "qt_library" if missing else "no_screen"
