"""`AppState`: the one object that the widgets share. Widgets call its methods and repaint from its signals."""

from __future__ import annotations

import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

from pydantic import ValidationError
from PySide6.QtCore import QObject, QTimer, Signal

from engine.advice.result import Advice
from engine.control import Control
from engine.errors import InputError, KnownError
from engine.hardware.model import CatalogSnapshot
from engine.i18n import Language, LanguageCode, system_language
from engine.inputs import MAX_SCENARIO_BYTES, parse_scenario, read_bounded, read_scenario, write_scenario
from engine.scenario import Scenario
from gui.draft import Draft
from gui.history import History
from gui.jobs import JobRunner
from gui.settings import Settings, SettingsFile
from gui.theme import Theme, theme_for

__all__ = ["ESTIMATE_DELAY_MS", "AppState"]

_log = logging.getLogger(__name__)

#: Quiet time after an edit before the live estimate starts.
ESTIMATE_DELAY_MS = 250

Advisor: TypeAlias = Callable[[Scenario, CatalogSnapshot, Control], Advice]


def _advise(scenario: Scenario, catalog: CatalogSnapshot, control: Control) -> Advice:
    """The engine's advice; imported on the worker, so that the window opens at once."""
    from engine.advice.advise import advise

    return advise(scenario, catalog, control)


def _load_catalog() -> CatalogSnapshot:
    from engine.catalog.load import load_catalog

    return load_catalog()


#: Own rows that a scenario carries at most. Whoever keeps a price list of thousands sends it as a pack; a scenario's
#: file would become too large to be opened again.
MOST_CARRIED_ROWS = 500


def _with_own_rows(scenario: Scenario, catalog: CatalogSnapshot) -> Scenario:
    """The scenario with the rows that the user added to the catalogue; a row of the scenario's own wins."""
    there = {row.id for row in (*scenario.offers, *scenario.purchase_prices)}
    offers = tuple(o for o in catalog.offers if o.origin == "user" and o.id not in there)
    prices = tuple(p for p in catalog.purchase_prices if p.origin == "user" and p.id not in there)
    if (not offers and not prices) or len(offers) + len(prices) > MOST_CARRIED_ROWS:
        return scenario
    rows = {"offers": scenario.offers + offers, "purchase_prices": scenario.purchase_prices + prices}
    return Scenario.model_validate({**dict(scenario), **rows})


def _read_draft(path: Path) -> Draft | None:
    """Inputs that are no scenario yet, as the crash dialog saves them; None where the file holds something else."""
    try:
        content = read_bounded(path, limit_bytes=MAX_SCENARIO_BYTES)
        return Draft.model_validate_json(content) if b'"engineer_hour"' in content else None
    except (KnownError, ValidationError):
        return None


