"""Errors that peer tools make with hardware data, time and money: each check turns red when the error is put in."""

from __future__ import annotations

import statistics
from collections.abc import Callable
from decimal import Decimal
from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np
import pytest
from traced_models import traced_models

import engine.architecture.flops as flops
import engine.search.evaluate as evaluate
from engine.advice.advise import advise
from engine.catalog.load import load_catalog
from engine.hardware.model import CatalogSnapshot, Gpu, Offer
from engine.memory.result import Verdict
from engine.scenario import Scenario

#: MiB that programs see on a card. Source: nvidia-smi output in public pull requests
#: (modal-client #2797, unsloth #6895).
VISIBLE_MIB = {
    "nvidia-t4": 15_360,
    "nvidia-l4": 23_034,
    "nvidia-a10": 23_028,
    "nvidia-l40s": 46_068,
    "nvidia-a100-sxm-40gb": 40_960,
    "nvidia-a100-sxm-80gb": 81_920,
    "nvidia-h100-sxm-80gb": 81_559,
    "nvidia-b200-sxm-180gb": 183_359,
}

#: Dense 16-bit TFLOPS with 32-bit accumulation, from the makers' data sheets.
DENSE_TFLOPS = {
    "nvidia-a100-sxm-80gb": 312,
    "nvidia-h100-sxm-80gb": 989,
    "nvidia-h100-pcie-80gb": 756,
    "nvidia-l40s": 362,
    "nvidia-rtx-4090": 165.2,
    "nvidia-b200-sxm-180gb": 2250,
}

#: Cards of two dies that are sold, priced and powered as one: memory in GB and dense 16-bit TFLOPS of the card.
TWO_DIES = {"amd-mi250x-128gb": (128, 383), "nvidia-b200-sxm-180gb": (180, 2250)}


@cache
def _catalog() -> CatalogSnapshot:
    return load_catalog(with_user_rows=False)


def _with_cards(change: Callable[[Gpu], dict[str, Any]]) -> CatalogSnapshot:
    cards = tuple(g.model_copy(update=change(g)) for g in _catalog().gpus)
    return CatalogSnapshot(version="x", sha256="x", gpus=cards, offers=_catalog().offers)


# 14: time or cost shown for a job that does not fit ----------------------------------------------------------


def _check_only_what_fits(example: str) -> None:
    text = (files("resources") / "examples" / example).read_text(encoding="utf-8")
    found = advise(Scenario.model_validate_json(text), _catalog())
    assert found.ranked
    for assessment in found.ranked:
        for task in assessment.tasks:
            memory = task.memory
            assert memory.usable_bytes is not None
            assert memory.driver.expected + memory.in_use_bytes <= memory.usable_bytes
            assert memory.verdict in (Verdict.FITS, Verdict.FITS_TIGHTLY)
    assert found.rejected  # and what is rejected has a reason, no price and no time
    assert all(r.reason.code and not hasattr(r, "cost") for r in found.rejected)


def test_14_only_what_fits_has_time_and_cost(monkeypatch: pytest.MonkeyPatch) -> None:
    example = "qlora-8b-own-card.json"
    _check_only_what_fits(example)
    known = evaluate.verdicts
    monkeypatch.setattr(evaluate, "verdicts", lambda *a, **k: np.zeros_like(known(*a, **k)))
    with pytest.raises(AssertionError):
        _check_only_what_fits("full-70b-rented.json")


# 15: attention FLOPs missing at long context -----------------------------------------------------------------


def _check_attention_at_long_context() -> None:
    """At 131 072 tokens causal attention of an 8B costs about twice the 6 N of its weights."""
    arch = traced_models()["llama-3.1-8b"]
    extra = float(flops.model_flops_per_token(arch, 131_072)) / (6 * arch.parameters_total) - 1
    assert 1.5 < extra < 2.5


def test_15_attention_at_long_context(monkeypatch: pytest.MonkeyPatch) -> None:
    _check_attention_at_long_context()
    monkeypatch.setattr(flops, "_attention_scores", lambda *a, **k: 0)
    with pytest.raises(AssertionError):
        _check_attention_at_long_context()


# 16: a TFLOPS column that mixes 32-bit, TF32, dense and sparse ------------------------------------------------


