"""A table of the user's own becomes a plan: which rows are new, changed, the same, or refused, and why.

Nothing is written before the plan was shown; what is written is one transaction that can be undone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import ValidationError

from engine.catalog.columns import OWN_KINDS
from engine.catalog.headings import HIDDEN, headings_of, option_of
from engine.catalog.store import Edit, apply_edits, content_of
from engine.catalog.table_file import Table
from engine.catalog.user import FIELDS, kind_of
from engine.catalog.values import Habit, UnreadableError, day_of, decimal_of, habit_of, plain, unmarked, yes_or_no
from engine.errors import InputError
from engine.findings import Finding, Severity
from engine.hardware.model import CatalogSnapshot

__all__ = [
    "IMPORTED_KINDS", "ImportPlan", "RowPlan", "Status", "apply_plan", "changed_fields", "corrected", "plan_import",
    "status_of",
]  # fmt: skip

#: Kinds that a table can bring; models come from their configuration files or in packs.
IMPORTED_KINDS = ("offer", "purchase_price", "gpu", "system", "api_price", "cost_item")
Status = Literal["new", "changed", "same", "refused", "removed"]
#: Prices of a card that nobody has ever asked, in US$: per hour, and to buy. Beyond them a column or currency is wrong.
HOUR_LIMITS = (Decimal("0.005"), Decimal(200))
CARD_LIMITS = (Decimal(20), Decimal(1_000_000))
#: No price has so many digits, whatever the currency.
MOST_PRICE = Decimal(10) ** 12
#: What a row must say beside what its value object needs: a price without a day is worth nothing.
_DATED = ("offer", "purchase_price", "api_price")
#: What is taken where a table does not say it.
_USUAL = {"offer": {"provider_kind": "gpu-cloud", "term": "on-demand"}, "purchase_price": {"condition": "new"}}
#: Fields that make a row that row, so that the same table imported again changes it and does not double it.
_IDENTITY: dict[str, tuple[str, ...]] = {
    "offer": ("provider", "gpu_ids", "term", "region", "gpus_per_unit"),
    "purchase_price": ("seller", "gpu_ids", "product", "condition", "cards"),
    "gpu": ("name",),
    "system": ("maker", "name", "gpu_id"),
    "api_price": ("provider", "model", "kind"),
    "cost_item": ("kind", "item", "country"),
}


@dataclass(frozen=True, slots=True)
class RowPlan:
    """What becomes of one row; `before` is what the catalogue says now."""

    line: int
    status: Status
    kind: str
    title: str
    row: Any = None
    before: Any = None
    reasons: tuple[Finding, ...] = ()


@dataclass(frozen=True, slots=True)
class ImportPlan:
    """A table as it was understood."""

    kind: str
    encoding: str
    separator: str
    rows: tuple[RowPlan, ...]
    columns: Mapping[str, str]  # heading -> field
    ignored: tuple[str, ...]  # headings that mean nothing here

    def count(self, status: Status) -> int:
        """Rows of one status."""
        return sum(r.status == status for r in self.rows)


@dataclass(frozen=True, slots=True)
class _Reading:
    """What is needed to read a row."""

    kind: str
    columns: Mapping[int, tuple[str, float]]
    habits: Mapping[int, Habit]
    usual: Mapping[str, str]
    catalog: CatalogSnapshot
    today: date


def _reason(code: str, **params: str | int | float | None) -> Finding:
    return Finding(code=code, severity=Severity.WARNING, params=params)


def plan_import(
    kind: str, table: Table, catalog: CatalogSnapshot, usual: Mapping[str, str] | None = None, today: date | None = None
) -> ImportPlan:
    """Read every row of a table as a row of `kind`; `usual` says what empty or missing columns mean, by field."""
    names = headings_of(kind)
    columns = {n: names[plain(h).lower()] for n, h in enumerate(table.head) if plain(h).lower() in names}
    fields = [field for field, _factor in columns.values()]
    doubled = next((f for f in fields if fields.count(f) > 1), None)
    if doubled:
        raise InputError("import.column_twice", field=f"field.{doubled}")
    if not columns:
        raise InputError("import.no_columns", heads=", ".join(table.head[:8])[:200])
    habits = {n: habit_of((c[n] for _line, c in table.rows if n < len(c)), table.separator) for n in columns}
    usual = {**_USUAL.get(kind, {}), **{k: v for k, v in (usual or {}).items() if v}}
    reading = _Reading(kind, columns, habits, usual, catalog, today or datetime.now(UTC).date())
    shown = {table.head[n]: field for n, (field, _factor) in columns.items()}
    ignored = tuple(h for n, h in enumerate(table.head) if n not in columns and h)
    return ImportPlan(kind, table.encoding, table.separator, _rows(reading, table), shown, ignored)


def _rows(reading: _Reading, table: Table) -> tuple[RowPlan, ...]:
    known = {row.id: row for row in getattr(reading.catalog, FIELDS[reading.kind])}
    seen: dict[str, int] = {}
    plans: list[RowPlan] = []
    for line, cells in table.rows:
        title = " · ".join(c.strip() for c in cells if c.strip())[:120]
        row, reasons = _row(reading, cells)
        if row is not None and row.id in seen:
            row, reasons = None, (_reason("import.twice", line=seen[row.id], id=row.id),)
        if row is None:
            plans.append(RowPlan(line, "refused", reading.kind, title, reasons=reasons))
            continue
        seen[row.id] = line
        before = known.get(row.id)
        if before is not None:  # what a table can't say stays as it was
            row = row.model_copy(update={f: getattr(before, f) for f in HIDDEN if f in type(row).model_fields})
        plans.append(RowPlan(line, status_of(row, before), reading.kind, title, row, before))
    return tuple(plans)


def status_of(row: Any, before: Any) -> Status:
    """Whether a row adds to the catalogue, changes it, or says what it says already."""
    if before is None:
        return "new"
    return "changed" if changed_fields(before, row) else "same"


def changed_fields(before: Any, after: Any) -> tuple[str, ...]:
    """Fields whose values differ; whose row it is does not count."""
    return tuple(f for f in type(after).model_fields if f != "origin" and getattr(before, f) != getattr(after, f))


def _row(reading: _Reading, cells: Sequence[str]) -> tuple[Any, tuple[Finding, ...]]:
    """A row, or why it is refused."""
    kind, model = reading.kind, OWN_KINDS[reading.kind]
    given = {
        field: (cells[n] if n < len(cells) else "", reading.habits[n], factor)
        for n, (field, factor) in reading.columns.items()
    }
    for field, text in reading.usual.items():
        if field in model.model_fields and not given.get(field, ("",))[0].strip():
            given[field] = (text, Habit(), 1.0)
    values: dict[str, Any] = {}
    reasons: list[Finding] = []
    for field, (text, habit, factor) in given.items():
        if not text.strip():
            continue
        try:
            values[field] = _value(kind, field, text, habit, factor, reading.catalog, reading.today)
        except UnreadableError as problem:
            reasons.append(_reason(problem.code, field=f"field.{field}", value=text.strip()[:80]))
    reasons = reasons or _missing(kind, values)
    if reasons:
        return None, tuple(reasons)
    try:
        row: Any = model.model_validate({**values, **_completed(kind, values, reading.catalog)})
    except ValidationError as error:
        name = _where(error)
        return None, (_reason("import.bad_value", field=f"field.{name}", value=str(values.get(name, ""))[:80]),)
    absurd = _absurd(kind, row, reading.catalog)
    return (None, absurd) if absurd else (row, ())


def _where(error: ValidationError) -> str:
    place = error.errors()[0]["loc"]
    return str(place[0]) if place else "id"


def _missing(kind: str, values: Mapping[str, Any]) -> list[Finding]:
    needed = [f for f, info in OWN_KINDS[kind].model_fields.items() if info.is_required()]
    if kind in _DATED:
        needed.append("observed_on")
    made = {"id", "product"}
    return [_reason("import.missing", field=f"field.{f}") for f in needed if f not in values and f not in made]


def _completed(kind: str, values: Mapping[str, Any], catalog: CatalogSnapshot) -> dict[str, Any]:
    """What follows from the other fields: the id, the product, where the memory is known from."""
    made: dict[str, Any] = {"id": values.get("id") or _id(kind, values), "origin": "user"}
    if kind == "purchase_price" and not values.get("product"):
        made["product"] = catalog.gpu_by_id[values["gpu_ids"][0]].name
    if kind == "gpu" and "usable_bytes" in values:
        made["usable_basis"] = "reported"
    return made


def _id(kind: str, values: Mapping[str, Any]) -> str:
    words: list[str] = []
    for part in _IDENTITY[kind]:
        value = values.get(part)
        text = value[0] if isinstance(value, tuple) else value
        if text not in (None, ""):
            words.append("-".join("".join(c if c.isalnum() else " " for c in str(text).lower()).split()))
    return ".".join(("user", *(w for w in words if w)))


def _absurd(kind: str, row: Any, catalog: CatalogSnapshot) -> tuple[Finding, ...]:
    if kind == "offer":
        field, price, limits = "price_per_gpu_hour", row.price_per_gpu_hour, HOUR_LIMITS
        if not price and row.term == "shared":
            return ()
    elif kind == "purchase_price":
        field, price, limits = "price", row.price / row.cards, CARD_LIMITS
    else:
        return ()
    rates = [r for r in catalog.exchange_rates if r.currency == row.currency]
    rate = max(rates, key=lambda r: r.observed_on).units_per_usd if rates else Decimal(1)
    if row.currency != "USD" and not rates:
        return (_reason("import.no_rate", currency=row.currency),)
    dollars = price if row.currency == "USD" else price / rate
    if limits[0] <= dollars <= limits[1]:
        return ()
    shown = f"{price:f} {row.currency}"
    low, high = float(limits[0]), float(limits[1])
    return (_reason("import.absurd_price", field=f"field.{field}", value=shown, low=low, high=high),)


def _value(
    kind: str, field: str, text: str, habit: Habit, factor: float, catalog: CatalogSnapshot, today: date
) -> object:
    if field in ("gpu_ids", "gpu_id"):
        ids = catalog.gpu_aliases.get(" ".join(plain(text).lower().split())) or tuple(
            p.strip() for p in text.split("|")
        )
        if not all(i in catalog.gpu_by_id for i in ids):
            raise UnreadableError("import.unknown_card")
        return ids if field == "gpu_ids" else ids[0]
    types = _types(OWN_KINDS[kind].model_fields[field].annotation)
    if Literal in types:
        return option_of(kind, field, text)
    if bool in types:
        return yes_or_no(text)
    if date in types:
        return day_of(text, habit, today, future=field == "valid_until")
    if types & {int, float, Decimal}:
        return _number(field, text, habit, factor, types)
    cell = unmarked(text.strip())
    if tuple in types:
        return tuple(p.strip() for p in cell.split("|") if p.strip())
    return plain(cell).upper() if field in ("currency", "country") else cell


def _number(field: str, text: str, habit: Habit, factor: float, types: set[Any]) -> Decimal | float | int:
    number = decimal_of(text, habit)
    if number < 0:
        raise UnreadableError("import.negative")
    if field in ("price_per_gpu_hour", "price") and number >= MOST_PRICE:
        raise UnreadableError("import.absurd")
    scaled = number if factor == 1 else number * Decimal(str(factor))
    if Decimal in types:
        return scaled
    if float in types:
        return float(scaled)
    if scaled != scaled.to_integral_value() or scaled >= 10**18:
        raise UnreadableError("import.not_whole")
    return int(scaled)


def _types(annotation: Any) -> set[Any]:
    """The plain types of an annotation; `Literal` for a choice of codes."""
    origin = get_origin(annotation)
    if origin is Annotated:
        return _types(get_args(annotation)[0])
    if origin in (Union, UnionType):
        return {t for a in get_args(annotation) for t in _types(a)} - {type(None)}
    if origin is Literal:
        return {Literal}
    return {tuple} if origin is tuple else {annotation}


def apply_plan(plan: ImportPlan, title: str, database: Path | None = None) -> int:
    """Keep the new and changed rows of a plan, in one transaction; how many there were."""
    edits = [
        Edit(plan.kind, r.row.id, content_of(r.row)) for r in plan.rows if r.status in ("new", "changed") and r.row
    ]
    if edits:
        apply_edits(edits, "import", title, database)
    return len(edits)


def corrected(row: Any, texts: Mapping[str, str], catalog: CatalogSnapshot, today: date | None = None) -> Any:
    """A row with other values, read as a table's cells are; an empty text takes a value away. `InputError`: refused."""
    kind, values = kind_of(row), dict[str, Any]()
    for name, text in texts.items():
        field, factor = headings_of(kind).get(plain(name).lower(), ("", 1.0))
        if not field or field == "id":
            raise InputError("import.unknown_field", name=name)
        if not text.strip():
            values[field] = type(row).model_fields[field].get_default(call_default_factory=True)
            continue
        try:
            values[field] = _value(kind, field, text, Habit(), factor, catalog, today or datetime.now(UTC).date())
        except UnreadableError as problem:
            raise InputError(problem.code, field=f"field.{field}", value=text.strip()[:80]) from problem
    try:
        made = type(row).model_validate({**dict(row), **values})
    except ValidationError as error:
        name = _where(error)
        raise InputError("import.bad_value", field=f"field.{name}", value=texts.get(name, "")[:80]) from error
    priced = {"price", "price_per_gpu_hour", "currency", "cards"} & values.keys()
    absurd = _absurd(kind, made, catalog) if priced else ()
    if absurd:
        raise InputError(absurd[0].code, **absurd[0].params)
    return made
