"""Is the catalogue whole, how much of it joins, and how old are its prices?"""

from __future__ import annotations

import csv
import io
from collections import Counter
from datetime import date
from importlib.resources import files
from typing import TypeAlias

from pydantic import Field

from engine.catalog.build import content_sha256
from engine.findings import Finding, Severity
from engine.hardware.model import CatalogSnapshot, Offer, PurchasePrice
from engine.quantity import Frozen

__all__ = ["STALE_DAYS", "CatalogCheck", "check_catalog"]

#: Prices older than this are warned of: marketplaces move daily, list prices every few months.
STALE_DAYS = 60
Parameter: TypeAlias = str | int | float | None


class CatalogCheck(Frozen):
    """What a check found; `findings` is empty where nothing is wrong."""

    version: str
    sha256: str
    content_sha256: str  # computed now from the tables that ship
    rows: dict[str, int]
    gpus_for_memory: int
    gpus_for_time: int
    offers_joined: float = Field(ge=0, le=1)
    offers_current: int
    current_by_age: dict[str, int]  # "0-60", "61-180", "181-365", "over 365" days before `as_of`
    as_of: date
    newest_price: date | None
    oldest_current_price: date | None
    own_rows: int
    findings: tuple[Finding, ...] = ()


def check_catalog(catalog: CatalogSnapshot, as_of: date) -> CatalogCheck:
    """Recompute the hash of the tables, the joined share of offers, and the ages of current prices on a day."""
    found = content_sha256()
    unjoined = _unjoined_offers()
    bundled = [o for o in catalog.offers if o.origin == "catalog"]
    total = len(bundled) + unjoined
    current = [o for o in catalog.offers if o.current and not o.members_only and o.observed_on]
    days = [o.observed_on for o in current if o.observed_on]
    ages = [(as_of - d).days for d in days]
    kinds = ("gpus", "systems", "offers", "purchase_prices", "api_prices", "cost_items", "exchange_rates", "models")
    own = [r for r in (*catalog.offers, *catalog.purchase_prices) if r.origin == "user"]
    return CatalogCheck(
        version=catalog.version,
        sha256=catalog.sha256,
        content_sha256=found,
        rows={k: len(getattr(catalog, k)) for k in kinds},
        gpus_for_memory=sum(g.usable_bytes is not None for g in catalog.gpus),
        gpus_for_time=sum(bool((g.bf16_flops or g.fp16_flops) and g.memory_bytes_per_second) for g in catalog.gpus),
        offers_joined=len(bundled) / total if total else 1.0,
        offers_current=len(current),
        current_by_age=dict(Counter(_band(a) for a in sorted(ages))),
        as_of=as_of,
        newest_price=max(days, default=None),
        oldest_current_price=min(days, default=None),
        own_rows=len(own),
        findings=(*_findings(catalog.sha256, found, unjoined, total, ages, as_of), *_expired(own, as_of)),
    )


def _band(age: int) -> str:
    for limit, name in ((STALE_DAYS, f"0-{STALE_DAYS}"), (180, f"{STALE_DAYS + 1}-180"), (365, "181-365")):
        if age <= limit:
            return name
    return "over 365"


def _findings(
    recorded: str, found: str, unjoined: int, total: int, ages: list[int], as_of: date
) -> tuple[Finding, ...]:
    findings: list[Finding] = []
    if recorded != found:
        differ: dict[str, Parameter] = {"recorded": recorded[:12], "found": found[:12]}
        findings.append(Finding(code="catalog.rows_differ", severity=Severity.SERIOUS, params=differ))
    if unjoined:
        findings.append(Finding(code="catalog.unjoined", params={"count": unjoined, "total": total}))
    stale = sum(a > STALE_DAYS for a in ages)
    if stale:
        old: dict[str, Parameter] = {"count": stale, "total": len(ages), "days": STALE_DAYS, "as_of": as_of.isoformat()}
        findings.append(Finding(code="catalog.stale_prices", severity=Severity.WARNING, params=old))
    return tuple(findings)


def _expired(own: list[Offer | PurchasePrice], as_of: date) -> tuple[Finding, ...]:
    """Quotations by which their seller no longer stands."""
    return tuple(
        Finding(
            code="catalog.quotation_expired",
            severity=Severity.WARNING,
            params={"id": row.id, "date": row.valid_until.isoformat()},
        )
        for row in own
        if row.valid_until is not None and row.valid_until < as_of
    )


def _unjoined_offers() -> int:
    text = (files("resources") / "catalog" / "unjoined.csv").read_text(encoding="utf-8")
    return sum(row["table"] == "offers" for row in csv.DictReader(io.StringIO(text, newline="")))
