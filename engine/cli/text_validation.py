"""The score of a file of cases for people in a terminal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from rich.text import Text

from engine.cli.text import console, table
from engine.i18n import Language
from engine.validation.result import Group, ValidationReport

__all__ = ["group_name", "print_validation"]

#: Groups of fewer rows than this are in the JSON answer only.
SHOWN_FROM = 5


def print_validation(report: ValidationReport, language: Language) -> None:
    """Errors by group, outcomes, and the reasons of rows that could not be used."""
    out = console()
    kind = f"validate.format.{report.format}"
    out.print(
        Text(
            language.fill(
                "{used:int} of {rows:int} rows of {file} used ({format:label}).",
                used=report.used,
                rows=report.rows,
                file=report.file,
                format=kind,
            ),
            style="bold",
        )
    )
    out.print(_groups(report.groups, language))
    if report.guessed_groups:
        out.print(Text(language.gettext("Models of which only a size or a part of the shape is known"), style="bold"))
        out.print(_groups((g for g in report.guessed_groups if not g.framework and not g.gpu), language))
    if report.secondary_groups:
        out.print(Text(language.gettext("Further numbers of the same rows"), style="bold"))
        out.print(_groups((g for g in report.secondary_groups if not g.framework and not g.method), language))
    if report.outcomes:
        _outcomes(report, language)
    if report.unexpressed:
        out.print(Text(language.gettext("Not used, and why"), style="bold"))
        reasons = Counter(language.text(u.reason) for u in report.unexpressed)
        for text, count in reasons.most_common():
            out.print(Text(f"  {count:5d}  {text}"))


def _groups(groups: Iterable[Group], language: Language) -> object:
    made = table(
        language.gettext("Group"),
        language.gettext("Rows"),
        language.gettext("Median error"),
        language.gettext("90 % of errors below"),
        language.gettext("Bias"),
        language.gettext("Inside the interval"),
        language.gettext("Width of the interval"),
        right=range(1, 7),
    )
    for g in groups:
        if g.rows < SHOWN_FROM:
            continue
        covered = "–" if g.coverage is None else language.percent(g.coverage)
        made.add_row(
            Text(group_name(g, language)),
            Text(language.number(g.rows, 0)),
            Text(language.percent(g.median_abs_error, 2 if g.median_abs_error < 0.01 else 1)),
            Text(language.percent(g.p90_abs_error, 1)),
            Text(language.percent(g.bias, 1)),
            Text(covered if g.coverage_judged or g.coverage is None else f"({covered})"),
            Text("–" if g.median_width is None else language.percent(g.median_width)),
        )
    return made


def group_name(group: Group, language: Language) -> str:
    """What the rows of a group share, in words."""
    words: list[str] = []
    if group.kind:
        words.append(language.label(f"validate.kind.{group.kind}"))
    words.extend(w for w in (group.method, group.framework, group.gpu) if w)
    if group.memory_metric:
        words.append(language.label(f"validate.metric.{group.memory_metric}"))
    if group.gpus:
        words.append(language.label(f"validate.gpus.{group.gpus}"))
    if group.settings:
        words.append(language.label(f"validate.settings.{group.settings}"))
    if group.pooled:
        words.append(language.label(f"validate.pooled.{group.pooled}"))
    if group.quantity and group.quantity != "memory" and not group.kind:
        words.append(language.label(f"validate.quantity.{group.quantity}"))
    return " · ".join(words) or language.gettext("All rows")


def _outcomes(report: ValidationReport, language: Language) -> None:
    made = table(
        language.gettext("Reported"),
        language.label("fits"),
        language.label("fits_tightly"),
        language.label("does_not_fit"),
        language.label("unknown"),
        right=range(1, 5),
    )
    for one in report.outcomes:
        made.add_row(
            Text(language.label(f"validate.reported.{one.reported}")),
            *(Text(language.number(n, 0)) for n in (one.fits, one.fits_tightly, one.does_not_fit, one.unknown)),
        )
    console().print(made)
