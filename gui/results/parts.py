"""Small widgets that several parts of the results use: responsive rows of cards, chips, findings."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QGridLayout, QWidget

from engine.findings import Finding, Severity
from engine.i18n import Language
from engine.memory.result import Verdict
from gui.results import words
from gui.theme import Theme
from gui.widgets.basic import Card, clear_layout, label

__all__ = ["CardRow", "FindingCard", "verdict_look"]

#: No card is narrower than this many logical pixels at scale 1.
CARD_WIDTH = 262

FINDING_LOOKS = {
    Severity.SERIOUS: "danger",
    Severity.WARNING: "warning",
    Severity.ADVICE: "info",
    Severity.INFO: "card",
}


def verdict_look(verdict: Verdict) -> str:
    """Look of a chip that shows a verdict; its words say the same."""
    match verdict:
        case Verdict.FITS:
            return "good"
        case Verdict.FITS_TIGHTLY:
            return "tight"
        case Verdict.DOES_NOT_FIT:
            return "bad"
        case Verdict.UNKNOWN:
            return "neutral"


class CardRow(QWidget):
    """Cards side by side, as many as fit; the rest below."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._cards: list[QWidget] = []
        self._columns = 0
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setSpacing(theme.px(theme.m))

    @property
    def cards(self) -> tuple[QWidget, ...]:
        """What is shown."""
        return tuple(self._cards)

    def set_cards(self, cards: Sequence[QWidget], theme: Theme) -> None:
        """Show other cards."""
        clear_layout(self._grid)
        self._cards, self._columns, self._theme = list(cards), 0, theme
        self._arrange()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """More or fewer columns."""
        super().resizeEvent(event)
        self._arrange()

    def _arrange(self) -> None:
        fitting = max(1, self.width() // self._theme.px(CARD_WIDTH))
        columns = min(fitting, len(self._cards)) or 1
        if columns == self._columns:
            return
        self._columns = columns
        for card in self._cards:
            self._grid.removeWidget(card)
        for number, card in enumerate(self._cards):
            self._grid.addWidget(card, number // columns, number % columns)
        for number in range(max(columns, self._grid.columnCount())):
            self._grid.setColumnStretch(number, 1 if number < columns else 0)


class FindingCard(Card):
    """One finding: its sentence, what it is about, where it comes from; the colour repeats the heading above."""

    def __init__(self, finding: Finding, about: str, language: Language, theme: Theme) -> None:
        super().__init__(look=FINDING_LOOKS[finding.severity], margin=theme.px(theme.m), gap=theme.px(theme.xs))
        text = language.text(finding)
        self.body.addWidget(label(text, selectable=True))
        notes = [about] if about else []
        if finding.source:
            notes.append(language.fill("Source: {text}", text=language.source(finding.source)))
        if notes:
            self.body.addWidget(label(" · ".join(notes), "small"))
        self.setAccessibleName(f"{words.severity_name(finding.severity, language)}: {text}")
