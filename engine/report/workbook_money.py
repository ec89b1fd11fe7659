"""Sheets that a finance office can recompute: cost by item and cash month by month, totals as live formulas."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from engine.advice.result import Advice, Assessment
from engine.i18n import Language
from engine.messages.mark import N_
from engine.quantity import Term
from engine.report.naming import plan_name

__all__ = ["cash_sheet", "cost_sheet"]

MONEY = "#,##0.00"
#: Rows of the cash sheet before the months: rate, total, present value, blank, head.
FIRST_MONTH = 6


def cost_sheet(book: Any, best: Assessment, language: Language) -> None:
    """The recommended plan by item; changing an item changes the totals."""
    sheet = book.add_worksheet(language.gettext("Cost by item"))
    bold, money = book.add_format({"bold": True}), book.add_format({"num_format": MONEY})
    total = book.add_format({"bold": True, "num_format": MONEY, "top": 1})
    sheet.set_column(0, 0, 44)
    sheet.set_column(1, 3, 18)
    sheet.write_string(0, 0, plan_name(best.plan, language), bold)
    heads = (N_("Item"), N_("Low"), N_("Expected"), N_("High"))
    row = 2
    parts: tuple[tuple[str, tuple[Term, ...]], ...] = (
        (N_("Cash needed"), best.cost.cash_terms),
        (N_("Cost of the job"), best.cost.job_terms),
    )
    for title, terms in parts:
        for column, head in enumerate(heads):
            sheet.write_string(row, column, language.gettext(head), bold)
        first = row + 1
        for term in terms:
            row += 1
            sheet.write_string(row, 0, language.label(term.name))
            for column, value in enumerate((term.low, term.expected, term.high), 1):
                sheet.write_number(row, column, round(value, 2), money)
        row += 1
        sheet.write_string(row, 0, f"{language.gettext(title)} ({best.cost.cash_needed.currency})", bold)
        for column, values in enumerate(zip(*((t.low, t.expected, t.high) for t in terms), strict=True), 1):
            letter = "ABCD"[column]
            cached = sum(round(v, 2) for v in values)
            sheet.write_formula(row, column, f"=SUM({letter}{first + 1}:{letter}{row})", total, cached)
        row += 2


def cash_sheet(book: Any, advice: Advice, language: Language) -> None:
    """Expected cash of every way that is to be had, month by month; the rate in B1 may be changed."""
    from xlsxwriter.utility import xl_col_to_name

    ways = advice.ways
    assert ways is not None
    sheet = book.add_worksheet(language.gettext("Cash by month"))
    bold, money = book.add_format({"bold": True}), book.add_format({"num_format": MONEY})
    total = book.add_format({"bold": True, "num_format": MONEY})
    entry = book.add_format({"num_format": "0.0%", "bg_color": "#FFF8DC", "border": 1})
    rate = advice.scenario.economics.discount_rate
    sheet.set_column(0, 0, 34)
    sheet.set_column(1, 20, 18)
    sheet.write_string(0, 0, language.gettext("Discount rate a year (may be changed)"), bold)
    sheet.write_number(0, 1, rate, entry)
    for row, name in ((1, N_("Total, not discounted")), (2, N_("Present value"))):
        sheet.write_string(row, 0, f"{language.gettext(name)} ({ways.currency})", bold)
    sheet.write_string(4, 0, language.gettext("Month (0 = day of signing)"), bold)
    last = FIRST_MONTH + ways.months
    for month in range(ways.months + 1):
        sheet.write_number(FIRST_MONTH - 1 + month, 0, month)
    column = 0
    for way in ways.ways:
        if way.total is None or len(way.cumulative) != ways.months + 1:
            continue
        column += 1
        letter = xl_col_to_name(column)
        sheet.write_string(4, column, language.label(f"compare.{way.way}"), bold)
        sums = [step[1] for step in way.cumulative]
        cash = [sums[0], *(b - a for a, b in pairwise(sums))]
        for month, amount in enumerate(cash):
            sheet.write_number(FIRST_MONTH - 1 + month, column, round(amount, 2), money)
        cells, months = f"{letter}{FIRST_MONTH}:{letter}{last}", f"$A${FIRST_MONTH}:$A${last}"
        present = sum(round(a, 2) / (1 + rate) ** (m / 12) for m, a in enumerate(cash))
        sheet.write_formula(1, column, f"=SUM({cells})", total, sum(round(a, 2) for a in cash))
        sheet.write_formula(2, column, f"=SUMPRODUCT({cells}/(1+$B$1)^({months}/12))", total, present)
    sheet.freeze_panes(FIRST_MONTH - 1, 1)
