"""Prices of cards and servers that one can buy."""

from __future__ import annotations

import re
from collections import defaultdict
from pathlib import Path
from statistics import median

from curation.tools import Changes, Ids, Row, dated_by_note, read, write

COLUMNS = [
    "id", "product", "gpu_ids", "seller", "condition", "price", "currency", "cards", "whole_server", "country",
    "observed_on", "source_url", "source_title", "confidence", "notes",
]  # fmt: skip

#: Units per US dollar, only to compare prices with each other here (rates of August 2026 in the collection).
USD_RATES = {"USD": 1.0, "CNY": 6.75, "EUR": 0.8626}
#: Beyond these multiples of the median of its card, a price is doubted.
ODD_LOW, ODD_HIGH = 0.6, 1.7
_NONCOMMERCIAL = "TeoAmpatzis/gpu-prices-gr"
_SUSPECT = ("implausibly low", "suspect", "modified or mining", "Expected price before launch", "rumour")
_WEAK = ("range", "estimate", "about", "approximate", "computed", "undated", "site root", "as recorded in",
         "condition may be renewed", "unofficial", "launch price", "date from")  # fmt: skip
_WHOLE_MACHINES = ("DGX Spark", "DGX Station", "(with Atlas 800 servers)")
_US_SELLERS = ("Amazon.com", "newegg", "Newegg", "US retail", "B&H", "marketplace.nvidia.com", "eBay")


def purchases(reference: Path, target: Path, aliases: dict[str, Row], changes: Changes) -> list[Row]:
    """Write purchase_prices.csv; returns the rows that name no known card."""
    ids, kept, unjoined = Ids(), [], []
    rows = read(reference / "prices/purchase_prices.csv")
    for row in rows:
        reason = _unusable(row)
        if reason:
            what = f"{row['gpu']}, {row['seller_or_source']}, {row['price']} {row['currency']}"
            changes.drop("purchase_prices", f"{what}, {row['observed_on'] or 'undated'}", reason)
            continue
        alias = aliases.get(row["gpu"])
        if alias is None or not alias["gpu_ids"]:
            unjoined.append({"table": "purchase_prices", "name": row["gpu"], "seller": row["seller_or_source"],
                             "reason": alias["notes"] if alias else "not in gpu_aliases.csv"})  # fmt: skip
            continue
        kept.append(_purchase(row, alias, ids, changes))
    _mark_odd(kept, changes)
    write(target / "purchase_prices.csv", COLUMNS, kept)
    changes.count("purchase prices in the collection", len(rows))
    changes.count("purchase prices kept", len(kept))
    changes.count("purchase prices whose card is not in the catalogue (unjoined.csv)", len(unjoined))
    return unjoined


def _unusable(row: Row) -> str:
    if _NONCOMMERCIAL in row["source_url"]:
        return "source is licensed for non-commercial use only"
    if row["seller_or_source"].startswith("buying guide 003"):
        return "a guide without source or date of its price; several of its prices are wrong by a factor of 10 to 20"
    if any(w in f"{row['notes']} {row['seller_or_source']}" for w in _SUSPECT):
        return "the source itself doubts the price, or it was published before the card was sold"
    return "" if float(row["price"] or 0) > 0 else "no price, or zero"


def _purchase(row: Row, alias: Row, ids: Ids, changes: Changes) -> Row:
    observed, notes = row["observed_on"], row["notes"]
    if not observed and (guess := dated_by_note(notes)):
        observed = guess
        notes += f"; date set to {guess} from the words of the source"
        changes.fix("purchase_prices", f"{row['gpu']}, {row['seller_or_source']}", f"undated, dated {guess}")
    match = re.match(r"server-of-(\d+)", alias["kind"])
    cards = int(match[1]) if match else 1
    bare = "baseboard" in row["gpu"]
    greek_hopper = "deltacomputer" in row["seller_or_source"] and "GH200" in row["gpu"]
    whole = (match is not None and not bare) or any(w in row["gpu"] for w in _WHOLE_MACHINES) or greek_hopper
    if greek_hopper:
        changes.fix("purchase_prices", f"{row['gpu']}, {row['seller_or_source']}", "a whole server by its page")
    return {
        "id": ids.of(row["gpu"], row["seller_or_source"], row["condition"], observed or "undated"),
        "product": row["gpu"], "gpu_ids": row["gpu_id"], "seller": row["seller_or_source"],
        "condition": row["condition"], "price": row["price"], "currency": row["currency"], "cards": str(cards),
        "whole_server": "true" if whole else "false", "country": _country(row), "observed_on": observed,
        "source_url": row["source_url"], "source_title": row["seller_or_source"],
        "confidence": _confidence(row, observed), "notes": notes,
    }  # fmt: skip


def _mark_odd(rows: list[Row], changes: Changes) -> None:
    """Confidence low where the price of one card is far from the median of its card in the same condition."""
    groups: dict[tuple[str, bool], list[Row]] = defaultdict(list)
    for row in rows:
        groups[row["gpu_ids"], row["condition"] == "used"].append(row)
    for members in groups.values():
        middle = median(_usd_per_card(r) for r in members)
        for row in members:
            ratio = _usd_per_card(row) / middle
            if not ODD_LOW <= ratio <= ODD_HIGH and row["confidence"] != "low":
                row["confidence"] = "low"
                changes.fix("purchase_prices", row["id"], f"{ratio:.2g} x the median price of its card: confidence low")


def _usd_per_card(row: Row) -> float:
    return float(row["price"]) / int(row["cards"]) / USD_RATES[row["currency"]]


def _country(row: Row) -> str:
    text = f"{row['seller_or_source']} {row['notes']}"
    if row["currency"] == "CNY" or "Chin" in text:
        return "CN"
    return "US" if any(s in text for s in _US_SELLERS) else ""


def _confidence(row: Row, observed: str) -> str:
    text = f"{row['notes']} {row['seller_or_source']}".lower()
    if not observed or not row["observed_on"] or any(w in text for w in _WEAK):
        return "low"
    return "medium"
