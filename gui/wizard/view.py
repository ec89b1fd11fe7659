"""The wizard: list of steps, one page at a time, live estimate beside it."""

from __future__ import annotations

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QKeySequence, QResizeEvent, QShortcut, QShowEvent
from PySide6.QtWidgets import (
    QButtonGroup,
    QComboBox,
    QFrame,
    QHBoxLayout,
    QPushButton,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from engine.messages.mark import N_
from gui import dialogs
from gui.draft import Draft
from gui.icons import step_icon
from gui.problems import Page, Problem
from gui.state import AppState
from gui.widgets.basic import ElidedLabel, button, clear_layout, label, scrolled
from gui.widgets.words import NP_, Words, plain
from gui.wizard.constraints_page import ConstraintsPage
from gui.wizard.data_page import DataPage
from gui.wizard.economics_page import EconomicsPage
from gui.wizard.flow import Step, first_step, next_step, previous_step, step_of, steps
from gui.wizard.live_panel import LivePanel
from gui.wizard.model_page import ModelPage
from gui.wizard.page import WizardPage
from gui.wizard.review_page import ReviewPage
from gui.wizard.summary import problem_line
from gui.wizard.task_page import TaskPage

__all__ = ["WizardView"]

_STEP_NAMES: dict[Page, str] = {
    Page.TASK: N_("Task"),
    Page.MODEL: N_("Model"),
    Page.DATA: N_("Data and training"),
    Page.CONSTRAINTS: N_("Limits"),
    Page.ECONOMICS: N_("Costs"),
    Page.REVIEW: N_("Review"),
}


class WizardView(QWidget):
    """Leads through the steps. `finished()` asks for the results, `left()` for the start page."""

    finished = Signal()
    left = Signal()

    def __init__(self, state: AppState, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("wizard")
        self.state = state
        self.words = Words(state, self)
        self.step = first_step()
        self._attempted: set[Step] = set()
        self._buttons: dict[Step, QPushButton] = {}
        self._group = QButtonGroup(self)
        outer = QVBoxLayout(self)
        outer.setContentsMargins(0, 0, 0, 0)
        outer.setSpacing(0)
        self._build_step_box(outer)
        self._middle = QHBoxLayout()
        self._middle.setSpacing(0)
        outer.addLayout(self._middle, 1)
        self._build_steps()
        self._build_pages()
        self.live = LivePanel(state)
        self.live.details_wanted.connect(self.finished)
        state.advice_changed.connect(lambda _advice: self._show_brief())
        self._middle.addWidget(self.live)
        self._build_footer(outer)
        self._build_keys()
        state.draft_changed.connect(self._show_draft)
        state.theme_changed.connect(lambda _theme: self._refresh())
        state.theme_changed.connect(lambda _theme: self._arrange())
        self.words.run(lambda _language: self._refresh())
        self.go(self.step, focus=False)

    # building -------------------------------------------------------------------------------------------------

    def _build_steps(self) -> None:
        self.side = QFrame()
        self.side.setObjectName("wizard.steps")
        self.side.setProperty("look", "panel")
        holder = QVBoxLayout(self.side)
        holder.setContentsMargins(0, 0, 0, 0)
        area, self._step_column = scrolled("wizard.steps.scroll", margin=12, gap=2)
        holder.addWidget(area)
        self._middle.addWidget(self.side)

    def _build_pages(self) -> None:
        self.stack = QStackedWidget()
        review = ReviewPage(self.state)
        review.step_wanted.connect(self.go)
        review.problem_wanted.connect(self.go_to_problem)
        made: tuple[WizardPage, ...] = (
            TaskPage(self.state),
            ModelPage(self.state),
            DataPage(self.state),
            ConstraintsPage(self.state),
            EconomicsPage(self.state),
            review,
        )
        self.pages: dict[Page, WizardPage] = {page.PAGE: page for page in made}
        for page in made:
            self.stack.addWidget(page)
        self._middle.addWidget(self.stack, 1)

    def _build_step_box(self, column: QVBoxLayout) -> None:
        """The steps as a list to pull down, for windows that are too narrow for the list at the side."""
        self.narrow = QFrame()
        self.narrow.setProperty("look", "bar")
        row = QHBoxLayout(self.narrow)
        row.setContentsMargins(24, 8, 24, 8)
        self.step_box = QComboBox()
        self.step_box.setObjectName("wizard.step")
        self.words.bind(self.step_box.setAccessibleName, N_("Step"))
        self.step_box.activated.connect(lambda index: self.go(steps(self.state.draft)[index]))
        row.addWidget(self.step_box)
        row.addStretch(1)
        column.addWidget(self.narrow)

    def _build_footer(self, outer: QVBoxLayout) -> None:
        footer = QFrame()
        footer.setProperty("look", "footer")
        row = QHBoxLayout(footer)
        row.setContentsMargins(24, 12, 24, 12)
        row.setSpacing(12)
        self.back = button(self.words, NP_("button", "Back"), "wizard.back")
        self.back.clicked.connect(self.go_back)
        row.addWidget(self.back)
        self.message = label("", "problem")
        self.message.setObjectName("wizard.message")
        row.addWidget(self.message, 1)
        self.brief = ElidedLabel("muted")
        self.brief.setObjectName("wizard.brief")
        row.addWidget(self.brief, 1)
        self.next = button(self.words, NP_("button", "&Next"), "wizard.next", "primary")
        self.next.clicked.connect(self.go_on)
        row.addWidget(self.next)
        outer.addWidget(footer)

    def _build_keys(self) -> None:
        here = Qt.ShortcutContext.WidgetWithChildrenShortcut
        for keys, action in (
            ("Return", self._enter),
            ("Enter", self._enter),
            ("Alt+Left", self.go_back),
            ("Alt+Right", self.go_on),
            ("Escape", self._escape),
        ):
            shortcut = QShortcut(QKeySequence(keys), self)
            shortcut.setContext(here)
            shortcut.activated.connect(action)

    # going ----------------------------------------------------------------------------------------------------

    @property
    def page(self) -> WizardPage:
        """The page that is shown."""
        return self.pages[self.step.page]

    def go(self, step: Step, *, focus: bool = True) -> None:
        """Turn to a step."""
        self.step = step
        page = self.pages[step.page]
        page.show_draft(self.state.draft, step.task)
        self.stack.setCurrentWidget(page)
        self._refresh()
        if focus:
            page.first_focus().setFocus(Qt.FocusReason.OtherFocusReason)
            page.area.verticalScrollBar().setValue(0)

    def go_to_problem(self, problem: Problem) -> None:
        """Turn to the field that has a problem."""
        step = step_of(problem)
        self._attempted.add(step)
        self.go(step, focus=False)
        # the page is laid out only once it is shown; then the field can be scrolled into view
        QTimer.singleShot(0, self, lambda: self.pages[problem.page].focus_problem(problem))

    def go_on(self) -> None:
        """The next step, if this one is in order; else to its first bad field."""
        self._attempted.add(self.step)
        bad = self._problems(self.step)
        if bad:
            self._refresh()
            self.page.focus_problem(bad[0])
            return
        following = next_step(self.step, self.state.draft)
        if following is not None:
            self.go(following)
            return
        remaining = self.state.draft.problems()
        if remaining:
            self.go_to_problem(remaining[0])
        else:
            self.finished.emit()

    def go_back(self) -> None:
        """The step before."""
        before = previous_step(self.step, self.state.draft)
        if before is not None:
            self.go(before)

    def restart(self) -> None:
        """To the first step of another draft; nothing counts as attempted."""
        self._attempted.clear()
        data = self.pages[Page.DATA]
        if isinstance(data, DataPage):
            data.card.forget()
        self.go(first_step())

    def close_jobs(self) -> None:
        """End the background work of the pages; before the window goes."""
        data = self.pages[Page.DATA]
        if isinstance(data, DataPage):
            data.card.close_jobs()

    def _enter(self) -> None:
        focused = self.focusWidget()
        if isinstance(focused, QPushButton) and focused is not self.next:
            focused.click()
        else:
            self.go_on()

    def _escape(self) -> None:
        if dialogs.ask_leave(self, self.state.language):
            self.left.emit()

    # showing --------------------------------------------------------------------------------------------------

    def _problems(self, step: Step) -> tuple[Problem, ...]:
        found = self.state.draft.problems(step.page, step.task)
        return found if step.page is not Page.REVIEW else tuple(p for p in found if p.page is Page.REVIEW)

    def _show_draft(self, draft: Draft) -> None:
        if self.step not in steps(draft):
            self.go(first_step(), focus=False)
            return
        self.page.show_draft(draft)
        self._refresh()

    def _refresh(self) -> None:
        """Steps, problems, buttons."""
        draft, language = self.state.draft, self.state.language
        self._show_steps(draft)
        bad = self._problems(self.step) if self.step in self._attempted else ()
        self.page.show_problems(bad)
        self.message.setText(problem_line(bad[0], language) if bad else "")
        self.message.setVisible(bool(bad))
        self._show_brief()
        self.back.setEnabled(previous_step(self.step, draft) is not None)
        last = self.step.page is Page.REVIEW
        text = language.pgettext("button", "&Get advice") if last else language.pgettext("button", "&Next")
        self.next.setText(text)
        self.next.setAccessibleName(plain(text))

    def _show_steps(self, draft: Draft) -> None:
        order = steps(draft)
        if tuple(self._buttons) != order:
            clear_layout(self._step_column)
            self._buttons = {step: self._step_button(number, step) for number, step in enumerate(order)}
            for made in self._buttons.values():
                self._step_column.addWidget(made)
            self._step_column.addStretch(1)
            self.step_box.clear()
            self.step_box.addItems([""] * len(order))
        language = self.state.language
        several = len(draft.tasks) > 1
        bad = {step_of(p) for p in draft.problems()}
        for number, (step, made) in enumerate(self._buttons.items()):
            name = language.gettext(_STEP_NAMES[step.page])
            if step.page is Page.DATA and step.task is not None and draft.tasks[step.task].is_inference:
                name = language.gettext("Load and targets")
            if several and step.task is not None:
                name = f"{name} ({step.task + 1})"
            done = step not in bad and step.page is not Page.REVIEW
            state = language.gettext("complete") if done else language.gettext("incomplete")
            made.setText(name)
            made.setIcon(step_icon(self.state.theme, done=done))
            made.setChecked(step == self.step)
            self.step_box.setItemText(number, f"{number + 1}. {name}")
            self.step_box.setItemIcon(number, made.icon())
            if step == self.step:
                self.step_box.setCurrentIndex(number)
            spoken = name if step.page is Page.REVIEW else f"{name}, {state}"
            made.setAccessibleName(language.fill("Step {number:int}: {name}", number=number + 1, name=spoken))

    def _show_brief(self) -> None:
        """The estimate in one line where the panel has no room."""
        narrow = self.live.isHidden() and self.message.isHidden()
        self.brief.set_full_text(self.live.brief() if narrow else "")

    def _step_button(self, number: int, step: Step) -> QPushButton:
        made = QPushButton()
        made.setObjectName(f"wizard.step.{number}")
        made.setProperty("look", "step")
        made.setCheckable(True)
        made.clicked.connect(lambda _checked=False, to=step: self.go(to))
        self._group.addButton(made)
        return made

    # room -----------------------------------------------------------------------------------------------------

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Three columns where there is room; less where there is not."""
        super().resizeEvent(event)
        self._arrange()

    def showEvent(self, event: QShowEvent) -> None:
        """Show what was edited meanwhile."""
        super().showEvent(event)
        self._show_draft(self.state.draft)
        self._arrange()

    def _arrange(self) -> None:
        one = max(self.fontMetrics().horizontalAdvance("0"), 1)
        digits = self.width() / one
        self.side.setVisible(digits >= 84)
        self.narrow.setVisible(digits < 84)
        self.live.setVisible(digits >= 112)
        self.side.setFixedWidth(one * 25)
        self.live.setFixedWidth(one * 36)
        self._show_brief()
