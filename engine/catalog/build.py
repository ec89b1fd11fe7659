"""Builds the bundled database from the CSV files in `resources/`; the same files give the same bytes.

python -m engine.catalog.build            rebuild resources/catalog/catalog.sqlite
"""

from __future__ import annotations

import csv
import hashlib
import io
import re
import sqlite3
from collections.abc import Callable, Iterable, Iterator
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any

from pydantic import BaseModel
from sqlite_utils import Database

from engine.architecture.model import Architecture
from engine.catalog.columns import BASE_TABLES, LINKS, columns_of, encode
from engine.catalog.schema import BASE
from engine.hardware.model import ApiPrice, CostItem, Gpu, Offer, PurchasePrice, System
from engine.quantity import GB, gb, gb_per_s, gbit_per_s, gib, tflops

__all__ = ["DATABASE", "TABLES", "build", "build_in_memory", "content_sha256", "read_rows", "version"]

#: File name of the built database, beside its CSV files.
DATABASE = "catalog.sqlite"
#: CSV files that make up the catalogue, by table, in the order in which they are filled in.
TABLES: dict[str, str] = {
    "gpu": "catalog/gpus.csv",
    "system": "catalog/systems.csv",
    "offer": "catalog/offers.csv",
    "purchase_price": "catalog/purchase_prices.csv",
    "api_price": "catalog/api_prices.csv",
    "cost_item": "catalog/other_costs.csv",
    "exchange_rate": "catalog/exchange_rates.csv",
    "model": "models/models.csv",
    "gpu_alias": "catalog/gpu_aliases.csv",
    "model_alias": "models/model_aliases.csv",
}
#: Built files carry one fixed moment, so that they depend on their contents alone.
STAMP = "2026-01-01 00:00:00+00:00"

Row = dict[str, str]


def read_rows(table: str, resources: Traversable | None = None) -> list[Row]:
    """All rows of a table's CSV file."""
    path = (resources or files("resources")) / TABLES[table]
    return list(csv.DictReader(io.StringIO(path.read_text(encoding="utf-8"), newline="")))


def version(resources: Traversable | None = None) -> str:
    """Version of the catalogue: the day up to which its data was collected."""
    return ((resources or files("resources")) / "catalog/version.txt").read_text(encoding="utf-8").strip()


def content_sha256(resources: Traversable | None = None) -> str:
    """SHA-256 over the cells of all tables in fixed order; line ends and quoting do not change it."""
    digest = hashlib.sha256(version(resources).encode())
    for table in TABLES:
        digest.update(f"\x1d{table}".encode())
        for row in read_rows(table, resources):
            cells = "\x1f".join(f"{k}\x1e{v}" for k, v in sorted(row.items()))
            digest.update(f"\x1c{cells}".encode())
    return digest.hexdigest()


def build(target: Path, resources: Traversable | None = None) -> None:
    """Write the database to `target`, which must not exist; every row is validated by its value object."""
    if target.exists():
        raise FileExistsError(target)
    db = Database(target)
    try:
        _make(db, resources)
        db.vacuum()
    finally:
        db.close()


def build_in_memory() -> sqlite3.Connection:
    """The same database in memory, for a SQLite too old to read the strict tables of the built file."""
    db = Database(memory=True)
    _make(db, None)
    return db.conn


def _make(db: Database, resources: Traversable | None) -> None:
    db.execute("PRAGMA foreign_keys = ON")
    BASE.apply(db)
    with db.atomic():
        _fill(db, resources)
        db.table("_sqlite_migrations").update(1, {"applied_at": STAMP})
    problems = list(db.query("PRAGMA foreign_key_check"))
    if problems:
        raise ValueError(f"rows that refer to nothing: {problems[:5]}")


def _fill(db: Database, resources: Traversable | None) -> None:
    db.table("meta").insert_all(
        {"key": k, "value": v} for k, v in (("version", version(resources)), ("sha256", content_sha256(resources)))
    )
    sources = _Sources()
    pending: dict[str, list[dict[str, Any]]] = {}
    for table, model in BASE_TABLES.items():
        pending[table] = [_record(table, model, row, sources) for row in read_rows(table, resources)]
    db.table("source").insert_all(sources.rows())
    for table, model in BASE_TABLES.items():
        names = [*columns_of(model), "source_id"]
        db.table(table).insert_all({n: encode(r[n]) for n in names} for r in pending[table])
    for table in ("offer", "purchase_price"):
        db.table(LINKS[table]).insert_all(_links(table, ((r["id"], r["gpu_ids"]) for r in pending[table])))
    aliases = [r for r in read_rows("gpu_alias", resources) if r["gpu_ids"]]
    db.table("gpu_alias").insert_all({"id": r["name"], "kind": r["kind"], "notes": r["notes"]} for r in aliases)
    db.table(LINKS["gpu_alias"]).insert_all(_links("gpu_alias", ((r["name"], _many(r["gpu_ids"])) for r in aliases)))
    db.table("model_alias").insert_all(
        {"id": r["name"], "model_id": r["model_id"], "kind": r["kind"], "notes": r["notes"]}
        for r in read_rows("model_alias", resources)
        if r["model_id"] and not r["shape"]
    )


