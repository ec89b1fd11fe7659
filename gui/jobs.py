"""One background job at a time, cancellable; its answer arrives on the GUI thread."""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import partial
from typing import Any

from PySide6.QtCore import QObject, QThreadPool, Signal, Slot

from engine.control import Cancelled, Control

__all__ = ["JobRunner"]

_log = logging.getLogger(__name__)


class JobRunner(QObject):
    """Runs work off the GUI thread. A new job calls off the one before; an older answer is dropped.

    The work is a function of a `Control`; it touches no widget. `progress(done, total)` follows its checkpoints.
    """

    succeeded = Signal(object)
    failed = Signal(object)  # an exception: `KnownError`, or a bug
    cancelled = Signal()
    busy_changed = Signal(bool)
    progress = Signal(int, int)

    _finished = Signal(int, object, object)  # ticket, value, error: sent by the worker, delivered on the GUI thread
    _stepped = Signal(int, int, int)  # ticket, done, total

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._pool = QThreadPool(self)
        self._pool.setMaxThreadCount(1)
        self._ticket = 0
        self._control = Control()
        self._busy = False
        self._finished.connect(self._deliver)
        self._stepped.connect(self._report)

    @property
    def busy(self) -> bool:
        """Whether a job is under way whose answer is still wanted."""
        return self._busy

    def submit(self, work: Callable[[Control], Any]) -> None:
        """Start `work(control)`; whatever ran before is called off."""
        self._control.cancel()
        self._ticket += 1
        ticket = self._ticket
        self._control = Control(lambda done, total: self._stepped.emit(ticket, done, total))
        self._set_busy(True)
        self._pool.start(partial(self._run, ticket, work, self._control))

    def cancel(self) -> None:
        """Call off the job under way; `cancelled` is sent at once."""
        if not self._busy:
            return
        self._control.cancel()
        self._ticket += 1
        self._set_busy(False)
        self.cancelled.emit()

    def close(self) -> None:
        """Call off everything and wait for the thread to end."""
        self._control.cancel()
        self._ticket += 1
        self._pool.clear()
        self._pool.waitForDone()
        self._busy = False

    def _set_busy(self, busy: bool) -> None:
        if busy != self._busy:
            self._busy = busy
            self.busy_changed.emit(busy)

    def _run(self, ticket: int, work: Callable[[Control], Any], control: Control) -> None:
        value: Any = None
        error: Exception | None = None
        if control.cancelled:
            return
        try:
            value = work(control)
        except Cancelled:
            _log.debug("job %s was called off", ticket)
            return
        except Exception as trouble:  # noqa: BLE001 - handed to the GUI thread, which tells known errors from bugs
            error = trouble
        self._finished.emit(ticket, value, error)

    @Slot(int, object, object)
    def _deliver(self, ticket: int, value: object, error: Exception | None) -> None:
        if ticket != self._ticket:
            return
        self._set_busy(False)
        if error is not None:
            self.failed.emit(error)
        else:
            self.succeeded.emit(value)

    @Slot(int, int, int)
    def _report(self, ticket: int, done: int, total: int) -> None:
        if ticket == self._ticket:
            self.progress.emit(done, total)
