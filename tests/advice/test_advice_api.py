"""The API baseline: which price speaks of which model, and what the same work costs."""

from __future__ import annotations

from datetime import date
from decimal import Decimal

import pytest
from small_world import MEDIUM, all_findings, catalog, scenario, serving, training, wordless

from engine.advice.advise import advise
from engine.advice.api import same_model
from engine.architecture.model import Architecture
from engine.hardware.model import ApiPrice


def named(model_id: str, name: str = "") -> Architecture:
    return Architecture.model_validate({**MEDIUM.model_dump(), "id": model_id, "name": name or model_id})


@pytest.mark.parametrize(
    ("price", "model", "same"),
    [
        ("meta-llama/Llama-3.3-70B-Instruct-Turbo", "meta-llama/Llama-3.3-70B-Instruct", True),
        ("llama-3.3-70b-versatile", "meta-llama/Llama-3.3-70B-Instruct", True),
        ("llama-3.1-8b-instant", "meta-llama/Llama-3.1-8B", True),
        ("qwen3-8b", "Qwen/Qwen3-8B", True),
        ("qwen3-32b", "Qwen/Qwen3-8B", False),
        ("qwen3.5-27b", "Qwen/Qwen3-8B", False),
        ("nvidia/Llama-3.1-Nemotron-70B-Instruct-HF", "meta-llama/Llama-3.1-70B", False),
        ("instruct", "meta-llama/Llama-3.1-70B", False),
    ],
)
def test_names_of_one_model(price: str, model: str, same: bool) -> None:
    assert same_model(price, named(model)) is same


def price(name: str, **changes: object) -> ApiPrice:
    values = {"id": name, "provider": "P", "model": "medium", "kind": "inference", "currency": "USD",
              "observed_on": date(2026, 11, 1), "source_url": "https://example.org/api"}  # fmt: skip
    return ApiPrice.model_validate({**values, **changes})


INPUT_OUTPUT = {"input_per_million_tokens": Decimal("0.5"), "output_per_million_tokens": Decimal("2")}


def test_cost_of_a_service_by_the_token() -> None:
    task = serving(requests_per_day=1000, months=12, prompt_tokens=1000, output_tokens=500)
    advice = advise(scenario(task, ways=("rent",)), catalog(api_prices=(price("a", **INPUT_OUTPUT),)))
    (baseline,) = advice.api
    # 365,000 requests: 365 M tokens in at 0.5 and 182.5 M out at 2 dollars a million
    assert float(baseline.cost.expected) == pytest.approx(365 * 0.5 + 182.5 * 2, abs=0.01)
    assert sum(t.expected for t in baseline.terms) == pytest.approx(float(baseline.cost.expected), abs=0.01)
    assert baseline.finding.code == "api.cheaper" and baseline.allowed
    assert not wordless(all_findings(advice))


def test_it_is_shown_but_not_allowed_where_data_must_stay() -> None:
    known = catalog(api_prices=(price("a", **INPUT_OUTPUT),))
    (baseline,) = advise(scenario(serving(), data_may_leave=False), known).api
    assert not baseline.allowed and baseline.finding.code == "api.data_must_stay"
    (unwanted,) = advise(scenario(serving(), api_allowed=False), known).api
    assert not unwanted.allowed and unwanted.finding.code == "api.not_wanted"


def test_hosted_fine_tuning_is_for_adapters_and_sizes_that_the_provider_names() -> None:
    small = price("s", kind="fine-tune", model="models up to 16B", training_per_million_tokens=Decimal("0.5"))
    large = price("l", kind="fine-tune", model="models 16.1B-80B", training_per_million_tokens=Decimal("0.1"))
    known = catalog(api_prices=(small, large))
    runs = {"final_runs": 2, "sweep_runs": 5, "sweep_fraction": 0.2}
    (baseline,) = advise(scenario(training("medium", "lora", runs=runs)), known).api
    assert float(baseline.cost.expected) == pytest.approx(10 * (2 + 5 * 0.2) * 0.5, abs=0.01)
    assert not advise(scenario(training("medium", "full")), known).api


def test_the_last_price_before_the_date_counts() -> None:
    later = price("later", **{**INPUT_OUTPUT, "output_per_million_tokens": Decimal("9")}, observed_on=date(2027, 1, 1))
    older = price("older", **{**INPUT_OUTPUT, "output_per_million_tokens": Decimal("1")}, observed_on=date(2026, 1, 1))
    now = price("now", **INPUT_OUTPUT)
    (baseline,) = advise(scenario(serving()), catalog(api_prices=(later, older, now))).api
    assert {t.values["price_per_million"] for t in baseline.terms} == {0.5, 2.0}


def test_where_nobody_sells_the_model_one_of_the_same_shape_is_compared_and_named() -> None:
    twin = named("maker/Twin-2")
    other = Architecture.model_validate({**MEDIUM.model_dump(), "id": "maker/Other", "layers": MEDIUM.layers + 1})
    prices = (price("a", model="twin-2", **INPUT_OUTPUT), price("b", model="other", **INPUT_OUTPUT))
    known = catalog(api_prices=prices, models=(MEDIUM, twin, other))
    advice = advise(scenario(serving(), ways=("rent",)), known)
    (baseline,) = advice.api
    assert baseline.alike and baseline.model == "twin-2"
    assert [f.params["model"] for f in advice.findings if f.code == "api.alike"] == ["twin-2"]
    assert not wordless(all_findings(advice))
    own = catalog(api_prices=(*prices, price("c", **INPUT_OUTPUT)), models=(MEDIUM, twin, other))
    (exact,) = advise(scenario(serving(), ways=("rent",)), own).api
    assert not exact.alike and exact.model == "medium"
