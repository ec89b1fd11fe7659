"""Reads files of cases: CSV with a header, traced or measured, told apart by their columns (cases.md §3)."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Literal, TypeAlias

from engine.errors import InputError, WorldError

__all__ = ["MAX_BYTES", "FileFormat", "Row", "read_rows"]

#: The largest file of cases that is read; a million rows are a mistake.
MAX_BYTES = 100_000_000
FileFormat = Literal["traced", "measured"]
Row: TypeAlias = dict[str, str]


def read_rows(path: Path) -> tuple[FileFormat, list[Row]]:
    """Format and rows of a file. `InputError` where it is neither kind of file, empty, or not text."""
    reader = csv.DictReader(io.StringIO(read_text(path), newline=""), strict=True)
    try:
        columns = set(reader.fieldnames or ())
        rows = [{k: v or "" for k, v in row.items() if k is not None} for row in reader]  # type: ignore[redundant-expr]
    except csv.Error as error:
        raise InputError("validate.unknown_columns", file=str(path)) from error
    if "case_id" in columns:
        kind: FileFormat = "traced"
    elif {"id", "kind"} <= columns:
        kind = "measured"
    else:
        raise InputError("validate.unknown_columns", file=str(path))
    if not rows:
        raise InputError("validate.empty", file=str(path))
    return kind, rows


def read_text(path: Path, limit: int = MAX_BYTES) -> str:
    """The text of a file that a person named."""
    try:
        size = path.stat().st_size
        if size > limit:
            raise InputError("case.file_too_large", file=str(path), size=size, limit=limit)
        return path.read_bytes().decode("utf-8-sig")
    except (FileNotFoundError, NotADirectoryError) as error:
        raise InputError("case.file_not_found", file=str(path)) from error
    except UnicodeDecodeError as error:
        raise InputError("case.not_text", file=str(path)) from error
    except OSError as error:
        raise WorldError("case.unreadable", file=str(path), reason=error.strerror or str(error)) from error
