"""Checks the saved record of a report from the window: computed again on a worker; says what differs."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QWidget

from engine.control import Control
from engine.errors import KnownError
from gui import dialogs
from gui.jobs import JobRunner
from gui.state import AppState

__all__ = ["RecordChecker"]


class RecordChecker(QObject):
    """One check at a time."""

    checked = Signal(object)  # Verification

    def __init__(self, state: AppState, window: QWidget) -> None:
        super().__init__(window)
        self._state, self._window = state, window
        self._jobs = JobRunner(self)
        self._jobs.succeeded.connect(self._done)
        self._jobs.failed.connect(self._trouble)

    def close_jobs(self) -> None:
        """End background work."""
        self._jobs.close()

    def ask(self) -> None:
        """Ask for a record and check it."""
        language, catalog = self._state.language, self._state.catalog
        filters = language.gettext("JSON record (*.json)")
        path = dialogs.ask_open(
            self._window, language.gettext("Check the record of a report"), filters, self._state.settings.last_folder
        )
        if path is None:
            return

        def work(control: Control) -> object:
            from engine.report.verify import read_record, verify_record

            return verify_record(read_record(path), catalog, control)

        self._state.remember(last_folder=str(path.parent))
        self._jobs.submit(work)

    def _done(self, found: object) -> None:
        from engine.report.verify import Verification
        from engine.report.verify_words import verification_lines

        assert isinstance(found, Verification)
        self.checked.emit(found)
        language = self._state.language
        dialogs.show_message(
            self._window,
            language.gettext("Check the record of a report"),
            "\n\n".join(verification_lines(found, language)),
            warning=not found.identical,
        )

    def _trouble(self, error: Exception) -> None:
        if isinstance(error, KnownError):
            dialogs.show_error(self._window, self._state.language, error)
        else:
            self._state.failed.emit(error)
