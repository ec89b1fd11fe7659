"""The prices of a card over time, as a chart with its words."""

from __future__ import annotations

from functools import cache

from PySide6.QtGui import QCloseEvent
from PySide6.QtWidgets import QDialog, QVBoxLayout, QWidget

from engine.catalog.history import PriceHistory, price_history
from engine.i18n import Language
from engine.messages import N_
from gui.charts.canvas import Chart, ChartView
from gui.state import AppState
from gui.widgets.basic import label, scrolled
from gui.widgets.words import Words

__all__ = ["PricesDialog"]


class PricesDialog(QDialog):
    """Chart, caption, and the same in words."""

    def __init__(self, state: AppState, gpu_id: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._words = Words(state, self)
        theme = state.theme
        self.resize(theme.px(820), theme.px(720))
        self._words.bind(self.setWindowTitle, N_("Prices over time"))
        column = QVBoxLayout(self)
        catalog, currency = state.catalog, state.draft.currency

        @cache
        def history() -> PriceHistory:
            return price_history(catalog, gpu_id, currency)

        def alt(language: Language) -> str:
            from engine.report.charts.prices import prices_alt

            return prices_alt(history(), language)

        def caption(language: Language) -> str:
            from engine.report.charts.prices import prices_caption

            return prices_caption(history(), language)

        def draw(look: object, language: Language, width: float) -> object:
            from engine.report.charts.prices import prices_chart

            return prices_chart(history(), look, language, width=width)  # type: ignore[arg-type]

        self.chart = ChartView("prices.chart", state.language, theme)
        self.chart.show_chart(Chart("prices", draw, caption, alt))  # type: ignore[arg-type]
        area, inside = scrolled("prices.area", margin=theme.px(theme.m))
        inside.addWidget(self.chart)
        inside.addWidget(label(caption(state.language), "muted"))
        inside.addWidget(label(alt(state.language), "small", selectable=True))
        inside.addStretch(1)
        column.addWidget(area)

    def done(self, result: int) -> None:
        """Nothing is drawn any more once the dialog is closed."""
        self.chart.close_jobs()
        super().done(result)

    def closeEvent(self, event: QCloseEvent) -> None:
        """The same where the window is closed from outside."""
        self.chart.close_jobs()
        super().closeEvent(event)
