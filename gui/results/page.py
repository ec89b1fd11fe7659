"""The results: what is recommended on top, and tabs that look at the chosen plan from every side."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QAction, QResizeEvent
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QMenu,
    QScrollArea,
    QSizePolicy,
    QStackedWidget,
    QTabWidget,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from engine.advice.result import Advice, Assessment
from engine.findings import Severity
from engine.i18n import Language
from engine.messages import N_
from gui.charts.canvas import ChartView
from gui.results import words
from gui.results.charts_tab import ChartsTab, memory_charts, money_charts
from gui.results.compare import CompareTab
from gui.results.details import DetailsTab
from gui.results.files import Exporter
from gui.results.findings_tab import FindingsTab
from gui.results.fit_tab import FitTab
from gui.results.measured import ask_measured
from gui.results.selection import Selection
from gui.results.sources import SourcesTab
from gui.results.start_tab import StartTab
from gui.results.top import TopArea
from gui.results.ways_tab import WaysTab
from gui.results.why_not import WhyNotTab
from gui.state import AppState
from gui.widgets.basic import Banner, Card, button, clear_layout, label
from gui.widgets.words import NP_, Text, Words

__all__ = ["ResultsPage"]

#: Below this height (logical pixels at scale 1) the comparison needs the room that full cards would take.
LOW_PAGE = 660
#: Below this height the page scrolls as a whole.
LEAST_HEIGHT = 540
#: Height that the tabs keep in any case.
LEAST_TABS = 250


class _Sheet(QWidget):
    """What scrolls as a whole. Wrapped texts inside must not stretch it beyond the window: its tables take the rest."""

    def hasHeightForWidth(self) -> bool:
        """No: the height is the window's, or the least one."""
        return False


