"""A table of total cost that circulates, line by line: what its own figures add up to, and what the engine finds.

The circulated figures (in 10,000 CNY, mid-2025): investment, energy and operation of 8 x A800, 24 x RTX 4090, H100 on
demand and a mix. `docs/tco.md` prints the same table; the test holds both to the engine.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.cost.ledger import Owning, Renting, owning_ledger, renting_ledger

MONTHS, TARIFF = 36, 1.0  # three years at 1 CNY/kWh, the circulated text's own tariff
WAN = 10_000
#: Draw of cards at work over their limit, host over cards, building over both: the engine's expected factors.
LOAD, HOST, PUE = 0.85, 1.35, 1.54
CNY = 7.0  # for one US dollar, rounded
PAGE = Path(__file__).parents[2] / "docs" / "tco.md"


def energy(cards: int, watts: float) -> float:
    """CNY for three years day and night."""
    kw = cards * watts / 1000 * LOAD * HOST
    machine = Owning(price=0, load_kw=kw, idle_kw=0, rated_kw=kw, busy_hours=730, tariff=TARIFF, pue=PUE)
    return float(owning_ledger(machine, MONTHS).total)


@pytest.mark.parametrize(
    ("parts", "total"), [((1360, 180, 120), 1660), ((31, 540, 200), 771), ((0, 900, 0), 900), ((400, 600, 80), 1080)]
)
def test_the_circulated_rows_only_add_up_with_a_hidden_400_for_the_mix(parts: tuple[int, ...], total: int) -> None:
    assert sum(parts) == total  # 400 for four cards stands nowhere: at the same text's price they would be 680
    assert 4 * 170 == 680


def test_eight_a800_cost_a_tenth_of_the_circulated_price() -> None:
    cards = 8 * 110_000  # CNY 110,000 a card in July 2023, dated row of the catalogue
    assert cards / WAN == pytest.approx(88)
    assert 1360 / (cards / WAN) == pytest.approx(15.5, abs=0.1)


def test_energy_of_eight_a800_is_a_twelfth() -> None:
    assert energy(8, 400) / WAN == pytest.approx(14.9, abs=0.1)
    assert 180 / (energy(8, 400) / WAN) == pytest.approx(12, abs=0.3)


def test_energy_of_24_consumer_cards_is_a_tenth() -> None:
    assert energy(24, 450) / WAN == pytest.approx(50.2, abs=0.2)
    assert 540 / (energy(24, 450) / WAN) == pytest.approx(10.8, abs=0.2)


def test_consumer_cards_need_machines_around_them() -> None:
    cards, hosts = 24 * 13_000, 3 * 2.5 * 6_900 * CNY  # three machines of eight cards, the engine's expected host
    assert cards / WAN == pytest.approx(31.2)
    assert hosts / WAN == pytest.approx(36.2, abs=0.1)  # more than the cards themselves


def test_h100_on_demand_depends_on_hours_and_year() -> None:
    def bill(us_dollars: float) -> float:
        rent = Renting(cards=8, card_hour=us_dollars * CNY, billed_hours=730)
        return float(renting_ledger(rent, MONTHS).total) / WAN

    assert bill(2.8) == pytest.approx(412, abs=1)  # late 2025
    assert bill(4.0) == pytest.approx(589, abs=1)  # late 2026
    assert bill(6.12) == pytest.approx(900, abs=2)  # the circulated total is a price of 2023 for every hour of 3 years


def test_the_page_prints_these_figures() -> None:
    page = PAGE.read_text(encoding="utf-8")
    for figure in ("14.9", "50.2", "36.2", "412", "589", "6.12", "15.5"):
        assert figure in page, figure
