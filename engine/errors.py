"""What can go wrong that is neither an answer nor a bug: bad input, and a world that fails."""

from __future__ import annotations

from collections.abc import Mapping

__all__ = ["CatalogError", "InputError", "KnownError", "WorldError"]


class KnownError(Exception):
    """An error with a code and parameters; the words come from `engine.messages` in the reader's language.

    KnownError
      +-- InputError    the person's input or file is wrong      (command line: exit 2)
      +-- WorldError    disk, permissions, a damaged resource    (command line: exit 3)
            +-- CatalogError
    """

    def __init__(self, code: str, **params: object) -> None:
        super().__init__(code, params)
        self.code = code
        self.params: Mapping[str, object] = params

    def __str__(self) -> str:
        detail = ", ".join(f"{k}={v!r}" for k, v in self.params.items())
        return f"{self.code}({detail})"


class InputError(KnownError):
    """Something that a person typed, or a file that they gave, can't be used as it is."""


class WorldError(KnownError):
    """The disk is full, a file may not be read, a resource is damaged."""


class CatalogError(WorldError):
    """The catalogue is missing, damaged, or newer than the program."""
