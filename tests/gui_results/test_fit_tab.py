"""The tab "What would make it fit": asked on a worker, explained in words, applied with one click and undone."""

from __future__ import annotations

from collections.abc import Callable
from importlib.resources import files

import pytest
from pages_at_hand import give, nameless
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot

from engine.advice.advise import advise
from engine.advice.result import Advice
from engine.report.fit_words import explanation, limit_words
from engine.scenario import Scenario
from gui.draft import Draft, OwnedDraft
from gui.results.fit_tab import COLUMNS, FitTab
from gui.results.measured import MeasuredDialog
from gui.results.page import ResultsPage
from gui.state import AppState

Opened = Callable[[type[ResultsPage]], ResultsPage]


@pytest.fixture(scope="module")
def answered() -> Advice:
    from engine.catalog.load import load_catalog

    text = (files("resources") / "examples" / "qlora-8b-own-card.json").read_text(encoding="utf-8")
    return advise(Scenario.model_validate_json(text), load_catalog(with_user_rows=False))


@pytest.fixture
def tab(qtbot: QtBot, state: AppState, opened: Opened, answered: Advice) -> FitTab:
    page = opened(ResultsPage)
    state.set_draft(Draft.from_scenario(answered.scenario))
    give(state, answered)
    page.tabs.setCurrentWidget(page.fit)
    qtbot.waitUntil(lambda: page.fit.found is not None, timeout=20_000)
    return page.fit


def on_card(qtbot: QtBot, tab: FitTab, gpu_id: str, gpus: int = 1) -> None:
    tab.ask_for(gpu_id, gpus)
    qtbot.waitUntil(lambda: not tab.jobs.busy, timeout=20_000)
    assert tab.found is not None
    assert (tab.found.cluster.gpu.id, tab.found.cluster.gpus) == (gpu_id, gpus)


def test_the_chosen_plan_is_asked_about_only_when_it_is_looked_at(
    qtbot: QtBot, state: AppState, opened: Opened, answered: Advice
) -> None:
    page = opened(ResultsPage)
    give(state, answered)
    assert not page.fit.jobs.busy and page.fit.found is None
    page.tabs.setCurrentWidget(page.fit)
    qtbot.waitUntil(lambda: page.fit.found is not None, timeout=20_000)
    assert page.fit.found is not None
    assert page.fit.found.cluster == answered.ranked[answered.picks[0].index].plan.cluster
    assert not nameless(page)


def test_a_card_that_is_too_small(qtbot: QtBot, state: AppState, tab: FitTab) -> None:
    small = min((g for g in state.catalog.gpus if g.usable_bytes), key=lambda g: g.usable_bytes or 0)
    on_card(qtbot, tab, small.id)
    assert "Does not fit" in tab.status.text() and "too much per GPU" in tab.status.text()
    assert tab.proxy.rowCount() > 2 and tab.why.text()
    assert any("Longest sequence" in w.text() for w in tab.findChildren(QLabel))


def test_one_click_changes_the_task_and_undo_takes_it_back(qtbot: QtBot, state: AppState, tab: FitTab) -> None:
    before = state.draft
    row = next(r for r in tab.model.rows if r.codes == ("fit.shorter",))
    tab.view.choose(lambda r: r is row)
    tab._explain(row)  # pyright: ignore[reportPrivateUsage]
    assert tab.apply.isEnabled()
    qtbot.mouseClick(tab.apply, Qt.MouseButton.LeftButton)
    assert state.draft.tasks[0].sequence_length == row.edits[0].value
    assert state.draft.to_scenario() is not None
    state.undo()
    assert state.draft == before


def test_more_of_the_own_cards_changes_their_number(qtbot: QtBot, state: AppState, tab: FitTab) -> None:
    own = "nvidia-rtx-3060-12gb"
    state.set_draft(state.draft.changed(owned=(OwnedDraft(gpu_id=own),)))
    on_card(qtbot, tab, own)
    row = next((r for r in tab.model.rows if r.codes == ("fit.more_cards",)), None)
    assert row is not None
    tab.view.choose(lambda r: r is row)
    tab._explain(row)  # pyright: ignore[reportPrivateUsage]
    qtbot.mouseClick(tab.apply, Qt.MouseButton.LeftButton)
    assert state.draft.owned[0].count == row.cluster.gpus


