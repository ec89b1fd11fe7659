"""The catalogue page: browsing, and rows of one's own that are checked, stored, marked and removed."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from datetime import date
from decimal import Decimal
from pathlib import Path

import pytest
from pages_at_hand import nameless
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot

from engine.catalog.user import read_user_rows, user_database_path
from engine.errors import CatalogError
from gui import dialogs
from gui.catalog.forms import OfferDialog, QuotationDialog, RowDialog, SharedDialog
from gui.catalog.kinds import KINDS
from gui.catalog.page import CatalogPage
from gui.draft import MoneyDraft
from gui.state import AppState
from gui.widgets.editors import MoneyEdit, NumberEdit, TextEdit

Opened = Callable[[type[CatalogPage]], CatalogPage]
H100 = "nvidia-h100-sxm-80gb"


def tab(page: CatalogPage, key: str) -> int:
    return next(i for i, kind in enumerate(KINDS) if kind.key == key)


def fill(dialog: RowDialog, card: str = H100, price: str | None = "2", **texts: str) -> None:
    dialog.gpu.set_current(card)
    for name, text in texts.items():
        editor = dialog.form.rows[name].editor
        if isinstance(editor, NumberEdit):
            editor.clear()
            editor.insert(text)
            editor.textEdited.emit(text)
        elif isinstance(editor, TextEdit):
            editor.setText(text)
    money = dialog.form.rows["price"].editor
    assert isinstance(money, MoneyEdit)
    money.set_value(MoneyDraft(amount=price, currency="CNY"))


@pytest.fixture
def dialog_of(qtbot: QtBot, state: AppState, opened: Opened) -> Iterator[Callable[..., RowDialog]]:
    page = opened(CatalogPage)
    made: list[RowDialog] = []

    def make(kind: type[RowDialog]) -> RowDialog:
        dialog = page.add(kind)  # type: ignore[arg-type]
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose, False)
        assert isinstance(dialog, RowDialog)
        made.append(dialog)
        return dialog

    yield make
    for dialog in made:
        dialog.close()
        dialog.deleteLater()


def page_of(dialog: RowDialog) -> CatalogPage:
    page = dialog.parent()
    assert isinstance(page, CatalogPage)
    return page


def test_every_part_has_its_rows_and_details(state: AppState, opened: Opened) -> None:
    page = opened(CatalogPage)
    assert len(page.kinds) == 7
    for number, kind in enumerate(page.kinds):
        page.tabs.setCurrentIndex(number)
        assert kind.proxy.rowCount() > 80
        assert kind.view.current_row() is not None
        shown = [w.text() for w in kind.findChildren(QLabel)]
        assert sum(bool(t) for t in shown) > 5


def test_search_in_the_catalogue(qtbot: QtBot, state: AppState, opened: Opened) -> None:
    page = opened(CatalogPage)
    cards = page.kinds[0]
    qtbot.keyClicks(cards.search, "h100 sxm")
    assert 0 < cards.proxy.rowCount() < 10
    assert cards.count.text().startswith(str(cards.proxy.rowCount()))


def test_own_shared_cluster_is_stored_marked_and_removed(dialog_of: Callable[..., RowDialog]) -> None:
    dialog = dialog_of(SharedDialog)
    page = page_of(dialog)
    fill(dialog, name="校级平台", queue_days="5", max_gpus="8", price="2")
    dialog.accept()
    (stored,) = read_user_rows(user_database_path()).offers
    assert (stored.provider, stored.queue_days, stored.max_gpus) == ("校级平台", 5.0, 8)
    assert (stored.price_per_gpu_hour, stored.currency, stored.term) == (Decimal(2), "CNY", "shared")
    offers = page.kinds[tab(page, "offers")]
    assert page.tabs.currentIndex() == tab(page, "offers")
    assert offers.view.current_row().row.id == stored.id
    offers.mine.setChecked(True)  # type: ignore[union-attr]
    assert offers.proxy.rowCount() == 1
    assert page.remove.isEnabled()
    page.remove.click()
    assert read_user_rows(user_database_path()).offers == ()
    assert offers.proxy.rowCount() == 0
    assert not page.remove.isEnabled()


@pytest.fixture(autouse=True)
def catalogue_with_own_rows(state: AppState, monkeypatch: pytest.MonkeyPatch) -> None:
    """Reading the catalogue again reads the user's rows of this test's folder."""
    from engine.catalog.load import load_catalog

    monkeypatch.setattr(state, "_load_catalog", lambda: load_catalog(user_database_path()))


def test_own_offer_and_quotation(dialog_of: Callable[..., RowDialog]) -> None:
    offer = dialog_of(OfferDialog)
    fill(offer, name="My cloud", gpus_per_unit="8", price="15.5", region="Beijing")
    offer.accept()
    quotation = dialog_of(QuotationDialog)
    fill(quotation, name="My seller", cards="8", price="2,000,000", observed_on="2026-11-30")
    quotation.accept()
    rows = read_user_rows(user_database_path())
    assert rows.offers[0].gpus_per_unit == 8 and rows.offers[0].price_per_gpu_hour == Decimal("15.5")
    (price,) = rows.purchase_prices
    assert (price.price, price.cards, price.observed_on) == (Decimal(2_000_000), 8, date(2026, 11, 30))
    assert price.origin == "user" and price.product


@pytest.mark.parametrize(
    ("texts", "price", "bad"),
    [
        ({}, "2", "name"),
        ({"name": "A"}, None, "price"),
        ({"name": "A"}, "two", "price"),
        ({"name": "A"}, "-3", "price"),
        ({"name": "A"}, "0.00", "price"),
        ({"name": "A", "observed_on": "30.11.2026"}, "2", "observed_on"),
        ({"name": "A", "gpus_per_unit": "many"}, "2", "gpus_per_unit"),
    ],
)
def test_what_is_wrong_is_said_beside_its_field_and_nothing_is_stored(
    dialog_of: Callable[..., RowDialog], texts: dict[str, str], price: str | None, bad: str
) -> None:
    dialog = dialog_of(OfferDialog)
    fill(dialog, price=price, **texts)
    dialog.accept()
    assert dialog.form.rows[bad].problem_label.text()
    assert dialog.isVisible()
    assert not user_database_path().exists()


def test_values_that_the_catalogue_refuses(dialog_of: Callable[..., RowDialog]) -> None:
    dialog = dialog_of(QuotationDialog)
    fill(dialog, name="A", cards="0", price="2")
    dialog.accept()
    assert dialog.form.rows["cards"].problem_label.text()
    assert not user_database_path().exists()


def test_no_card_no_row(dialog_of: Callable[..., RowDialog]) -> None:
    dialog = dialog_of(SharedDialog)
    fill(dialog, card="", name="A")
    dialog.accept()
    assert "card" in dialog.problem.text.text()
    assert not user_database_path().exists()


def test_a_damaged_database_is_told_and_kept(
    dialog_of: Callable[..., RowDialog], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = user_database_path()
    path.parent.mkdir(parents=True)
    path.write_bytes(b"not a database at all" * 100)
    before = path.read_bytes()
    dialog = dialog_of(SharedDialog)
    fill(dialog, name="A")
    dialog.accept()
    assert dialog.isVisible() and str(path) in dialog.problem.text.text()
    told: list[object] = []
    monkeypatch.setattr(dialogs, "show_error", lambda _parent, _language, error: told.append(error))
    page = page_of(dialog)
    assert page._reload() is False  # pyright: ignore[reportPrivateUsage]
    assert isinstance(told[0], CatalogError)
    assert path.read_bytes() == before


def test_both_languages_without_a_rest_of_english(state: AppState, opened: Opened) -> None:
    page = opened(CatalogPage)
    state.set_language("zh_CN")
    heads: list[str] = []
    for number, kind in enumerate(page.kinds):
        page.tabs.setCurrentIndex(number)
        heads += [str(kind.model.headerData(c, Qt.Orientation.Horizontal)) for c in range(kind.model.columnCount())]
    heads += [page.tabs.tabText(i) for i in range(page.tabs.count())]
    allowed = {"GPU", "BF16", "FP8", "API", "GB", "W", "Mtoken", "token"}
    assert not [h for h in heads if set(re.findall("[A-Za-z0-9]{2,}", h)) - allowed]


def test_every_control_that_takes_the_focus_has_a_name(dialog_of: Callable[..., RowDialog]) -> None:
    for kind in (OfferDialog, SharedDialog, QuotationDialog):
        dialog = dialog_of(kind)
        assert not nameless(dialog)
        assert not nameless(page_of(dialog))


def test_paths(tmp_path: Path) -> None:
    assert tmp_path in user_database_path().parents  # tests never touch the person's own rows


def test_history_is_shown_on_demand(state: AppState, opened: Opened) -> None:
    page = opened(CatalogPage)
    page.tabs.setCurrentIndex(tab(page, "offers"))
    offers = page.kinds[tab(page, "offers")]
    current = offers.proxy.rowCount()
    assert current == sum(o.current and not o.members_only for o in state.catalog.offers)
    offers.current.setChecked(False)  # type: ignore[union-attr]
    assert offers.proxy.rowCount() > current
