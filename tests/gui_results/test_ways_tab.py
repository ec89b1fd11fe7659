"""The tab that holds buying, renting and the other ways against each other."""

from __future__ import annotations

from collections.abc import Callable
from importlib.resources import files

import pytest
from pages_at_hand import give, nameless

from engine.advice.advise import advise
from engine.advice.result import Advice
from engine.hardware.model import CatalogSnapshot
from engine.i18n import LANGUAGES
from engine.report.ways_words import summary_words
from engine.scenario import CostTerms, Scenario
from gui.draft import Draft
from gui.results.page import ResultsPage
from gui.results.terms_dialog import TermsDialog
from gui.results.ways_tab import COLUMNS
from gui.state import AppState

Opened = Callable[[type[ResultsPage]], ResultsPage]


@pytest.fixture(scope="module")
def answered() -> Advice:
    from engine.catalog.load import load_catalog

    text = (files("resources") / "examples" / "serve-70b-50-users.json").read_text(encoding="utf-8")
    return advise(Scenario.model_validate_json(text), load_catalog(with_user_rows=False))


@pytest.mark.parametrize("code", LANGUAGES)
def test_all_ways_are_listed_the_cheapest_first(state: AppState, opened: Opened, answered: Advice, code: str) -> None:
    assert answered.ways is not None
    state.set_language(code)  # type: ignore[arg-type]
    page = opened(ResultsPage)
    give(state, answered)
    page.tabs.setCurrentWidget(page.ways)
    rows = page.ways.model.rows
    assert {r.way.way for r in rows} == {w.way for w in answered.ways.ways}
    assert rows[0].way.way == answered.ways.cheapest
    for column in COLUMNS:
        assert all("{" not in column.shown(r, state.language) for r in rows)
    shown = [page.ways.said.itemAt(i).widget().text() for i in range(page.ways.said.count())]  # type: ignore[union-attr]
    assert [t for t in summary_words(answered.ways, state.language) if not any(t in s for s in shown)] == []
    assert page.ways.lines.text()
    assert nameless(page.ways) == []


def test_a_new_answer_without_plans_leaves_nothing_behind(state: AppState, opened: Opened, answered: Advice) -> None:
    page = opened(ResultsPage)
    give(state, answered)
    give(state, answered.model_copy(update={"ways": None, "ranked": (), "picks": ()}))
    assert page.ways.model.rows == () and not page.ways.lines.text()


def test_terms_are_typed_checked_and_kept(state: AppState, opened: Opened, answered: Advice) -> None:
    state.set_draft(Draft.from_scenario(answered.scenario))
    dialog = TermsDialog(state)
    assert nameless(dialog) == []
    for name, value in (("tax_rate", 0.13), ("colocation_per_kw_month", 150.0), ("project_months", 30)):
        dialog.fields[name].set_value(value)
    dialog.apply()
    terms = state.draft.terms
    assert (terms.tax_rate, terms.project_months) == (0.13, 30)
    assert terms.colocation_per_kw_month is not None and terms.colocation_per_kw_month.amount == 150
    again = TermsDialog(state)
    again.fields["tax_rate"].set_value("much")
    assert again.terms() is None
    assert opened(ResultsPage).ways.terms.isEnabled()


def test_terms_of_the_file_survive_the_window(answered: Advice, bundled: CatalogSnapshot) -> None:
    terms = CostTerms(tax_rate=0.13, import_duty=0.05, project_months=30)
    economics = answered.scenario.economics.model_copy(update={"terms": terms})
    scenario = answered.scenario.model_copy(update={"economics": economics})
    found = Draft.from_scenario(scenario).to_scenario()
    assert found is not None and found.economics.terms == terms
    ways = advise(scenario, bundled).ways
    assert ways is not None and ways.months == 30
