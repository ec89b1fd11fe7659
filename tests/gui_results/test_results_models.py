"""The models behind the tables and the tree: Qt's own checks, order by value, filters, and sums that add up."""

from __future__ import annotations

import itertools
import re
from importlib.resources import files
from typing import Any

import pytest
import results_sample as sample
from PySide6.QtCore import QModelIndex, Qt
from pytestqt.modeltest import ModelTester

from engine.advice.advise import advise
from engine.advice.result import Advice, TaskAssessment
from engine.catalog.load import load_catalog
from engine.i18n import Language
from engine.quantity import Term
from engine.scenario import Scenario
from gui.catalog.kinds import KINDS, records
from gui.catalog.shown import details
from gui.results import columns, findings_tab, sources, why_not, words
from gui.results.charts_tab import compared
from gui.results.files import comparison_csv, file_stem
from gui.results.tree import WorkingModel
from gui.results.working import Node, amount, substituted, working
from gui.tables import ROW_ROLE, SORT_ROLE, TableModel, TableProxy, as_text

LANGUAGES = ("en", "zh_CN")


def plans(language: str = "en") -> tuple[TableModel[Any], TableProxy]:
    model: TableModel[Any] = TableModel(columns.COLUMNS, Language(language))  # type: ignore[arg-type]
    model.set_rows(columns.ranked_plans(sample.advice()))
    return model, TableProxy(model)


def number_of(key: str) -> int:
    return next(i for i, c in enumerate(columns.COLUMNS) if c.key == key)


@pytest.mark.parametrize("language", LANGUAGES)
def test_table_models_keep_qts_rules(qtmodeltester: ModelTester, language: str) -> None:
    model, proxy = plans(language)
    qtmodeltester.check(model)
    qtmodeltester.check(proxy)


def test_other_models_keep_qts_rules(qtmodeltester: ModelTester) -> None:
    advice, english = sample.advice(), Language("en")
    for columns_, rows in (
        (why_not.COLUMNS, why_not.outcomes(advice)),
        (sources.COLUMNS, sources.source_rows(advice)),
        (KINDS[2].columns, records(KINDS[2], load_catalog(with_user_rows=False))[:40]),
    ):
        model: TableModel[Any] = TableModel(columns_, english)  # type: ignore[arg-type]
        model.set_rows(rows)
        qtmodeltester.check(model)


def test_tree_model_keeps_qts_rules(qtmodeltester: ModelTester) -> None:
    advice = sample.advice(tasks=2)
    model = WorkingModel(Language("en"))
    model.set_nodes(working(advice, advice.ranked[0], Language("en")), Language("en"))
    qtmodeltester.check(model)


def test_rows_sort_by_value_and_unknown_stands_last_both_ways() -> None:
    _model, proxy = plans()
    cost = number_of("cost")
    proxy.sort(cost, Qt.SortOrder.AscendingOrder)
    values = [float(proxy.row_value(r).assessment.cost.cost_of_job.expected) for r in range(4)]
    assert values == sorted(values) == [900.0, 1200.5, 9800.0, 100000.0]  # as text, "100,000" would come first
    proxy.sort(cost, Qt.SortOrder.DescendingOrder)
    assert [float(proxy.row_value(r).assessment.cost.cost_of_job.expected) for r in range(4)] == values[::-1]
    for order in (Qt.SortOrder.AscendingOrder, Qt.SortOrder.DescendingOrder):
        proxy.sort(number_of("spare"), order)
        assert proxy.row_value(3).assessment.plan.id == "buy-unknown"


def test_cells_give_text_value_row_and_words() -> None:
    model, _proxy = plans()
    index = model.index(1, number_of("cost"))
    assert index.data() == "¥1,200"
    assert index.data(SORT_ROLE) == 1200.5
    assert index.data(ROW_ROLE).assessment.plan.id == "rent-a100"
    assert index.data(Qt.ItemDataRole.AccessibleTextRole) == "Cost of the job: ¥1,200"
    assert model.index(9, 0).data() is None


def test_filter_by_words_and_by_condition() -> None:
    _model, proxy = plans()
    proxy.set_text("rent 80gb")
    assert {proxy.row_value(r).assessment.plan.id for r in range(proxy.rowCount())} == {"rent-a100", "rent-h100"}
    proxy.set_text("LAMBDA")
    assert proxy.rowCount() == 1
    proxy.set_text("no such thing")
    assert proxy.rowCount() == 0
    proxy.set_text("")
    proxy.set_condition("way", lambda row: row.assessment.plan.way == "buy")
    assert [proxy.row_value(r).assessment.plan.id for r in range(proxy.rowCount())] == ["buy-unknown"]
    proxy.set_condition("way", None)
    assert proxy.rowCount() == 4


