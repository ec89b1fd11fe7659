"""The model that a person names on the command line: a path, a catalogue name, or a size such as 7B."""

from __future__ import annotations

import difflib
import re
from pathlib import Path

from engine.architecture.model import Architecture
from engine.architecture.readers import from_size, read_config
from engine.catalog.load import load_catalog
from engine.errors import InputError

__all__ = ["find_model"]

_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*(?:b|B|billion)")
_SIMILAR = 3


def find_model(name: str) -> Architecture:
    """Dimensions of the named model; `InputError` with similar names where nothing is found."""
    path = Path(name)
    if path.exists():
        return read_config(path)
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
