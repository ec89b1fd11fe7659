"""The user's own rows: offers, shared clusters, quotations, cards, machines, models, and corrections of any row."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, fields
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel

from engine.architecture.model import Architecture
from engine.catalog.columns import OWN_KINDS
from engine.catalog.store import (
    Edit,
    Layer,
    Rows,
    apply_edits,
    changes,
    content_of,
    last_copy,
    put_back,
    read_layer,
    read_layers,
    set_aside,
    undo_last,
    user_database_path,
)
from engine.errors import InputError
from engine.hardware.model import ApiPrice, CostItem, Gpu, Offer, PurchasePrice, System
from engine.quantity import Money

__all__ = [
    "FIELDS", "UserRows", "add_offer", "add_purchase_price", "changes", "file_sha256", "kind_of", "last_copy",
    "layers_of", "put_back", "read_user_rows", "remove", "revert", "save", "set_aside", "shared_cluster", "undo_last",
    "user_database_path",
]  # fmt: skip

#: The field of a snapshot (and of `UserRows`) that holds the rows of a kind.
FIELDS: dict[str, str] = {
    "gpu": "gpus",
    "system": "systems",
    "offer": "offers",
    "purchase_price": "purchase_prices",
    "api_price": "api_prices",
    "cost_item": "cost_items",
    "model": "models",
}
#: Quotations are a page or two; a larger file is none.
MAX_QUOTATION_BYTES = 100 * 1024 * 1024
Stored = TypeVar("Stored", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class UserRows:
    """What the user added or corrected, or what packs brought."""

    offers: tuple[Offer, ...] = ()
    purchase_prices: tuple[PurchasePrice, ...] = ()
    gpus: tuple[Gpu, ...] = ()
    systems: tuple[System, ...] = ()
    api_prices: tuple[ApiPrice, ...] = ()
    cost_items: tuple[CostItem, ...] = ()
    models: tuple[Architecture, ...] = ()

    @property
    def any(self) -> bool:
        """Whether there is a row at all."""
        return any(getattr(self, f.name) for f in fields(self))


def _user_rows(rows: Rows) -> UserRows:
    return UserRows(**{FIELDS[kind]: found for kind, found in rows.items()})


def read_user_rows(path: Path) -> UserRows:
    """All rows of the user; none where the file does not exist."""
    return _user_rows(read_layer(path))


def layers_of(path: Path) -> tuple[UserRows, UserRows]:
    """Rows of packs, and rows of the user's own."""
    found = read_layers(path)
    return _user_rows(found["pack"]), _user_rows(found["user"])


def kind_of(row: BaseModel) -> str:
    """The kind of a row."""
    return next(kind for kind, model in OWN_KINDS.items() if type(row) is model)


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


def save(row: Stored, database: Path | None = None, *, layer: Layer = "user") -> Stored:
    """Keep a row, in place of one with the same kind and id; returns it as it will be read.

    A row with the id of a bundled one is a correction: the bundled one is hidden until `revert`.
    """
    own = {"origin": "user"} if "origin" in type(row).model_fields else {}
    saved = type(row).model_validate({**dict(row), **own})
    kind, row_id = kind_of(saved), str(getattr(saved, "id", ""))
    apply_edits([Edit(kind, row_id, content_of(saved, layer), layer)], "edit", row_id, database)
    return saved


def add_offer(offer: Offer, database: Path | None = None) -> Offer:
    """Store an offer of the user's own, in place of one with the same id; returns it as it will be read."""
    return save(offer, database)


def add_purchase_price(price: PurchasePrice, database: Path | None = None) -> PurchasePrice:
    """Store a quotation of the user's own, in place of one with the same id."""
    return save(price, database)


def remove(row_id: str, database: Path | None = None, *, kind: str = "") -> None:
    """Remove one of the user's rows, so that a bundled row of that id is back; bundled rows can't be removed."""
    path = database or user_database_path()
    found = [
        Edit(k, row_id, None)
        for k, rows in read_layer(path).items()
        if kind in ("", k) and any(r.id == row_id for r in rows)
    ]
    if not found:
        raise InputError("catalog.not_yours", id=row_id)
    apply_edits(found, "remove", row_id, path)


def revert(row: Any, database: Path | None = None) -> None:
    """Take back the correction of one row."""
    remove(row.id, database, kind=kind_of(row))


def file_sha256(path: Path) -> str:
    """The hash of a quotation's file, by which one can tell later that it is the same."""
    try:
        if path.stat().st_size > MAX_QUOTATION_BYTES:
            raise InputError("catalog.file_too_large", path=str(path))
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError as error:
        raise InputError("catalog.file_unreadable", path=str(path), detail=error.strerror or str(error)) from error