def _check_dense_rates(catalog: CatalogSnapshot) -> None:
    for name, rate in DENSE_TFLOPS.items():
        assert catalog.gpu_by_id[name].bf16_flops == pytest.approx(rate * 1e12, rel=0.01), name


@pytest.mark.parametrize(
    "error",
    [
        lambda g: {"bf16_flops": 2 * g.bf16_flops if g.bf16_flops else None},  # sparse
        lambda g: {"bf16_flops": g.tf32_flops},
        lambda g: {"bf16_flops": g.fp32_flops},
    ],
)
def test_16_rates_are_dense_and_of_one_precision(error: Callable[[Gpu], dict[str, Any]]) -> None:
    _check_dense_rates(_catalog())
    with pytest.raises(AssertionError):
        _check_dense_rates(_with_cards(error))


# 17: dual-die cards listed per die ---------------------------------------------------------------------------


def _check_whole_cards(catalog: CatalogSnapshot) -> None:
    for name, (memory, rate) in TWO_DIES.items():
        assert catalog.gpu_by_id[name].memory_gb == memory
        assert catalog.gpu_by_id[name].bf16_flops == pytest.approx(rate * 1e12, rel=0.01)


def test_17_cards_of_two_dies_are_one_card() -> None:
    _check_whole_cards(_catalog())
    with pytest.raises(AssertionError):
        _check_whole_cards(_with_cards(lambda g: {"memory_gb": g.memory_gb / 2 if g.memory_gb else None}))
    with pytest.raises(AssertionError):
        _check_whole_cards(_with_cards(lambda g: {"bf16_flops": g.bf16_flops / 2 if g.bf16_flops else None}))


# 18: GB and GiB mixed ----------------------------------------------------------------------------------------


def _check_visible_memory(catalog: CatalogSnapshot) -> None:
    for name, visible in VISIBLE_MIB.items():
        usable = catalog.gpu_by_id[name].usable_bytes
        assert usable is not None
        assert usable / 2**20 == pytest.approx(visible, rel=0.01), name


@pytest.mark.parametrize("unit", [10**9, 2**30])
def test_18_usable_memory_is_what_the_driver_shows(unit: int) -> None:
    _check_visible_memory(_catalog())
    with pytest.raises(AssertionError):
        _check_visible_memory(_with_cards(lambda g: {"usable_bytes": int((g.memory_gb or 0) * unit)}))


# 19: prices per card, machine and hour confused; $0.00 accepted ----------------------------------------------


def _comparable(offer: Offer, name: str) -> bool:
    listed = offer.current and not offer.members_only and offer.term == "on-demand"
    return listed and offer.currency == "USD" and offer.gpu_ids == (name,)


def _check_prices(catalog: CatalogSnapshot) -> None:
    """Dollar prices of a card-hour: above 3 cents; on demand within a factor of five around the card's median."""
    for name in ("nvidia-h100-sxm-80gb", "nvidia-a100-sxm-80gb", "nvidia-l40s", "nvidia-h200-sxm-141gb"):
        prices = [float(o.price_per_gpu_hour) for o in catalog.offers if _comparable(o, name)]
        middle = statistics.median(prices)
        assert all(middle / 5 < p < middle * 5 for p in prices), (name, min(prices), middle, max(prices))
    rented = [o for o in catalog.offers if o.term not in ("owned", "shared")]
    assert min(o.price_per_gpu_hour for o in rented) > Decimal("0.03")


@pytest.mark.parametrize("factor", [8, 730, 0, Decimal("0.02")])  # machine, month, nothing, the floor of a bid
def test_19_prices_are_per_card_and_hour(factor: Decimal | int) -> None:
    _check_prices(_catalog())
    offers = sorted(
        (o for o in _catalog().offers if _comparable(o, "nvidia-h100-sxm-80gb")), key=lambda o: o.price_per_gpu_hour
    )
    usual = offers[len(offers) // 2]
    wrong = usual.model_copy(update={"price_per_gpu_hour": usual.price_per_gpu_hour * factor})
    broken = _catalog().model_copy(update={"offers": (*_catalog().offers, wrong)})
    with pytest.raises(AssertionError):
        _check_prices(broken)
