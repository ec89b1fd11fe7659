"""The ways of getting the same work done over the months: what each costs, and what decides between them."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from engine.advice.result import Advice
from engine.advice.ways_result import WayCost, WaysComparison
from engine.i18n import Language
from engine.messages import N_
from engine.report.naming import plan_name
from engine.report.ways_words import amount_words, estimate_words, summary_words, way_words
from gui.results.selection import Selection
from gui.results.terms_dialog import TermsDialog
from gui.state import AppState
from gui.table_view import TableView
from gui.tables import Column, TableModel, TableProxy
from gui.theme import Theme
from gui.widgets.basic import button, clear_layout, label
from gui.widgets.words import NP_, Words

__all__ = ["COLUMNS", "WaysTab"]


@dataclass(frozen=True)
class _Row:
    way: WayCost
    currency: str
    plan: str


def _carbon(row: _Row, language: Language) -> str:
    gas = row.way.kg_co2_per_year
    return "–" if gas is None else language.number(gas.expected, 0)


def _first(row: _Row, language: Language) -> str:
    return "–" if row.way.total is None else amount_words(row.way.first_day, row.currency, language)


COLUMNS: tuple[Column[_Row], ...] = (
    Column(
        "way",
        N_("Way"),
        shown=lambda r, lang: lang.label(f"compare.{r.way.way}"),
        value=lambda r: r.way.way,
        width=18,
    ),
    Column("plan", N_("Plan"), shown=lambda r, _lang: r.plan or "–", value=lambda r: r.plan, width=22),
    Column(
        "total",
        N_("Cash in all"),
        shown=lambda r, lang: estimate_words(r.way.total, r.currency, lang),
        value=lambda r: r.way.total.expected if r.way.total else None,
        numeric=True,
        hint=N_("Cash over the whole project; what the machine is still worth at the end is taken off."),
    ),
    Column(
        "present",
        N_("Present value"),
        shown=lambda r, lang: "–" if r.way.present_value is None else amount_words(
            r.way.present_value.expected, r.currency, lang
        ),
        value=lambda r: r.way.present_value.expected if r.way.present_value else None,
        numeric=True,
        hint=N_("The same, later payments counted for less by the discount rate."),
    ),
    Column(
        "first",
        N_("On the first day"),
        shown=_first,
        value=lambda r: r.way.first_day if r.way.total else None,
        numeric=True,
    ),
    Column(
        "carbon",
        N_("kg CO2e a year"),
        shown=_carbon,
        value=lambda r: r.way.kg_co2_per_year.expected if r.way.kg_co2_per_year else None,
        numeric=True,
        hint=N_("Greenhouse gas of the electricity by the grid of the region; making the hardware is not in it."),
    ),
    Column(
        "remark",
        N_("Remark"),
        shown=lambda r, lang: lang.text(r.way.remark) if r.way.remark else "",
        value=lambda r: r.way.remark.code if r.way.remark else "",
        width=34,
    ),
)  # fmt: skip


class WaysTab(QWidget):
    """A table of all ways; below it what the chosen one pays for and what decides."""

    def __init__(self, state: AppState, selection: Selection, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._state, self._selection = state, selection
        self._words = Words(state, self)
        self.model: TableModel[_Row] = TableModel(COLUMNS, state.language, self)
        self.view = TableView(self.model, TableProxy(self.model, self), "ways.table", wrap=True)
        self.title = label("", "section", selectable=True)
        self.lines = label("", "small", selectable=True)
        self.lines.setObjectName("ways.lines")
        self.said = QVBoxLayout()
        column = QVBoxLayout(self)
        column.setContentsMargins(*(state.theme.px(state.theme.m),) * 4)
        column.setSpacing(state.theme.px(state.theme.s))
        self.terms = button(self._words, NP_("button", "Taxes, loans, space, staff…"), "ways.terms")
        self.terms.clicked.connect(self._ask_terms)
        head = QHBoxLayout()
        head.addWidget(self.title, 1)
        head.addWidget(self.terms)
        column.addLayout(head)
        column.addWidget(self.view, 1)
        column.addWidget(self.lines)
        column.addLayout(self.said)
        self.view.row_chosen.connect(lambda _row: self._explain())
        selection.advice_changed.connect(self._show)
        state.theme_changed.connect(self._take_theme)
        self._words.run(self._say)

    def _ask_terms(self) -> None:
        dialog = TermsDialog(self._state, self)
        if dialog.exec():
            dialog.apply()

    def _ways(self) -> WaysComparison | None:
        advice = self._selection.advice
        return advice.ways if advice is not None else None

    def _show(self, advice: Advice | None) -> None:
        ways = self._ways()
        # what is to be had first, the cheapest on top; doing nothing does no work and stands behind
        language, plans = self._words.language, {a.plan.id: a.plan for a in advice.ranked} if advice else {}
        names = {key: plan_name(plan, language) for key, plan in plans.items()}
        found = sorted(ways.ways, key=_order) if ways is not None else ()
        rows = tuple(_Row(w, ways.currency, names.get(w.plan_id, "")) for w in found) if ways is not None else ()
        self.model.set_rows(rows)
        self._say(self._words.language)
        if rows:
            self.view.choose(lambda row: row is rows[0])
            self._explain()

    def _say(self, language: Language) -> None:
        self.model.set_language(language)
        self.view.retranslate(language)
        self.view.setAccessibleName(language.gettext("Ways of getting the same work done"))
        clear_layout(self.said)
        ways = self._ways()
        if ways is None:
            self.title.setText(language.gettext("There is nothing to compare."))
            self.lines.clear()
            return
        self.title.setText(
            language.fill(
                "The same work for {months:int} months at {hours:num} hours a month",
                months=ways.months,
                hours=ways.hours_per_month,
            )
        )
        for text in summary_words(ways, language):
            self.said.addWidget(label(language.fill("• {reason}", reason=text), "small", selectable=True))
        self._explain()

    def _explain(self) -> None:
        ways, row = self._ways(), self.view.current_row()
        texts = () if ways is None or row is None else way_words(row.way, ways, self._words.language)
        self.lines.setText(" ".join(texts))
        self.lines.setVisible(bool(texts))

    def _take_theme(self, _theme: Theme) -> None:
        self.view.fit_columns()


def _order(way: WayCost) -> tuple[bool, bool, float]:
    return way.total is None, way.way == "nothing", way.total.expected if way.total is not None else 0.0
