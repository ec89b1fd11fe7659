"""Undo and redo of drafts: values in two stacks. No Qt."""

from __future__ import annotations

import time
from collections.abc import Callable

from gui.draft import Draft

__all__ = ["History"]

#: Edits of the same field within this time are one step: typing a number is not six undos.
COALESCE_SECONDS = 1.5
#: Steps that are kept; a draft is some kilobytes.
MAX_STEPS = 200


class History:
    """The draft of now, those before it and those that were undone."""

    def __init__(self, draft: Draft, clock: Callable[[], float] = time.monotonic) -> None:
        self._now = draft
        self._before: list[Draft] = []
        self._after: list[Draft] = []
        self._clock = clock
        self._last: tuple[str, float] = ("", 0.0)

    @property
    def draft(self) -> Draft:
        """The draft of now."""
        return self._now

    @property
    def can_undo(self) -> bool:
        """Whether there is a step back."""
        return bool(self._before)

    @property
    def can_redo(self) -> bool:
        """Whether there is a step forth."""
        return bool(self._after)

    def push(self, draft: Draft, what: str) -> None:
        """A new draft; `what` names the fields that changed, so that typing in one field is one step.

        Without a name it is a step of its own.
        """
        key, now = self._last[0], self._clock()
        if not (self._before and what and key == what and now - self._last[1] < COALESCE_SECONDS):
            self._before = [*self._before[-MAX_STEPS + 1 :], self._now]
        self._now, self._after, self._last = draft, [], (what, now)

    def undo(self) -> Draft:
        """One step back."""
        if self._before:
            self._after.append(self._now)
            self._now = self._before.pop()
            self._last = ("", 0.0)
        return self._now

    def redo(self) -> Draft:
        """One step forth."""
        if self._after:
            self._before.append(self._now)
            self._now = self._after.pop()
            self._last = ("", 0.0)
        return self._now

    def reset(self, draft: Draft) -> None:
        """Another document: nothing to undo."""
        self._now, self._before, self._after, self._last = draft, [], [], ("", 0.0)
