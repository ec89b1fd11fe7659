"""The preview: pages of the PDF below each other, drawn when they come into sight, with zoom and search hits."""

from __future__ import annotations

from collections import OrderedDict

from PySide6.QtCore import QRectF, Qt, QTimer, Signal
from PySide6.QtGui import QColor, QImage, QPainter, QPaintEvent, QResizeEvent, QWheelEvent
from PySide6.QtWidgets import QFrame, QScrollArea, QVBoxLayout, QWidget

from engine.i18n import Language
from gui.jobs import JobRunner
from gui.report.pages import Hit, PageImage, Preview, render_pages
from gui.theme import Theme
from gui.widgets.basic import clear_layout

__all__ = ["PreviewView", "to_image"]

#: Pages kept as images; the rest is drawn again when it comes back into sight.
KEPT = 8
#: Logical pixels to the point at 100 % (96 dots to the inch).
PIXELS_PER_POINT = 96 / 72
LEAST_ZOOM, MOST_ZOOM, STEP = 0.25, 4.0, 1.25
SETTLE_MS = 60


def to_image(page: PageImage, ratio: float = 1.0) -> QImage:
    """The pixels as an image of its own."""
    image = QImage(page.pixels, page.width, page.height, page.stride, QImage.Format.Format_BGR888).copy()
    image.setDevicePixelRatio(ratio)
    return image


