"""A hand-made `Advice` with a plan of every way: bought, rented, shared; two tasks; rejected cards; an API baseline."""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from typing import Literal

from engine.advice.result import (
    Advice,
    ApiBaseline,
    Assessment,
    Pick,
    PickRole,
    Rejection,
    Searched,
    TaskAssessment,
)
from engine.cost.plan import price_plan
from engine.findings import Finding, Severity
from engine.hardware.model import CatalogSnapshot, Cluster, ExchangeRate, Gpu, Link, Offer, PurchasePrice
from engine.layout.model import Job, Layout, Lora, Method
from engine.layout.plan import Plan
from engine.memory.result import MemoryAssessment, PhasePeak, Verdict
from engine.quantity import GIB, Estimate, Money, MoneyEstimate, Term
from engine.scenario import Constraints, Data, Economics, ModelChoice, Runs, Scenario, Task, TrainingWorkload
from engine.speed.result import TrainingSpeed

AS_OF = date(2026, 12, 1)
H100 = Gpu(
    id="nvidia-h100-sxm-80gb", vendor="NVIDIA", name="H100 SXM 80GB", memory_gb=80, usable_bytes=round(79.18 * GIB),
    usable_basis="reported", tdp_watts=700, bf16_flops=989e12, memory_bytes_per_second=3.35e12,
    source_url="https://example.org/h100", source_date="2026-08-01", confidence="high",
)  # fmt: skip
RTX4090 = Gpu(
    id="nvidia-rtx-4090-24gb", vendor="NVIDIA", name="GeForce RTX 4090 24GB", memory_gb=24, segment="consumer",
    usable_bytes=round(23.6 * GIB), usable_basis="reported", tdp_watts=450, peer_to_peer=False,
    source_url="https://example.org/4090", source_date="2026-08-01",
)  # fmt: skip
A800 = Gpu(
    id="nvidia-a800-sxm-80gb", vendor="NVIDIA", name="A800 SXM 80GB", memory_gb=80, usable_bytes=round(79.2 * GIB),
    usable_basis="rule", tdp_watts=400, source_url="https://example.org/a800", source_date="2026-08-01",
)  # fmt: skip
NVLINK = Link(kind="nvswitch", bytes_per_second=450e9, latency_seconds=5e-6, source="vendor")
CATALOG = CatalogSnapshot(
    version="2026.12.1",
    sha256="ab" * 32,
    gpus=(H100, RTX4090, A800),
    exchange_rates=(
        ExchangeRate(currency="CNY", units_per_usd=Decimal("7.10"), observed_on=date(2026, 8, 18), source="test"),
    ),
)
RENT = Offer(
    id="cloud-h100", provider="Example Cloud", provider_kind="gpu-cloud", gpu_ids=(H100.id,), gpus_per_unit=8,
    region="us-east", country="US", price_per_gpu_hour=Decimal("2.49"), currency="USD", term="on-demand",
    observed_on=date(2026, 11, 20), source_url="https://example.org/cloud",
)  # fmt: skip
SHARED = Offer(
    id="campus-a800", provider="校级算力平台", provider_kind="shared", gpu_ids=(A800.id,), gpus_per_unit=1,
    region="校内", country="CN", price_per_gpu_hour=Decimal("2"), currency="CNY", term="shared",
    observed_on=date(2026, 11, 20), queue_days=5, max_gpus=8, origin="scenario",
)  # fmt: skip
BUY = PurchasePrice(
    id="buy-4090", gpu_ids=(RTX4090.id,), product="GeForce RTX 4090 24GB", seller="Example Shop", condition="new",
    price=Decimal("15999"), currency="CNY", country="CN", observed_on=date(2026, 8, 1),
    source_url="https://example.org/shop",
)  # fmt: skip


def scenario(name: str = "QLoRA of an 8B for a course", currency: str = "CNY") -> Scenario:
    """A campaign of two tasks within a budget and a deadline."""
    training = TrainingWorkload(
        method=Method.QLORA,
        data=Data(examples=50_000, tokens_per_example=900, epochs=3),
        runs=Runs(final_runs=2, sweep_runs=5),
    )
    lora = training.model_copy(update={"method": Method.LORA})
    return Scenario(
        name=name,
        as_of=AS_OF,
        tasks=(
            Task(
                id="t1",
                name="QLoRA 8B",
                project="P-1",
                model=ModelChoice(catalog_id="meta-llama/Llama-3.1-8B"),
                workload=training,
            ),
            Task(id="t2", name="LoRA 8B", model=ModelChoice(parameters_billion=8.0), workload=lora),
        ),
        constraints=Constraints(budget=Money(amount=Decimal(60_000), currency="CNY"), deadline_days=60, region="CN"),
        economics=Economics(currency=currency, hours_per_month=200, years=4),
    )


def memory(gpu: Gpu, scale: float = 1.0, verdict: Verdict = Verdict.FITS) -> MemoryAssessment:
    """Memory of one card by terms that add up."""
    sizes = {
        "memory.weights": 5.4, "memory.adapters": 0.3, "memory.gradients": 0.2, "memory.optimizer_states": 0.5,
        "memory.activations": 6.1, "memory.logits": 2.2, "memory.fragmentation": 0.6, "memory.context": 0.5,
        "memory.nccl": 0.3, "memory.workspace": 0.2,
    }  # fmt: skip
    terms = tuple(
        Term(
            name=name, unit="bytes", low=s * scale * GIB * 0.95, expected=s * scale * GIB, high=s * scale * GIB * 1.06,
            formula="parameters * bytes_per_parameter",
            values={"parameters": 8_030_000_000, "bytes_per_parameter": 0.55},
            source="arXiv:2305.14314",
        )
        for name, s in sizes.items()
    )  # fmt: skip
    total = Estimate(
        low=sum(t.low for t in terms), expected=sum(t.expected for t in terms), high=sum(t.high for t in terms)
    )
    inner = Estimate(low=total.low * 0.9, expected=total.expected * 0.9, high=total.high * 0.9)
    return MemoryAssessment(
        allocated=inner, reserved=inner, driver=total, usable_bytes=gpu.usable_bytes, verdict=verdict,
        peak_phase="backward", moments=(PhasePeak(moment="moment.backward", phase="backward", allocated=inner),),
        terms=terms,
    )  # fmt: skip


