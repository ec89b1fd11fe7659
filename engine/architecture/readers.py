"""Opens what a person points at: a `config.json`, a folder that holds one, or a size alone."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from engine.architecture.config_reader import architecture_from_config
from engine.architecture.model import Architecture
from engine.architecture.size import from_size
from engine.errors import InputError, WorldError

__all__ = ["MAX_CONFIG_BYTES", "from_size", "parsed_json", "read_config"]

#: A configuration is a few kilobytes; anything much larger is another file given by mistake.
MAX_CONFIG_BYTES = 5_000_000


def read_config(source: str | Path | Mapping[str, Any]) -> Architecture:
    """The dimensions in a Hugging Face `config.json`: its path, a folder that holds it, or the parsed table."""
    if isinstance(source, Mapping):
        return architecture_from_config(source, "config.json")
    path = Path(source)
    if path.is_dir():
        if not (path / "config.json").is_file():
            raise InputError("model.no_config_in_folder", file=str(path))
        path = path / "config.json"
    name = path.parent.resolve().name if path.name == "config.json" else path.stem
    return architecture_from_config(parsed_json(path), str(path), name=name)


def parsed_json(path: Path, limit: int = MAX_CONFIG_BYTES) -> Mapping[str, Any]:
    """The JSON object of a file of at most `limit` bytes; `InputError` says what is wrong with it."""
    try:
        size = path.stat().st_size
        if size > limit:
            raise InputError("model.file_too_large", file=str(path), size=size, limit=limit)
        text = path.read_bytes().decode("utf-8-sig")
    except (FileNotFoundError, NotADirectoryError) as error:
        raise InputError("model.file_not_found", file=str(path)) from error
    except UnicodeDecodeError as error:
        raise InputError("model.not_text", file=str(path)) from error
    except OSError as error:
        raise WorldError("model.unreadable", file=str(path), reason=error.strerror or str(error)) from error
    try:
        value = json.loads(text)
    except json.JSONDecodeError as error:
        raise InputError("model.not_json", file=str(path), line=error.lineno, column=error.colno) from error
    except (RecursionError, ValueError) as error:  # thousands of brackets, or a number of thousands of digits
        raise InputError("model.not_json", file=str(path), line=1, column=1) from error
    if not isinstance(value, dict):
        raise InputError("model.not_json", file=str(path), line=1, column=1)
    return value
