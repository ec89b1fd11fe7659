"""Numbers, prices and days as people write them in tables: each is read right, or refused by name.

What "1,234" or "03/04/2026" means can't be told from one cell. A `Habit` is what a whole column shows: one cell that
can be read in one way only settles the others; where none does, the doubtful cells are refused.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal, InvalidOperation
from typing import Literal

__all__ = ["Habit", "UnreadableError", "day_of", "decimal_of", "habit_of", "plain", "unmarked", "yes_or_no"]

#: Longest number that is read; nothing that is sold costs more digits.
MAX_NUMBER_LENGTH = 40
_SIGNS = re.compile(r"(US\$|HK\$|RMB|CNY|USD|EUR|GBP|HKD|[$€£¥元])", re.IGNORECASE)
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
#: Chinese multiples that stand behind a number.
_MULTIPLES = {"万": Decimal(10_000), "亿": Decimal(100_000_000)}
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_YES = {"yes", "y", "true", "1", "x", "是", "有", "含", "含税"}
_NO = {"no", "n", "false", "0", "否", "无", "不含", "未税", "不含税"}
_NO_AMOUNT = ("nan", "inf", "infinity", "#n/a", "n/a", "#div/0!", "#value!", "#ref!")


class UnreadableError(ValueError):
    """A cell that can't be read; `code` names why (a key of the messages)."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


@dataclass(frozen=True, slots=True)
class Habit:
    """How a column is written: its decimal mark, and the order of day and month; "" where no cell tells."""

    decimal: Literal["", ".", ","] = ""
    order: Literal["", "dmy", "mdy"] = ""
    comma_is_safe: bool = True  # commas don't stand for decimals unless a cell says so: not in a table parted by ";"


def plain(text: str) -> str:
    """A cell with full-width characters, odd spaces and the mark against formulas made plain."""
    found = unicodedata.normalize("NFKC", text).strip()
    return unmarked("".join(" " if unicodedata.category(c) == "Zs" else c for c in found))


def unmarked(text: str) -> str:
    """A cell without the mark that keeps a spreadsheet from running it (see `table_file.safe_cell`)."""
    return text[1:] if re.match(r"'+[=+\-@\t\r]", text) else text


def habit_of(cells: Iterable[str], separator: str) -> Habit:
    """What the cells of a column tell together; cells that contradict each other tell nothing."""
    marks: set[str] = set()
    orders: set[str] = set()
    for cell in cells:
        text = plain(cell)
        mark = _certain_mark(_bare(text))
        if mark:
            marks.add(mark)
        parts = re.fullmatch(r"(\d{1,2})[/.-](\d{1,2})[/.-]\d{4}", text)
        if parts:
            first, second = int(parts[1]), int(parts[2])
            if first > 12 >= second:
                orders.add("dmy")
            if second > 12 >= first:
                orders.add("mdy")
    decimal = marks.pop() if len(marks) == 1 else ""
    order = orders.pop() if len(orders) == 1 else ""
    return Habit(decimal, order, comma_is_safe=separator != ";")  # pyright: ignore[reportArgumentType]


def _bare(text: str) -> str:
    return re.sub(r"[\s'’_万亿]", "", _SIGNS.sub("", text)).lstrip("+-")


def _certain_mark(text: str) -> str:
    """The decimal mark of a number that can be read in one way only; "" where it tells nothing."""
    if not _NUMBER.fullmatch(text):
        return ""
    commas, dots = text.count(","), text.count(".")
    if commas and dots:
        return "," if text.rfind(",") > text.rfind(".") else "."
    count = commas or dots
    if not count:
        return ""
    mark, other = (",", ".") if commas else (".", ",")
    if count > 1:
        return other  # marks of thousands; the decimal mark is the other one
    whole, _, rest = text.partition(mark)
    return mark if len(rest) != 3 or whole in ("", "0") or len(whole) > 3 else ""


