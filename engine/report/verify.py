"""Recomputes the record of a report and says what differs: the check that another person can make (rule R15)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, cast

from pydantic import ValidationError

from engine.control import Control
from engine.errors import InputError, WorldError
from engine.hardware.model import CatalogSnapshot
from engine.report.record import RECORD_VERSION, canonical_sha256, report_record
from engine.scenario import Scenario

__all__ = ["DIFFERENCES_KEPT", "Difference", "Verification", "read_record", "verify_record"]

MAX_RECORD_BYTES = 200_000_000
#: Differences that are listed; the rest is counted.
DIFFERENCES_KEPT = 20
#: What a record must hold to be one.
_KEYS = ("record_version", "report_id", "program", "catalog", "scenario_sha256", "result_sha256", "result")


@dataclass(frozen=True, slots=True)
class Difference:
    """One value that is not what the record says. `kind`:

    altered: the record does not match its own hash; environment: another program or catalogue than the record's;
    result: the value comes out differently when it is computed again.
    """

    kind: Literal["altered", "environment", "result"]
    path: str
    recorded: str
    computed: str


@dataclass(frozen=True, slots=True)
class Verification:
    """What the check found; `identical` only where nothing at all differs."""

    report_id: str
    differences: tuple[Difference, ...]
    count: int

    @property
    def identical(self) -> bool:
        """Whether the recomputed record is the recorded one, digit for digit."""
        return self.count == 0


def read_record(path: Path) -> dict[str, Any]:
    """A record file; InputError where it is none, or of a newer kind."""
    try:
        if path.stat().st_size > MAX_RECORD_BYTES:
            raise InputError("report.no_record", path=str(path))
        read: object = json.loads(path.read_bytes())
    except FileNotFoundError as error:
        raise InputError("case.file_not_found", file=str(path)) from error
    except OSError as error:
        raise WorldError("case.unreadable", file=str(path), reason=error.strerror or str(error)) from error
    except (RecursionError, ValueError) as error:
        raise InputError("report.no_record", path=str(path)) from error
    record = cast("dict[str, Any]", read)
    if not isinstance(read, dict) or any(key not in record for key in _KEYS):
        raise InputError("report.no_record", path=str(path))
    if record["record_version"] != RECORD_VERSION:
        raise InputError("report.other_record", path=str(path), version=str(record["record_version"]))
    return record


def verify_record(record: dict[str, Any], catalog: CatalogSnapshot, control: Control | None = None) -> Verification:
    """Check a record against its own hashes, then compute its scenario again and compare every value.

    The moment and the platform of the record are inputs and taken over. InputError where its scenario can't be read.
    """
    from engine.advice.advise import advise

    try:
        scenario = Scenario.model_validate(record["result"]["scenario"])
    except (KeyError, TypeError, ValidationError) as error:
        raise InputError("report.no_scenario") from error
    found = list(_against_own_hashes(record))
    again = report_record(advise(scenario, catalog, control), record.get("created"))
    for path, was, now in _walk(record, again, ""):
        place = path.split(".", 1)[0]
        if place in ("scenario_sha256", "result_sha256", "report_id"):
            continue  # follow from the values below, or were found altered above
        kind = "environment" if place in ("program", "catalog") or path.startswith("result.catalog_") else "result"
        found.append(Difference(kind, path, _short(was), _short(now)))
    if not found and again != record:
        names = ("scenario_sha256", "result_sha256", "report_id")
        found += [Difference("altered", n, _short(record[n]), _short(again[n])) for n in names if record[n] != again[n]]
    return Verification(str(record["report_id"]), tuple(found[:DIFFERENCES_KEPT]), len(found))


def _against_own_hashes(record: dict[str, Any]) -> Iterator[Difference]:
    """Whether anything was changed after the record was written."""
    result = record["result"]
    for name, value in (("result_sha256", result), ("scenario_sha256", result["scenario"])):
        own = canonical_sha256(value)
        if record[name] != own:
            yield Difference("altered", name, _short(record[name]), own)


_MISSING = object()


def _walk(was: Any, now: Any, path: str) -> Iterator[tuple[str, object, object]]:
    """Every leaf that differs, as (path, recorded, computed)."""
    if isinstance(was, dict) and isinstance(now, dict):
        for key in sorted({*was, *now}):
            yield from _walk(was.get(key, _MISSING), now.get(key, _MISSING), f"{path}.{key}" if path else str(key))
    elif isinstance(was, list) and isinstance(now, list):
        for i in range(max(len(was), len(now))):
            left = was[i] if i < len(was) else _MISSING
            right = now[i] if i < len(now) else _MISSING
            yield from _walk(left, right, f"{path}[{i}]")
    elif was is not now and (type(was) is not type(now) or was != now):
        yield path, was, now


def _short(value: object) -> str:
    """A value on one line."""
    if value is _MISSING:
        return "–"
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 120 else text[:119] + "…"
