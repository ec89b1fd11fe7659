"""Amounts worked out by hand from round prices; the arithmetic stands beside each number."""

from __future__ import annotations

from decimal import Decimal

import pytest
from cost_sample import (
    CARD,
    EMPTY,
    OFFER,
    PURCHASE,
    SMALL_CARD,
    amounts,
    bundled,
    cluster,
    price,
    scenario,
)

from engine.cost.figures import figures_of
from engine.cost.own import HOST_POWER_FACTOR, LOAD, energy_kwh
from engine.cost.payback import months_to_pay, present_value_of_months
from engine.errors import InputError
from engine.quantity import Bounds


def test_on_demand() -> None:
    cost = price(cluster(8), hours=100, offer=OFFER.model_copy(update={"gpus_per_unit": 8}))
    assert cost.cash_needed.expected == Decimal("2400.00")  # 8 cards x 100 h x 3
    # eight cards on one node: 8 hours of set-up x 50 = 400 on top, which is no cash of the budget
    assert cost.cost_of_job.expected == Decimal("2800.00")


def test_only_whole_machines_are_billed_where_only_those_are_sold() -> None:
    eight = OFFER.model_copy(update={"gpus_per_unit": 8})
    assert price(cluster(1), hours=100, offer=eight).cash_needed.expected == Decimal("2400.00")  # not 300
    assert price(cluster(5, nodes=2), hours=10, offer=eight).cash_needed.expected == Decimal("480.00")  # 16 x 10 x 3


@pytest.mark.parametrize(("hours", "hourly"), [(730, "3.00"), (100, "21.90")])
def test_a_month_is_paid_whether_used_or_not(hours: float, hourly: str) -> None:
    """US$2,190 a month are US$3.00 an hour of full use and US$21.90 at 100 hours."""
    cost = price(cluster(1), hours=hours, offer=OFFER.model_copy(update={"term": "monthly"}))
    assert cost.cash_needed.expected == Decimal("2190.00")
    assert cost.cash_needed.expected / Decimal(hours) == Decimal(hourly)


@pytest.mark.parametrize(
    ("term", "hours", "billed"),
    [
        ("monthly", 731, 1460), ("monthly", 0.5, 730), ("reserved-1m", 730 * 3, 2190),
        ("reserved-1y", 100, 8760), ("reserved-1y", 8761, 17_520), ("reserved-3y", 8761, 26_280),
        ("on-demand", 731, 731),
    ],
)  # fmt: skip
def test_terms_bill_their_idle_hours(term: str, hours: float, billed: float) -> None:
    cost = price(cluster(1), hours=hours, offer=OFFER.model_copy(update={"term": term}))
    assert float(cost.cash_needed.expected) == pytest.approx(billed * 3)


def test_twelve_months_added_up_in_floats_are_twelve() -> None:
    year = sum([730.0 * (1 + 1e-13)] * 12)
    cost = price(cluster(1), hours=year, offer=OFFER.model_copy(update={"term": "monthly"}))
    assert cost.cash_needed.expected == Decimal("26280.00")  # 12 x 730 x 3


def test_spot_pays_for_lost_work() -> None:
    # 2 nodes x 0.175 interruptions a month / 730 h x 1 h lost = 0.0004795; 16 x 1000 h x 3 = 48,000 -> 48,023.01
    cost = price(cluster(8, nodes=2), hours=1000, offer=OFFER.model_copy(update={"term": "spot"}))
    assert cost.cash_needed.expected == Decimal("48023.01")
    # high: 2 x 4.3 / 730 x 3 = 0.035342 -> 49,696.44
    assert cost.cash_needed.high == Decimal("49696.44")


def test_conversion_both_ways() -> None:
    yuan = OFFER.model_copy(update={"currency": "CNY", "price_per_gpu_hour": Decimal(14)})
    assert price(cluster(1), hours=10, offer=yuan).cash_needed.expected == Decimal("20.00")  # 140 CNY / 7
    cost = price(cluster(1), hours=10, offer=yuan, asked=scenario(currency="EUR"))
    assert (cost.cash_needed.expected, cost.cash_needed.currency) == (Decimal("16.00"), "EUR")  # 140 / 7 x 0.8
    cost = price(cluster(1), hours=10, offer=OFFER, asked=scenario(currency="CNY"))
    assert cost.cash_needed.expected == Decimal("210.00")  # 30 USD x 7
    assert "CNY 2026-08-01" in cost.cash_terms[0].source


def test_a_currency_without_a_rate_is_bad_input() -> None:
    with pytest.raises(InputError) as caught:
        price(cluster(1), hours=10, offer=OFFER.model_copy(update={"currency": "CHF"}))
    assert caught.value.code == "cost.no_exchange_rate"


