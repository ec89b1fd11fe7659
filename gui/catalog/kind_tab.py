"""One part of the catalogue: search, filters, a table, and the details of its current row."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QCheckBox, QGridLayout, QHBoxLayout, QSplitter, QVBoxLayout, QWidget

from engine.hardware.model import CatalogSnapshot
from engine.i18n import Language
from engine.messages import N_
from gui.catalog.kinds import Kind, Record, records
from gui.catalog.shown import details
from gui.state import AppState
from gui.table_view import SearchField, TableView
from gui.tables import TableModel, TableProxy
from gui.widgets.basic import button, clear_layout, label, scrolled
from gui.widgets.words import Words

__all__ = ["KindTab"]


class KindTab(QWidget):
    """One part of the catalogue: search, table, details of the current row."""

    def __init__(self, kind: Kind, state: AppState, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.kind = kind
        self._words = Words(state, self)
        self._theme = state.theme
        self.model: TableModel[Record] = TableModel(kind.columns, state.language, self)
        self.proxy = TableProxy(self.model, self)
        self.view = TableView(self.model, self.proxy, f"catalog.{kind.key}.table")
        self.search = SearchField(self.proxy, self.view, f"catalog.{kind.key}.search")
        self.count = label("", "small", wrap=False)
        self.mine: QCheckBox | None = None
        self.current: QCheckBox | None = None
        self._filled = False
        self._build()
        self.view.row_chosen.connect(self._show)
        self.search.textChanged.connect(lambda _text: self._count())
        self._words.run(self._say)

    def _build(self) -> None:
        theme = self._theme
        bar = QHBoxLayout()
        bar.setSpacing(theme.px(theme.s))
        bar.addWidget(self.search, 1)
        if any(c.key == "current" for c in self.kind.columns):
            self.current = QCheckBox()
            self.current.setObjectName(f"catalog.{self.kind.key}.current")
            self._words.bind(self.current.setText, N_("Only current prices"))
            self._words.bind(
                self.current.setToolTip,
                N_("The latest price of each provider, card and term; without: the history too."),
            )
            self.current.toggled.connect(self._filter_current)
            self.current.setChecked(True)
            bar.addWidget(self.current)
        if any(c.key == "origin" for c in self.kind.columns):
            self.mine = QCheckBox()
            self.mine.setObjectName(f"catalog.{self.kind.key}.mine")
            self._words.bind(self.mine.setText, N_("Only my own rows"))
            self.mine.toggled.connect(self._filter_mine)
            bar.addWidget(self.mine)
        bar.addWidget(self.count)
        area, self._facts = scrolled(f"catalog.{self.kind.key}.details", margin=theme.px(theme.m), gap=theme.px(6))
        area.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._words.bind(area.setAccessibleName, N_("Details of the chosen row"))
        splitter = QSplitter(Qt.Orientation.Horizontal)
        splitter.setObjectName(f"catalog.{self.kind.key}.splitter")
        splitter.setChildrenCollapsible(False)
        splitter.addWidget(self.view)
        splitter.addWidget(area)
        splitter.setSizes([theme.px(640), theme.px(320)])
        splitter.setStretchFactor(0, 1)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, theme.px(theme.m), 0, 0)
        column.setSpacing(theme.px(theme.s))
        column.addLayout(bar)
        column.addWidget(splitter, 1)

    def fill(self, catalog: CatalogSnapshot) -> None:
        """Show the rows of a catalogue; the current row stays where it is still there."""
        current = self.view.current_row()
        self._filled = True
        self.model.set_rows(records(self.kind, catalog))
        if current is not None:
            self.view.choose(lambda record: record.row.id == current.row.id)
        if self.view.current_row() is None and self.proxy.rowCount():
            first = self.proxy.row_value(0)
            self.view.choose(lambda record: record is first)
        self._show(self.view.current_row())
        self._count()

    @property
    def filled(self) -> bool:
        """Whether the rows were read already."""
        return self._filled

    def forget(self) -> None:
        """The rows are out of date: read them when the tab is seen next."""
        self._filled = False

    def _say(self, language: Language) -> None:
        self.model.set_language(language)
        self.view.retranslate(language)
        title = language.pgettext(*self.kind.title) if isinstance(self.kind.title, tuple) else self.kind.title
        self.view.setAccessibleName(title)
        self.search.say(
            language.fill("Search in: {what}", what=title),
            language.gettext("All words must occur. Arrow down goes to the table."),
        )
        self._show(self.view.current_row())
        self._count()

    def _filter_current(self, only: bool) -> None:
        self.proxy.set_condition("current", (lambda record: record.row.current) if only else None)
        self._count()

    def _filter_mine(self, only: bool) -> None:
        self.proxy.set_condition("mine", (lambda record: record.row.origin == "user") if only else None)
        self._count()

    def _count(self) -> None:
        self.count.setText(
            self._words.language.fill(
                "{shown:int} of {total:int} shown", shown=self.proxy.rowCount(), total=len(self.model.rows)
            )
        )

    def _show(self, record: Record | None) -> None:
        clear_layout(self._facts)
        if record is None:
            self._facts.addWidget(
                label(self._words.language.gettext("Choose a row to see all that is known of it."), "muted")
            )
            self._facts.addStretch(1)
            return
        grid = QGridLayout()
        grid.setHorizontalSpacing(self._theme.px(self._theme.m))
        grid.setVerticalSpacing(self._theme.px(6))
        grid.setColumnStretch(0, 2)
        grid.setColumnStretch(1, 3)
        pairs = details(record.row, self._words.language, record.names)
        for number, (name, value) in enumerate(pairs):
            if len(value) > 40:
                cell = QVBoxLayout()
                cell.setSpacing(0)
                cell.addWidget(label(name, "small"))
                cell.addWidget(label(_breakable(value), selectable=True))
                grid.addLayout(cell, number, 0, 1, 2)
            else:
                grid.addWidget(label(name, "small"), number, 0, Qt.AlignmentFlag.AlignTop)
                grid.addWidget(label(_breakable(value), selectable=True), number, 1)
        self._facts.addLayout(grid)
        copy = button(self._words, N_("Copy all"), f"catalog.{self.kind.key}.copy", "link")
        text = "\n".join(f"{name}: {value}" for name, value in pairs)
        copy.clicked.connect(lambda: QGuiApplication.clipboard().setText(text))
        self._facts.addWidget(copy, 0, Qt.AlignmentFlag.AlignLeft)
        self._facts.addStretch(1)


def _breakable(text: str) -> str:
    """Long addresses may break after a slash (a zero-width space tells where)."""
    return text.replace("/", "/\u200b") if "://" in text else text
