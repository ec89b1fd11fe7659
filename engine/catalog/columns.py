"""How value objects become rows and back; no library but the standard one, so that reading stays quick."""

from __future__ import annotations

import json
import types
from collections.abc import Mapping
from datetime import date
from decimal import Decimal
from typing import Annotated, Any, Union, get_args, get_origin

from pydantic import BaseModel

from engine.architecture.model import Architecture
from engine.hardware.model import ApiPrice, CostItem, ExchangeRate, Gpu, Offer, PurchasePrice, System

__all__ = ["BASE_TABLES", "LINKS", "OWN_KINDS", "USER_SET", "USER_STEPS", "columns_of", "decode", "encode"]

#: Base tables and the value object that each row becomes.
BASE_TABLES: dict[str, type[BaseModel]] = {
    "gpu": Gpu,
    "system": System,
    "offer": Offer,
    "purchase_price": PurchasePrice,
    "api_price": ApiPrice,
    "cost_item": CostItem,
    "exchange_rate": ExchangeRate,
    "model": Architecture,
}
#: Tables that join a row to its cards, in order (slowest first).
LINKS: dict[str, str] = {"offer": "offer_gpu", "purchase_price": "purchase_price_gpu", "gpu_alias": "gpu_alias_gpu"}
#: Fields that live in the `source` table, in a link table, or are set while reading.
_ELSEWHERE = {"source_url", "source_title", "source", "gpu_ids", "origin"}
#: Fields that only quotations of the user's own have.
_OWN_ONLY = {"valid_until", "tax_included", "includes", "file_path", "file_sha256"}

#: Kinds of rows that a user may add or correct, in the order in which they are read.
OWN_KINDS: dict[str, type[BaseModel]] = {k: v for k, v in BASE_TABLES.items() if k != "exchange_rate"}
#: The schema steps of the user's file that this version knows, in order (see `engine.catalog.schema`).
USER_SET = "gpu_advisor.user"
USER_STEPS = ("m001_own_offers_and_quotations", "m002_rows_of_every_kind_and_undo")


def columns_of(model: type[BaseModel]) -> dict[str, str]:
    """SQLite types of the fields of a value object that are columns of its own table."""
    return {k: _sqlite_type(f.annotation) for k, f in model.model_fields.items() if k not in _ELSEWHERE | _OWN_ONLY}


def _sqlite_type(annotation: Any) -> str:
    if get_origin(annotation) is Annotated:
        annotation = get_args(annotation)[0]
    if get_origin(annotation) in (Union, types.UnionType):
        annotation = next(a for a in get_args(annotation) if a is not type(None))
    if annotation in (bool, int):
        return "INTEGER"
    return "REAL" if annotation is float else "TEXT"


def encode(value: object) -> object:
    """A field's value as SQLite holds it."""
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, Decimal | date):
        return str(value)
    if isinstance(value, tuple | dict):
        return json.dumps(value, ensure_ascii=False, sort_keys=True)
    return value


def decode(row: Mapping[str, Any], model: type[BaseModel]) -> dict[str, Any]:
    """A row as the constructor of its value object wants it."""
    found = {k: v for k, v in row.items() if k in model.model_fields}
    for name in ("aliases", "export_controlled_for", "region_only", "guessed", "extra", "gpu_ids"):
        if isinstance(found.get(name), str):
            found[name] = json.loads(found[name])
    return found
