"""The model that a person names on the command line: a path, a catalogue name, or a size such as 7B."""

from __future__ import annotations

import difflib
import re
from pathlib import Path

from engine.architecture.checkpoint import ModelFile, read_model
from engine.architecture.model import Architecture
from engine.architecture.readers import from_size
from engine.catalog.load import load_catalog
from engine.errors import InputError

__all__ = ["find_model", "model_file"]

_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*(?:b|B|billion)")
_SIMILAR = 3


def model_file(name: str) -> ModelFile | None:
    """What the file or folder of this path holds; None where there is none."""
    path = Path(name)
    return read_model(path) if path.exists() else None


def find_model(name: str) -> Architecture:
    """Dimensions of the named model; `InputError` with similar names where nothing is found."""
    file = model_file(name)
    if file is not None:
        return file.architecture
    path = Path(name)
    catalog = load_catalog()
    found = catalog.model_by_id.get(name) or catalog.model_by_id.get(catalog.model_aliases.get(name.lower(), ""))
    if found is not None:
        return found
    if path.suffix in (".json", ".gguf", ".safetensors"):
        raise InputError("model.file_not_found", file=name)
    size = _SIZE.fullmatch(name)
    if size:
        return from_size(float(size[1]))
    similar = difflib.get_close_matches(name.lower(), catalog.model_aliases, _SIMILAR, 0.5)
    raise InputError("cli.no_such_model", model=name, similar=", ".join(similar) or "-")
