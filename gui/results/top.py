"""The top of the results: cards side by side, never higher than a share of the page, compact while a tab needs room."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QSize, Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFrame, QScrollArea, QSizePolicy, QVBoxLayout, QWidget

from engine.advice.result import Advice, Assessment
from engine.i18n import Language
from gui.results.cards import ApiCard, PickCard, pick_cards
from gui.results.parts import CardRow
from gui.results.selection import Selection
from gui.theme import Theme

__all__ = ["TopArea"]

#: The cards take at most this share of the page's height; what is more scrolls.
MOST_OF_PAGE = 0.43
#: Least height in logical pixels at scale 1.
LEAST_HEIGHT = 84


class TopArea(QScrollArea):
    """Pick cards, API cards, and whatever stands instead of them, as high as they need."""

    def __init__(self, selection: Selection, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("results.cards")
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Maximum)
        self._selection, self._theme = selection, theme
        self._compact = False
        self._wanted = 0
        self._cards: list[PickCard | ApiCard] = []
        self.behind: QWidget | None = None  # what the tab key leaves before it comes to the cards
        self._row = CardRow(theme)
        inside = QWidget()
        inside.setProperty("look", "scrolled")
        self.column = QVBoxLayout(inside)
        self.column.setContentsMargins(0, 0, 0, 0)
        self.column.addWidget(self._row)
        self.setWidget(inside)
        inside.installEventFilter(self)

    @property
    def cards(self) -> tuple[PickCard | ApiCard, ...]:
        """What is shown."""
        return tuple(self._cards)

    def fill(self, advice: Advice | None, language: Language, theme: Theme) -> None:
        """Cards of another advice, language or theme."""
        self._theme = theme
        self._cards = pick_cards(advice, language, theme) if advice is not None else []
        for card in self._cards:
            card.set_compact(self._compact)
            if isinstance(card, PickCard):
                card.chosen.connect(self._selection.choose)
        self._row.set_cards(self._cards, theme)
        before = self.behind
        for card in self._cards:
            if before is not None and card.focusPolicy() != Qt.FocusPolicy.NoFocus:
                QWidget.setTabOrder(before, card)
                before = card
        self._row.setVisible(bool(self._cards))
        self.mark(self._selection.assessment)
        self.fit()

    def mark(self, chosen: Assessment | None) -> None:
        """Frame the card of the plan that is looked at."""
        for card in self._cards:
            if isinstance(card, PickCard):
                card.set_chosen(chosen is not None and card.assessment.plan.id == chosen.plan.id)

    def set_compact(self, compact: bool) -> None:
        """Fewer lines on each card, or all of them."""
        self._compact = compact
        for card in self._cards:
            card.set_compact(compact)
        self.fit()

    def fit(self) -> None:
        """Take the height that the cards need at this width."""
        inside = self.widget()
        page = self.parentWidget()
        if inside is None or page is None:
            return
        layout = self.column
        layout.activate()
        width = max(self.viewport().width(), 1)
        needed = layout.totalMinimumSize().height()  # below it the area would scroll
        if layout.hasHeightForWidth():
            needed = max(needed, layout.totalHeightForWidth(width))
        wanted = min(needed, round(page.height() * MOST_OF_PAGE))
        if wanted != self._wanted:
            self._wanted = wanted
            self.updateGeometry()

    def sizeHint(self) -> QSize:
        """The cards' height, up to their share of the page."""
        return QSize(super().sizeHint().width(), self._wanted)

    def minimumSizeHint(self) -> QSize:
        """Enough of a card to see that there is more; never what makes the page higher."""
        return QSize(super().minimumSizeHint().width(), min(self._wanted, self._theme.px(LEAST_HEIGHT)))

    def eventFilter(self, watched: object, event: QEvent) -> bool:
        """The cards changed their height: fit again."""
        if event.type() == QEvent.Type.LayoutRequest:
            self.fit()
        return super().eventFilter(watched, event)  # type: ignore[arg-type]

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Another width, another height."""
        super().resizeEvent(event)
        if event.size().width() != event.oldSize().width():
            self.fit()
