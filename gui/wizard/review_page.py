"""Step 6: everything at a glance, defaults marked, each part one click from its page."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QPushButton, QVBoxLayout, QWidget

from engine.messages.mark import N_
from gui.draft import Draft
from gui.problems import Page, Problem
from gui.widgets.basic import Card, clear_layout, label
from gui.widgets.editors import TextEdit
from gui.wizard.flow import Step
from gui.wizard.page import WizardPage
from gui.wizard.summary import Section, Stated, problem_line, summary

__all__ = ["ReviewPage"]


class ReviewPage(WizardPage):
    """What was stated and what is assumed; `step_wanted(Step)` leads back."""

    PAGE = Page.REVIEW
    TITLE = N_("Is everything right?")
    INTRO = N_("What is marked as default was not stated by you. All of it stands in the report.")

    step_wanted = Signal(object)
    problem_wanted = Signal(object)

    def build(self) -> None:
        """Name, problems, sections."""
        form = self.form("review")
        form.add("name", N_("Na&me of the scenario"), self.bind(TextEdit(), "name"))
        form.add(
            "as_of",
            N_("Prices as of"),
            self.bind(TextEdit(), "as_of"),
            why=N_("Prices are read as they were known on this day, so that the answer stays the same later."),
        )
        form.add("notes", N_("No&tes"), self.bind(TextEdit(), "notes"), wide=True)
        self.body.addWidget(form)
        self.head = form
        self.wrong = Card(look="warning")
        self.body.addWidget(self.wrong)
        self.sections = QVBoxLayout()
        self.sections.setSpacing(12)
        self.body.addLayout(self.sections)
        self._shown: tuple[Section, ...] = ()
        self._found: tuple[Problem, ...] = ()
        self.words.run(lambda _language: self._again())
        self.state.catalog_changed.connect(lambda _catalog: self._again())

    def _again(self) -> None:
        self._shown, self._found = (), ()
        self.refresh(self.state.draft)

    def refresh(self, draft: Draft) -> None:
        """Build the cards again if something has changed and the page can be seen."""
        if not self.isVisible() and self._shown:
            self._shown = ()
            return
        self._show_wrong(draft.problems())
        shown = summary(draft, self.state.catalog, self.state.language)
        if shown != self._shown:
            self._shown = shown
            clear_layout(self.sections)
            for section in shown:
                self.sections.addWidget(self._card(section))

    def showEvent(self, event: object) -> None:
        """Catch up with what was edited elsewhere."""
        super().showEvent(event)  # type: ignore[arg-type]
        self.refresh(self.state.draft)

    def _show_wrong(self, found: tuple[Problem, ...]) -> None:
        self.wrong.setVisible(bool(found))
        if found == self._found and self.wrong.body.count():
            return
        self._found = found
        clear_layout(self.wrong.body)
        language = self.state.language
        self.wrong.body.addWidget(label(language.gettext("Before the advice can be computed:"), "section"))
        for number, problem in enumerate(found):
            row = QHBoxLayout()
            row.addWidget(label(problem_line(problem, language)), 1)
            go = QPushButton(language.gettext("Go there"))
            go.setObjectName(f"review.problem.{number}")
            go.setProperty("look", "link")
            go.setAccessibleName(language.fill("Go to: {problem}", problem=problem.words(language)))
            go.clicked.connect(lambda _checked=False, p=problem: self.problem_wanted.emit(p))
            row.addWidget(go)
            self.wrong.body.addLayout(row)

    def _card(self, section: Section) -> Card:
        card = Card()
        head = QHBoxLayout()
        head.addWidget(label(section.title, "section"), 1)
        change = QPushButton(self.state.language.pgettext("button", "Change"))
        change.setObjectName(f"review.change.{_name(section.step)}")
        change.setProperty("look", "link")
        change.setAccessibleName(self.state.language.fill("Change: {what}", what=section.title))
        change.clicked.connect(lambda _checked=False, step=section.step: self.step_wanted.emit(step))
        head.addWidget(change)
        card.body.addLayout(head)
        grid = QGridLayout()
        grid.setHorizontalSpacing(16)
        grid.setVerticalSpacing(4)
        grid.setColumnStretch(0, 2)
        grid.setColumnStretch(1, 3)
        for number, row in enumerate(section.rows):
            self._line(grid, number, row)
        card.body.addLayout(grid)
        return card

    def _line(self, grid: QGridLayout, number: int, row: Stated) -> None:
        language = self.state.language
        grid.addWidget(label(row.caption, "muted"), number, 0, Qt.AlignmentFlag.AlignTop)
        value = QHBoxLayout()
        value.setSpacing(8)
        value.addWidget(label(row.value or "–", selectable=True), 0 if row.default else 1)
        if row.default:
            value.addWidget(
                label(language.pgettext("value", "default"), "badge", wrap=False), 0, Qt.AlignmentFlag.AlignTop
            )
            value.addStretch(1)
        grid.addLayout(value, number, 1)

    def first_focus(self) -> QWidget:
        """The name."""
        return self.head.rows["name"].target


def _name(step: Step) -> str:
    return step.page.value if step.task is None else f"{step.page.value}.{step.task}"
