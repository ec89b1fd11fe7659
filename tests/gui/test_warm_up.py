"""Code is read ahead without a class of Qt being made by a second thread, which can crash the window."""

from __future__ import annotations

import subprocess
import sys

from pytestqt.qtbot import QtBot

from gui.warm import WarmUp

_CODE = """
import sys
from gui.warm import _ENGINE_MODULES
before = set(sys.modules)
import importlib
for module in _ENGINE_MODULES:
    importlib.import_module(module)
print(sorted(name for name in set(sys.modules) - before if name.startswith(("PySide6", "shiboken6", "gui"))))
"""


def test_the_thread_reads_no_module_of_the_window() -> None:
    done = subprocess.run([sys.executable, "-c", _CODE], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.strip() == "[]"


def test_pages_are_read_on_the_window_s_thread_one_after_the_other(qtbot: QtBot) -> None:
    from PySide6.QtCore import QObject

    parent = QObject()
    warm = WarmUp(["gui.report.page", "gui.catalog.page"], parent)
    with qtbot.waitSignal(warm.done, timeout=10_000):
        warm.start()
    assert {"gui.report.page", "gui.catalog.page"} <= set(sys.modules)
    warm.close()


def test_closing_stops_it(qtbot: QtBot) -> None:
    from PySide6.QtCore import QObject

    parent = QObject()
    warm = WarmUp(["gui.report.page"], parent)
    sent: list[bool] = []
    warm.done.connect(lambda: sent.append(True))
    warm.start()
    warm.close()
    qtbot.wait(50)
    assert not sent
