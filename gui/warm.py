"""Reads the program's code ahead, while the person looks at the first page."""

from __future__ import annotations

import importlib
from collections.abc import Sequence

from PySide6.QtCore import QObject, QTimer, Signal

from gui.jobs import JobRunner

__all__ = ["WarmUp"]

#: Code without Qt, read by a thread. Never a module with classes of Qt: PySide keeps them in a table that it reads
#: without Python's lock whenever a widget is styled, so that a class made by a second thread can crash the window.
_ENGINE_MODULES = ("engine.advice.advise", "engine.report", "engine.report.fit_words", "engine.catalog.user")


class WarmUp(QObject):
    """Reads the engine in a thread, then the pages' modules on the GUI thread, one per turn of its loop."""

    done = Signal()

    def __init__(self, page_modules: Sequence[str], parent: QObject) -> None:
        super().__init__(parent)
        self._waiting = list(page_modules)
        self._runner = JobRunner(self)
        self._runner.succeeded.connect(lambda _modules: self._next.start())
        self._next = QTimer(self)
        self._next.setSingleShot(True)
        self._next.timeout.connect(self._read_next)

    def start(self) -> None:
        """Begin; `done` is sent when all is read."""
        self._runner.submit(lambda _control: [importlib.import_module(module) for module in _ENGINE_MODULES])

    def close(self) -> None:
        """Stop, and wait for the thread to end."""
        self._next.stop()
        self._runner.close()

    def _read_next(self) -> None:
        if not self._waiting:
            self.done.emit()
            return
        importlib.import_module(self._waiting.pop(0))
        self._next.start()
