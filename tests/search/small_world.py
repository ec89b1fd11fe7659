"""A tiny catalogue made by hand, and scenarios on it, for tests of search and advice."""

from __future__ import annotations

import string
from collections.abc import Iterable, Iterator
from datetime import date
from decimal import Decimal
from typing import Any

from engine.advice.result import Advice
from engine.architecture.model import Architecture
from engine.findings import Finding
from engine.hardware.model import CatalogSnapshot, CostItem, ExchangeRate, Gpu, Offer, PurchasePrice, System
from engine.i18n import LANGUAGES, Language
from engine.messages import LABELS, TEMPLATES
from engine.scenario import Constraints, Economics, Scenario, Task

AS_OF = date(2026, 12, 1)

#: Llama 3.2 1B by its published config.json.
SMALL = Architecture(
    id="small", name="Small 1B", family="llama", block_kind="llama", hidden_size=2048, layers=16, attention_heads=32,
    kv_heads=8, head_dim=64, intermediate_size=8192, vocabulary_size=128_256, tied_embeddings=True, max_context=131_072,
    full_attention_layers=16, kv_elements_per_token_full=16 * 2 * 8 * 64, parameters_total=1_235_814_400,
    parameters_active=1_235_814_400,
)  # fmt: skip
#: Llama 3.1 8B by its published config.json.
MEDIUM = Architecture(
    id="medium", name="Medium 8B", family="llama", block_kind="llama", hidden_size=4096, layers=32, attention_heads=32,
    kv_heads=8, head_dim=128, intermediate_size=14_336, vocabulary_size=128_256, max_context=131_072,
    full_attention_layers=32, kv_elements_per_token_full=32 * 2 * 8 * 128, parameters_total=8_030_261_248,
    parameters_active=8_030_261_248,
)  # fmt: skip


def gpu(name: str, gib: float, tflops: float | None, bandwidth: float = 1e12, **changes: Any) -> Gpu:
    """A card with round figures."""
    values: dict[str, Any] = {
        "id": name, "vendor": "NVIDIA", "name": name.upper(), "architecture": "Ampere", "segment": "datacenter",
        "form_factor": "PCIe", "memory_gb": gib, "usable_bytes": round(gib * 2**30), "usable_basis": "reported",
        "memory_type": "HBM2e", "memory_bytes_per_second": bandwidth, "bf16_flops": tflops and tflops * 1e12,
        "fp16_flops": tflops and tflops * 1e12, "fp32_flops": 19.5e12, "interconnect": "none",
        "interconnect_bytes_per_second": 0, "max_gpus_per_node": 4, "pcie": "4.0x16", "pcie_bytes_per_second": 31.5e9,
        "tdp_watts": 300, "ecc": "yes", "compute_capability": "8.0", "software_stack": "CUDA", "software_maturity": 5,
        "source_url": "https://example.org/card", "source_date": "2026-01",
    }  # fmt: skip
    return Gpu.model_validate({**values, **changes})


def offer(name: str, card: str, price: float, **changes: Any) -> Offer:
    """An offer by the hour, a month old."""
    values: dict[str, Any] = {
        "id": name, "provider": f"Provider {name}", "provider_kind": "gpu-cloud", "gpu_ids": (card,),
        "gpus_per_unit": 1, "price_per_gpu_hour": Decimal(str(price)), "currency": "USD", "term": "on-demand",
        "observed_on": date(2026, 11, 1), "source_url": "https://example.org/offer",
    }  # fmt: skip
    return Offer.model_validate({**values, **changes})


def purchase(name: str, card: str, price: float, **changes: Any) -> PurchasePrice:
    """A price of a new card, a month old."""
    values: dict[str, Any] = {
        "id": name, "gpu_ids": (card,), "product": card, "seller": f"Shop {name}", "condition": "new",
        "price": Decimal(str(price)), "currency": "USD", "observed_on": date(2026, 11, 1),
        "source_url": "https://example.org/shop",
    }  # fmt: skip
    return PurchasePrice.model_validate({**values, **changes})


