"""Bought and owned cards: the whole machine, its life, its energy."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from engine.cost.figures import ASSUMPTION, STAND_IN, Figures
from engine.cost.rent import HOURS_PER_MONTH
from engine.hardware.model import CatalogSnapshot, Cluster, CostItem, Gpu, PurchasePrice
from engine.quantity import GIB, Bounds, Number, TermBlock

__all__ = ["Machine", "energy_kwh", "life_terms", "machine_terms", "residual_share"]

#: Share of a card's power limit that it draws while training (measured training nodes run close to it).
LOAD = Bounds(0.65, 0.85, 1.0)
#: Power of the whole machine over that of its cards: 10.2 kW for 8 x 700 W at most in a DGX H100 (cost item
#: "Power draw, DGX H100": 1.82); a workstation adds some 150 to 250 W to 350 to 700 W of cards.
HOST_POWER_FACTOR = Bounds(1.15, 1.35, 1.82)
#: Watts of a card whose power limit is not published: the span of today's training cards.
UNKNOWN_CARD_WATTS = Bounds(250.0, 400.0, 700.0)
#: Host memory for each byte of card memory: usual server shapes carry one to two times the cards' memory
#: (DGX H100: 2,048 GB beside 640 GB; cloud shapes: about 2); one is the least that loads and checkpoints need.
HOST_MEMORY_RATIO = Bounds(1.0, 1.5, 2.0)
SMALLEST_HOST_MEMORY_GB = 64.0
#: A chassis and board for more than four cards against the parts of a four-card workstation: no dated price of a
#: bare eight-card chassis is known to the catalogue (assumption, hence wide).
LARGE_CHASSIS_FACTOR = Bounds(1.5, 2.5, 4.5)
#: Months at which a card is worth nothing any more (assumption; the last dated row is 48 months).
WORTHLESS_MONTHS = 96.0
#: Share left of a new card in a catalogue without rows, before the years take theirs (assumption).
RESIDUAL_FALLBACK = 0.5
#: Relative spread around the rows: they give 40-45 %, 25-35 %, 15-20 % for the H100 itself; a card that has no rows
#: may keep half as much or half as much again (the A100 at 36 months stands 25 % below the H100).
SAME_CARD_SPREAD, OTHER_CARD_SPREAD = 0.15, 0.5
CONSUMER_ROW_MONTHS = 66.0  # "about 5.5 years" of the RTX 3090's row


@dataclass(frozen=True)
class Machine:
    """Price of everything that is bought, by terms in the scenario's currency."""

    terms: tuple[TermBlock, ...]

    @property
    def total(self) -> Bounds:
        """Sum of the terms."""
        total = Bounds.exact(0.0)
        for term in self.terms:
            total = total + term.amount
        return total