def test_shared_cluster() -> None:
    campus = OFFER.model_copy(update={"currency": "CNY", "price_per_gpu_hour": Decimal(2), "term": "shared"})
    cost = price(cluster(4), hours=50, offer=campus, asked=scenario("CN", currency="CNY"), storage_gb=500)
    assert amounts(cost, "cash") == {"cost.rent": 400.0}  # 4 x 50 h x 2; the storage of the campus costs nothing
    assert cost.cost_of_job.expected == Decimal("800.00")  # 8 h x 50 of set-up


def test_storage_and_egress() -> None:
    # 1000 GB x 1 month (at least) x 0.023 = 23; egress 1000 x 0.09 = 90
    cost = price(cluster(1), hours=10, offer=OFFER, storage_gb=1000)
    assert amounts(cost, "cash") == pytest.approx({"cost.rent": 30, "cost.storage": 23, "cost.egress": 90})
    # checkpoints stay behind: 100 GB of results are 9; a service leaves nothing
    cost = price(cluster(1), hours=10, offer=OFFER, storage_gb=1000, result_gb=100)
    assert amounts(cost, "cash")["cost.egress"] == pytest.approx(9)
    assert "cost.egress" not in amounts(price(cluster(1), hours=10, offer=OFFER, storage_gb=1000, result_gb=0), "cash")


def test_a_card_priced_alone_needs_a_processor() -> None:
    alone = OFFER.model_copy(update={"gpu_only": True})
    # beside 80 GB US$1.2 an hour: 10 x 1.2 = 12; beside 24 GB 10 x 0.36 = 3.6
    assert amounts(price(cluster(1), hours=10, offer=alone))["cost.host_beside_gpu"] == pytest.approx(12)
    small = price(cluster(1, card=SMALL_CARD), hours=10, offer=alone)
    assert amounts(small)["cost.host_beside_gpu"] == pytest.approx(3.6)


def test_bought_card() -> None:
    cost = price(cluster(1), hours=120, purchase=PURCHASE, days=365 / 12)
    cash = amounts(cost, "cash")
    assert cash["cost.cards"] == 10_000
    assert cash["cost.host"] == 2200
    assert cash["cost.host_memory"] == pytest.approx(1312.8)  # 1.5 x 80 GB x 10.94
    # 0.7 kW x 0.85 x 1.35 x 120 h = 96.39 kWh x 0.10
    assert cost.energy_kwh == pytest.approx(96.39)
    assert cash["cost.energy"] == pytest.approx(9.639)
    assert cost.cash_needed.expected == Decimal("13522.44")  # 10,000 + 2,200 + 1,312.80 + 9.64
    # nothing is known of residual value: half of what four of eight years leave, 0.25
    # (13,512.80 - 3,378.20) x 120 / (100 x 12 x 4 + 20) = 10,134.60 x 120 / 4,820 = 252.3137
    assert amounts(cost)["cost.wear"] == pytest.approx(252.3137, abs=1e-3)
    assert cost.cost_of_job.expected == Decimal("461.95")  # 252.31 + 9.64 + 4 h x 50


def test_a_service_on_a_bought_machine() -> None:
    """Up for a year of its four; the machine is used 100 hours a month otherwise, never more than all hours there are.

    8,760 h; in life 100 x 48 + 8,760 - 100 x 12 = 12,360 h; nothing known of residual value: 10,000 x 0.75 is lost.
    7,500 x 8,760 / 12,360 = 5,315.53
    """
    asked = scenario(host_available=True)
    cost = price(cluster(1), hours=8760, purchase=PURCHASE, days=14, asked=asked)
    assert amounts(cost)["cost.wear"] == pytest.approx(5315.53, abs=0.01)
    asked = scenario(host_available=True, hours_per_month=730.0)  # day and night for four years: a quarter
    cost = price(cluster(1), hours=8760, purchase=PURCHASE, days=14, asked=asked)
    assert amounts(cost)["cost.wear"] == pytest.approx(7500 / 4)


def test_a_host_that_is_there_is_not_bought() -> None:
    cost = price(cluster(2), hours=100, purchase=PURCHASE, asked=scenario(host_available=True))
    assert set(amounts(cost, "cash")) == {"cost.cards", "cost.energy"}
    assert amounts(cost, "cash")["cost.cards"] == 20_000


