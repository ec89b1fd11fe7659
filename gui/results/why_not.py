"""Why not? Every card of the catalogue with its best plan or the one reason against it; searchable by any name."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QVBoxLayout, QWidget

from engine.advice.result import Advice, Assessment, Rejection
from engine.i18n import Language
from engine.messages import N_
from gui.results import words
from gui.results.selection import Selection
from gui.state import AppState
from gui.table_view import SearchField, TableView
from gui.tables import Column, TableModel, TableProxy
from gui.widgets.basic import label
from gui.widgets.when_seen import WhenSeen
from gui.widgets.words import Words

__all__ = ["COLUMNS", "Outcome", "WhyNotTab", "outcomes"]


@dataclass(frozen=True)
class Outcome:
    """What became of a card, an offer or a method: its best plan with its place, or the reason against it."""

    name: str
    place: int | None = None
    assessment: Assessment | None = None
    rejection: Rejection | None = None


def outcomes(advice: Advice) -> tuple[Outcome, ...]:
    """One line for each card that is ranked (its best plan), then everything that was rejected."""
    best: dict[str, Outcome] = {}
    for number, assessment in enumerate(advice.ranked):
        gpu = assessment.plan.cluster.gpu
        best.setdefault(gpu.id, Outcome(gpu.name, number + 1, assessment))
    return (*best.values(), *(Outcome(r.label, rejection=r) for r in advice.rejected))


def _kind(row: Outcome, language: Language) -> str:
    if row.assessment is not None or row.rejection is None or row.rejection.kind == "gpu":
        return language.pgettext("subject", "Card")
    if row.rejection.kind == "offer":
        return language.pgettext("subject", "Offer")
    return language.pgettext("subject", "Method")


def _outcome(row: Outcome, language: Language) -> str:
    if row.place is None:
        return language.pgettext("outcome", "Out")
    return language.fill("Rank {place:int}", place=row.place)


def _reason(row: Outcome, language: Language) -> str:
    if row.rejection is not None:
        return language.text(row.rejection.reason)
    if row.assessment is None:
        return ""
    return language.fill(
        "Best plan: {plan}, {source}; {memory}; {cost}, done after {time}.",
        plan=words.plan_name(row.assessment.plan, language),
        source=words.plan_source(row.assessment.plan, language),
        memory=words.distance(words.tightest(row.assessment).memory, language),
        cost=language.money(row.assessment.cost.cost_of_job),
        time=words.days(row.assessment.calendar_days, language),
    )


COLUMNS: tuple[Column[Outcome], ...] = (
    Column("name", N_("Card or offer"), shown=lambda r, lang: r.name, value=lambda r: r.name, width=30),
    Column("kind", N_("Kind"), shown=_kind, value=lambda r: r.rejection.kind if r.rejection else "gpu"),
    Column("outcome", N_("Outcome"), shown=_outcome, value=lambda r: r.place),
    Column("reason", N_("Reason"), shown=_reason, value=lambda r: r.rejection.reason.code if r.rejection else ""),
)


class WhyNotTab(QWidget):
    """Search any card: its place, or what speaks against it and what would change that."""

    def __init__(self, state: AppState, selection: Selection, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._selection = selection
        self._words = Words(state, self)
        self.model: TableModel[Outcome] = TableModel(COLUMNS, state.language, self)
        self.proxy = TableProxy(self.model, self)
        self.view = TableView(self.model, self.proxy, "whynot.table", wrap=True)
        self.search = SearchField(self.proxy, self.view, "whynot.search")
        self.count = label("", "small", wrap=False)
        theme = state.theme
        column = QVBoxLayout(self)
        column.setContentsMargins(*(theme.px(theme.m),) * 4)
        column.setSpacing(theme.px(theme.s))
        for widget in (self.search, self.view, self.count):
            column.addWidget(widget, 1 if widget is self.view else 0)
        self.view.sortByColumn(2, Qt.SortOrder.AscendingOrder)
        self.view.row_chosen.connect(self._choose)
        self.search.textChanged.connect(lambda _text: self._count())
        self._seen = WhenSeen(self, lambda: self._show(selection.advice))
        selection.advice_changed.connect(self._seen.ask)
        self._words.run(self._say)

    def _say(self, language: Language) -> None:
        self.model.set_language(language)
        self.view.retranslate(language)
        self.view.setAccessibleName(language.gettext("Every card, its best plan or the reason against it"))
        self.search.say(
            language.gettext("Type a card, for example 4090: its best plan, or the reason against it"),
            language.gettext("All words must occur. Arrow down goes to the table."),
        )
        self._count()

    def _show(self, advice: Advice | None) -> None:
        self.model.set_rows(outcomes(advice) if advice is not None else ())
        self._count()

    def _choose(self, row: Outcome) -> None:
        if row.assessment is not None:
            self._selection.choose(row.assessment.plan.id)

    def _count(self) -> None:
        self.count.setText(
            self._words.language.fill(
                "{shown:int} of {total:int} shown", shown=self.proxy.rowCount(), total=len(self.model.rows)
            )
        )
