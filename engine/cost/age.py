"""How far a dated price may have moved since it was seen."""

from __future__ import annotations

from datetime import date

from engine.quantity import Bounds

__all__ = ["STALE_DAYS", "age_days", "price_spread"]

#: Days after which a price is called stale wherever it is shown (report rule R8).
STALE_DAYS = 60
#: Half of the price in a year: H100 by the hour went 7-12 US$ (2023), 2-2.8 (late 2025), about 4 (late 2026);
#: the H100 index rows of the cost items hold these figures with their dates.
MOVE_PER_YEAR = 0.5
#: Daily movement that even a fresh list price may hide (marketplaces move every day).
FRESH_SPREAD = 0.03
#: A price without a date may be as old as any.
UNDATED_SPREAD = 0.5


def age_days(observed_on: date | None, as_of: date) -> int | None:
    """Days between the observation and the scenario's date, never negative; None where undated."""
    return None if observed_on is None else max(0, (as_of - observed_on).days)


def price_spread(age: int | None, own_quotation: bool = False) -> Bounds:
    """Factors around a price of that age; a quotation of one's own binds and has no spread."""
    if own_quotation:
        return Bounds.exact(1.0)
    spread = UNDATED_SPREAD if age is None else min(MOVE_PER_YEAR, FRESH_SPREAD + MOVE_PER_YEAR * age / 365)
    return Bounds(1 - spread, 1.0, 1 + spread)
