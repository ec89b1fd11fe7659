"""The user's own rows: offers, shared clusters and quotations, in a small database of their own.

The file lives in the platform's data folder (or in the folder that GPU_ADVISOR_DATA names), so that an update of
the program never touches it. Every write is one transaction: a killed program leaves the old rows or the new ones.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any, TypeVar

import platformdirs
from pydantic import ValidationError

from engine.catalog.columns import USER_SET, USER_STEPS, USER_TABLES, decode, encode
from engine.errors import CatalogError, InputError
from engine.hardware.model import Offer, PurchasePrice
from engine.quantity import Money

__all__ = [
    "UserRows",
    "add_offer",
    "add_purchase_price",
    "read_user_rows",
    "remove",
    "set_aside",
    "shared_cluster",
    "user_database_path",
]

#: How long a write waits for another window of the program, in seconds.
BUSY_SECONDS = 3.0
Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class UserRows:
    """What the user added."""

    offers: tuple[Offer, ...] = ()
    purchase_prices: tuple[PurchasePrice, ...] = ()


def user_database_path() -> Path:
    """The file with the user's rows; it need not exist."""
    folder = os.environ.get("GPU_ADVISOR_DATA") or platformdirs.user_data_dir("gpu-advisor", appauthor=False)
    return Path(folder) / "user.sqlite"


def shared_cluster(
    name: str,
    gpu_ids: tuple[str, ...],
    price: Money,
    *,
    queue_days: float = 0.0,
    max_gpus: int | None = None,
    country: str = "",
    observed_on: date | None = None,
    notes: str = "",
) -> Offer:
    """A campus or company cluster: `price` per card-hour (0 = free), usual wait in days, cards one may use."""
    return Offer(
        id=f"user.shared.{_slug(name)}.{gpu_ids[0]}",
        provider=name,
        provider_kind="shared",
        gpu_ids=gpu_ids,
        country=country,
        price_per_gpu_hour=price.amount,
        currency=price.currency,
        term="shared",
        observed_on=observed_on or datetime.now(UTC).date(),
        queue_days=queue_days,
        max_gpus=max_gpus,
        source_title=name,
        confidence="high",
        notes=notes,
        origin="user",
    )


def _slug(text: str) -> str:
    return "-".join("".join(c if c.isalnum() else " " for c in text.lower()).split())


def add_offer(offer: Offer, database: Path | None = None) -> Offer:
    """Store an offer of the user's own, in place of one with the same id; returns it as it will be read."""
    return _store("offer", offer, database)


def add_purchase_price(price: PurchasePrice, database: Path | None = None) -> PurchasePrice:
    """Store a quotation of the user's own, in place of one with the same id."""
    return _store("purchase_price", price, database)


Stored = TypeVar("Stored", Offer, PurchasePrice)


def _store(table: str, row: Stored, database: Path | None) -> Stored:
    own = type(row).model_validate({**row.model_dump(), "origin": "user"})

    def write(db: Any) -> None:
        columns = db.table(table).columns_dict
        db.table(table).insert({name: encode(getattr(own, name)) for name in columns}, replace=True)

    _write(database or user_database_path(), write)
    return own


def remove(row_id: str, database: Path | None = None) -> None:
    """Remove one of the user's rows; bundled rows can't be removed."""
    path = database or user_database_path()
    if row_id not in {r.id for rows in _tuples(read_user_rows(path)) for r in rows}:
        raise InputError("catalog.not_yours", id=row_id)

    def write(db: Any) -> None:
        for table in USER_TABLES:
            db.table(table).delete_where("id = ?", [row_id])

    _write(path, write)


def _tuples(rows: UserRows) -> tuple[tuple[Offer, ...], tuple[PurchasePrice, ...]]:
    return rows.offers, rows.purchase_prices


def read_user_rows(path: Path) -> UserRows:
    """All rows of the user; none where the file does not exist."""
    if not path.is_file():
        return UserRows()
    with _explained(path):
        connection = sqlite3.connect(f"{path.resolve().as_uri()}?mode=rw", uri=True, timeout=BUSY_SECONDS)
        try:
            connection.row_factory = sqlite3.Row
            if _pending(connection, path):
                connection.close()
                _write(path, lambda _db: None)
                return read_user_rows(path)
            tables = {
                t: [dict(r) for r in connection.execute(f"SELECT * FROM {t} ORDER BY rowid")] for t in USER_TABLES
            }
        finally:
            connection.close()
    return UserRows(
        offers=tuple(_own(Offer, row, path) for row in tables["offer"]),
        purchase_prices=tuple(_own(PurchasePrice, row, path) for row in tables["purchase_price"]),
    )


def _own(model: type[Stored], row: dict[str, Any], path: Path) -> Stored:
    filled = {k: v for k, v in decode(row, model).items() if v is not None}
    try:
        return model.model_validate({**filled, "origin": "user"})
    except ValidationError as error:
        raise CatalogError("catalog.user_damaged", path=str(path), detail=f"{row.get('id')}: {error}") from error


def _pending(connection: sqlite3.Connection, path: Path) -> bool:
    """Whether the file is older than the program; one that is newer is refused."""
    exists = connection.execute("SELECT 1 FROM sqlite_master WHERE name = '_sqlite_migrations'").fetchone()
    query = "SELECT name FROM _sqlite_migrations WHERE migration_set = ? ORDER BY rowid"
    applied = tuple(row[0] for row in connection.execute(query, [USER_SET])) if exists else ()
    if set(applied) - set(USER_STEPS):
        raise CatalogError("catalog.user_newer", path=str(path))
    return applied != USER_STEPS


def _write(path: Path, write: Callable[[Any], None]) -> None:
    """Run one write in one transaction, after bringing the file up to date."""
    from sqlite_utils import Database

    from engine.catalog.schema import USER

    with _explained(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        connection = sqlite3.connect(path, timeout=BUSY_SECONDS)
        try:
            _pending(connection, path)
            db = Database(connection)
            USER.apply(db)
            with db.atomic():
                write(db)
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
        raise CatalogError("catalog.user_unwritable", path=str(path), detail=text) from error
    except sqlite3.DatabaseError as error:
        raise CatalogError("catalog.user_damaged", path=str(path), detail=str(error)) from error
    except OSError as error:
        raise CatalogError("catalog.user_unwritable", path=str(path), detail=str(error)) from error


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
