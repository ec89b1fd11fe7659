"""Step 4: what limits the choice?"""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QVBoxLayout, QWidget

from engine.messages.mark import N_
from gui.draft import Draft
from gui.problems import Page
from gui.widgets.basic import Fold, bound_label
from gui.widgets.editors import CheckEdit, ChoiceEdit, MoneyEdit, NumberEdit, PercentEdit
from gui.widgets.gpu_list import GpuSetEdit, OwnedEdit
from gui.widgets.words import Words
from gui.wizard.choices import REGIONS, WAYS
from gui.wizard.page import WizardPage

__all__ = ["ConstraintsPage"]


class WaysEdit(QWidget):
    """Any of several ways, as tick boxes."""

    edited = Signal(object)  # tuple[str, ...]

    def __init__(self, words: Words, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(2)
        self.boxes: dict[str, CheckEdit] = {}
        for key, text in WAYS:
            box = CheckEdit()
            box.setObjectName(f"constraints.ways.{key}")
            words.bind(box.setText, text)
            words.bind_plain(box.setAccessibleName, text)
            box.edited.connect(lambda _on: self.edited.emit(self.value()))
            self.boxes[key] = box
            column.addWidget(box)
        self.setFocusProxy(self.boxes["buy"])

    def value(self) -> tuple[str, ...]:
        """The ways that are ticked."""
        return tuple(key for key, box in self.boxes.items() if box.isChecked())

    def set_value(self, value: tuple[str, ...]) -> None:
        """Tick these."""
        for key, box in self.boxes.items():
            box.set_value(key in value)


class ConstraintsPage(WizardPage):
    """Budget, deadline, ways, region, cards that are there or unwanted, and what may not be."""

    PAGE = Page.CONSTRAINTS
    TITLE = N_("What limits the choice?")
    INTRO = N_("Leave empty what does not matter. Fewer limits mean more options to compare.")

    def build(self) -> None:
        """Money and time first, then ways, then rules, then cards."""
        self._build_limits()
        self._build_rules()
        self._build_cards()
        self._build_advanced()

    def _build_limits(self) -> None:
        form = self.form("constraints")
        form.add(
            "budget",
            N_("&Budget"),
            self.bind(MoneyEdit(), "budget"),
            hint=N_("Empty: no limit."),
            why=N_(
                "All cash that is needed until the work is done is held against it: the whole price of what is "
                "bought, or all bills of what is rented."
            ),
        )
        form.add(
            "deadline_days",
            N_("&Deadline"),
            self.bind(NumberEdit(), "deadline_days"),
            unit=N_("days from now"),
            hint=N_("Empty: no deadline. Delivery and queues count."),
        )
        form.add("ways", N_("How may hardware be had?"), self.bind(WaysEdit(self.words), "ways"))
        form.add(
            "region",
            N_("Re&gion"),
            self.bind(ChoiceEdit(self.words, REGIONS), "region"),
            why=N_(
                "Where the hardware stands or is bought: it decides which offers count, the price of "
                "electricity, and which cards are sold there."
            ),
        )
        self.limits = form
        self.body.addWidget(form)

    def _build_rules(self) -> None:
        self.body.addWidget(bound_label(self.words, N_("Rules"), "subtitle"))
        form = self.form("constraints", columns=1)
        form.add(
            "data_may_leave",
            N_("The data may leave the building (rented clouds and APIs are &possible)"),
            self.bind(CheckEdit(), "data_may_leave"),
        )
        form.add("api_allowed", N_("An AP&I may be used where it is cheaper"), self.bind(CheckEdit(), "api_allowed"))
        form.add(
            "export_controlled_allowed",
            N_("Cards &under export control may be bought"),
            self.bind(CheckEdit(), "export_controlled_allowed"),
            why=N_(
                "Some cards may not be sold to some countries. This follows dated notes of the catalogue and is "
                "never legal advice."
            ),
        )
        form.add(
            "allow_spot",
            N_("&Spot machines that can be taken away at any time are acceptable"),
            self.bind(CheckEdit(), "allow_spot"),
            why=N_("Cheaper, but the work must be able to stop and go on from a checkpoint."),
        )
        form.add(
            "server_room",
            N_("There is a server &room (power, cooling, noise)"),
            self.bind(CheckEdit(), "server_room"),
            why=N_("Without one, only machines that can stand in an office are proposed."),
        )
        form.add(
            "host_available",
            N_("A computer with free slots is there for bought &cards"),
            self.bind(CheckEdit(), "host_available"),
            why=N_("Otherwise the price of a machine around the cards is added."),
        )
        self.body.addWidget(form)

    def _build_cards(self) -> None:
        self.body.addWidget(bound_label(self.words, N_("Cards"), "subtitle"))
        form = self.form("constraints")
        self.owned = OwnedEdit(self.state, self.words, N_("Add a card that &we have …"))
        form.add("owned", N_("Cards that are there already"), self.bind(self.owned, "owned"))
        self.excluded = GpuSetEdit(self.state, self.words, N_("E&xclude a card …"))
        form.add("exclude_gpus", N_("Cards that are out of the question"), self.bind(self.excluded, "exclude_gpus"))
        self.body.addWidget(form)

    def _build_advanced(self) -> None:
        fold = Fold(self.words, N_("&Advanced: number of cards, headroom"), "constraints.advanced")
        form = self.form("constraints")
        form.add("max_gpus", N_("At most"), self.bind(NumberEdit(), "max_gpus"), unit=N_("cards"))
        form.add(
            "headroom",
            N_("Free memory to keep"),
            self.bind(PercentEdit(), "headroom"),
            unit=N_("% of each card"),
            why=N_("A plan that leaves less than this counts as a tight fit. 10 to 30% is usual."),
        )
        self.included = GpuSetEdit(self.state, self.words, N_("Consider only this card …"))
        form.add(
            "include_gpus",
            N_("Only these cards"),
            self.bind(self.included, "include_gpus"),
            hint=N_("Empty: all cards of the catalogue."),
        )
        fold.body.addWidget(form)
        self.body.addWidget(fold)
        self.advanced = fold

    def refresh(self, draft: Draft) -> None:
        """An API needs data that may leave."""
        row = self.row("api_allowed")
        if row is not None:
            row.editor.setEnabled(draft.data_may_leave)

    def focus_problem(self, problem: object) -> None:
        """Unfold what hides the field."""
        if getattr(problem, "field", "") in ("max_gpus", "headroom", "include_gpus"):
            self.advanced.open()
        super().focus_problem(problem)  # type: ignore[arg-type]

    def first_focus(self) -> QWidget:
        """The budget."""
        return self.limits.rows["budget"].target