def test_it_can_be_called_off(qtbot: QtBot, state: AppState, tab: FitTab) -> None:
    tab.ask_for(state.catalog.gpus[0].id)
    tab.cancel.click()
    assert not tab.jobs.busy and tab.status.text() == "Called off."
    assert not tab.cancel.isVisible()


def test_what_cannot_be_computed_is_said(qtbot: QtBot, tab: FitTab) -> None:
    tab.ask_for("no such card")
    qtbot.waitUntil(lambda: not tab.jobs.busy, timeout=20_000)
    assert "no card" in tab.status.text() and tab.found is None


def test_both_languages(state: AppState, tab: FitTab) -> None:
    state.set_language("zh_CN")
    assert tab.found is not None
    chinese = state.language
    for row in tab.model.rows:
        for column in COLUMNS:
            assert column.shown(row, chinese)
        assert any("\u4e00" <= c <= "\u9fff" for c in explanation(row, chinese))
    assert all(any("\u4e00" <= c <= "\u9fff" for c in limit_words(x, chinese)) for x in tab.found.limits)
    assert any("\u4e00" <= c <= "\u9fff" for c in tab.status.text())


def test_a_measurement_is_kept_shown_and_removed(qtbot: QtBot, state: AppState, tab: FitTab, answered: Advice) -> None:
    chosen = answered.ranked[answered.picks[0].index]
    dialog = MeasuredDialog(state, answered, chosen, tab)
    assert not dialog.ok.isEnabled() and not dialog.remove.isEnabled()
    qtbot.keyClicks(dialog.amount, "18.5")
    assert dialog.ok.isEnabled()
    dialog.apply(state)
    kept = state.draft.measured[0]
    assert (kept.peak_bytes, kept.kind, kept.layout) == (round(18.5 * 2**30), "driver", chosen.tasks[0].layout)
    scenario = state.draft.to_scenario()
    assert scenario is not None and scenario.measured == (kept,)
    assert Draft.from_scenario(scenario).measured == (kept,)
    advice = advise(scenario, state.catalog)
    give(state, advice)
    qtbot.waitUntil(lambda: not tab.jobs.busy, timeout=20_000)
    assert "anchored to your measurement of 18.5 GiB" in tab.status.text()
    again = MeasuredDialog(state, advice, advice.ranked[0], tab)
    assert again.amount.text() == "18.5" and again.remove.isEnabled()
    again.remove.click()
    again.apply(state)
    assert state.draft.measured == ()
    state.undo()
    assert state.draft.measured == (kept,)
    for one in (dialog, again):
        one.deleteLater()


def test_a_rate_that_was_measured_is_kept_used_and_taken_away(
    qtbot: QtBot, state: AppState, tab: FitTab, answered: Advice
) -> None:
    chosen = answered.ranked[0]
    dialog = MeasuredDialog(state, answered, chosen, tab)
    qtbot.keyClicks(dialog.rate, "500")
    assert dialog.ok.isEnabled()
    qtbot.keyClicks(dialog.amount, "x")
    assert not dialog.ok.isEnabled()
    dialog.amount.clear()
    dialog.apply(state)
    kept = state.draft.measured_speeds[0]
    cluster = chosen.plan.cluster
    assert (kept.tokens_per_second_per_gpu, kept.gpu_id, kept.gpus_per_node) == (500, cluster.gpu.id, cluster.gpus)
    assert state.draft.measured == ()
    scenario = state.draft.to_scenario()
    assert scenario is not None
    assert Draft.from_scenario(scenario).measured_speeds == (kept,)
    advice = advise(scenario, state.catalog)
    again = MeasuredDialog(state, advice, advice.ranked[0], tab)
    assert again.rate.value() == 500 and again.remove.isEnabled()
    again.remove.click()
    again.apply(state)
    assert state.draft.measured_speeds == ()
    for one in (dialog, again):
        one.deleteLater()