def machine_terms(
    purchase: PurchasePrice, cluster: Cluster, spread: Bounds, figures: Figures, *, host_available: bool = False
) -> Machine:
    """Cards or servers, the host around bare cards (unless one is there), and a fabric between several nodes."""
    factor = float(figures.rates.factor(purchase.currency, figures.currency))
    units = -(-cluster.gpus // purchase.cards)
    day = purchase.observed_on.isoformat() if purchase.observed_on else "undated"
    conversion = figures.rates.described(purchase.currency, figures.currency)
    price = float(purchase.price)
    terms = [
        TermBlock(
            "cost.servers" if purchase.whole_server else "cost.cards",
            spread * (units * price * factor),
            "units * price * exchange",
            {"units": units, "price": price, "exchange": factor},
            ", ".join(filter(None, (purchase.seller, day, purchase.source_url)))
            + (f"; {conversion}" if conversion else ""),
            figures.currency,
        )
    ]
    if not purchase.whole_server and not host_available:
        terms.extend(_host_terms(cluster, figures))
    if cluster.nodes > 1:
        fabric = figures.fabric_per_gpu
        terms.append(
            TermBlock(
                "cost.fabric",
                fabric.bounds * cluster.gpus,
                "gpus * fabric_per_gpu",
                {"gpus": cluster.gpus, "fabric_per_gpu": fabric.bounds.expected},
                fabric.source,
                figures.currency,
            )
        )
    return Machine(tuple(terms))


def _host_terms(cluster: Cluster, figures: Figures) -> list[TermBlock]:
    per_node, nodes = cluster.gpus_per_node, cluster.nodes
    memory_gb = (cluster.gpu.usable_bytes or 24 * GIB) / GIB * per_node
    if per_node == 1:
        base, formula, source = figures.small_host.bounds, "nodes * desktop_machine", figures.small_host.source
        values: dict[str, Number | str] = {"nodes": nodes, "desktop_machine": base.expected}
    else:
        chassis = LARGE_CHASSIS_FACTOR if per_node > 4 else Bounds.exact(1.0)
        parts = figures.host_base
        base = Bounds(*(a * b for a, b in zip(_three(parts.bounds), _three(chassis), strict=True)))
        formula = "nodes * workstation_parts * chassis_factor"
        source = f"{parts.source}; {ASSUMPTION}" if per_node > 4 and not parts.assumed else parts.source
        values = {"nodes": nodes, "workstation_parts": parts.bounds.expected, "chassis_factor": chassis.expected}
    ratio = HOST_MEMORY_RATIO
    host_gb = Bounds(*(max(SMALLEST_HOST_MEMORY_GB, memory_gb * r) for r in _three(ratio)))
    memory = figures.host_memory_per_gb
    return [
        TermBlock("cost.host", base * nodes, formula, values, source, figures.currency),
        TermBlock(
            "cost.host_memory",
            Bounds(*(g * p * nodes for g, p in zip(_three(host_gb), _three(memory.bounds), strict=True))),
            "nodes * host_memory_gb * price_per_gb",
            {"nodes": nodes, "host_memory_gb": host_gb.expected, "price_per_gb": memory.bounds.expected},
            memory.source,
            figures.currency,
        ),
    ]


def residual_share(catalog: CatalogSnapshot, gpu: Gpu, years: float) -> tuple[Bounds, str]:
    """Share of the price that is left after `years`, interpolated between dated rows; and the source.

    Rows exist for H100 at 12, 24, 36 and 48 months. Other cards follow them, as the cautious case, with a wider
    interval: it holds the row of the A100 (20-25 % at 36 months), and for consumer cards it reaches up to a straight
    line to the low end of the RTX 3090's row (33 % of the launch price at 66 months).
    """
    rows = sorted(_residual_rows(catalog.cost_items), key=lambda row: row[0])
    if not rows:
        share = max(0.0, 1 - years * 12 / WORTHLESS_MONTHS) * RESIDUAL_FALLBACK
        return Bounds(0.0, share, min(1.0, 2 * share)), ASSUMPTION
    months = np.array([0.0, *(m for m, _, _ in rows), WORTHLESS_MONTHS])
    values = np.array([1.0, *(share for _, share, _ in rows), 0.0])
    expected = float(np.interp(years * 12, months, values))
    source = "; ".join(f"{i.item} {i.value} %, {i.observed_on or 'undated'}, {i.source_url}" for _, _, i in rows)
    if gpu.id.startswith("nvidia-h100"):
        return Bounds.around(expected, 1 - SAME_CARD_SPREAD, min(1 / max(expected, 1e-9), 1 + SAME_CARD_SPREAD)), source
    high = min(1.0, expected * (1 + OTHER_CARD_SPREAD))
    if gpu.segment == "consumer":
        high = max(high, _consumer_line(catalog.cost_items, years * 12))
    return Bounds(expected * (1 - OTHER_CARD_SPREAD), expected, high), f"{source}; {STAND_IN}"


def _consumer_line(items: tuple[CostItem, ...], months: float) -> float:
    for item in items:
        if item.item.startswith("RTX 3090 residual value at about 5.5 years"):
            kept = float(item.low if item.low is not None else item.value) / 100
            return max(0.0, 1 - (1 - kept) * months / CONSUMER_ROW_MONTHS)
    return 0.0


def _residual_rows(items: tuple[CostItem, ...]) -> list[tuple[float, float, CostItem]]:
    """(months, share that is left, row)."""
    rows: list[tuple[float, float, CostItem]] = []
    for item in items:
        name = item.item
        if name.startswith("H100 residual value after") and name.endswith("months"):
            rows.append((float(name.split()[-2]), float(item.value) / 100, item))
        elif name == "H100 depreciation, year 1":
            rows.append((12.0, 1 - float(item.value) / 100, item))
    return rows


def life_terms(
    machine: Machine,
    residual: tuple[Bounds, str],
    *,
    hours: Bounds,
    calendar_months: float,
    hours_per_month: float,
    years: float,
    currency: str,
) -> TermBlock:
    """Share of the loss in value that this job bears: (price - residual) x hours of the job / hours used in life.

    Hours used in life = hours_per_month x 12 x years, plus what the job itself uses beyond that rate while it runs: it
    runs for `calendar_months`, and for no less than its hours take day and night (a service is up from its first day).
    """
    share, source = residual
    price = machine.total
    stated = hours_per_month * 12 * years

    def beyond(job_hours: float) -> float:
        return max(0.0, job_hours - hours_per_month * max(calendar_months, job_hours / HOURS_PER_MONTH))

    used = Bounds(*(stated + beyond(float(h)) for h in _three(hours)))
    loss = Bounds(price.low * (1 - share.high), price.expected * (1 - share.expected), price.high * (1 - share.low))
    amounts = [a * h / u for a, h, u in zip(_three(loss), _three(hours), _three(used), strict=True)]
    return TermBlock(
        "cost.wear",
        Bounds(*sorted(float(a) for a in amounts)),
        "(price - price * residual_share) * job_hours / hours_used_in_life",
        {
            "price": price.expected,
            "residual_share": share.expected,
            "job_hours": hours.expected,
            "hours_used_in_life": used.expected,
        },
        source,
        currency,
    )


def energy_kwh(cluster: Cluster, hours: Bounds, figures: Figures) -> Bounds:
    """Energy of the job at the meter: card power x load x host factor x hours x PUE."""
    watts = Bounds.exact(cluster.gpu.tdp_watts) if cluster.gpu.tdp_watts else UNKNOWN_CARD_WATTS
    factors = (watts, LOAD, HOST_POWER_FACTOR, hours, figures.pue.bounds)
    low, expected, high = (
        float(np.prod([float(_three(f)[i]) for f in factors])) * cluster.gpus / 1000 for i in range(3)
    )
    return Bounds(low, expected, high)


def _three(bounds: Bounds) -> tuple[Number, Number, Number]:
    return bounds.low, bounds.expected, bounds.high
