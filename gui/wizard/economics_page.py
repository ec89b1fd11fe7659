"""Step 5: what do the costs rest on?"""

from __future__ import annotations

from PySide6.QtWidgets import QWidget

from engine.messages.mark import N_
from gui.problems import Page
from gui.widgets.basic import Fold
from gui.widgets.editors import CURRENCIES, ChoiceEdit, MoneyEdit, NumberEdit, PercentEdit
from gui.wizard.page import WizardPage

__all__ = ["EconomicsPage"]


class EconomicsPage(WizardPage):
    """Currency, use, life, electricity, staff."""

    PAGE = Page.ECONOMICS
    TITLE = N_("What do the costs rest on?")
    INTRO = N_("These decide between buying and renting. Empty fields are filled from the catalogue for your region.")

    def build(self) -> None:
        """What one knows first."""
        form = self.form("economics")
        offered = [(code, code) for code in CURRENCIES]
        form.add("currency", N_("&Currency of the answer"), self.bind(ChoiceEdit(self.words, offered), "currency"))
        form.add(
            "hours_per_month",
            N_("Hours of &use a month"),
            self.bind(NumberEdit(), "hours_per_month"),
            unit=N_("hours"),
            why=N_(
                "How long bought cards would really work in a month, for all projects together. A month has "
                "730 hours; cards that stand idle make each working hour dearer."
            ),
        )
        form.add("years", N_("Years of use of what is &bought"), self.bind(NumberEdit(), "years"), unit=N_("years"))
        form.add(
            "electricity_per_kwh",
            N_("E&lectricity"),
            self.bind(MoneyEdit(), "electricity_per_kwh"),
            unit=N_("per kWh"),
            hint=N_("Empty: the usual price in the region."),
        )
        form.add(
            "engineer_hour",
            N_("An en&gineer's hour"),
            self.bind(MoneyEdit(), "engineer_hour"),
            hint=N_("Empty: the usual cost in the region."),
            why=N_("Machines of one's own need care; rented ones need less."),
        )
        self.money = form
        self.body.addWidget(form)
        fold = Fold(self.words, N_("&Advanced: building overhead, discounting"), "economics.advanced")
        expert = self.form("economics")
        expert.add(
            "pue",
            N_("Overhead of the building (PUE)"),
            self.bind(NumberEdit(), "pue"),
            hint=N_("Empty: the usual value for the region."),
            why=N_(
                "Power usage effectiveness: all power of the site divided by the power of the computers. 1.2 "
                "to 1.6 is usual."
            ),
        )
        expert.add("discount_rate", N_("Discount rate"), self.bind(PercentEdit(), "discount_rate"), unit=N_("% a year"))
        fold.body.addWidget(expert)
        self.body.addWidget(fold)
        self.advanced = fold

    def focus_problem(self, problem: object) -> None:
        """Unfold what hides the field."""
        if getattr(problem, "field", "") in ("pue", "discount_rate"):
            self.advanced.open()
        super().focus_problem(problem)  # type: ignore[arg-type]

    def first_focus(self) -> QWidget:
        """The currency."""
        return self.money.rows["currency"].target
