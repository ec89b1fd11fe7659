"""The first page: start, go on, open, or look at an example."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QPushButton, QVBoxLayout, QWidget

from engine.examples import EXAMPLES
from engine.messages.mark import N_
from gui.autosave import Rescued
from gui.state import AppState
from gui.widgets.basic import Card, bound_label, button, clear_layout, label, scrolled
from gui.widgets.choice_cards import ChoiceCards
from gui.widgets.words import NP_, Text, Words

__all__ = ["StartPage"]


class StartPage(QWidget):
    """Sends what the person wants; the window does it."""

    new_wanted = Signal()
    open_wanted = Signal()
    run_wanted = Signal()  # a training configuration is to be read
    path_wanted = Signal(object)  # Path
    example_wanted = Signal(str)
    abilities_wanted = Signal()
    resume_wanted = Signal()
    forget_wanted = Signal()  # the unsaved work is not wanted any more

    def __init__(self, state: AppState, rescued: Rescued | None = None, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("start")
        self._state, self._rescued = state, rescued
        self._words = Words(state, self)
        outer = QVBoxLayout(self)
        outer.setContentsMargins(0, 0, 0, 0)
        area, page = scrolled("start.scroll", margin=0)
        outer.addWidget(area)
        row = QHBoxLayout()
        row.setContentsMargins(32, 36, 32, 36)
        page.addLayout(row)
        page.addStretch(1)
        row.addStretch(1)
        inside = QWidget()
        inside.setMaximumWidth(1180)
        row.addWidget(inside, 20)
        row.addStretch(1)
        self._column = QVBoxLayout(inside)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(16)
        self._build_head()
        self._build_resume()
        self._build_examples()
        self._build_recent()
        self._words.run(lambda _language: self._refresh())
        state.settings_changed.connect(lambda _settings: self._refresh())

    def _build_head(self) -> None:
        column, words = self._column, self._words
        column.addWidget(bound_label(words, N_("Which GPUs does your project need?"), "title"))
        column.addWidget(
            bound_label(
                words,
                N_(
                    "Say what you want to do with a language model. You get the cards that fit, how long it takes, "
                    "what buying, renting or sharing costs, and a report that shows the working. All on this computer."
                ),
                "muted",
            )
        )
        row = QHBoxLayout()
        row.setSpacing(12)
        self.new = button(words, N_("Ne&w scenario"), "start.new", "primary")
        self.new.clicked.connect(self.new_wanted)
        self.open = button(words, N_("&Open a file …"), "start.open")
        self.open.clicked.connect(self.open_wanted)
        self.abilities = button(words, N_("What can my G&PU do?"), "start.abilities")
        self.abilities.clicked.connect(self.abilities_wanted)
        row.addWidget(self.new)
        row.addWidget(self.open)
        row.addWidget(self.abilities)
        self.run = button(words, N_("Will my &training fit?"), "start.run")
        self.run.clicked.connect(lambda: self.run_wanted.emit())
        row.addWidget(self.run)
        row.addStretch(1)
        column.addLayout(row)

    def _build_resume(self) -> None:
        self.resume_card = Card(look="card-accent")
        row = QHBoxLayout()
        row.setSpacing(16)
        texts = QVBoxLayout()
        texts.addWidget(bound_label(self._words, N_("You have unsaved work"), "section"))
        self._resume_text = label("", "muted")
        texts.addWidget(self._resume_text)
        row.addLayout(texts, 1)
        self.resume = button(self._words, N_("&Go on with it"), "start.resume", "primary")
        self.resume.clicked.connect(self._resume)
        forget = button(self._words, NP_("button", "Throw it away…"), "start.forget", "link")
        forget.clicked.connect(self.forget_wanted)
        row.addWidget(forget, 0, Qt.AlignmentFlag.AlignVCenter)
        row.addWidget(self.resume, 0, Qt.AlignmentFlag.AlignVCenter)
        self.resume_card.body.addLayout(row)
        self._column.addWidget(self.resume_card)

    def _build_examples(self) -> None:
        self._column.addSpacing(8)
        self._column.addWidget(bound_label(self._words, N_("Look at an example"), "subtitle"))
        offered: list[tuple[str, Text, Text]] = [(e.name, e.title, e.text) for e in EXAMPLES]
        self.examples = ChoiceCards(self._words, "start.example", offered, columns=3)
        for card in self.examples.cards.values():
            card.setCheckable(False)
        self.examples.edited.connect(lambda name: self.example_wanted.emit(str(name)))
        self._column.addWidget(self.examples)

    def _build_recent(self) -> None:
        self.recent_title = bound_label(self._words, N_("Recent files"), "subtitle")
        self._column.addWidget(self.recent_title)
        self._recent = QGridLayout()
        self._recent.setHorizontalSpacing(16)
        self._recent.setVerticalSpacing(2)
        self._recent.setColumnStretch(1, 1)
        self._column.addLayout(self._recent)

    def offer(self, rescued: Rescued | None) -> None:
        """Offer to go on with unsaved work, or no longer."""
        self._rescued = rescued
        self._refresh()

    def _resume(self) -> None:
        self.resume_wanted.emit()

    def _refresh(self) -> None:
        language, rescued = self._state.language, self._rescued
        self.resume_card.setVisible(rescued is not None)
        if rescued is not None:
            when = rescued.saved_at.astimezone()
            self._resume_text.setText(
                language.fill(
                    "{name}, last edited on {day:date} at {time}",
                    name=rescued.draft.name or language.gettext("Unnamed scenario"),
                    day=when.date().isoformat(),
                    time=f"{when:%H:%M}",
                )
            )
        clear_layout(self._recent)
        recent = [Path(name) for name in self._state.settings.recent[:6]]
        self.recent_title.setVisible(bool(recent))
        for number, path in enumerate(recent):
            made = QPushButton(path.stem.replace("&", "&&"))
            made.setObjectName(f"start.recent.{number}")
            made.setProperty("look", "link")
            made.setAccessibleName(language.fill("Open {name}", name=path.stem))
            made.clicked.connect(lambda _checked=False, p=path: self.path_wanted.emit(p))
            self._recent.addWidget(made, number, 0, Qt.AlignmentFlag.AlignLeft)
            self._recent.addWidget(label(str(path.parent), "small"), number, 1)
