"""Tables, packs, corrections and price charts in the window: shown before anything is written, and undone."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from decimal import Decimal
from pathlib import Path

import pytest
from pages_at_hand import nameless
from PySide6.QtCore import QMimeData, QPointF, Qt, QUrl
from PySide6.QtGui import QDropEvent
from PySide6.QtWidgets import QDialog
from pytestqt.qtbot import QtBot

from engine.catalog.load import load_base, load_catalog
from engine.catalog.packs import pack_bytes
from engine.catalog.store import changes
from engine.hardware.model import PurchasePrice
from gui import dialogs
from gui.catalog.kinds import KINDS
from gui.catalog.page import CatalogPage
from gui.state import AppState
from gui.widgets.editors import TextEdit

Opened = Callable[[type[CatalogPage]], CatalogPage]
CARD = "nvidia-rtx-4090"


@pytest.fixture
def page(state: AppState, opened: Opened, monkeypatch: pytest.MonkeyPatch) -> CatalogPage:
    monkeypatch.setattr(state, "_load_catalog", load_catalog)
    return opened(CatalogPage)


def held(dialog: QDialog | None) -> None:
    assert dialog is not None
    dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose, False)


def gone(dialog: QDialog) -> None:
    dialog.close()
    dialog.deleteLater()


def tab(key: str) -> int:
    return next(i for i, kind in enumerate(KINDS) if kind.key == key)


def test_a_pasted_table_is_shown_row_by_row_kept_and_undone(
    page: CatalogPage, state: AppState, monkeypatch: pytest.MonkeyPatch
) -> None:
    dialog = page.import_table()
    held(dialog)
    assert not dialog.apply_button.isEnabled()
    dialog.pasted.setPlainText(
        "卖家\t显卡\t报价\t币种\t日期\n甲\t4090\t15,000\tCNY\t2026-11-30\n乙\t4090\t-1\tCNY\t2026-11-30"
    )
    shown = [[c.shown(r, state.language) for c in dialog.model.columns] for r in dialog.model.rows]
    assert len(shown) == 2
    assert "-1" in shown[1][2]
    assert load_catalog().purchase_prices == load_base().purchase_prices
    assert not nameless(dialog)
    dialog.accept()
    assert state.catalog.purchase_prices[0].price == Decimal(15000)
    gone(dialog)
    said: list[str] = []
    monkeypatch.setattr(dialogs, "show_message", lambda _parent, title, text, **_more: said.append(text))
    page.findChild(object, "catalog.undo").trigger()  # type: ignore[attr-defined]
    assert len(said) == 1
    assert state.catalog.purchase_prices == load_base().purchase_prices


def test_a_table_that_can_not_be_read_is_said(page: CatalogPage, state: AppState, tmp_path: Path) -> None:
    file = tmp_path / "t.csv"
    file.write_bytes(b"a,b\n1,2")
    dialog = page.import_table(file)
    held(dialog)
    assert dialog.problem.isVisibleTo(dialog)
    assert not dialog.apply_button.isEnabled()
    gone(dialog)


def test_a_dropped_pack_shows_its_change_log_first(page: CatalogPage, state: AppState, tmp_path: Path) -> None:
    row = PurchasePrice(
        id="user.q", gpu_ids=(CARD,), product="RTX 4090", seller="dealer", condition="new", price=Decimal(15000),
        currency="CNY", observed_on=date(2026, 11, 30),
    )  # fmt: skip
    file = tmp_path / "rows.gapack"
    file.write_bytes(pack_bytes([("purchase_price", row)], "Quotes"))
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(file))])
    event = QDropEvent(QPointF(5, 5), Qt.DropAction.CopyAction, data, Qt.MouseButton.LeftButton,
                       Qt.KeyboardModifier.NoModifier)  # fmt: skip
    page.dropEvent(event)
    from gui.catalog.exchange import PackDialog

    dialog = page.findChild(PackDialog)
    assert isinstance(dialog, PackDialog)
    held(dialog)
    assert [r.status for r in dialog.model.rows] == ["new"]
    assert changes() == ()
    dialog.accept()
    assert state.catalog.purchase_prices[0].id == "user.q"
    gone(dialog)


def test_a_refused_pack_is_said(page: CatalogPage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "rows.gapack"
    file.write_bytes(b"nothing")
    said: list[str] = []
    monkeypatch.setattr(dialogs, "show_error", lambda _parent, language, error: said.append(language.error(error)))
    assert page.apply_pack(file) is None
    assert len(said) == 1


def test_a_row_is_corrected_marked_and_brought_back(page: CatalogPage, state: AppState) -> None:
    page.kinds[0].view.choose(lambda record: record.row.id == CARD)
    dialog = page.correct()
    assert dialog is not None
    held(dialog)
    for name, text in (("tdp_watts", "455"), ("memory_gb_per_s", "1000")):
        editor = dialog.form.rows[name].editor
        assert isinstance(editor, TextEdit)
        editor.setText(text)
    dialog.accept()
    card = state.catalog.gpu_by_id[CARD]
    assert (card.tdp_watts, card.memory_bytes_per_second, card.origin) == (455, 1e12, "user")
    gone(dialog)
    page.kinds[0].view.choose(lambda record: record.row.id == CARD)
    page.remove.click()
    assert state.catalog.gpu_by_id[CARD] == load_base().gpu_by_id[CARD]


def test_a_card_of_ones_own_needs_a_name(page: CatalogPage, state: AppState) -> None:
    page.kinds[0].view.choose(lambda record: record.row.id == CARD)
    dialog = page.correct(copy=True)
    assert dialog is not None
    held(dialog)
    dialog.accept()
    assert dialog.problem.isVisibleTo(dialog)
    editor = dialog.form.rows["name"].editor
    assert isinstance(editor, TextEdit)
    editor.setText("RTX 4090 Extra")
    dialog.accept()
    assert state.catalog.gpu_by_id["user.rtx-4090-extra"].name == "RTX 4090 Extra"
    assert state.catalog.gpu_by_id[CARD] == load_base().gpu_by_id[CARD]
    assert state.catalog.gpu_aliases["rtx 4090 extra"] == ("user.rtx-4090-extra",)
    gone(dialog)


def test_prices_over_time_as_a_chart_and_in_words(page: CatalogPage, qtbot: QtBot) -> None:
    page.kinds[0].view.choose(lambda record: record.row.id == "nvidia-h100-sxm-80gb")
    dialog = page.show_prices()
    assert dialog is not None
    held(dialog)
    qtbot.waitUntil(lambda: not dialog.chart.image.isNull(), timeout=20_000)
    assert "H100" in dialog.chart.accessibleDescription()
    dialog.done(0)
    gone(dialog)


def test_rows_go_out_as_table_and_pack(page: CatalogPage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "cards.csv"
    monkeypatch.setattr(dialogs, "ask_save", lambda *_arguments: file)
    page.export_table()
    assert file.read_bytes().startswith(b"\xef\xbb\xbfid,")
    said: list[str] = []
    monkeypatch.setattr(dialogs, "show_error", lambda _parent, language, error: said.append(error.code))
    page.export_pack()
    assert said == ["pack.nothing"]
