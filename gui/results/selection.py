"""Which plan is looked at: one value that all tabs of the results follow."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal

from engine.advice.result import Advice, Assessment

__all__ = ["Selection"]


class Selection(QObject):
    """The advice on screen and the chosen plan in it. Tabs call `choose` and repaint from `changed`."""

    advice_changed = Signal(object)  # Advice | None
    changed = Signal(object)  # Assessment | None

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._advice: Advice | None = None
        self._plan_id = ""

    @property
    def advice(self) -> Advice | None:
        """The advice on screen."""
        return self._advice

    @property
    def assessment(self) -> Assessment | None:
        """The chosen plan with all that was computed for it."""
        if self._advice is None:
            return None
        return next((a for a in self._advice.ranked if a.plan.id == self._plan_id), None)

    def set_advice(self, advice: Advice | None) -> None:
        """Show another advice; the same plan stays chosen where it is still there, else the first pick is."""
        self._advice = advice
        if self.assessment is None:
            self._plan_id = self._first_plan(advice)
        self.advice_changed.emit(advice)
        self.changed.emit(self.assessment)

    def choose(self, plan_id: str) -> None:
        """Look at another plan."""
        if plan_id == self._plan_id:
            return
        self._plan_id = plan_id
        self.changed.emit(self.assessment)

    @staticmethod
    def _first_plan(advice: Advice | None) -> str:
        if advice is None or not advice.ranked:
            return ""
        index = advice.picks[0].index if advice.picks else 0
        return advice.ranked[index].plan.id
