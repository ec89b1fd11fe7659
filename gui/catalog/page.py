"""The catalogue: browse cards, machines, offers, prices, models and costs; add and remove rows of one's own."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtWidgets import (
    QDialog,
    QHBoxLayout,
    QMenu,
    QTabWidget,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from engine.catalog import packs, user
from engine.catalog.exporting import exported_table
from engine.catalog.importing import IMPORTED_KINDS
from engine.catalog.trust import own_key
from engine.errors import KnownError
from engine.files import write_atomically
from engine.messages import N_
from gui import dialogs
from gui.catalog.correct import CorrectDialog
from gui.catalog.exchange import ImportDialog, PackDialog, undo
from gui.catalog.forms import OfferDialog, QuotationDialog, SharedDialog
from gui.catalog.kind_tab import KindTab
from gui.catalog.kinds import KINDS
from gui.catalog.prices import PricesDialog
from gui.state import AppState
from gui.widgets.basic import button, label
from gui.widgets.drop import dropped_path
from gui.widgets.words import NP_, Text, Words

__all__ = ["CatalogPage"]


#: Endings of files that may be dropped here.
PACK_ENDING, TABLE_ENDINGS = ".gapack", (".csv", ".tsv", ".txt")


class CatalogPage(QWidget):
    """Tabs of `KindTab`s, and the buttons for rows of one's own."""

    def __init__(self, state: AppState, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("catalog")
        self.setProperty("look", "page")
        self.setAcceptDrops(True)
        self._state = state
        self._words = Words(state, self)
        self.kinds = [KindTab(kind, state) for kind in KINDS]
        self.tabs = QTabWidget()
        self.tabs.setObjectName("catalog.tabs")
        self.tabs.setDocumentMode(True)
        for number, (tab, kind) in enumerate(zip(self.kinds, KINDS, strict=True)):
            self.tabs.addTab(tab, "")
            self._words.bind(lambda text, n=number: self.tabs.setTabText(n, text), kind.title)
            tab.view.row_chosen.connect(lambda _record: self._show_removable())
        self._build()
        self.tabs.currentChanged.connect(self._fill_current)
        state.catalog_changed.connect(self._forget)
        self._words.run(lambda _language: self._say_version())
        self._fill_current()

    def _build(self) -> None:
        theme = self._state.theme
        head = QHBoxLayout()
        head.setSpacing(theme.px(theme.s))
        title = label("", "title", wrap=False)
        self._words.bind(title.setText, N_("Catalogue"))
        self.version = label("", "muted", wrap=False)
        head.addWidget(title)
        head.addWidget(self.version)
        head.addStretch(1)
        self.remove = button(self._words, NP_("button", "Remove my row"), "catalog.remove")
        self.remove.clicked.connect(self._remove)
        head.addWidget(self.remove)
        for text, name, kind in (
            (NP_("button", "Add my offer…"), "catalog.add_offer", OfferDialog),
            (NP_("button", "Add shared cluster…"), "catalog.add_shared", SharedDialog),
            (NP_("button", "Add quotation…"), "catalog.add_quotation", QuotationDialog),
        ):
            made = button(self._words, text, name)
            made.clicked.connect(lambda _checked=False, k=kind: self.add(k))
            head.addWidget(made)
        head.addWidget(self._more())
        column = QVBoxLayout(self)
        column.setContentsMargins(theme.px(theme.xl), theme.px(theme.l), theme.px(theme.xl), theme.px(theme.l))
        column.setSpacing(theme.px(theme.m))
        column.addLayout(head)
        column.addWidget(self.tabs, 1)
        self._words.bind(self.tabs.setAccessibleName, N_("Parts of the catalogue"))

    def _more(self) -> QToolButton:
        """Tables, packs, corrections, undo."""
        more = QToolButton()
        more.setObjectName("catalog.more")
        more.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self._words.bind(more.setText, NP_("button", "More"))
        self._words.bind(more.setAccessibleName, N_("Tables, packs, corrections, undo"))
        menu = QMenu(more)
        entries: tuple[tuple[Text, str, Callable[[], object]], ...] = (
            (NP_("menu", "Correct this row…"), "correct", lambda: self.correct()),
            (NP_("menu", "New row of mine after this one…"), "copy", lambda: self.correct(copy=True)),
            (NP_("menu", "Prices over time…"), "prices", self.show_prices),
            (NP_("menu", "Import a table…"), "import", self.import_table),
            (NP_("menu", "Export this table…"), "export", self.export_table),
            (NP_("menu", "Apply a pack…"), "apply", self.apply_pack),
            (NP_("menu", "Export my rows as a pack…"), "pack", self.export_pack),
            (NP_("menu", "Undo the latest change"), "undo", lambda: undo(self, self._state, self._reload)),
        )
        for text, name, act in entries:
            action = menu.addAction("")
            action.setObjectName(f"catalog.{name}")
            self._words.bind(action.setText, text)
            action.triggered.connect(lambda _checked=False, a=act: a())
        more.setMenu(menu)
        return more

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        """A pack or a table is welcome."""
        path = dropped_path(event)
        if path is not None and path.suffix.lower() in (PACK_ENDING, *TABLE_ENDINGS):
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:
        """Show what a pack or a table would change."""
        path = dropped_path(event)
        if path is None:
            return
        event.acceptProposedAction()
        if path.suffix.lower() == PACK_ENDING:
            self.apply_pack(path)
        else:
            self.import_table(path)

    def close_jobs(self) -> None:
        """Nothing runs in the background here."""

    # tables and packs ---------------------------------------------------------------------------------------

    def import_table(self, path: Path | None = None) -> ImportDialog:
        """Show what a table would change."""
        dialog = ImportDialog(self._state, self)
        if path is not None:
            dialog.open_file(path)
        self._open(dialog)
        return dialog

    def apply_pack(self, path: Path | None = None) -> PackDialog | None:
        """Show what a pack would change."""
        language = self._words.language
        if path is None:
            path = dialogs.ask_open(self, language.gettext("Apply a pack"), "GPU Advisor (*.gapack)")
        if path is None:
            return None
        try:
            dialog = PackDialog(self._state, path, self)
        except KnownError as error:
            dialogs.show_error(self, language, error)
            return None
        self._open(dialog)
        return dialog

    def _open(self, dialog: ImportDialog | PackDialog) -> None:
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.stored.connect(lambda _count: self._reload())
        dialog.open()

    def export_table(self) -> None:
        """Write the rows of the current part as CSV."""
        tab, language = self.kinds[self.tabs.currentIndex()], self._words.language
        rows = [tab.proxy.row_value(n).row for n in range(tab.proxy.rowCount())]
        if not rows:
            return
        kind = user.kind_of(rows[0])
        if kind not in IMPORTED_KINDS:
            kind = "model"
        path = dialogs.ask_save(self, language.gettext("Export this table"), "CSV (*.csv)", f"{kind}.csv")
        if path is not None:
            self._write(path, lambda: exported_table(kind, rows))

    def export_pack(self) -> None:
        """Write the user's own rows as a signed pack."""
        language = self._words.language
        path = dialogs.ask_save(
            self, language.gettext("Export my rows as a pack"), "GPU Advisor (*.gapack)", "my-rows.gapack"
        )
        if path is not None:
            self._write(path, lambda: packs.pack_bytes(packs.own_rows(), path.stem, signing_key=own_key()))

    def _write(self, path: Path, content: Callable[[], bytes]) -> None:
        try:
            write_atomically(path, content())
        except KnownError as error:
            dialogs.show_error(self, self._words.language, error)

    def correct(self, *, copy: bool = False) -> CorrectDialog | None:
        """Correct the current row, or make one of one's own after it."""
        record = self.kinds[self.tabs.currentIndex()].view.current_row()
        if record is None:
            return None
        dialog = CorrectDialog(self._state, record.row, self, copy=copy)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.stored.connect(lambda _row: self._reload())
        dialog.open()
        return dialog

    def show_prices(self) -> PricesDialog | None:
        """Prices over time of the current row's card."""
        record = self.kinds[self.tabs.currentIndex()].view.current_row()
        row = record.row if record is not None else None
        gpu_id = getattr(row, "gpu_id", "") or next(iter(getattr(row, "gpu_ids", ())), "") or getattr(row, "id", "")
        if gpu_id not in self._state.catalog.gpu_by_id:
            return None
        dialog = PricesDialog(self._state, gpu_id, self)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.open()
        return dialog

    # rows of one's own --------------------------------------------------------------------------------------

    def add(self, kind: type[OfferDialog] | type[SharedDialog] | type[QuotationDialog]) -> QDialog:
        """Open a dialog; what it accepts is stored and shown."""
        dialog = kind(self._state, self)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.stored.connect(self._stored)
        dialog.open()
        return dialog

    def _stored(self, row: Any) -> None:
        if self._reload():
            key = "purchases" if hasattr(row, "seller") else "offers"
            number = next(i for i, kind in enumerate(KINDS) if kind.key == key)
            self.tabs.setCurrentIndex(number)
            tab = self.kinds[number]
            tab.search.clear()
            tab.view.choose(lambda record: record.row.id == row.id)
            self._show_removable()

    def _remove(self) -> None:
        record = self.kinds[self.tabs.currentIndex()].view.current_row()
        if record is None or record.row.origin != "user":
            return
        try:
            user.revert(record.row)
        except KnownError as error:
            dialogs.show_error(self, self._words.language, error)
            return
        self._reload()

    def _reload(self) -> bool:
        try:
            self._state.reload_catalog()
        except KnownError as error:
            dialogs.show_error(self, self._words.language, error)
            return False
        return True

    # showing ------------------------------------------------------------------------------------------------

    def _forget(self, _catalog: object) -> None:
        for tab in self.kinds:
            tab.forget()
        self._say_version()
        self._fill_current()

    def _fill_current(self, _index: int = 0) -> None:
        tab = self.kinds[self.tabs.currentIndex()]
        if not tab.filled:
            tab.fill(self._state.catalog)
        self._show_removable()

    def _show_removable(self) -> None:
        record = self.kinds[self.tabs.currentIndex()].view.current_row()
        self.remove.setEnabled(record is not None and getattr(record.row, "origin", "") == "user")

    def _say_version(self) -> None:
        catalog = self._state.catalog
        self.version.setText(
            self._words.language.fill("version {version}, {hash}", version=catalog.version, hash=catalog.sha256[:12])
        )
