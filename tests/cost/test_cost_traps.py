"""Arithmetic that public guides get wrong, worked out right by the engine."""

from __future__ import annotations

import pytest

from engine import load_catalog
from engine.architecture.model import Architecture
from engine.cost.ledger import ApiUse, Owning, api_ledger, owning_ledger
from engine.cost.payback import months_to_pay
from engine.hardware.model import CatalogSnapshot, Gpu
from engine.layout.model import Job, Layout, Method
from engine.memory.training import training_memory
from engine.memory.verdict import assess


@pytest.fixture(scope="module")
def catalog() -> CatalogSnapshot:
    return load_catalog(with_user_rows=False)


@pytest.fixture(scope="module")
def model(catalog: CatalogSnapshot) -> Architecture:
    return next(m for m in catalog.models if m.id == "meta-llama/Llama-3.1-70B")


def gpu(catalog: CatalogSnapshot, name: str) -> Gpu:
    return next(g for g in catalog.gpus if g.id == name)


def test_training_70b_takes_a_terabyte_not_140_gb(model: Architecture) -> None:
    memory = training_memory(model, Job(method=Method.FULL, sequence_length=2048), Layout(micro_batch_size=1))
    kept = ("memory.weights", "memory.gradients", "memory.optimizer_states")
    states = sum(t.expected for t in assess(memory, None).terms if t.name in kept)
    assert 16 * 70e9 <= states <= 20 * 71e9


def test_serving_70b_takes_140_gb_for_its_weights(model: Architecture) -> None:
    assert 2 * model.parameters_total == pytest.approx(141e9, rel=0.01)


def test_a_price_is_not_counted_twice_in_the_payback() -> None:
    price = 8 * 35_000 * 1.4
    assert months_to_pay(price, 14_400 - 3_376) == pytest.approx(35.6, abs=0.05)
    amortised = price / 48
    assert months_to_pay(price, 14_400 - 3_376 - amortised) == pytest.approx(137, abs=1)  # the wrong form


def test_a_saving_can_be_a_loss_in_present_value() -> None:
    machine = owning_ledger(Owning(price=100_000, load_kw=0, idle_kw=0, rated_kw=0, busy_hours=0, tariff=0), 48)
    saved = 48 * 2_300
    assert saved > float(machine.total)
    worth = sum(2_300 / 1.1 ** (month / 12) for month in range(1, 49))
    assert worth < float(machine.present_value(0.10))


def test_tokens_of_a_working_day() -> None:
    requests = 100 / 30 * 28_800
    bill = api_ledger(ApiUse(requests=requests, prompt_tokens=2_500, answer_tokens=0, input_price=1, output_price=0), 1)
    assert float(bill.total) == pytest.approx(240)  # 0.24 billion at 1 a million, not 8 to 10 billion


def test_electricity_of_24_consumer_cards() -> None:
    cards = Owning(price=0, load_kw=24 * 0.45, idle_kw=0, rated_kw=0, busy_hours=730, tariff=1.0)
    assert float(owning_ledger(cards, 36).total) == pytest.approx(283_824)


def test_dense_flops_of_an_h100(catalog: CatalogSnapshot) -> None:
    assert gpu(catalog, "nvidia-h100-sxm-80gb").bf16_flops == pytest.approx(989.4e12, rel=0.001)


def test_a_server_price_is_not_a_card_price(catalog: CatalogSnapshot) -> None:
    for price in catalog.purchase_prices:
        if price.whole_server:
            assert price.cards > 1 or "1x" in price.product.lower() or price.price < 100_000, price.id


def test_no_nvlink_on_a_4090(catalog: CatalogSnapshot) -> None:
    card = gpu(catalog, "nvidia-rtx-4090")
    assert not card.interconnect_bytes_per_second and not card.peer_to_peer
