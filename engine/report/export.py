"""Files for other programs: the record as JSON, the comparison as a workbook."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, time
from typing import Any

from engine.advice.result import Advice, Assessment
from engine.i18n import Language
from engine.messages.mark import N_
from engine.quantity import GIB
from engine.report.charts.memory import heaviest_task
from engine.report.charts.time import gpu_hours
from engine.report.comparison import recommended
from engine.report.naming import plan_name, plan_seller
from engine.report.record import report_id, report_record, result_sha256
from engine.report.workbook_money import cash_sheet, cost_sheet

__all__ = ["record_bytes", "workbook_bytes"]


def record_bytes(advice: Advice, created: dict[str, str] | None = None) -> bytes:
    """The record that a rerun can be checked against (`gpu-advisor verify`), as readable JSON.

    `created` (see `created_here`) is when and where it was made; the same arguments give the same bytes.
    """
    return (json.dumps(report_record(advice, created), ensure_ascii=False, indent=1, sort_keys=True) + "\n").encode()


@dataclass(frozen=True, slots=True)
class _Column:
    """A column: its title, its value (a number stays a number), and how a spreadsheet shows it."""

    title: str
    value: Callable[[Assessment, Language], str | float | None]
    number_format: str = ""
    width: int = 14


MONEY, WHOLE, ONE = "#,##0.00", "#,##0", "#,##0.0"

COLUMNS: tuple[_Column, ...] = (
    _Column(N_("Plan"), lambda a, lang: plan_name(a.plan, lang), width=38),
    _Column(N_("Way"), lambda a, lang: lang.label(f"way.{a.plan.way}"), width=16),
    _Column(
        N_("Terms of the offer"),
        lambda a, lang: lang.label(f"term.{a.plan.offer.term}") if a.plan.offer else "",
        width=16,
    ),
    _Column(N_("Supplier"), lambda a, lang: plan_seller(a.plan, lang), width=24),
    _Column(N_("Number of cards"), lambda a, _l: a.plan.cluster.gpus, WHOLE, 8),
    _Column(N_("Memory"), lambda a, lang: lang.label(f"verdict.{heaviest_task(a).memory.verdict}")),
    _Column(N_("Peak of one card, low (GiB)"), lambda a, _l: heaviest_task(a).memory.driver.low / GIB, ONE),
    _Column(N_("Peak of one card, expected (GiB)"), lambda a, _l: heaviest_task(a).memory.driver.expected / GIB, ONE),
    _Column(N_("Peak of one card, high (GiB)"), lambda a, _l: heaviest_task(a).memory.driver.high / GIB, ONE),
    _Column(N_("Usable on one card (GiB)"), lambda a, _l: _gib(heaviest_task(a).memory.usable_bytes), ONE),
    _Column(N_("Days, low"), lambda a, _l: a.calendar_days.low, ONE),
    _Column(N_("Days, expected"), lambda a, _l: a.calendar_days.expected, ONE),
    _Column(N_("Days, high"), lambda a, _l: a.calendar_days.high, ONE),
    _Column(N_("Card-hours, expected"), lambda a, _l: gpu_hours(a).expected, WHOLE),
    _Column(N_("Cash needed, low"), lambda a, _l: float(a.cost.cash_needed.low), MONEY),
    _Column(N_("Cash needed, expected"), lambda a, _l: float(a.cost.cash_needed.expected), MONEY),
    _Column(N_("Cash needed, high"), lambda a, _l: float(a.cost.cash_needed.high), MONEY),
    _Column(N_("Cost of the job, low"), lambda a, _l: float(a.cost.cost_of_job.low), MONEY),
    _Column(N_("Cost of the job, expected"), lambda a, _l: float(a.cost.cost_of_job.expected), MONEY),
    _Column(N_("Cost of the job, high"), lambda a, _l: float(a.cost.cost_of_job.high), MONEY),
    _Column(N_("Currency"), lambda a, _l: a.cost.cost_of_job.currency, width=9),
    _Column(N_("Risk added"), lambda a, _l: a.risk, "0%", 9),
    _Column(N_("Price seen on"), lambda a, _l: _seen_on(a), width=12),
    _Column(N_("Source of the price"), lambda a, _l: _source(a), width=48),
)


def workbook_bytes(advice: Advice, language: Language) -> bytes:
    """All ranked plans, one row each, then cost and cash with live formulas; the same advice gives the same bytes."""
    import xlsxwriter

    out = io.BytesIO()
    # in memory and without links: a text that looks like a formula or an address stays a text
    options = {"in_memory": True, "strings_to_formulas": False, "strings_to_urls": False, "strings_to_numbers": False}
    with xlsxwriter.Workbook(out, options) as book:
        book.set_properties({"title": advice.scenario.name, "created": datetime.combine(advice.scenario.as_of, time())})
        head = book.add_format({"bold": True, "text_wrap": True, "valign": "top", "bg_color": "#EEF2F6", "bottom": 1})
        sheet = book.add_worksheet(language.gettext("Comparison"))
        for i, column in enumerate(COLUMNS):
            shown = book.add_format({"num_format": column.number_format}) if column.number_format else None
            sheet.set_column(i, i, column.width, shown)
            sheet.write_string(0, i, language.gettext(column.title), head)
            for row, assessment in enumerate(advice.ranked, 1):
                value = column.value(assessment, language)
                if isinstance(value, str):
                    sheet.write_string(row, i, value)
                elif value is not None:
                    sheet.write_number(row, i, value)
        sheet.freeze_panes(1, 1)
        sheet.autofilter(0, 0, max(1, len(advice.ranked)), len(COLUMNS) - 1)
        best = recommended(advice)
        if best is not None:
            cost_sheet(book, best, language)
        if advice.ways is not None:
            cash_sheet(book, advice, language)
        _about(book.add_worksheet(language.gettext("About")), advice, language)
    return out.getvalue()


def _about(sheet: Any, advice: Advice, language: Language) -> None:
    """What the numbers rest on."""
    rows = (
        (N_("Report ID"), report_id(advice)),
        (N_("Prices as of"), language.date(advice.scenario.as_of)),
        (N_("Catalogue version"), advice.catalog_version),
        (N_("Catalogue SHA-256"), advice.catalog_sha256),
        (N_("Result SHA-256"), result_sha256(advice)),
    )
    sheet.set_column(0, 0, 24)
    sheet.set_column(1, 1, 72)
    for i, (name, value) in enumerate(rows):
        sheet.write_string(i, 0, language.gettext(name))
        sheet.write_string(i, 1, value)


def _gib(value: int | None) -> float | None:
    return value / GIB if value is not None else None


def _seen_on(assessment: Assessment) -> str:
    row = assessment.plan.offer or assessment.plan.purchase
    return row.observed_on.isoformat() if row is not None and row.observed_on else ""


def _source(assessment: Assessment) -> str:
    row = assessment.plan.offer or assessment.plan.purchase
    return row.source_url if row is not None else ""
