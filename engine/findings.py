"""Findings: what the engine has to tell a person, as codes and raw numbers. Words come later."""

from __future__ import annotations

from enum import StrEnum

from pydantic import Field

from engine.quantity import Frozen

__all__ = ["Finding", "Severity"]


class Severity(StrEnum):
    """How much a finding matters."""

    INFO = "info"
    ADVICE = "advice"
    WARNING = "warning"
    SERIOUS = "serious"


class Finding(Frozen):
    """`code` is a key of `engine.messages.TEMPLATES`; `params` are raw values that its template names."""

    code: str
    severity: Severity = Severity.INFO
    params: dict[str, str | int | float | None] = Field(default_factory=dict)
    source: str = ""
