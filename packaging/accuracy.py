"""Writes docs/accuracy.md: the score on files of traced cases, and on the test part of a file of measured cases.

python packaging/accuracy.py TRACED.csv MEASURED.csv

Traces that were drawn before the formulas were run on them stand in `tests/reference/data/fresh_traces*.csv`.
"""

from __future__ import annotations

import csv
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

from fresh_accuracy import fresh_section

from engine.catalog.load import load_base
from engine.cli.text_validation import group_name
from engine.i18n import Language
from engine.quantity import GIB
from engine.validation.result import Comparison, Group, ValidationReport
from engine.validation.validate import WrongFit, validate_file, worst_rows, wrong_fits

TARGET = Path(__file__).resolve().parent.parent / "docs/accuracy.md"
ENGLISH = Language("en")
_DATA = TARGET.parent.parent / "tests/reference/data"
FRESH = (_DATA / "fresh_traces.csv", _DATA / "fresh_traces_second.csv")
REASONS = Path(__file__).with_name("worst_rows.csv")
WORST, MANY = 10, 10_000
SMALLEST = 5  # rows of a group that is worth a line

HEAD = """# How accurate the estimates are

Error = expected / measured − 1. *Coverage* is the share of measured numbers inside the interval, which is meant to be
90 %; it is put in brackets where a group has fewer than 30 rows. *Width* is (high − low) / expected. The interval of
the median comes from 500 resamples of the rows with a fixed seed.

Constants are fitted on the part `calibrate` of the measurements only; everything against published measurements is of
the part `test`. It is not a blind test any more: what its first scores showed was mended where documents or reasoning
gave the reason (`resources/calibration/SPEED.md` lists the assumptions that test rows have shown), and ranges were
revised. Programs, engines and cards without measured runs of their own are since as uncertain as a family of
measurements that the fit leaves out, which the part `calibrate` alone decides. First scores: training memory covered
66 %, memory of inference 45 %, training speed 76 %, speed of inference 24 % with a bias of -37 %, GPU hours 65 %. A
setting that a row does not state takes all values that its framework admits, so that the interval is the hull over
them: partly stated rows have wide intervals, on purpose. Nothing is left out: rows that could not be used are counted
with the reason.

Made by `python packaging/accuracy.py TRACED.csv MEASURED.csv`; the same figures come from
`gpu-advisor validate TRACED.csv` and `gpu-advisor validate MEASURED.csv --split test` (add `--json` for every group).
"""


def percent(value: float | None) -> str:
    """A fraction as per cent; small ones with more digits."""
    if value is None:
        return "–"
    return f"{value * 100:.3f} %" if abs(value) < 0.0095 else f"{value * 100:.1f} %"


def table(groups: Iterable[Group]) -> Iterator[str]:
    """Groups as a Markdown table."""
    yield "| group | rows | median error | its interval | 90 % below | greatest | bias | coverage | width |"
    yield "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |"
    for g in groups:
        if g.rows < SMALLEST:
            continue
        covered = "–" if g.coverage is None else f"{g.coverage:.0%}"
        covered = covered if g.coverage_judged or g.coverage is None else f"({covered})"
        cells = (
            group_name(g, ENGLISH), str(g.rows), percent(g.median_abs_error),
            f"{percent(g.median_low)} to {percent(g.median_high)}", percent(g.p90_abs_error), percent(g.max_abs_error),
            percent(g.bias), covered, percent(g.median_width),
        )  # fmt: skip
        yield "| " + " | ".join(cells) + " |"


def traced_section(report: ValidationReport) -> Iterator[str]:
    """Memory against traces."""
    yield f"\n## Memory against traces\n\n{report.used} of {report.rows} traced steps are used. The traces are"
    yield "deterministic, so that the intervals are not judged; the phase of the peak is right in"
    yield f"{percent(report.groups[0].phase_right)} of them.\n"
    yield from table(g for g in report.groups if g.kind and not g.framework and not g.memory_metric and not g.settings)


