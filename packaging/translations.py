"""Keeps the Chinese words: extract, list what is missing, apply translations from JSON, compile. Needs Babel.

    python packaging/translations.py update           extract all texts and merge them into the .po, compile the .mo
    python packaging/translations.py missing          print untranslated texts as JSON {key: ""}
    python packaging/translations.py apply FILE.json   set translations {key: text}, then compile
    python packaging/translations.py check            exit 1 if anything is missing, fuzzy or out of date

A key is the English text, or ``context|text`` written as "context\\u0004text" where it has a context.
"""

from __future__ import annotations

import contextlib
import fcntl
import io
import json
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from babel.messages.catalog import Catalog
from babel.messages.extract import extract_from_dir
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po, write_po

ROOT = Path(__file__).resolve().parent.parent
PO = ROOT / "resources/locale/zh_CN/LC_MESSAGES/gpu_advisor.po"
KEYWORDS: dict[str, tuple[object, ...] | None] = {
    "_": None,
    "N_": None,
    "gettext": None,
    "fill": (1,),
    "pgettext": ((1, "c"), 2),
    "NP_": ((1, "c"), 2),
    "ngettext": (1, 2),
}
STAMP = datetime(2026, 1, 1, tzinfo=UTC)  # fixed, so that files do not change with the clock


def extract() -> Catalog:
    """All texts of the sources."""
    template = Catalog(project="gpu-advisor", version="1", creation_date=STAMP, charset="utf-8")
    for folder in ("engine", "gui"):
        found = extract_from_dir(
            ROOT / folder,
            [("**.py", "python")],
            keywords=KEYWORDS,  # type: ignore[arg-type]
            comment_tags=("Translators:",),
        )
        for filename, _line, message, comments, context in found:
            template.add(message, None, [(f"{folder}/{filename}", 0)], auto_comments=comments, context=context)
    return template


def load() -> Catalog:
    """The Chinese catalogue as it stands."""
    if not PO.exists():
        return Catalog(locale="zh_CN", project="gpu-advisor", version="1", charset="utf-8")
    with PO.open("rb") as stream:
        return read_po(stream, locale="zh_CN")


def merged() -> Catalog:
    """The Chinese catalogue with the texts of today's sources."""
    catalog = load()
    catalog.update(extract(), no_fuzzy_matching=True)
    catalog.obsolete.clear()
    catalog.creation_date = catalog.revision_date = STAMP
    return catalog


def save(catalog: Catalog) -> None:
    """Write .po and .mo."""
    PO.parent.mkdir(parents=True, exist_ok=True)
    PO.write_bytes(po_bytes(catalog))
    with PO.with_suffix(".mo").open("wb") as stream:
        write_mo(stream, catalog)


def po_bytes(catalog: Catalog) -> bytes:
    """The text of the .po, sorted, without line numbers."""
    out = io.BytesIO()
    write_po(out, catalog, sort_output=True, width=110, include_lineno=False, ignore_obsolete=True)
    return out.getvalue()


def key(message: object) -> str:
    """The JSON key of a message."""
    text = message.id[0] if isinstance(message.id, list | tuple) else message.id  # type: ignore[attr-defined]
    context = message.context  # type: ignore[attr-defined]
    return f"{context}\u0004{text}" if context else text


def untranslated(catalog: Catalog) -> list[str]:
    """Keys without words, or whose words are marked fuzzy."""
    return sorted(key(m) for m in catalog if m.id and (m.fuzzy or not m.string or not any(_strings(m.string))))


def _strings(value: object) -> list[str]:
    return [value] if isinstance(value, str) else list(value)  # type: ignore[call-overload]


def apply(words: dict[str, str]) -> None:
    """Set translations by key."""
    catalog = merged()
    known = {key(m): m for m in catalog if m.id}
    for name, text in words.items():
        if name not in known:
            print(f"not in the sources: {name!r}", file=sys.stderr)
            continue
        message = known[name]
        message.string = (text,) if isinstance(message.id, list | tuple) else text
        message.flags.discard("fuzzy")
    save(catalog)


@contextlib.contextmanager
def locked() -> Iterator[None]:
    """One writer at a time."""
    PO.parent.mkdir(parents=True, exist_ok=True)
    with (PO.parent / ".lock").open("w") as stream:
        fcntl.flock(stream, fcntl.LOCK_EX)
        yield


def main(arguments: list[str]) -> int:
    """Run one command."""
    with locked():
        match arguments:
            case ["update"]:
                save(merged())
            case ["missing"]:
                print(json.dumps(dict.fromkeys(untranslated(merged()), ""), ensure_ascii=False, indent=1))
            case ["apply", file]:
                apply(json.loads(Path(file).read_text(encoding="utf-8")))
            case ["check"]:
                catalog = merged()
                missing = untranslated(catalog)
                for name in missing:
                    print(f"untranslated: {name!r}")
                stale = not PO.exists() or po_bytes(catalog) != PO.read_bytes()
                if stale:
                    print("the .po file is out of date: run `python packaging/translations.py update`")
                return 1 if missing or stale else 0
            case _:
                print(__doc__, file=sys.stderr)
                return 2
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
