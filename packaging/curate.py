"""Curates the reference collection into the CSV files that ship. Not needed to run, build or test the program.

    python packaging/curate.py REFERENCE_FOLDER

REFERENCE_FOLDER holds gpus/, prices/ and models/ as collected. Every rule that fixes, drops or flags a row stands
in `packaging/curation/`; what they did is listed in `resources/catalog/CHANGES.md`. Two runs give the same bytes.
"""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

from curation.gpus import gpu_aliases, gpus, systems
from curation.models import model_aliases, models
from curation.offers import offers
from curation.others import api_prices, licences, other_costs
from curation.purchases import purchases
from curation.tools import COLLECTED, Changes, write

ROOT = Path(__file__).resolve().parent.parent
CATALOG = ROOT / "resources" / "catalog"
MODELS = ROOT / "resources" / "models"


def main(arguments: list[str]) -> int:
    """Run the curation."""
    if len(arguments) != 1 or not Path(arguments[0]).is_dir():
        print(__doc__, file=sys.stderr)
        return 2
    reference, changes = Path(arguments[0]), Changes()
    gpu_ids = gpus(reference, CATALOG, changes)
    systems(reference, CATALOG, gpu_ids, changes)
    aliases = gpu_aliases(reference, CATALOG, gpu_ids, changes)
    unjoined = offers(reference, CATALOG, aliases, changes)
    unjoined += purchases(reference, CATALOG, aliases, changes)
    other_costs(reference, CATALOG, changes)
    api_prices(reference, CATALOG, changes)
    model_ids = models(reference, MODELS, changes)
    model_aliases(reference, MODELS, model_ids, changes)
    licences(CATALOG)
    (CATALOG / "version.txt").write_text(COLLECTED.replace("-", ".") + "\n", encoding="utf-8")
    write(CATALOG / "unjoined.csv", ["table", "name", "seller", "reason"], unjoined)
    (CATALOG / "CHANGES.md").write_text(changes_text(changes), encoding="utf-8")
    return 0


def changes_text(changes: Changes) -> str:
    """The list of changes as Markdown."""
    lines = [
        "# What the curation kept, fixed and dropped",
        "",
        f"Collection as of {COLLECTED}; rules in `packaging/curation/`. Written by `packaging/curate.py`.",
        "",
        "## Counts",
        "",
        *(f"- {name}: {value}" for name, value in changes.counts),
        "",
        "## Rules",
        "",
        "- Usable memory is what the driver reports; where no report exists it is the label times the share of",
        "  `usable_rules.csv` (the smallest share that a card of that class reported), marked `rule`.",
        "- Rates are dense; a blank rate is not known and stays blank.",
        "- GeForce cards: no peer-to-peer over PCIe. PCIe speed is one direction, after line coding.",
        "- Controlled for China: where the dated note says so, or where dense TFLOPS x bits reach 4800 (computed);",
        "  H20 counts as controlled since its licensing changed several times. Not legal advice.",
        "- Confidence of a price: low where undated, computed, estimated, a range or a single host's bid; high for",
        "  dated list prices of the large clouds; else medium.",
        "- Current: dated, the latest of its provider, product, card, term, region and size, and not superseded by a",
        "  newer price of the same provider for that card and term by more than 60 days, and seen within the year",
        "  before the collection. It says latest, not recent: the age of a price is shown with it.",
        "- An undated row stays as history unless its own words name a month or season.",
        "",
        "## Dropped",
        "",
    ]
    reasons = Counter((table, why) for table, _, why in changes.dropped)
    for (table, why), count in sorted(reasons.items()):
        lines.append(f"- {table}: {count} rows: {why}")
        lines += [f"  - {what}" for t, what, w in changes.dropped if (t, w) == (table, why)]
    lines += ["", "## Fixed or flagged", ""]
    lines += [f"- {table}: {what}: {why}" for table, what, why in changes.fixed]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
