"""Where each figure comes from: the user, a row of the catalogue, or an assumption that says so."""

from __future__ import annotations

from dataclasses import fields
from datetime import date
from decimal import Decimal
from typing import Any

import pytest
from cost_sample import EMPTY, OFFER, PURCHASE, SMALL_CARD, bundled, cluster, price, scenario

from engine.cost import figures as module
from engine.cost.figures import ASSUMPTION, STAND_IN, USER, Figure, Figures, figures_of
from engine.cost.own import residual_share
from engine.hardware.model import CatalogSnapshot, CostItem
from engine.i18n import Language
from engine.messages.cost import LABELS

REGIONS = ("", "CN", "US", "EU", "UK", "other")
#: Nobody publishes these: they are shown as assumptions, and only these.
ASSUMED = {"small_host", "gpu_only_addition"}
UNSTATED: dict[str, Any] = {"electricity_per_kwh": None, "engineer_hour": None, "pue": None}


def resolved(region: str = "US", catalog: CatalogSnapshot | None = None, **economics: Any) -> Figures:
    return figures_of(scenario(region, **{**UNSTATED, **economics}), catalog or bundled())


def each(figures: Figures) -> dict[str, Figure]:
    return {f.name: v for f in fields(figures) if isinstance(v := getattr(figures, f.name), Figure)}


@pytest.mark.parametrize("region", REGIONS)
@pytest.mark.parametrize("currency", ["USD", "CNY", "EUR", "GBP"])
def test_no_figure_falls_back_where_the_catalogue_has_a_row(region: str, currency: str) -> None:
    found = each(resolved(region, currency=currency))
    assert {name for name, figure in found.items() if figure.assumed} == ASSUMED
    for name, figure in found.items():
        assert figure.bounds.low <= figure.bounds.expected <= figure.bounds.high, name
        assert (ASSUMPTION in figure.source) == figure.assumed


def test_without_rows_everything_is_said_to_be_assumed() -> None:
    assert all(f.assumed and f.source == ASSUMPTION for f in each(resolved(catalog=EMPTY)).values())


def test_every_row_named_in_the_code_is_in_the_catalogue() -> None:
    rows = (module.STORAGE, module.EGRESS, module.HOST_MEMORY, module.FABRIC, *module.WAGES.values())
    names = [n for r in rows for n in (r.expected, *r.span)]
    names += [name for name, _ in module.ELECTRICITY.values()] + ["PUE, industry average", *module.HOST_PARTS]
    for name in names:
        assert any(name.lower() in i.item.lower() for i in bundled().cost_items), name


# independent of the code: values of the collection, converted by hand at CNY 6.75 and EUR 0.862589 for one US$
@pytest.mark.parametrize(
    ("region", "currency", "low", "expected", "high"),
    [
        ("US", "USD", 0.081, 0.146, 0.3375),
        ("CN", "CNY", 0.078 * 6.75, 0.663, 0.838),
        ("CN", "USD", 0.078, 0.663 / 6.75, 0.838 / 6.75),
        ("EU", "EUR", 0.104, 0.1902, 0.3835),
        ("UK", "GBP", 0.104 * 0.74994 / 0.862589, 0.1902 * 0.74994 / 0.862589, 0.3835 * 0.74994 / 0.862589),
    ],
)
def test_electricity_of_the_region(region: str, currency: str, low: float, expected: float, high: float) -> None:
    bounds = resolved(region, currency=currency).electricity_per_kwh.bounds
    assert (bounds.low, bounds.expected, bounds.high) == pytest.approx((low, expected, high))


def test_a_figure_of_another_region_says_that_it_stands_in() -> None:
    for region in ("UK", "other"):
        assert STAND_IN in resolved(region).electricity_per_kwh.source
        assert STAND_IN in resolved(region).engineer_hour.source
    assert STAND_IN in resolved("EU").engineer_hour.source
    for region in ("CN", "US"):
        assert not any(STAND_IN in f.source for f in each(resolved(region)).values())


def test_what_the_user_states_is_exact_and_converted() -> None:
    found = figures_of(scenario("CN", currency="CNY"), bundled())
    for figure, value in ((found.electricity_per_kwh, 0.10), (found.engineer_hour, 50), (found.pue, 1)):
        assert figure == Figure(figure.bounds.exact(float(value)), USER)


