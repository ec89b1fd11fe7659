"""All that a draft states, in words, with what was left at its default marked. No Qt."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from engine.hardware.model import CatalogSnapshot
from engine.i18n import Language
from engine.layout.model import Method
from engine.messages.mark import N_
from engine.quantity import Money
from gui.draft import Draft, MoneyDraft, TaskDraft
from gui.problems import Page, Problem
from gui.widgets.numbers import editable_number, read_amount
from gui.widgets.words import Text, say
from gui.wizard import choices
from gui.wizard.choices import goal_of
from gui.wizard.flow import Step

__all__ = ["Section", "Stated", "problem_line", "summary"]

#: How a value is shown.
Shown: TypeAlias = Callable[[Any, Language], str]


@dataclass(frozen=True)
class Stated:
    """One line: what it is, what is stated, and whether that is the default."""

    field: str
    caption: str
    value: str
    default: bool


@dataclass(frozen=True)
class Section:
    """What one step states; `step` leads back to it."""

    step: Step
    title: str
    rows: tuple[Stated, ...]


def _number(unit: str = "") -> Shown:
    def shown(value: Any, language: Language) -> str:
        text = editable_number(value, language)
        return f"{text} {language.gettext(unit)}" if unit and text else text

    return shown


def _percent(value: Any, language: Language) -> str:
    return (
        f"{editable_number(round(value * 100, 6), language)}%" if isinstance(value, int | float) else str(value or "")
    )


def _money(value: MoneyDraft, language: Language) -> str:
    amount = read_amount(value.amount or "")
    return language.money(Money(amount=amount, currency=value.currency)) if amount is not None else value.amount or ""


def _yes_no(value: bool, language: Language) -> str:
    return language.gettext("Yes") if value else language.gettext("No")


def _one_of(offered: Sequence[tuple[Any, Text]]) -> Shown:
    words = dict(offered)

    def shown(value: Any, language: Language) -> str:
        return say(language, words[value]) if value in words else str(value or "")

    return shown


def _ways(value: tuple[str, ...], language: Language) -> str:
    words = dict(choices.WAYS)
    separator = "、" if language.chinese else ", "
    return separator.join(say(language, words[way]) for way in value if way in words)


def _text(value: Any, language: Language) -> str:
    return str(value or "")


_METHOD_WORDS: dict[str, str] = {
    **{key: text for key, text in (*choices.METHODS, *choices.PREFERENCE_METHODS) if isinstance(text, str)},
    Method.CONTINUED.value: N_("Continued pre-training"),
    Method.PRETRAIN.value: N_("Pre-training"),
    Method.INFERENCE.value: N_("Inference"),
}

_Field: TypeAlias = tuple[str, str, Shown]

_TRAINING: tuple[_Field, ...] = (
    ("tokens", N_("Tokens in the data set"), _number()),
    ("examples", N_("Number of examples"), _number()),
    ("tokens_per_example", N_("Tokens per example"), _number()),
    ("source_file", N_("Counted file"), _text),
    ("epochs", N_("Passes over the data (epochs)"), _number()),
    ("sequence_length", N_("Sequence length"), _number(N_("tokens"))),
    ("global_batch_size", N_("Batch size"), _number()),
    ("packed", N_("Examples packed"), _yes_no),
    ("final_runs", N_("Final runs"), _number()),
    ("sweep_runs", N_("Trial runs before"), _number()),
    ("sweep_fraction", N_("Length of a trial run"), _percent),
    ("failed_fraction", N_("Time lost to failed runs"), _percent),
    ("adapters", N_("Small adapters"), _yes_no),
    ("lora_rank", N_("Adapter rank"), _number()),
    ("lora_targets", N_("Layers with adapters"), _one_of(choices.LORA_TARGETS)),
    ("weight_quantization", N_("Format of the frozen base"), _one_of(choices.BASE_FORMATS)),
    ("virtual_tokens", N_("Virtual tokens"), _number()),
    ("regime", N_("Number format of weights and gradients"), _one_of(choices.REGIMES)),
    ("optimizer", N_("Optimizer"), _one_of(choices.OPTIMIZERS)),
    ("recomputation", N_("Recompute activations"), _one_of(choices.RECOMPUTATIONS)),
    ("loss", N_("Loss computation"), _one_of(choices.LOSSES)),
    ("attention", N_("Attention"), _one_of(choices.ATTENTIONS)),
    ("offload", N_("Move parts to host memory"), _one_of(choices.OFFLOADS)),
    ("micro_batch_size", N_("Micro-batch"), _number()),
    ("framework", N_("Framework"), _one_of(choices.FRAMEWORKS)),
    ("checkpoints_kept", N_("Checkpoints kept"), _number()),
)

_SERVING: tuple[_Field, ...] = (
    ("concurrent_users", N_("Users at the same moment"), _number()),
    ("requests_per_day", N_("Requests a day"), _number()),
    ("prompt_tokens", N_("Tokens in a question"), _number()),
    ("output_tokens", N_("Tokens in an answer"), _number()),
    ("months", N_("The service runs for"), _number(N_("months"))),
    ("tokens_per_second_per_user", N_("Speed for each user"), _number(N_("tokens per second"))),
    ("first_token_seconds", N_("Wait for the first word"), _number(N_("seconds"))),
    ("serving_quantization", N_("Format of the weights"), _one_of(choices.SERVING_FORMATS)),
    ("kv_cache_bits", N_("Format of the KV cache"), _one_of(choices.KV_BITS)),
    ("engine", N_("Server software"), _one_of(choices.ENGINES)),
)

_CONSTRAINTS: tuple[_Field, ...] = (
    ("budget", N_("Budget"), _money),
    ("deadline_days", N_("Deadline"), _number(N_("days from now"))),
    ("ways", N_("Ways to get hardware"), _ways),
    ("region", N_("Region"), _one_of(choices.REGIONS)),
    ("data_may_leave", N_("Data may leave the building"), _yes_no),
    ("api_allowed", N_("API allowed"), _yes_no),
    ("export_controlled_allowed", N_("Export-controlled cards allowed"), _yes_no),
    ("allow_spot", N_("Spot machines acceptable"), _yes_no),
    ("server_room", N_("Server room"), _yes_no),
    ("host_available", N_("Computer with free slots"), _yes_no),
    ("max_gpus", N_("At most"), _number(N_("cards"))),
    ("headroom", N_("Free memory to keep"), _percent),
)

_ECONOMICS: tuple[_Field, ...] = (
    ("currency", N_("Currency of the answer"), _text),
    ("hours_per_month", N_("Hours of use a month"), _number(N_("hours"))),
    ("years", N_("Years of use"), _number(N_("years"))),
    ("electricity_per_kwh", N_("Electricity, per kWh"), _money),
    ("engineer_hour", N_("An engineer's hour"), _money),
    ("pue", N_("Overhead of the building (PUE)"), _number()),
    ("discount_rate", N_("Discount rate"), _percent),
)

_CAPTIONS: dict[str, str] = {
    **{name: caption for fields in (_TRAINING, _SERVING, _CONSTRAINTS, _ECONOMICS) for name, caption, _ in fields},
    "parameters_billion": N_("Parameters"),
    "owned": N_("Cards that are there already"),
    "as_of": N_("Prices as of"),
}

#: What stands where nothing is stated.
_EMPTY: dict[str, str] = {
    "budget": N_("no limit"),
    "deadline_days": N_("none"),
    "electricity_per_kwh": N_("usual in the region"),
    "engineer_hour": N_("usual in the region"),
    "pue": N_("usual in the region"),
    "micro_batch_size": N_("Let the advisor choose"),
}


def summary(draft: Draft, catalog: CatalogSnapshot, language: Language) -> tuple[Section, ...]:
    """All sections in the order of the steps."""
    sections: list[Section] = []
    for index, task in enumerate(draft.tasks):
        sections.extend(_task_sections(task, index, catalog, language))
    fresh = Draft()
    limits = [*_rows(draft, fresh, _CONSTRAINTS, language), *_card_rows(draft, catalog, language)]
    sections.append(Section(Step(Page.CONSTRAINTS), language.gettext("Limits"), tuple(limits)))
    economics = tuple(_rows(draft, fresh, _ECONOMICS, language))
    sections.append(Section(Step(Page.ECONOMICS), language.gettext("Costs"), economics))
    return tuple(sections)


def problem_line(problem: Problem, language: Language) -> str:
    """A problem with the name of its field, where the words alone don't tell."""
    words = problem.words(language)
    caption = _CAPTIONS.get(problem.field, "")
    if not caption or problem.code.startswith("draft."):
        return words
    return language.fill("{field}: {problem}", field=language.gettext(caption), problem=words)