class AppState(QObject):
    """Draft, scenario, advice, language, catalogue and settings of one window.

    `advice` belongs to `advised_scenario`; after an edit it is None until the new answer arrives, and views keep
    showing what they have (`advice_changed` is sent when there is another answer, or None when there can be none).
    """

    draft_changed = Signal(object)  # Draft
    advice_changed = Signal(object)  # Advice | None
    language_changed = Signal(object)  # Language
    theme_changed = Signal(object)  # Theme
    catalog_changed = Signal(object)  # CatalogSnapshot
    busy_changed = Signal(bool)
    progress = Signal(int, int)
    failed = Signal(object)  # Exception
    document_changed = Signal()  # another file, saved, or changed since
    settings_changed = Signal(object)  # Settings

    def __init__(
        self,
        catalog: CatalogSnapshot,
        *,
        settings: SettingsFile | None = None,
        advise: Advisor = _advise,
        load_catalog: Callable[[], CatalogSnapshot] = _load_catalog,
        live_estimate: bool = True,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._settings = settings if settings is not None else SettingsFile()
        self._catalog = catalog
        self._advise = advise
        self._load_catalog = load_catalog
        self._live_estimate = live_estimate
        self._language = Language(self._wanted_language())
        self._theme = theme_for(self.settings.theme, self.settings.scale)
        self._history = History(Draft.new(currency=self.usual_currency))
        self._saved = self._history.draft
        self._path: Path | None = None
        self._advice: Advice | None = None
        self._asked: Scenario | None = None
        self._jobs = JobRunner(self)
        self._jobs.succeeded.connect(self._take_advice)
        self._jobs.failed.connect(self._take_failure)
        self._jobs.busy_changed.connect(self.busy_changed)
        self._jobs.progress.connect(self.progress)
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.timeout.connect(self.request_advice)

    # what there is --------------------------------------------------------------------------------------------

    @property
    def draft(self) -> Draft:
        """What has been typed so far."""
        return self._history.draft

    @property
    def scenario(self) -> Scenario | None:
        """The draft as a scenario; None while something is wrong or missing.

        It carries the user's own offers and quotations of the catalogue, so that its file stands alone elsewhere.
        """
        scenario = self.draft.to_scenario()
        return None if scenario is None else _with_own_rows(scenario, self._catalog)

    @property
    def advice(self) -> Advice | None:
        """The answer to the draft as it stands; None while there is none."""
        return self._advice

    @property
    def language(self) -> Language:
        """The window's language."""
        return self._language

    @property
    def theme(self) -> Theme:
        """The window's look."""
        return self._theme

    @property
    def catalog(self) -> CatalogSnapshot:
        """The catalogue, the user's own rows included."""
        return self._catalog

    @property
    def settings(self) -> Settings:
        """What is remembered between two starts."""
        return self._settings.value

    @property
    def busy(self) -> bool:
        """Whether an estimate is under way."""
        return self._jobs.busy

    @property
    def path(self) -> Path | None:
        """The file of the scenario, if it has one."""
        return self._path

    @property
    def unsaved(self) -> bool:
        """Whether the draft differs from its file (or from an empty one)."""
        return self.draft != self._saved

    @property
    def can_undo(self) -> bool:
        """Whether there is something to undo."""
        return self._history.can_undo

    @property
    def can_redo(self) -> bool:
        """Whether there is something to redo."""
        return self._history.can_redo

    @property
    def usual_currency(self) -> str:
        """The currency that a new draft starts with."""
        return "CNY" if self._language.chinese else "USD"

    # editing --------------------------------------------------------------------------------------------------

    def edit(self, **changes: Any) -> None:
        """Change fields of the draft."""
        self._replace(self.draft.changed(**changes), ",".join(sorted(changes)))

    def edit_task(self, index: int, **changes: Any) -> None:
        """Change fields of one task."""
        self._replace(self.draft.with_task(index, **changes), f"{index}:" + ",".join(sorted(changes)))

    def set_draft(self, draft: Draft) -> None:
        """Replace the draft as one step that can be undone."""
        self._replace(draft, "")

    def undo(self) -> None:
        """One step back."""
        before = self.draft
        self._history.undo()
        self._after_edit(before)

    def redo(self) -> None:
        """One step forth."""
        before = self.draft
        self._history.redo()
        self._after_edit(before)

    def _replace(self, draft: Draft, what: str) -> None:
        if draft == self.draft:  # equality stops the echo between widgets and draft
            return
        before = self.draft
        self._history.push(draft, what)
        self._after_edit(before)

    def _after_edit(self, before: Draft) -> None:
        asks_anew = before.changed(report=self.draft.report) != self.draft
        if asks_anew:
            self._advice = None
        elif self._advice is not None:  # what the applicant states for the report changes no figure
            scenario = self._advice.scenario.model_copy(update={"report": self.draft.report})
            self._advice = self._advice.model_copy(update={"scenario": scenario})
        self.draft_changed.emit(self.draft)
        self.document_changed.emit()
        if asks_anew and self._live_estimate:
            self._timer.start(ESTIMATE_DELAY_MS)

    # documents ------------------------------------------------------------------------------------------------

    def new(self) -> None:
        """Start over with an empty draft."""
        self._open(Draft.new(currency=self.usual_currency), None)

    def open_scenario(self, path: Path) -> None:
        """Open a scenario file, or inputs that were saved unfinished after a mistake of ours.

        A file that can't be used raises `KnownError` and changes nothing.
        """
        try:
            draft = Draft.from_scenario(read_scenario(path))
        except InputError:
            unfinished = _read_draft(path)
            if unfinished is None:
                raise
            self.restore(unfinished, None)
            return
        self._open(draft, path)
        self.remember(recent=self.settings.with_recent(str(path.absolute())).recent)

    def open_example(self, content: bytes, name: str) -> None:
        """Open a bundled example; it has no file of its own yet."""
        self._open(Draft.from_scenario(parse_scenario(content, file=name)), None)

    def restore(self, draft: Draft, path: Path | None) -> None:
        """Go on with work that was not saved."""
        self._open(draft, path)
        self._saved = Draft.new(currency=self.usual_currency)
        self.document_changed.emit()

    def save(self, path: Path) -> None:
        """Save the scenario; `KnownError` if the disk refuses. The draft must be complete."""
        scenario = self.scenario
        if scenario is None:
            raise ValueError("an incomplete draft is kept by the autosave, not as a scenario")
        write_scenario(path, scenario)
        self._path, self._saved = path, self.draft
        self.remember(recent=self.settings.with_recent(str(path.absolute())).recent)
        self.document_changed.emit()

    def _open(self, draft: Draft, path: Path | None) -> None:
        self._history.reset(draft)
        self._path, self._saved, self._advice = path, draft, None
        self._jobs.cancel()
        self.draft_changed.emit(draft)
        self.advice_changed.emit(None)
        self.document_changed.emit()
        if self._live_estimate:
            self._timer.start(0)  # nobody is typing

    # taste ----------------------------------------------------------------------------------------------------

    def remember(self, **changes: Any) -> None:
        """Change some settings and keep them."""
        before = self.settings
        self._settings.update(**changes)
        if self.settings != before:
            self.settings_changed.emit(self.settings)

    def set_language(self, choice: str) -> None:
        """Speak another language: "en", "zh_CN", or "system"."""
        self.remember(language=choice)
        language = Language(self._wanted_language())
        if language != self._language:
            self._language = language
            self.language_changed.emit(language)

    def set_theme(self, choice: str) -> None:
        """Take another look: "light", "dark", or "system"."""
        self.remember(theme=choice)
        self.refresh_theme()

    def set_scale(self, scale: float) -> None:
        """Make letters and controls larger or smaller."""
        self.remember(scale=scale)
        self.refresh_theme()

    def refresh_theme(self) -> None:
        """Look again at the settings and at the desktop's colours."""
        theme = theme_for(self.settings.theme, self.settings.scale)
        if theme != self._theme:
            self._theme = theme
            self.theme_changed.emit(theme)

    def _wanted_language(self) -> LanguageCode:
        choice = self.settings.language
        return system_language() if choice == "system" else choice

    # catalogue and advice -------------------------------------------------------------------------------------

    def reload_catalog(self) -> None:
        """Read the catalogue again, after the user's own rows changed; `KnownError` if it can't be read."""
        self._catalog = self._load_catalog()
        self._advice = None
        self.catalog_changed.emit(self._catalog)
        self.request_advice()

    def request_advice(self) -> None:
        """Ask the engine about the draft as it stands; the answer comes by `advice_changed`."""
        self._timer.stop()
        scenario = self.scenario
        if scenario is None:
            self._jobs.cancel()
            self._advice = None
            self.advice_changed.emit(None)
            return
        if self._jobs.busy and scenario == self._asked:
            return
        self._asked = scenario
        advise, catalog = self._advise, self._catalog
        self._jobs.submit(lambda control: advise(scenario, catalog, control))

    def cancel(self) -> None:
        """Call off the estimate under way."""
        self._timer.stop()
        self._jobs.cancel()

    def close(self) -> None:
        """End all background work; before the window goes."""
        self._timer.stop()
        self._jobs.close()

    def _take_advice(self, advice: Advice) -> None:
        self._advice = advice
        self.advice_changed.emit(advice)

    def _take_failure(self, error: Exception) -> None:
        self._advice = None
        self.advice_changed.emit(None)
        self.failed.emit(error)
