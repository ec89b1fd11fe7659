"""How charts write money on an axis: one unit for the whole axis, named in its label."""

from __future__ import annotations

from collections.abc import Callable

from engine.i18n import Language

__all__ = ["money_axis"]

_SIGNS = {"USD": "US$", "CNY": "¥", "EUR": "€", "GBP": "£"}


def money_axis(largest: float, currency: str, language: Language) -> tuple[str, Callable[[float], str]]:
    """The unit of an axis that reaches `largest`, and how its numbers are written."""
    if language.chinese and largest >= 10_000:
        unit = "万元" if currency == "CNY" else f"万 {currency}"
        return unit, lambda v: language.number(v / 10_000)
    sign = _SIGNS.get(currency, currency)
    if not language.chinese and largest >= 10_000_000:
        return f"million {sign}", lambda v: language.number(v / 1e6)
    if not language.chinese and largest >= 10_000:
        return f"thousand {sign}", lambda v: language.number(v / 1e3)
    unit = "元" if language.chinese and currency == "CNY" else sign
    return unit, language.number
