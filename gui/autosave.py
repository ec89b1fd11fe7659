"""Unsaved work survives a kill: the draft goes to the platform's state folder a moment after each edit."""

from __future__ import annotations

import logging
from datetime import UTC, datetime
from pathlib import Path

from pydantic import BaseModel, ValidationError
from PySide6.QtCore import QObject, QTimer

from engine.errors import KnownError
from engine.files import write_atomically
from gui.draft import Draft
from gui.settings import state_folder
from gui.state import AppState

__all__ = ["Autosave", "Rescued", "read_autosave"]

_log = logging.getLogger(__name__)

#: Quiet time after an edit before the draft is written.
DELAY_MS = 800


class Rescued(BaseModel):
    """A draft that was not saved when the program ended."""

    saved_at: datetime
    path: str = ""  # the scenario file that it belongs to, if any
    draft: Draft


def autosave_path() -> Path:
    """Where the draft is kept."""
    return state_folder() / "unsaved.json"


def read_autosave(path: Path | None = None) -> Rescued | None:
    """Work that was not saved; None where there is none, or where the file can't be read any more."""
    target = path or autosave_path()
    try:
        return Rescued.model_validate_json(target.read_bytes())
    except FileNotFoundError:
        return None
    except (OSError, ValidationError) as error:
        _log.warning("unsaved work can't be read: %s", error)
        return None


class Autosave(QObject):
    """Writes the draft while it differs from its file, and removes what it wrote once it does not."""

    def __init__(self, state: AppState, path: Path | None = None, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._state = state
        self._path = path or autosave_path()
        self._written: Draft | None = None
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(DELAY_MS)
        self._timer.timeout.connect(self.flush)
        state.document_changed.connect(self._timer.start)

    def flush(self) -> None:
        """Write now. A disk that refuses is logged: the person goes on working."""
        self._timer.stop()
        draft = self._state.draft
        if not self._state.unsaved:
            if self._written is not None:
                self.discard()
            return
        if draft == self._written:
            return
        path = str(self._state.path.absolute()) if self._state.path else ""
        rescued = Rescued(saved_at=datetime.now(UTC), path=path, draft=draft)
        try:
            write_atomically(self._path, rescued.model_dump_json().encode())
            self._written = draft
        except KnownError as error:
            _log.warning("unsaved work could not be written: %s", error)

    def discard(self) -> None:
        """Forget the unsaved work."""
        self._written = None
        try:
            self._path.unlink(missing_ok=True)
        except OSError as error:
            _log.warning("unsaved work could not be removed: %s", error)
