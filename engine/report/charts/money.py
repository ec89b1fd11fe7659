"""How charts write money on an axis: one unit for the whole axis, named in its label."""

from __future__ import annotations

from collections.abc import Callable

from engine.i18n import Language

__all__ = ["money_axis"]

_SIGNS = {"USD": "US$", "CNY": "¥", "EUR": "€", "GBP": "£"}
_CHINESE = {"USD": "美元", "CNY": "元", "EUR": "欧元", "GBP": "英镑"}


def money_axis(largest: float, currency: str, language: Language) -> tuple[str, Callable[[float], str]]:
    """The unit of an axis that reaches `largest`, and how its numbers are written."""
    if language.chinese:
        unit = _CHINESE.get(currency, currency)
        if largest >= (10_000 if currency == "CNY" else 100_000):
            return f"万{unit}", lambda v: language.number(v / 10_000)
        return unit, language.number
    sign = _SIGNS.get(currency, currency)
    if largest >= 10_000_000:
        return f"million {sign}", lambda v: language.number(v / 1e6)
    if largest >= 100_000:
        return f"thousand {sign}", lambda v: language.number(v / 1e3)
    return sign, language.number
