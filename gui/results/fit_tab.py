"""What would make it fit: changes for the chosen plan, or for any card by name, and how far one could go as it is."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QHBoxLayout, QProgressBar, QVBoxLayout, QWidget

from engine.advice.fit_result import FitAdvice, FitChange
from engine.advice.result import Assessment
from engine.control import Control
from engine.errors import KnownError
from engine.i18n import Language
from engine.messages import N_
from engine.report.fit_words import explanation, limit_words
from gui.jobs import JobRunner
from gui.results import words
from gui.results.chip import ChipDelegate
from gui.results.measured import ask_measured
from gui.results.selection import Selection
from gui.state import AppState
from gui.table_view import TableView
from gui.tables import Column, Index, TableModel, TableProxy
from gui.theme import Theme
from gui.widgets.basic import button, clear_layout, label
from gui.widgets.editors import NumberEdit
from gui.widgets.gpu_list import ask_gpu
from gui.widgets.words import NP_, Words

__all__ = ["COLUMNS", "FitTab"]

_log = logging.getLogger(__name__)

#: Cards that one may ask for at most; the search's own limit.
MOST_CARDS = 4096
#: Fields of the task that the window keeps under another name for serving.
SERVING_FIELDS = {"weight_quantization": "serving_quantization"}


def _change(row: FitChange, language: Language) -> str:
    return language.gettext(" + ").join(language.text(w) for w in row.words)


def _saved(row: FitChange, language: Language) -> str:
    if abs(row.saved_bytes) < 0.05 * 2**30:
        return "–"
    return language.gib(row.saved_bytes)


def _verdict(row: FitChange, language: Language) -> str:
    return words.verdict_name(row.memory.verdict, language)


def _distance(row: FitChange, language: Language) -> str:
    return words.distance(row.memory, language)


def _time(row: FitChange, language: Language) -> str:
    return "?" if row.time_factor is None else f"{language.number(row.time_factor, 2)}×"


def _money(row: FitChange, language: Language) -> str:
    difference = row.cost_difference
    if difference is None:
        return "–"
    sign = "+" if difference.amount > 0 else ""
    return sign + language.money(difference)


def _result(row: FitChange, language: Language) -> str:
    return language.gettext("the same") if row.keeps_result else language.gettext("may differ")


COLUMNS: tuple[Column[FitChange], ...] = (
    Column("change", N_("Change"), shown=_change, value=lambda r: r.codes[0], width=44),
    Column(
        "verdict",
        N_("Then it"),
        shown=_verdict,
        value=lambda r: words.verdict_rank(r.memory.verdict),
        hint=N_("The verdict by the usual formulas once the change is made."),
    ),
    Column("distance", N_("Distance"), shown=_distance, value=lambda r: r.memory.missing_bytes),
    Column(
        "saved",
        N_("Saved on each card"),
        shown=_saved,
        value=lambda r: r.saved_bytes,
        numeric=True,
        hint=N_("Expected memory that one card needs less than now."),
    ),
    Column(
        "time",
        N_("Time"),
        shown=_time,
        value=lambda r: r.time_factor,
        numeric=True,
        hint=N_("Time for the same amount of text against now: 1.3× takes 30% longer."),
    ),
    Column(
        "money",
        N_("Cost of the job"),
        shown=_money,
        value=lambda r: None if r.cost_difference is None else float(r.cost_difference.amount),
        numeric=True,
        hint=N_("What the job costs more or less on the same plan. Other cards are priced in the comparison."),
    ),
    Column(
        "result",
        N_("Result"),
        shown=_result,
        value=lambda r: str(r.keeps_result),
        hint=N_("Whether the trained model, or the answers, stay as they would have been."),
    ),
)


class _Changes(TableModel[FitChange]):
    """The table's tool tip explains the change."""

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if role == Qt.ItemDataRole.ToolTipRole and index.isValid() and index.row() < len(self.rows):
            return explanation(self.rows[index.row()], self.language)
        return super().data(index, role)


