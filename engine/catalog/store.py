"""The file of the user's own rows: rows in two layers, and the changes that can be undone.

The file lives in the platform's data folder (or in the folder that GPU_ADVISOR_DATA names), so that an update of
the program never touches it. Every write is one transaction: a killed program leaves the old rows or the new ones.
Layer "pack" holds rows of catalogue updates, layer "user" the user's own; the latter win.
"""

from __future__ import annotations

import gc
import json
import os
import sqlite3
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any, Literal, TypeAlias

import platformdirs
from pydantic import BaseModel, TypeAdapter, ValidationError

from engine.catalog.columns import OWN_KINDS, USER_SET, USER_STEPS
from engine.errors import CatalogError, InputError

__all__ = [
    "Action", "Change", "Edit", "Layer", "apply_edits", "changes", "content_of", "last_copy", "put_back", "read_layer",
    "read_layers", "set_aside", "undo_last", "user_database_path",
]  # fmt: skip

Layer: TypeAlias = Literal["pack", "user"]
Action: TypeAlias = Literal["add", "edit", "remove", "import", "pack", "revert"]
Rows: TypeAlias = dict[str, tuple[Any, ...]]

#: How long a write waits for another window of the program, in seconds.
BUSY_SECONDS = 3.0
#: Changes that can be undone, one after the other; what is older is forgotten so that the file does not grow for ever.
KEPT_CHANGES = 30
#: Changes of at least so many rows leave a copy of the file as it was, beside it.
COPY_FROM_ROWS = 20


@dataclass(frozen=True, slots=True)
class Edit:
    """One row to write; `content` None takes it away."""

    kind: str
    id: str
    content: str | None
    layer: Layer = "user"


@dataclass(frozen=True, slots=True)
class Change:
    """A change that was made and can be undone."""

    number: int
    at: datetime
    action: str
    title: str
    rows: int
    before: tuple[Edit, ...] = field(repr=False)


def user_database_path() -> Path:
    """The file with the user's rows; it need not exist."""
    folder = os.environ.get("GPU_ADVISOR_DATA") or platformdirs.user_data_dir("gpu-advisor", appauthor=False)
    return Path(folder) / "user.sqlite"


def content_of(row: BaseModel, layer: Layer = "user") -> str:
    """A row as the file holds it: what differs from its defaults, and whose it is."""
    content = row.model_dump(mode="json", exclude_defaults=True)
    if "origin" in type(row).model_fields:
        content["origin"] = "user" if layer == "user" else "catalog"
    return json.dumps(content, ensure_ascii=False)


# reading --------------------------------------------------------------------------------------------------------


@cache
def _reader(kind: str) -> TypeAdapter[tuple[Any, ...]]:
    return TypeAdapter(tuple[OWN_KINDS[kind], ...])  # pyright: ignore[reportInvalidTypeForm]


def read_layer(path: Path, layer: Layer = "user") -> Rows:
    """Rows of one layer by kind, in the order in which they were written."""
    return read_layers(path)[layer]


def read_layers(path: Path) -> dict[Layer, Rows]:
    """All rows of the file; none where it does not exist."""
    found: dict[Layer, dict[str, list[str]]] = {"pack": {}, "user": {}}
    if path.is_file():
        with _explained(path):
            connection = sqlite3.connect(f"{path.resolve().as_uri()}?mode=rw", uri=True, timeout=BUSY_SECONDS)
            try:
                if _pending(connection, path):
                    connection.close()
                    write(path, lambda _db: None)
                    return read_layers(path)
                for layer, kind, content in connection.execute(
                    "SELECT layer, kind, content FROM own_row ORDER BY rowid"
                ):
                    found[layer].setdefault(kind, []).append(content)
            except KeyError as error:
                raise CatalogError("catalog.user_damaged", path=str(path), detail=str(error)) from error
            finally:
                connection.close()
    return {layer: _read_kinds(kinds, path) for layer, kinds in found.items()}


def _read_kinds(contents: dict[str, list[str]], path: Path) -> Rows:
    if contents.keys() - OWN_KINDS.keys():
        kinds = ", ".join(sorted(contents.keys() - OWN_KINDS.keys()))
        raise CatalogError("catalog.user_damaged", path=str(path), detail=kinds)
    # objects without cycles, made by the hundred thousand: looking for cycles meanwhile costs a third of the time
    collecting = gc.isenabled()
    gc.disable()
    try:
        return {kind: _reader(kind).validate_json(f"[{','.join(texts)}]") for kind, texts in contents.items()}
    except ValidationError as error:
        detail = "; ".join(f"{'.'.join(map(str, e['loc']))}: {e['msg']}" for e in error.errors()[:3])
        raise CatalogError("catalog.user_damaged", path=str(path), detail=detail) from error
    finally:
        if collecting:
            gc.enable()


def changes(path: Path | None = None) -> tuple[Change, ...]:
    """What can be undone, the latest first."""
    path = path or user_database_path()
    if not path.is_file():
        return ()
    read_layers(path)  # brings the file up to date, and refuses one that can't be used
    with _explained(path):
        connection = sqlite3.connect(path, timeout=BUSY_SECONDS)
        try:
            rows = connection.execute("SELECT number, at, action, title, before FROM change ORDER BY number DESC")
            return tuple(_change(*row) for row in rows)
        finally:
            connection.close()


def _change(number: int, at: str, action: str, title: str, before: str) -> Change:
    edits = tuple(Edit(kind, row_id, content, layer) for layer, kind, row_id, content in json.loads(before))
    return Change(number, datetime.fromisoformat(at), action, title, len(edits), edits)


# writing --------------------------------------------------------------------------------------------------------


