"""Rental offers."""

from __future__ import annotations

import re
from collections import defaultdict
from datetime import date
from pathlib import Path
from statistics import median

from curation.tools import COLLECTED, Changes, Ids, Row, dated_by_note, read, write

COLUMNS = [
    "id", "provider", "provider_kind", "product", "gpu_name", "gpu_ids", "gpus_per_unit", "region", "country",
    "price_per_gpu_hour", "currency", "term", "vcpus", "ram_gb", "storage_gb", "interconnect", "observed_on",
    "current", "gpu_only", "members_only", "source_url", "source_title", "confidence", "notes",
]  # fmt: skip

#: An older row of an offer is history once the same provider showed a newer price of that card and term.
SUPERSEDED_DAYS = 60
#: A price last seen longer ago than this, before the day of the collection, is history whoever asked it.
OLD_DAYS = 365
CNY_PER_USD = 6.75  # rate of 2026-08-18 in the collection; only to compare prices with each other here
#: Below or above these multiples of the median price of the card, a price is doubted: confidence low.
ODD_LOW, ODD_HIGH = 0.34, 3.0

_REGIONS = (
    (r"^us-|^eastus|^us$|US$|virginia|california|texas|new jersey|new york", "US"),
    (r"^china", "CN"),
    (r"^ap-south-1$|^asia-south1$|^southindia$|india", "IN"),
)
_WEAK = (
    "site root", "undated", "not a market average", "doubtful", "promotional", "order of magnitude",
    "low against other sources", "market figure", "as recorded in", "computed", "lowest of the range",
    "may include reseller margin", "superchip as stated", "average over", "article", "rounded in the source",
)  # fmt: skip
_STRONG_KINDS = ("hyperscaler",)


def offers(reference: Path, target: Path, aliases: dict[str, Row], changes: Changes) -> list[Row]:
    """Write offers.csv; returns the rows that name no known card."""
    ids, kept, unjoined = Ids(), [], []
    rows = read(reference / "prices/cloud_prices.csv")
    for row in rows:
        alias = aliases.get(row["gpu"])
        if alias is None or not alias["gpu_ids"]:
            unjoined.append({"table": "offers", "name": row["gpu"], "seller": row["provider"],
                             "reason": alias["notes"] if alias else "not in gpu_aliases.csv"})  # fmt: skip
            continue
        if alias["gpu_ids"] != row["gpu_id"]:
            raise SystemExit(f"{row['gpu']}: {row['gpu_id']} is not what the alias table says")
        reason = _unusable(row)
        if reason:
            changes.drop("offers", f"{row['provider']}, {row['gpu']}, {row['price_per_gpu_hour']} {row['currency']}, "
                                   f"{row['observed_on'] or 'undated'}", reason)  # fmt: skip
            continue
        kept.append(_offer(row, ids, changes))
    _mark_odd(kept, changes)
    _mark_current(kept, changes)
    write(target / "offers.csv", COLUMNS, kept)
    changes.count("offers in the collection", len(rows))
    changes.count("offers kept", len(kept))
    changes.count("offers current (latest price of a provider, card and term)",
                  sum(r["current"] == "true" for r in kept))  # fmt: skip
    changes.count("offers whose card is not in the catalogue (unjoined.csv)", len(unjoined))
    changes.count("offers without any date (history only)", sum(not r["observed_on"] for r in kept))
    changes.count("offers open to members only (history only)", sum(r["members_only"] == "true" for r in kept))
    return unjoined


def _unusable(row: Row) -> str:
    price = float(row["price_per_gpu_hour"] or 0)
    if price <= 0:
        return "no price, or zero"
    if row["provider"] == "Prime Intellect" and row["gpu"] == "NVIDIA H100 80GB SXM5" and price == 1:
        return "exactly 1.00 USD on three dates, a quarter of the usual price: a placeholder or a bid floor"
    if "memory size doubtful" in row["notes"] or ("memory size not stated" in row["notes"] and "low" in row["notes"]):
        return "the source leaves open which card it prices, and the price fits a smaller one"
    return ""