def test_the_unit_of_sale_of_a_server() -> None:
    """Trap 11: the price of a server with eight cards is that of eight cards, machine included."""
    server = PURCHASE.model_copy(update={"price": Decimal(300_000), "cards": 8, "whole_server": True})
    cash = amounts(price(cluster(8, nodes=2), hours=10, purchase=server), "cash")
    assert cash["cost.servers"] == 600_000
    assert cash["cost.fabric"] == 32_000  # 16 x 2,000
    assert not {"cost.host", "cost.host_memory"} & set(cash)
    board = server.model_copy(update={"whole_server": False})  # eight cards on a baseboard lack a machine
    cash = amounts(price(cluster(8), hours=10, purchase=board), "cash")
    assert cash["cost.cards"] == 300_000
    assert cash["cost.host"] == pytest.approx(6900 * 2.5)
    assert cash["cost.host_memory"] == pytest.approx(10_502.4)  # 8 x 80 GB x 1.5 x 10.94


def test_owned_cards_cost_energy_and_staff_only() -> None:
    cost = price(cluster(2), hours=100)
    assert amounts(cost, "cash") == pytest.approx({"cost.energy": 16.065})  # 2 x 0.7 x 0.85 x 1.35 x 100 x 0.10
    assert cost.cost_of_job.expected == Decimal("416.07")  # and 8 h x 50


def test_energy_of_24_consumer_cards_for_three_years() -> None:
    """Trap 6: 24 x 0.45 kW x 8,760 h x 3 = 283,824 kWh at the cards, which our load and machine factors scale."""
    figures = figures_of(scenario(), EMPTY)
    kwh = energy_kwh(cluster(8, nodes=3, card=SMALL_CARD), Bounds.exact(8760 * 3), figures)
    assert float(kwh.expected) / float(LOAD.expected * HOST_POWER_FACTOR.expected) == pytest.approx(283_824)
    assert float(kwh.high) == pytest.approx(283_824 * 1.82)  # full load in a server: about 52 万元 at 1 yuan a kWh


def test_an_unknown_power_limit_is_said_to_be_assumed() -> None:
    card = CARD.model_copy(update={"tdp_watts": None})
    cost = price(cluster(1, card=card), hours=100)
    assert amounts(cost)["cost.energy"] == pytest.approx(4.59)  # 0.4 kW x 0.85 x 1.35 x 100 x 0.10
    assert "planning assumption" in cost.cash_terms[0].source


def test_payback_counts_the_price_once() -> None:
    """Trap 3: 8 x US$35,000 x 1.4 = 392,000 against 14,400 - 3,376 = 11,024 a month are 35.6 months, not 137."""
    assert months_to_pay(392_000, 14_400 - 3_376) == pytest.approx(35.56, abs=0.01)
    assert months_to_pay(392_000, -1) is None


def test_present_value() -> None:
    """A payment of 1 a month for a year at 10 % a year: (1 - 1/1.1) / (1.1^(1/12) - 1) = 0.0909091 / 0.00797414."""
    assert present_value_of_months(12, 0.10) == pytest.approx(11.4005, abs=1e-3)
    assert present_value_of_months(12, 0.0) == 12


def test_residual_value_follows_the_rows_of_the_card() -> None:
    # four years: 17.5 % is left of an H100; (10,000) x 0.825 x 100 h / 4,800 h = 171.875
    asked = scenario(host_available=True)
    cost = price(cluster(1), hours=100, purchase=PURCHASE, asked=asked, catalog=bundled(), days=365 / 12)
    assert amounts(cost)["cost.wear"] == pytest.approx(171.875)
    assert "H100 residual value after 48 months 17.5 %" in cost.job_terms[0].source
    # three years: 30 % is left; 10,000 x 0.7 x 100 / 3,600 = 194.44
    asked = scenario(host_available=True, years=3)
    cost = price(cluster(1), hours=100, purchase=PURCHASE, asked=asked, catalog=bundled(), days=365 / 12)
    assert amounts(cost)["cost.wear"] == pytest.approx(194.444, abs=1e-3)


def test_risk_raises_only_the_figure_that_ranks() -> None:
    cost = price(cluster(1), hours=100, offer=OFFER, risk=0.2)
    assert cost.cost_of_job.expected == Decimal("500.00")  # 300 + 4 h x 50
    assert cost.risk_adjusted_cost.expected == Decimal("600.00")


def test_old_prices_are_spread_and_quotations_bind() -> None:
    listed = OFFER.model_copy(update={"origin": "catalog"})
    cost = price(cluster(1), hours=100, offer=listed)
    assert (cost.cash_needed.low, cost.cash_needed.high) == (Decimal("291.00"), Decimal("309.00"))  # 3 % when fresh
    undated = price(cluster(1), hours=100, offer=listed.model_copy(update={"observed_on": None}))
    assert (undated.cash_needed.low, undated.cash_needed.high) == (Decimal("150.00"), Decimal("450.00"))
    assert undated.price_age_days is None
    quoted = price(cluster(1), hours=100, offer=OFFER)
    assert quoted.cash_needed.low == quoted.cash_needed.high == Decimal("300.00")
