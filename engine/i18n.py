"""`Language`: words, numbers, units, money, dates in one language. A language is a value; several can be used at once.

Sentences come from gettext catalogues in `resources/locale` (one for each language), numbers and money from Babel.
Templates are filled by `Language.text`; their fields may carry one of these formats:

    {x:gib} bytes as GiB      {x:gb} bytes as decimal GB     {x:count} large counts (8 B, 80 亿)   {x:int}  {x:num}
    {x:pct} fraction as per cent   {x:money} "1234.50 USD"   {x:duration} seconds   {x:days}   {x:hours} seconds as h
    {x:date} ISO date         {x:label} a label code or an enumeration's code, in words           {x:factor} 2.4×
"""

from __future__ import annotations

import gettext
import locale
import re
import string
from collections.abc import Mapping
from datetime import date
from decimal import Decimal
from functools import cache
from importlib.resources import files
from typing import Any, Literal, cast

import babel.dates
import babel.numbers

from engine.errors import KnownError
from engine.findings import Finding
from engine.messages import LABELS, TEMPLATES
from engine.quantity import GB, GIB, Estimate, Money, MoneyEstimate

__all__ = ["LANGUAGES", "Language", "LanguageCode", "money_param", "system_language"]

LanguageCode = Literal["en", "zh_CN"]
LANGUAGES: tuple[LanguageCode, ...] = ("en", "zh_CN")
DOMAIN = "gpu_advisor"
#: The day of a row at the end of its source.
_DAY_AT_END = re.compile(r" \(\d{4}-\d{2}-\d{2}\)$")


def money_param(money: Money) -> str:
    """How an amount of money travels in a finding's parameters."""
    return f"{money.amount} {money.currency}"


def system_language() -> LanguageCode:
    """Chinese where the system speaks Chinese, else English.

    The environment comes first: where its locale is not installed, `locale` answers with that of "C", English.
    """
    import os

    name = os.environ.get("LC_ALL") or os.environ.get("LC_MESSAGES") or os.environ.get("LANG") or ""
    if not name:
        try:
            name = locale.getlocale()[0] or ""
        except ValueError:
            name = ""
    return "zh_CN" if name.lower().startswith(("zh", "chinese")) else "en"


@cache
def _translations(code: LanguageCode) -> gettext.NullTranslations:
    path = files("resources") / "locale" / code / "LC_MESSAGES" / f"{DOMAIN}.mo"
    if code == "en" or not path.is_file():
        return gettext.NullTranslations()
    with path.open("rb") as stream:
        return gettext.GNUTranslations(stream)