def decimal_of(text: str, habit: Habit) -> Decimal:
    """A number: 1,234.5 and 1.234,5 and 1 234,5 and １２３ and 8.2万. NaN and infinity are refused by name."""
    cell = plain(text)
    if len(cell) > MAX_NUMBER_LENGTH:
        raise UnreadableError("import.not_a_number")
    if cell.lower().lstrip("+-") in _NO_AMOUNT:
        raise UnreadableError("import.not_finite")
    if cell.startswith("="):
        raise UnreadableError("import.formula")
    bare = re.sub(r"[\s'’_]", "", _SIGNS.sub("", cell))
    negative = bare.startswith(("-", "−", "("))
    bare = bare.strip("()").lstrip("+-−")
    multiple = _MULTIPLES.get(bare[-1:], Decimal(1))
    bare = bare.rstrip("万亿")
    if re.fullmatch(r"\d+(?:\.\d+)?e[+-]?\d{1,3}", bare, re.IGNORECASE):
        number = Decimal(bare)
    elif _NUMBER.fullmatch(bare):
        number = Decimal(_with_point(bare, habit))
    else:
        raise UnreadableError("import.not_a_number")
    return -number * multiple if negative else number * multiple


def _with_point(text: str, habit: Habit) -> str:
    mark = _certain_mark(text) or habit.decimal
    if not mark and ("," in text or "." in text):
        if not habit.comma_is_safe:
            raise UnreadableError("import.ambiguous_number")
        mark = "."
    if not mark:
        return text
    thousands = "," if mark == "." else "."
    whole, _, rest = text.rpartition(mark) if mark in text else (text, "", "")
    groups = whole.split(thousands)
    if mark in whole or thousands in rest or (len(groups) > 1 and not _grouped(groups)):
        raise UnreadableError("import.not_a_number")
    try:
        number = Decimal("".join(groups) + (f".{rest}" if rest else ""))
    except InvalidOperation as error:
        raise UnreadableError("import.not_a_number") from error
    return str(number)


def _grouped(groups: list[str]) -> bool:
    return 1 <= len(groups[0]) <= 3 and all(len(g) == 3 for g in groups[1:])


def day_of(text: str, habit: Habit, today: date, *, future: bool = False) -> date:
    """A day: 2026-12-01, 2026/12/1, 20261201, 2026年12月1日, 1.12.2026, 12/01/2026, 1 Dec 2026."""
    found = _day(plain(text), habit)
    if found.year < 2000 or (not future and found > today + timedelta(days=1)):
        raise UnreadableError("import.future_day" if found > today else "import.not_a_day")
    return found


def _day(text: str, habit: Habit) -> date:
    text = text.split("T")[0] if re.match(r"\d{4}-\d\d-\d\dT", text) else re.sub(r" \d{1,2}:\d\d(:\d\d)?$", "", text)
    year_first = re.fullmatch(r"(\d{4})[-/.年 ]+(\d{1,2})[-/.月 ]+(\d{1,2})日?", text) or re.fullmatch(
        r"(\d{4})(\d\d)(\d\d)", text
    )
    if year_first:
        return _made(int(year_first[1]), int(year_first[2]), int(year_first[3]))
    numbers = re.fullmatch(r"(\d{1,2})([-/.])(\d{1,2})\2(\d{4})", text)
    if numbers:
        first, second, year = int(numbers[1]), int(numbers[3]), int(numbers[4])
        order = "dmy" if first > 12 or numbers[2] == "." else "mdy" if second > 12 else habit.order
        if first == second:
            order = "dmy"
        if not order:
            raise UnreadableError("import.ambiguous_day")
        return _made(year, second, first) if order == "dmy" else _made(year, first, second)
    words = re.fullmatch(r"(?:(\d{1,2})\.? ([A-Za-z]{3,9})\.?,?|([A-Za-z]{3,9})\.? (\d{1,2}),?) (\d{4})", text)
    if words:
        month = (words[2] or words[3])[:3].lower()
        if month in _MONTHS:
            return _made(int(words[5]), _MONTHS.index(month) + 1, int(words[1] or words[4]))
    raise UnreadableError("import.not_a_day")


def _made(year: int, month: int, day: int) -> date:
    try:
        return date(year, month, day)
    except ValueError as error:
        raise UnreadableError("import.not_a_day") from error


def yes_or_no(text: str) -> bool:
    """Yes or no in both languages."""
    word = plain(text).lower()
    if word in _YES or word in _NO:
        return word in _YES
    raise UnreadableError("import.not_yes_or_no")
