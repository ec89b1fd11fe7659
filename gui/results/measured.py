"""What the person measured in a run of their own, peak and rate: typed in, kept with the scenario, or taken away."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QVBoxLayout, QWidget

from engine.advice.result import Advice, Assessment
from engine.i18n import Language
from engine.messages import LABELS, N_
from engine.quantity import gib
from engine.scenario import MeasuredPeak, MeasuredSpeed
from gui.results import words as texts
from gui.state import AppState
from gui.widgets.basic import button, label
from gui.widgets.editors import ChoiceEdit, NumberEdit
from gui.widgets.words import NP_, Words

__all__ = ["MeasuredDialog", "ask_measured", "measured_of", "measured_speed_of"]

KINDS = ("driver", "reserved", "allocated")


def measured_of(state: AppState, task_id: str) -> MeasuredPeak | None:
    """The measurement of a task that counts."""
    return next((m for m in reversed(state.draft.measured) if m.task_id == task_id), None)


def measured_speed_of(state: AppState, task_id: str) -> MeasuredSpeed | None:
    """The measured rate of a task that counts."""
    return next((m for m in reversed(state.draft.measured_speeds) if m.task_id == task_id), None)


class MeasuredDialog(QDialog):
    """What a run of the chosen plan really took, memory or speed or both; what is left blank is taken away."""

    def __init__(self, state: AppState, advice: Advice, assessment: Assessment, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("measured")
        words = Words(state, self)
        words.bind(self.setWindowTitle, N_("My own measurement"))
        self._task, self._plan = texts.tightest(assessment), assessment.plan
        self._model = next(t.model for t in advice.scenario.tasks if t.id == self._task.task_id)
        self.removed = False
        told = label()
        words.run(lambda language: told.setText(self._explained(advice, language)))
        self.amount = NumberEdit()
        self.amount.setObjectName("measured.gib")
        words.bind(self.amount.setAccessibleName, N_("Highest memory of one card in GiB"))
        words.bind(self.amount.setPlaceholderText, N_("Highest memory of one card in GiB"))
        self.kind = ChoiceEdit(words, [(k, LABELS[f"measured.{k}"]) for k in KINDS])
        self.kind.setObjectName("measured.kind")
        words.bind(self.kind.setAccessibleName, N_("Which figure it is"))
        self.kind.set_value("driver")
        self.rate = NumberEdit()
        self.rate.setObjectName("measured.rate")
        words.bind(
            self.rate.setAccessibleName, N_("Tokens a second on one card, once it runs steadily (a service: output)")
        )
        words.bind(
            self.rate.setPlaceholderText, N_("Tokens a second on one card, once it runs steadily (a service: output)")
        )
        known, speed = measured_of(state, self._task.task_id), measured_speed_of(state, self._task.task_id)
        if known is not None:
            self.amount.set_value(round(known.peak_bytes / gib(1), 2))
            self.kind.set_value(known.kind)
        if speed is not None:
            self.rate.set_value(speed.tokens_per_second_per_gpu)
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Ok | QDialogButtonBox.StandardButton.Cancel)
        self.ok = buttons.button(QDialogButtonBox.StandardButton.Ok)
        self.remove = button(words, NP_("button", "Remove the measurement"), "measured.remove")
        self.remove.setEnabled(known is not None or speed is not None)
        buttons.addButton(self.remove, QDialogButtonBox.ButtonRole.ResetRole)
        buttons.accepted.connect(self.accept)
        buttons.rejected.connect(self.reject)
        self.remove.clicked.connect(self._take_away)
        for field in (self.amount, self.rate):
            field.edited.connect(lambda _value: self._check())
        column = QVBoxLayout(self)
        column.setContentsMargins(20, 20, 20, 20)
        column.setSpacing(12)
        for widget in (told, self.amount, self.kind, self.rate, buttons):
            column.addWidget(widget)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose, on=False)
        self.resize(state.theme.px(520), self.sizeHint().height())
        self._check()

    def _explained(self, advice: Advice, language: Language) -> str:
        return language.fill(
            "You ran task “{task}” on {plan} with the settings that the details show, and looked how much memory it "
            "took or how fast it was. The estimates of like runs then start from your figures; one of them is enough.",
            task=texts.task_name(advice, self._task.task_id),
            plan=texts.plan_name(self._plan, language),
        )

    def _check(self) -> None:
        typed = [field.value() for field in (self.amount, self.rate)]
        good = [isinstance(v, int | float) and 0 < v < 1e6 for v in typed]
        blank = [v is None for v in typed]
        self.ok.setEnabled(any(good) and all(g or b for g, b in zip(good, blank, strict=True)))

    def _take_away(self) -> None:
        self.removed = True
        self.accept()

    def peak(self) -> MeasuredPeak | None:
        """What was typed, with the run that it speaks of."""
        value = self.amount.value()
        if self.removed or not isinstance(value, int | float):
            return None
        document = {
            "task_id": self._task.task_id,
            "gpu_id": self._plan.cluster.gpu.id,
            "kind": self.kind.value(),
            "peak_bytes": gib(value),
            "model": self._model,
            "job": self._task.job,
            "layout": self._task.layout,
        }
        return MeasuredPeak.model_validate(document)

    def speed(self) -> MeasuredSpeed | None:
        """The rate that was typed, with the run that it speaks of."""
        value, cluster = self.rate.value(), self._plan.cluster
        if self.removed or not isinstance(value, int | float):
            return None
        return MeasuredSpeed(
            task_id=self._task.task_id,
            gpu_id=cluster.gpu.id,
            system_id=cluster.system.id if cluster.system is not None else "",
            gpus_per_node=cluster.gpus_per_node,
            nodes=cluster.nodes,
            tokens_per_second_per_gpu=value,
            model=self._model,
            job=self._task.job,
            layout=self._task.layout,
        )

    def apply(self, state: AppState) -> None:
        """Keep it with the scenario, as one step that can be undone."""
        task, peak, speed = self._task.task_id, self.peak(), self.speed()
        peaks = tuple(m for m in state.draft.measured if m.task_id != task)
        speeds = tuple(m for m in state.draft.measured_speeds if m.task_id != task)
        state.set_draft(
            state.draft.changed(
                measured=peaks if peak is None else (*peaks, peak),
                measured_speeds=speeds if speed is None else (*speeds, speed),
            )
        )


def ask_measured(state: AppState, advice: Advice, assessment: Assessment, parent: QWidget) -> None:
    """Ask for a measurement of the plan and keep it."""
    dialog = MeasuredDialog(state, advice, assessment, parent)
    if dialog.exec() == QDialog.DialogCode.Accepted:
        dialog.apply(state)
    dialog.deleteLater()
