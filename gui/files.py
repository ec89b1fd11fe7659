"""What a file is that was dropped or named: a scenario, a model's config, or data. No Qt."""

from __future__ import annotations

import json
from enum import StrEnum
from pathlib import Path

from engine.datasets import DATA_ENDINGS
from engine.inputs import MAX_SCENARIO_BYTES

__all__ = ["FileKind", "kind_of_file"]


class FileKind(StrEnum):
    """What can be done with a file."""

    SCENARIO = "scenario"
    CONFIG = "config"
    DATA = "data"
    UNKNOWN = "unknown"


def kind_of_file(path: Path) -> FileKind:
    """Tell a file by its ending and, for JSON, by what it holds.

    A JSON file that is neither a scenario nor a model's config counts as data if it is a list, and else as a scenario,
    whose reader then says in words what is wrong with it.
    """
    if path.is_dir():
        return FileKind.CONFIG if (path / "config.json").is_file() else FileKind.UNKNOWN
    ending = path.suffix.lower().lstrip(".")
    if ending != "json":
        return FileKind.DATA if ending in DATA_ENDINGS else FileKind.UNKNOWN
    try:
        if path.stat().st_size > MAX_SCENARIO_BYTES:
            return FileKind.DATA
        content = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        return FileKind.SCENARIO
    if isinstance(content, list):
        return FileKind.DATA
    if isinstance(content, dict) and not {"tasks", "schema_version"} & content.keys():
        known = {"model_type", "hidden_size", "architectures", "text_config", "n_embd", "d_model"}
        if known & content.keys():
            return FileKind.CONFIG
    return FileKind.SCENARIO
