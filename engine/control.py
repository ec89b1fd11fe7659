"""Progress and cancellation of a long computation, without Qt."""

from __future__ import annotations

import threading
from collections.abc import Callable

__all__ = ["Cancelled", "Control"]


class Cancelled(Exception):  # noqa: N818 - calling work off is no error
    """The work was called off; nothing was wrong."""


class Control:
    """Handed to a computation: `checkpoint` reports progress and raises `Cancelled` once `cancel` was called.

    `on_progress(done, total)` is called on the computing thread.
    """

    def __init__(self, on_progress: Callable[[int, int], None] | None = None) -> None:
        self._cancelled = threading.Event()
        self._on_progress = on_progress

    def cancel(self) -> None:
        """Ask the computation to stop at its next checkpoint; callable from any thread."""
        self._cancelled.set()

    @property
    def cancelled(self) -> bool:
        """Whether `cancel` was called."""
        return self._cancelled.is_set()

    def checkpoint(self, done: int = 0, total: int = 0) -> None:
        """Report progress; raise `Cancelled` if asked to stop."""
        if self._cancelled.is_set():
            raise Cancelled
        if self._on_progress is not None:
            self._on_progress(done, total)
