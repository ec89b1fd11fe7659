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
    QMainWindow,
    QPushButton,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from engine.errors import KnownError
from engine.examples import example_content
from engine.scenario import Scenario
from gui import dialogs
from gui.autosave import Autosave, Rescued
from gui.crash import CrashHandler, LastCrashDialog
from gui.draft import Draft
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


class MainWindow(QMainWindow):
    """One window with one scenario. Pages other than the first are made when they are first wanted."""

    def __init__(self, state: AppState, *, autosave: Autosave | None = None, rescued: Rescued | None = None) -> None:
        super().__init__()
        self.setObjectName("main")
        self.state = state
        self.words = Words(state, self)
        self.autosave, self._rescued = autosave, rescued
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
        page = StartPage(self.state, self._rescued)
        page.new_wanted.connect(self.new)
        page.open_wanted.connect(self.open)
        page.run_wanted.connect(lambda: self.import_run())
        page.path_wanted.connect(self.open_path)
        page.example_wanted.connect(self.open_example)
        page.abilities_wanted.connect(self.show_abilities)
        page.resume_wanted.connect(self.resume)
        page.forget_wanted.connect(self.forget_rescued)
        return page

    # files ----------------------------------------------------------------------------------------------------

    def new(self) -> None:
        """An empty scenario."""
        if self._may_replace():
            self.state.new()
            self._begin()

    def open(self) -> None:
        """Ask for a file and open it: a scenario, or anything else that can be read."""
        language = self.state.language
        others = "(*.json *.yaml *.yml *.sh *.gguf *.safetensors *.jsonl *.csv *.tsv *.txt)"
        kinds = (language.gettext("Scenarios") + " (*.json)", language.gettext("All that can be read") + f" {others}")
        filters = ";;".join(kinds)
        path = dialogs.ask_open(self, language.gettext("Open a scenario"), filters, self.state.settings.last_folder)
        if path is not None:
            self.state.remember(last_folder=str(path.parent))
            self.take_file(path)

    def open_path(self, path: Path) -> None:
        """Open a scenario file."""
        if not self._may_replace():
            return
        try:
            self.state.open_scenario(path)
        except KnownError as error:
            dialogs.show_error(self, self.state.language, error)
            return
        self._begin(at_review=True)

    def open_example(self, name: str) -> None:
        """Open a bundled example, all steps filled in."""
        if self._may_replace():
            self.state.open_example(example_content(name, self.state.language), name)
            self._begin(at_review=True)

    def show_abilities(self) -> None:
        """What can my GPU do? A line of the answer can be opened as a scenario."""
        from gui.abilities import AbilitiesDialog

        dialog = AbilitiesDialog(self.state, self)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.scenario_wanted.connect(self.take_scenario)
        dialog.open()

    def take_scenario(self, scenario: Scenario) -> None:
        """Work on a scenario that has no file yet."""
        if self._may_replace():
            self.state.restore(Draft.from_scenario(scenario), None)
            self._begin(at_review=True)

    def resume(self) -> None:
        """Go on with unsaved work of the last time."""
        rescued = self._rescued
        if rescued is None or not self._may_replace():
            return
        self.state.restore(rescued.draft, Path(rescued.path) if rescued.path else None)
        if self.autosave is not None:
            self.autosave.flush()  # kept anew before the old file goes
        self._forget(rescued)
        self._begin()

    def tell_last_crash(self, report: str) -> None:
        """Say that the last run ended in a crash, with its trace; offer what it left."""
        dialog = LastCrashDialog(self.state, report, unsaved=self._rescued is not None, parent=self)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.resume_wanted.connect(self.resume)
        dialog.open()

    def forget_rescued(self) -> None:
        """Throw the unsaved work of the last time away, if the person is sure."""
        if self._rescued is not None and dialogs.ask_forget(self, self.state.language):
            self._forget(self._rescued)

    def _forget(self, rescued: Rescued) -> None:
        rescued.forget()
        self._rescued = None
        start = self._pages.get("start")
        if isinstance(start, StartPage):
            start.offer(None)

    def _begin(self, *, at_review: bool = False) -> None:
        self.wizard.restart()
        self.go("wizard")
        if at_review and not self.state.draft.problems():
            self.wizard.go(Step(Page.REVIEW))

    def save(self) -> bool:
        """Save to the scenario's file, or ask for one; whether it was saved."""
        return self._save_to(self.state.path) if self.state.path else self.save_as()

    def save_as(self) -> bool:
        """Ask for a file and save; whether it was saved."""
        problems = self.state.draft.problems()
        language = self.state.language
        if problems:
            reason = language.fill(
                "Something is still missing, so this is not a scenario yet: {problem} Your inputs are kept "
                "automatically and offered at the next start.",
                problem=problems[0].words(language),
            )
            dialogs.show_message(self, language.gettext("Not saved"), reason)
            return False
        folder = Path(self.state.settings.last_folder or Path.home())
        proposal = str(folder / f"{self._file_stem()}.json")
        filters = language.gettext("Scenarios") + " (*.json)"
        path = dialogs.ask_save(self, language.gettext("Save the scenario"), filters, proposal)
        return path is not None and self._save_to(path if path.suffix else path.with_suffix(".json"))

    def _file_stem(self) -> str:
        name = "".join(c for c in self.state.draft.name if c.isalnum() or c in " -_").strip()
        return name[:60] or "scenario"

    def _save_to(self, path: Path) -> bool:
        if self.state.draft.problems():
            return self.save_as()
        try:
            self.state.save(path)
        except KnownError as error:
            dialogs.show_error(self, self.state.language, error)
            return False
        self.state.remember(last_folder=str(path.parent))
        self.statusBar().showMessage(self.state.language.fill("Saved: {path}", path=str(path)), 6000)
        return True

    def _may_replace(self) -> bool:
        """Whether the draft may go: it is saved, or the person says so."""
        if not self.state.unsaved:
            return True
        answer = dialogs.ask_unsaved(self, self.state.language)
        return answer == "discard" or (answer == "save" and self.save())

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
