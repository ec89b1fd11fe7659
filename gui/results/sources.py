"""The sources: every price and data sheet that the ranked plans rest on, with its date, age and link."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QVBoxLayout, QWidget

from engine.advice.result import Advice
from engine.cost.age import age_days
from engine.hardware.model import Gpu, Offer, PurchasePrice
from engine.i18n import Language
from engine.messages import N_
from engine.quantity import Money
from gui.results import words
from gui.results.selection import Selection
from gui.state import AppState
from gui.table_view import SearchField, TableView
from gui.tables import Column, TableModel, TableProxy
from gui.widgets.basic import label
from gui.widgets.when_seen import WhenSeen
from gui.widgets.words import Words

__all__ = ["COLUMNS", "SourceRow", "SourcesTab", "source_rows"]


@dataclass(frozen=True)
class SourceRow:
    """One row of data that the answer rests on, and how many ranked plans use it."""

    row: Offer | PurchasePrice | Gpu
    name: str
    seen: date | None
    plans: int
    days: int | None

    @property
    def link(self) -> str:
        """Address of the source; empty for the user's own rows."""
        return self.row.source_url


def source_rows(advice: Advice) -> tuple[SourceRow, ...]:
    """Prices first, in the order of the plans that use them; then the cards' data sheets."""
    rows: dict[tuple[str, str], tuple[Offer | PurchasePrice | Gpu, str]] = {}
    used: dict[tuple[str, str], int] = {}
    for assessment in advice.ranked:
        plan = assessment.plan
        for kind, row in (("offer", plan.offer), ("purchase", plan.purchase), ("gpu", plan.cluster.gpu)):
            if row is not None:
                rows.setdefault((kind, row.id), (row, plan.cluster.gpu.name))
                used[kind, row.id] = used.get((kind, row.id), 0) + 1
    made = [_source_row(row, name, used[key], advice.scenario.as_of) for key, (row, name) in rows.items()]
    return tuple(sorted(made, key=lambda r: isinstance(r.row, Gpu)))


def _source_row(row: Offer | PurchasePrice | Gpu, name: str, plans: int, as_of: date) -> SourceRow:
    seen = _day(row.source_date) if isinstance(row, Gpu) else row.observed_on
    return SourceRow(row, name, seen, plans, age_days(seen, as_of))


def _day(text: str) -> date | None:
    try:
        return date.fromisoformat(text)
    except ValueError:
        return None


def _what(row: SourceRow, language: Language) -> str:
    match row.row:
        case Offer():
            return language.pgettext("source", "Rental price")
        case PurchasePrice():
            return language.pgettext("source", "Purchase price")
        case Gpu():
            return language.pgettext("source", "Card data")


def _from(row: SourceRow, language: Language) -> str:
    match row.row:
        case Offer():
            return " · ".join(p for p in (row.row.provider, words.term_name(row.row.term, language)) if p)
        case PurchasePrice():
            return " · ".join(p for p in (row.row.seller, words.condition_name(row.row.condition, language)) if p)
        case Gpu():
            return row.row.source_title or row.row.vendor


def _price(row: SourceRow, language: Language) -> str:
    match row.row:
        case Offer():
            money = Money(amount=row.row.price_per_gpu_hour, currency=row.row.currency)
            return language.fill("{money} per card-hour", money=language.money(money))
        case PurchasePrice():
            return language.money(Money(amount=row.row.price, currency=row.row.currency))
        case Gpu():
            return "–"


def _seen(row: SourceRow, language: Language) -> str:
    return language.date(row.seen) if row.seen else language.gettext("undated")


def _age(row: SourceRow, language: Language) -> str:
    return language.gettext("undated") if row.days is None else language.fill("{x:days}", x=row.days)


def _origin(row: SourceRow, language: Language) -> str:
    return language.label(f"origin.{row.row.origin}")


COLUMNS: tuple[Column[SourceRow], ...] = (
    Column("what", N_("What"), shown=_what, value=lambda r: type(r.row).__name__),
    Column("gpu", N_("Card"), shown=lambda r, lang: r.name, value=lambda r: r.name, width=26),
    Column("from", N_("From"), shown=_from, value=lambda r: _from(r, Language("en")), width=28),
    Column("price", N_("Price"), shown=_price, value=lambda r: _price(r, Language("en")), numeric=True),
    Column("seen", N_("Seen on"), shown=_seen, value=lambda r: r.seen.isoformat() if r.seen else None),
    Column("age", N_("Age"), shown=_age, value=lambda r: r.days, numeric=True),
    Column("plans", N_("Plans"), shown=lambda r, lang: lang.number(r.plans), value=lambda r: r.plans, numeric=True),
    Column("origin", N_("Origin"), shown=_origin, value=lambda r: r.row.origin),
    Column("link", N_("Link"), shown=lambda r, lang: r.link or "–", value=lambda r: r.link or None, width=48),
)


class SourcesTab(QWidget):
    """Table of sources, and which catalogue they come from."""

    def __init__(self, state: AppState, selection: Selection, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._selection = selection
        self._words = Words(state, self)
        self.model: TableModel[SourceRow] = TableModel(COLUMNS, state.language, self)
        self.proxy = TableProxy(self.model, self)
        self.view = TableView(self.model, self.proxy, "sources.table")
        self.search = SearchField(self.proxy, self.view, "sources.search")
        self.note = label("", "small", selectable=True)
        theme = state.theme
        column = QVBoxLayout(self)
        column.setContentsMargins(*(theme.px(theme.m),) * 4)
        column.setSpacing(theme.px(theme.s))
        for widget in (self.search, self.view, self.note):
            column.addWidget(widget, 1 if widget is self.view else 0)
        self.view.sortByColumn(-1, Qt.SortOrder.AscendingOrder)  # as the plans use them
        self._seen = WhenSeen(self, lambda: self._show(selection.advice))
        selection.advice_changed.connect(self._seen.ask)
        self._words.run(self._say)

    def _say(self, language: Language) -> None:
        self.model.set_language(language)
        self.view.retranslate(language)
        self.view.setAccessibleName(language.gettext("Prices and data that the plans rest on"))
        self.search.say(
            language.gettext("Search in sources"),
            language.gettext("All words must occur. Arrow down goes to the table."),
        )
        self._note()

    def _show(self, advice: Advice | None) -> None:
        self.model.set_rows(source_rows(advice) if advice is not None else ())
        self._note()

    def _note(self) -> None:
        advice, language = self._selection.advice, self._words.language
        if advice is None:
            self.note.clear()
            return
        self.note.setText(
            language.fill(
                "Catalogue {version}, SHA-256 {hash}. Prices as of {day:date}; looked at {clusters:int} combinations "
                "of cards and offers and {layouts:int} ways to spread the work.",
                version=advice.catalog_version,
                hash=advice.catalog_sha256[:12],
                day=advice.scenario.as_of.isoformat(),
                clusters=advice.searched.clusters,
                layouts=advice.searched.candidates,
            )
        )
