"""Rows of the catalogue as text for a terminal: tables, and one row with all its fields."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Sequence
from datetime import date
from decimal import Decimal
from typing import Any

from engine.catalog.check import CatalogCheck
from engine.catalog.find import Entry
from engine.hardware.model import Offer
from engine.i18n import Language
from engine.messages import LABELS
from engine.quantity import Money

__all__ = ["check_text", "entry_text", "table_text"]

#: Columns of a list, by kind.
COLUMNS: dict[str, tuple[str, ...]] = {
    "gpus": ("id", "name", "usable_bytes", "memory_bytes_per_second", "bf16_flops", "confidence"),
    "systems": ("id", "name", "gpu_id", "gpus", "topology", "fabric"),
    "offers": ("id", "provider", "gpu_ids", "term", "price_per_gpu_hour", "region", "observed_on", "confidence",
               "origin"),
    "models": ("id", "name", "parameters_total", "parameters_active", "max_context", "confidence"),
    "prices": ("id", "product", "price", "condition", "seller", "observed_on", "confidence", "origin"),
    "costs": ("id", "item", "value", "unit", "observed_on", "confidence"),
    "api": ("id", "provider", "model", "input_per_million_tokens", "output_per_million_tokens",
            "training_per_million_tokens", "observed_on"),
}  # fmt: skip
#: Fields whose values are codes with words of their own, and the prefix of those codes.
_CODES = {"term": "term", "provider_kind": "provider", "usable_basis": "basis", "confidence": "confidence",
          "origin": "origin", "condition": "condition"}  # fmt: skip
_MONEY = {"price_per_gpu_hour", "price", "input_per_million_tokens", "output_per_million_tokens",
          "training_per_million_tokens"}  # fmt: skip


def table_text(kind: str, rows: Sequence[Entry], language: Language) -> str:
    """Rows as an aligned table with headings, and how many there are."""
    columns = COLUMNS[kind]
    lines = [[language.label(f"field.{c}") for c in columns]]
    lines += [[_shown(row, c, language) for c in columns] for row in rows]
    count = language.ngettext("{n} row", "{n} rows", len(rows)).format(n=language.number(len(rows)))
    return f"{_aligned(lines)}\n\n{count}"


def _aligned(lines: list[list[str]]) -> str:
    widths = [max(_width(line[i]) for line in lines) for i in range(len(lines[0]))]
    padded = (
        "  ".join(cell + " " * (width - _width(cell)) for cell, width in zip(line, widths, strict=True)).rstrip()
        for line in lines
    )
    return "\n".join(padded)


def _width(text: str) -> int:
    """Columns that a text takes in a terminal: Chinese characters are two wide."""
    return sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


def entry_text(row: Entry, language: Language) -> str:
    """One row with every field that is known and has a name for people."""
    lines: list[list[str]] = []
    for field in type(row).model_fields:
        shown = _shown(row, field, language)
        if f"field.{field}" in LABELS and shown:
            lines.append([language.label(f"field.{field}"), shown])
    return _aligned(lines)


def _shown(row: Entry, field: str, language: Language) -> str:
    value: Any = getattr(row, field)
    if value is None or value == "" or value == ():
        return ""
    if field in _MONEY:
        money = Money(amount=value, currency=row.currency)  # pyright: ignore[reportAttributeAccessIssue, reportUnknownArgumentType]
        return language.money(money, 4 if abs(money.amount) < 1 else 2)
    if field in _CODES:
        return language.label(f"{_CODES[field]}.{value}")
    for suffix, show in _UNITS.items():
        if field.endswith(suffix):
            return show(language, float(value))
    if isinstance(value, bool):
        return language.gettext("yes") if value else language.gettext("no")
    if isinstance(value, tuple):
        return ", ".join(str(v) for v in value)
    if isinstance(value, date):
        return language.date(value)
    if isinstance(value, Decimal):
        return f"{value:f}"
    if field.startswith("parameters_"):
        return language.count(float(value))
    return language.number(float(value)) if isinstance(value, int | float) else str(value)


_UNITS: dict[str, Callable[[Language, float], str]] = {
    "_bytes_per_second": lambda lang, v: f"{lang.number(v / 1e9)} GB/s",
    "_bytes": lambda lang, v: lang.gib(v),
    "_flops": lambda lang, v: f"{lang.number(v / 1e12)} TFLOPS",
}


def check_text(check: CatalogCheck, language: Language) -> str:
    """The result of a check, in words."""
    fill = language.fill
    lines = [
        fill("Catalogue {version}, SHA-256 {sha256}", version=check.version, sha256=check.sha256),
        fill(
            "Cards: {total:int}, of which {memory:int} with known memory and {time:int} with known speed",
            total=check.rows["gpus"],
            memory=check.gpus_for_memory,
            time=check.gpus_for_time,
        ),
        fill(
            "Systems: {systems:int}; models: {models:int}; purchase prices: {prices:int}; API prices: {api:int}",
            systems=check.rows["systems"],
            models=check.rows["models"],
            prices=check.rows["purchase_prices"],
            api=check.rows["api_prices"],
        ),
        fill(
            "Offers: {total:int}, {current:int} of them current; {share:pct} of the collected ones join a card",
            total=check.rows["offers"],
            current=check.offers_current,
            share=check.offers_joined,
        ),
        fill("Your own rows: {count:int}", count=check.own_rows),
    ]
    if check.newest_price and check.oldest_current_price:
        lines.append(
            fill(
                "Current prices were seen between {oldest:date} and {newest:date}",
                oldest=check.oldest_current_price,
                newest=check.newest_price,
            )
        )
    lines += [f"{language.label(f.severity)}: {language.text(f)}" for f in check.findings]
    return "\n".join(lines)


def offer_line(offer: Offer, language: Language) -> str:
    """One line that confirms an offer."""
    return language.fill(
        "Saved: {id}, {price} per card-hour",
        id=offer.id,
        price=_shown(offer, "price_per_gpu_hour", language),
    )