def times(estimate: Estimate, factor: float) -> Estimate:
    """An estimate times a factor."""
    return Estimate(low=estimate.low * factor, expected=estimate.expected * factor, high=estimate.high * factor)


def risk_term(name: str, share: float) -> Term:
    """A part of the risk."""
    return Term(name=name, unit="1", low=share, expected=share, high=share, formula="share", source="rule")


def assessment(
    plan_id: str, gpu: Gpu, gpus: int, way: Literal["buy", "rent", "shared"], days: float, hours: float, *,
    offer: Offer | None = None, purchase: PurchasePrice | None = None, asked: Scenario, scale: float = 1.0,
    verdict: Verdict = Verdict.FITS, risk: float = 0.1,
) -> Assessment:  # fmt: skip
    """A plan with both tasks, priced by the real cost formulas."""
    plan = Plan(
        id=plan_id,
        cluster=Cluster(gpu=gpu, gpus_per_node=gpus, intra_node=NVLINK),
        way=way,
        offer=offer,
        purchase=purchase,
    )
    busy = Estimate(low=hours * 0.8, expected=hours, high=hours * 1.4)
    calendar = Estimate(low=days * 0.8, expected=days, high=days * 1.5)
    tasks: list[TaskAssessment] = []
    for task, share in zip(asked.tasks, (0.6, 0.4), strict=True):
        seconds = times(busy, 3600 * share)
        step = Term(
            name="speed.compute", unit="seconds", low=1.8, expected=2.0, high=2.6,
            formula="flops / (peak * efficiency)",
            values={"flops": 8e14, "peak": 9.89e14, "efficiency": 0.4}, source="roofline",
        )  # fmt: skip
        tasks.append(
            TaskAssessment(
                task_id=task.id,
                job=Job(method=Method.QLORA, sequence_length=4096, lora=Lora()),
                layout=Layout(data_parallel=gpus, micro_batch_size=4, gradient_accumulation_steps=4),
                memory=memory(gpu, scale, verdict),
                training=TrainingSpeed(
                    step_seconds=step.estimate, tokens_per_step=65_536,
                    tokens_per_second_per_gpu=Estimate(low=2400, expected=3200, high=3700),
                    model_flops_utilization=Estimate(low=0.29, expected=0.38, high=0.44),
                    bottleneck="speed.compute", terms=(step,),
                ),
                time_to_train_seconds=times(seconds, 0.25),
                busy_seconds=seconds,
            )
        )  # fmt: skip
    return Assessment(
        plan=plan,
        tasks=tuple(tasks),
        cost=price_plan(plan, busy, calendar, asked, CATALOG, risk=risk, storage_gb=60),
        calendar_days=calendar,
        risk=risk,
        risk_terms=(
            risk_term("risk.headroom", risk / 2),
            risk_term("risk.price_age", risk / 2),
        ),
    )  # fmt: skip


def sample_advice(asked: Scenario | None = None, ways: tuple[str, ...] = ("buy", "rent", "shared")) -> Advice:
    """The best of each of the ways, with picks, rejections, findings and an API baseline."""
    asked = asked or scenario()
    plans = {
        "rent": assessment("rent:h100", H100, 1, "rent", 4, 60, offer=RENT, asked=asked, scale=1.3, risk=0.15),
        "buy": assessment(
            "buy:4090", RTX4090, 1, "buy", 24, 150, purchase=BUY, asked=asked, verdict=Verdict.FITS_TIGHTLY, risk=0.2
        ),
        "shared": assessment(
            "shared:a800", A800, 1, "shared", 10, 90, offer=SHARED, asked=asked, scale=1.25, risk=0.12
        ),
    }
    ranked = tuple(sorted((plans[w] for w in ways), key=lambda a: a.cost.risk_adjusted_cost.expected))
    roles = tuple(PickRole)
    reasons = Finding(code="file.is_folder", params={"path": "reason"})
    return Advice(
        scenario=asked,
        picks=tuple(Pick(role=roles[i], index=i, reasons=(reasons,)) for i in range(min(3, len(ranked)))),
        ranked=ranked,
        rejected=(Rejection(kind="gpu", gpu_id="x", label="GeForce RTX 3060 12GB", reason=reasons),),
        api=(
            ApiBaseline(
                task_id="t1", provider="Example API", model="llama-8b",
                cost=MoneyEstimate(
                    low=Decimal(300), expected=Decimal(420), high=Decimal(560), currency=asked.economics.currency
                ),
                terms=(), allowed=True, finding=reasons,
            ),
        ),
        findings=(reasons.model_copy(update={"severity": Severity.WARNING}),),
        catalog_version=CATALOG.version,
        catalog_sha256=CATALOG.sha256,
        searched=Searched(clusters=300, candidates=12_000, plans=200, seconds=0.4),
    )  # fmt: skip
