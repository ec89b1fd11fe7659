"""Draws of what is uncertain, and what follows from them: bands, crossings, break-even hours."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.quantity import Bounds, Estimate, Number

__all__ = ["DRAWS", "SEED", "band", "break_even_hours", "crossing_months", "drawn", "effective_hour_price"]

#: Start of the pseudo-random numbers: printed with the results, so that anyone draws the same.
SEED = 20261201
DRAWS = 400
_Z95 = 1.6448536269514722  # 95 % of a normal distribution lie below


def drawn(bounds: Bounds, normal: NDArray[Any]) -> NDArray[Any]:
    """A value for each standard normal number: 5 % lie below `low`, half below `expected`, 5 % above `high`."""
    up, down = float(bounds.high) - float(bounds.expected), float(bounds.expected) - float(bounds.low)
    return np.maximum(0.0, float(bounds.expected) + normal / _Z95 * np.where(normal > 0, up, down))


def band(values: NDArray[Any], expected: float) -> Estimate:
    """The 5 and 95 % points of the draws around the expected value."""
    low, high = np.quantile(values, (0.05, 0.95))
    return Estimate(low=min(float(low), expected), expected=expected, high=max(float(high), expected))


def crossing_months(cumulative: NDArray[Any], other: NDArray[Any]) -> NDArray[Any]:
    """Months after which the first has cost no more than the second and keeps so; inf where it never does.

    Between two months the cash is taken as paid evenly. Shapes (months + 1,) or (draws, months + 1).
    """
    gap = np.atleast_2d(np.asarray(cumulative, dtype=float) - np.asarray(other, dtype=float))
    above = gap > 0
    last = np.where(above.any(axis=1), gap.shape[1] - 1 - np.argmax(above[:, ::-1], axis=1), -1)
    rows = np.arange(len(gap))
    after = np.minimum(last + 1, gap.shape[1] - 1)
    before, then = gap[rows, np.maximum(last, 0)], gap[rows, after]
    months = last + np.divide(before, before - then, out=np.zeros(len(gap)), where=before > then)
    return np.where(last < 0, 0.0, np.where(last == gap.shape[1] - 1, np.inf, months))


def break_even_hours(own: tuple[Number, Number], rented: tuple[Number, Number], hours: float) -> Number:
    """Hours a month at which both cost the same over the project; inf where renting is cheaper at any use.

    Each pair is the total at no use and at `hours` a month; both are straight lines in the hours.
    """
    fixed = np.asarray(own[0], dtype=float) - rented[0]
    slope = (np.asarray(rented[1], dtype=float) - rented[0] - own[1] + own[0]) / hours
    found = np.divide(fixed, slope, out=np.full(np.shape(fixed), np.inf), where=slope > 0)
    return np.where(fixed <= 0, 0.0, found)


def effective_hour_price(price_per_month: Number, hours_used: Number) -> Number:
    """What an hour of use costs where the whole month is paid."""
    return price_per_month / hours_used
