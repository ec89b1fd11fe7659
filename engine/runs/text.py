"""The settings of a configuration file as text by dotted key: JSON, YAML, bounded in size, depth and number.

YAML is read without its types, so that `1e-4`, `no` and dates stay what was written, nothing is constructed, and the
reader of a setting decides what it means. Aliases are few, and merges are done here, once.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from itertools import count
from typing import Any

import yaml

from engine.errors import InputError

__all__ = ["MAX_RUN_BYTES", "flattened", "parse_table"]

#: A training configuration has a few kilobytes. YAML of this size is read in under a second.
MAX_RUN_BYTES = 100_000
_MOST_SETTINGS, _DEEPEST, _MOST_ALIASES = 4000, 20, 50


def parse_table(content: bytes, file: str) -> Mapping[str, Any]:
    """The table of a JSON or YAML file. `InputError` says what is wrong, with the line where it is known."""
    if len(content) > MAX_RUN_BYTES:
        raise InputError("run.too_large", file=file, limit=MAX_RUN_BYTES)
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError("run.not_text", file=file) from error
    value = _json(text, file) if text.lstrip()[:1] in ("{", "[") else _yaml(text, file)
    if not isinstance(value, Mapping) or not value:
        raise InputError("run.no_settings", file=file)
    return value


def _json(text: str, file: str) -> Any:
    try:
        return json.loads(text)
    except (RecursionError, ValueError) as error:
        if not isinstance(error, json.JSONDecodeError):
            raise InputError("run.not_readable", file=file, line=1) from error
        line = error.lineno
    try:  # YAML's own braces, and JSON with comments or commas at the end
        return _yaml(text, file)
    except InputError as error:
        raise InputError("run.not_readable", file=file, line=line) from error


def _yaml(text: str, file: str) -> Any:
    try:
        aliases = depth = 0
        for event in yaml.parse(text, Loader=yaml.BaseLoader):
            aliases += isinstance(event, yaml.AliasEvent)
            depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
            if aliases > _MOST_ALIASES or depth > _DEEPEST:
                raise InputError("run.too_deep", file=file)
        return yaml.load(text, Loader=yaml.BaseLoader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        raise InputError("run.not_readable", file=file, line=mark.line + 1 if mark else 1) from error
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        raise InputError("run.not_readable", file=file, line=1) from error


def flattened(table: Mapping[str, Any], file: str) -> dict[str, str | tuple[str, ...]]:
    """Values as text by dotted key; lists of plain values as tuples of text, lists of tables by number."""
    found: dict[str, str | tuple[str, ...]] = {}
    for key, value in _walk(table, "", 0, file, count(1)):
        found.setdefault(key, value)
    return found


def _walk(
    value: Any, at: str, depth: int, file: str, visits: Iterator[int]
) -> Iterator[tuple[str, str | tuple[str, ...]]]:
    if depth > _DEEPEST or next(visits) > _MOST_SETTINGS:  # aliases may stand for more than they take in a file
        raise InputError("run.too_deep", file=file)
    if isinstance(value, Mapping):
        items = [(k, v) for k, v in value.items() if k != "<<"]
        merged = value.get("<<")  # what is merged stands behind what is written
        items += [item for one in (merged if isinstance(merged, list) else [merged]) if isinstance(one, Mapping)
                  for item in one.items()]  # fmt: skip
        for key, one in items:
            yield from _walk(one, f"{at}.{_text(key)[:100]}" if at else _text(key)[:100], depth + 1, file, visits)
    elif isinstance(value, list) and any(isinstance(x, Mapping | list) for x in value):
        for number, one in enumerate(value[:_MOST_SETTINGS]):
            yield from _walk(one, f"{at}.{number}", depth + 1, file, visits)
    elif isinstance(value, list):
        yield at, tuple(_text(x)[:200] for x in value[:_MOST_SETTINGS])
    else:
        yield at, _text(value)[:500]


def _text(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int) and abs(value) > 10**20:
        return "1e999"
    text = str(value).strip()
    return "" if text in ("null", "~", "None") else text
