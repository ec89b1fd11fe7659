"""Reading and writing numbers as people type them: 50B, 1.5 M, 5亿, 2万, 1,000, 1e9. No Qt."""

from __future__ import annotations

import re
from decimal import Decimal, InvalidOperation

from engine.i18n import Language

__all__ = ["editable_number", "read_amount", "read_number"]

_FACTORS = {
    "": 1,
    "k": 10**3,
    "m": 10**6,
    "b": 10**9,
    "g": 10**9,
    "t": 10**12,
    "千": 10**3,
    "万": 10**4,
    "百万": 10**6,
    "千万": 10**7,
    "亿": 10**8,
    "十亿": 10**9,
    "万亿": 10**12,
}
_NUMBER = re.compile(r"([+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?)\s*([a-z]?|[千万百亿十]{1,2})", re.IGNORECASE)


def read_amount(text: str) -> Decimal | None:
    """The exact number that a text means; None where it means none."""
    tidy = text.strip().replace(",", "").replace("，", "").replace("_", "").replace("\u00a0", "").replace(" ", "")
    tidy = tidy.translate({0xFF10 + i: 48 + i for i in range(10)} | {0xFF0E: "."})
    match = _NUMBER.fullmatch(tidy)
    if match is None or match[2].lower() not in _FACTORS or len(tidy) > 40:
        return None
    try:
        value = Decimal(match[1]) * _FACTORS[match[2].lower()]
    except InvalidOperation:
        return None
    return value if value.is_finite() and value.adjusted() < 30 else None


def read_number(text: str) -> int | float | str | None:
    """What goes into a draft: a number, the text where it means none, or None where nothing is typed."""
    if not text.strip():
        return None
    amount = read_amount(text)
    if amount is None:
        return text
    return int(amount) if amount == amount.to_integral_value() else float(amount)


def editable_number(value: object, language: Language) -> str:
    """A draft's value as an editor shows it: grouped, and never rounded."""
    if value is None:
        return ""
    if isinstance(value, str):
        amount = read_amount(value)
        if amount is None:
            return value
    else:
        amount = Decimal(repr(value)) if isinstance(value, float) else Decimal(str(value))
    digits = max(0, -int(amount.normalize().as_tuple().exponent))
    whole, _, fraction = f"{amount:.{digits}f}".partition(".")
    grouped = f"{int(whole):,}" if whole.lstrip("-") not in ("", "0") else whole
    return f"{grouped}.{fraction}" if fraction else grouped
