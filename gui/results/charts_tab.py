"""Charts of the chosen plan beside the plans on top: memory, time, cost; each with its caption in words."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from types import ModuleType

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QScrollArea, QVBoxLayout, QWidget

from engine.advice.result import Advice, Assessment
from engine.advice.scaling_result import Scaling
from engine.i18n import Language
from engine.messages import N_
from gui.charts.canvas import Chart, ChartView
from gui.results.selection import Selection
from gui.state import AppState
from gui.widgets.basic import label, scrolled
from gui.widgets.words import Text, Words

__all__ = ["ChartsTab", "compared", "memory_charts", "money_charts"]

#: So many plans stand side by side in a chart at most.
MOST_COMPARED = 6

Maker = Callable[[Advice, Sequence[Assessment]], "Chart | None"]


def compared(advice: Advice, chosen: Assessment | None) -> tuple[Assessment, ...]:
    """The chosen plan first, then the plans on top, then the best ranked of other cards or ways."""
    found: dict[str, Assessment] = {}
    if chosen is not None:
        found[chosen.plan.id] = chosen
    for pick in advice.picks:
        assessment = advice.ranked[pick.index]
        found.setdefault(assessment.plan.id, assessment)
    seen = {(a.plan.cluster.gpu.id, a.plan.way) for a in found.values()}
    for assessment in advice.ranked:
        kind = (assessment.plan.cluster.gpu.id, assessment.plan.way)
        if len(found) >= MOST_COMPARED:
            break
        if kind not in seen:
            seen.add(kind)
            found[assessment.plan.id] = assessment
    return tuple(found.values())[:MOST_COMPARED]


def charts() -> ModuleType:
    """`engine.report.charts`, imported when the first chart is drawn: it brings matplotlib along."""
    import engine.report.charts

    return engine.report.charts


def _memory(_advice: Advice, plans: Sequence[Assessment]) -> Chart:
    return Chart(
        "memory",
        lambda look, language, width: charts().memory_chart(plans, look, language, width=width),
        lambda language: charts().memory_caption(plans, language),
        lambda language: charts().memory_alt(plans, language),
    )


def _timeline(_advice: Advice, plans: Sequence[Assessment]) -> Chart:
    chosen = plans[0]
    return Chart(
        "memory-timeline",
        lambda look, language, width: charts().timeline_chart(chosen, look, language, width=width),
        lambda language: charts().timeline_caption(chosen, language),
        lambda language: charts().timeline_alt(chosen, language),
    )


def _time(advice: Advice, plans: Sequence[Assessment]) -> Chart:
    deadline = advice.scenario.constraints.deadline_days
    return Chart(
        "time",
        lambda look, language, width: charts().time_chart(plans, look, language, deadline_days=deadline, width=width),
        lambda language: charts().time_caption(plans, language, deadline),
        lambda language: charts().time_alt(plans, language),
    )


def _split(_advice: Advice, plans: Sequence[Assessment]) -> Chart:
    return Chart(
        "time-split",
        lambda look, language, width: charts().split_chart(plans, look, language, width=width),
        lambda language: charts().split_caption(plans, language),
        lambda language: charts().split_alt(plans, language),
    )


def _scaling(state: AppState) -> Maker:
    """Time against the number of the chosen plan's cards; nothing where no task becomes faster with more."""

    def make(advice: Advice, plans: Sequence[Assessment]) -> Chart | None:
        chosen, catalog = plans[0], state.catalog
        if all(t.training is None for t in chosen.tasks):
            return None

        @cache
        def found() -> Scaling:
            from engine.advice.scaling import scaling_of_plan

            scaling = scaling_of_plan(chosen, advice.scenario, catalog)
            assert scaling is not None
            return scaling

        return Chart(
            "time-by-cards",
            lambda look, language, width: charts().scaling_chart(found(), look, language, width=width),
            lambda language: charts().scaling_caption(found(), language),
            lambda language: charts().scaling_alt(found(), language),
        )

    return make


def _job_cost(_advice: Advice, plans: Sequence[Assessment]) -> Chart:
    return Chart(
        "cost-of-job",
        lambda look, language, width: charts().cost_chart(plans, look, language, kind="job", width=width),
        lambda language: charts().cost_caption(plans, language, kind="job"),
        lambda language: charts().cost_alt(plans, language, kind="job"),
    )


def _cash(advice: Advice, plans: Sequence[Assessment]) -> Chart:
    budget = advice.scenario.constraints.budget
    return Chart(
        "cash-needed",
        lambda look, language, width: charts().cost_chart(
            plans, look, language, kind="cash", budget=budget, width=width
        ),
        lambda language: charts().cost_caption(plans, language, kind="cash"),
        lambda language: charts().cost_alt(plans, language, kind="cash"),
    )


