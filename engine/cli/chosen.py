"""The language of one run of the command line: that of `--lang`, wherever it stands, else the system's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextvars import ContextVar

from engine.errors import InputError
from engine.i18n import LANGUAGES, Language, LanguageCode, system_language

__all__ = ["chosen_language", "language_of", "note_language"]

_CODES: Mapping[str, LanguageCode] = {**{c.lower(): c for c in LANGUAGES}, "zh": "zh_CN"}
_chosen: ContextVar[LanguageCode | None] = ContextVar("language", default=None)


def language_of(code: str | None) -> Language:
    """The language of this code; without one, that of the run. `InputError` where there is no such language."""
    if code is None:
        return chosen_language()
    found = _CODES.get(code.lower().replace("-", "_"))
    if found is None:
        raise InputError("cli.no_such_language", value=code, known=", ".join(LANGUAGES))
    return Language(found)


def chosen_language() -> Language:
    """The language of the run."""
    return Language(_chosen.get() or system_language())


def note_language(arguments: Sequence[str]) -> Language:
    """Look for `--lang` before the arguments are known to be right, so that errors speak that language too."""
    _chosen.set(None)
    for index, word in enumerate(arguments):
        code = word.removeprefix("--lang=") if word.startswith("--lang=") else None
        if word == "--lang" and index + 1 < len(arguments):
            code = arguments[index + 1]
        if code is not None:
            _chosen.set(_CODES.get(code.lower().replace("-", "_")))
    return chosen_language()
