"""What a training configuration or a command line says: a case, the keys it was read from, and what is still asked."""

from __future__ import annotations

from typing import Literal

from engine.findings import Finding
from engine.quantity import Frozen

__all__ = ["CaseValue", "KeyLeft", "KeyUse", "RunFile"]

CaseValue = str | int | float | bool


class KeyUse(Frozen):
    """A key that was read, its value as written, and the setting (a key of a case) that it decides."""

    key: str
    value: str
    sets: str
    taken: str = ""  # the setting's value, where it differs from what is written


class KeyLeft(Frozen):
    """A key that was not used: it changes neither memory nor time, is known but not modelled, or is not known."""

    key: str
    value: str
    reason: Literal["no_effect", "not_modelled", "unknown"]


class RunFile(Frozen):
    """A file or command line, read. `case` holds keys of a case; `asked` those that are needed and not stated.

    `epochs`, `steps`, `examples` and `packed` speak of the data; None where nothing is said.
    """

    program: str  # "axolotl", "llama-factory", …: the framework as a case names it
    file: str
    case: dict[str, CaseValue]
    used: tuple[KeyUse, ...]
    defaults: tuple[KeyUse, ...] = ()  # not written, but a documented default of the program
    left: tuple[KeyLeft, ...] = ()
    asked: tuple[str, ...] = ()
    notes: tuple[Finding, ...] = ()
    epochs: float | None = None
    steps: int | None = None
    examples: int | None = None
    packed: bool | None = None

    def keys_left(self, reason: str) -> tuple[KeyLeft, ...]:
        """The unused keys of one reason."""
        return tuple(k for k in self.left if k.reason == reason)