def _ways(advice: Advice, _plans: Sequence[Assessment]) -> Chart | None:
    ways = advice.ways
    if ways is None:
        return None
    return Chart(
        "cumulative-cost",
        lambda look, language, width: charts().ways_chart(ways, look, language, width=width),
        lambda language: charts().ways_caption(ways, language),
        lambda language: charts().ways_alt(ways, language),
    )


def _tornado(advice: Advice, _plans: Sequence[Assessment]) -> Chart | None:
    ways = advice.ways
    if ways is None or not ways.tornado:
        return None
    return Chart(
        "what-decides",
        lambda look, language, width: charts().tornado_chart(ways, look, language, width=width),
        lambda language: charts().tornado_caption(ways, language),
        lambda language: charts().tornado_alt(ways, language),
    )


def memory_charts() -> tuple[tuple[Text, Maker], ...]:
    """What the memory tab draws."""
    return (
        (N_("Memory of one card against what it offers"), _memory),
        (N_("Memory through one step of the chosen plan"), _timeline),
    )


def money_charts(state: AppState) -> tuple[tuple[Text, Maker], ...]:
    """What the tab of time and cost draws."""
    return (
        (N_("Time until everything is done"), _time),
        (N_("What the time goes into"), _split),
        (N_("Time with fewer and more of these cards"), _scaling(state)),
        (N_("Cost of the job by item"), _job_cost),
        (N_("Cash needed against the budget"), _cash),
        (N_("Cash paid over the years, way by way"), _ways),
        (N_("What decides between buying and renting"), _tornado),
    )


class ChartsTab(QWidget):
    """One or more charts below each other, in a scroll area that the keyboard reaches."""

    save_requested = Signal(object, str)  # ChartView, "png" or "svg"

    def __init__(
        self,
        name: str,
        makers: Sequence[tuple[Text, Maker]],
        state: AppState,
        selection: Selection,
        parent: QWidget | None = None,
        *,
        first: QWidget | None = None,
    ) -> None:
        """`first` stands above the charts."""
        super().__init__(parent)
        self._selection = selection
        self._words = Words(state, self)
        theme = state.theme
        self.area, column = scrolled(f"{name}.area", margin=theme.px(theme.l), gap=theme.px(theme.s))
        self.area.setFocusPolicy(Qt.FocusPolicy.NoFocus)  # the charts in it take the focus and scroll into sight
        self.area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        if first is not None:
            column.addWidget(first, 0, Qt.AlignmentFlag.AlignLeft)
        self.views: list[tuple[ChartView, Maker]] = []
        self._around: list[tuple[QWidget, QWidget]] = []  # heading and caption of each view
        for number, (title, make) in enumerate(makers):
            view = ChartView(f"{name}.chart{number + 1}", state.language, theme)
            heading, caption = label("", "section"), label("", "small", selectable=True)
            self._words.bind(heading.setText, title)
            self._words.bind(view.setAccessibleName, title)
            view.drawn.connect(caption.setText)
            view.save_requested.connect(lambda kind, v=view: self.save_requested.emit(v, kind))
            self.views.append((view, make))
            self._around.append((heading, caption))
            for widget in (heading, view, caption):
                column.addWidget(widget)
            column.addSpacing(theme.px(theme.m))
        column.addStretch(1)
        outer = QVBoxLayout(self)
        outer.setContentsMargins(0, 0, 0, 0)
        outer.addWidget(self.area)
        selection.changed.connect(self._show)
        state.theme_changed.connect(self._take_theme)
        self._words.run(self._say)

    @property
    def scroll_area(self) -> QScrollArea:
        """What scrolls."""
        return self.area

    def close_jobs(self) -> None:
        """End background work."""
        for view, _make in self.views:
            view.close_jobs()

    def _show(self, assessment: Assessment | None) -> None:
        advice = self._selection.advice
        plans = compared(advice, assessment) if advice is not None else ()
        for (view, make), around in zip(self.views, self._around, strict=True):
            chart = make(advice, plans) if advice is not None and plans else None
            for widget in (view, *around):  # a chart that has nothing to say of this plan leaves no gap
                widget.setVisible(chart is not None or not plans)
            view.show_chart(chart)

    def _say(self, language: Language) -> None:
        for view, _make in self.views:
            view.set_language(language)

    def _take_theme(self, theme: object) -> None:
        for view, _make in self.views:
            view.set_theme(theme)  # type: ignore[arg-type]
