"""The API baseline: the same outputs, or the same fine-tuning, bought by the token instead of by the card."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import ROUND_HALF_UP, Decimal

from engine.advice.result import ApiBaseline, Pick
from engine.architecture.model import Architecture
from engine.cost.age import age_days, price_spread
from engine.cost.result import CostAssessment
from engine.findings import Finding, Severity
from engine.hardware.model import ApiPrice
from engine.i18n import money_param
from engine.layout.model import Method
from engine.quantity import Bounds, Estimate, Money, MoneyEstimate, Term
from engine.scenario import InferenceWorkload, Task, TrainingWorkload
from engine.search.resolve import ResolvedTask
from engine.search.search import SearchResult

__all__ = ["api_baselines", "same_model"]

DAYS_PER_MONTH = 365 / 12
CENT = Decimal("0.01")
#: Words in a model's name that do not make it another model for the purpose of a price.
_SUFFIXES = frozenset(
    ["instruct", "turbo", "versatile", "instant", "chat", "it", "hf", "base", "fp8", "bf16", "latest"]
)
#: Methods that hosted fine-tuning offers: adapters on a model that the provider serves.
_HOSTED_METHODS = frozenset({Method.LORA, Method.QLORA})


@dataclass(frozen=True)
class _Quote:
    """Cost of a task with one provider, in the scenario's currency."""

    price: ApiPrice
    terms: tuple[Term, ...]

    @property
    def total(self) -> Estimate:
        return Estimate(
            low=sum(t.low for t in self.terms),
            expected=sum(t.expected for t in self.terms),
            high=sum(t.high for t in self.terms),
        )


def api_baselines(result: SearchResult, picks: Sequence[Pick]) -> tuple[ApiBaseline, ...]:
    """The cheapest API for each task that one sells; compared with the cheapest plan where there is one task."""
    own: Money | None = None
    if picks and len(result.resolved) == 1:
        own = _without_setup(result.ranked[picks[0].index].cost)
    found: list[ApiBaseline] = []
    for resolved in result.resolved:
        quotes = sorted(_quotes(resolved, result), key=lambda q: (q.total.expected, q.price.id))
        if quotes:
            found.append(_baseline(resolved.task, quotes[0], own, result))
    return tuple(found)


def _without_setup(cost: CostAssessment) -> Money:
    """Cost of the job without the engineer's hours of setting it up, which an API's bill has none of either."""
    setup = sum((Decimal(repr(t.expected)) for t in cost.job_terms if t.name == "cost.engineering"), Decimal(0))
    return Money(amount=(cost.cost_of_job.expected - setup).quantize(CENT), currency=cost.cost_of_job.currency)


def _baseline(task: Task, quote: _Quote, own: Money | None, result: SearchResult) -> ApiBaseline:
    constraints = result.scenario.constraints
    allowed = constraints.data_may_leave and constraints.api_allowed
    total = quote.total
    low, expected, high = (
        Decimal(repr(v)).quantize(CENT, ROUND_HALF_UP) for v in (total.low, total.expected, total.high)
    )
    cost = MoneyEstimate(low=low, expected=expected, high=high, currency=result.figures.currency)
    return ApiBaseline(
        task_id=task.id,
        provider=quote.price.provider,
        model=quote.price.model,
        cost=cost,
        terms=quote.terms,
        allowed=allowed,
        finding=_compared(quote.price, cost.money, own, allowed, data_may_leave=constraints.data_may_leave),
    )


def _compared(price: ApiPrice, cost: Money, own: Money | None, allowed: bool, *, data_may_leave: bool) -> Finding:
    params: dict[str, str | int | float | None] = {
        "provider": price.provider,
        "model": price.model,
        "cost": money_param(cost),
    }
    if not allowed:
        code = "api.data_must_stay" if not data_may_leave else "api.not_wanted"
        return Finding(code=code, severity=Severity.INFO, params=params, source=price.source_url)
    if own is None:
        return Finding(code="api.alone", severity=Severity.ADVICE, params=params, source=price.source_url)
    cheaper = cost.amount < own.amount
    return Finding(
        code="api.cheaper" if cheaper else "api.dearer",
        severity=Severity.ADVICE if cheaper else Severity.INFO,
        params={**params, "own": money_param(own)},
        source=price.source_url,
    )


