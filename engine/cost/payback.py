"""When a purchase has paid for itself, and what later payments are worth today.

Cash only: the price of the machine is set against what is saved each month, never against a monthly cost that holds
a share of the price already.
"""

from __future__ import annotations

__all__ = ["months_to_pay", "present_value_of_months", "utilization_to_pay"]


def months_to_pay(price: float, saved_per_month: float) -> float | None:
    """Months of cash saved that equal the price; None where nothing is saved."""
    return price / saved_per_month if saved_per_month > 0 else None


def utilization_to_pay(months: float | None, life_months: float, stated: float) -> float | None:
    """Share of all hours at which the machine pays within its life: stated use x months to pay / months of life."""
    if months is None or stated * months / life_months > 1:
        return None
    return stated * months / life_months


def present_value_of_months(months: float, discount_rate: float) -> float:
    """Worth today of 1 a month, paid at the end of each month, at a yearly rate.

    (1 - (1 + m)^-months) / m with m = (1 + rate)^(1/12) - 1
    """
    rate = (1 + discount_rate) ** (1 / 12) - 1
    return months if rate == 0 else (1 - (1 + rate) ** -months) / rate
