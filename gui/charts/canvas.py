"""A chart on the screen: drawn by `engine.report.charts` on a worker, shown as an image of exactly the right size.

The drawing happens off the GUI thread, through the same lock and the same code as the report's charts, so that a
chart never freezes the window and two of them never meet inside matplotlib. matplotlib is imported there, on the
first chart. A resize draws again once it has come to rest.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from PySide6.QtCore import QPoint, QRect, QSize, Qt, QTimer, Signal
from PySide6.QtGui import (
    QAction,
    QContextMenuEvent,
    QGuiApplication,
    QImage,
    QPainter,
    QPaintEvent,
    QResizeEvent,
    QShowEvent,
)
from PySide6.QtWidgets import QMenu, QSizePolicy, QWidget

from engine.control import Control
from engine.i18n import Language
from gui.jobs import JobRunner
from gui.theme import Theme

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from engine.report.charts import Look

__all__ = ["Chart", "ChartView"]

#: Quiet time after a change of size before the chart is drawn again.
SETTLE_MS = 80
#: Logical dots to the inch of a figure: makes the charts' letters as large as the window's small text.
DOTS_PER_INCH = 112
#: Heights while nothing is drawn yet, and the least width that a chart is drawn for, in logical pixels.
EMPTY_HEIGHT, LEAST_WIDTH = 260, 420


@dataclass(frozen=True)
class Chart:
    """What to draw, and the same in words. `draw(look, language, width in inches)` runs on a worker."""

    name: str  # of the file that it is saved to
    draw: Callable[[Look, Language, float], Figure]
    caption: Callable[[Language], str]
    alt: Callable[[Language], str]


@dataclass(frozen=True)
class _Drawn:
    png: bytes
    caption: str
    alt: str


class ChartView(QWidget):
    """Shows one `Chart`; its accessible description says it in words."""

    drawn = Signal(str)  # the caption
    failed = Signal(object)
    save_requested = Signal(str)  # "png" or "svg"

    def __init__(self, name: str, language: Language, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName(name)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self._language, self._theme = language, theme
        self._chart: Chart | None = None
        self._image = QImage()
        self._stale = False
        self._note = ""
        self._jobs = JobRunner(self)
        self._jobs.succeeded.connect(self._take)
        self._jobs.failed.connect(self._trouble)
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(SETTLE_MS)
        self._timer.timeout.connect(self._draw)
        self.copy_action, self.png_action, self.svg_action = QAction(self), QAction(self), QAction(self)
        self.copy_action.triggered.connect(self.copy_image)
        self.png_action.triggered.connect(lambda: self.save_requested.emit("png"))
        self.svg_action.triggered.connect(lambda: self.save_requested.emit("svg"))
        self.addActions([self.copy_action, self.png_action, self.svg_action])
        self._say()

    @property
    def chart(self) -> Chart | None:
        """What is shown."""
        return self._chart

    @property
    def image(self) -> QImage:
        """The chart as drawn; null while there is none."""
        return self._image

    @property
    def busy(self) -> bool:
        """Whether a picture that can be seen is still to come."""
        return self._jobs.busy or self._timer.isActive()

    def show_chart(self, chart: Chart | None) -> None:
        """Show another chart; it is drawn once it can be seen."""
        self._chart = chart
        if chart is None:
            self._jobs.cancel()
            self._image = QImage()
            self.setAccessibleDescription("")
        self._refresh()

    def set_language(self, language: Language) -> None:
        """Draw with the words of another language."""
        self._language = language
        self._say()
        self._refresh()

    def set_theme(self, theme: Theme) -> None:
        """Draw in another look."""
        self._theme = theme
        self._refresh()

    def close_jobs(self) -> None:
        """End background work; before the window goes."""
        self._timer.stop()
        self._jobs.close()

    def copy_image(self) -> None:
        """The chart to the clipboard."""
        if not self._image.isNull():
            QGuiApplication.clipboard().setImage(self._image)

    def file_bytes(self, kind: str) -> Callable[[Control], bytes] | None:
        """Work that makes the chart's file for print: light, at a width that suits a page."""
        chart, language = self._chart, self._language
        if chart is None:
            return None

        def make(control: Control) -> bytes:
            from engine.report.charts import LIGHT, png_bytes, svg_bytes

            control.checkpoint()
            figure = chart.draw(LIGHT, language, 7.0)
            return svg_bytes(figure) if kind == "svg" else png_bytes(figure, 300)

        return make

    # drawing ------------------------------------------------------------------------------------------------

    def _say(self) -> None:
        self.copy_action.setText(self._language.pgettext("menu", "Copy image"))
        self.png_action.setText(self._language.pgettext("menu", "Save as PNG…"))
        self.svg_action.setText(self._language.pgettext("menu", "Save as SVG…"))

    def _refresh(self) -> None:
        self._stale = True
        if self.isVisible():
            self._timer.start()

    def _draw(self) -> None:
        chart = self._chart
        if chart is None or not self.isVisible():
            return
        self._stale = False
        self._note = self._language.gettext("Drawing…")
        self.update()
        language, theme, ratio = self._language, self._theme, self.devicePixelRatioF()
        dots = DOTS_PER_INCH * theme.scale
        width = max(self.width(), theme.px(LEAST_WIDTH)) / dots

        def work(control: Control) -> _Drawn:
            from engine.report.charts import DARK, LIGHT, png_bytes

            look = replace(DARK if theme.dark else LIGHT, background=theme.surface, edge=theme.surface)
            control.checkpoint()
            figure = chart.draw(look, language, width)
            control.checkpoint()
            return _Drawn(png_bytes(figure, round(dots * ratio)), chart.caption(language), chart.alt(language))

        self._jobs.submit(work)

    def _take(self, drawn: _Drawn) -> None:
        image = QImage.fromData(drawn.png)
        image.setDevicePixelRatio(self.devicePixelRatioF())
        self._image, self._note = image, ""
        self.setAccessibleDescription(drawn.alt)
        self.updateGeometry()
        self.update()
        self.drawn.emit(drawn.caption)

    def _trouble(self, error: Exception) -> None:
        self._image, self._note = QImage(), self._language.gettext("This chart could not be drawn.")
        self.update()
        self.failed.emit(error)

    # Qt -----------------------------------------------------------------------------------------------------

    def sizeHint(self) -> QSize:
        """The size of what is drawn."""
        if self._image.isNull():
            return QSize(self._theme.px(LEAST_WIDTH), self._theme.px(EMPTY_HEIGHT))
        return self._image.deviceIndependentSize().toSize()

    def minimumSizeHint(self) -> QSize:
        """As narrow as the window asks, as high as what is drawn."""
        return QSize(self._theme.px(LEAST_WIDTH) // 2, self.sizeHint().height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Draw again at the new width, once it has come to rest."""
        super().resizeEvent(event)
        if event.size().width() != event.oldSize().width():
            self._refresh()

    def showEvent(self, event: QShowEvent) -> None:
        """Draw what changed while nobody looked."""
        super().showEvent(event)
        if self._stale:
            self._timer.start()

    def paintEvent(self, event: QPaintEvent) -> None:
        """The image, or a word while there is none; a frame shows the focus."""
        painter = QPainter(self)
        if not self._image.isNull():
            shown = self._image.deviceIndependentSize().toSize()
            if shown.width() > self.width() > 0:  # an older, wider image until the new one comes
                shown = QSize(self.width(), shown.height() * self.width() // shown.width())
            painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
            painter.drawImage(QRect(QPoint(0, 0), shown), self._image)
        elif self._note:
            painter.drawText(self.rect(), Qt.AlignmentFlag.AlignCenter, self._note)
        if self.hasFocus():
            painter.setPen(self._theme.accent)
            painter.drawRect(self.rect().adjusted(0, 0, -1, -1))
        painter.end()

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """Copy, save."""
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.addActions(self.actions())
        for action in self.actions():
            action.setEnabled(not self._image.isNull())
        menu.popup(event.globalPos())