def _quotes(resolved: ResolvedTask, result: SearchResult) -> Iterator[_Quote]:
    workload = resolved.task.workload
    for price in _current(result.catalog.api_prices, result.scenario.as_of):
        if isinstance(workload, InferenceWorkload) and price.kind == "inference":
            if same_model(price.model, resolved.architecture):
                yield from _inference_quote(price, workload, result)
        elif isinstance(workload, TrainingWorkload) and price.kind == "fine-tune":
            adapters = workload.method in _HOSTED_METHODS and "reinforcement" not in price.notes.lower()
            if adapters and _trains(price.model, resolved.architecture):
                yield from _training_quote(price, workload, result)


def _current(prices: Sequence[ApiPrice], as_of: date) -> list[ApiPrice]:
    """The latest price of each provider, model and kind up to the date."""
    latest: dict[tuple[str, str, str], ApiPrice] = {}
    for price in sorted(prices, key=lambda p: (p.observed_on or date.min, p.id)):
        if price.observed_on is None or price.observed_on <= as_of:
            latest[price.provider, price.model, price.kind] = price
    return list(latest.values())


# which price speaks of the model -----------------------------------------------------------------------------------


def _words(name: str) -> tuple[str, ...]:
    """A model's name without its maker, what it was tuned for, and punctuation."""
    bare = name.rsplit("/", 1)[-1].lower()
    words = [w for w in re.split(r"[^a-z0-9.]+", bare) if w and w not in ("meta",)]
    while words and words[-1] in _SUFFIXES:
        words.pop()
    return tuple(words)


def same_model(name: str, architecture: Architecture) -> bool:
    """Whether a provider's name means this model (chat and base versions cost the same)."""
    wanted = _words(name)
    return bool(wanted) and wanted in (_words(architecture.id), _words(architecture.name))


def _trains(name: str, architecture: Architecture) -> bool:
    """Whether a provider fine-tunes this model: by name, or by a class of sizes ("up to 16B", "16.1B-80B")."""
    if same_model(name, architecture):
        return True
    billions = architecture.parameters_total / 1e9
    if (upto := re.search(r"up to ([\d.]+)B", name)) is not None:
        return billions <= float(upto.group(1)) * 1.05
    span = re.fullmatch(r"models ([\d.]+)B-([\d.]+)B", name)
    return span is not None and float(span.group(1)) <= billions <= float(span.group(2)) * 1.05


# what it costs -----------------------------------------------------------------------------------------------------


def _spread(price: ApiPrice, result: SearchResult) -> Bounds:
    return price_spread(age_days(price.observed_on, result.scenario.as_of))


def _term(
    name: str, price: ApiPrice, total_tokens: float, per_million: Decimal, result: SearchResult, formula: str,
    **values: float,
) -> Term:  # fmt: skip
    factor = float(result.figures.rates.factor(price.currency, result.figures.currency))
    amount = _spread(price, result) * (total_tokens / 1e6 * float(per_million) * factor)
    shown = amount.at()
    day = price.observed_on.isoformat() if price.observed_on else "undated"
    return Term(
        name=name, unit=result.figures.currency, low=shown.low, expected=shown.expected, high=shown.high,
        formula=formula, values={**values, "price_per_million": float(per_million), "exchange": factor},
        source=f"{price.provider}, {day}, {price.source_url}",
    )  # fmt: skip


def _inference_quote(price: ApiPrice, workload: InferenceWorkload, result: SearchResult) -> Iterator[_Quote]:
    if price.input_per_million_tokens is None or price.output_per_million_tokens is None:
        return
    requests = workload.requests_per_day * workload.months * DAYS_PER_MONTH
    formula = "requests * tokens_of_one / 1e6 * price_per_million * exchange"
    terms = tuple(
        _term(name, price, requests * each, per_million, result, formula, requests=requests, tokens_of_one=each)
        for name, each, per_million in (
            ("api.input", workload.prompt_tokens, price.input_per_million_tokens),
            ("api.output", workload.output_tokens, price.output_per_million_tokens),
        )
    )
    yield _Quote(price, terms)


def _training_quote(price: ApiPrice, workload: TrainingWorkload, result: SearchResult) -> Iterator[_Quote]:
    if price.training_per_million_tokens is None:
        return
    runs = workload.runs
    count = runs.final_runs + runs.sweep_runs * runs.sweep_fraction
    tokens = workload.data.tokens_per_run
    formula = "(final_runs + sweep_runs * sweep_fraction) * tokens / 1e6 * price_per_million * exchange"
    term = _term(
        "api.training", price, tokens * count, price.training_per_million_tokens, result, formula,
        final_runs=runs.final_runs, sweep_runs=runs.sweep_runs, sweep_fraction=runs.sweep_fraction, tokens=tokens,
    )  # fmt: skip
    yield _Quote(price, (term,))
