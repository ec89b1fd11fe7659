"""`Document`: a report as values, before any language. Numbers stand here once; both languages print the same ones.

A value is one of: `Say` (an English template with parameters), `Label` (a code), `Text` (what a person or the
catalogue wrote, verbatim), `Amount` and `Range` (numbers with their kind), `Finding`, `Open` (to be completed).
`engine.report.wording` turns a document into words of one language.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from typing import Literal, TypeAlias

from engine.findings import Finding
from engine.quantity import Estimate, MoneyEstimate

__all__ = [
    "OPEN", "Amount", "Block", "Bullets", "Card", "Cards", "Chart", "Code", "Column", "Document", "Fact", "Facts",
    "Figure", "Join", "Kind", "Label", "Open", "Ordinal", "Paragraph", "Profile", "Range", "Say", "Section",
    "SideBySide", "Signature", "Source", "Table", "Text", "Value", "count_open", "say",
]  # fmt: skip

Profile = Literal["memo", "full", "university", "grant", "research", "business"]
#: How a number is written; "money" is a `Money` or `MoneyEstimate`, the others are plain numbers.
Kind = Literal["gib", "gb", "int", "num", "pct", "count", "money", "days", "hours", "duration", "date", "factor"]


@dataclass(frozen=True, slots=True)
class Say:
    """An English template, translated and filled in later; parameters may be values themselves."""

    template: str
    params: Mapping[str, Value | str | int | float] = field(default_factory=dict)


def say(template: str, **params: Value | str | int | float) -> Say:
    """`say(N_("{n:int} cards"), n=8)`; a parameter that is a value is put into words first."""
    return Say(template, params)


@dataclass(frozen=True, slots=True)
class Label:
    """The words of a label code."""

    code: str


@dataclass(frozen=True, slots=True)
class Text:
    """Verbatim text of a person or of the catalogue; never read as markup."""

    text: str


@dataclass(frozen=True, slots=True)
class Source:
    """Where a figure comes from, as the engine cites it; the few phrases of our own in it are translated."""

    text: str


@dataclass(frozen=True, slots=True)
class Amount:
    """One number."""

    kind: Kind
    value: float | date | MoneyEstimate


@dataclass(frozen=True, slots=True)
class Range:
    """Low to high of an estimate."""

    kind: Kind
    value: Estimate | MoneyEstimate


@dataclass(frozen=True, slots=True)
class Join:
    """Several values one after the other; the separator is a template too (", ", "; ", line break)."""

    parts: tuple[Value, ...]
    separator: str = ", "


@dataclass(frozen=True, slots=True)
class Ordinal:
    """The number of a section: 1, 2 … or 一、二 …."""

    number: int


@dataclass(frozen=True, slots=True)
class Open:
    """A fact that only the applicant knows: printed as to be completed, never invented."""


OPEN = Open()
Value: TypeAlias = "Say | Label | Text | Source | Amount | Range | Join | Ordinal | Finding | Open"


@dataclass(frozen=True, slots=True)
class Paragraph:
    """Running text; `style` is how it is set."""

    value: Value
    style: Literal["normal", "lead", "note", "warning"] = "normal"


@dataclass(frozen=True, slots=True)
class Fact:
    """A name and its value; `origin` sets defaults and assumptions in a visibly different style (rule R1)."""

    name: Value
    value: Value
    origin: Literal["", "default", "assumed"] = ""


@dataclass(frozen=True, slots=True)
class Facts:
    """Names and values in `columns` pairs beside each other."""

    rows: tuple[Fact, ...]
    columns: int = 1


@dataclass(frozen=True, slots=True)
class Column:
    """A table's column: `weight` is its share of the width, 0 = as wide as its content."""

    title: Value
    align: Literal["left", "right", "center"] = "left"
    weight: float = 0.0


@dataclass(frozen=True, slots=True)
class Table:
    """A table whose head repeats on every page. `strong` names rows to be set in bold (totals, the recommendation)."""

    number: str  # T3, ...
    caption: Value
    columns: tuple[Column, ...]
    rows: tuple[tuple[Value, ...], ...]
    strong: tuple[int, ...] = ()
    note: Value | None = None


#: Which drawing function makes a figure.
Chart = Literal["memory", "timeline", "time", "cost", "cash", "ways", "tornado", "scaling", "split"]


@dataclass(frozen=True, slots=True)
class Figure:
    """A chart of the plans whose ids are given (ways, tornado: of the whole advice)."""

    number: str  # F1, ...
    chart: Chart
    plan_ids: tuple[str, ...] = ()
    small: bool = False


@dataclass(frozen=True, slots=True)
class Bullets:
    """A list."""

    items: tuple[Value, ...]
    numbered: bool = False


@dataclass(frozen=True, slots=True)
class Card:
    """One number set large, with its name and what it means."""

    name: Value
    value: Value
    meaning: Value


@dataclass(frozen=True, slots=True)
class Cards:
    """Large numbers side by side."""

    cards: tuple[Card, ...]


@dataclass(frozen=True, slots=True)
class Code:
    """A file printed as it is."""

    text: str


@dataclass(frozen=True, slots=True)
class Signature:
    """Lines to sign on; never filled in."""

    names: tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class SideBySide:
    """Text on the left, something on the right."""

    left: tuple[Block, ...]
    right: tuple[Block, ...]


Block: TypeAlias = "Paragraph | Facts | Table | Figure | Bullets | Cards | Code | Signature | SideBySide"


@dataclass(frozen=True, slots=True)
class Section:
    """A heading and what stands under it."""

    title: Value
    blocks: tuple[Block, ...]
    level: int = 1
    new_page: bool = False


@dataclass(frozen=True, slots=True)
class Document:
    """A whole report."""

    profile: Profile
    title: Value
    subtitle: Value
    head: Facts
    sections: tuple[Section, ...]
    report_id: str
    result_sha256: str
    created: date


def count_open(node: object) -> int:
    """How many fields of a document (or of a part of it) are still to be completed."""
    if isinstance(node, Open):
        return 1
    if isinstance(node, tuple):
        return sum(count_open(part) for part in node)
    if isinstance(node, Mapping):
        return sum(count_open(part) for part in node.values())
    fields = getattr(node, "__dataclass_fields__", None)
    return sum(count_open(getattr(node, name)) for name in fields) if fields else 0
