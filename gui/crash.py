"""When we are wrong: one dialog in plain words, once for each distinct error; and a trace of hard crashes.

`sys.excepthook` and `threading.excepthook` lead here; `faulthandler` writes to a file that the next start offers.
"""

from __future__ import annotations

import faulthandler
import logging
import platform
import sys
import threading
import traceback
from pathlib import Path
from types import TracebackType
from typing import TextIO

import PySide6
from PySide6.QtCore import QObject, Signal, Slot
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QDialog, QHBoxLayout, QPlainTextEdit, QVBoxLayout, QWidget

import engine
from engine.errors import KnownError
from engine.messages.mark import N_
from gui import dialogs
from gui.settings import state_folder
from gui.state import AppState
from gui.widgets.basic import Fold, bound_label, button
from gui.widgets.words import NP_, Words

__all__ = ["CrashDialog", "CrashHandler", "report_text"]

_log = logging.getLogger(__name__)


def report_text(error: BaseException) -> str:
    """All that a developer needs, and nothing of the person's inputs."""
    trace = "".join(traceback.format_exception(type(error), error, error.__traceback__))
    versions = (
        f"GPU Advisor {engine.__version__}, Python {platform.python_version()}, PySide6 {PySide6.__version__}, "
        f"{platform.system()} {platform.release()} {platform.machine()}"
    )
    return f"{versions}\n\n{trace}"


class CrashDialog(QDialog):
    """What happened, in plain words; details folded away; copy the report, save the inputs."""

    def __init__(self, state: AppState, report: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("crash")
        self._state, self._report = state, report
        words = Words(state, self)
        words.bind(self.setWindowTitle, N_("Something went wrong"))
        self.setMinimumWidth(state.theme.px(520))
        column = QVBoxLayout(self)
        column.setContentsMargins(24, 24, 24, 24)
        column.setSpacing(12)
        column.addWidget(bound_label(words, N_("Something went wrong in this program"), "subtitle"))
        column.addWidget(
            bound_label(
                words,
                N_(
                    "This is a mistake of ours, not of yours. Your inputs are safe: they are kept automatically, and "
                    "you can save them to a file now. Figures that were shown before are still valid."
                ),
            )
        )
        fold = Fold(words, N_("&Details"), "crash.details")
        text = QPlainTextEdit(report)
        text.setObjectName("crash.report")
        text.setReadOnly(True)
        text.setMinimumHeight(220)
        words.bind(text.setAccessibleName, N_("Technical report"))
        fold.body.addWidget(text)
        column.addWidget(fold, 1)
        row = QHBoxLayout()
        copy = button(words, N_("&Copy report"), "crash.copy")
        copy.clicked.connect(lambda: QGuiApplication.clipboard().setText(self._report))
        save = button(words, N_("&Save my inputs …"), "crash.save")
        save.clicked.connect(self._save)
        close = button(words, NP_("button", "Go on"), "crash.close", "primary")
        close.clicked.connect(self.accept)
        for made in (copy, save):
            row.addWidget(made)
        row.addStretch(1)
        row.addWidget(close)
        column.addLayout(row)

    def _save(self) -> None:
        from engine.files import write_atomically

        gettext = self._state.language.gettext
        path = dialogs.ask_save(
            self, gettext("Save my inputs"), gettext("Inputs") + " (*.json)", "gpu-advisor-inputs.json"
        )
        if path is None:
            return
        scenario = self._state.scenario
        content = scenario if scenario is not None else self._state.draft
        try:
            write_atomically(path, content.model_dump_json(indent=2).encode())
        except KnownError as error:
            dialogs.show_error(self, self._state.language, error)


class CrashHandler(QObject):
    """Shows each distinct error once; callable from any thread."""

    _caught = Signal(object)

    def __init__(self, state: AppState, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._state, self._window = state, parent
        self._seen: set[str] = set()
        self.dialog: CrashDialog | None = None
        self._before = (sys.excepthook, threading.excepthook)
        self._file: TextIO | None = None
        self._caught.connect(self._show)

    def install(self) -> None:
        """Take the hooks of the interpreter."""
        sys.excepthook = self._hook
        threading.excepthook = lambda args: self._hook(args.exc_type, args.exc_value, args.exc_traceback)
        path = fault_path()
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file = path.open("w", encoding="utf-8")
            faulthandler.enable(self._file)
        except OSError as error:
            _log.warning("hard crashes will leave no trace: %s", error)

    def uninstall(self) -> None:
        """Give the hooks back."""
        sys.excepthook, threading.excepthook = self._before
        if self._file is not None:
            faulthandler.disable()
            self._file.close()
            self._file = None
            fault_path().unlink(missing_ok=True)
        if self.dialog is not None:
            self.dialog.close()
            self.dialog = None

    def report(self, error: BaseException) -> None:
        """An error that is a bug."""
        _log.error("unexpected error", exc_info=error)
        self._caught.emit(error)

    def _hook(self, kind: type[BaseException], error: BaseException | None, trace: TracebackType | None) -> None:
        if error is None or issubclass(kind, KeyboardInterrupt):
            self._before[0](kind, error or kind(), trace)
            return
        self.report(error)

    @Slot(object)
    def _show(self, error: BaseException) -> None:
        text = report_text(error)
        place = "".join(traceback.format_tb(error.__traceback__)) + type(error).__name__
        if place in self._seen:
            return
        self._seen.add(place)
        if isinstance(error, KnownError):
            dialogs.show_error(self._window, self._state.language, error)
            return
        if self.dialog is not None:
            self.dialog.close()
        self.dialog = CrashDialog(self._state, text, self._window)
        self.dialog.open()


def fault_path() -> Path:
    """Where a hard crash leaves its trace."""
    return state_folder() / "hard-crash.txt"


def last_hard_crash() -> str:
    """The trace of a hard crash of the last run; empty where there was none."""
    try:
        return fault_path().read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return ""