class FitTab(QWidget):
    """Asks the engine on a worker once it can be seen; one click makes a change in the task, and undo takes it back."""

    def __init__(self, state: AppState, selection: Selection, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._state, self._selection = state, selection
        self._words = Words(state, self)
        self._gpu_id = ""  # "" = the chosen plan
        self._found: FitAdvice | None = None
        self._stale = True
        self.jobs = JobRunner(self)
        self.model = _Changes(COLUMNS, state.language, self)
        self.proxy = TableProxy(self.model, self)
        self.view = TableView(self.model, self.proxy, "fit.table", wrap=True)
        self._build(state.theme)
        self._chip = ChipDelegate(lambda row: row.memory.verdict, state.theme, self)
        self.view.setItemDelegateForColumn(1, self._chip)
        state.theme_changed.connect(self._take_theme)
        self.view.row_chosen.connect(self._explain)
        self.view.row_activated.connect(lambda _row: self._apply())
        self.jobs.succeeded.connect(self._take)
        self.jobs.failed.connect(self._fail)
        self.jobs.busy_changed.connect(self._show_busy)
        selection.changed.connect(self._plan_changed)
        self._words.run(self._say)

    @property
    def found(self) -> FitAdvice | None:
        """What is shown."""
        return self._found

    def close_jobs(self) -> None:
        """End background work; before the window goes."""
        self.jobs.close()

    def _build(self, theme: Theme) -> None:
        self.plan = button(self._words, NP_("button", "The chosen plan"), "fit.plan")
        self.card = button(self._words, NP_("button", "Another card…"), "fit.card")
        self.count = NumberEdit()
        self.count.setObjectName("fit.count")
        self.count.set_value(1)
        self.measure = button(self._words, NP_("button", "I measured it…"), "fit.measure")
        self._words.bind(
            self.measure.setToolTip,
            N_("State what a run of the chosen plan really took, memory or speed: the estimates then start from it."),
        )
        self.cancel = button(self._words, NP_("button", "Cancel"), "fit.cancel")
        self.busy = QProgressBar()
        self.busy.setRange(0, 0)
        self.busy.setTextVisible(False)
        self.busy.setMaximumWidth(theme.px(90))
        self.status, self.why = label("", "section", selectable=True), label("", "muted", selectable=True)
        self.apply = button(self._words, NP_("button", "Change my task"), "fit.apply", "primary")
        self.show_plan = button(self._words, NP_("button", "Look at this plan"), "fit.show")
        asked, acting = QHBoxLayout(), QHBoxLayout()
        for widget in (self.plan, self.card, self.count):
            asked.addWidget(widget)
        asked.addStretch(1)
        asked.addWidget(self.measure)
        asked.addWidget(self.busy)
        asked.addWidget(self.cancel)
        acting.addWidget(self.why, 1)
        acting.addWidget(self.show_plan)
        acting.addWidget(self.apply)
        self.limits = QVBoxLayout()
        column = QVBoxLayout(self)
        column.setContentsMargins(*(theme.px(theme.m),) * 4)
        column.setSpacing(theme.px(theme.s))
        column.addLayout(asked)
        column.addWidget(self.status)
        column.addWidget(self.view, 1)
        column.addLayout(acting)
        column.addLayout(self.limits)
        self.plan.clicked.connect(self._ask_plan)
        self.card.clicked.connect(self._ask_card)
        self.count.edited.connect(lambda _n: self.ask())
        self.cancel.clicked.connect(self._call_off)
        self.apply.clicked.connect(self._apply)
        self.measure.clicked.connect(self._measure)
        self.show_plan.clicked.connect(self._show_plan)
        self._show_busy(busy=False)
        self._explain(None)

    # asking -------------------------------------------------------------------------------------------------

    def ask_for(self, gpu_id: str, gpus: int = 1) -> None:
        """Ask about so many of a card; "" is the chosen plan."""
        self.count.set_value(gpus)
        self._gpu_id = gpu_id
        self.ask()

    def _gpus(self) -> int:
        typed = self.count.value()
        return min(max(round(typed), 1), MOST_CARDS) if isinstance(typed, int | float) else 1

    def ask(self) -> None:
        """Ask the engine, once the tab can be seen."""
        self._stale = not self.isVisible()
        self.measure.setEnabled(self._selection.assessment is not None)
        self.count.setEnabled(bool(self._gpu_id))
        work = None if self._stale else self._work()
        if self._stale:
            return
        if work is None:
            self.jobs.cancel()
            self._take(None)
        else:
            self.jobs.submit(work)

    def _work(self) -> Callable[[Control], FitAdvice] | None:
        advice, assessment, catalog = self._selection.advice, self._selection.assessment, self._state.catalog
        if advice is None:
            return None
        scenario, gpu_id, gpus = advice.scenario, self._gpu_id, self._gpus()
        if gpu_id:

            def on_card(control: Control) -> FitAdvice:
                from engine.advice.fit import fit_on_card

                return fit_on_card(scenario, catalog, gpu_id, gpus=gpus, control=control)

            return on_card
        if assessment is None:
            return None

        def of_plan(control: Control) -> FitAdvice:
            from engine.advice.fit import fit_of_plan

            return fit_of_plan(assessment, scenario, catalog, control=control)

        return of_plan

    def showEvent(self, event: QShowEvent) -> None:
        """Ask what was put off while nobody looked."""
        super().showEvent(event)
        if self._stale:
            self.ask()

    def _plan_changed(self, _assessment: Assessment | None) -> None:
        self.ask()

    def _ask_plan(self) -> None:
        self.ask_for("", 1)

    def _ask_card(self) -> None:
        gpu_id = ask_gpu(self._state, N_("Which card?"), self)
        if gpu_id is not None:
            self.ask_for(gpu_id, self._gpus())

    def _call_off(self) -> None:
        self.jobs.cancel()
        self.status.setText(self._words.language.gettext("Called off."))

    # showing ------------------------------------------------------------------------------------------------

    def _say(self, language: Language) -> None:
        self.model.set_language(language)
        self.view.retranslate(language)
        self.view.setAccessibleName(language.gettext("Changes that would make it fit, the cheapest first"))
        self.count.setAccessibleName(language.gettext("Number of cards"))
        self.count.setToolTip(language.gettext("Number of cards"))
        self.busy.setAccessibleName(language.gettext("Computing…"))
        self._show_found()

    def _show_busy(self, busy: bool) -> None:
        self.busy.setVisible(busy)
        self.cancel.setVisible(busy)
        if busy and self._found is None:
            self.status.setText(self._words.language.gettext("Computing…"))

    def _take(self, found: FitAdvice | None) -> None:
        self._found = found
        rows = () if found is None else (*((found.pair,) if found.pair else ()), *found.changes)
        self.model.set_rows(rows)
        self._show_found()
        if rows:
            self.view.choose(lambda row: row is rows[0])
            self._explain(rows[0])

    def _fail(self, error: Exception) -> None:
        self._take(None)
        language = self._words.language
        if isinstance(error, KnownError):
            self.status.setText(language.error(error))
        else:
            _log.error("what would make it fit could not be computed", exc_info=error)
            self.status.setText(language.gettext("This could not be computed."))

    def _show_found(self) -> None:
        language, found = self._words.language, self._found
        clear_layout(self.limits)
        if found is None:
            self.status.setText(language.gettext("Choose a plan in the comparison, or another card."))
            self._explain(None)
            return
        self.status.setText(
            language.fill(
                "{model} on {gpus:int} × {gpu}: {verdict}, {distance} (expected {needed:gib} on each card)",
                model=found.model,
                gpus=found.cluster.gpus,
                gpu=found.cluster.gpu.name,
                verdict=words.verdict_name(found.memory.verdict, language),
                distance=words.distance(found.memory, language),
                needed=found.memory.driver.expected,
            )
        )
        if found.limits:
            self.limits.addWidget(label(language.gettext("How far it goes, everything else as it is"), "section"))
        for limit in found.limits:
            text = language.fill("• {reason}", reason=limit_words(limit, language))
            self.limits.addWidget(label(text, selectable=True))
        self._explain(self.view.current_row())

    def _explain(self, row: FitChange | None) -> None:
        self.why.setText("" if row is None else explanation(row, self._words.language))
        self.apply.setEnabled(row is not None and bool(self._edits(row) or self._owned(row)))
        self.show_plan.setEnabled(row is not None and bool(self._plan_with(row)))

    def _take_theme(self, theme: Theme) -> None:
        self._chip.theme = theme
        self.view.fit_columns()

    # acting -------------------------------------------------------------------------------------------------

    def _task(self) -> int | None:
        """The task in the draft that the answer is about."""
        wanted = self._found.task_id if self._found is not None else ""
        return next((i for i, t in enumerate(self._state.draft.tasks) if t.id == wanted), None)

    def _edits(self, row: FitChange) -> dict[str, Any]:
        index = self._task()
        if index is None:
            return {}
        serving = self._state.draft.tasks[index].is_inference
        return {SERVING_FIELDS.get(e.field, e.field) if serving else e.field: e.value for e in row.edits}

    def _owned(self, row: FitChange) -> tuple[Any, ...] | None:
        """Owned cards with the number that the change asks for; None where the change asks for no more of them."""
        owned = self._state.draft.owned
        if "fit.more_cards" not in row.codes or not any(o.gpu_id == row.cluster.gpu.id for o in owned):
            return None
        gpus = row.cluster.gpus
        return tuple(o.changed(count=gpus) if o.gpu_id == row.cluster.gpu.id else o for o in owned)

    def _apply(self) -> None:
        row, index = self.view.current_row(), self._task()
        if row is None or index is None:
            return
        edits, owned = self._edits(row), self._owned(row)
        draft = self._state.draft.with_task(index, **edits) if edits else self._state.draft
        self._state.set_draft(draft if owned is None else draft.changed(owned=owned))

    def _plan_with(self, row: FitChange) -> str:
        """The best ranked plan with the cards of the change; "" where there is none or they stay the same."""
        advice = self._selection.advice
        if advice is None or self._found is None or row.cluster == self._found.cluster or row.edits:
            return ""
        wanted = (row.cluster.gpu.id, row.cluster.gpus)
        plans = (a.plan for a in advice.ranked)
        return next((p.id for p in plans if (p.cluster.gpu.id, p.cluster.gpus) == wanted), "")

    def _measure(self) -> None:
        advice, assessment = self._selection.advice, self._selection.assessment
        if advice is not None and assessment is not None:
            ask_measured(self._state, advice, assessment, self)

    def _show_plan(self) -> None:
        row = self.view.current_row()
        if row is not None and (plan_id := self._plan_with(row)):
            self._gpu_id = ""
            self._selection.choose(plan_id)