class PageView(QWidget):
    """One page: white paper until its image comes, search hits over it."""

    def __init__(self, number: int, theme: Theme) -> None:
        super().__init__()
        self.setObjectName(f"preview.page{number + 1}")
        self.image: QImage | None = None
        self.hits: tuple[Hit, ...] = ()
        self.current: Hit | None = None
        self.zoom = 1.0
        self._theme = theme

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paper, image, hits."""
        painter = QPainter(self)
        painter.fillRect(self.rect(), QColor("#ffffff"))
        if self.image is not None:
            painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
            painter.drawImage(self.rect(), self.image)
        scale = self.zoom * PIXELS_PER_POINT
        for hit in self.hits:
            colour = QColor("#e69f00" if hit is self.current else "#f0e442")
            colour.setAlpha(130)
            for left, top, width, height in hit.boxes:
                painter.fillRect(QRectF(left * scale, top * scale, width * scale, height * scale), colour)
        painter.setPen(QColor(self._theme.border_strong))
        painter.drawRect(self.rect().adjusted(0, 0, -1, -1))
        painter.end()


class PreviewView(QScrollArea):
    """All pages of one `Preview`."""

    page_changed = Signal(int)  # number of the page in the middle, from 0
    zoom_changed = Signal(float)
    failed = Signal(object)

    def __init__(self, theme: Theme, language: Language, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("report.preview")
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setWidgetResizable(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self._theme, self._language = theme, language
        self._preview: Preview | None = None
        self._pages: list[PageView] = []
        self._images: OrderedDict[int, QImage] = OrderedDict()
        self._zoom, self._fit, self._page = 1.0, True, 0
        inside = QWidget()
        inside.setProperty("look", "scrolled")
        self._column = QVBoxLayout(inside)
        self._column.setSpacing(theme.px(theme.l))
        self._column.setContentsMargins(*(theme.px(theme.l),) * 4)
        self.setWidget(inside)
        self._jobs = JobRunner(self)
        self._jobs.succeeded.connect(self._take)
        self._jobs.failed.connect(self.failed)
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(SETTLE_MS)
        self._timer.timeout.connect(self._request)
        self.verticalScrollBar().valueChanged.connect(self._scrolled)
        self.verticalScrollBar().rangeChanged.connect(lambda _low, _high: self._scrolled())

    @property
    def zoom(self) -> float:
        """1.0 = as large as on paper."""
        return self._zoom

    @property
    def pages(self) -> int:
        """How many pages there are."""
        return len(self._pages)

    @property
    def busy(self) -> bool:
        """Whether pages in sight are still to be drawn."""
        return self._jobs.busy or self._timer.isActive()

    def close_jobs(self) -> None:
        """End background work."""
        self._timer.stop()
        self._jobs.close()

    def show_preview(self, preview: Preview | None) -> None:
        """Show another document at about the same place."""
        self._jobs.cancel()
        self._preview = preview
        self._images.clear()
        place = self.verticalScrollBar().value()
        clear_layout(self._column)
        self._pages = [PageView(n, self._theme) for n in range(len(preview.sizes))] if preview is not None else []
        for page in self._pages:
            self._column.addWidget(page, 0, Qt.AlignmentFlag.AlignHCenter)
        self._column.addStretch(1)
        self.say(self._language)
        self._resize_pages()
        self.verticalScrollBar().setValue(place)

    def say(self, language: Language) -> None:
        """Name the pages for a screen reader; their text is the description."""
        self._language = language
        self.setAccessibleName(language.gettext("Preview of the report"))
        if self._preview is None:
            return
        for number, (page, text) in enumerate(zip(self._pages, self._preview.texts, strict=True)):
            page.setAccessibleName(
                language.fill("Page {page:int} of {pages:int}", page=number + 1, pages=len(self._pages))
            )
            page.setAccessibleDescription(text)

    # zoom ---------------------------------------------------------------------------------------------------

    def set_zoom(self, zoom: float) -> None:
        """Show larger or smaller."""
        self._fit = False
        self._apply_zoom(zoom)

    def fit_width(self) -> None:
        """As wide as the view; follows the window."""
        self._fit = True
        self._resize_pages()

    def zoom_in(self) -> None:
        """One step larger."""
        self.set_zoom(self._zoom * STEP)

    def zoom_out(self) -> None:
        """One step smaller."""
        self.set_zoom(self._zoom / STEP)

    def _apply_zoom(self, zoom: float) -> None:
        zoom = max(LEAST_ZOOM, min(MOST_ZOOM, zoom))
        bar = self.verticalScrollBar()
        share = bar.value() / max(bar.maximum(), 1)
        self._zoom = zoom
        self._images.clear()
        self._place_pages()
        bar.setValue(round(share * bar.maximum()))
        self.zoom_changed.emit(zoom)
        self._timer.start()

    def _resize_pages(self) -> None:
        if self._preview is None or not self._preview.sizes:
            return
        if self._fit:
            widest = max(width for width, _height in self._preview.sizes) * PIXELS_PER_POINT
            room = self.viewport().width() - 2 * self._theme.px(self._theme.l)
            self._apply_zoom(room / widest)
        else:
            self._place_pages()
            self._timer.start()

    def _place_pages(self) -> None:
        if self._preview is None:
            return
        for page, (width, height) in zip(self._pages, self._preview.sizes, strict=True):
            scale = self._zoom * PIXELS_PER_POINT
            page.zoom = self._zoom
            page.setFixedSize(round(width * scale), round(height * scale))

    # pages --------------------------------------------------------------------------------------------------

    def go_to(self, number: int) -> None:
        """Bring a page to the top."""
        if 0 <= number < len(self._pages):
            self.verticalScrollBar().setValue(self._pages[number].y() - self._theme.px(self._theme.s))

    def show_hits(self, hits: tuple[Hit, ...], current: Hit | None) -> None:
        """Mark what was found, and bring the current hit into sight."""
        for number, page in enumerate(self._pages):
            page.hits = tuple(h for h in hits if h.page == number)
            page.current = current
            page.update()
        if current is not None and current.page < len(self._pages) and current.boxes:
            page = self._pages[current.page]
            top = page.y() + current.boxes[0][1] * self._zoom * PIXELS_PER_POINT
            self.verticalScrollBar().setValue(round(top - self.viewport().height() / 3))

    def _visible(self) -> list[int]:
        top = self.verticalScrollBar().value()
        bottom = top + self.viewport().height()
        return [n for n, p in enumerate(self._pages) if p.y() < bottom and p.y() + p.height() > top]

    def _scrolled(self) -> None:
        self._timer.start()
        visible = self._visible()
        if visible and visible[0] != self._page:
            self._page = visible[0]
            self.page_changed.emit(self._page)

    def _request(self) -> None:
        """Ask for the images in sight that are missing."""
        preview = self._preview
        missing = [n for n in self._visible() if n not in self._images]
        if preview is None or not missing:
            return
        scale = self._zoom * PIXELS_PER_POINT * self.devicePixelRatioF()
        self._jobs.submit(lambda control: (preview, self._zoom, render_pages(preview.pdf, missing, scale, control)))

    def _take(self, answer: tuple[Preview, float, tuple[PageImage, ...]]) -> None:
        preview, zoom, images = answer
        if preview is not self._preview or zoom != self._zoom:
            self._timer.start()
            return
        for page in images:
            self._images[page.number] = to_image(page, self.devicePixelRatioF())
            self._images.move_to_end(page.number)
        visible = self._visible()
        while len(self._images) > max(KEPT, len(visible)):
            self._images.popitem(last=False)
        for number, view in enumerate(self._pages):
            view.image = self._images.get(number)
            view.update()
        if any(n not in self._images for n in visible):
            self._timer.start()

    # Qt -----------------------------------------------------------------------------------------------------

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Follow the window's width."""
        super().resizeEvent(event)
        if self._fit and event.size().width() != event.oldSize().width():
            self._resize_pages()

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Ctrl and wheel zoom."""
        if event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            (self.zoom_in if event.angleDelta().y() > 0 else self.zoom_out)()
            event.accept()
        else:
            super().wheelEvent(event)
