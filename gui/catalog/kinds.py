"""The parts of the catalogue that one can browse: their rows, and the columns that are shown of them. No Qt."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Any

from pydantic import BaseModel

from engine.hardware.model import CatalogSnapshot
from engine.i18n import Language
from engine.messages import LABELS
from gui.catalog.shown import field_value
from gui.tables import Column, SortValue
from gui.widgets.words import NP_, Text

__all__ = ["KINDS", "Kind", "Record", "records"]


@dataclass(frozen=True)
class Record:
    """A row of the catalogue, with the names of the cards that it refers to."""

    row: Any
    names: Mapping[str, str]


@dataclass(frozen=True)
class Kind:
    """One part of the catalogue."""

    key: str
    title: Text
    rows: Callable[[CatalogSnapshot], tuple[BaseModel, ...]]
    columns: tuple[Column[Record], ...]


def records(kind: Kind, catalog: CatalogSnapshot) -> tuple[Record, ...]:
    """The rows of one part."""
    names = {gpu.id: gpu.name for gpu in catalog.gpus}
    return tuple(Record(row, names) for row in kind.rows(catalog))


def _sort_value(record: Record, field: str) -> SortValue:
    value = getattr(record.row, field)
    if value is None or value == "":
        return None
    if isinstance(value, bool):
        return float(value)
    if isinstance(value, int | float | Decimal):
        return float(value)
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, tuple):
        return " ".join(record.names.get(str(v), str(v)) for v in value)
    return record.names.get(str(value), str(value)) if field == "gpu_id" else str(value)


NUMERIC = (
    "memory_gb", "usable_bytes", "memory_bytes_per_second", "bf16_flops", "fp8_flops", "tdp_watts", "gpus",
    "intra_node_bytes_per_second", "inter_node_bytes_per_second", "power_watts", "ram_bytes", "price_per_gpu_hour",
    "gpus_per_unit", "price", "cards", "parameters_total", "parameters_active", "layers", "hidden_size",
    "vocabulary_size", "max_context", "input_per_million_tokens", "output_per_million_tokens",
    "training_per_million_tokens", "value",
)  # fmt: skip
WIDE = ("name", "product", "item", "notes", "model", "gpu_ids", "gpu_id", "provider", "seller")


def _column(field: str) -> Column[Record]:
    def shown(record: Record, language: Language) -> str:
        return field_value(record.row, field, language, record.names) or "–"

    return Column(
        field,
        LABELS[f"field.{field}"],
        shown=shown,
        value=lambda record: _sort_value(record, field),
        numeric=field in NUMERIC,
        width=30 if field in WIDE else 0,
    )


def _kind(key: str, title: Text, rows: Callable[[CatalogSnapshot], tuple[BaseModel, ...]], *fields: str) -> Kind:
    return Kind(key, title, rows, tuple(_column(f) for f in fields))


KINDS: tuple[Kind, ...] = (
    _kind(
        "gpus", NP_("catalogue", "Cards"), lambda c: c.gpus,
        "name", "vendor", "memory_gb", "usable_bytes", "memory_bytes_per_second", "bf16_flops", "fp8_flops",
        "tdp_watts", "interconnect", "release_date", "confidence", "origin",
    ),
    _kind(
        "systems", NP_("catalogue", "Machines"), lambda c: c.systems,
        "name", "maker", "gpu_id", "gpus", "topology", "intra_node_bytes_per_second", "fabric",
        "inter_node_bytes_per_second", "power_watts", "cloud", "confidence", "origin",
    ),
    _kind(
        "offers", NP_("catalogue", "Rental offers"), lambda c: tuple(o for o in c.offers if not o.members_only),
        "provider", "gpu_ids", "price_per_gpu_hour", "term", "gpus_per_unit", "region", "observed_on", "current",
        "origin",
    ),
    _kind(
        "purchases", NP_("catalogue", "Purchase prices"), lambda c: c.purchase_prices,
        "product", "seller", "price", "cards", "whole_server", "condition", "country", "observed_on", "confidence",
        "origin",
    ),
    _kind(
        "models", NP_("catalogue", "Models"), lambda c: c.models,
        "name", "family", "parameters_total", "parameters_active", "layers", "hidden_size", "vocabulary_size",
        "max_context", "licence", "release_date",
    ),
    _kind(
        "api", NP_("catalogue", "API prices"), lambda c: c.api_prices,
        "model", "provider", "kind", "input_per_million_tokens", "output_per_million_tokens",
        "training_per_million_tokens", "observed_on", "origin",
    ),
    _kind(
        "costs", NP_("catalogue", "Other costs"), lambda c: c.cost_items,
        "item", "value", "unit", "kind", "country", "observed_on", "confidence", "origin",
    ),
)  # fmt: skip