def _links(table: str, rows: Iterable[tuple[str, tuple[str, ...]]]) -> Iterator[dict[str, object]]:
    for owner, gpu_ids in rows:
        for position, gpu_id in enumerate(gpu_ids):
            yield {f"{table}_id": owner, "position": position, "gpu_id": gpu_id}


class _Sources:
    """Numbers each different source once."""

    def __init__(self) -> None:
        self._ids: dict[tuple[str, str], int] = {}

    def id_of(self, url: str, title: str) -> int:
        return self._ids.setdefault((url, title), len(self._ids) + 1)

    def rows(self) -> Iterator[dict[str, object]]:
        for (url, title), number in self._ids.items():
            yield {"id": number, "url": url, "title": title}


def _record(table: str, model: type[BaseModel], row: Row, sources: _Sources) -> dict[str, Any]:
    """The validated fields of a row, and the number of its source."""
    fields = _CONVERTERS[table](row)
    made = model.model_validate({k: v for k, v in fields.items() if v not in ("", None)})
    url, title = row["source_url"], row.get("source_title", "")
    return {**{name: getattr(made, name) for name in model.model_fields}, "source_id": sources.id_of(url, title)}


# From the units of the CSV files to those of the engine ------------------------------------------------------


def _many(text: str) -> tuple[str, ...]:
    return tuple(part for part in text.split("|") if part)


def _with(convert: Callable[[float], float], text: str) -> float | None:
    return convert(float(text)) if text else None


def _plain(row: Row, names: Iterable[str]) -> dict[str, Any]:
    return {n: row[n] for n in names if n in row}


def _gpu(row: Row) -> dict[str, Any]:
    made = _plain(row, Gpu.model_fields) | {
        "aliases": _many(row["aliases"]),
        "export_controlled_for": _many(row["export_controlled_for"]),
        "region_only": _many(row["region_only"]),
        "usable_bytes": _with(gib, row["usable_gib"]),
        "memory_bytes_per_second": _with(gb_per_s, row["memory_gb_per_s"]),
        "interconnect_bytes_per_second": _with(gb_per_s, row["interconnect_gb_per_s"]),
        "pcie_bytes_per_second": _with(gb_per_s, row["pcie_gb_per_s"]),
        "int8_ops": _with(tflops, row["int8_tops"]),
    }
    for precision in ("bf16", "fp16", "fp8", "fp4", "tf32", "fp32"):
        made[f"{precision}_flops"] = _with(tflops, row[f"{precision}_tflops"])
    if row["usable_rule"]:
        made["notes"] = f"{row['notes']} Usable memory by size rule {row['usable_rule']} (usable_rules.csv).".strip()
    return made


def _system(row: Row) -> dict[str, Any]:
    to_bytes = gib if row["ram_unit"] == "GiB" else gb
    return _plain(row, System.model_fields) | {
        "intra_node_bytes_per_second": _with(gb_per_s, row["intra_node_gb_per_s"]),
        "inter_node_bytes_per_second": _with(gbit_per_s, row["inter_node_gbit_per_s"]),
        "ram_bytes": _with(to_bytes, row["ram"]),
        "nvme_bytes": _with(lambda tb: round(tb * 1000 * GB), row["nvme_tb"]),
        "power_watts": _with(lambda kw: kw * 1000, row["power_kw"]),
    }


def _offer(row: Row) -> dict[str, Any]:
    return _plain(row, Offer.model_fields) | {"gpu_ids": _many(row["gpu_ids"])}


def _purchase(row: Row) -> dict[str, Any]:
    return _plain(row, PurchasePrice.model_fields) | {"gpu_ids": _many(row["gpu_ids"])}


def _model(row: Row) -> dict[str, Any]:
    extra: dict[str, float | str] = {"kind": row["kind"]}
    for pair in filter(None, row["extra"].split(";")):
        name, _, value = pair.partition("=")
        extra[name.strip()] = float(value) if re.fullmatch(r"-?[\d.]+", value.strip()) else value.strip()
    made = _plain(row, Architecture.model_fields) | {"extra": extra}
    # a generic shape stands for a size that is all that is known
    return made | {"basis": "size" if row["id"].startswith("generic/") else "catalog"}


def _rate(row: Row) -> dict[str, Any]:
    return _plain(row, ("currency", "units_per_usd", "observed_on")) | {"source": _source_text(row)}


def _source_text(row: Row) -> str:
    return " ".join(part for part in (row["source_title"], row["source_url"]) if part)


_CONVERTERS: dict[str, Callable[[Row], dict[str, Any]]] = {
    "gpu": _gpu,
    "system": _system,
    "offer": _offer,
    "purchase_price": _purchase,
    "api_price": lambda row: _plain(row, ApiPrice.model_fields),
    "cost_item": lambda row: _plain(row, CostItem.model_fields),
    "exchange_rate": _rate,
    "model": _model,
}


def main() -> None:
    """Rebuild the database that ships."""
    target = Path(str(files("resources"))) / "catalog" / DATABASE
    fresh = target.with_suffix(".new")
    fresh.unlink(missing_ok=True)
    build(fresh)
    fresh.replace(target)


if __name__ == "__main__":
    main()
