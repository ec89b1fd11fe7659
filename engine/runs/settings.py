"""`Settings`: a configuration that remembers which of its keys were read, and for what."""

from __future__ import annotations

import fnmatch
import math
from collections.abc import Mapping, Sequence

from engine.errors import InputError
from engine.findings import Finding, Severity
from engine.runs.result import CaseValue, KeyLeft, KeyUse

__all__ = ["Settings"]

_YES, _NO = frozenset({"true", "yes", "on", "1", "y"}), frozenset({"false", "no", "off", "0", "n"})
_AUTO = frozenset({"", "auto", "none", "null"})
_LONGEST = 80  # of a value that is shown


class Settings:
    """Asked for settings by their names in a file; collects the case that they make."""

    def __init__(self, values: Mapping[str, str | tuple[str, ...]], file: str) -> None:
        self._values = values
        self.file = file
        self.case: dict[str, CaseValue] = {}
        self.used: dict[str, KeyUse] = {}
        self.defaults: list[KeyUse] = []
        self.notes: list[Finding] = []
        self.not_modelled: set[str] = set()

    # asking -------------------------------------------------------------------------------------------------------

    def has(self, *names: str) -> bool:
        """Whether one of the keys, or a table of that name, is there; reads nothing."""
        return any(n in self._values or any(k.startswith(f"{n}.") for k in self._values) for n in names)

    def peek(self, name: str) -> str:
        """A value without reading it."""
        value = self._values.get(name, "")
        return value if isinstance(value, str) else ",".join(value)

    def text(self, sets: str, *names: str) -> str:
        """The first of the keys that says something ("auto" says nothing); it is noted that it decides `sets`."""
        for name in names:
            if name in self._values:
                value = self.peek(name)
                self.used.setdefault(name, KeyUse(key=name, value=value[:_LONGEST], sets=sets))
                if value.lower() not in _AUTO:
                    return value
        return ""

    def words(self, sets: str, *names: str) -> tuple[str, ...]:
        """A list, also as words between commas or spaces."""
        for name in names:
            value = self._values.get(name)
            if isinstance(value, tuple):
                self.text(sets, name)
                return tuple(v for v in value if v)
        return tuple(w for w in self.text(sets, *names).strip("[]").replace(",", " ").replace("'", "").split() if w)

    def yes(self, sets: str, *names: str) -> bool | None:
        """Yes or no; None where it isn't said, or says something else."""
        word = self.text(sets, *names).lower()
        return True if word in _YES else False if word in _NO else None

    def number(self, sets: str, *names: str) -> float | None:
        """A number that is not negative; None where there is none."""
        word = self.text(sets, *names)
        if not word:
            return None
        try:
            value = float(word.replace("_", ""))
        except ValueError as error:
            raise InputError("run.not_a_number", file=self.file, key=names[0], value=word[:60]) from error
        if not math.isfinite(value) or abs(value) > 1e15:
            raise InputError("run.not_a_number", file=self.file, key=names[0], value=word[:60])
        return value if value >= 0 else None  # -1 stands for "not limited" in these programs

    def count(self, sets: str, *names: str) -> int | None:
        """A whole number of at least one; None where there is none."""
        value = self.number(sets, *names)
        if value is None or value < 1:
            return None
        if value != int(value):
            raise InputError("run.not_a_number", file=self.file, key=names[0], value=str(value))
        return int(value)

    # collecting ---------------------------------------------------------------------------------------------------

    def put(self, key: str, value: CaseValue | None) -> None:
        """A setting of the case; None and "" leave it open."""
        if value is not None and value != "":
            self.case[key] = value

    def usual(self, key: str, value: CaseValue, name: str) -> None:
        """A documented default of the program, where its key `name` is not written."""
        if key not in self.case:
            self.case[key] = value
            self.defaults.append(KeyUse(key=name, value=str(value).lower(), sets=key))

    def lacks(self, *names: str) -> None:
        """Keys that change memory or time in a way that is not modelled."""
        self.not_modelled.update(n for n in names if n in self._values and self.peek(n).lower() not in _AUTO | _NO)

    def note(self, code: str, severity: Severity = Severity.WARNING, **params: str | int | float | None) -> None:
        """Something to know about how it was read."""
        self.notes.append(Finding(code=code, severity=severity, params=params))

    def taken(self, name: str, value: str) -> None:
        """What a key was read as, where that is not what it says."""
        if name in self.used:
            self.used[name] = self.used[name].model_copy(update={"taken": value})

    def left(self, no_effect: Sequence[str]) -> tuple[KeyLeft, ...]:
        """All keys that were not read; `no_effect` are patterns of those that change neither memory nor time."""
        found: list[KeyLeft] = []
        for key in self._values:
            if key in self.used and key not in self.not_modelled:
                continue
            known = key in self.not_modelled
            harmless = not known and any(fnmatch.fnmatchcase(key, pattern) for pattern in no_effect)
            reason = "not_modelled" if known else "no_effect" if harmless else "unknown"
            found.append(KeyLeft(key=key, value=self.peek(key)[:_LONGEST], reason=reason))
        return tuple(found)
