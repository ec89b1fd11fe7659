"""Saving what a page shows: asks where, makes the bytes on a worker, writes them whole, says where they are."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from datetime import datetime
from pathlib import Path

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QWidget

from engine.advice.result import Advice
from engine.control import Control
from engine.errors import KnownError
from engine.files import write_atomically
from engine.i18n import Language
from gui import dialogs
from gui.jobs import JobRunner
from gui.results.columns import COLUMNS, ranked_plans
from gui.state import AppState

__all__ = ["Exporter", "comparison_csv", "file_stem"]

Maker = Callable[[Control], bytes]


def file_stem(advice: Advice, kind: str) -> str:
    """A file name that says what is inside, safe on every system."""
    name = "".join(c if c.isalnum() else "-" for c in advice.scenario.name).strip("-")[:60] or "gpu-advisor"
    while "--" in name:
        name = name.replace("--", "-")
    return f"{name}-{kind}"


def comparison_csv(advice: Advice, language: Language) -> bytes:
    """The comparison as it is shown, in UTF-8 with the mark that Excel needs to read Chinese."""
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow([language.gettext(c.header) for c in COLUMNS])
    for row in ranked_plans(advice):
        writer.writerow([_inert(c.shown(row, language)) for c in COLUMNS])
    return out.getvalue().encode("utf-8-sig")


def _inert(text: str) -> str:
    """A text that a spreadsheet would take for a formula stays a text; a sign before a number is none."""
    return f"'{text}" if text[:1] in ("=", "+", "@", "\t", "\r") else text


class Exporter(QObject):
    """One file at a time, off the GUI thread."""

    saved = Signal(object)  # Path
    failed = Signal(object)

    def __init__(self, state: AppState, page: QWidget) -> None:
        super().__init__(page)
        self._state, self._page = state, page
        self._jobs = JobRunner(self)
        self._jobs.succeeded.connect(self._done)
        self._jobs.failed.connect(self._trouble)

    def close_jobs(self) -> None:
        """End background work."""
        self._jobs.close()

    def export_table(self, kind: str, advice: Advice, language: Language | None = None) -> None:
        """The comparison (csv, xlsx) or the whole record (json), in the window's language unless told."""
        language = language or self._state.language

        def make(control: Control) -> bytes:
            control.checkpoint()
            if kind == "csv":
                return comparison_csv(advice, language)
            from engine.report.export import record_bytes, workbook_bytes
            from engine.report.record import created_here

            if kind == "xlsx":
                return workbook_bytes(advice, language)
            return record_bytes(advice, created_here(datetime.now().astimezone()))

        self.save(make, file_stem(advice, "record" if kind == "json" else "plans"), kind)

    def save(self, make: Maker, stem: str, kind: str) -> None:
        """Ask for a place, then make and write the file there."""
        language = self._state.language
        filters = {
            "csv": language.gettext("CSV table (*.csv)"),
            "xlsx": language.gettext("Excel workbook (*.xlsx)"),
            "json": language.gettext("JSON record (*.json)"),
            "png": language.gettext("PNG image (*.png)"),
            "svg": language.gettext("SVG drawing (*.svg)"),
            "pdf": language.gettext("PDF document (*.pdf)"),
        }[kind]
        folder = self._state.settings.last_folder
        path = dialogs.ask_save(
            self._page, language.gettext("Save file"), filters, str(Path(folder) / f"{stem}.{kind}")
        )
        if path is None:
            return
        target = path if path.suffix else path.with_suffix(f".{kind}")
        self._state.remember(last_folder=str(target.parent))
        self._jobs.submit(lambda control: write_atomically(target, make(control)))

    def _done(self, path: Path) -> None:
        self.saved.emit(path)
        language = self._state.language
        dialogs.show_message(
            self._page, language.gettext("Saved"), language.fill("The file is at:\n{path}", path=str(path))
        )

    def _trouble(self, error: Exception) -> None:
        self.failed.emit(error)
        if isinstance(error, KnownError):
            dialogs.show_error(self._page, self._state.language, error)
        else:
            self._state.failed.emit(error)
