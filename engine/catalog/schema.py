"""The tables of the catalogue: the bundled base, rebuilt with every release, and the user's own database.

Columns of the base follow the value objects of `engine.hardware` and `engine.architecture`. Texts that hold several
values are JSON; amounts of money and dates are texts, so that nothing is rounded on the way.
"""

from __future__ import annotations

import json
from typing import Any

from sqlite_utils import Database, Migrations

from engine.catalog.columns import BASE_TABLES, LINKS, USER_SET, columns_of

__all__ = ["BASE", "USER"]

BASE = Migrations("gpu_advisor.catalog")
USER = Migrations(USER_SET)


@BASE()
def m001_tables_of_the_base(db: Database) -> None:
    """Sources first, then cards, then what refers to them."""
    strict: dict[str, Any] = {"strict": True}
    db.table("meta").create({"key": str, "value": str}, pk="key", **strict)
    db.table("source").create({"id": int, "url": str, "title": str}, pk="id", not_null={"url", "title"}, **strict)
    for table, model in BASE_TABLES.items():
        columns = columns_of(model) | {"source_id": "INTEGER"}
        keys = [("source_id", "source", "id")]
        if table == "system":
            keys.append(("gpu_id", "gpu", "id"))
        primary = ("currency", "observed_on") if table == "exchange_rate" else "id"
        db.table(table).create(columns, pk=primary, foreign_keys=keys, not_null={"source_id"}, **strict)
    db.table("gpu_alias").create({"id": str, "kind": str, "notes": str}, pk="id", **strict)
    db.table("model_alias").create(
        {"id": str, "model_id": str, "kind": str, "notes": str},
        pk="id",
        foreign_keys=[("model_id", "model", "id")],
        **strict,
    )
    for table, link in LINKS.items():
        db.table(link).create(
            {f"{table}_id": str, "position": int, "gpu_id": str},
            pk=(f"{table}_id", "position"),
            foreign_keys=[(f"{table}_id", table, "id"), ("gpu_id", "gpu", "id")],
            **strict,
        )


# The user's tables are written out: unlike the base they are never rebuilt, so they change by migrations only.


@USER()
def m001_own_offers_and_quotations(db: Database) -> None:
    """The first released version."""
    strict: dict[str, Any] = {"strict": True}
    db.table("offer").create(
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
    db.table("purchase_price").create(
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


@USER()
def m002_rows_of_every_kind_and_undo(db: Database) -> None:
    """Rows of every kind in one table, each as its value object's JSON; and what stood there before each change."""
    strict: dict[str, Any] = {"strict": True}
    rows = db.table("own_row")
    rows.create(
        {"layer": str, "kind": str, "id": str, "content": str},
        pk=("layer", "kind", "id"),
        not_null={"content"},
        **strict,
    )
    db.table("change").create(
        {"number": int, "at": str, "action": str, "title": str, "before": str},
        pk="number",
        not_null={"at", "action", "title", "before"},
        **strict,
    )
    for table in ("offer", "purchase_price"):
        for old in list(db.table(table).rows):
            content = {k: v for k, v in old.items() if v is not None} | {
                "gpu_ids": json.loads(old["gpu_ids"]),
                "origin": "user",
            }
            if table == "purchase_price":
                content["whole_server"] = bool(old["whole_server"])
            text = json.dumps(content, ensure_ascii=False)
            rows.insert({"layer": "user", "kind": table, "id": old["id"], "content": text})
        db.table(table).drop()
