"""What is wrong with an input, as codes; and scenario files, read and written.

pydantic says what is wrong by `type` and `ctx`; its English sentences are never shown. Words: `engine.messages.inputs`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from engine.errors import InputError, WorldError
from engine.files import write_atomically
from engine.scenario import SCHEMA_VERSION, Scenario

__all__ = [
    "MAX_SCENARIO_BYTES",
    "InputProblem",
    "parse_scenario",
    "problems_of",
    "read_bounded",
    "read_scenario",
    "scenario_json",
    "write_scenario",
]

#: A scenario is some kilobytes; with hundreds of offers of one's own it stays far below this.
MAX_SCENARIO_BYTES = 5_000_000

#: pydantic's error type -> our code and the key of its limit in `ctx`
_CODES: dict[str, tuple[str, str]] = {
    "missing": ("input.missing", ""),
    "greater_than": ("input.greater_than", "gt"),
    "greater_than_equal": ("input.at_least", "ge"),
    "less_than": ("input.less_than", "lt"),
    "less_than_equal": ("input.at_most", "le"),
    "too_short": ("input.too_few", "min_length"),
    "int_from_float": ("input.not_whole", ""),
    "string_pattern_mismatch": ("input.currency", ""),
    "extra_forbidden": ("input.unknown_field", ""),
}
_NUMBERS = (
    "int_type",
    "int_parsing",
    "float_type",
    "float_parsing",
    "decimal_type",
    "decimal_parsing",
    "finite_number",
)
_DATES = ("date_type", "date_parsing", "date_from_datetime_parsing", "date_from_datetime_inexact")
_CHOICES = ("literal_error", "enum", "union_tag_invalid", "union_tag_not_found", "bool_type", "bool_parsing")
_GROUPS = ((_NUMBERS, "input.not_a_number"), (_DATES, "input.not_a_date"), (_CHOICES, "input.not_a_choice"))


@dataclass(frozen=True, slots=True)
class InputProblem:
    """One thing that is wrong: where (`location`), what (`code`, `params` of its template)."""

    location: tuple[str | int, ...]
    code: str
    params: Mapping[str, object] = field(default_factory=dict)
    value: object = None


def problems_of(error: ValidationError) -> tuple[InputProblem, ...]:
    """All that a validation found, in our codes."""
    return tuple(_problem(item) for item in error.errors(include_url=False))


def _shown(value: object) -> str:
    """The start of a wrong value, short enough for a sentence."""
    text = str(value)
    return text if len(text) <= 60 else text[:59] + "…"


def _problem(item: ErrorDetails) -> InputProblem:
    location, value = tuple(item["loc"]), item.get("input")
    kind = item["type"]
    context: Mapping[str, Any] = item.get("ctx", {})
    if kind in _CODES:
        code, limit = _CODES[kind]
        return InputProblem(location, code, {"limit": float(context[limit])} if limit else {}, value)
    code = next((code for kinds, code in _GROUPS if kind in kinds), "input.unusable")
    return InputProblem(location, code, value=value)


def read_bounded(path: Path, *, limit_bytes: int) -> bytes:
    """The content of a file that a person chose, refused beyond `limit_bytes`.

    A missing or oversized file is an `InputError`; one that the system won't give is a `WorldError`.
    """
    try:
        with path.open("rb") as stream:
            content = stream.read(limit_bytes + 1)
    except (FileNotFoundError, IsADirectoryError) as error:
        raise InputError("input.file_missing", path=str(path)) from error
    except OSError as error:
        raise WorldError("input.file_unreadable", path=str(path), reason=error.strerror or str(error)) from error
    if len(content) > limit_bytes:
        raise InputError("input.file_too_large", path=str(path), limit=limit_bytes)
    return content


def parse_scenario(content: bytes, *, file: str) -> Scenario:
    """The scenario of a file's content; `file` is its name, for the words of an error.

    Newer formats are refused; older ones are migrated (format 1 is the first).
    """
    try:
        raw = json.loads(content)
    except (RecursionError, ValueError) as error:  # thousands of brackets are no scenario
        raise InputError("scenario.not_json", file=file, line=getattr(error, "lineno", 1)) from error
    if not isinstance(raw, dict):
        raise InputError("scenario.not_an_object", file=file)
    version = raw.get("schema_version")
    if version is None and "tasks" not in raw:
        raise InputError("scenario.not_a_scenario", file=file)
    if isinstance(version, int) and version > SCHEMA_VERSION:
        raise InputError("scenario.newer", file=file, found=version, known=SCHEMA_VERSION)
    try:
        return Scenario.model_validate(raw)
    except ValidationError as error:
        first = problems_of(error)[0]
        where = ".".join(str(part) for part in first.location)
        raise InputError(
            "scenario.invalid", file=file, field=where, value=_shown(first.value), reason=f"reason.{first.code}"
        ) from error


def read_scenario(path: Path) -> Scenario:
    """The scenario of a file."""
    return parse_scenario(read_bounded(path, limit_bytes=MAX_SCENARIO_BYTES), file=path.name)


def scenario_json(scenario: Scenario) -> bytes:
    """A scenario as the text of its file."""
    return (scenario.model_dump_json(indent=2) + "\n").encode()


def write_scenario(path: Path, scenario: Scenario) -> None:
    """Save a scenario."""
    write_atomically(path, scenario_json(scenario))