class Language:
    """One language and its conventions."""

    def __init__(self, code: LanguageCode = "en") -> None:
        if code not in LANGUAGES:
            raise ValueError(f"no such language: {code}")
        self.code: LanguageCode = code
        self._words = _translations(code)
        self._formatter = _TemplateFormatter(self)

    def __repr__(self) -> str:
        return f"Language({self.code!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Language) and other.code == self.code

    def __hash__(self) -> int:
        return hash(self.code)

    @property
    def chinese(self) -> bool:
        """Whether this is Simplified Chinese."""
        return self.code == "zh_CN"

    # words ------------------------------------------------------------------------------------------------

    def gettext(self, text: str) -> str:
        """The translation of an English text."""
        return self._words.gettext(text) if text else ""

    def pgettext(self, context: str, text: str) -> str:
        """The translation of a short text in its context."""
        return self._words.pgettext(context, text)

    def ngettext(self, singular: str, plural: str, n: int) -> str:
        """The translation of a text that counts."""
        return self._words.ngettext(singular, plural, n)

    def label(self, code: str) -> str:
        """The words of a label code; the code itself where there is no label (a name, for example)."""
        return self.gettext(LABELS[code]) if code in LABELS else code

    def source(self, text: str) -> str:
        """A citation with its parts in this language where they are ours; names and addresses stay."""
        if not text:
            return ""
        dated = _DAY_AT_END.search(text)
        words, day = (text[: dated.start()], dated[0]) if dated else (text, "")
        whole = self.gettext(words)
        if whole == words:
            whole = ("；" if self.chinese else "; ").join(self.gettext(part) for part in words.split("; "))
        return whole.replace(", undated,", f", {self.gettext('undated')},") + day

    def fill(self, template: str, /, **params: object) -> str:
        """Translate an English template and fill in its fields."""
        return self._formatter.vformat(self.gettext(template), (), params)

    def text(self, finding: Finding) -> str:
        """The sentence of a finding."""
        return self.fill(TEMPLATES[finding.code], **finding.params)

    def error(self, error: KnownError) -> str:
        """The sentence of a known error: what was wrong, where, and what to do."""
        return self.fill(TEMPLATES[error.code], **error.params)

    # quantities -------------------------------------------------------------------------------------------

    def number(self, value: float, digits: int | None = None) -> str:
        """A number with grouping; three significant digits unless `digits` decimals are asked for."""
        if digits is None:
            digits = 0 if abs(value) >= 100 or float(value).is_integer() else 1 if abs(value) >= 10 else 2
        pattern = "#,##0" + ("." + "0" * digits if digits else "")
        return babel.numbers.format_decimal(value, pattern, locale=self.code)

    def gib(self, value: float, digits: int = 1) -> str:
        """Bytes as GiB."""
        return f"{self.number(value / GIB, digits)} GiB"

    def gb(self, value: float, digits: int = 0) -> str:
        """Bytes as decimal GB."""
        return f"{self.number(value / GB, digits)} GB"

    def percent(self, value: float, digits: int = 0) -> str:
        """A fraction as per cent."""
        return f"{self.number(value * 100, digits)}%"

    def count(self, value: float) -> str:
        """A large count: 8.03 B or 80.3 亿."""
        steps = ((1e12, "万亿"), (1e8, "亿"), (1e4, "万")) if self.chinese else ((1e12, "T"), (1e9, "B"), (1e6, "M"))
        for size, word in steps:
            if abs(value) >= size:
                return f"{self.number(value / size)} {word}"
        return self.number(value)

    def money(self, money: Money | MoneyEstimate, digits: int | None = None) -> str:
        """An amount with its currency sign; whole units from 100 on. Expected value of an estimate."""
        amount = money.amount if isinstance(money, Money) else money.expected
        if digits is None:
            digits = 0 if abs(amount) >= 100 else 2
        sign = {"USD": "US$", "CNY": "¥", "EUR": "€", "GBP": "£"}.get(money.currency, money.currency + " ")
        minus = "-" if amount < 0 else ""
        return f"{minus}{sign}{self.number(cast(float, abs(amount)), digits)}"

    def money_document(self, money: Money | MoneyEstimate) -> str:
        """Money as documents print it: 万元 with two decimals for large yuan amounts in Chinese."""
        amount = money.amount if isinstance(money, Money) else money.expected
        if self.chinese and money.currency == "CNY" and abs(amount) >= 10_000:
            return f"{self.number(cast(float, amount / 10_000), 2)} 万元"
        return self.money(money)

    def money_range(self, estimate: MoneyEstimate) -> str:
        """Low to high of a cost."""
        low = Money(amount=estimate.low, currency=estimate.currency)
        high = Money(amount=estimate.high, currency=estimate.currency)
        return self.money(low) if low == high else f"{self.money(low)} – {self.money(high)}"

    def gib_range(self, estimate: Estimate) -> str:
        """Low to high of a memory estimate."""
        return f"{self.number(estimate.low / GIB, 1)} – {self.gib(estimate.high)}"

    def duration(self, seconds: float) -> str:
        """A length of time in its natural unit."""
        steps: tuple[tuple[float, str, str], ...] = (
            (2 * 86400 * 365, "{} years", "{} 年"),
            (2 * 86400, "{} days", "{} 天"),
            (2 * 3600, "{} h", "{} 小时"),
            (120, "{} min", "{} 分钟"),
        )
        for limit, english, chinese in steps:
            if seconds >= limit:
                unit = {"{} years": 86400 * 365, "{} days": 86400, "{} h": 3600, "{} min": 60}[english]
                return (chinese if self.chinese else english).format(self.number(seconds / unit))
        if seconds >= 1 or seconds == 0:
            return ("{} 秒" if self.chinese else "{} s").format(self.number(seconds))
        return ("{} 毫秒" if self.chinese else "{} ms").format(self.number(seconds * 1e3))

    def duration_range(self, estimate: Estimate) -> str:
        """Low to high of a length of time."""
        return f"{self.duration(estimate.low)} – {self.duration(estimate.high)}"

    def date(self, day: date) -> str:
        """A date as the language writes it."""
        pattern = "y年M月d日" if self.chinese else "d MMM y"
        return babel.dates.format_date(day, pattern, locale=self.code)


class _TemplateFormatter(string.Formatter):
    def __init__(self, language: Language) -> None:
        self._language = language

    def get_value(self, key: int | str, args: Any, kwargs: Mapping[str, Any]) -> Any:
        return kwargs[str(key)]

    def format_field(self, value: Any, format_spec: str) -> str:
        if value is None:
            return "?"
        lang = self._language
        match format_spec:
            case "gib":
                return lang.gib(float(value))
            case "gb":
                return lang.gb(float(value))
            case "count":
                return lang.count(float(value))
            case "int":
                return lang.number(float(value), 0)
            case "num":
                return lang.number(float(value))
            case "pct":
                return lang.percent(float(value))
            case "factor":
                return f"{lang.number(float(value))}×"
            case "money":
                amount, _, currency = str(value).partition(" ")
                return lang.money(Money(amount=Decimal(amount), currency=currency))
            case "duration":
                return lang.duration(float(value))
            case "days":
                return lang.duration(float(value) * 86400)
            case "hours":
                hours = lang.number(float(value) / 3600)
                return f"{hours} 小时" if lang.chinese else f"{hours} h"
            case "date":
                return lang.date(date.fromisoformat(str(value)))
            case "label":
                return lang.label(str(value))
            case _:
                return str(super().format_field(value, format_spec))
