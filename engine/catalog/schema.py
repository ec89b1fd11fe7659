"""The tables of the catalogue: the bundled base, rebuilt with every release, and the user's own database.

Columns follow the value objects of `engine.hardware` and `engine.architecture`. Texts that hold several values
are JSON; amounts of money and dates are texts, so that nothing is rounded on the way.
"""

from __future__ import annotations

import json
import types
from collections.abc import Mapping
from datetime import date
from decimal import Decimal
from typing import Annotated, Any, Union, get_args, get_origin

from pydantic import BaseModel
from sqlite_utils import Database, Migrations

from engine.architecture.model import Architecture
from engine.hardware.model import ApiPrice, CostItem, ExchangeRate, Gpu, Offer, PurchasePrice, System

__all__ = ["BASE", "BASE_TABLES", "LINKS", "USER", "USER_TABLES", "columns_of", "decode", "encode"]

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

BASE = Migrations("gpu_advisor.catalog")
USER = Migrations("gpu_advisor.user")


def columns_of(model: type[BaseModel]) -> dict[str, str]:
    """SQLite types of the fields of a value object that are columns of its own table."""
    return {k: _sqlite_type(f.annotation) for k, f in model.model_fields.items() if k not in _ELSEWHERE}


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


@BASE()
def m001_tables_of_the_base(db: Database) -> None:
    """Sources first, then cards, then what refers to them."""
    strict: dict[str, Any] = {"strict": True}
    db["meta"].create({"key": str, "value": str}, pk="key", **strict)
    db["source"].create({"id": int, "url": str, "title": str}, pk="id", not_null={"url", "title"}, **strict)
    for table, model in BASE_TABLES.items():
        columns = columns_of(model) | {"source_id": "INTEGER"}
        keys = [("source_id", "source", "id")]
        if table == "system":
            keys.append(("gpu_id", "gpu", "id"))
        primary = ("currency", "observed_on") if table == "exchange_rate" else "id"
        db[table].create(columns, pk=primary, foreign_keys=keys, not_null={"source_id"}, **strict)
    db["gpu_alias"].create({"id": str, "kind": str, "notes": str}, pk="id", **strict)
    db["model_alias"].create(
        {"id": str, "model_id": str, "kind": str, "notes": str},
        pk="id",
        foreign_keys=[("model_id", "model", "id")],
        **strict,
    )
    for table, link in LINKS.items():
        db[link].create(
            {f"{table}_id": str, "position": int, "gpu_id": str},
            pk=(f"{table}_id", "position"),
            foreign_keys=[(f"{table}_id", table, "id"), ("gpu_id", "gpu", "id")],
            **strict,
        )


#: The user's tables are written out: unlike the base they are never rebuilt, so they change by migrations only.
USER_TABLES: dict[str, type[BaseModel]] = {"offer": Offer, "purchase_price": PurchasePrice}


@USER()
def m001_own_offers_and_quotations(db: Database) -> None:
    """The first released version."""
    strict: dict[str, Any] = {"strict": True}
    db["offer"].create(
        {
            "id": str,
            "provider": str,
            "provider_kind": str,
            "product": str,
            "gpu_ids": str,
            "gpus_per_unit": int,
            "region": str,
            "country": str,
            "price_per_gpu_hour": str,
            "currency": str,
            "term": str,
            "interconnect": str,
            "observed_on": str,
            "queue_days": float,
            "max_gpus": int,
            "source_url": str,
            "source_title": str,
            "confidence": str,
            "notes": str,
        },
        pk="id",
        not_null={"provider", "provider_kind", "gpu_ids", "price_per_gpu_hour", "currency", "term"},
        **strict,
    )
    db["purchase_price"].create(
        {
            "id": str,
            "gpu_ids": str,
            "product": str,
            "seller": str,
            "condition": str,
            "price": str,
            "currency": str,
            "cards": int,
            "whole_server": int,
            "country": str,
            "observed_on": str,
            "source_url": str,
            "confidence": str,
            "notes": str,
        },
        pk="id",
        not_null={"gpu_ids", "product", "seller", "condition", "price", "currency", "cards"},
        **strict,
    )
