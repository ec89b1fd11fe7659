"""The working of a plan as a tree of plain nodes: totals, their terms, and below each its formula, values and source.

No Qt and no arithmetic: the engine computed every number, this only lays them out in one language.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from engine.advice.result import Advice, Assessment, TaskAssessment
from engine.i18n import Language
from engine.quantity import Estimate, Money, MoneyEstimate, Term
from engine.report.money_words import two_figures, what_widens
from gui.results import words
from gui.results.layout_words import layout_sentences

__all__ = ["Node", "amount", "substituted", "working"]

Kind = Literal["group", "total", "term", "formula", "values", "source", "words"]
#: Terms of `time_terms` that add up to one run; the others add up to the time of everything.
RUN_TERMS = "run."
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_CURRENCY = re.compile(r"^[A-Z]{3}$")


@dataclass(frozen=True)
class Node:
    """One line of the tree: a name, its amount, its range, and what stands below it."""

    kind: Kind
    title: str
    expected: str = ""
    span: str = ""
    children: tuple[Node, ...] = ()


def amount(value: float, unit: str, language: Language) -> str:
    """An amount in the unit of its term."""
    if unit == "bytes":
        return language.gib(value, 2)
    if unit == "seconds":
        return language.duration(value)
    if unit == "1":
        return language.percent(value, 1)
    if _CURRENCY.match(unit):
        return language.money(Money.model_validate({"amount": str(value), "currency": unit}))
    if unit == "FLOP":
        return f"{language.count(value)} FLOP"
    return f"{language.number(value)} {unit}".strip()


def _span(estimate: Estimate, unit: str, language: Language) -> str:
    low, high = amount(estimate.low, unit, language), amount(estimate.high, unit, language)
    return low if low == high else f"{low} – {high}"


def _plain(value: float | int | str, language: Language) -> str:
    if isinstance(value, str):
        return language.label(value)
    if isinstance(value, float) and (abs(value) >= 1e15 or 0 < abs(value) < 1e-3):
        return f"{value:.4g}"
    return language.number(value, 0) if float(value).is_integer() else language.number(value, _decimals(value))


def _decimals(value: float) -> int:
    """Decimals that keep about four significant digits."""
    size = abs(value)
    return 1 if size >= 100 else 2 if size >= 10 else 3 if size >= 0.1 else 5


def substituted(term: Term, language: Language) -> str:
    """The formula with its values put in."""

    def value(match: re.Match[str]) -> str:
        name = match.group()
        return _plain(term.values[name], language) if name in term.values else name

    return _NAME.sub(value, term.formula).replace(" * ", " × ")


def _term_node(term: Term, language: Language) -> Node:
    below = [Node("formula", language.fill("Formula: {text}", text=term.formula.replace(" * ", " × ")))]
    if any(name in term.values for name in _NAME.findall(term.formula)):
        below.append(Node("values", language.fill("With values: {text}", text=substituted(term, language))))
    if term.values:
        values = tuple(Node("values", f"{k} = {_plain(v, language)}") for k, v in term.values.items())
        below.append(Node("values", language.gettext("Values"), children=values))
    if term.source:
        below.append(Node("source", language.fill("Source: {text}", text=language.source(term.source))))
    return Node(
        "term",
        language.label(term.name),
        amount(term.expected, term.unit, language),
        _span(term.estimate, term.unit, language),
        tuple(below),
    )


def _total(title: str, unit: str, estimate: Estimate, terms: Sequence[Term], language: Language) -> Node:
    return Node(
        "total",
        title,
        amount(estimate.expected, unit, language),
        _span(estimate, unit, language),
        tuple(_term_node(t, language) for t in terms),
    )


def _money_total(title: str, money: MoneyEstimate, terms: Sequence[Term], why: str, language: Language) -> Node:
    estimate = Estimate(low=float(money.low), expected=float(money.expected), high=float(money.high))
    total = _total(title, money.currency, estimate, terms, language)
    return replace(total, children=(*total.children, *(Node("words", text) for text in why.splitlines())))


def _memory_node(task: TaskAssessment, language: Language) -> Node:
    memory = task.memory
    total = _total(language.gettext("Memory per GPU at the peak"), "bytes", memory.driver, memory.terms, language)
    lines: list[Node] = []
    if memory.usable_bytes is not None:
        lines.append(
            Node("words", language.gettext("Usable memory of the card"), amount(memory.usable_bytes, "bytes", language))
        )
        lines.append(Node("words", language.gettext("Kept free as headroom"), language.percent(memory.headroom)))
    if memory.in_use_bytes:
        lines.append(
            Node("words", language.gettext("Held by other programs"), amount(memory.in_use_bytes, "bytes", language))
        )
    if memory.host_bytes:
        lines.append(
            Node("words", language.gettext("Host memory per GPU"), amount(memory.host_bytes, "bytes", language))
        )
    moments = tuple(
        Node(
            "words",
            language.label(m.moment),
            amount(m.allocated.expected, "bytes", language),
            _span(m.allocated, "bytes", language),
            tuple(Node("words", language.label(n), amount(v, "bytes", language)) for n, v in m.amounts),
        )
        for m in {(m.moment, m.allocated): m for m in memory.moments}.values()  # two stages may have the same
    )
    if moments:
        lines.append(Node("words", language.gettext("Moments of the step (requested memory)"), children=moments))
    if memory.fallback:
        lines.append(
            Node(
                "words",
                language.gettext(
                    "No measured factors exist for this kind of model: a first-principles estimate, wider."
                ),
            )
        )
    return Node(total.kind, total.title, total.expected, total.span, (*total.children, *lines))


def _speed_nodes(task: TaskAssessment, language: Language) -> list[Node]:
    nodes: list[Node] = []
    if task.training is not None:
        speed = task.training
        step = _total(language.gettext("One training step"), "seconds", speed.step_seconds, speed.terms, language)
        facts = (
            Node("words", language.gettext("Tokens in one step"), language.number(speed.tokens_per_step)),
            Node(
                "words",
                language.gettext("Tokens per second and GPU"),
                language.number(speed.tokens_per_second_per_gpu.expected),
                _numbers(speed.tokens_per_second_per_gpu, language),
            ),
            Node(
                "words",
                language.gettext("Model FLOPs utilization (MFU)"),
                language.percent(speed.model_flops_utilization.expected, 1),
                _span(speed.model_flops_utilization, "1", language),
            ),
            Node("words", language.gettext("What limits the speed"), language.label(speed.bottleneck)),
        )
        nodes.append(Node(step.kind, step.title, step.expected, step.span, (*step.children, *facts)))
    if task.inference is not None:
        nodes.append(_serving_node(task, language))
    of_run = tuple(t for t in task.time_terms if t.name.startswith(RUN_TERMS))
    of_all = tuple(t for t in task.time_terms if not t.name.startswith(RUN_TERMS))
    if task.time_to_train_seconds is not None:
        nodes.append(_total(language.gettext("One final run"), "seconds", task.time_to_train_seconds, of_run, language))
    busy = (
        language.gettext("Hours that the service is up")
        if task.inference is not None
        else language.gettext("All runs, with sweeps and failures")
    )
    nodes.append(_total(busy, "seconds", task.busy_seconds, of_all, language))
    return nodes


def _serving_node(task: TaskAssessment, language: Language) -> Node:
    speed = task.inference
    if speed is None:
        raise ValueError("not a serving task")
    token = _total(
        language.gettext("Time per output token"), "seconds", speed.time_per_output_token_seconds, speed.terms, language
    )
    facts = (
        Node(
            "words",
            language.gettext("Time to first token"),
            language.duration(speed.time_to_first_token_seconds.expected),
            language.duration_range(speed.time_to_first_token_seconds),
        ),
        Node(
            "words",
            language.gettext("Output tokens per second, all users together"),
            language.number(speed.tokens_per_second.expected),
            _numbers(speed.tokens_per_second, language),
        ),
        Node("words", language.gettext("What limits the speed"), language.label(speed.bottleneck)),
    )
    return Node(token.kind, token.title, token.expected, token.span, (*token.children, *facts))


def _numbers(estimate: Estimate, language: Language) -> str:
    return f"{language.number(estimate.low)} – {language.number(estimate.high)}"


def working(advice: Advice, assessment: Assessment, language: Language) -> tuple[Node, ...]:
    """All totals of a plan, each opening into its terms and these into formula, values and source."""
    cost = assessment.cost
    why, wide = two_figures(cost, language), what_widens(cost, language)
    nodes = [
        _money_total(language.gettext("Cost of the job"), cost.cost_of_job, cost.job_terms, f"{why}\n{wide}", language),
        _money_total(language.gettext("Cash needed"), cost.cash_needed, cost.cash_terms, why, language),
        Node(
            "total",
            language.gettext("Risk"),
            language.percent(assessment.risk, 1),
            children=tuple(_term_node(t, language) for t in assessment.risk_terms),
        ),
    ]
    for task in assessment.tasks:
        layout = Node(
            "words",
            language.gettext("How the work is spread, and what this means"),
            children=tuple(Node("words", s) for s in layout_sentences(assessment, task, language)),
        )
        inner = (_memory_node(task, language), *_speed_nodes(task, language), layout)
        if len(assessment.tasks) == 1:
            nodes = [*inner, *nodes]
        else:
            nodes.append(Node("group", words.task_name(advice, task.task_id), children=inner))
    return tuple(nodes)
