"""Step 1: what do you want to do?"""

from __future__ import annotations

from PySide6.QtWidgets import QHBoxLayout, QPushButton, QWidget

from engine.messages.mark import N_
from gui.draft import Draft, TaskDraft
from gui.problems import Page, Problem
from gui.widgets.basic import Fold, button, label
from gui.widgets.choice_cards import ChoiceCards
from gui.widgets.editors import CheckEdit, ChoiceEdit, TextEdit
from gui.wizard.choices import GOALS, METHODS, PREFERENCE_METHODS, goal_of
from gui.wizard.page import WizardPage

__all__ = ["TaskPage"]


class TaskPage(WizardPage):
    """The tasks of the scenario, and what each is about, in plain words."""

    PAGE = Page.TASK
    TITLE = N_("What do you want to do?")
    INTRO = N_("Choose what comes closest. Several tasks can share the same hardware: add them below.")

    def build(self) -> None:
        """Goal cards, method, names, and the list of tasks."""
        self._task_row = QHBoxLayout()
        self._task_row.setSpacing(8)
        self._chips: list[QPushButton] = []
        self.body.addLayout(self._task_row)

        self.goals = ChoiceCards(self.words, "task.goal", [(g.key, g.title, g.text) for g in GOALS])
        self.goals.edited.connect(self._choose_goal)
        self.body.addWidget(self.goals)
        self.problem = label("", "problem")
        self.problem.setObjectName("task.goal.problem")
        self.problem.hide()
        self.body.addWidget(self.problem)

        self.how = self.form("task", columns=1)
        self.method = ChoiceEdit(self.words, METHODS)
        self.how.add(
            "method",
            N_("Ho&w should it be trained?"),
            self.bind(self.method, "method"),
            why=N_(
                "It decides most of the GPU memory. Adapters (LoRA) train about one weight in a hundred and reach the "
                "quality of full training for most tasks; full training needs memory for every weight, its gradient "
                "and two optimizer states."
            ),
        )
        self.how.add(
            "adapters",
            N_("Train small &adapters rather than all weights"),
            self.bind(CheckEdit(), "adapters"),
            why=N_("With adapters the untouched model also serves as the reference, so no second copy is loaded."),
        )
        self.body.addWidget(self.how)

        self.naming = Fold(self.words, N_("Name and project of this task"), "task.naming")
        names = self.form("task")
        names.add("name", N_("Na&me"), self.bind(TextEdit(), "name"), hint=N_("For your own overview and the report."))
        names.add("project", N_("&Project or grant"), self.bind(TextEdit(), "project"))
        self.naming.body.addWidget(names)
        self.body.addWidget(self.naming)

        row = QHBoxLayout()
        self.add = button(self.words, N_("Add ano&ther task"), "task.add")
        self.copy = button(self.words, N_("&Duplicate this task"), "task.duplicate")
        self.remove = button(self.words, N_("&Remove this task"), "task.remove")
        for made in (self.add, self.copy, self.remove):
            row.addWidget(made)
        row.addStretch(1)
        self.body.addLayout(row)
        self.add.clicked.connect(lambda: self._grow(None))
        self.copy.clicked.connect(lambda: self._grow(self.task))
        self.remove.clicked.connect(self._shrink)

    def refresh(self, draft: Draft) -> None:
        """Goals, methods that belong to the goal, and the tasks."""
        goal = goal_of(self.current)
        self.goals.set_value(goal.key if goal else "")
        chosen = {"finetune": METHODS, "prefer": PREFERENCE_METHODS}.get(goal.key if goal else "", ())
        self.method.set_choices(chosen, self.state.language)
        self.method.set_value(self.current.method)
        self.how.rows["method"].set_visible(bool(goal and len(goal.methods) > 1))
        self.how.rows["adapters"].set_visible(bool(goal and goal.key == "prefer"))
        self.how.setVisible(bool(goal and goal.methods))
        self.remove.setEnabled(len(draft.tasks) > 1)
        self._show_chips(draft)

    def show_problems(self, problems: object) -> None:
        """The goal has no form row; its problem stands below the cards."""
        found: list[Problem] = list(problems)  # type: ignore[call-overload]
        super().show_problems(found)
        bad = next((p for p in found if p.field == "method" and p.task == self.task), None)
        self.problem.setText(bad.words(self.state.language) if bad else "")
        self.problem.setVisible(bad is not None)

    def focus_problem(self, problem: Problem) -> None:
        """Turn to the task that has the problem."""
        if problem.task is not None and problem.task != self.task:
            self.show_draft(self.state.draft, problem.task)
        super().focus_problem(problem)

    def first_focus(self) -> QWidget:
        """The chosen goal, or the first."""
        return self.goals.cards[self.goals.value() or GOALS[0].key]

    def _choose_goal(self, key: str) -> None:
        goal = next(g for g in GOALS if g.key == key)
        if goal is goal_of(self.current):
            return
        self.edit(method=goal.method.value, outputs_only=goal.outputs_only)

    def _grow(self, like: int | None) -> None:
        draft = self.state.draft.with_added_task(like)
        self.task = len(draft.tasks) - 1
        self.state.set_draft(draft)

    def _shrink(self) -> None:
        self.state.set_draft(self.state.draft.without_task(self.task))

    def _show_chips(self, draft: Draft) -> None:
        several = len(draft.tasks) > 1
        while len(self._chips) > (len(draft.tasks) if several else 0):
            gone = self._chips.pop()
            gone.hide()
            self._task_row.removeWidget(gone)
            gone.deleteLater()
        while several and len(self._chips) < len(draft.tasks):
            self._chips.append(self._chip(len(self._chips)))
        for number, (chip, task) in enumerate(zip(self._chips, draft.tasks, strict=False)):
            chip.setText(self.caption(number, task))
            chip.setAccessibleName(chip.text())
            chip.setChecked(number == self.task)

    def _chip(self, number: int) -> QPushButton:
        chip = QPushButton()
        chip.setObjectName(f"task.chip.{number}")
        chip.setProperty("look", "segment")
        chip.setCheckable(True)
        chip.clicked.connect(lambda _checked=False, n=number: self.show_draft(self.state.draft, n))
        self._task_row.insertWidget(number, chip)
        if number == 0:
            self._task_row.addStretch(1)
        return chip

    def caption(self, number: int, task: TaskDraft) -> str:
        """How a task is called where it has no name."""
        return task.name or self.state.language.fill("Task {number:int}", number=number + 1)
