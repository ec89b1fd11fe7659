"""How a value of a catalogue row is shown: by the name of its field, which carries the unit. No Qt."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from decimal import Decimal

from pydantic import BaseModel

from engine.i18n import Language
from engine.messages import LABELS, N_
from engine.quantity import Money, gb_per_s, tflops

__all__ = ["details", "field_value", "names_of"]

#: Fields whose value is a code with words of its own, and where these words are.
CODES: Mapping[str, str] = {
    "term": "term",
    "provider_kind": "provider",
    "condition": "condition",
    "origin": "origin",
    "confidence": "confidence",
    "usable_basis": "basis",
}
#: Codes that only the catalogue's pages show.
WORDS: Mapping[str, str] = {
    "datacenter": N_("Data centre"),
    "cloud-only": N_("Cloud only"),
    "workstation": N_("Workstation"),
    "edge": N_("Edge device"),
    "consumer": N_("Consumer card"),
    "soc": N_("Chip with shared memory"),
    "current": N_("Current product"),
    "legacy": N_("Older product"),
    "eol": N_("No longer made"),
    "announced": N_("Announced"),
    "unofficial": N_("Unofficial modification"),
    "inference": N_("Inference"),
    "fine-tune": N_("Fine-tuning"),
    "electricity": N_("Electricity price"),
    "pue": N_("Power usage effectiveness (PUE)"),
    "colocation": N_("Colocation"),
    "storage": N_("Storage"),
    "egress": N_("Data egress"),
    "failure": N_("Failures"),
    "spot": N_("Interruptions of spot instances"),
    "residual": N_("Residual value"),
    "power": N_("Power draw"),
    "wage": N_("Wages"),
    "part": N_("Parts of a machine"),
    "fabric": N_("Network between nodes"),
    "carbon": N_("Grid emission factor"),
    "embodied-carbon": N_("Emissions of manufacture"),
    "api-service": N_("API service fees"),
    "market-index": N_("Market index"),
    "subsidy": N_("Subsidies"),
    "price-change": N_("Change of prices"),
}
WORD_FIELDS = ("segment", "status", "kind")

MONEY = (
    "price_per_gpu_hour",
    "price",
    "input_per_million_tokens",
    "output_per_million_tokens",
    "training_per_million_tokens",
)
COUNTS = ("parameters_total", "parameters_active")


def names_of(gpu_ids: tuple[str, ...], names: Mapping[str, str]) -> str:
    """Cards by their names; an id that the catalogue does not know stays as it is."""
    return " / ".join(names.get(i, i) for i in gpu_ids)


def field_value(row: BaseModel, field: str, language: Language, names: Mapping[str, str]) -> str:
    """One field in words; empty where it is not known."""
    value = getattr(row, field)
    if value is None or value == "" or value == ():
        return ""
    if field in CODES:
        return language.label(f"{CODES[field]}.{value}")
    if field in WORD_FIELDS:
        return language.gettext(WORDS.get(value, value))
    if field in MONEY:
        return language.money(Money(amount=value, currency=row.currency))  # type: ignore[attr-defined]
    if field == "gpu_id":
        return names.get(value, value)
    if field == "gpu_ids":
        return names_of(value, names)
    return _by_unit(field, value, language)


def _by_unit(field: str, value: object, language: Language) -> str:
    if isinstance(value, bool):
        return language.pgettext("answer", "yes") if value else language.pgettext("answer", "no")
    if isinstance(value, date):
        return language.date(value)
    if isinstance(value, tuple):
        return ", ".join(str(v) for v in value)
    if not isinstance(value, int | float | Decimal):
        return str(value)
    number = float(value)
    if field.endswith("bytes_per_second"):
        return f"{language.number(number / gb_per_s(1))} GB/s"
    if field.endswith("_flops"):
        return f"{language.number(number / tflops(1))} TFLOPS"
    if field.endswith("_bytes"):
        return language.gib(number)
    return language.count(number) if field in COUNTS else language.number(number)


#: Texts that are not facts of the row but belong below them.
LAST = ("region_notes", "notes", "source_title", "source_url", "source_date", "observed_on", "confidence", "origin")


def details(row: BaseModel, language: Language, names: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    """All known fields of a row with their names, the source last; a tuple of (name, value)."""
    known = [f for f in type(row).model_fields if f"field.{f}" in LABELS and f != "currency"]
    ordered = [*(f for f in known if f not in LAST), *(f for f in LAST if f in known)]
    pairs = ((language.label(f"field.{f}"), field_value(row, f, language, names)) for f in ordered)
    return tuple(pair for pair in pairs if pair[1])