class ResultsPage(QWidget):
    """Cards of the picks over tabs; nothing yet, or nothing that meets the limits, is said in words."""

    edit_requested = Signal()  # the person wants to change what was asked
    report_requested = Signal()

    def __init__(self, state: AppState, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("results")
        self.setProperty("look", "page")
        self._state = state
        self._words = Words(state, self)
        self.selection = Selection(self)
        self.exporter = Exporter(state, self)
        self._stack = QStackedWidget()
        self._stack.addWidget(self._empty_page())
        self._stack.addWidget(self._result_page())
        outer = QVBoxLayout(self)
        outer.setContentsMargins(0, 0, 0, 0)
        outer.addWidget(self._stack)
        self.selection.changed.connect(self._show_chosen)
        state.advice_changed.connect(self._show_advice)
        state.draft_changed.connect(self._warn_outdated)
        state.theme_changed.connect(lambda _theme: self._fill_cards())
        self._words.run(lambda _language: self._fill_cards())
        self._show_advice(state.advice)

    def close_jobs(self) -> None:
        """End all background work of this page; before the window goes."""
        self.memory.close_jobs()
        self.fit.close_jobs()
        self.money.close_jobs()
        self.exporter.close_jobs()

    # building -----------------------------------------------------------------------------------------------

    def _empty_page(self) -> QWidget:
        page = QWidget()
        page.setProperty("look", "page")
        card = Card(margin=self._state.theme.px(32), gap=self._state.theme.px(12))
        card.setMaximumWidth(self._state.theme.px(560))
        title, text = label("", "title"), label("", "muted")
        self._words.bind(title.setText, N_("No results yet"))
        self._words.bind(
            text.setText,
            N_("Answer the questions about your task, data and limits; the results appear as soon as they suffice."),
        )
        edit = button(self._words, NP_("button", "Go to the questions"), "results.edit", "primary")
        edit.clicked.connect(self.edit_requested)
        card.body.addWidget(title)
        card.body.addWidget(text)
        card.body.addWidget(edit, 0, Qt.AlignmentFlag.AlignLeft)
        row = QHBoxLayout()  # no alignment: the card's wrapped text gets the height that its width needs
        row.addStretch(1)
        row.addWidget(card, 8)
        row.addStretch(1)
        column = QVBoxLayout(page)
        column.addStretch(1)
        column.addLayout(row)
        column.addStretch(2)
        return page

    def _result_page(self) -> QWidget:
        theme = self._state.theme
        page = _Sheet()
        column = QVBoxLayout(page)
        column.setContentsMargins(theme.px(theme.xl), theme.px(theme.l), theme.px(theme.xl), theme.px(theme.l))
        column.setSpacing(theme.px(theme.m))
        column.addLayout(self._head())
        self.banner = Banner("results.outdated")
        column.addWidget(self.banner)
        self.top = TopArea(self.selection, theme)
        self.top.behind = self.report
        self.nothing = Card(look="card", margin=theme.px(theme.l), gap=theme.px(6))
        self.nothing.setObjectName("results.nothing")
        self.top.column.insertWidget(0, self.nothing)
        column.addWidget(self.top)
        column.addWidget(self._tabs(), 1)
        page.setMinimumHeight(theme.px(LEAST_HEIGHT))
        area = QScrollArea()
        area.setObjectName("results.area")
        area.setWidgetResizable(True)
        area.setFrameShape(QFrame.Shape.NoFrame)
        area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        holder = QWidget()
        holder.setProperty("look", "scrolled")
        around = QVBoxLayout(holder)
        around.setContentsMargins(0, 0, 0, 0)
        around.addWidget(page)
        area.setWidget(holder)
        return area

    def _head(self) -> QHBoxLayout:
        row = QHBoxLayout()
        self.title = label("", "title", wrap=False)
        self.subtitle = label("", "muted")
        row.addWidget(self.title)
        row.addWidget(self.subtitle, 1)
        self.export = QToolButton()
        self.export.setObjectName("results.export")
        self.export.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.export.setMenu(self._export_menu())
        self._words.bind(self.export.setText, NP_("button", "Export table…"))
        self._words.bind(self.export.setAccessibleName, NP_("button", "Export table…"))
        self.report = button(self._words, NP_("button", "Make the report"), "results.report", "primary")
        self.report.clicked.connect(self.report_requested)
        self.more = QToolButton()
        self.more.setObjectName("results.more")
        self.more.setCheckable(True)
        self._words.bind(self.more.setText, NP_("button", "Keep cards open"))
        self._words.bind(self.more.setAccessibleName, NP_("button", "Keep cards open"))
        self._words.bind(
            self.more.setToolTip, N_("Show the cards on top in full beside every view, not only beside the comparison.")
        )
        self.more.toggled.connect(lambda _on: self._make_room(self.tabs.currentIndex()))
        row.addWidget(self.more)
        row.addWidget(self.export)
        row.addWidget(self.report)
        return row

    def _export_menu(self) -> QMenu:
        menu = QMenu(self)
        entries: tuple[tuple[str, Text, Callable[[], None]], ...] = (
            ("csv", NP_("menu", "Table as CSV…"), lambda: self._export("csv")),
            ("xlsx", NP_("menu", "Table as Excel workbook…"), lambda: self._export("xlsx")),
            ("json", NP_("menu", "Complete record as JSON…"), lambda: self._export("json")),
        )
        for kind, text, slot in entries:
            action = QAction(menu)
            action.setObjectName(f"results.export.{kind}")
            self._words.bind(action.setText, text)
            action.triggered.connect(slot)
            menu.addAction(action)
        return menu

    def _tabs(self) -> QWidget:
        state, selection = self._state, self.selection
        self.chosen_note = label("", "small")
        self.chosen_note.setObjectName("results.chosen")
        self.compare = CompareTab(state, selection)
        self.memory = ChartsTab("memory", memory_charts(), state, selection)
        self.fit = FitTab(state, selection)
        self.measure = button(self._words, NP_("button", "I measured it…"), "money.measure")
        self._words.bind(
            self.measure.setToolTip,
            N_("State what a run of the chosen plan really took, memory or speed: the estimates then start from it."),
        )
        self.measure.clicked.connect(self._ask_measured)
        self.money = ChartsTab("money", money_charts(state), state, selection, first=self.measure)
        self.ways = WaysTab(state, selection)
        self.details = DetailsTab(state, selection)
        self.start = StartTab(state, selection)
        self.why_not = WhyNotTab(state, selection)
        self.findings = FindingsTab(state, selection)
        self.sources = SourcesTab(state, selection)
        for charts in (self.memory, self.money):
            charts.save_requested.connect(self._save_chart)
        self.tabs = QTabWidget()
        self.tabs.setObjectName("results.tabs")
        self.tabs.setDocumentMode(True)
        names: tuple[tuple[QWidget, Text], ...] = (
            (self.compare, NP_("tab", "Compare")),
            (self.memory, NP_("tab", "Memory")),
            (self.fit, NP_("tab", "What would make it fit")),
            (self.money, NP_("tab", "Time and cost")),
            (self.ways, NP_("tab", "Buy or rent")),
            (self.details, NP_("tab", "Details")),
            (self.start, NP_("tab", "How to start it")),
            (self.why_not, NP_("tab", "Why not?")),
            (self.findings, NP_("tab", "Findings")),
            (self.sources, NP_("tab", "Sources")),
        )
        for number, (widget, text) in enumerate(names):
            self.tabs.addTab(widget, "")
            self._words.bind(lambda words_, n=number: self.tabs.setTabText(n, words_), text)
        self.tabs.currentChanged.connect(self._make_room)
        self.chosen_note.hide()  # the table shows it
        self._words.bind(self.tabs.setAccessibleName, N_("Views of the results"))
        holder = _Sheet()
        # the tabs take what the cards leave: their own wishes (long charts, long lists) would squeeze the cards
        holder.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Ignored)
        holder.setMinimumHeight(state.theme.px(LEAST_TABS))
        column = QVBoxLayout(holder)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(self._state.theme.px(self._state.theme.xs))
        column.addWidget(self.chosen_note)
        column.addWidget(self.tabs, 1)
        return holder

    # showing ------------------------------------------------------------------------------------------------

    def _show_advice(self, advice: Advice | None) -> None:
        self.banner.say("")
        self.selection.set_advice(advice)
        self._stack.setCurrentIndex(0 if advice is None else 1)
        self._fill_cards()
        if advice is not None and not advice.ranked and self.tabs.currentWidget() is self.compare:
            self.tabs.setCurrentWidget(self.why_not)

    def _warn_outdated(self, _draft: object) -> None:
        if self.selection.advice is not None and self._state.advice is None:
            text = self._words.language.gettext("What you asked for has changed. These results are being renewed.")
            self.banner.say(text, "warning")

    def _fill_cards(self) -> None:
        advice, language, theme = self.selection.advice, self._words.language, self._state.theme
        self.title.setText(language.gettext("Results"))
        self.nothing.setVisible(advice is not None and not advice.picks)
        if advice is not None:
            self.subtitle.setText(self._counted(advice, language))
            if not advice.picks:
                self._explain_nothing(advice, language)
        self.top.fill(advice, language, theme)
        self._show_chosen(self.selection.assessment)

    def _counted(self, advice: Advice, language: Language) -> str:
        return language.fill(
            "{plans:int} plans from {clusters:int} combinations of cards and offers; {rejected:int} ruled out",
            plans=len(advice.ranked),
            clusters=advice.searched.clusters,
            rejected=len(advice.rejected),
        )

    def _explain_nothing(self, advice: Advice, language: Language) -> None:
        clear_layout(self.nothing.body)
        body = self.nothing.body
        body.addWidget(label(language.gettext("No plan meets all your limits"), "subtitle"))
        grave = [f for f in advice.findings if f.severity in (Severity.SERIOUS, Severity.WARNING, Severity.ADVICE)]
        for finding in grave[:6]:
            body.addWidget(label(language.fill("• {reason}", reason=language.text(finding)), selectable=True))
        body.addWidget(
            label(
                language.gettext(
                    "Below, 'Why not?' names the decisive reason for every card and what would change it."
                ),
                "muted",
            )
        )
        edit = button(self._words, NP_("button", "Change the limits"), "results.change", "primary")
        edit.clicked.connect(self.edit_requested)
        body.addWidget(edit, 0, Qt.AlignmentFlag.AlignLeft)

    def _make_room(self, tab: int) -> None:
        """The comparison stands below full cards; the other views get the room of compact ones."""
        low = self.height() < self._state.theme.px(LOW_PAGE)
        self.top.set_compact((tab > 0 or low) and not self.more.isChecked())
        self.chosen_note.setVisible(tab > 0)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """A low page has no room for full cards."""
        super().resizeEvent(event)
        if event.size().height() != event.oldSize().height():
            self._make_room(self.tabs.currentIndex())

    def _show_chosen(self, assessment: Assessment | None) -> None:
        language = self._words.language
        self.top.mark(assessment)
        if assessment is None:
            self.chosen_note.clear()
            return
        self.chosen_note.setText(
            language.fill(
                "Plan looked at: {plan}, {way}, {source}",
                plan=words.plan_name(assessment.plan, language),
                way=words.way_name(assessment.plan, language),
                source=words.plan_source(assessment.plan, language),
            )
        )

    def _ask_measured(self) -> None:
        advice, assessment = self.selection.advice, self.selection.assessment
        if advice is not None and assessment is not None:
            ask_measured(self._state, advice, assessment, self)

    # files --------------------------------------------------------------------------------------------------

    def _export(self, kind: str) -> None:
        advice = self.selection.advice
        if advice is not None:
            self.exporter.export_table(kind, advice)

    def _save_chart(self, view: ChartView, kind: str) -> None:
        make = view.file_bytes(kind)
        if make is not None and view.chart is not None:
            self.exporter.save(make, view.chart.name, kind)
