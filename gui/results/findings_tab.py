"""Findings by severity: what holds for the whole answer, and what holds for the chosen plan."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QVBoxLayout, QWidget

from engine.advice.result import Advice, Assessment
from engine.findings import Finding, Severity
from engine.i18n import Language
from gui.results import words
from gui.results.parts import FindingCard
from gui.results.selection import Selection
from gui.state import AppState
from gui.widgets.basic import clear_layout, label, scrolled
from gui.widgets.when_seen import WhenSeen
from gui.widgets.words import Words

__all__ = ["FindingsTab", "collected"]

ORDER = (Severity.SERIOUS, Severity.WARNING, Severity.ADVICE, Severity.INFO)


def collected(advice: Advice, chosen: Assessment | None) -> tuple[tuple[Finding, bool], ...]:
    """Findings of the answer, and of the chosen plan (True), each once, most severe first."""
    found: dict[str, tuple[Finding, bool]] = {}
    for finding in advice.findings:
        found.setdefault(finding.model_dump_json(), (finding, False))
    for finding in chosen.findings if chosen is not None else ():
        found.setdefault(finding.model_dump_json(), (finding, True))
    return tuple(sorted(found.values(), key=lambda pair: ORDER.index(pair[0].severity)))


class FindingsTab(QWidget):
    """Cards under a heading for each severity."""

    def __init__(self, state: AppState, selection: Selection, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._state, self._selection = state, selection
        self._words = Words(state, self)
        theme = state.theme
        self.area, self._column = scrolled("findings.area", margin=theme.px(theme.l), gap=theme.px(theme.s))
        self.area.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        outer = QVBoxLayout(self)
        outer.setContentsMargins(0, 0, 0, 0)
        outer.addWidget(self.area)
        self._seen = WhenSeen(self, lambda: self._show(selection.assessment))
        selection.changed.connect(self._seen.ask)
        self._words.run(self._say)

    def _say(self, language: Language) -> None:
        self.area.setAccessibleName(language.gettext("Findings"))
        self._seen.ask()

    def _show(self, chosen: Assessment | None) -> None:
        advice, language = self._selection.advice, self._words.language
        clear_layout(self._column)
        if advice is not None:
            self._fill(collected(advice, chosen), chosen, language)
        self._column.addStretch(1)

    def _fill(self, findings: tuple[tuple[Finding, bool], ...], chosen: Assessment | None, language: Language) -> None:
        if not findings:
            self._column.addWidget(label(language.gettext("Nothing to say: no warnings, no assumptions.")))
        last: Severity | None = None
        for finding, of_plan in findings:
            if finding.severity is not last:
                last = finding.severity
                self._column.addWidget(label(words.severity_name(last, language), "section"))
            about = ""
            if of_plan and chosen is not None:
                about = language.fill("For {plan}", plan=words.plan_name(chosen.plan, language))
            self._column.addWidget(FindingCard(finding, about, language, self._state.theme))
