"""The status bar: what the catalogue holds, and whether an estimate is under way."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QProgressBar, QStatusBar, QWidget

from engine.i18n import Language
from engine.messages.mark import N_
from gui.state import AppState
from gui.widgets.basic import button
from gui.widgets.words import NP_, Words

__all__ = ["Status"]


class Status(QStatusBar):
    """Follows the state by itself."""

    def __init__(self, state: AppState, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._state = state
        words = Words(state, self)
        self.setSizeGripEnabled(False)
        self.setContentsMargins(8, 0, 8, 0)
        self.catalog = QLabel()
        self.catalog.setTextFormat(Qt.TextFormat.PlainText)
        self.bar = QProgressBar()
        self.bar.setTextVisible(False)
        self.bar.setFixedWidth(140)
        words.bind(self.bar.setAccessibleName, N_("Computing …"))
        self.stop = button(words, NP_("button", "Stop"), "status.stop", "link")
        self.stop.clicked.connect(state.cancel)
        self.addWidget(self.catalog, 1)
        self.addPermanentWidget(self.bar)
        self.addPermanentWidget(self.stop)
        state.busy_changed.connect(self._busy)
        state.progress.connect(self._progress)
        state.catalog_changed.connect(lambda _catalog: self._show_catalog(state.language))
        words.run(self._show_catalog)
        self._busy(state.busy)

    def _show_catalog(self, language: Language) -> None:
        catalog = self._state.catalog
        self.catalog.setText(
            language.fill(
                "Catalogue {version}: {gpus:int} cards, {offers:int} offers, {models:int} models",
                version=catalog.version,
                gpus=len(catalog.gpus),
                offers=len(catalog.offers),
                models=len(catalog.models),
            )
        )

    def _busy(self, busy: bool) -> None:
        self.bar.setRange(0, 0)
        self.bar.setVisible(busy)
        self.stop.setVisible(busy)

    def _progress(self, done: int, total: int) -> None:
        if total > 0:
            self.bar.setRange(0, total)
            self.bar.setValue(min(done, total))
