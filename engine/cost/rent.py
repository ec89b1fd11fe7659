"""Rented and shared cards: what is billed for the job."""

from __future__ import annotations

import numpy as np

from engine.cost.figures import Figures
from engine.hardware.model import Offer
from engine.quantity import Bounds, Number, TermBlock

__all__ = ["HOURS_PER_MONTH", "billed_hours", "rent_terms", "spot_factor"]

HOURS_PER_MONTH = 730.0  # 8,760 hours a year over 12; the price collection divides monthly prices by it

#: Hours that a term commits one to.
TERM_HOURS = {"monthly": HOURS_PER_MONTH, "reserved-1m": HOURS_PER_MONTH, "reserved-1y": 8760.0, "reserved-3y": 26280.0}

#: Interruptions of a spot node a month: cost items "Spot interruption frequency", 7.5 % (p4d, g6) to 17.5 % (p5);
#: marketplaces publish none, so the high end is one a week.
SPOT_INTERRUPTIONS_PER_NODE_MONTH = Bounds(0.075, 0.175, 4.3)
#: Hours lost by each: half a checkpoint interval of one hour, and detection, a new node and loading (assumption).
SPOT_HOURS_LOST = Bounds(0.5, 1.0, 3.0)


#: Share of a term that may be exceeded without a further one: what is left over by adding floats, not by work.
ROUNDING = 1e-9
#: Memory of the card that the addition beside a card priced alone was noted for, decimal GB (H100).
GPU_ONLY_CARD_GB = 80.0


def billed_hours(offer: Offer, hours: Bounds) -> Bounds:
    """Hours billed for each card: whole months or terms where the offer commits to them, spot's lost work on top."""
    term = TERM_HOURS.get(offer.term)
    if term is None:
        return hours
    return Bounds(
        *(np.maximum(1.0, np.ceil(h / term - ROUNDING)) * term for h in (hours.low, hours.expected, hours.high))
    )


def spot_factor(nodes: Number) -> Bounds:
    """Factor of the run time on interruptible nodes, all of which stop when one does.

    1 + nodes x interruptions per node-month / 730 x hours lost; at most a doubling.
    """
    rate = Bounds(
        SPOT_INTERRUPTIONS_PER_NODE_MONTH.low * SPOT_HOURS_LOST.low,
        SPOT_INTERRUPTIONS_PER_NODE_MONTH.expected * SPOT_HOURS_LOST.expected,
        SPOT_INTERRUPTIONS_PER_NODE_MONTH.high * SPOT_HOURS_LOST.high,
    )
    raw = 1.0 + rate * (nodes / HOURS_PER_MONTH)
    return Bounds(*(np.minimum(2.0, v) for v in (raw.low, raw.expected, raw.high)))


def rent_terms(
    offer: Offer,
    *,
    gpus: Number,
    nodes: Number,
    hours: Bounds,
    spread: Bounds,
    storage_gb: float,
    figures: Figures,
    result_gb: float | None = None,
    card_gb: Number = GPU_ONLY_CARD_GB,
) -> tuple[TermBlock, ...]:
    """Terms of the bill in the scenario's currency: cards, processor beside cards priced alone, storage, egress.

    `hours` are the busy hours of the whole cluster; `spread` are factors for the age of the price; `result_gb` is what
    is moved out at the end (None: all that is stored); `card_gb` is the memory of a card in decimal GB. Where only
    machines of several cards are sold, whole machines are billed.
    """
    gpus = -(-gpus // (offer.gpus_per_unit or 1)) * (offer.gpus_per_unit or 1)
    used = Bounds(*(h * f for h, f in _paired(hours, spot_factor(nodes)))) if offer.term == "spot" else hours
    billed = billed_hours(offer, used)
    factor = float(figures.rates.factor(offer.currency, figures.currency))
    price = float(offer.price_per_gpu_hour)
    conversion = figures.rates.described(offer.currency, figures.currency)
    day = offer.observed_on.isoformat() if offer.observed_on else "undated"
    terms = [
        TermBlock(
            "cost.rent",
            Bounds(*(h * s * gpus * price * factor for h, s in _paired(billed, spread))),
            "gpus * billed_hours * price_per_gpu_hour * exchange",
            {"gpus": gpus, "billed_hours": billed.expected, "price_per_gpu_hour": price, "exchange": factor},
            ", ".join(filter(None, (offer.provider, day, offer.source_url)))
            + (f"; {conversion}" if conversion else ""),
            figures.currency,
        )
    ]
    if offer.gpu_only:
        addition = figures.gpu_only_addition.bounds * card_gb
        terms.append(
            TermBlock(
                "cost.host_beside_gpu",
                Bounds(*(h * a * gpus for h, a in _paired(billed, addition))),
                "gpus * billed_hours * processor_and_memory_per_gpu_hour",
                {
                    "gpus": gpus,
                    "billed_hours": billed.expected,
                    "processor_and_memory_per_gpu_hour": addition.expected,
                },
                figures.gpu_only_addition.source,
                figures.currency,
            )
        )
    if storage_gb > 0 and offer.term != "shared":
        terms.extend(_storage_terms(storage_gb, storage_gb if result_gb is None else result_gb, used, figures))
    return tuple(terms)


def _storage_terms(storage_gb: float, result_gb: float, hours: Bounds, figures: Figures) -> list[TermBlock]:
    months = Bounds(*(np.maximum(1.0, h / HOURS_PER_MONTH) for h in (hours.low, hours.expected, hours.high)))
    price = figures.storage_per_gb_month
    terms = [
        TermBlock(
            "cost.storage",
            Bounds(*(m * p * storage_gb for m, p in _paired(months, price.bounds))),
            "stored_gb * months * price_per_gb_month",
            {"stored_gb": storage_gb, "months": months.expected, "price_per_gb_month": price.bounds.expected},
            price.source,
            figures.currency,
        )
    ]
    if result_gb > 0:
        terms.append(
            TermBlock(
                "cost.egress",
                figures.egress_per_gb.bounds * result_gb,
                "result_gb * price_per_gb",
                {"result_gb": result_gb, "price_per_gb": figures.egress_per_gb.bounds.expected},
                figures.egress_per_gb.source,
                figures.currency,
            )
        )
    return terms


def _paired(a: Bounds, b: Bounds) -> tuple[tuple[Number, Number], ...]:
    return (a.low, b.low), (a.expected, b.expected), (a.high, b.high)
