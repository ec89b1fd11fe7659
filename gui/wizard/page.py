"""What all pages of the wizard have in common."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QScrollArea, QVBoxLayout, QWidget

from gui.draft import Draft, TaskDraft
from gui.problems import Page, Problem
from gui.state import AppState
from gui.widgets.basic import label, scrolled
from gui.widgets.forms import Form, FormRow
from gui.widgets.words import Text, Words, say

__all__ = ["WizardPage"]


class WizardPage(QWidget):
    """A page: title, a sentence, forms. It shows the draft and sends edits to the state; it keeps no value itself."""

    PAGE: Page
    TITLE: Text
    INTRO: Text

    def __init__(self, state: AppState, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName(f"page.{self.PAGE.value}")
        self.state = state
        self.words = Words(state, self)
        self.task = 0
        self._forms: list[Form] = []
        self._bound: dict[str, Any] = {}
        outer = QVBoxLayout(self)
        outer.setContentsMargins(0, 0, 0, 0)
        self.area: QScrollArea
        self.area, self.body = scrolled(f"page.{self.PAGE.value}.scroll")
        outer.addWidget(self.area)
        self.title, self.intro = label("", "title"), label("", "muted")
        self.body.addWidget(self.title)
        self.body.addWidget(self.intro)
        self.words.run(lambda _language: self.say_title(self.TITLE, self.INTRO))
        self.build()
        self.body.addStretch(1)

    # for the pages --------------------------------------------------------------------------------------------

    def build(self) -> None:
        """Make the widgets, in reading order."""
        raise NotImplementedError

    def say_title(self, title: Text, intro: Text) -> None:
        """Set the words on top of the page."""
        self.title.setText(say(self.state.language, title))
        self.intro.setText(say(self.state.language, intro))

    def refresh(self, draft: Draft) -> None:
        """Show what is not bound to a field."""

    def form(self, prefix: str, *, columns: int = 2) -> Form:
        """A form whose rows show their problems; to be added to a layout."""
        made = Form(self.words, prefix, columns=columns)
        self._forms.append(made)
        return made

    def bind(self, editor: Any, name: str) -> Any:
        """Tie an editor to a field of the draft, or of the current task where the page is about one."""
        self._bound[name] = editor
        editor.edited.connect(lambda value: self.edit(**{name: value}))
        return editor

    def edit(self, **changes: Any) -> None:
        """Change the draft, or the current task where the fields are a task's."""
        if set(changes) <= set(TaskDraft.model_fields) and self.about_task:
            self.state.edit_task(self.task, **changes)
        else:
            self.state.edit(**changes)

    @property
    def about_task(self) -> bool:
        """Whether the fields belong to a task."""
        return self.PAGE in (Page.TASK, Page.MODEL, Page.DATA)

    @property
    def current(self) -> TaskDraft:
        """The task that the page is about."""
        tasks = self.state.draft.tasks
        return tasks[min(self.task, len(tasks) - 1)]

    # for the wizard -------------------------------------------------------------------------------------------

    def show_draft(self, draft: Draft, task: int | None = None) -> None:
        """Show the draft's values; on entry and after every edit."""
        if task is not None:
            self.task = task
        self.task = min(self.task, len(draft.tasks) - 1)
        source = draft.tasks[self.task] if self.about_task else draft
        for name, editor in self._bound.items():
            editor.set_value(getattr(source, name))
        self.refresh(draft)

    def show_problems(self, problems: Iterable[Problem]) -> None:
        """Words beside the fields that have a problem."""
        texts = {p.field: p.words(self.state.language) for p in problems}
        for form in self._forms:
            form.show_problems(texts)

    def focus_problem(self, problem: Problem) -> None:
        """Bring the first bad field into view and put the cursor there."""
        row = self.row(problem.field)
        target = row.target if row is not None and row.target.isVisibleTo(self) else self.first_focus()
        target.setFocus(Qt.FocusReason.OtherFocusReason)
        self.area.ensureWidgetVisible(row.container if row is not None else target, 24, 48)

    def row(self, name: str) -> FormRow | None:
        """The form row of a field."""
        return next((form.rows[name] for form in self._forms if name in form.rows), None)

    def first_focus(self) -> QWidget:
        """Where the cursor goes on entry."""
        return self
