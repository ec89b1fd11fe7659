"""Reads the bundled base and the user's own rows, once, into a frozen `CatalogSnapshot`."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from functools import cache
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel

from engine.architecture.model import Architecture
from engine.catalog.columns import BASE_TABLES, LINKS, decode
from engine.catalog.names import gpu_names, model_names
from engine.catalog.user import FIELDS, UserRows, layers_of, user_database_path
from engine.errors import CatalogError
from engine.hardware.model import (
    ApiPrice,
    CatalogSnapshot,
    CostItem,
    ExchangeRate,
    Gpu,
    Offer,
    PurchasePrice,
    System,
)

__all__ = ["load_base", "load_catalog"]

DATABASE = "catalog/catalog.sqlite"
#: SQLite reads strict tables from this version on; some long-lived Linux releases ship an older one.
STRICT_SINCE = (3, 37, 0)
Value = TypeVar("Value", bound=BaseModel)


def load_catalog(user_database: Path | None = None, *, with_user_rows: bool = True) -> CatalogSnapshot:
    """The bundled catalogue with packs, and then the user's own rows, laid over it.

    A user's row wins over a bundled row of the same id and says so (`origin="user"`). `user_database` is the
    file with the user's rows (default: in the platform's data folder); it need not exist.
    Raises `CatalogError` where a database is missing, damaged, locked, or newer than the program.
    """
    base = load_base()
    if not with_user_rows:
        return base
    packs, own = layers_of(user_database or user_database_path())
    for rows in (packs, own):
        if rows.any:
            base = overlay(base, rows)
    return base


def overlay(base: CatalogSnapshot, rows: UserRows) -> CatalogSnapshot:
    """The base with further rows first; bundled rows that they correct are left out."""
    values = {name: getattr(base, name) for name in CatalogSnapshot.model_fields}
    for field in FIELDS.values():
        added = getattr(rows, field)
        if added:
            values[field] = _merged(values[field], added)
    if rows.gpus:
        values["gpu_aliases"] = {**gpu_names(rows.gpus, {}), **base.gpu_aliases}
    if rows.models:
        values["model_aliases"] = {**model_names(rows.models, {}), **base.model_aliases}
    return CatalogSnapshot.model_construct(**values)


def _merged(bundled: tuple[Any, ...], own: tuple[Any, ...]) -> tuple[Any, ...]:
    hidden = {row.id for row in own}
    return (*own, *(row for row in bundled if row.id not in hidden))


def load_base() -> CatalogSnapshot:
    """The bundled catalogue alone; read once per process, since it never changes under a running program."""
    return _read_base()


@cache
def _read_base() -> CatalogSnapshot:
    if sqlite3.sqlite_version_info < STRICT_SINCE:
        from engine.catalog.build import build_in_memory

        with closing(build_in_memory()) as connection:
            connection.row_factory = sqlite3.Row
            return _snapshot(connection)
    with as_file(files("resources") / DATABASE) as path:
        if not path.is_file():
            raise CatalogError("catalog.missing", path=str(path))
        try:
            with closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro&immutable=1", uri=True)) as connection:
                connection.row_factory = sqlite3.Row
                return _snapshot(connection)
        except (sqlite3.DatabaseError, ValueError, KeyError) as error:
            raise CatalogError("catalog.damaged", path=str(path), detail=str(error)) from error


def _snapshot(db: sqlite3.Connection) -> CatalogSnapshot:
    meta = {row["key"]: row["value"] for row in db.execute("SELECT key, value FROM meta")}
    gpus = _rows(db, "gpu", Gpu)
    models = _rows(db, "model", Architecture)
    return CatalogSnapshot.model_construct(
        version=meta["version"],
        sha256=meta["sha256"],
        gpus=gpus,
        systems=_rows(db, "system", System),
        offers=_rows(db, "offer", Offer),
        purchase_prices=_rows(db, "purchase_price", PurchasePrice),
        api_prices=_rows(db, "api_price", ApiPrice),
        cost_items=_rows(db, "cost_item", CostItem),
        exchange_rates=tuple(ExchangeRate.model_validate(_without_source(r)) for r in _read(db, "exchange_rate")),
        models=models,
        gpu_aliases=gpu_names(gpus, _links(db, "gpu_alias")),
        model_aliases=model_names(models, dict(db.execute("SELECT id, model_id FROM model_alias").fetchall())),
    )


def _read(db: sqlite3.Connection, table: str) -> list[dict[str, Any]]:
    assert table in BASE_TABLES
    query = (
        f"SELECT t.*, s.url AS source_url, s.title AS source_title FROM {table} t "
        "JOIN source s ON s.id = t.source_id ORDER BY t.rowid"
    )
    return [dict(row) for row in db.execute(query)]


def _rows(db: sqlite3.Connection, table: str, model: type[Value]) -> tuple[Value, ...]:
    rows = _read(db, table)
    if table in LINKS:
        links = _links(db, table)
        for row in rows:
            row["gpu_ids"] = links[row["id"]]
    return tuple(model.model_validate(decode(row, model)) for row in rows)


def _links(db: sqlite3.Connection, table: str) -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    link = LINKS[table]
    for owner, gpu_id in db.execute(f"SELECT {table}_id, gpu_id FROM {link} ORDER BY {table}_id, position"):
        found[owner] = (*found.get(owner, ()), gpu_id)
    return found


def _without_source(row: dict[str, Any]) -> dict[str, Any]:
    source = " ".join(part for part in (row["source_title"], row["source_url"]) if part)
    return {k: row[k] for k in ("currency", "units_per_usd", "observed_on")} | {"source": source}