SYSTEM = System(
    id="big-x4", name="Big x4", maker="Maker", gpu_id="big", gpus=4, topology="NVSwitch",
    intra_node_bytes_per_second=600e9, fabric="InfiniBand HDR", inter_node_bytes_per_second=100e9, cloud=False,
)  # fmt: skip


def catalog(**changes: Any) -> CatalogSnapshot:
    """Three cards, one system, a few ways to get them."""
    values: dict[str, Any] = {
        "version": "test", "sha256": "0" * 64,
        "gpus": (gpu("tiny", 8, 60, 0.3e12), gpu("mid", 24, 120), gpu("big", 80, 300, 2e12, interconnect="NVLink3",
                 interconnect_bytes_per_second=600e9)),
        "systems": (SYSTEM,),
        "offers": (offer("a", "mid", 0.5), offer("b", "big", 2.0), offer("c", "big", 1.8, gpus_per_unit=4),
                   offer("t", "tiny", 0.1)),
        "purchase_prices": (purchase("m", "mid", 2_000), purchase("g", "big", 15_000)),
        "cost_items": (CostItem(id="f", item="Unexpected interruption rate, large cluster", kind="failure",
                                value=Decimal("0.00002"), unit="per GPU-hour"),),
        "exchange_rates": (ExchangeRate(currency="CNY", units_per_usd=Decimal(7), observed_on=date(2026, 8, 1),
                                        source="test"),),
        "models": (SMALL, MEDIUM),
        "model_aliases": {"small": "small"},
    }  # fmt: skip
    return CatalogSnapshot.model_validate({**values, **changes})


def training(model: str = "small", method: str = "lora", **changes: Any) -> Task:
    """A training task on ten million tokens."""
    workload = {"kind": "training", "method": method, "data": {"tokens": 10_000_000}, "sequence_length": 2048,
                "global_batch_size": 16, **changes}  # fmt: skip
    return Task.model_validate({"id": "t1", "name": "Job", "model": {"catalog_id": model}, "workload": workload})


def serving(model: str = "medium", **changes: Any) -> Task:
    """A service for a few users."""
    workload = {"kind": "inference", "concurrent_users": 4, "requests_per_day": 500, "months": 1, **changes}
    return Task.model_validate({"id": "s1", "name": "Service", "model": {"catalog_id": model}, "workload": workload})


def wordless(findings: Iterable[Finding]) -> list[str]:
    """Codes of findings that have no words, or whose parameters are not those that their words name."""
    bad: list[str] = []
    for finding in findings:
        template = TEMPLATES.get(finding.code, "")
        named = {name for _, name, _, _ in string.Formatter().parse(template) if name}
        labels = [v for v in finding.params.values() if isinstance(v, str) and v.split(".")[0] in LABEL_KINDS]
        if not template or named != finding.params.keys() or any(v not in LABELS for v in labels):
            bad.append(finding.code)
        else:
            for code in LANGUAGES:
                Language(code).text(finding)
    return bad


LABEL_KINDS = ("way", "region", "method", "term", "link", "risk", "offload", "optimizer")


def all_findings(advice: Advice) -> Iterator[Finding]:
    """Every finding anywhere in an advice."""
    yield from advice.findings
    yield from (r.reason for r in advice.rejected)
    for pick in advice.picks:
        yield from pick.reasons
    for assessment in advice.ranked:
        yield from assessment.findings
    for baseline in advice.api:
        yield baseline.finding


def scenario(*tasks: Task, economics: dict[str, Any] | None = None, **constraints: Any) -> Scenario:
    """A scenario within at most four cards unless said otherwise."""
    limits = Constraints.model_validate({"max_gpus": 4, **constraints})
    money = Economics.model_validate(economics or {})
    return Scenario(as_of=AS_OF, tasks=tasks or (training(),), constraints=limits, economics=money)
