"""Tables as bytes or pasted text: encoding, separator, cells. Bounded in time and memory, whatever the file is."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from engine.catalog.values import plain
from engine.errors import InputError

__all__ = ["Table", "read_table", "safe_cell", "table_bytes", "table_of"]

MAX_BYTES = 64 * 1024 * 1024
MAX_COLUMNS = 200
MAX_ROWS = 200_000
MAX_CELL = 20_000
_SEPARATORS = ("\t", ",", ";", "|", "，", "；")
#: What a Chinese table holds beside ASCII; other characters say that the bytes are in another encoding.
_EXPECTED_IN_CHINESE = re.compile(
    r"[\x00-\x7f\u00a0-\u00b7\u00d7\u2000-\u206f\u20ac\u2160-\u217f\u2190-\u22ff\u2460-\u24ff\u3000-\u303f"
    r"\u4e00-\u9fff\uff00-\uffef]*"
)
#: Beginnings of cells that a spreadsheet would run as a formula.
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


@dataclass(frozen=True, slots=True)
class Table:
    """A table's head and rows, each with its line number, and how it was written."""

    head: tuple[str, ...]
    rows: tuple[tuple[int, tuple[str, ...]], ...]
    encoding: str
    separator: str


def read_table(path: Path, known: Collection[str]) -> Table:
    """Read a file; `known` are the names of columns (lower case) by which the separator is told."""
    try:
        with path.open("rb") as stream:
            content = stream.read(MAX_BYTES + 1)
    except OSError as error:
        raise InputError("import.unreadable", path=str(path), detail=error.strerror or str(error)) from error
    if len(content) > MAX_BYTES:
        raise InputError("import.too_large", limit=MAX_BYTES // 2**20)
    text, encoding = _decoded(content)
    return table_of(text, known, encoding)


def _decoded(content: bytes) -> tuple[str, str]:
    """Text and the name of its encoding: by its mark, else UTF-8, UTF-16 by its zeros, GB18030."""
    for mark, name in ((b"\xef\xbb\xbf", "utf-8-sig"), (b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16")):
        if content.startswith(mark):
            return _tried(content, name), name.removesuffix("-sig")
    head = content[:4000]
    if b"\x00" in head:
        name = "utf-16-le" if head[1::2].count(0) > head[::2].count(0) else "utf-16-be"
        return _tried(content, name), name
    try:
        return content.decode("utf-8"), "utf-8"
    except UnicodeDecodeError:
        text = _tried(content, "gb18030")
    if not _EXPECTED_IN_CHINESE.fullmatch(text) or re.search(r"[a-z][\u4e00-\u9fff][a-z ,;]", text):
        raise InputError("import.encoding")  # a word with one Chinese sign in it: another encoding's accent
    return text, "gb18030"


def _tried(content: bytes, name: str) -> str:
    try:
        text = content.decode(name)
    except UnicodeDecodeError as error:
        raise InputError("import.encoding") from error
    if "\x00" in text:
        raise InputError("import.encoding")
    return text


def table_of(text: str, known: Collection[str], encoding: str = "text") -> Table:
    """A table from text, as it is pasted from a spreadsheet or read from a file."""
    text = text.lstrip("\ufeff").lstrip("\r\n")
    if "\x00" in text:
        raise InputError("import.encoding")
    if len(text) > MAX_BYTES:
        raise InputError("import.too_large", limit=MAX_BYTES // 2**20)
    end = re.search(r"[\r\n]", text)
    first = text[: end.start()] if end else text
    if max(first.count(s) for s in _SEPARATORS) >= MAX_COLUMNS:
        raise InputError("import.too_many_columns", limit=MAX_COLUMNS)
    separator = max(_SEPARATORS, key=lambda s: (_known(first, s, known), first.count(s)))
    rows = _cells(text, separator)
    if len(rows) < 2:
        raise InputError("import.empty")
    return Table(tuple(c.strip() for c in rows[0][1]), tuple(rows[1:]), encoding, separator)


def _cells(text: str, separator: str) -> list[tuple[int, tuple[str, ...]]]:
    rows: list[tuple[int, tuple[str, ...]]] = []
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=False)
    try:
        for cells in reader:
            if len(cells) > MAX_COLUMNS:
                raise InputError("import.too_many_columns", limit=MAX_COLUMNS)
            if not any(c.strip() for c in cells):
                continue
            if len(rows) > MAX_ROWS:
                raise InputError("import.too_many_rows", limit=MAX_ROWS)
            if any(len(c) > MAX_CELL for c in cells):
                raise InputError("import.long_cell", line=reader.line_num, limit=MAX_CELL)
            rows.append((reader.line_num, tuple(cells)))
    except csv.Error as error:
        raise InputError("import.broken_table", line=reader.line_num, detail=str(error)) from error
    return rows


def _known(line: str, separator: str, known: Collection[str]) -> int:
    cells = next(csv.reader([line], delimiter=separator), [])
    return sum(plain(c).lower() in known for c in cells)


def safe_cell(text: str) -> str:
    """A cell that no spreadsheet runs as a formula; reading it back gives the text again."""
    return f"'{text}" if text.lstrip("'").startswith(_FORMULA) else text


def table_bytes(head: Sequence[str], rows: Iterable[Sequence[str]]) -> bytes:
    """A table as UTF-8 with the mark by which spreadsheets know it."""
    stream = io.StringIO(newline="")
    writer = csv.writer(stream, lineterminator="\r\n")
    writer.writerow(head)
    writer.writerows([safe_cell(cell) for cell in row] for row in rows)
    return stream.getvalue().encode("utf-8-sig")
