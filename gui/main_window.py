"""The main window: navigation, menus, status, files, and what happens when one is dropped on it."""

from __future__ import annotations

import gc
import importlib
import logging
from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QByteArray, Qt
from PySide6.QtGui import QCloseEvent, QDragEnterEvent, QDropEvent, QKeySequence
from PySide6.QtWidgets import (
    QApplication,
    QButtonGroup,
    QFrame,
    QHBoxLayout,
    QPushButton,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from engine.errors import KnownError
from gui import dialogs
from gui.autosave import Autosave, Rescued
from gui.crash import CrashHandler
from gui.document_window import DocumentWindow
from gui.files import FileKind, kind_of_file
from gui.icons import program_icon
from gui.menus import Menus
from gui.problems import Page
from gui.start_page import StartPage
from gui.state import AppState
from gui.status import Status
from gui.verify_record import RecordChecker
from gui.warm import WarmUp
from gui.widgets.basic import ElidedLabel, button
from gui.widgets.drop import dropped_path
from gui.widgets.words import NP_, Text, Words
from gui.wizard.data_page import DataPage
from gui.wizard.flow import Step
from gui.wizard.model_page import ModelPage
from gui.wizard.view import WizardView

__all__ = ["MainWindow"]

_log = logging.getLogger(__name__)

#: Pages of the window in the order of the navigation: name, caption, where it is built ("" = here).
_PLACES: tuple[tuple[str, Text, str, str], ...] = (
    ("start", NP_("navigation", "Start"), "", ""),
    ("wizard", NP_("navigation", "Questions"), "", ""),
    ("results", NP_("navigation", "Results"), "gui.results.page", "ResultsPage"),
    ("report", NP_("navigation", "Report"), "gui.report.page", "ReportPage"),
    ("catalog", NP_("navigation", "Catalogue"), "gui.catalog.page", "CatalogPage"),
)


class MainWindow(DocumentWindow):
    """One window with one scenario. Pages other than the first are made when they are first wanted."""

    def __init__(self, state: AppState, *, autosave: Autosave | None = None, rescued: Rescued | None = None) -> None:
        super().__init__(state, autosave, rescued)
        self.setObjectName("main")
        self.words = Words(state, self)
        self.crash = CrashHandler(state, self)
        self.qt_words: object = None  # kept for the one who translates Qt's own buttons
        self.setWindowIcon(program_icon())
        self.setAcceptDrops(True)
        self.setMinimumSize(760, 520)
        self._pages: dict[str, QWidget] = {}
        self._warm = WarmUp([module for _name, _caption, module, _kind in _PLACES if module], self)
        self._warm.done.connect(self._warmed)
        self.record_checker = RecordChecker(state, self)
        self._build_menus()
        self._build_body()
        self.setStatusBar(Status(state, self))
        self._connect()
        self.words.run(lambda _language: self._retitle())
        self._restore_geometry()
        self.go("start")

    # building -------------------------------------------------------------------------------------------------

    def _build_menus(self) -> None:
        act: dict[str, Callable[[], object]] = {
            "new": self.new,
            "open": self.open,
            "import_run": self.import_run,
            "verify": self.record_checker.ask,
            "save": self.save,
            "save_as": self.save_as,
            "quit": self.close,
            "undo": self.state.undo,
            "redo": self.state.redo,
            "keys": self.show_keys,
            "abilities": self.show_abilities,
            "about": self.show_about,
            **{f"go_{name}": (lambda n=name: self.go(n)) for name, *_rest in _PLACES},
        }
        self.menus = Menus(self, self.state, self.words, act)
        self.menus.on_recent(self.open_path)

    def _build_body(self) -> None:
        body = QWidget()
        body.setProperty("look", "page")
        column = QVBoxLayout(body)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        bar = QFrame()
        bar.setProperty("look", "bar")
        row = QHBoxLayout(bar)
        row.setContentsMargins(16, 8, 16, 8)
        row.setSpacing(4)
        self._nav = QButtonGroup(self)
        self._nav_buttons: dict[str, QPushButton] = {}
        for name, caption, _module, _kind in _PLACES:
            made = button(self.words, caption, f"nav.{name}", "nav")
            made.setCheckable(True)
            made.clicked.connect(lambda _checked=False, n=name: self.go(n))
            self._nav.addButton(made)
            self._nav_buttons[name] = made
            row.addWidget(made)
        row.addSpacing(12)
        self.document_label = ElidedLabel("muted")
        row.addWidget(self.document_label, 8)
        row.addSpacing(12)
        self.tongue = QPushButton()
        self.tongue.setObjectName("nav.language")
        self.tongue.setProperty("look", "link")
        self.tongue.clicked.connect(self._other_language)
        row.addWidget(self.tongue)
        column.addWidget(bar)
        self.stack = QStackedWidget()
        column.addWidget(self.stack, 1)
        self.setCentralWidget(body)

    def warm_up(self) -> None:
        """Read the code of engine and pages and make the results' page, so that the first click need not wait."""
        self._warm.start()

    def _warmed(self) -> None:
        self._page("results")
        # catalogue, code and pages stay for good: looking them through for garbage would hold the window for 50 ms,
        # again and again in the middle of an estimate
        gc.freeze()

    def _connect(self) -> None:
        state = self.state
        state.failed.connect(self.take_failure)
        state.document_changed.connect(self._retitle)
        state.settings_changed.connect(lambda _settings: self.menus.refresh_recent())
        state.settings_changed.connect(lambda _settings: self.menus.refresh())

    # places ---------------------------------------------------------------------------------------------------

    def go(self, name: str) -> None:
        """Show one of the window's pages; those that are not there yet are made."""
        page = self._page(name)
        if name == "results" and self.state.advice is None:
            self.state.request_advice()
        self.stack.setCurrentWidget(page)
        self._nav_buttons[name].setChecked(True)

    def _page(self, name: str) -> QWidget:
        if name not in self._pages:
            self._pages[name] = self._make(name)
            self.stack.addWidget(self._pages[name])
        return self._pages[name]

    @property
    def wizard(self) -> WizardView:
        """The questions, made if need be."""
        page = self._page("wizard")
        if not isinstance(page, WizardView):
            raise TypeError(page)
        return page

    def _make(self, name: str) -> QWidget:
        if name == "start":
            return self._make_start()
        if name == "wizard":
            wizard = WizardView(self.state)
            wizard.finished.connect(lambda: self.go("results"))
            wizard.left.connect(lambda: self.go("start"))
            return wizard
        module, kind = next((m, k) for n, _caption, m, k in _PLACES if n == name)
        page: QWidget = getattr(importlib.import_module(module), kind)(self.state)
        for signal, place in (("edit_requested", "wizard"), ("report_requested", "report")):
            wanted = getattr(page, signal, None)
            if wanted is not None:
                wanted.connect(lambda p=place: self.go(p))
        return page

    def _make_start(self) -> StartPage:
        page = StartPage(self.state, self.rescued)
        page.new_wanted.connect(self.new)
        page.open_wanted.connect(self.open)
        page.run_wanted.connect(lambda: self.import_run())
        page.path_wanted.connect(self.open_path)
        page.example_wanted.connect(self.open_example)
        page.abilities_wanted.connect(self.show_abilities)
        page.resume_wanted.connect(self.resume)
        page.forget_wanted.connect(self.forget_rescued)
        return page

    def nothing_rescued(self) -> None:
        """The start page offers no unsaved work any more."""
        start = self._pages.get("start")
        if isinstance(start, StartPage):
            start.offer(None)

    # drops ----------------------------------------------------------------------------------------------------

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        """One local file is welcome."""
        if dropped_path(event) is not None:
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:
        """Do with a file what it is for."""
        path = dropped_path(event)
        if path is not None:
            event.acceptProposedAction()
            self.take_file(path)

    def take_file(self, path: Path) -> None:
        """Open a scenario, read a model or a training configuration, or count data."""
        kind = kind_of_file(path)
        if kind is FileKind.SCENARIO:
            self.open_path(path)
        elif kind is FileKind.RUN:
            self.import_run(path)
        elif kind is FileKind.UNKNOWN:
            words = self.state.language.fill(
                "{name} is of no kind that can be used here: a scenario, a model (config.json, folder, GGUF), a "
                "training configuration, or data as JSONL, CSV or TXT.",
                name=path.name,
            )
            dialogs.show_message(self, self.state.language.gettext("This file can't be used"), words)
        else:
            self._take_into_wizard(kind, path)

    def import_run(self, path: Path | None = None) -> None:
        """Show what a training configuration says; without one, ask for a file or a pasted command."""
        from gui.run_dialog import RunDialog

        task = self.wizard.step.task or 0
        dialog = RunDialog(self.state, task, path, self)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.taken.connect(lambda page: self._go_on(page, task))
        dialog.open()

    def _go_on(self, page: Page, task: int) -> None:
        self.go("wizard")
        self.wizard.go(Step(page, task))

    def _take_into_wizard(self, kind: FileKind, path: Path) -> None:
        wizard = self.wizard
        task = wizard.step.task or 0
        page = wizard.pages[Page.MODEL if kind is FileKind.CONFIG else Page.DATA]
        self.go("wizard")
        wizard.go(Step(page.PAGE, task))
        if isinstance(page, ModelPage):
            page.open_config(path)
        elif isinstance(page, DataPage):
            page.edit(data_source="file")
            page.card.count(path)

    # showing --------------------------------------------------------------------------------------------------

    def _retitle(self) -> None:
        language, state = self.state.language, self.state
        name = state.draft.name or (state.path.stem if state.path else language.gettext("Unnamed scenario"))
        program = language.gettext("GPU Advisor")
        self.setWindowTitle(f"{name}[*] – {program}")
        self.setWindowModified(state.unsaved)
        mark = language.gettext("not saved") if state.unsaved else ""
        self.document_label.set_full_text(" · ".join(part for part in (name, mark) if part))
        self.tongue.setText("English" if language.chinese else "中文")
        self.tongue.setAccessibleName(language.gettext("Switch the language"))
        self.menus.refresh()

    def _other_language(self) -> None:
        self.state.set_language("en" if self.state.language.chinese else "zh_CN")

    def take_failure(self, error: Exception) -> None:
        """An estimate failed: known errors in a line of words, bugs in the crash dialog."""
        if isinstance(error, KnownError):
            self.statusBar().showMessage(self.state.language.error(error), 15000)
        else:
            self.crash.report(error)

    def show_about(self) -> None:
        """About box."""
        from gui.about import AboutDialog

        dialog = AboutDialog(self.state, self)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.open()

    def show_keys(self) -> None:
        """All keys in one list."""
        gettext = self.state.language.gettext
        native = QKeySequence.SequenceFormat.NativeText
        lines = [
            gettext("Enter: next step"),
            gettext("Alt+Left: step back"),
            gettext("Esc: leave the questions (asks first)"),
            gettext("Tab, Shift+Tab: next or previous field"),
            gettext("Alt with an underlined letter: go to that field"),
        ]
        for action in self.menus.actions.values():
            if not action.shortcut().isEmpty():
                lines.append(f"{action.shortcut().toString(native)}: {action.text().replace('&', '')}")
        dialogs.show_message(self, gettext("Keyboard"), "\n".join(lines))

    # end ------------------------------------------------------------------------------------------------------

    def _restore_geometry(self) -> None:
        saved = self.state.settings.geometry
        if not (saved and self.restoreGeometry(QByteArray.fromBase64(saved.encode()))):
            screen = QApplication.primaryScreen().availableGeometry()
            self.resize(min(1280, screen.width()), min(820, screen.height()))

    def closeEvent(self, event: QCloseEvent) -> None:
        """Nothing is lost: unsaved work is kept; all threads end before the window goes."""
        if self.autosave is not None:
            self.autosave.close()
        self.state.remember(geometry=bytes(self.saveGeometry().toBase64().data()).decode())
        self.state.close()
        self._warm.close()
        self.record_checker.close_jobs()
        for page in self._pages.values():
            close_jobs = getattr(page, "close_jobs", None)
            if callable(close_jobs):
                close_jobs()
        event.accept()
