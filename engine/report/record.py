"""The record of a report: everything that the answer rests on, as canonical JSON with a hash that a rerun can check."""

from __future__ import annotations

import hashlib
import json
import platform
from datetime import datetime
from typing import Any

import engine
from engine.advice.result import Advice
from engine.scenario import Scenario

__all__ = [
    "canonical_json", "canonical_sha256", "created_here", "report_id", "report_record", "result_sha256",
    "scenario_sha256",
]  # fmt: skip

RECORD_VERSION = 1


def canonical_json(value: object) -> bytes:
    """JSON with sorted keys and no spare spaces: the same value gives the same bytes everywhere."""
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"), allow_nan=False).encode()


def canonical_sha256(value: object) -> str:
    """Hash of a value that JSON can hold."""
    return hashlib.sha256(canonical_json(value)).hexdigest()


def scenario_sha256(scenario: Scenario) -> str:
    """Hash of the stated inputs."""
    return canonical_sha256(scenario.model_dump(mode="json"))


def result_sha256(advice: Advice) -> str:
    """Hash of the answer without wall-clock timings: the same inputs give the same hash on every machine."""
    return canonical_sha256(_result(advice))


def report_id(advice: Advice) -> str:
    """Short name of a report: date of the prices and the beginning of the result's hash."""
    return f"GA-{advice.scenario.as_of:%Y%m%d}-{result_sha256(advice)[:8].upper()}"


def created_here(moment: datetime) -> dict[str, str]:
    """When and on what a record is made: inputs of the record, so that it comes out the same when it is repeated."""
    return {"at": moment.isoformat(timespec="seconds"), "platform": platform.platform()}


def report_record(advice: Advice, created: dict[str, str] | None = None) -> dict[str, Any]:
    """The record: program, catalogue, scenario, result, and the hashes of the last two; `created` as it is given."""
    return {
        "record_version": RECORD_VERSION,
        "report_id": report_id(advice),
        "created": created,
        "program": {"name": "gpu-advisor", "version": engine.__version__},
        "catalog": {"version": advice.catalog_version, "sha256": advice.catalog_sha256},
        "scenario_sha256": scenario_sha256(advice.scenario),
        "result_sha256": result_sha256(advice),
        "result": _result(advice),
    }


def _result(advice: Advice) -> dict[str, Any]:
    result = advice.model_dump(mode="json")
    del result["searched"]["seconds"]
    return result