def test_copied_table_is_what_is_visible_in_its_order() -> None:
    model, proxy = plans()
    proxy.sort(number_of("cost"), Qt.SortOrder.DescendingOrder)
    proxy.set_text("rent")
    lines = as_text(model, proxy).splitlines()
    assert len(lines) == 3
    assert lines[0].startswith("Rank\tGPUs\t")
    assert "H100" in lines[1] and "A100" in lines[2]


def test_language_changes_words_but_not_order() -> None:
    model, proxy = plans()
    proxy.sort(number_of("verdict"), Qt.SortOrder.AscendingOrder)
    before = [proxy.row_value(r).assessment.plan.id for r in range(4)]
    model.set_language(Language("zh_CN"))
    assert [proxy.row_value(r).assessment.plan.id for r in range(4)] == before
    head = model.headerData(number_of("verdict"), Qt.Orientation.Horizontal)
    assert head == Language("zh_CN").gettext("Memory verdict") != "Memory verdict"


# the working --------------------------------------------------------------------------------------------------


def all_nodes(nodes: tuple[Node, ...]) -> list[Node]:
    return list(itertools.chain.from_iterable([n, *all_nodes(n.children)] for n in nodes))


def split(task: TaskAssessment, *, of_run: bool) -> tuple[tuple[Term, ...], float]:
    """Terms of one run, or of the whole campaign, and what they must add up to."""
    terms = tuple(t for t in task.time_terms if t.name.startswith("run.") is of_run)
    whole = task.time_to_train_seconds if of_run else task.busy_seconds
    assert whole is not None
    return terms, whole.expected


def test_every_total_opens_into_terms_that_add_up() -> None:
    """The terms shown below a total are those whose sum is the total."""
    advice, english = sample.advice(), Language("en")
    for assessment in advice.ranked:
        nodes = {n.title: n for n in working(advice, assessment, english)}
        memory = assessment.tasks[0].memory
        for title, terms, total in (
            ("Memory per GPU at the peak", memory.terms, memory.driver.expected),
            ("Cost of the job", assessment.cost.job_terms, float(assessment.cost.cost_of_job.expected)),
            ("Cash needed", assessment.cost.cash_terms, float(assessment.cost.cash_needed.expected)),
            ("One final run", *split(assessment.tasks[0], of_run=True)),
            ("All runs, with sweeps and failures", *split(assessment.tasks[0], of_run=False)),
            ("One training step", assessment.tasks[0].training.terms, 12.0),  # type: ignore[union-attr]
        ):
            shown = [n for n in nodes[title].children if n.kind == "term"]
            assert [n.expected for n in shown] == [amount(t.expected, t.unit, english) for t in terms]
            assert sum(t.expected for t in terms) == pytest.approx(total, rel=1e-9)


def test_each_term_shows_formula_values_and_source() -> None:
    advice, english = sample.advice(), Language("en")
    terms = [n for n in all_nodes(working(advice, advice.ranked[0], english)) if n.kind == "term"]
    assert terms
    for node in terms:
        assert {"formula", "values", "source"} <= {child.kind for child in node.children}


def test_values_are_put_into_the_formula_by_whole_names() -> None:
    term = Term(
        name="memory.weights",
        unit="bytes",
        low=1,
        expected=2,
        high=3,
        formula="layers * layers_dense + unknown_name",
        values={"layers": 32, "layers_dense": 2.5},
    )
    assert substituted(term, Language("en")) == "32 × 2.500 + unknown_name"


def test_several_tasks_have_a_group_each() -> None:
    advice = sample.advice(tasks=2)
    groups = [n for n in working(advice, advice.ranked[0], Language("en")) if n.kind == "group"]
    assert [g.title for g in groups] == ["Assistant 1", "Assistant 2"]
    assert words.tightest(advice.ranked[0]).task_id == "t1"  # the one with least room


@pytest.mark.parametrize("advice", [sample.advice(), sample.serving_advice(), sample.advice("USD", 2)])
@pytest.mark.parametrize("language", LANGUAGES)
def test_working_can_be_told_of_every_plan(advice: Advice, language: str) -> None:
    for assessment in advice.ranked:
        texts = [n.title for n in all_nodes(working(advice, assessment, Language(language)))]  # type: ignore[arg-type]
        assert all(texts)
        assert not any("None" in t or "{" in t for t in texts)


def test_tree_indexes_know_their_parents() -> None:
    advice = sample.advice()
    model = WorkingModel(Language("en"))
    model.set_nodes(working(advice, advice.ranked[0], Language("en")), Language("en"))

    def walk(parent: QModelIndex) -> int:
        count = 0
        for row in range(model.rowCount(parent)):
            index = model.index(row, 0, parent)
            assert model.parent(index) == parent
            count += 1 + walk(index)
        return count

    assert walk(QModelIndex()) == len(all_nodes(working(advice, advice.ranked[0], Language("en"))))


# rows of the other tabs ---------------------------------------------------------------------------------------