def _task_sections(task: TaskDraft, index: int, catalog: CatalogSnapshot, language: Language) -> list[Section]:
    name = task.name or language.fill("Task {number:int}", number=index + 1)
    goal = goal_of(task)
    method = language.gettext(_METHOD_WORDS.get(task.method or "", "")) or (task.method or "")
    what = [
        Stated("goal", language.gettext("Task"), language.gettext(goal.title) if goal else "", default=False),
        Stated("method", language.gettext("Method"), method, default=False),
    ]
    model = Stated("model", language.gettext("Model"), _model(task, catalog, language), default=False)
    fields = _SERVING if task.is_inference else _relevant(task)
    return [
        Section(Step(Page.TASK), name, tuple(what)),
        Section(Step(Page.MODEL, index), language.fill("{name}: model", name=name), (model,)),
        Section(
            Step(Page.DATA, index),
            language.fill("{name}: load", name=name) if task.is_inference else language.fill("{name}: data", name=name),
            tuple(_rows(task, TaskDraft(id=""), fields, language)),
        ),
    ]


def _relevant(task: TaskDraft) -> list[_Field]:
    """The training fields that matter for this task."""
    adapters = task.method in ("lora", "qlora", "dora") or (task.method == "dpo" and task.adapters)
    hidden = {"examples", "tokens_per_example"} if task.data_source == "tokens" else {"tokens"}
    if task.data_source != "file":
        hidden.add("source_file")
    if task.method != "dpo":
        hidden.add("adapters")
    if not adapters:
        hidden |= {"lora_rank", "lora_targets"}
    if task.method != "qlora":
        hidden.add("weight_quantization")
    if task.method != "prompt":
        hidden.add("virtual_tokens")
    return [f for f in _TRAINING if f[0] not in hidden]


