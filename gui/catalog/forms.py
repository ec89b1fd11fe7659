"""Dialogs for rows of one's own: a rental offer, a shared cluster, a quotation. Checked while one types."""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

from pydantic import ValidationError
from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QPushButton, QVBoxLayout, QWidget

from engine.catalog import user
from engine.errors import KnownError
from engine.hardware.model import Offer, PurchasePrice
from engine.i18n import Language
from engine.messages import LABELS, N_
from engine.quantity import Money
from gui.draft import MoneyDraft
from gui.state import AppState
from gui.widgets.basic import Banner, label, scrolled
from gui.widgets.editors import CheckEdit, ChoiceEdit, MoneyEdit, NumberEdit, TextEdit
from gui.widgets.forms import Form
from gui.widgets.numbers import read_amount
from gui.widgets.picker import Entry, SearchList
from gui.widgets.words import NP_, Text, Words

__all__ = ["OfferDialog", "QuotationDialog", "RowDialog", "SharedDialog"]


class RowDialog(QDialog):
    """A form that makes one row; subclasses add their fields and say how the row is made."""

    stored = Signal(object)  # Offer or PurchasePrice
    TITLE: Text = ""
    INTRODUCTION: Text = ""
    FREE_ALLOWED = False  # a price of 0 is a slip but for what one may use without paying

    def __init__(self, state: AppState, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._state = state
        self._words = Words(state, self)
        theme = state.theme
        self.resize(theme.px(800), theme.px(680))
        self._words.bind(self.setWindowTitle, self.TITLE)
        column = QVBoxLayout(self)
        column.setContentsMargins(*(theme.px(theme.xl),) * 4)
        column.setSpacing(theme.px(theme.m))
        title, text = label("", "subtitle"), label("", "muted")
        self._words.bind(title.setText, self.TITLE)
        self._words.bind(text.setText, self.INTRODUCTION)
        self.gpu = SearchList(self._words, "row.gpu", N_("Card"), N_("Type a card, for example 4090"))
        self.gpu.set_entries(
            [Entry(g.id, g.name, " ".join((g.vendor, *g.aliases))) for g in sorted(state.catalog.gpus, key=_by_name)]
        )
        self.gpu.setFixedHeight(theme.px(190))
        self.form = Form(self._words, "row")
        area, fields = scrolled("row.fields", margin=0)
        area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        fields.addWidget(self.form)
        fields.addStretch(1)
        self.problem = Banner("row.problem")
        buttons = QDialogButtonBox()
        self.accept_button = QPushButton()
        self.accept_button.setObjectName("row.save")
        self.accept_button.setProperty("look", "primary")
        self.accept_button.setDefault(True)
        cancel = QPushButton()
        cancel.setObjectName("row.cancel")
        self._words.bind(self.accept_button.setText, NP_("button", "Add to my catalogue"))
        self._words.bind(cancel.setText, NP_("button", "Cancel"))
        buttons.addButton(self.accept_button, QDialogButtonBox.ButtonRole.AcceptRole)
        buttons.addButton(cancel, QDialogButtonBox.ButtonRole.RejectRole)
        buttons.accepted.connect(self.accept)
        buttons.rejected.connect(self.reject)
        for widget in (title, text, self.gpu, area, self.problem):
            column.addWidget(widget, 1 if widget is area else 0)
        column.addWidget(buttons)
        self.add_fields()

    # for subclasses -----------------------------------------------------------------------------------------

    def add_fields(self) -> None:
        """Rows of the form."""
        raise NotImplementedError

    def store(self) -> Offer | PurchasePrice:
        """Make the row and keep it; `ValidationError` or `KnownError` where it can't be."""
        raise NotImplementedError

    def required(self) -> dict[str, object]:
        """Fields that must be filled, with what stands in them."""
        raise NotImplementedError

    # filling ------------------------------------------------------------------------------------------------

    def problems(self, language: Language) -> dict[str, str]:
        """What is missing or can't be read, by field."""
        found: dict[str, str] = {}
        for name, value in self.required().items():
            if value is None or value == "":
                found[name] = language.gettext("This is needed.")
        for name, row in self.form.rows.items():
            editor = row.editor
            if isinstance(editor, NumberEdit) and isinstance(editor.value(), str):
                found[name] = language.gettext("This is not a number.")
            if isinstance(editor, MoneyEdit) and editor.value().amount and _amount(editor.value()) is None:
                found[name] = language.gettext("This is not an amount of money.")
            elif isinstance(editor, MoneyEdit) and not self.FREE_ALLOWED and self._is_zero(name):
                found[name] = language.gettext("A price of 0 would win every ranking. Enter what is really charged.")
        day = self.form.rows["observed_on"].editor
        if isinstance(day, TextEdit) and day.text().strip() and _day(day.text()) is None:
            found["observed_on"] = language.gettext("Write the day as 2026-12-31.")
        if "valid_until" in self.form.rows and self.text("valid_until") and _day(self.text("valid_until")) is None:
            found["valid_until"] = language.gettext("Write the day as 2026-12-31.")
        return found

    def accept(self) -> None:
        """Check, store, close; else say what is wrong and go there."""
        language = self._words.language
        found = self.problems(language)
        self.form.show_problems(found)
        no_card = "" if self.gpu.current() else language.gettext("Choose the card.")
        self.problem.say(no_card, "danger")
        if no_card:
            self.gpu.search.setFocus(Qt.FocusReason.OtherFocusReason)
            return
        if found:
            first = next(name for name in self.form.rows if name in found)
            self.form.rows[first].target.setFocus(Qt.FocusReason.OtherFocusReason)
            return
        try:
            row = self.store()
        except ValidationError as error:
            self._refuse(error, language)
            return
        except KnownError as error:
            self.problem.say(language.error(error), "danger")
            return
        super().accept()
        self.stored.emit(row)

    def _refuse(self, error: ValidationError, language: Language) -> None:
        """A value that the catalogue does not take: say so beside its field."""
        names = {str(item["loc"][0]) if item["loc"] else "" for item in error.errors()}
        text = language.gettext("This value can't be used here.")
        shown = {FORM_FIELDS.get(name, name): text for name in names}
        self.form.show_problems({k: v for k, v in shown.items() if k in self.form.rows})
        if not any(k in self.form.rows for k in shown):
            self.problem.say(text, "danger")

    def add_common(self) -> None:
        """Day and notes."""
        day = TextEdit()
        day.setText(date.today().isoformat())
        self.form.add("observed_on", N_("Price seen on"), day, hint=N_("Year-month-day"))
        self.form.add("notes", N_("Notes"), TextEdit(), wide=True)

    def text(self, name: str) -> str:
        """What stands in a line of text."""
        editor = self.form.rows[name].editor
        return editor.text().strip() if isinstance(editor, TextEdit) else ""

    def number(self, name: str) -> float | int | None:
        """A number that can be read, or None."""
        editor = self.form.rows[name].editor
        value = editor.value() if isinstance(editor, NumberEdit) else None
        return value if isinstance(value, int | float) else None

    def money(self, name: str) -> Money | None:
        """An amount that can be read, or None."""
        editor = self.form.rows[name].editor
        return _amount(editor.value()) if isinstance(editor, MoneyEdit) else None

    def _is_zero(self, name: str) -> bool:
        price = self.money(name)
        return price is not None and not price.amount

    def money_edit(self) -> MoneyEdit:
        """An empty amount in the usual currency."""
        editor = MoneyEdit()
        editor.set_value(MoneyDraft(amount=None, currency=self._state.draft.currency))
        return editor


#: Field of a catalogue row -> field of a form, where they differ.
FORM_FIELDS = {"price_per_gpu_hour": "price", "provider": "name", "seller": "name", "id": "name"}


def _by_name(gpu: Any) -> str:
    return gpu.name.casefold()


def _amount(value: MoneyDraft) -> Money | None:
    amount = read_amount(str(value.amount)) if value.amount is not None else None
    return Money(amount=amount, currency=value.currency) if amount is not None and amount >= 0 else None


def _day(text: str) -> date | None:
    try:
        return date.fromisoformat(text.strip())
    except ValueError:
        return None


def _row_id(*parts: str) -> str:
    words = ("-".join("".join(c if c.isalnum() else " " for c in p.lower()).split()) for p in parts if p)
    return ".".join(("user", *words))


class OfferDialog(RowDialog):
    """A rental offer that one has been made."""

    TITLE = N_("Add my offer")
    INTRODUCTION = N_("A price that a provider offered you. It stays on this computer and wins over the catalogue's.")

    def add_fields(self) -> None:
        """Provider, price, term, unit."""
        self.form.add("name", N_("Provider"), TextEdit())
        self.form.add("price", N_("Price per card-hour"), self.money_edit())
        terms = ("on-demand", "spot", "reserved-1m", "reserved-1y", "reserved-3y", "monthly")
        choices = [(t, LABELS[f"term.{t}"]) for t in terms]
        self.form.add("term", N_("Term"), ChoiceEdit(self._words, choices))
        self.form.add(
            "gpus_per_unit",
            N_("Cards in the unit sold"),
            NumberEdit(),
            hint=N_("For example 8 where only whole machines are rented; empty if any number can be had."),
        )
        self.form.add("region", N_("Region"), TextEdit())
        self.add_common()

    def required(self) -> dict[str, object]:
        """Provider and price."""
        return {"name": self.text("name"), "price": self.money("price")}

    def store(self) -> Offer:
        """The offer, kept."""
        price, term = self.money("price"), self.form.rows["term"].editor
        assert price is not None and isinstance(term, ChoiceEdit)
        return user.add_offer(
            Offer(
                id=_row_id(self.text("name"), self.gpu.current(), str(term.value())),
                provider=self.text("name"),
                provider_kind="gpu-cloud",
                gpu_ids=(self.gpu.current(),),
                gpus_per_unit=_whole(self.number("gpus_per_unit")),
                region=self.text("region"),
                price_per_gpu_hour=price.amount,
                currency=price.currency,
                term=term.value(),
                observed_on=_day(self.text("observed_on")),
                confidence="high",
                notes=self.text("notes"),
                origin="user",
            )
        )


class SharedDialog(RowDialog):
    """A cluster of one's institution."""

    TITLE = N_("Add shared cluster")
    FREE_ALLOWED = True
    INTRODUCTION = N_("A cluster that you may use with others, for a fee or free, with its usual wait.")

    def add_fields(self) -> None:
        """Name, fee, wait, limit."""
        self.form.add("name", N_("Name of the cluster"), TextEdit())
        self.form.add("price", N_("Price per card-hour"), self.money_edit(), hint=N_("0 if it is free"))
        self.form.add("queue_days", N_("Usual wait before a job starts"), NumberEdit(), unit=N_("days"))
        self.form.add("max_gpus", N_("Most cards at once"), NumberEdit())
        self.add_common()

    def required(self) -> dict[str, object]:
        """Name and fee."""
        return {"name": self.text("name"), "price": self.money("price")}

    def store(self) -> Offer:
        """The cluster as an offer, kept."""
        price = self.money("price")
        assert price is not None
        offer = user.shared_cluster(
            self.text("name"),
            (self.gpu.current(),),
            price,
            queue_days=float(self.number("queue_days") or 0),
            max_gpus=_whole(self.number("max_gpus")),
            observed_on=_day(self.text("observed_on")),
            notes=self.text("notes"),
        )
        return user.add_offer(offer)


class QuotationDialog(RowDialog):
    """A quotation for cards or for a whole machine."""

    TITLE = N_("Add quotation")
    INTRODUCTION = N_("A price for buying that a seller quoted you, for one or more cards or a whole machine.")

    def add_fields(self) -> None:
        """Seller, product, price, cards."""
        self.form.add("name", N_("Seller"), TextEdit())
        self.form.add("product", N_("Product"), TextEdit())
        self.form.add("price", N_("Price of the quotation"), self.money_edit(), hint=N_("With tax, as quoted"))
        self.form.add("cards", N_("Cards in the price"), NumberEdit())
        self.form.add(
            "condition",
            N_("Condition"),
            ChoiceEdit(self._words, [("new", NP_("condition", "New")), ("used", NP_("condition", "Used"))]),
        )
        self.form.add("whole_server", N_("The price is for a whole machine, not for bare cards"), CheckEdit())
        self.form.add("valid_until", N_("Valid until"), TextEdit(), hint=N_("Year-month-day; empty if not said"))
        self.form.add("includes", N_("What the price includes"), TextEdit(), wide=True)
        taxes = [("", N_("Not said")), ("yes", NP_("answer", "yes")), ("no", NP_("answer", "no"))]
        self.form.add("tax_included", N_("Tax included"), ChoiceEdit(self._words, taxes))
        self.form.add(
            "file_path", N_("File of the quotation"), TextEdit(), wide=True,
            hint=N_("Path of the file; it stays where it is, its SHA-256 is kept."),
        )  # fmt: skip
        self.add_common()
        cards = self.form.rows["cards"].editor
        if isinstance(cards, NumberEdit):
            cards.set_value(1)

    def required(self) -> dict[str, object]:
        """Seller, price, number of cards."""
        return {"name": self.text("name"), "price": self.money("price"), "cards": self.number("cards")}

    def store(self) -> PurchasePrice:
        """The quotation, kept."""
        price = self.money("price")
        whole, condition = self.form.rows["whole_server"].editor, self.form.rows["condition"].editor
        assert price is not None and isinstance(whole, CheckEdit) and isinstance(condition, ChoiceEdit)
        tax, file = self.form.rows["tax_included"].editor, self.text("file_path")
        assert isinstance(tax, ChoiceEdit)
        product = self.text("product")
        if not product:
            gpu = self._state.catalog.gpu_by_id.get(self.gpu.current())
            product = gpu.name if gpu is not None else self.gpu.current()
        return user.add_purchase_price(
            PurchasePrice(
                id=_row_id(self.text("name"), product, "quotation"),
                gpu_ids=(self.gpu.current(),),
                product=product,
                seller=self.text("name"),
                condition=condition.value(),
                price=Decimal(price.amount),
                currency=price.currency,
                cards=_whole(self.number("cards")) or 0,
                whole_server=whole.value(),
                observed_on=_day(self.text("observed_on")),
                valid_until=_day(self.text("valid_until")),
                includes=self.text("includes"),
                tax_included={"yes": True, "no": False}.get(str(tax.value())),
                file_path=file,
                file_sha256=user.file_sha256(Path(file).expanduser()) if file else "",
                confidence="high",
                notes=self.text("notes"),
                origin="user",
            )
        )


def _whole(value: float | int | None) -> int | None:
    """A whole number; what is not whole becomes 0, which no field takes."""
    if value is None:
        return None
    return int(value) if float(value).is_integer() else 0
