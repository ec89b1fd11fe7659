"""The results page: cards, one choice for all tabs, empty answers, two languages, names for every control."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import results_sample as sample
from pages_at_hand import give, nameless
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QAbstractButton, QLabel, QPushButton, QWidget
from pytestqt.qtbot import QtBot

from engine.advice.result import PickRole
from engine.errors import WorldError
from gui import dialogs
from gui.charts.canvas import ChartView
from gui.results.cards import ApiCard, PickCard
from gui.results.page import ResultsPage
from gui.state import AppState

Opened = Callable[[type[ResultsPage]], ResultsPage]


def named(page: QWidget, kind: type[Any], name: str) -> Any:
    found = page.findChild(kind, name)
    assert found is not None, name
    return found


def texts(page: QWidget) -> list[str]:
    shown = [w.text() for w in page.findChildren(QLabel) if w.isVisibleTo(page)]
    return [t for t in (*shown, *(b.text() for b in page.findChildren(QAbstractButton))) if t]


def test_nothing_yet_leads_to_the_questions(qtbot: QtBot, state: AppState, opened: Opened) -> None:
    page = opened(ResultsPage)
    assert "No results yet" in texts(page)
    with qtbot.waitSignal(page.edit_requested):
        qtbot.mouseClick(named(page, QPushButton, "results.edit"), Qt.MouseButton.LeftButton)


def test_picks_show_what_decides(state: AppState, opened: Opened) -> None:
    page = opened(ResultsPage)
    give(state, sample.advice())
    cards = [c for c in page.top.cards if isinstance(c, PickCard)]
    assert len(cards) == 3
    said = cards[0].accessibleName()
    for part in (
        "Cheapest that works",
        "A800",
        "校级算力平台",
        "Fits",
        "8.3 GiB to spare per GPU",
        "¥900",
        "¥120",
        "9 days",
    ):
        assert part in said
    assert "Costs ¥300 less" in said
    assert any(isinstance(c, ApiCard) for c in page.top.cards)


def test_the_two_figures_of_money_are_explained_for_the_chosen_plan(
    qtbot: QtBot, state: AppState, opened: Opened
) -> None:
    page = opened(ResultsPage)
    give(state, sample.advice())
    card = next(c for c in page.top.cards if isinstance(c, PickCard))
    assert "Includes ¥180 for your own hours of setting up: no cash" in card.accessibleName()
    hints = " ".join(w.toolTip() for w in card.findChildren(QLabel))
    assert "which no one bills you" in hints
    money = named(page, QLabel, "compare.money")
    assert "(¥180)" in money.toolTip()
    other = next(c for c in page.top.cards if isinstance(c, PickCard) and c is not card)
    page.selection.choose(other.assessment.plan.id)
    assert "(¥180)" not in money.toolTip()


def test_one_plan_with_two_roles_is_one_card(state: AppState, opened: Opened) -> None:
    advice = sample.advice()
    picks = (advice.picks[0], advice.picks[0].model_copy(update={"role": PickRole.LEAST_RISK}))
    page = opened(ResultsPage)
    give(state, advice.model_copy(update={"picks": picks}))
    cards = [c for c in page.top.cards if isinstance(c, PickCard)]
    assert len(cards) == 1
    assert "Cheapest that works" in cards[0].accessibleName() and "Least risk" in cards[0].accessibleName()


def test_a_choice_anywhere_shows_everywhere(qtbot: QtBot, state: AppState, opened: Opened) -> None:
    page = opened(ResultsPage)
    give(state, sample.advice())
    assert page.selection.assessment is not None and page.selection.assessment.plan.id == "shared-a800"
    card = named(page, PickCard, "pick.least_risk")
    card.setFocus()
    qtbot.keyClick(card, Qt.Key.Key_Return)
    assert page.selection.assessment.plan.id == "rent-h100"
    assert page.compare.view.current_row().assessment.plan.id == "rent-h100"
    assert "H100" in page.chosen_note.text()
    assert card.property("look") == "card-accent"
    assert page.details.model.rowCount() == 0, "what is out of sight is not made"
    page.tabs.setCurrentWidget(page.details)
    top = page.details.model.index(0, 1).data()
    assert top == "30.20 GiB"
    page.tabs.setCurrentWidget(page.compare)
    page.compare.view.setFocus()
    qtbot.keyClick(page.compare.view, Qt.Key.Key_Down)
    assert page.selection.assessment.plan.id == "buy-unknown"
    page.tabs.setCurrentWidget(page.details)
    assert page.details.model.index(0, 1).data() == "52.00 GiB"
    assert page.memory.views[0][0].chart is not None


def test_the_choice_survives_a_new_answer(state: AppState, opened: Opened) -> None:
    page = opened(ResultsPage)
    give(state, sample.advice())
    page.selection.choose("rent-a100")
    give(state, sample.advice("USD"))
    assert page.selection.assessment is not None and page.selection.assessment.plan.id == "rent-a100"
    gone = sample.advice().model_copy(update={"ranked": sample.advice().ranked[:1], "picks": ()})
    give(state, gone)
    assert page.selection.assessment is not None and page.selection.assessment.plan.id == "shared-a800"


def test_nothing_fits_says_why_and_what_to_change(qtbot: QtBot, state: AppState, opened: Opened) -> None:
    page = opened(ResultsPage)
    give(state, sample.empty_advice())
    qtbot.waitUntil(lambda: "No plan meets all your limits" in texts(page), timeout=5_000)
    assert any("Only 1.0 GiB stay free." in t for t in texts(page))
    assert page.tabs.currentWidget() is page.why_not
    with qtbot.waitSignal(page.edit_requested):
        qtbot.mouseClick(named(page, QPushButton, "results.change"), Qt.MouseButton.LeftButton)
    give(state, sample.advice())
    assert not page.nothing.isVisibleTo(page)


def test_edits_mark_the_results_as_outdated_until_the_new_ones_come(state: AppState, opened: Opened) -> None:
    page = opened(ResultsPage)
    give(state, sample.advice())
    assert not page.banner.isVisibleTo(page)
    state.edit(notes="changed")
    assert page.banner.isVisibleTo(page)
    assert page.selection.advice is not None  # what was there stays in sight
    give(state, sample.advice())
    assert not page.banner.isVisibleTo(page)


def test_filters_work_together(qtbot: QtBot, state: AppState, opened: Opened) -> None:
    page = opened(ResultsPage)
    give(state, sample.advice())
    compare = page.compare
    compare.verdict.set_value("fits")
    compare.verdict.edited.emit("fits")
    assert compare.proxy.rowCount() == 2
    qtbot.keyClicks(compare.search, "lambda")
    assert compare.proxy.rowCount() == 1
    assert "1" in compare.count.text()
    qtbot.keyClick(compare.search, Qt.Key.Key_Escape)
    assert compare.search.text() == "" and compare.proxy.rowCount() == 2


def test_copying(qtbot: QtBot, state: AppState, opened: Opened) -> None:
    page = opened(ResultsPage)
    give(state, sample.advice())
    qtbot.mouseClick(named(page, QPushButton, "compare.copy"), Qt.MouseButton.LeftButton)
    assert QGuiApplication.clipboard().text().count("\n") == 4
    page.tabs.setCurrentWidget(page.details)
    page.details.tree.setCurrentIndex(page.details.model.index(0, 0))
    page.details.copy_line.trigger()
    assert QGuiApplication.clipboard().text().startswith("Memory per GPU at the peak\t71.00 GiB")


@pytest.mark.parametrize("kind", ["csv", "xlsx", "json"])
def test_export_writes_the_file_off_the_window(
    qtbot: QtBot, state: AppState, opened: Opened, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, kind: str
) -> None:
    page = opened(ResultsPage)
    give(state, sample.advice())
    monkeypatch.setattr(dialogs, "ask_save", lambda *_args: tmp_path / f"out.{kind}")
    told: list[str] = []
    monkeypatch.setattr(dialogs, "show_message", lambda _parent, _title, text, **_more: told.append(text))
    with qtbot.waitSignal(page.exporter.saved, timeout=20_000):
        page.exporter.export_table(kind, sample.advice())
    assert (tmp_path / f"out.{kind}").stat().st_size > 200
    assert str(tmp_path) in told[0]


def test_a_disk_that_refuses_is_told(
    qtbot: QtBot, state: AppState, opened: Opened, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    page = opened(ResultsPage)
    folder = tmp_path / "taken.csv"
    folder.mkdir()
    monkeypatch.setattr(dialogs, "ask_save", lambda *_args: folder)  # a folder can't be a file
    told: list[str] = []
    monkeypatch.setattr(dialogs, "show_error", lambda _parent, _language, error: told.append(error.code))
    with qtbot.waitSignal(page.exporter.failed, timeout=20_000) as caught:
        page.exporter.save(lambda _control: b"x", "name", "csv")
    assert isinstance(caught.args[0], WorldError) and told == [caught.args[0].code]


def test_charts_are_drawn_when_seen_and_said_in_words(qtbot: QtBot, state: AppState, opened: Opened) -> None:
    page = opened(ResultsPage)
    give(state, sample.advice())
    view: ChartView = page.memory.views[0][0]
    assert view.image.isNull()  # nobody looked yet
    with qtbot.waitSignal(view.drawn, timeout=60_000):
        page.tabs.setCurrentWidget(page.memory)
    assert view.image.width() >= 400
    assert "A800" in view.accessibleDescription() and "71.0 GiB" in view.accessibleDescription()
    wide = view.image.width()
    with qtbot.waitSignal(view.drawn, timeout=60_000):
        page.resize(900, 720)
    assert view.image.width() < wide
    view.copy_image()
    assert not QGuiApplication.clipboard().image().isNull()
    make = view.file_bytes("svg")
    assert make is not None


def test_a_newer_choice_calls_off_the_older_chart(qtbot: QtBot, state: AppState, opened: Opened) -> None:
    page = opened(ResultsPage)
    give(state, sample.advice())
    page.tabs.setCurrentWidget(page.memory)
    view = page.memory.views[0][0]
    for plan in ("rent-a100", "rent-h100", "buy-unknown"):
        page.selection.choose(plan)
    with qtbot.waitSignal(view.drawn, timeout=60_000):
        pass
    assert view.accessibleDescription().split(":")[0].count("Ascend") == 1  # the last choice stands first


def test_every_word_is_translated(state: AppState, opened: Opened) -> None:
    page = opened(ResultsPage)
    give(state, sample.advice(tasks=2))
    english = set(texts(page))
    state.set_language("zh_CN")
    chinese = set(texts(page))
    names = ("RunPod", "A100", "A800", "H100", "Ascend", "Together", "Assistant", "Lambda", "arXiv")
    names += ("Costs", "The same", "Only", "A note", "An advice")  # the sample's own sentences
    same = {t for t in english & chinese if re.search("[A-Za-z]{2,}", t) and not any(n in t for n in names)}
    assert not same
    assert page.tabs.tabText(0) == "比较"
    state.set_language("en")
    assert page.tabs.tabText(0) == "Compare"


def test_every_control_that_takes_the_focus_has_a_name(state: AppState, opened: Opened) -> None:
    page = opened(ResultsPage)
    give(state, sample.advice())
    assert not nameless(page)


@pytest.mark.parametrize(("width", "height"), [(1024, 640), (1280, 760), (760, 520)])
def test_cards_stay_inside_and_leave_room_for_the_tabs(
    qtbot: QtBot, state: AppState, opened: Opened, width: int, height: int
) -> None:
    page = opened(ResultsPage)
    give(state, sample.advice())
    page.resize(width, height)
    qtbot.waitUntil(lambda: page.top.height() <= max(height, 540) // 2 + 1, timeout=5_000)
    for card in page.top.cards:
        right = card.mapTo(page.top.widget(), QPoint(card.width(), 0)).x()
        assert right <= page.top.viewport().width() + 1
    assert page.tabs.height() >= 180
    for number in range(page.tabs.count()):  # no view squeezes the cards, however long it is
        page.tabs.setCurrentIndex(number)
        qtbot.waitUntil(lambda: page.top.height() >= min(page.top.sizeHint().height(), 120), timeout=5_000)
