"""The report: choose profile and language, state what only the applicant knows, preview, save."""

from __future__ import annotations

import logging
from pathlib import Path

from PySide6.QtCore import QSize, Qt, QTimer, QUrl, Signal
from PySide6.QtGui import QDesktopServices, QIcon, QKeySequence, QPixmap, QShortcut, QShowEvent
from PySide6.QtWidgets import (
    QHBoxLayout,
    QLineEdit,
    QListWidget,
    QListWidgetItem,
    QPushButton,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from engine.advice.result import Advice
from engine.control import Control
from engine.errors import KnownError
from engine.i18n import Language
from engine.messages import N_
from gui.jobs import JobRunner
from gui.report.controls import ReportControls
from gui.report.pages import THUMBNAIL_WIDTH, Hit, Preview, find, make_preview
from gui.report.preview import PreviewView, to_image
from gui.results.files import Exporter, file_stem
from gui.state import AppState
from gui.widgets.basic import Banner, Card, button, label
from gui.widgets.words import NP_, Text, Words

__all__ = ["REFRESH_MS", "ReportPage"]

_log = logging.getLogger(__name__)

#: Quiet time after a change before the report is set again.
REFRESH_MS = 400


class ReportPage(QWidget):
    """Controls on the left, the very PDF on the right."""

    edit_requested = Signal()
    preview_ready = Signal(object)  # Preview

    def __init__(self, state: AppState, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("report")
        self.setProperty("look", "page")
        self._state = state
        self._words = Words(state, self)
        self._advice: Advice | None = state.advice
        self._preview: Preview | None = None
        self._hits: tuple[Hit, ...] = ()
        self._hit = 0
        self._stale = True
        self._saved_in: Path | None = None
        self._jobs, self._search_jobs = JobRunner(self), JobRunner(self)
        self._jobs.succeeded.connect(self._take)
        self._jobs.failed.connect(self._trouble)
        self._jobs.busy_changed.connect(self._show_busy)
        self._search_jobs.succeeded.connect(self._take_hits)
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(REFRESH_MS)
        self._timer.timeout.connect(self._make)
        self.exporter = Exporter(state, self)
        self.controls = ReportControls(state, self)
        self.view = PreviewView(state.theme, state.language)
        self._build()
        self.controls.changed.connect(self.refresh)
        self.controls.pdf_requested.connect(self.save_pdf)
        self.controls.file_requested.connect(self._save_file)
        self.exporter.saved.connect(self._say_saved)
        self.view.page_changed.connect(self._show_page)
        self.view.zoom_changed.connect(self._show_zoom)
        state.advice_changed.connect(self._take_advice)
        self._words.run(self._say)
        self._take_advice(state.advice)

    def close_jobs(self) -> None:
        """End all background work of this page; before the window goes."""
        self._timer.stop()
        self._jobs.close()
        self._search_jobs.close()
        self.view.close_jobs()
        self.exporter.close_jobs()

    @property
    def preview(self) -> Preview | None:
        """What is shown: the file that saving writes."""
        return self._preview

    # building -----------------------------------------------------------------------------------------------

    def _build(self) -> None:
        theme = self._state.theme
        self._stack = QStackedWidget()
        self._stack.addWidget(self._empty_page())
        full = QWidget()
        row = QHBoxLayout(full)
        row.setContentsMargins(*(theme.px(theme.l),) * 4)
        row.setSpacing(theme.px(theme.l))
        row.addWidget(self.controls)
        right = QVBoxLayout()
        right.setSpacing(theme.px(theme.s))
        self.banner = Banner("report.banner")
        self.folder = button(self._words, NP_("button", "Open folder"), "report.folder")
        self.folder.clicked.connect(self._open_folder)
        self.folder.hide()
        inside = self.banner.layout()
        if inside is not None:
            inside.addWidget(self.folder)
        right.addWidget(self.banner)
        right.addLayout(self._toolbar())
        pages = QHBoxLayout()
        pages.setSpacing(theme.px(theme.s))
        self.list = QListWidget()
        self.list.setObjectName("report.pages")
        self.list.setFixedWidth(theme.px(THUMBNAIL_WIDTH + 46))
        self.list.setIconSize(QSize(theme.px(THUMBNAIL_WIDTH), theme.px(THUMBNAIL_WIDTH * 1.42)))
        self.list.setViewMode(QListWidget.ViewMode.IconMode)
        self.list.setMovement(QListWidget.Movement.Static)
        self.list.setFlow(QListWidget.Flow.TopToBottom)
        self.list.setWrapping(False)
        self.list.setSpacing(theme.px(theme.xs))
        self.list.currentRowChanged.connect(self._page_chosen)
        pages.addWidget(self.list)
        pages.addWidget(self.view, 1)
        right.addLayout(pages, 1)
        row.addLayout(right, 1)
        self._stack.addWidget(full)
        outer = QVBoxLayout(self)
        outer.setContentsMargins(0, 0, 0, 0)
        outer.addWidget(self._stack)

    def _empty_page(self) -> QWidget:
        theme = self._state.theme
        page = QWidget()
        card = Card(margin=theme.px(32), gap=theme.px(12))
        card.setMaximumWidth(theme.px(560))
        title, text = label("", "title"), label("", "muted")
        self._words.bind(title.setText, N_("No report yet"))
        self._words.bind(text.setText, N_("A report is made from results. Answer the questions first."))
        edit = button(self._words, NP_("button", "Go to the questions"), "report.edit", "primary")
        edit.clicked.connect(self.edit_requested)
        for widget in (title, text):
            card.body.addWidget(widget)
        card.body.addWidget(edit, 0, Qt.AlignmentFlag.AlignLeft)
        column = QVBoxLayout(page)
        column.addStretch(1)
        column.addWidget(card, 0, Qt.AlignmentFlag.AlignHCenter)
        column.addStretch(2)
        return page

    def _toolbar(self) -> QHBoxLayout:
        row = QHBoxLayout()
        row.setSpacing(self._state.theme.px(6))
        self.place = label("", "muted", wrap=False)
        self.search = QLineEdit()
        self.search.setObjectName("report.search")
        self.search.setClearButtonEnabled(True)
        self.search.textChanged.connect(self._seek)
        self.search.returnPressed.connect(lambda: self._step(1))
        self.found = label("", "small", wrap=False)
        row.addWidget(self.place)
        row.addStretch(1)
        row.addWidget(self.search, 2)
        row.addWidget(self.found)
        self.zoom_text = label("", "muted", wrap=False)
        smaller = self._tool("−", N_("Smaller"), "report.smaller", QKeySequence.StandardKey.ZoomOut)
        larger = self._tool("+", N_("Larger"), "report.larger", QKeySequence.StandardKey.ZoomIn)
        fit = button(self._words, NP_("button", "Fit width"), "report.fit")
        smaller.clicked.connect(self.view.zoom_out)
        larger.clicked.connect(self.view.zoom_in)
        fit.clicked.connect(self.view.fit_width)
        for widget in (smaller, self.zoom_text, larger, fit):
            row.addWidget(widget)
        QShortcut(QKeySequence.StandardKey.Find, self, lambda: self.search.setFocus())
        QShortcut(QKeySequence.StandardKey.FindNext, self, lambda: self._step(1))
        QShortcut(QKeySequence.StandardKey.FindPrevious, self, lambda: self._step(-1))
        return row

    def _tool(self, sign: str, text: Text, name: str, key: QKeySequence.StandardKey) -> QPushButton:
        made = QPushButton(sign)
        made.setObjectName(name)
        made.setShortcut(QKeySequence(key))
        made.setFixedWidth(self._state.theme.px(40))
        self._words.bind(made.setAccessibleName, text)
        self._words.bind(made.setToolTip, text)
        return made

    def _say(self, language: Language) -> None:
        self.search.setPlaceholderText(language.gettext("Search in the report"))
        self.search.setAccessibleName(language.gettext("Search in the report"))
        self.list.setAccessibleName(language.gettext("Pages"))
        self.view.say(language)
        self._show_zoom(self.view.zoom)
        self._show_page(self.list.currentRow())
        self._show_found()

    # making -------------------------------------------------------------------------------------------------

    def refresh(self) -> None:
        """Set the report again, soon; at once when the page is seen next."""
        self._stale = True
        self._advice = self._state.advice or self._advice
        if self.isVisible() and self._advice is not None:
            self._timer.start()

    def showEvent(self, event: QShowEvent) -> None:
        """Make what changed while nobody looked."""
        super().showEvent(event)
        if self._stale and self._advice is not None:
            self._timer.start(0)
            self._timer.setInterval(REFRESH_MS)

    def _take_advice(self, advice: Advice | None) -> None:
        self._advice = advice
        self._stack.setCurrentIndex(0 if advice is None else 1)
        if advice is None:
            self._jobs.cancel()
            self._preview = None
            self.view.show_preview(None)
            self.list.clear()
        self.refresh()

    def _make(self) -> None:
        advice = self._advice
        if advice is None:
            return
        self._stale = False
        language, profile, details = self.controls.language, self.controls.profile, self.controls.details
        scale = self._state.theme.scale * self.devicePixelRatioF()
        catalog = self._state.catalog
        self._jobs.submit(lambda control: make_preview(advice, language, profile, details, scale, control, catalog))

    def _take(self, preview: Preview) -> None:
        self._preview = preview
        self.controls.set_ready(True)
        self.view.show_preview(preview)
        current = max(self.list.currentRow(), 0)
        self.list.blockSignals(True)
        self.list.clear()
        for image in preview.thumbnails:
            icon = QIcon(QPixmap.fromImage(to_image(image, self.devicePixelRatioF())))
            item = QListWidgetItem(icon, str(image.number + 1))
            item.setTextAlignment(Qt.AlignmentFlag.AlignHCenter)
            self.list.addItem(item)
        self.list.setCurrentRow(min(current, self.list.count() - 1))
        self.list.blockSignals(False)
        self.list.setVisible(len(preview.sizes) > 1)
        self._show_page(self.list.currentRow())
        self._seek(self.search.text())
        self.preview_ready.emit(preview)

    def _trouble(self, error: Exception) -> None:
        if isinstance(error, KnownError):
            self.banner.say(self._words.language.error(error), "danger")
        else:
            _log.error("the report could not be made", exc_info=error)
            self._state.failed.emit(error)

    def _show_busy(self, busy: bool) -> None:
        self.controls.set_ready(not busy and self._preview is not None)
        if busy:
            self.folder.hide()
            self.banner.say(self._words.language.gettext("Setting the report…"))
        else:
            self.banner.say("")

    # looking ------------------------------------------------------------------------------------------------

    def _page_chosen(self, number: int) -> None:
        if number >= 0:
            self.view.go_to(number)
            self._show_page(number)

    def _show_page(self, number: int) -> None:
        if number < 0 or not self.view.pages:
            self.place.clear()
            return
        if self.list.currentRow() != number and number < self.list.count():
            self.list.blockSignals(True)
            self.list.setCurrentRow(number)
            self.list.blockSignals(False)
        self.place.setText(
            self._words.language.fill("Page {page:int} of {pages:int}", page=number + 1, pages=self.view.pages)
        )

    def _show_zoom(self, zoom: float) -> None:
        self.zoom_text.setText(self._words.language.percent(zoom))

    def _seek(self, text: str) -> None:
        preview, wanted = self._preview, text.strip()
        if preview is None or not wanted:
            self._search_jobs.cancel()
            self._take_hits(())
            return
        self._search_jobs.submit(lambda control: find(preview.pdf, wanted, control))

    def _take_hits(self, hits: tuple[Hit, ...]) -> None:
        self._hits, self._hit = hits, 0
        self.view.show_hits(hits, hits[0] if hits else None)
        self._show_found()

    def _step(self, step: int) -> None:
        if self._hits:
            self._hit = (self._hit + step) % len(self._hits)
            self.view.show_hits(self._hits, self._hits[self._hit])
            self._show_found()

    def _show_found(self) -> None:
        language = self._words.language
        if not self.search.text().strip():
            self.found.clear()
        elif self._hits:
            self.found.setText(language.fill("{hit:int} of {hits:int}", hit=self._hit + 1, hits=len(self._hits)))
        else:
            self.found.setText(language.gettext("not found"))

    # saving -------------------------------------------------------------------------------------------------

    def save_pdf(self) -> None:
        """Save the very file that is shown."""
        preview, advice = self._preview, self._advice
        if preview is None or advice is None:
            return

        def make(control: Control) -> bytes:
            control.checkpoint()
            return preview.pdf

        self.exporter.save(make, file_stem(advice, self.controls.profile), "pdf")

    def _save_file(self, kind: str) -> None:
        if self._advice is not None:
            self.exporter.export_table(kind, self._advice, self.controls.language)

    def _say_saved(self, path: Path) -> None:
        self.banner.say(self._words.language.fill("Saved: {path}", path=str(path)))
        self._saved_in = path.parent
        self.folder.show()

    def _open_folder(self) -> None:
        if self._saved_in is not None:
            QDesktopServices.openUrl(QUrl.fromLocalFile(str(self._saved_in)))
