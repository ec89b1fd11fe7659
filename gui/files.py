"""What a file is that was dropped or named: a scenario, a model, a training configuration, or data. No Qt."""

from __future__ import annotations

import json
from enum import StrEnum
from pathlib import Path

from engine.datasets import DATA_ENDINGS, TABLE_ENDINGS
from engine.inputs import MAX_SCENARIO_BYTES
from engine.runs.read import RUN_ENDINGS, looks_like_run

__all__ = ["FileKind", "kind_of_file"]

#: Weights of a model; pickles among them, so that their own words say why they are not opened.
WEIGHT_ENDINGS = ("gguf", "safetensors", "bin", "pt", "pth")


class FileKind(StrEnum):
    """What can be done with a file."""

    SCENARIO = "scenario"
    CONFIG = "config"  # a model: its configuration, its folder, or one of its weight files
    RUN = "run"  # a training configuration, or a script that starts a training
    DATA = "data"
    UNKNOWN = "unknown"


def kind_of_file(path: Path) -> FileKind:
    """Tell a file by its ending and, for JSON, by what it holds.

    A JSON file that is neither a scenario nor a model's config counts as data if it is a list, and else as a scenario,
    whose reader then says in words what is wrong with it.
    """
    if path.is_dir():
        if looks_like_run(path):
            return FileKind.RUN  # an adapter
        inside = (path / "config.json").is_file() or any(path.glob("*.gguf")) or any(path.glob("*.safetensors"))
        return FileKind.CONFIG if inside else FileKind.UNKNOWN
    ending = path.suffix.lower().lstrip(".")
    if ending in WEIGHT_ENDINGS:
        return FileKind.CONFIG
    if ending in RUN_ENDINGS and ending != "json":
        return FileKind.RUN
    if ending != "json":
        return FileKind.DATA if ending in DATA_ENDINGS or ending in TABLE_ENDINGS else FileKind.UNKNOWN
    try:
        if path.stat().st_size > MAX_SCENARIO_BYTES:
            return FileKind.DATA
        content = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        return FileKind.SCENARIO
    if isinstance(content, list):
        return FileKind.DATA
    if isinstance(content, dict) and not {"tasks", "schema_version"} & content.keys():
        known = {"model_type", "hidden_size", "architectures", "text_config", "n_embd", "d_model", "weight_map"}
        if known & content.keys():
            return FileKind.CONFIG
        if looks_like_run(path):
            return FileKind.RUN
    return FileKind.SCENARIO