def _model(task: TaskDraft, catalog: CatalogSnapshot, language: Language) -> str:
    if task.model_source == "catalog":
        known = catalog.model_by_id.get(task.catalog_id or "")
        return known.name if known else task.catalog_id or ""
    if task.model_source == "config":
        return task.architecture.name if task.architecture else ""
    size = editable_number(task.parameters_billion, language)
    return language.fill("a model of {size} billion parameters (dimensions assumed)", size=size) if size else ""


def _rows(values: Any, fresh: Any, fields: Sequence[_Field], language: Language) -> list[Stated]:
    rows: list[Stated] = []
    for name, caption, shown in fields:
        value = getattr(values, name)
        text = shown(value, language)
        default = value == getattr(fresh, name) or (isinstance(value, MoneyDraft) and not value.amount)
        if not text and name in _EMPTY:
            text = language.gettext(_EMPTY[name])
        rows.append(Stated(name, language.gettext(caption), text, default))
    return rows


def _card_rows(draft: Draft, catalog: CatalogSnapshot, language: Language) -> list[Stated]:
    def name(gpu_id: str) -> str:
        gpu = catalog.gpu_by_id.get(gpu_id)
        return f"{gpu.vendor} {gpu.name}" if gpu else gpu_id

    separator = "、" if language.chinese else ", "
    owned = separator.join(f"{editable_number(o.count, language)} × {name(o.gpu_id)}" for o in draft.owned)
    out, only = separator.join(map(name, draft.exclude_gpus)), separator.join(map(name, draft.include_gpus))
    lists = (
        ("owned", language.gettext("Cards that are there already"), owned),
        ("exclude_gpus", language.gettext("Cards that are out of the question"), out),
        ("include_gpus", language.gettext("Only these cards"), only),
    )
    return [Stated(field, caption, text, default=False) for field, caption, text in lists if text]