def apply_edits(edits: Sequence[Edit], action: Action, title: str, path: Path | None = None) -> None:
    """Write all rows or none, and remember what stood there."""
    path = path or user_database_path()
    if len(edits) >= COPY_FROM_ROWS and path.is_file():
        _keep_copy(path)

    def work(db: Any) -> None:
        before = [[e.layer, e.kind, e.id, _content(db.conn, e)] for e in edits]
        _put(db.conn, edits)
        db.conn.execute(
            "INSERT INTO change (at, action, title, before) VALUES (?, ?, ?, ?)",
            [datetime.now(UTC).isoformat(), action, title, json.dumps(before, ensure_ascii=False)],
        )
        db.conn.execute(
            "DELETE FROM change WHERE number NOT IN (SELECT number FROM change ORDER BY number DESC LIMIT ?)",
            [KEPT_CHANGES],
        )

    write(path, work)


def undo_last(path: Path | None = None) -> Change:
    """Put back what stood there before the latest change; `InputError` where there is none."""
    path = path or user_database_path()
    latest = next(iter(changes(path)), None)
    if latest is None:
        raise InputError("catalog.nothing_to_undo")

    def work(db: Any) -> None:
        _put(db.conn, latest.before)
        db.conn.execute("DELETE FROM change WHERE number = ?", [latest.number])

    write(path, work)
    return latest


def _content(connection: sqlite3.Connection, edit: Edit) -> str | None:
    query = "SELECT content FROM own_row WHERE layer = ? AND kind = ? AND id = ?"
    found = connection.execute(query, [edit.layer, edit.kind, edit.id]).fetchone()
    return found[0] if found else None


def _put(connection: sqlite3.Connection, edits: Iterable[Edit]) -> None:
    for edit in edits:
        key = [edit.layer, edit.kind, edit.id]
        connection.execute("DELETE FROM own_row WHERE layer = ? AND kind = ? AND id = ?", key)
        if edit.content is not None:
            connection.execute(
                "INSERT INTO own_row (layer, kind, id, content) VALUES (?, ?, ?, ?)", [*key, edit.content]
            )


def _pending(connection: sqlite3.Connection, path: Path) -> bool:
    """Whether the file is older than the program; one that is newer is refused."""
    exists = connection.execute("SELECT 1 FROM sqlite_master WHERE name = '_sqlite_migrations'").fetchone()
    query = "SELECT name FROM _sqlite_migrations WHERE migration_set = ? ORDER BY rowid"
    applied = tuple(row[0] for row in connection.execute(query, [USER_SET])) if exists else ()
    if set(applied) - set(USER_STEPS):
        raise CatalogError("catalog.user_newer", path=str(path))
    return applied != USER_STEPS


def write(path: Path, work: Callable[[Any], None]) -> None:
    """Run one write in one transaction, after bringing the file up to date."""
    from sqlite_utils import Database

    from engine.catalog.schema import USER

    with _explained(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        connection = sqlite3.connect(path, timeout=BUSY_SECONDS)
        try:
            if _pending(connection, path):
                USER.apply(Database(connection))
            db = Database(connection)
            with db.atomic():
                work(db)
        finally:
            connection.close()


@contextmanager
def _explained(path: Path) -> Generator[None]:
    """Turn what SQLite and the disk say into errors that tell what happened."""
    try:
        yield
    except sqlite3.OperationalError as error:
        text = str(error)
        if "locked" in text or "busy" in text:
            raise CatalogError("catalog.user_locked", path=str(path)) from error
        if "full" in text:
            raise CatalogError("catalog.user_full", path=str(path)) from error
        raise CatalogError("catalog.user_unwritable", path=str(path), detail=text) from error
    except sqlite3.DatabaseError as error:
        raise CatalogError("catalog.user_damaged", path=str(path), detail=str(error)) from error
    except OSError as error:
        raise CatalogError("catalog.user_unwritable", path=str(path), detail=str(error)) from error


# copies ---------------------------------------------------------------------------------------------------------


def last_copy(path: Path | None = None) -> Path | None:
    """The copy that the last large change left, if there is one."""
    path = path or user_database_path()
    copy = path.with_name(f"{path.stem}-before{path.suffix}")
    return copy if copy.is_file() else None


def _keep_copy(path: Path) -> None:
    """Copy the file, whole, as SQLite sees it; the earlier copy stays until the new one is complete."""
    copy = path.with_name(f"{path.stem}-before{path.suffix}")
    fresh = copy.with_suffix(".new")
    with _explained(path):
        fresh.unlink(missing_ok=True)
        source, target = sqlite3.connect(path, timeout=BUSY_SECONDS), sqlite3.connect(fresh)
        try:
            source.backup(target)
        finally:
            target.close()
            source.close()
        fresh.replace(copy)


def set_aside(database: Path | None = None) -> Path | None:
    """Rename a database that can't be used, so that a fresh one can begin; nothing is deleted. None: there is none."""
    path = database or user_database_path()
    if not path.exists():
        return None
    stamp = datetime.now(UTC).strftime("%Y%m%d-%H%M%S")
    target = path.with_name(f"{path.stem}-set-aside-{stamp}{path.suffix}")
    number = 1
    while target.exists():
        number += 1
        target = path.with_name(f"{path.stem}-set-aside-{stamp}-{number}{path.suffix}")
    with _explained(path):
        path.rename(target)
    return target


def put_back(database: Path | None = None) -> Path | None:
    """Set the present file aside and use the copy before the last large change; gives the file set aside."""
    path = database or user_database_path()
    copy = last_copy(path)
    if copy is None:
        raise InputError("catalog.no_copy")
    aside = set_aside(path)
    with _explained(path):
        copy.rename(path)
    return aside
