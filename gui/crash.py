"""When we are wrong: one dialog in plain words, once for each distinct error; and a trace of hard crashes.

`sys.excepthook` and `threading.excepthook` lead here; `faulthandler` writes to a file that the next start offers,
with the unsaved work. Each running program has a trace file of its own, beside its unsaved work.
"""

from __future__ import annotations

import contextlib
import faulthandler
import logging
import platform
import sys
import threading
import traceback
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import TextIO

import PySide6
from PySide6.QtCore import QObject, Signal, Slot
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QDialog, QHBoxLayout, QPlainTextEdit, QPushButton, QVBoxLayout, QWidget

import engine
from engine.errors import KnownError
from engine.messages.mark import N_
from gui import dialogs
from gui.state import AppState
from gui.widgets.basic import Fold, bound_label, button
from gui.widgets.words import NP_, Text, Words

__all__ = ["CrashDialog", "CrashHandler", "LastCrashDialog", "report_text", "take_traces", "trace_path"]

_log = logging.getLogger(__name__)

#: Ending of the files that hard crashes are written to.
TRACE = ".crash.txt"


def report_text(error: BaseException) -> str:
    """All that a developer needs, and nothing of the person's inputs."""
    trace = "".join(traceback.format_exception(type(error), error, error.__traceback__))
    return f"{versions()}\n\n{trace}"


def versions() -> str:
    """What the error happened in, in one line."""
    return (
        f"GPU Advisor {engine.__version__}, Python {platform.python_version()}, PySide6 {PySide6.__version__}, "
        f"{platform.system()} {platform.release()} {platform.machine()}"
    )


class _ReportDialog(QDialog):
    """What happened, in plain words; details folded away, to be copied. Kinds of it add their own buttons."""

    def __init__(self, state: AppState, name: str, texts: tuple[Text, Text, Text], report: str, parent: QWidget | None):
        super().__init__(parent)
        self.setObjectName(name)
        self._state, self._report = state, report
        self.words = words = Words(state, self)
        title, heading, text = texts
        words.bind(self.setWindowTitle, title)
        self.setMinimumWidth(state.theme.px(520))
        column = QVBoxLayout(self)
        column.setContentsMargins(24, 24, 24, 24)
        column.setSpacing(12)
        column.addWidget(bound_label(words, heading, "subtitle"))
        column.addWidget(bound_label(words, text))
        fold = Fold(words, N_("&Details"), f"{name}.details")
        shown = QPlainTextEdit(report)
        shown.setObjectName(f"{name}.report")
        shown.setReadOnly(True)
        shown.setMinimumHeight(220)
        words.bind(shown.setAccessibleName, N_("Technical report"))
        fold.body.addWidget(shown)
        column.addWidget(fold, 1)
        self.row = QHBoxLayout()
        self.add("copy", N_("&Copy report"), self._copy)
        column.addLayout(self.row)

    def add(self, name: str, text: Text, action: Callable[[], object], look: str = "") -> QPushButton:
        """One more button; the main one stands on the right and answers to Enter."""
        made = button(self.words, text, f"{self.objectName()}.{name}", look)
        made.clicked.connect(lambda: action())
        if look:
            self.row.addStretch(1)
        made.setDefault(bool(look))
        self.row.addWidget(made)
        return made

    def _copy(self) -> None:
        QGuiApplication.clipboard().setText(self._report)


class CrashDialog(_ReportDialog):
    """An error of ours while the program goes on: copy the report, save the inputs."""

    def __init__(self, state: AppState, report: str, parent: QWidget | None = None) -> None:
        texts = (
            N_("Something went wrong"),
            N_("Something went wrong in this program"),
            N_(
                "This is a mistake of ours, not of yours. Your inputs are safe: they are kept automatically, and "
                "you can save them to a file now. Figures that were shown before are still valid."
            ),
        )
        super().__init__(state, "crash", texts, report, parent)
        self.add("save", N_("&Save my inputs …"), self._save)
        self.add("close", NP_("button", "Go on"), self.accept, "primary")

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


class LastCrashDialog(_ReportDialog):
    """The last run ended in a hard crash: its trace, and the work that it left."""

    resume_wanted = Signal()

    def __init__(self, state: AppState, report: str, *, unsaved: bool, parent: QWidget | None = None) -> None:
        kept = N_(
            "The program stopped by itself the last time it ran: a mistake of ours, not of yours. What you had entered "
            "was kept and can be restored. The report below holds none of your inputs."
        )
        nothing = N_(
            "The program stopped by itself the last time it ran: a mistake of ours, not of yours. There was no unsaved "
            "work. The report below holds none of your inputs."
        )
        heading = N_("The program ended unexpectedly last time")
        super().__init__(
            state, "lastcrash", (N_("After a crash"), heading, kept if unsaved else nothing), report, parent
        )
        self.add("close", NP_("button", "Not now") if unsaved else NP_("button", "Go on"), self.reject)
        if unsaved:
            self.add("resume", N_("&Restore my inputs"), self._resume, "primary")

    def _resume(self) -> None:
        self.accept()
        self.resume_wanted.emit()


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

    def install(self, trace: Path) -> None:
        """Take the hooks of the interpreter; a hard crash writes to the file `trace`."""
        sys.excepthook = self._hook
        threading.excepthook = lambda args: self._hook(args.exc_type, args.exc_value, args.exc_traceback)
        try:
            trace.parent.mkdir(parents=True, exist_ok=True)
            self._file = trace.open("w", encoding="utf-8")
            self._file.write(versions() + "\n\n")
            self._file.flush()
            faulthandler.enable(self._file)
        except OSError as error:
            _log.warning("hard crashes will leave no trace: %s", error)

    def uninstall(self) -> None:
        """Give the hooks back."""
        sys.excepthook, threading.excepthook = self._before
        if self._file is not None:
            faulthandler.disable()
            self._file.close()
            with contextlib.suppress(OSError):
                Path(self._file.name).unlink(missing_ok=True)
            self._file = None
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


def trace_path(unsaved: Path) -> Path:
    """Where a hard crash leaves its trace: beside the unsaved work of the same program."""
    return unsaved.with_suffix(TRACE)


def take_traces(folder: Path) -> str:
    """The traces of hard crashes of earlier runs, each given once; empty where there was none.

    A program that runs has written no more than its first line; where a file can't be removed, its program still runs.
    """
    found: list[str] = []
    for path in sorted(folder.glob(f"*{TRACE}")):
        try:
            text = path.read_text(encoding="utf-8", errors="replace").strip()
            if len(text.splitlines()) > 1:
                path.unlink()
                found.append(text)
        except OSError as error:
            _log.warning("the trace of a crash can't be taken: %s", error)
    return "\n\n".join(found)
