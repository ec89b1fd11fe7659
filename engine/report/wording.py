"""From a `Document` to words of one language: plain data for the Typst template, no markup in it."""

from __future__ import annotations

from datetime import date
from typing import Any

from engine.findings import Finding
from engine.i18n import Language
from engine.messages.mark import N_
from engine.quantity import Money, MoneyEstimate
from engine.report import document as d
from engine.report.glyphs import printable
from engine.report.rules import Both

__all__ = ["OPEN_WORDS", "spoken", "words"]

OPEN_WORDS = N_("[to be completed]")
OPEN_COUNT = N_("{count:int} items to be completed")
#: Phrases of the engine's own that stand in sources.
SOURCE_PHRASES = (
    N_("planning assumption"),
    N_("assumption"),
    N_("stated by the user"),
    N_("nothing published for this case, the nearest figure stands in"),
    N_("judgement"),
)
#: What stands between the parts of a list or between sentences in Chinese.
_SEPARATORS = {", ": "、", "; ": "；", ". ": "。"}


def words(value: d.Value | str | int | float, language: Language) -> str:
    """A value as text that our fonts can print."""
    return printable(_words(value, language))


def _words(value: d.Value | str | int | float, language: Language) -> str:
    match value:
        case d.Say():
            return language.fill(value.template, **{k: _param(v, language) for k, v in value.params.items()})
        case d.Label():
            return language.label(value.code)
        case Both():
            return value.chinese if language.chinese else value.text
        case d.Text():
            return value.text
        case d.Source():
            return _source(value.text, language)
        case d.Amount():
            return _amount(value.kind, value.value, language)
        case d.Range():
            return _range(value, language)
        case d.Join():
            separator = _SEPARATORS.get(value.separator, value.separator) if language.chinese else value.separator
            return separator.join(words(part, language) for part in value.parts)
        case d.Ordinal():
            return _chinese_ordinal(value.number) if language.chinese else str(value.number)
        case d.Open():
            return language.gettext(OPEN_WORDS)
        case Finding():
            return language.text(value)
        case _:
            return str(value)


def _source(text: str, language: Language) -> str:
    """A citation with its parts in the reader's language; a dash where there is none."""
    return language.source(text) or "–"


def _chinese_ordinal(number: int) -> str:
    """Section numbers as Chinese documents count them, 1 to 19."""
    digits = "零一二三四五六七八九十"
    return digits[number] if number <= 10 else f"十{digits[number - 10]}"


def _param(value: object, language: Language) -> object:
    """Plain numbers and strings stay raw for the template's own formats; values become words."""
    if value is None or isinstance(value, str | int | float):
        return value
    return words(value, language)  # type: ignore[arg-type]


def _amount(kind: d.Kind, value: float | date | MoneyEstimate, language: Language) -> str:
    if isinstance(value, MoneyEstimate):
        return language.money_document(value)
    if isinstance(value, date):
        return language.date(value)
    template = "{value:" + kind + "}"
    return language.fill(template, value=value)


def _range(value: d.Range, language: Language) -> str:
    estimate = value.value
    if isinstance(estimate, MoneyEstimate):
        low = language.money_document(Money(amount=estimate.low, currency=estimate.currency))
        high = language.money_document(Money(amount=estimate.high, currency=estimate.currency))
    else:
        low, high = _amount(value.kind, estimate.low, language), _amount(value.kind, estimate.high, language)
    if low == high:
        return low
    unit = _common_unit(low, high)
    return f"{low[: len(low) - len(unit)].rstrip()} – {high}" if unit else f"{low} – {high}"


def _common_unit(low: str, high: str) -> str:
    """The unit after both numbers, if it is the same: "1.2 – 3.4 GiB" rather than "1.2 GiB – 3.4 GiB"."""
    tail = low.lstrip("-0123456789.,")
    return tail if tail and tail == high.lstrip("-0123456789.,") else ""


def spoken(document: d.Document, language: Language, figures: dict[int, dict[str, str]]) -> dict[str, Any]:
    """The whole document as the template reads it. `figures` gives svg, caption and alt text by `id` of the figure."""
    open_fields = d.count_open((document.head, document.sections))
    return {
        "lang": "zh" if language.chinese else "en",
        "region": "cn" if language.chinese else "us",
        "profile": document.profile,
        "title": words(document.title, language),
        "subtitle": words(document.subtitle, language),
        "head": _block(document.head, language, figures),
        "sections": [
            {
                "title": words(section.title, language),
                "level": section.level,
                "new_page": section.new_page,
                "blocks": [_block(b, language, figures) for b in section.blocks],
            }
            for section in document.sections
        ],
        "open": language.fill(OPEN_COUNT, count=open_fields),
        "draft": language.gettext("DRAFT") if document.profile not in ("memo", "full") and open_fields else "",
        "open_words": language.gettext(OPEN_WORDS),
        "date": language.date(document.created),
        "contents": language.gettext("Contents"),
        "footer": {
            "left": language.fill("{id} · result {hash}", id=document.report_id, hash=document.result_sha256[:12]),
            "page": language.gettext("page {page} of {pages}"),
        },
    }


def _block(block: d.Block, language: Language, figures: dict[int, dict[str, str]]) -> dict[str, Any]:
    def put(value: d.Value) -> str:
        return words(value, language)

    match block:
        case d.Paragraph():
            return {"kind": "paragraph", "style": block.style, "text": put(block.value)}
        case d.Facts():
            rows = [{"name": put(r.name), "value": put(r.value), "origin": r.origin} for r in block.rows]
            marks = {"default": language.gettext("default"), "assumed": language.gettext("assumed")}
            return {"kind": "facts", "columns": block.columns, "rows": rows, "marks": marks}
        case d.Table():
            return _table(block, language)
        case d.Figure():
            return {"kind": "figure", "small": block.small, "number": block.number, **figures[id(block)]}
        case d.Bullets():
            return {"kind": "bullets", "numbered": block.numbered, "items": [put(i) for i in block.items]}
        case d.Cards():
            cards = [{"name": put(c.name), "value": put(c.value), "meaning": put(c.meaning)} for c in block.cards]
            return {"kind": "cards", "cards": cards}
        case d.Code():
            return {"kind": "code", "text": printable(block.text)}
        case d.Signature():
            return {"kind": "signature", "names": [put(n) for n in block.names]}
        case d.SideBySide():
            left = [_block(b, language, figures) for b in block.left]
            return {"kind": "side", "left": left, "right": [_block(b, language, figures) for b in block.right]}


def _table(table: d.Table, language: Language) -> dict[str, Any]:
    return {
        "kind": "table",
        "number": table.number,
        "caption": words(table.caption, language),
        "columns": [{"title": words(c.title, language), "align": c.align, "weight": c.weight} for c in table.columns],
        "rows": [[words(cell, language) for cell in row] for row in table.rows],
        "strong": list(table.strong),
        "note": words(table.note, language) if table.note is not None else "",
    }
