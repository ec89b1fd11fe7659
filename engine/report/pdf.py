"""The PDF: a `Document`, its charts as SVG, and the Typst template, compiled without network or system fonts."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from contextlib import ExitStack
from datetime import UTC, datetime, time
from importlib.resources import as_file, files
from typing import Any

from engine.advice.result import Advice, Assessment
from engine.advice.scaling_result import Scaling
from engine.errors import WorldError
from engine.hardware.model import CatalogSnapshot
from engine.i18n import Language
from engine.report import charts
from engine.report import document as d
from engine.report.build import build_document
from engine.report.comparison import recommended
from engine.report.glyphs import rare_signs_folder
from engine.report.wording import spoken
from engine.scenario import ReportDetails

__all__ = ["render_pdf", "render_png_pages"]

#: How often the memo is set again with less in it before it may run over; each step leaves out secondary lines.
MEMO_STEPS = 5


def render_pdf(
    advice: Advice,
    language: Language,
    profile: d.Profile = "memo",
    *,
    created_at: datetime | None = None,
    details: ReportDetails | None = None,
    catalog: CatalogSnapshot | None = None,
) -> bytes:
    """The report as tagged PDF (PDF/A-2a, PDF/UA-1, fonts embedded); the same arguments give the same bytes.

    `created_at` is printed and stamped into the file; without it the scenario's date stands in, so that a rerun on
    another day is the same file. With the `catalog` of the advice, the full report shows time against the number of
    cards. Without `details` those of the scenario are printed. WorldError `report.not_set`
    where the compiler refuses the document.
    """
    moment = created_at or datetime.combine(advice.scenario.as_of, time(), UTC)
    details = details or advice.scenario.report
    scaling = None if catalog is None or profile in ("memo", "grant") else _scaling(advice, catalog)
    pdf = b""
    for brief in range(MEMO_STEPS if profile == "memo" else 1):
        document = build_document(advice, profile, moment, details, brief=brief, scaling=scaling)
        pdf = _compile(document, advice, language, moment, scaling)
        if profile != "memo" or page_count(pdf) == 1:
            break
    return pdf


def _scaling(advice: Advice, catalog: CatalogSnapshot) -> Scaling | None:
    from engine.advice.scaling import scaling_of_plan

    best = recommended(advice)
    return scaling_of_plan(best, advice.scenario, catalog) if best is not None else None


def render_png_pages(pdf: bytes, dpi: int = 96) -> list[bytes]:
    """Every page of a PDF as PNG, for a preview."""
    import pypdfium2

    pages: list[bytes] = []
    with pypdfium2.PdfDocument(pdf) as document:
        for page in document:
            out = io.BytesIO()
            scale: Any = dpi / 72  # a fraction is allowed; the library annotates its default only
            page.render(scale=scale).to_pil().save(out, format="PNG")
            pages.append(out.getvalue())
            page.close()
    return pages


def page_count(pdf: bytes) -> int:
    """Pages of a PDF."""
    import pypdfium2

    with pypdfium2.PdfDocument(pdf) as document:
        return len(document)


def _compile(
    document: d.Document, advice: Advice, language: Language, moment: datetime, scaling: Scaling | None
) -> bytes:
    import typst

    drawn = {id(f): _figure(f, advice, language, scaling) for f in _figures(document)}
    data = json.dumps(spoken(document, language, drawn), ensure_ascii=False)
    with ExitStack() as stack:
        template = stack.enter_context(as_file(files("resources") / "report" / "report.typ"))
        fonts = stack.enter_context(as_file(files("resources") / "fonts"))
        try:
            return typst.compile(
                str(template),
                font_paths=[str(fonts), str(rare_signs_folder())],
                ignore_system_fonts=True,
                sys_inputs={"data": data},
                pdf_standards=["a-2a", "ua-1"],
                timestamp=int(moment.timestamp()),
            )
        except typst.TypstError as problem:
            raise WorldError("report.not_set", reason=problem.message) from problem


def _figures(document: d.Document) -> Iterator[d.Figure]:
    def walk(blocks: tuple[d.Block, ...]) -> Iterator[d.Figure]:
        for block in blocks:
            if isinstance(block, d.Figure):
                yield block
            elif isinstance(block, d.SideBySide):
                yield from walk(block.left)
                yield from walk(block.right)

    for section in document.sections:
        yield from walk(section.blocks)


def _figure(figure: d.Figure, advice: Advice, language: Language, scaling: Scaling | None) -> dict[str, str]:
    """A chart drawn for print, with caption and alternative text."""
    by_id = {a.plan.id: a for a in advice.ranked}
    plans: list[Assessment] = [by_id[i] for i in figure.plan_ids]
    look, constraints = charts.PRINT, advice.scenario.constraints
    match figure.chart:
        case "memory":
            drawing = charts.memory_chart(
                plans,
                look,
                language,
                width=4.2 if figure.small else 6.7,
                card_sizes=not figure.small,
                compact=figure.small,
            )
            caption, alt = charts.memory_caption(plans, language), charts.memory_alt(plans, language)
        case "timeline":
            drawing = charts.timeline_chart(plans[0], look, language, width=6.7)
            caption, alt = charts.timeline_caption(plans[0], language), charts.timeline_alt(plans[0], language)
        case "time":
            deadline = constraints.deadline_days
            drawing = charts.time_chart(plans, look, language, deadline_days=deadline, width=6.7)
            caption, alt = charts.time_caption(plans, language, deadline), charts.time_alt(plans, language)
        case "cost" | "cash":
            kind = "job" if figure.chart == "cost" else "cash"
            budget = constraints.budget
            drawing = charts.cost_chart(plans, look, language, kind=kind, budget=budget, width=6.7)
            caption = charts.cost_caption(plans, language, kind=kind)
            alt = charts.cost_alt(plans, language, kind=kind)
        case "split":
            drawing = charts.split_chart(plans, look, language, width=6.7)
            caption, alt = charts.split_caption(plans, language), charts.split_alt(plans, language)
        case "scaling":
            assert scaling is not None
            drawing = charts.scaling_chart(scaling, look, language, width=6.7)
            caption, alt = charts.scaling_caption(scaling, language), charts.scaling_alt(scaling, language)
        case "ways":
            assert advice.ways is not None
            drawing = charts.ways_chart(advice.ways, look, language, width=6.7)
            caption, alt = charts.ways_caption(advice.ways, language), charts.ways_alt(advice.ways, language)
        case "tornado":
            assert advice.ways is not None
            drawing = charts.tornado_chart(advice.ways, look, language, width=6.7)
            caption, alt = charts.tornado_caption(advice.ways, language), charts.tornado_alt(advice.ways, language)
    as_of = language.fill("As of {date:date}.", date=advice.scenario.as_of.isoformat())
    return {"svg": charts.svg_bytes(drawing).decode(), "caption": f"{caption} {as_of}", "alt": alt}
