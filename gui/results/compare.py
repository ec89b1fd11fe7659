"""The comparison: all ranked plans in a table that sorts, filters, copies and exports."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QWidget

from engine.advice.result import Advice, Assessment
from engine.i18n import Language
from engine.memory.result import Verdict
from engine.messages import N_
from engine.report.money_words import two_figures, what_widens
from gui.results import words
from gui.results.chip import ChipDelegate
from gui.results.columns import COLUMNS, RankedPlan, ranked_plans
from gui.results.selection import Selection
from gui.state import AppState
from gui.table_view import SearchField, TableView
from gui.tables import TableModel, TableProxy
from gui.theme import Theme
from gui.widgets.basic import ElidedLabel, button, label
from gui.widgets.editors import ChoiceEdit
from gui.widgets.words import NP_, Words

__all__ = ["CompareTab"]

#: Room that the search field should have beside the filters, in widths of the digit 0.
SEARCH_DIGITS = 34


class CompareTab(QWidget):
    """Table of the ranked plans; the current row is the chosen plan."""

    def __init__(self, state: AppState, selection: Selection, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._selection = selection
        self._words = Words(state, self)
        self.model: TableModel[RankedPlan] = TableModel(COLUMNS, state.language, self)
        self.proxy = TableProxy(self.model, self)
        self.view = TableView(self.model, self.proxy, "compare.table")
        self.search = SearchField(self.proxy, self.view, "compare.search")
        self.verdict = self._choice("compare.verdict", NP_("filter", "Any verdict"))
        self.way = self._choice("compare.way", NP_("filter", "Any way"))
        self.vendor = self._choice("compare.vendor", NP_("filter", "Any vendor"))
        self.count = label("", "small", wrap=False)
        self.money = ElidedLabel("small")
        self.money.setAlignment(Qt.AlignmentFlag.AlignLeft)
        self.money.setObjectName("compare.money")
        self._build(state)
        self._chip = ChipDelegate(lambda row: words.tightest(row.assessment).memory.verdict, state.theme, self)
        number = next(i for i, c in enumerate(COLUMNS) if c.key == "verdict")
        self.view.setItemDelegateForColumn(number, self._chip)
        state.theme_changed.connect(self._take_theme)
        self.view.sortByColumn(0, Qt.SortOrder.AscendingOrder)
        self.view.row_chosen.connect(lambda row: selection.choose(row.assessment.plan.id))
        self.verdict.edited.connect(self._filter_verdict)
        self.way.edited.connect(self._filter_way)
        self.vendor.edited.connect(self._filter_vendor)
        selection.advice_changed.connect(self._show_advice)
        selection.changed.connect(self._show_chosen)
        for signal in (
            self.proxy.rowsInserted,
            self.proxy.rowsRemoved,
            self.proxy.modelReset,
            self.proxy.layoutChanged,
        ):
            signal.connect(self._count)
        self._words.run(self._say)

    def _choice(self, name: str, anything: tuple[str, str] | str) -> ChoiceEdit:
        made = ChoiceEdit(self._words, [("", anything)])
        made.setObjectName(name)
        return made

    def _build(self, state: AppState) -> None:
        theme = state.theme
        self._filters = QWidget()
        bar = QHBoxLayout(self._filters)
        bar.setContentsMargins(0, 0, 0, 0)
        bar.setSpacing(theme.px(theme.s))
        for box in (self.verdict, self.way, self.vendor):
            bar.addWidget(box)
        bar.addStretch(1)
        copy = button(self._words, N_("Copy table"), "compare.copy")
        copy.clicked.connect(self.view.copy_all)
        bar.addWidget(copy)
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(*(theme.px(theme.m),) * 4)
        self._grid.setSpacing(theme.px(theme.s))
        self._grid.setColumnStretch(0, 1)
        self._grid.setRowStretch(2, 1)
        self._grid.addWidget(self.search, 0, 0)
        self._grid.addWidget(self.count, 0, 1)
        self._grid.addWidget(self._filters, 0, 2)
        self._grid.addWidget(self.view, 2, 0, 1, 3)
        self._grid.addWidget(self.money, 3, 0, 1, 3)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """The filters stand beside the search field where there is room, else below it."""
        super().resizeEvent(event)
        search = self.fontMetrics().horizontalAdvance("0") * SEARCH_DIGITS
        beside = self.width() > search + self.count.sizeHint().width() + self._filters.sizeHint().width()
        place = (0, 2, 1, 1) if beside else (1, 0, 1, 3)
        if self._grid.getItemPosition(self._grid.indexOf(self._filters)) != place:
            self._grid.removeWidget(self._filters)
            self._grid.addWidget(self._filters, *place)

    def _say(self, language: Language) -> None:
        self.model.set_language(language)
        self.view.retranslate(language)
        self.view.setAccessibleName(language.gettext("Ranked plans"))
        self.search.say(
            language.gettext("Search in plans"),
            language.gettext("Card, provider, way… All words must occur. Arrow down goes to the table."),
        )
        self.verdict.setAccessibleName(language.gettext("Show only this memory verdict"))
        self.way.setAccessibleName(language.gettext("Show only this way"))
        self.vendor.setAccessibleName(language.gettext("Show only this vendor"))
        self._offer_choices(self._selection.advice)
        self._show_chosen(self._selection.assessment)
        self._count()

    def _show_advice(self, advice: Advice | None) -> None:
        self.model.set_rows(ranked_plans(advice) if advice is not None else ())
        self._offer_choices(advice)

    def _offer_choices(self, advice: Advice | None) -> None:
        language = self._words.language
        ranked = advice.ranked if advice is not None else ()
        ways = {a.plan.way: words.way_name(a.plan, language) for a in ranked}
        verdicts = sorted({words.tightest(a).memory.verdict for a in ranked}, key=words.verdict_rank)
        vendors = sorted({a.plan.cluster.gpu.vendor for a in ranked})
        self.verdict.set_choices(
            [("", NP_("filter", "Any verdict")), *((str(v), words.verdict_name(v, language)) for v in verdicts)],
            language,
        )
        self.way.set_choices([("", NP_("filter", "Any way")), *sorted(ways.items())], language)
        self.vendor.set_choices([("", NP_("filter", "Any vendor")), *((v, v) for v in vendors)], language)

    def _show_chosen(self, assessment: Assessment | None) -> None:
        plan_id = assessment.plan.id if assessment is not None else ""
        self.view.choose(lambda row: row.assessment.plan.id == plan_id)
        self.money.setVisible(assessment is not None)
        if assessment is not None:
            language = self._words.language
            texts = (two_figures(assessment.cost, language), what_widens(assessment.cost, language))
            both = ("" if language.chinese else " ").join(text for text in texts if text)
            name = words.plan_name(assessment.plan, language)
            self.money.set_full_text(language.fill("{name}: {text}", name=name, text=both))
            self.money.setAccessibleName(both)

    def _take_theme(self, theme: Theme) -> None:
        self._chip.theme = theme
        self.view.fit_columns()

    def _filter_verdict(self, value: str) -> None:
        wanted = Verdict(value) if value else None
        self.proxy.set_condition(
            "verdict", None if wanted is None else lambda r: words.tightest(r.assessment).memory.verdict is wanted
        )
        self._count()

    def _filter_way(self, value: str) -> None:
        self.proxy.set_condition("way", (lambda r: r.assessment.plan.way == value) if value else None)
        self._count()

    def _filter_vendor(self, value: str) -> None:
        self.proxy.set_condition("vendor", (lambda r: r.assessment.plan.cluster.gpu.vendor == value) if value else None)
        self._count()

    def _count(self) -> None:
        self.count.setText(
            self._words.language.fill(
                "{shown:int} of {total:int} plans shown", shown=self.proxy.rowCount(), total=len(self.model.rows)
            )
        )