def test_other_figures_of_the_collection() -> None:
    found = resolved()
    # sum of CPU 3900, board 1200, SSD 600, power supply 600, chassis 400, cooler 200
    assert found.host_base.bounds.expected == pytest.approx(6900)
    assert found.host_memory_per_gb.bounds.expected == pytest.approx(10.94)
    assert (found.storage_per_gb_month.bounds.low, found.storage_per_gb_month.bounds.high) == (0.015, 0.1)
    assert (found.egress_per_gb.bounds.low, found.egress_per_gb.bounds.high) == (0, 0.12)
    assert (found.fabric_per_gpu.bounds.low, found.fabric_per_gpu.bounds.high) == (1709, 2295)
    assert resolved("CN", currency="CNY").engineer_hour.bounds.expected == pytest.approx(205.8)


def _row(value: str, day: date | None, **more: object) -> CostItem:
    return CostItem.model_validate(
        {"id": f"{value}{day}", "item": "Electricity, United States, commercial", "kind": "electricity",
         "value": Decimal(value), "unit": "USD/kWh", "country": "US", "observed_on": day, **more}
    )  # fmt: skip


def test_rows_are_read_as_of_the_scenario() -> None:
    rows = (_row("0.10", date(2025, 1, 1)), _row("0.20", date(2026, 11, 1)), _row("0.40", date(2027, 1, 1)))
    catalog = EMPTY.model_copy(update={"cost_items": rows})
    assert resolved(catalog=catalog).electricity_per_kwh.bounds.expected == 0.20
    own = (*rows, _row("0.07", None, origin="user"))
    bounds = resolved(catalog=catalog.model_copy(update={"cost_items": own})).electricity_per_kwh.bounds
    assert (bounds.low, bounds.expected, bounds.high) == (0.07, 0.07, 0.07)  # a row of the user's wins


def test_residual_value_reads_its_rows() -> None:
    h100 = bundled().gpu_by_id["nvidia-h100-sxm-80gb"]
    for years, share in ((1, 0.625), (2, 0.425), (3, 0.30), (4, 0.175), (8, 0.0), (10, 0.0)):
        bounds, source = residual_share(bundled(), h100, years)
        assert bounds.expected == pytest.approx(share)
        assert 0 <= bounds.low <= bounds.expected <= bounds.high <= 1
        assert STAND_IN not in source and "2026-01-08" in source
    other, source = residual_share(bundled(), bundled().gpu_by_id["nvidia-a100-sxm-80gb"], 3)
    assert other.low <= 0.20 and other.high >= 0.25 and STAND_IN in source  # the A100's own row: 20-25 %
    old, _ = residual_share(bundled(), bundled().gpu_by_id["nvidia-rtx-4090"], 5.5)
    assert old.high >= 0.33  # RTX 3090 at 66 months


def test_assumptions_reach_the_reader_in_both_languages() -> None:
    from engine.report.document import Source
    from engine.report.wording import words

    bought = price(
        cluster(1, card=SMALL_CARD), hours=10, purchase=PURCHASE, asked=scenario(**UNSTATED), catalog=bundled()
    )
    by_name = {t.name: t for t in (*bought.cash_terms, *bought.job_terms)}
    english, chinese = Language("en"), Language("zh_CN")
    for name in ("cost.host", "cost.engineering"):
        assert ASSUMPTION in words(Source(by_name[name].source), english)
        assert "规划假设" in words(Source(by_name[name].source), chinese)
        assert chinese.source(by_name[name].source) == words(Source(by_name[name].source), chinese)
    assert STAND_IN not in words(Source(by_name["cost.wear"].source), chinese)
    alone = price(cluster(1), hours=1, offer=OFFER.model_copy(update={"gpu_only": True}))
    assert ASSUMPTION in {t.name: t for t in alone.cash_terms}["cost.host_beside_gpu"].source


def test_every_term_has_a_label() -> None:
    bought = price(cluster(8, nodes=2), hours=10, purchase=PURCHASE)
    rented = price(cluster(8), hours=10, offer=OFFER.model_copy(update={"gpu_only": True}), storage_gb=10)
    names = {t.name for c in (bought, rented) for t in (*c.cash_terms, *c.job_terms)}
    assert names == set(LABELS) - {"cost.servers"}


def test_prices_cite_seller_and_day() -> None:
    for cost in (price(cluster(1), hours=1, offer=OFFER), price(cluster(1), hours=1, purchase=PURCHASE)):
        assert "2026-12-01, https://example.org" in cost.cash_terms[0].source
