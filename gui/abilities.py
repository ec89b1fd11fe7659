"""What can my GPU do? Cards of one's own on top, below what each model could be used or trained for on them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date

from pydantic import ValidationError
from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QHBoxLayout, QProgressBar, QVBoxLayout, QWidget

from engine.advice.abilities import RUN_TOKENS, USES, Ability, Use, abilities_of, scenario_for
from engine.detect import detect_owned
from engine.errors import KnownError
from engine.i18n import Language
from engine.memory.result import Verdict
from engine.messages.mark import N_
from engine.scenario import OwnedGpus, Scenario
from gui import dialogs
from gui.draft import OwnedDraft
from gui.jobs import JobRunner
from gui.state import AppState
from gui.table_view import TableView
from gui.tables import Column, TableModel, TableProxy
from gui.widgets.basic import bound_label, button, label
from gui.widgets.gpu_list import OwnedEdit
from gui.widgets.words import NP_, Words

__all__ = ["AbilitiesDialog", "ModelRow", "rows_of"]


@dataclass(frozen=True)
class ModelRow:
    """One model with its four uses."""

    model_id: str
    name: str
    parameters: float
    uses: dict[Use, Ability]

    @property
    def heaviest(self) -> Use | None:
        """The heaviest use that works; None where none does."""
        return next((u for u in reversed(USES) if self.uses[u].verdict is not Verdict.DOES_NOT_FIT), None)


def rows_of(abilities: tuple[Ability, ...]) -> tuple[ModelRow, ...]:
    """One row a model, in the order given."""
    rows: dict[str, ModelRow] = {}
    for a in abilities:
        rows.setdefault(a.model_id, ModelRow(a.model_id, a.name, a.parameters, {})).uses[a.use] = a
    return tuple(rows.values())


def _said(ability: Ability, language: Language) -> str:
    """One use in a few words."""
    if ability.verdict is Verdict.DOES_NOT_FIT:
        if ability.spare_bytes < 0:
            return language.fill("– {missing:gib} short", missing=-ability.spare_bytes)
        return language.gettext("–")
    parts = [language.gettext("tight") if ability.verdict is Verdict.FITS_TIGHTLY else "✓"]
    if ability.tokens_per_second is None:
        pass
    elif ability.use == "inference":
        parts.append(language.fill("{rate} tokens/s", rate=language.number(ability.tokens_per_second.expected, 2)))
    elif ability.seconds_for_run is not None:
        parts.append(language.duration(ability.seconds_for_run.expected))
    if ability.gpus > 1:
        parts.append(language.fill("{gpus:int} cards", gpus=ability.gpus))
    if ability.tier:
        parts.append(language.gettext("with offload or an 8-bit optimizer"))
    if ability.weights not in ("", "none"):
        parts.append(ability.weights)
    return " · ".join(parts)


def _value(row: ModelRow, use: Use) -> float | None:
    ability = row.uses[use]
    if ability.verdict is Verdict.DOES_NOT_FIT or ability.tokens_per_second is None:
        return None
    return -ability.tokens_per_second.expected


def _columns() -> tuple[Column[ModelRow], ...]:
    uses = tuple(
        Column[ModelRow](
            use,
            f"use.{use}",
            shown=lambda r, lang, u=use: _said(r.uses[u], lang),
            value=lambda r, u=use: _value(r, u),
            width=24,
        )
        for use in USES
    )
    return (
        Column[ModelRow]("name", N_("Model"), shown=lambda r, _lang: r.name, value=lambda r: r.name, width=26),
        Column[ModelRow](
            "size",
            N_("Parameters"),
            shown=lambda r, lang: f"{lang.number(r.parameters / 1e9, 3)} B",
            value=lambda r: r.parameters,
            numeric=True,
        ),
        *uses,
    )


class _Model(TableModel[ModelRow]):
    """Headings of the uses are labels of the engine."""

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        """Column names."""
        shown = role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.ToolTipRole)
        if orientation == Qt.Orientation.Horizontal and shown and 2 <= section < len(self.columns):
            return self.language.label(self.columns[section].header)
        return super().headerData(section, orientation, role)


class AbilitiesDialog(QDialog):
    """Asks for the cards, tries the models on a worker, and opens a line as a scenario."""

    scenario_wanted = Signal(object)  # Scenario

    def __init__(self, state: AppState, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("abilities")
        self._state = state
        self._words = Words(state, self)
        self._owned: tuple[OwnedDraft, ...] = ()
        self.jobs = JobRunner(self)
        self.jobs.succeeded.connect(self._show)
        self.jobs.failed.connect(self._trouble)
        self.jobs.busy_changed.connect(self._busy)
        self.jobs.progress.connect(self._step)
        self._build()
        self._words.run(self._say)
        self.resize(state.theme.px(1020), state.theme.px(680))

    def _build(self) -> None:
        words, theme = self._words, self._state.theme
        self.owned = OwnedEdit(self._state, words, N_("Add a card that &we have …"))
        self.owned.setObjectName("abilities.owned")
        self.owned.edited.connect(self.set_owned)
        self.detect = button(words, NP_("button", "&Look which cards this computer has"), "abilities.detect")
        self.detect.clicked.connect(self._detect)
        self.model: TableModel[ModelRow] = _Model(_columns(), self._state.language, self)
        self.proxy = TableProxy(self.model, self)
        self.view = TableView(self.model, self.proxy, "abilities.table")
        self.view.row_activated.connect(self._open)
        self.progress = QProgressBar()
        self.progress.setTextVisible(False)
        self.progress.hide()
        self.note = label("", "small")
        self.make = button(words, NP_("button", "Make a &scenario of it"), "abilities.open", "primary")
        self.make.clicked.connect(lambda: self._open(self._current()))
        self.view.row_chosen.connect(lambda _row: self._refresh())
        box = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        box.rejected.connect(self.reject)
        buttons = QHBoxLayout()
        buttons.addWidget(self.detect)
        buttons.addStretch(1)
        buttons.addWidget(self.make)
        buttons.addWidget(box)
        column = QVBoxLayout(self)
        column.setContentsMargins(*(theme.px(20),) * 4)
        column.setSpacing(theme.px(10))
        column.addWidget(bound_label(words, N_("What can my GPU do?"), "title"))
        column.addWidget(self.owned)
        column.addWidget(self.view, 1)
        column.addWidget(self.progress)
        column.addWidget(self.note)
        column.addLayout(buttons)
        self._refresh()

    def set_owned(self, owned: tuple[OwnedDraft, ...]) -> None:
        """Other cards: the table is worked out anew."""
        self._owned = owned
        self.owned.set_value(owned)
        cards, state = self._cards(), self._state
        self.model.set_rows(())
        if cards:
            catalog, today = state.catalog, date.today()
            self.jobs.submit(lambda control: abilities_of(cards, catalog, as_of=today, control=control))
        else:
            self.jobs.cancel()
        self._refresh()

    def _cards(self) -> tuple[OwnedGpus, ...]:
        """The cards whose numbers make sense."""
        made: list[OwnedGpus] = []
        for one in self._owned:
            try:
                made.append(OwnedGpus.model_validate(dict(one)))
            except ValidationError:  # a number is still being typed
                continue
        return tuple(made)

    def _detect(self) -> None:
        try:
            found, unknown = detect_owned(self._state.catalog)
        except KnownError as error:
            dialogs.show_error(self, self._state.language, error)
            return
        if unknown:
            language = self._state.language
            text = language.fill("Not in the catalogue, and left out: {names}", names=", ".join(unknown))
            dialogs.show_message(self, language.gettext("Cards of this computer"), text)
        self.set_owned(tuple(OwnedDraft(**dict(o)) for o in found))

    def _show(self, abilities: tuple[Ability, ...]) -> None:
        self.model.set_rows(rows_of(abilities))
        self._refresh()

    def _trouble(self, error: Exception) -> None:
        if isinstance(error, KnownError):
            dialogs.show_error(self, self._state.language, error)
        else:
            self._state.failed.emit(error)

    def _busy(self, busy: bool) -> None:
        self.progress.setVisible(busy)

    def _step(self, done: int, total: int) -> None:
        self.progress.setRange(0, total)
        self.progress.setValue(done)

    def _current(self) -> ModelRow | None:
        index = self.view.currentIndex()
        return self.proxy.row_value(index.row()) if index.isValid() else None

    def _refresh(self) -> None:
        row = self._current()
        self.make.setEnabled(row is not None and row.heaviest is not None)

    def _open(self, row: ModelRow | None) -> None:
        if row is None or row.heaviest is None:
            return
        scenario: Scenario = scenario_for(row.model_id, row.heaviest, self._cards(), 2048, date.today())
        self.scenario_wanted.emit(scenario)
        self.accept()

    def _say(self, language: Language) -> None:
        self.setWindowTitle(language.gettext("What can my GPU do?"))
        self.model.set_language(language)
        self.view.retranslate(language)
        self.view.setAccessibleName(language.gettext("Models, and what they could be used for on these cards"))
        self.note.setText(
            language.fill(
                "✓ fits with room to spare. Times are for training once on {tokens} tokens in sequences of 2,048 "
                "tokens (about 10,000 examples); tokens/s are for one user. Enter opens a line as a scenario with the "
                "heaviest use that works.",
                tokens=language.count(RUN_TOKENS),
            )
        )

    def done(self, result: int) -> None:
        """All work ends with the dialog."""
        self.jobs.close()
        super().done(result)
