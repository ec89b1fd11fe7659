"""Taxes, discounts, loans, space and staff that a purchase or contract brings: typed in, kept with the file."""

from __future__ import annotations

from typing import Any

from pydantic import ValidationError
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QFormLayout, QVBoxLayout, QWidget

from engine.messages import N_
from engine.scenario import CostTerms
from gui.state import AppState
from gui.widgets.basic import label
from gui.widgets.editors import NumberEdit, PercentEdit
from gui.widgets.words import Words

__all__ = ["TermsDialog"]

#: Field, words, whether it is a share; amounts of money are in the currency of the scenario.
FIELDS: tuple[tuple[str, str, bool], ...] = (
    ("project_months", N_("Months of the project (blank: the years of use)"), False),
    ("tax_rate", N_("Tax on top of the prices, %"), True),
    ("import_duty", N_("Import duty on what is bought, %"), True),
    ("education_discount", N_("Education or negotiated discount, %"), True),
    ("financed_share", N_("Share of the price that is lent, %"), True),
    ("loan_rate", N_("Interest a year, of a loan or lease, %"), True),
    ("loan_months", N_("Months of the loan"), False),
    ("colocation_per_kw_month", N_("Space or colocation per kW and month"), False),
    ("staff_hours_per_month", N_("Hours of staff a month for machines of one's own"), False),
    ("spares_per_year", N_("Spare parts a year once the warranty is over, %"), True),
    ("warranty_months", N_("Months of warranty"), False),
    ("accounting_years", N_("Years of depreciation in the books"), False),
    ("support_share", N_("Support plan, share of the rent, %"), True),
    ("base_share", N_("Own a base: share of the cards that is bought, %"), True),
    ("wait_months", N_("Rent now, buy later: months until then"), False),
)
_MONEY = ("colocation_per_kw_month",)


class TermsDialog(QDialog):
    """Fields of `CostTerms`; what cannot be used keeps OK closed."""

    def __init__(self, state: AppState, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("terms")
        self._state, self._terms = state, state.draft.terms
        words = Words(state, self)
        words.bind(self.setWindowTitle, N_("Taxes, loans, space, staff"))
        self.fields: dict[str, NumberEdit] = {}
        form = QFormLayout()
        for name, text, share in FIELDS:
            field = PercentEdit() if share else NumberEdit()
            field.setObjectName(f"terms.{name}")
            value = getattr(self._terms, name)
            field.set_value(float(value.amount) if name in _MONEY and value is not None else value)
            said = label("", wrap=False)
            said.setBuddy(field)
            words.bind(said.setText, text)
            words.bind(field.setAccessibleName, text)
            field.edited.connect(lambda _value: self._check())
            form.addRow(said, field)
            self.fields[name] = field
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Ok | QDialogButtonBox.StandardButton.Cancel)
        self.ok = buttons.button(QDialogButtonBox.StandardButton.Ok)
        buttons.accepted.connect(self.accept)
        buttons.rejected.connect(self.reject)
        column = QVBoxLayout(self)
        column.setContentsMargins(20, 20, 20, 20)
        column.addLayout(form)
        column.addWidget(buttons)

    def terms(self) -> CostTerms | None:
        """What was typed; None where it cannot be used. A blank field goes back to its default."""
        typed: dict[str, Any] = {n: f.value() for n, f in self.fields.items() if f.value() is not None}
        for name in _MONEY:
            if name in typed:
                typed[name] = {"amount": str(typed[name]), "currency": self._state.draft.currency}
        kept = {n: v for n, v in self._terms.model_dump().items() if n not in self.fields}
        try:
            return CostTerms.model_validate({**kept, **typed})
        except ValidationError:
            return None

    def _check(self) -> None:
        self.ok.setEnabled(self.terms() is not None)

    def apply(self) -> None:
        """Keep it with the scenario, as one step that can be undone."""
        terms = self.terms()
        if terms is not None:
            self._state.set_draft(self._state.draft.changed(terms=terms))