def measured_section(report: ValidationReport) -> Iterator[str]:
    """Everything against published measurements."""
    yield f"\n## Against published measurements, part `{report.split}`\n\n{report.used} of {report.rows} rows are used:"
    kinds = (f"{k} {report.used_by_kind.get(k, 0)} of {n}" for k, n in report.rows_by_kind.items())
    yield ", ".join(kinds) + ".\n"
    yield from table(g for g in report.groups if g.kind and not g.framework and not g.gpu and not g.pooled)
    yield "\n### By framework and by card\n"
    yield from table(g for g in report.groups if g.framework or g.gpu or g.pooled in ("framework", "gpu"))
    yield "\n### Models of which only a size or a part of the shape is known\n"
    yield from table(
        g for g in report.guessed_groups if g.kind and not (g.method or g.framework or g.gpu or g.settings)
    )
    yield "\n### Further numbers that the rows carry\n"
    for quantity in sorted({g.quantity for g in report.secondary_groups if g.quantity}):
        yield f"\n{ENGLISH.label(f'validate.quantity.{quantity}')}:\n"
        yield from table(
            g
            for g in report.secondary_groups
            if g.quantity == quantity and g.kind and not (g.method or g.framework or g.pooled)
        )
    yield "\n### Verdict against what was reported\n"
    yield "A measurement ran, so that it did fit. “Fits” where a run was out of memory is the worst error.\n"
    yield "| reported | fits | fits tightly | does not fit | unknown |\n| --- | ---: | ---: | ---: | ---: |"
    for o in report.outcomes:
        label = ENGLISH.label(f"validate.reported.{o.reported}")
        yield f"| {label} | {o.fits} | {o.fits_tightly} | {o.does_not_fit} | {o.unknown} |"
    yield "\n### Rows that could not be used\n"
    reasons = Counter((u.kind, ENGLISH.text(u.reason)) for u in report.unexpressed)
    yield from (f"- {count} × {kind}: {text}" for (kind, text), count in reasons.most_common())


def submissions_section(report: ValidationReport) -> Iterator[str]:
    """Times of benchmark submissions, all of which are in the part that is fitted."""
    yield "\n### Times of benchmark submissions (MLPerf Training 5.1), part `calibrate`\n"
    yield "No submission is in the part `test`. The fit uses the rates of those that hold a copy of the model on each"
    yield "card; the layouts of the others are assumed by the size of the model, the cards and the batch. LoRA is of"
    yield "Llama 2 70B, pretraining of Llama 3.1 8B and 405B; the times include evaluations.\n"
    yield from table(
        g
        for g in report.groups
        if g.kind == "time_to_train" and g.method in ("lora", "pretrain") and not (g.framework or g.gpu or g.pooled)
    )


def wrong_fits_section(rows: Iterable[WrongFit], reasons: dict[str, str]) -> Iterator[str]:
    """The runs that were out of memory and are said to fit, each with its story."""
    yield "\n### Out of memory, and said to fit\n"
    yield "| row | framework | model | card | needed, GiB | usable, GiB | why |"
    yield "| --- | --- | --- | --- | ---: | ---: | --- |"
    for row in rows:
        needed = f"{row.needed_bytes.low / GIB:.1f} to {row.needed_bytes.high / GIB:.1f}"
        reason = reasons.get(row.row_id, "Not examined yet.")
        usable = row.usable_bytes / GIB
        yield f"| {row.row_id} | {row.framework} | {row.model} | {row.gpu} | {needed} | {usable:.1f} | {reason} |"


def worst_section(rows: Iterable[Comparison], reasons: dict[str, str]) -> Iterator[str]:
    """Ten rows of memory and ten of speed, the worst first, each with what is behind it."""
    rows = list(rows)
    yield "\n### The worst rows, and why\n"
    yield "By the distance of the logarithm, of the number that the row's kind is about. *Held* tells whether the range"
    yield "holds what was measured. Where the source does not settle the reason, it says “probably”."
    for title, found in (
        ("Memory", [r for r in rows if r.quantity == "memory"]),
        ("Speed and time", [r for r in rows if r.quantity != "memory"]),
    ):
        yield f"\n{title}:\n"
        yield "| row | framework | card | expected / measured | held | why |\n| --- | --- | --- | ---: | --- | --- |"
        for row in found[:WORST]:
            held = "yes" if row.covered else "no"
            ratio = row.estimate.expected / row.measured
            reason = reasons.get(row.row_id, "Not examined yet.")
            yield f"| {row.row_id} | {row.framework} | {row.gpu} | {ratio:.2f} | {held} | {reason} |"


def main(arguments: list[str]) -> int:
    """Write the page."""
    if len(arguments) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    catalog = load_base()
    traced = validate_file(Path(arguments[0]), catalog)
    measured = validate_file(Path(arguments[1]), catalog, split="test")
    lines = [HEAD, f"Catalogue {catalog.version} (`{catalog.sha256[:12]}`)."]
    worst = worst_rows(Path(arguments[1]), catalog, split="test", count=MANY)
    with REASONS.open(encoding="utf-8", newline="") as stream:
        reasons = {r["id"]: r["reason"] for r in csv.DictReader(stream)}
    fitted = validate_file(Path(arguments[1]), catalog, split="calibrate")
    lines += [
        *traced_section(traced),
        *fresh_section(FRESH, catalog),
        *measured_section(measured),
        *submissions_section(fitted),
        *wrong_fits_section(wrong_fits(Path(arguments[1]), catalog, split="test"), reasons),
        *worst_section(worst, reasons),
    ]
    TARGET.parent.mkdir(exist_ok=True)
    TARGET.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
