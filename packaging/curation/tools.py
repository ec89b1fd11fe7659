"""What the curation of every table needs: reading and writing CSV, ids, dates hidden in notes, the log of changes."""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

#: The state of knowledge of the reference collection; rows without a date of their own were checked by this day.
COLLECTED = "2026-12-01"

Row = dict[str, str]

#: The collection calls the buying guides that started it "seed documents"; a reader of ours knows no such thing.
_GUIDE = re.compile(r"[Ss]eed document|\b[Ss]eed(?= 00\d)|the seed\b")

_COUNTRIES = {
    "United States": "US", "California": "US", "US ": "US", "European Union": "EU", "Germany": "DE", "China": "CN",
    "France": "FR", "United Kingdom": "GB", "India": "IN", "Japan": "JP", "South Korea": "KR", "Singapore": "SG",
    "Sweden": "SE", "Norway": "NO", "Finland": "FI", "Netherlands": "NL", "Ireland": "IE", "Canada": "CA",
    "Australia": "AU", "Poland": "PL", "Brazil": "BR", "United Arab Emirates": "AE", "Taiwan": "TW",
    "Hong Kong": "HK", "Iceland": "IS", "Spain": "ES", "Italy": "IT", "Switzerland": "CH", "South Africa": "ZA",
    "Malaysia": "MY", "Indonesia": "ID", "Thailand": "TH", "Vietnam": "VN", "Saudi Arabia": "SA",
}  # fmt: skip


def read(path: Path) -> list[Row]:
    """All rows of a CSV file."""
    with path.open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    return [{k: _GUIDE.sub("buying guide", v) for k, v in row.items()} for row in rows]


def write(path: Path, columns: Sequence[str], rows: Iterable[Mapping[str, str]]) -> None:
    """Write a CSV file with LF line ends; a key that is not a column is an error."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, columns, lineterminator="\n", restval="")
        writer.writeheader()
        writer.writerows(rows)


def slug(text: str) -> str:
    """Lower-case id of a text: letters, digits, Chinese characters and dots, joined by hyphens."""
    return re.sub(r"[^0-9a-z.\u4e00-\u9fff]+", "-", text.lower()).strip("-.")


class Ids:
    """Gives every row an id of its own: a repeated id gets -2, -3 … in the order of the rows."""

    def __init__(self) -> None:
        self._seen: Counter[str] = Counter()

    def of(self, *parts: str) -> str:
        """The id of a row that is told apart by `parts`."""
        base = ".".join(slug(p) for p in parts if p)
        self._seen[base] += 1
        return base if self._seen[base] == 1 else f"{base}-{self._seen[base]}"


def country_in(text: str) -> str:
    """ISO code of the first country that a text names, else an empty text."""
    found = [(text.find(name), code) for name, code in _COUNTRIES.items() if name in text]
    return min(found)[1] if found else ""


_SEASONS = {"early": "02", "spring": "04", "mid": "07", "summer": "07", "autumn": "10", "end": "12"}
_MONTHS = ["january", "february", "march", "april", "may", "june", "july", "august", "september", "october",
           "november", "december"]  # fmt: skip


def dated_by_note(note: str) -> str:
    """First day of the month that a note names for an undated row ("about July 2026"), else an empty text.

    Only a month or season with its year counts; "2026, page undated" or "about 2022-2023" does not.
    """
    text = note.lower()
    month = re.search(rf"\b({'|'.join(_MONTHS)})\s+(20\d\d)\b", text)
    if month:
        return f"{month[2]}-{_MONTHS.index(month[1]) + 1:02}-01"
    quarter = re.search(r"\bq([1-4])\s+(20\d\d)\b", text)
    if quarter:
        return f"{quarter[2]}-{3 * int(quarter[1]) - 2:02}-01"
    season = re.search(r"\b(early|spring|mid|summer|autumn|end)[- ](?:of )?(20\d\d)\b", text)
    return f"{season[2]}-{_SEASONS[season[1]]}-01" if season else ""


@dataclass
class Changes:
    """The log of what was dropped, fixed or flagged, written beside the data."""

    dropped: list[tuple[str, str, str]] = field(default_factory=list)  # table, what, why
    fixed: list[tuple[str, str, str]] = field(default_factory=list)
    counts: list[tuple[str, str]] = field(default_factory=list)

    def drop(self, table: str, what: str, why: str) -> None:
        """A row that was left out."""
        self.dropped.append((table, what, why))

    def fix(self, table: str, what: str, why: str) -> None:
        """A value that was changed, added or flagged."""
        self.fixed.append((table, what, why))

    def count(self, name: str, value: object) -> None:
        """A number that the file states."""
        self.counts.append((name, str(value)))
