"""Plans and scenarios with round figures, so that each expected amount can be worked out by hand."""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from functools import cache
from typing import Any

from engine.catalog.load import load_base
from engine.cost.plan import price_plan
from engine.cost.result import CostAssessment
from engine.hardware.model import CatalogSnapshot, Cluster, ExchangeRate, Gpu, Link, Offer, PurchasePrice
from engine.layout.model import Method
from engine.layout.plan import Plan
from engine.quantity import GIB, Estimate, Money
from engine.scenario import Data, ModelChoice, Scenario, Task, TrainingWorkload

AS_OF = date(2026, 12, 1)
CARD = Gpu(
    id="nvidia-h100-sxm-80gb", vendor="NVIDIA", name="H100", memory_gb=80, usable_bytes=80 * GIB,
    usable_basis="reported", tdp_watts=700, source_url="", source_date="2026-08-01",
)  # fmt: skip
SMALL_CARD = CARD.model_copy(
    update={
        "id": "nvidia-rtx-4090-24gb",
        "tdp_watts": 450,
        "memory_gb": 24,
        "usable_bytes": 24 * GIB,
        "segment": "consumer",
    }
)
EMPTY = CatalogSnapshot(
    version="1",
    sha256="0" * 64,
    gpus=(CARD, SMALL_CARD),
    exchange_rates=(
        ExchangeRate(currency="CNY", units_per_usd=Decimal(7), observed_on=date(2026, 8, 1), source="test"),
        ExchangeRate(currency="EUR", units_per_usd=Decimal("0.8"), observed_on=date(2026, 8, 1), source="test"),
    ),
)
OFFER = Offer(
    id="o", provider="Cloud", provider_kind="gpu-cloud", gpu_ids=(CARD.id,), price_per_gpu_hour=Decimal(3),
    currency="USD", term="on-demand", observed_on=AS_OF, origin="scenario", source_url="https://example.org",
)  # fmt: skip
PURCHASE = PurchasePrice(
    id="p", gpu_ids=(CARD.id,), product="H100", seller="Shop", condition="new", price=Decimal(10_000), currency="USD",
    observed_on=AS_OF, origin="scenario", source_url="https://example.org",
)  # fmt: skip


@cache
def bundled() -> CatalogSnapshot:
    """The catalogue that ships."""
    return load_base()


def scenario(region: str = "US", host_available: bool = False, **economics: Any) -> Scenario:
    """One training task; the tariff is 0.10, the engineer's hour 50, the PUE 1 unless told otherwise."""
    currency = economics.get("currency", "USD")
    stated = {
        "currency": currency,
        "electricity_per_kwh": Money(amount=Decimal("0.10"), currency=currency),
        "engineer_hour": Money(amount=Decimal(50), currency=currency),
        "pue": 1.0,
        "hours_per_month": 100.0,
        "years": 4.0,
    }
    task = Task(
        id="t", model=ModelChoice(parameters_billion=8),
        workload=TrainingWorkload(method=Method.LORA, data=Data(tokens=10**6))
    )  # fmt: skip
    document = Scenario(as_of=AS_OF, tasks=(task,)).model_dump()
    document["constraints"].update(region=region, host_available=host_available)
    document["economics"] = {**stated, **economics}
    return Scenario.model_validate(document)


def cluster(gpus: int = 1, nodes: int = 1, card: Gpu = CARD) -> Cluster:
    """`nodes` machines of `gpus` cards."""
    link = Link(kind="pcie-host", bytes_per_second=25e9, latency_seconds=1e-5, source="test")
    return Cluster(gpu=card, gpus_per_node=gpus, nodes=nodes, intra_node=link, inter_node=link)


def price(
    machines: Cluster, *, hours: float, offer: Offer | None = None, purchase: PurchasePrice | None = None,
    way: str = "", asked: Scenario | None = None, catalog: CatalogSnapshot = EMPTY, days: float = 10.0,
    risk: float = 0.0, storage_gb: float = 0.0, result_gb: float | None = None,
) -> CostAssessment:  # fmt: skip
    """The price of a plan of exactly known hours."""
    shared = offer is not None and offer.term == "shared"
    way = way or ("shared" if shared else "rent" if offer else "buy" if purchase else "owned")
    plan = Plan.model_validate({"id": "x", "cluster": machines, "way": way, "offer": offer, "purchase": purchase})
    return price_plan(
        plan,
        Estimate.exact(hours),
        Estimate.exact(days),
        asked or scenario(),
        catalog,
        risk=risk,
        storage_gb=storage_gb,
        result_gb=result_gb,
    )


def amounts(cost: CostAssessment, kind: str = "job") -> dict[str, float]:
    """Expected amount of each term."""
    return {t.name: t.expected for t in (cost.job_terms if kind == "job" else cost.cash_terms)}
