"""Settings of a case: stated, or unknown with their possibilities."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from typing import Any, Literal

from engine.findings import Finding, Severity

__all__ = ["Knobs", "Which"]

Which = Literal["expected", "least", "most"]


class Knobs:
    """Settings of a case: each stated one has a single value, an unknown one its possibilities, least memory first.

    `spread` says of a key whether its possibilities widen the answer; otherwise the usual value is taken.
    """

    def __init__(self, spread: Callable[[str], bool]) -> None:
        self._spread = spread
        self._values: dict[str, tuple[tuple[Any, ...], Any]] = {}
        self.assumed: list[Finding] = []

    def stated(self, key: str, value: Any) -> None:
        """A setting that the case gives, or that follows from what it gives."""
        self._values[key] = ((value,), value)

    def assume(self, key: str, *values: Any, expected: Any = None) -> None:
        """A setting that the case does not give; listed for the reader."""
        usual = values[0] if expected is None else expected
        values = values if self._spread(key) else (usual,)
        self._values[key] = (values, usual)
        if len(values) > 1:
            params: dict[str, str | int | float | None] = {
                "key": key,
                "value": _shown(usual),
                "least": _shown(values[0]),
                "most": _shown(values[-1]),
            }
            self.assumed.append(Finding(code="case.assumed_between", params=params))
        else:
            self.assumed.append(Finding(code="case.assumed", params={"key": key, "value": _shown(usual)}))

    def take(self, key: str, value: Any, *values: Any, expected: Any = None) -> None:
        """`value` if it is given, else the possibilities."""
        if value is None:
            self.assume(key, *values, expected=expected)
        else:
            self.stated(key, value)

    def warn(self, code: str, **params: str | int | float | None) -> None:
        """Something else that the reader should know about how the case was read."""
        self.assumed.append(Finding(code=code, severity=Severity.WARNING, params=params))

    def spreads(self, key: str) -> bool:
        """Whether a setting that is not given takes all its possibilities."""
        return self._spread(key)

    @property
    def certain(self) -> bool:
        """Whether every setting has a single value."""
        return all(len(values) == 1 for values, _ in self._values.values())

    def chosen(self, which: Which) -> dict[str, Any]:
        """One value for each setting."""
        if which == "expected":
            return {k: usual for k, (_, usual) in self._values.items()}
        return {k: values[0 if which == "least" else -1] for k, (values, _) in self._values.items()}

    def known(self, key: str) -> Any:
        """The expected value of a setting."""
        return self._values[key][1]


def _shown(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value.value if isinstance(value, StrEnum) else value)
