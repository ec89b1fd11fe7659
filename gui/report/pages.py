"""Pages of a PDF for the preview: sizes, words, images, search hits. No Qt; runs on a worker.

PDFium is not safe in two threads, so one lock guards every use of it, the making of the report included.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass

from engine.advice.result import Advice
from engine.control import Control
from engine.hardware.model import CatalogSnapshot
from engine.i18n import Language
from engine.report.document import Profile
from engine.scenario import ReportDetails

__all__ = ["Hit", "PageImage", "Preview", "find", "make_preview", "render_pages"]

_pdfium = threading.Lock()
#: Width of a page in the list of pages, in pixels at scale 1.
THUMBNAIL_WIDTH = 92


@dataclass(frozen=True)
class PageImage:
    """A page as blue-green-red bytes."""

    number: int
    width: int
    height: int
    stride: int
    pixels: bytes


@dataclass(frozen=True)
class Preview:
    """The very file that will be saved, with what the screen needs to know of it."""

    pdf: bytes
    sizes: tuple[tuple[float, float], ...]  # of each page, in points
    texts: tuple[str, ...]
    thumbnails: tuple[PageImage, ...]


@dataclass(frozen=True)
class Hit:
    """One place where a searched text stands: page, and boxes (left, top, width, height) in points from the top."""

    page: int
    boxes: tuple[tuple[float, float, float, float], ...]


def make_preview(
    advice: Advice,
    language: Language,
    profile: Profile,
    details: ReportDetails,
    scale: float,
    control: Control,
    catalog: CatalogSnapshot | None = None,
) -> Preview:
    """Set the report and look into it."""
    import pypdfium2

    from engine.report.pdf import render_pdf

    control.checkpoint()
    with _pdfium:
        control.checkpoint()
        pdf = render_pdf(advice, language, profile, details=details, catalog=catalog)
        control.checkpoint()
        sizes: list[tuple[float, float]] = []
        texts: list[str] = []
        thumbnails: list[PageImage] = []
        with pypdfium2.PdfDocument(pdf) as document:
            for number in range(len(document)):
                control.checkpoint(number, len(document))
                page = document[number]
                width, height = page.get_size()
                words = page.get_textpage()
                sizes.append((width, height))
                texts.append(words.get_text_range())
                words.close()
                thumbnails.append(_image(page, number, THUMBNAIL_WIDTH * scale / width))
                page.close()
    return Preview(pdf, tuple(sizes), tuple(texts), tuple(thumbnails))


def render_pages(pdf: bytes, numbers: Sequence[int], scale: float, control: Control) -> tuple[PageImage, ...]:
    """Some pages at `scale` pixels to the point."""
    import pypdfium2

    images: list[PageImage] = []
    with _pdfium, pypdfium2.PdfDocument(pdf) as document:
        for number in numbers:
            control.checkpoint()
            page = document[number]
            images.append(_image(page, number, scale))
            page.close()
    return tuple(images)


def find(pdf: bytes, text: str, control: Control) -> tuple[Hit, ...]:
    """Every place where `text` stands, in reading order; capitals don't matter."""
    import pypdfium2

    hits: list[Hit] = []
    with _pdfium, pypdfium2.PdfDocument(pdf) as document:
        for number in range(len(document)):
            control.checkpoint()
            page = document[number]
            height = page.get_height()
            words = page.get_textpage()
            searcher = words.search(text)
            while (place := searcher.get_next()) is not None:
                count = words.count_rects(*place)
                rects = [words.get_rect(i) for i in range(count)]
                hits.append(Hit(number, tuple((le, height - to, ri - le, to - bo) for le, bo, ri, to in rects)))
            searcher.close()
            words.close()
            page.close()
    return tuple(hits)


def _image(page: object, number: int, scale: float) -> PageImage:
    bitmap = page.render(scale=scale)  # type: ignore[attr-defined]
    image = PageImage(number, bitmap.width, bitmap.height, bitmap.stride, bytes(bitmap.buffer))
    bitmap.close()
    return image
