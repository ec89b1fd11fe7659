"""The API baseline: the same outputs, or the same fine-tuning, bought by the token instead of by the card."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date
from decimal import ROUND_HALF_UP, Decimal

from engine.advice.result import ApiBaseline, Pick
from engine.architecture.model import Architecture
from engine.cost.age import age_days, price_spread
from engine.cost.result import CostAssessment
from engine.findings import Finding, Severity
from engine.hardware.model import ApiPrice, CatalogSnapshot
from engine.i18n import money_param
from engine.layout.model import Method
from engine.quantity import Bounds, Estimate, Money, MoneyEstimate, Term
from engine.scenario import InferenceWorkload, Task, TrainingWorkload
from engine.search.resolve import ResolvedTask
from engine.search.search import SearchResult

__all__ = ["alike_rules", "api_baselines", "same_model"]

DAYS_PER_MONTH = 365 / 12
CENT = Decimal("0.01")
#: Models of one shape whose numbers of parameters differ by a smaller share cost the same to serve.
LIKE_SIZE = 0.02
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
    alike: bool = False  # of another model of the same size and shape

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


def alike_rules(result: SearchResult, api: Sequence[ApiBaseline]) -> Iterator[Finding]:
    """Say which comparisons take another model's price."""
    resolved = {r.task.id: r for r in result.resolved}
    for baseline in api:
        if baseline.alike:
            of = resolved[baseline.task_id]
            name = of.task.name or of.architecture.name
            params: dict[str, str | int | float | None] = {
                "task": name, "name": of.architecture.name, "model": baseline.model,
            }  # fmt: skip
            yield Finding(code="api.alike", severity=Severity.INFO, params=params)


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
        alike=quote.alike,
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


def _quotes(resolved: ResolvedTask, result: SearchResult) -> list[_Quote]:
    """Offers for this very model; where outputs are wanted and nobody sells it, those for one of the same shape."""
    workload, architecture = resolved.task.workload, resolved.architecture
    prices = _current(result.catalog.api_prices, result.scenario.as_of)
    if isinstance(workload, TrainingWorkload):
        return [
            quote
            for price in prices
            if price.kind == "fine-tune" and workload.method in _HOSTED_METHODS
            if "reinforcement" not in price.notes.lower() and _trains(price.model, architecture)
            for quote in _training_quote(price, workload, result)
        ]
    served = [p for p in prices if p.kind == "inference"]
    exact = [p for p in served if same_model(p.model, architecture)]
    names = set() if exact else _names_of_like_models(architecture, result.catalog)
    alike = [p for p in served if _words(p.model) in names]
    return [
        replace(quote, alike=not exact)
        for price in exact or alike
        for quote in _inference_quote(price, workload, result)
    ]


def _names_of_like_models(architecture: Architecture, catalog: CatalogSnapshot) -> set[tuple[str, ...]]:
    """Names of the catalogue's models with the same layers and width, and parameters within `LIKE_SIZE`."""
    return {
        _words(model.id)
        for model in catalog.models
        if (model.layers, model.hidden_size) == (architecture.layers, architecture.hidden_size)
        and abs(model.parameters_total / architecture.parameters_total - 1) <= LIKE_SIZE
    }


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
