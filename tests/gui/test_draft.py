"""The draft keeps what was typed, and becomes a scenario only when the engine accepts it."""

from __future__ import annotations

from datetime import date
from importlib.resources import files

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.examples import EXAMPLES, example_content
from engine.i18n import Language
from engine.inputs import parse_scenario
from engine.scenario import Scenario
from gui.draft import Draft, MoneyDraft
from gui.history import History
from gui.problems import PAGE_OF_FIELD, Page
from gui.wizard.flow import Step, first_step, next_step, previous_step, step_of, steps


def usable() -> Draft:
    """A small complete draft."""
    return Draft.new(today=date(2026, 12, 1)).with_task(
        0, method="lora", model_source="size", parameters_billion=8, examples=1000, tokens_per_example=500
    )


@pytest.mark.parametrize("name", [e.name for e in EXAMPLES])
def test_an_example_survives_the_way_into_a_draft_and_back(name: str) -> None:
    content = (files("resources") / "examples" / f"{name}.json").read_bytes()
    scenario = parse_scenario(content, file=name)
    assert Draft.from_scenario(scenario).to_scenario() == scenario


@pytest.mark.parametrize("code", ["en", "zh_CN"])
@pytest.mark.parametrize("name", [e.name for e in EXAMPLES])
def test_examples_speak_the_windows_language(name: str, code: str) -> None:
    language = Language("en" if code == "en" else "zh_CN")
    scenario = parse_scenario(example_content(name, language), file=name)
    shown = [scenario.name, scenario.notes, *(t.name for t in scenario.tasks), *(t.project for t in scenario.tasks)]
    shown += [o.provider for o in scenario.offers]
    chinese = [any("\u4e00" <= c <= "\u9fff" for c in text) for text in shown if text]
    names = [text for text in shown if text and text.startswith(("LoRA", "QLoRA"))]
    assert sum(chinese) == (0 if code == "en" else len(chinese) - len(names))


def test_a_draft_survives_its_own_file() -> None:
    draft = usable().with_task(0, examples="about a thousand").changed(budget=MoneyDraft(amount="12.5", currency="CNY"))
    assert Draft.model_validate_json(draft.model_dump_json()) == draft


def test_an_empty_draft_says_what_is_missing_in_the_order_of_the_pages() -> None:
    assert [p.page for p in Draft.new().problems()][:2] == [Page.TASK, Page.MODEL]
    assert Draft.new().to_scenario() is None


@pytest.mark.parametrize(
    ("field", "value", "code"),
    [
        ("examples", "many", "input.not_a_number"),
        ("examples", -1, "input.greater_than"),
        ("epochs", 0, "input.greater_than"),
        ("lora_rank", 3.5, "input.not_whole"),
        ("sweep_fraction", 1.5, "input.at_most"),
        ("failed_fraction", 1, "input.less_than"),
    ],
)
def test_a_bad_value_is_found_by_the_engine_and_placed_at_its_field(field: str, value: object, code: str) -> None:
    problems = usable().with_task(0, **{field: value}).problems()
    assert [(p.page, p.task, p.field, p.code) for p in problems] == [(PAGE_OF_FIELD[field], 0, field, code)]
    assert "{" not in problems[0].words(Language("en"))
    assert problems[0].words(Language("zh_CN")) != problems[0].words(Language("en"))


def test_bad_money_and_dates_are_placed_too() -> None:
    draft = usable().changed(budget=MoneyDraft(amount="lots"), as_of="tomorrow", max_gpus=0)
    assert {p.field for p in draft.problems()} == {"budget", "as_of", "max_gpus"}


def test_changing_ones_mind_about_the_task_loses_nothing() -> None:
    there = usable().with_task(0, method="inference", concurrent_users=7)
    back = there.with_task(0, method="lora")
    assert back.to_scenario() == usable().to_scenario()
    assert back.with_task(0, method="inference") == there


@given(
    examples=st.integers(1, 10**9),
    epochs=st.floats(0.1, 50),
    users=st.integers(1, 10**5),
    method=st.sampled_from(["lora", "qlora", "full", "dpo", "continued", "inference"]),
    ways=st.sets(st.sampled_from(["buy", "rent", "shared", "owned"])),
)
@settings(max_examples=40, deadline=None)
def test_every_usable_draft_comes_back_from_its_scenario(
    examples: int, epochs: float, users: int, method: str, ways: set[str]
) -> None:
    draft = usable().with_task(0, method=method, examples=examples, epochs=epochs, concurrent_users=users)
    scenario = draft.changed(ways=tuple(sorted(ways))).to_scenario()
    assert isinstance(scenario, Scenario)
    assert Draft.from_scenario(scenario).to_scenario() == scenario
    assert Scenario.model_validate_json(scenario.model_dump_json()) == scenario


def test_tasks_are_added_copied_and_removed_with_ids_of_their_own() -> None:
    draft = usable().with_added_task().with_added_task(like=0)
    assert [t.id for t in draft.tasks] == ["t1", "t2", "t3"]
    assert draft.tasks[2] == draft.tasks[0].changed(id="t3")
    assert [t.id for t in draft.without_task(1).with_added_task().tasks] == ["t1", "t3", "t4"]
    assert len(usable().without_task(0).tasks) == 1


def test_steps_lead_forth_and_back_over_all_tasks() -> None:
    draft = usable().with_added_task()
    order = steps(draft)
    walked = [first_step()]
    while (following := next_step(walked[-1], draft)) is not None:
        walked.append(following)
    assert tuple(walked) == order
    assert [previous_step(s, draft) for s in order[1:]] == list(order[:-1])
    assert previous_step(order[0], draft) is None
    assert next_step(Step(Page.DATA, 7), draft) == first_step()
    assert {step_of(p) for p in draft.problems()} <= set(order)


def test_undo_takes_back_a_field_not_a_letter() -> None:
    now = [0.0]
    history = History(usable(), clock=lambda: now[0])
    for text in ("1", "12", "123"):
        history.push(history.draft.with_task(0, examples=int(text)), "examples")
        now[0] += 0.2
    now[0] += 10
    history.push(history.draft.changed(name="x"), "name")
    assert history.undo().tasks[0].examples == 123
    assert history.undo() == usable()
    assert not history.can_undo
    assert history.redo().tasks[0].examples == 123
    history.push(usable().changed(name="y"), "name")
    assert not history.can_redo


def test_steps_without_a_name_are_never_joined() -> None:
    history = History(Draft.new(), clock=lambda: 1.0)
    for name in ("a", "b"):
        history.push(history.draft.changed(name=name), "")
    assert history.undo().name == "a"
