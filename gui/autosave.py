"""Unsaved work survives a kill: the draft goes to the platform's state folder a moment after each edit.

Each running program writes a file of its own, held by a lock that ends with the process. What no running program holds
is left over from one that ended too early, and is offered.
"""

from __future__ import annotations

import logging
import os
from datetime import UTC, datetime
from pathlib import Path

from pydantic import BaseModel, PrivateAttr, ValidationError
from PySide6.QtCore import QLockFile, QObject, QTimer

from engine.errors import KnownError
from engine.files import write_atomically
from gui.draft import Draft
from gui.settings import state_folder
from gui.state import AppState

__all__ = ["Autosave", "Rescued", "Slot", "open_slots", "read_autosave"]

_log = logging.getLogger(__name__)

#: Quiet time after an edit before the draft is written.
DELAY_MS = 800
#: More programs at once than anybody runs; beyond it the process id makes the name, without a lock.
MOST_SLOTS = 32


class Slot:
    """One file of unsaved work and its lock."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = QLockFile(str(path.with_suffix(".lock")))
        self._lock.setStaleLockTime(0)  # a lock ends with its process, not with time

    def claim(self) -> bool:
        """Whether it is ours now: no running program holds it."""
        return self._lock.tryLock(0)

    def release(self) -> None:
        """Let others have it."""
        self._lock.unlock()


class Rescued(BaseModel):
    """A draft that was not saved when the program ended."""

    saved_at: datetime
    path: str = ""  # the scenario file that it belongs to, if any
    draft: Draft
    _slot: Slot | None = PrivateAttr(default=None)

    def held_by(self, slot: Slot) -> Rescued:
        """The same work, with the file that it lies in."""
        self._slot = slot
        return self

    def forget(self) -> None:
        """Remove the file: the work was taken up or is not wanted."""
        if self._slot is not None:
            _remove(self._slot.path)
            self._slot.release()


def open_slots(folder: Path | None = None) -> tuple[Slot, Rescued | None]:
    """A file for this program, and the newest unsaved work that no running program holds.

    Older left-over work stays where it is and is offered at a later start.
    """
    place = folder or state_folder()
    try:
        place.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        _log.warning("unsaved work can't be kept: %s", error)
    left: list[tuple[Rescued, Slot]] = []
    for path in sorted(place.glob("unsaved*.json")):
        slot = Slot(path)
        if slot.claim():
            found = read_autosave(path)
            if found is None:
                slot.release()
            else:
                left.append((found, slot))
    left.sort(key=lambda pair: pair[0].saved_at)
    for _found, slot in left[:-1]:
        slot.release()
    return _free_slot(place), left[-1][0].held_by(left[-1][1]) if left else None


def _free_slot(place: Path) -> Slot:
    for number in range(1, MOST_SLOTS + 1):
        slot = Slot(place / f"unsaved-{number}.json")
        if not slot.path.exists() and slot.claim():
            return slot
    return Slot(place / f"unsaved-{os.getpid()}.json")


def _remove(path: Path) -> None:
    try:
        path.unlink(missing_ok=True)
    except OSError as error:
        _log.warning("unsaved work could not be removed: %s", error)


def read_autosave(path: Path) -> Rescued | None:
    """Work that was not saved; None where there is none, or where the file can't be read any more."""
    try:
        return Rescued.model_validate_json(path.read_bytes())
    except FileNotFoundError:
        return None
    except (OSError, ValidationError) as error:
        _log.warning("unsaved work can't be read: %s", error)
        return None


class Autosave(QObject):
    """Writes the draft while it differs from its file, and removes what it wrote once it does not."""

    def __init__(self, state: AppState, slot: Slot, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._state, self._slot = state, slot
        self._written: Draft | None = None
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(DELAY_MS)
        self._timer.timeout.connect(self.flush)
        state.document_changed.connect(self._timer.start)

    @property
    def path(self) -> Path:
        """The file of this program's unsaved work."""
        return self._slot.path

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
            write_atomically(self._slot.path, rescued.model_dump_json().encode())
            self._written = draft
        except KnownError as error:
            _log.warning("unsaved work could not be written: %s", error)

    def discard(self) -> None:
        """Forget the unsaved work."""
        self._written = None
        _remove(self._slot.path)

    def close(self) -> None:
        """Write what is unsaved, and let go of the file."""
        self.flush()
        self._slot.release()