def test_every_card_has_its_outcome() -> None:
    advice = sample.advice()
    rows = why_not.outcomes(advice)
    assert [r.place for r in rows[:4]] == [1, 2, 3, 4]
    assert {r.name for r in rows} >= {r.label for r in advice.rejected}
    model: TableModel[Any] = TableModel(why_not.COLUMNS, Language("en"))
    model.set_rows(rows)
    proxy = TableProxy(model)
    proxy.set_text("4090")
    assert proxy.rowCount() == 1
    assert "47.0 GiB" in proxy.index(0, 3).data()


def test_sources_name_each_price_once_with_its_age() -> None:
    rows = sources.source_rows(sample.advice())
    assert len({(type(r.row), r.row.id) for r in rows}) == len(rows) == 8
    rented = next(r for r in rows if getattr(r.row, "provider", "") == "RunPod")
    assert rented.days == 40 and rented.plans == 1


def test_findings_come_once_and_the_gravest_first() -> None:
    advice = sample.advice()
    found = findings_tab.collected(advice, advice.ranked[0])
    assert [f.severity.value for f, _plan in found] == ["serious", "warning", "advice", "info"]
    assert [of_plan for _f, of_plan in found] == [False, True, False, False]
    double = advice.model_copy(update={"findings": advice.findings * 2})
    assert len(findings_tab.collected(double, None)) == 3


def test_charts_compare_the_chosen_plan_with_the_picks() -> None:
    advice = sample.advice()
    shown = compared(advice, advice.ranked[3])
    assert shown[0].plan.id == "buy-unknown"
    assert {a.plan.id for a in shown} == {a.plan.id for a in advice.ranked}


def test_csv_has_every_plan_and_no_formula() -> None:
    text = comparison_csv(sample.advice(), Language("zh_CN")).decode("utf-8-sig")
    assert len(text.splitlines()) == 5
    assert "校级算力平台" in text
    evil = sample.advice()
    offer = evil.ranked[0].plan.offer
    assert offer is not None
    plan = evil.ranked[0].plan.model_copy(update={"offer": offer.model_copy(update={"provider": "=cmd()"})})
    evil = evil.model_copy(update={"ranked": (evil.ranked[0].model_copy(update={"plan": plan}), *evil.ranked[1:])})
    cells = comparison_csv(evil, Language("en")).decode("utf-8-sig").splitlines()[1].split(",")
    assert not any(cell.startswith(("=", "+", "@")) for cell in cells)


def test_file_names_are_safe() -> None:
    advice = sample.advice()
    strange = advice.model_copy(update={"scenario": advice.scenario.model_copy(update={"name": "../a/b: 微调?"})})
    assert file_stem(strange, "memo") == "a-b-微调-memo"


def test_catalogue_rows_show_units_and_say_unknown() -> None:
    catalog, english = load_catalog(with_user_rows=False), Language("en")
    gpu = catalog.gpu_by_id["nvidia-h100-sxm-80gb"]
    shown = dict(details(gpu, english, {}))
    assert shown["BF16, dense"] == "989 TFLOPS"
    assert shown["Memory bandwidth"] == "3,350 GB/s"
    assert "FP4, dense" not in shown  # not known, so not said
    rows = records(KINDS[0], catalog)
    column = next(c for c in KINDS[0].columns if c.key == "fp8_flops")
    unknown = next(r for r in rows if r.row.fp8_flops is None)
    assert column.value(unknown) is None and column.shown(unknown, english) == "–"


def test_no_members_only_rate_is_offered() -> None:
    catalog = load_catalog(with_user_rows=False)
    offers = next(k for k in KINDS if k.key == "offers")
    assert any(o.members_only for o in catalog.offers)
    assert not any(r.row.members_only for r in records(offers, catalog))


@pytest.mark.parametrize("name", ["qlora-8b-own-card", "serve-70b-50-users", "cn-university-campus-cluster"])
def test_totals_of_real_answers_add_up_in_both_languages(name: str) -> None:
    """What the engine really answers: each total shown is the sum of the terms shown below it."""
    content = (files("resources") / "examples" / f"{name}.json").read_text(encoding="utf-8")
    advice = advise(Scenario.model_validate_json(content), load_catalog(with_user_rows=False))
    for assessment in advice.ranked[:5]:
        for task in assessment.tasks:
            assert sum(t.expected for t in task.memory.terms) == pytest.approx(task.memory.driver.expected)
            for of_run in (True, False) if task.time_to_train_seconds is not None else (False,):
                terms, whole = split(task, of_run=of_run)
                assert sum(t.expected for t in terms) == pytest.approx(whole)
            speed = task.training.step_seconds if task.training else task.inference.time_per_output_token_seconds  # type: ignore[union-attr]
            shown = (task.training or task.inference).terms  # type: ignore[union-attr]
            assert sum(t.expected for t in shown) == pytest.approx(speed.expected)
        for node in all_nodes(working(advice, assessment, Language("zh_CN"))):
            known = node.kind in ("formula", "values", "source", "group")
            assert known or re.search("[\u4e00-\u9fff]", node.title), node.title
