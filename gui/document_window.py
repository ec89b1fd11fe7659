"""What a window does with its document: new, open, save, go on, and never lose anything without asking."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QMainWindow

from engine.errors import KnownError
from engine.examples import example_content
from engine.scenario import Scenario
from gui import dialogs
from gui.autosave import Autosave, Rescued
from gui.crash import LastCrashDialog
from gui.draft import Draft
from gui.problems import Page
from gui.state import AppState
from gui.wizard.flow import Step
from gui.wizard.view import WizardView

__all__ = ["DocumentWindow"]


class DocumentWindow(QMainWindow):
    """The part of the main window that knows files; the pages are those of the class that derives from it."""

    def __init__(self, state: AppState, autosave: Autosave | None, rescued: Rescued | None) -> None:
        super().__init__()
        self.state = state
        self.autosave, self.rescued = autosave, rescued

    # what the window adds -------------------------------------------------------------------------------------

    def go(self, name: str) -> None:
        """Show one of the window's pages."""
        raise NotImplementedError

    @property
    def wizard(self) -> WizardView:
        """The questions."""
        raise NotImplementedError

    def take_file(self, path: Path) -> None:
        """Do with a file what it is for."""
        raise NotImplementedError

    def nothing_rescued(self) -> None:
        """There is no unsaved work of the last time any more."""
        raise NotImplementedError

    # files ----------------------------------------------------------------------------------------------------

    def new(self) -> None:
        """An empty scenario."""
        if self.may_replace():
            self.state.new()
            self.begin()

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
        if not self.may_replace():
            return
        try:
            self.state.open_scenario(path)
        except KnownError as error:
            dialogs.show_error(self, self.state.language, error)
            return
        self.begin(at_review=True)

    def open_example(self, name: str) -> None:
        """Open a bundled example, all steps filled in."""
        if self.may_replace():
            self.state.open_example(example_content(name, self.state.language), name)
            self.begin(at_review=True)

    def show_abilities(self) -> None:
        """What can my GPU do? A line of the answer can be opened as a scenario."""
        from gui.abilities import AbilitiesDialog

        dialog = AbilitiesDialog(self.state, self)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.scenario_wanted.connect(self.take_scenario)
        dialog.open()

    def take_scenario(self, scenario: Scenario) -> None:
        """Work on a scenario that has no file yet."""
        if self.may_replace():
            self.state.restore(Draft.from_scenario(scenario), None)
            self.begin(at_review=True)

    def resume(self) -> None:
        """Go on with unsaved work of the last time."""
        rescued = self.rescued
        if rescued is None or not self.may_replace():
            return
        self.state.restore(rescued.draft, Path(rescued.path) if rescued.path else None)
        if self.autosave is not None:
            self.autosave.flush()  # kept anew before the old file goes
        self._forget(rescued)
        self.begin()

    def tell_last_crash(self, report: str) -> None:
        """Say that the last run ended in a crash, with its trace; offer what it left."""
        dialog = LastCrashDialog(self.state, report, unsaved=self.rescued is not None, parent=self)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.resume_wanted.connect(self.resume)
        dialog.open()

    def forget_rescued(self) -> None:
        """Throw the unsaved work of the last time away, if the person is sure."""
        if self.rescued is not None and dialogs.ask_forget(self, self.state.language):
            self._forget(self.rescued)

    def _forget(self, rescued: Rescued) -> None:
        rescued.forget()
        self.rescued = None
        self.nothing_rescued()

    def begin(self, *, at_review: bool = False) -> None:
        """Show the questions of a document that was just opened; where none is open, the last of them."""
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

    def may_replace(self) -> bool:
        """Whether the draft may go: it is saved, or the person says so."""
        if not self.state.unsaved:
            return True
        answer = dialogs.ask_unsaved(self, self.state.language)
        return answer == "discard" or (answer == "save" and self.save())
