"""Looking things up in a snapshot by what a person types."""

from __future__ import annotations

import difflib
from typing import TypeAlias

from pydantic import BaseModel

from engine.architecture.model import Architecture
from engine.errors import InputError
from engine.hardware.model import (
    ApiPrice,
    CatalogSnapshot,
    CostItem,
    Gpu,
    Offer,
    PurchasePrice,
    System,
)

__all__ = ["KINDS", "Entry", "find_gpus", "find_rows", "rows_of"]

Entry: TypeAlias = Gpu | System | Offer | PurchasePrice | ApiPrice | CostItem | Architecture
#: What can be listed, and the field of the snapshot that holds it.
KINDS: dict[str, str] = {
    "gpus": "gpus",
    "systems": "systems",
    "offers": "offers",
    "models": "models",
    "prices": "purchase_prices",
    "costs": "cost_items",
    "api": "api_prices",
}
#: Fields that a filter looks into.
_SEARCHED = ("id", "name", "aliases", "vendor", "maker", "gpu_id", "gpu_ids", "provider", "product", "region",
             "country", "term", "item", "kind", "family", "model", "seller", "currency")  # fmt: skip
#: How many similar names an error message suggests.
SUGGESTIONS = 5


def rows_of(catalog: CatalogSnapshot, kind: str, text: str = "", *, history: bool = False) -> tuple[Entry, ...]:
    """Rows of one kind whose id or names hold every word of `text`.

    Offers: only current ones that anybody may take, unless `history` asks for all.
    """
    rows: tuple[Entry, ...] = getattr(catalog, KINDS[kind])
    if kind == "offers" and not history:
        rows = tuple(r for r in rows if isinstance(r, Offer) and r.current and not r.members_only)
    words = text.lower().split()
    return tuple(row for row in rows if all(w in _haystack(row) for w in words)) if words else rows


def _haystack(row: BaseModel) -> str:
    return " ".join(str(getattr(row, name, "")) for name in _SEARCHED).lower()


def find_gpus(catalog: CatalogSnapshot, name: str) -> tuple[Gpu, ...]:
    """Cards that a name stands for, slowest first; an unknown name is an `InputError` with similar names."""
    ids = catalog.gpu_aliases.get(" ".join(name.lower().split()))
    if not ids:
        similar = difflib.get_close_matches(name.lower(), catalog.gpu_aliases, SUGGESTIONS, 0.5)
        raise InputError("catalog.unknown_gpu", name=name, similar=", ".join(similar) or "-")
    return tuple(catalog.gpu_by_id[i] for i in ids)


def find_rows(catalog: CatalogSnapshot, name: str) -> tuple[Entry, ...]:
    """Everything that has this id, or the cards or the model of this name; nothing found is an `InputError`."""
    found: list[Entry] = [row for kind in KINDS for row in rows_of(catalog, kind, history=True) if row.id == name]
    if found:
        return tuple(found)
    key = " ".join(name.lower().split())
    if key in catalog.gpu_aliases:
        return find_gpus(catalog, name)
    if key in catalog.model_aliases:
        return (catalog.model_by_id[catalog.model_aliases[key]],)
    ids = (row.id for kind in KINDS for row in rows_of(catalog, kind, history=True))
    names = {*catalog.gpu_aliases, *catalog.model_aliases, *ids}
    similar = difflib.get_close_matches(key, names, SUGGESTIONS, 0.5)
    raise InputError("catalog.unknown_id", name=name, similar=", ".join(similar) or "-")
