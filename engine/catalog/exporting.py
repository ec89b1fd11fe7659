"""Rows as a table that a spreadsheet opens and that comes back by import unchanged."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from engine.catalog.columns import OWN_KINDS
from engine.catalog.table_file import table_bytes

__all__ = ["exported_table"]

#: Fields that say nothing to somebody else.
_LEFT_OUT = {"origin", "current", "members_only", "usable_basis", "extra"}


def exported_table(kind: str, rows: Sequence[Any]) -> bytes:
    """All fields of rows of one kind, in the engine's own units, as CSV in UTF-8; no cell runs as a formula."""
    fields = [f for f in OWN_KINDS[kind].model_fields if f not in _LEFT_OUT]
    return table_bytes(fields, [[_text(getattr(row, f)) for f in fields] for row in rows])


def _text(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, tuple):
        return "|".join(str(v) for v in value)
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() and abs(value) < 1e18 else repr(value)
    return str(value)