def _offer(row: Row, ids: Ids, changes: Changes) -> Row:
    members = any(w in row["provider"] for w in ("university rate", "institute rate"))
    observed, notes = row["observed_on"], row["notes"]
    if not observed and (guess := dated_by_note(notes)):
        observed = guess
        notes += f"; date set to {guess} from the words of the source"
        changes.fix("offers", f"{row['provider']}, {row['gpu']}", f"undated, dated {guess} from its note")
    if "a superchip carries 2 GPUs" in notes:
        changes.fix("offers", f"{row['provider']}, {row['gpu']}",
                    "per superchip or per card is not clear: kept as stated, the dearer reading")  # fmt: skip
    return {
        "id": ids.of(row["provider"], row["gpu"], row["product"], row["term"], row["region"],
                     f"{row['gpus']}x" if row["gpus"] else "", observed or "undated"),
        "provider": row["provider"], "provider_kind": row["provider_kind"], "product": row["product"],
        "gpu_name": row["gpu"], "gpu_ids": row["gpu_id"], "gpus_per_unit": row["gpus"], "region": row["region"],
        "country": _country(row), "price_per_gpu_hour": row["price_per_gpu_hour"], "currency": row["currency"],
        "term": row["term"],
        "vcpus": row["vcpus"], "ram_gb": row["ram_gb"], "storage_gb": row["local_storage_gb"],
        "interconnect": row["interconnect"], "observed_on": observed, "current": "",
        "gpu_only": "true" if "GPU component only" in notes else "false",
        "members_only": "true" if members else "false", "source_url": row["source_url"],
        "source_title": row["source_title"], "confidence": _confidence(row, observed), "notes": notes,
    }  # fmt: skip


def _country(row: Row) -> str:
    region = row["region"]
    suffix = re.search(r", ([A-Z]{2})$", region)
    if suffix:
        return suffix[1]
    for pattern, country in _REGIONS:
        if region and region != "EU / US" and re.search(pattern, region, re.IGNORECASE):
            return country
    return "CN" if row["currency"] == "CNY" else ""


def _confidence(row: Row, observed: str) -> str:
    text = f"{row['notes']} {row['source_title']}"
    if not observed or not row["observed_on"] or any(w in text for w in _WEAK):
        return "low"
    return "high" if row["provider_kind"] in _STRONG_KINDS else "medium"


def _usd(row: Row) -> float:
    return float(row["price_per_gpu_hour"]) / (CNY_PER_USD if row["currency"] == "CNY" else 1)


def _mark_odd(rows: list[Row], changes: Changes) -> None:
    """Confidence low where a price is far from the median of its card (spot and members' prices apart)."""
    groups: dict[tuple[str, bool], list[Row]] = defaultdict(list)
    for row in rows:
        if row["members_only"] == "false":
            groups[row["gpu_ids"], row["term"] == "spot"].append(row)
    for members in groups.values():
        middle = median(_usd(r) for r in members)
        for row in members if len(members) > 3 else ():
            ratio = _usd(row) / middle
            if (
                not ODD_LOW <= ratio <= ODD_HIGH
                and row["confidence"] != "low"
                and row["provider_kind"] != "hyperscaler"
            ):
                row["confidence"] = "low"
                row["notes"] = "; ".join(x for x in (row["notes"], f"{ratio:.2g} x the median price of this card") if x)
                changes.fix("offers", row["id"], f"{ratio:.2g} x the median price of its card: confidence low")


def _mark_current(rows: list[Row], changes: Changes) -> None:
    """Current = the latest dated row of an offer, unless its provider showed a clearly newer price of that card."""
    latest_of_offer: dict[tuple[str, ...], str] = {}
    latest_of_group: dict[tuple[str, ...], str] = {}
    for row in rows:
        if row["observed_on"]:
            for table, key in ((latest_of_offer, _offer_key(row)), (latest_of_group, _group_key(row))):
                table[key] = max(table.get(key, ""), row["observed_on"])
    superseded = outdated = 0
    for row in rows:
        day = row["observed_on"]
        excluded = not day or row["members_only"] == "true" or "average over" in row["notes"]
        if excluded or day != latest_of_offer[_offer_key(row)]:
            row["current"] = "false"
            continue
        age = (date.fromisoformat(latest_of_group[_group_key(row)]) - date.fromisoformat(day)).days
        old = (date.fromisoformat(COLLECTED) - date.fromisoformat(day)).days > OLD_DAYS
        row["current"] = "false" if age > SUPERSEDED_DAYS or old else "true"
        superseded += age > SUPERSEDED_DAYS
        outdated += old and age <= SUPERSEDED_DAYS
    changes.fix("offers", f"{superseded} rows that were the latest of their shape or region",
                f"not current: the same provider showed a price of that card and term more than {SUPERSEDED_DAYS} "
                "days later")  # fmt: skip
    changes.fix("offers", f"{outdated} rows that were the latest of their provider",
                f"not current: last seen more than {OLD_DAYS} days before {COLLECTED}")  # fmt: skip
    averages = sum("average over" in r["notes"] for r in rows)
    changes.fix("offers", f"{averages} averages over the configurations of a provider",
                "history only: an average can't be rented")  # fmt: skip


def _offer_key(row: Row) -> tuple[str, ...]:
    return tuple(row[k] for k in ("provider", "product", "gpu_ids", "term", "region", "gpus_per_unit"))


def _group_key(row: Row) -> tuple[str, ...]:
    return tuple(row[k] for k in ("provider", "gpu_ids", "term"))
