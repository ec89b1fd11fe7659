"""What the sources of the catalogue ask for, for the About box and THIRD_PARTY.md."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass
from importlib.resources import files

__all__ = ["Attribution", "attributions"]


@dataclass(frozen=True, slots=True)
class Attribution:
    """A source, its licence, and the words that it asks for."""

    source: str
    licence: str
    source_url: str
    text: str


def attributions() -> tuple[Attribution, ...]:
    """All sources whose licence asks for a mention, and one line for the rest."""
    table = (files("resources") / "catalog" / "licences.csv").read_text(encoding="utf-8")
    return tuple(
        Attribution(source=r["source"], licence=r["licence"], source_url=r["source_url"], text=r["attribution"])
        for r in csv.DictReader(io.StringIO(table, newline=""))
    )
