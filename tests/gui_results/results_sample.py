"""A hand-made advice with plausible values, so that the pages are tested apart from the engine's answers."""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from typing import NamedTuple

from engine.advice.result import (
    Advice,
    ApiBaseline,
    Assessment,
    Pick,
    PickRole,
    Plan,
    Rejection,
    Searched,
    TaskAssessment,
)
from engine.cost.result import CostAssessment
from engine.findings import Finding, Severity
from engine.hardware.model import Cluster, Gpu, Link, Offer, PurchasePrice
from engine.layout.model import InferenceJob, Job, Layout, Lora, Method, Sharding
from engine.memory.result import MemoryAssessment, PhasePeak, Verdict
from engine.quantity import GIB, Estimate, Money, MoneyEstimate, Term
from engine.scenario import Constraints, Data, Economics, ModelChoice, Scenario, Task, TrainingWorkload
from engine.speed.result import InferenceSpeed, TrainingSpeed

__all__ = ["advice", "api_baseline", "empty_advice", "scenario", "serving_advice"]


def scenario(currency: str = "CNY", tasks: int = 1) -> Scenario:
    """LoRA of a 32B model within a budget."""
    return Scenario(
        name="Sample",
        as_of=date(2026, 12, 1),
        tasks=tuple(
            Task(
                id=f"t{n + 1}",
                name=f"Assistant {n + 1}",
                model=ModelChoice(parameters_billion=32),
                workload=TrainingWorkload(method=Method.LORA, data=Data(tokens=50_000_000)),
            )
            for n in range(tasks)
        ),
        constraints=Constraints(budget=Money(amount=Decimal(400_000), currency=currency), deadline_days=30),
        economics=Economics(currency=currency),
    )


def gpu(name: str, usable_gib: float | None, vendor: str = "NVIDIA") -> Gpu:
    """A card."""
    return Gpu(
        id=name.lower().replace(" ", "-"),
        vendor=vendor,
        name=name,
        memory_gb=80,
        usable_bytes=None if usable_gib is None else round(usable_gib * GIB),
        memory_bytes_per_second=3.35e12,
        bf16_flops=989e12,
        tdp_watts=700,
        source_url="https://example.org/card",
        source_date="2026-10-01",
        software_maturity=5,
    )


def cluster(name: str, usable_gib: float | None, per_node: int, nodes: int = 1, vendor: str = "NVIDIA") -> Cluster:
    """Cards with links."""
    return Cluster(
        gpu=gpu(name, usable_gib, vendor),
        gpus_per_node=per_node,
        nodes=nodes,
        intra_node=Link(kind="nvswitch", bytes_per_second=450e9, latency_seconds=5e-6),
        assumed=nodes == 1,
    )


def around(value: float, spread: float = 0.1) -> Estimate:
    """An estimate with a symmetric range."""
    return Estimate(low=value * (1 - spread), expected=value, high=value * (1 + spread))


def term(name: str, unit: str, value: float, formula: str = "count * size", **values: float | int | str) -> Term:
    """A term with ±10 %."""
    return Term(
        name=name,
        unit=unit,
        low=value * 0.9,
        expected=value,
        high=value * 1.1,
        formula=formula,
        values=values or {"count": 2, "size": value / 2},
        source="arXiv:1910.02054, section 3",
    )


def money(value: float, currency: str) -> MoneyEstimate:
    """A cost with ±10 %."""
    exact = Decimal(str(round(value, 2)))
    return MoneyEstimate(low=exact * Decimal("0.9"), expected=exact, high=exact * Decimal("1.1"), currency=currency)


def memory(peak_gib: float, usable_gib: float | None, verdict: Verdict) -> MemoryAssessment:
    """Memory of three terms."""
    peak = peak_gib * GIB
    parts = (0.7, 0.2, 0.1)
    names = ("memory.weights", "memory.activations", "memory.context")
    return MemoryAssessment(
        allocated=around(peak * 0.9),
        reserved=around(peak * 0.95),
        driver=around(peak),
        usable_bytes=None if usable_gib is None else round(usable_gib * GIB),
        verdict=verdict,
        peak_phase="backward",
        moments=(PhasePeak(moment="memory.moment.backward", phase="backward", allocated=around(peak * 0.9)),),
        terms=tuple(
            term(n, "bytes", peak * p, "parameters * bytes_each", parameters=32_000_000_000, bytes_each=2)
            for n, p in zip(names, parts, strict=True)
        ),
    )


def task(
    peak: float, usable: float | None, verdict: Verdict, *, hours: float, cards: int, name: str = "t1"
) -> TaskAssessment:
    """One LoRA task."""
    return TaskAssessment(
        task_id=name,
        job=Job(method=Method.LORA, sequence_length=4096, lora=Lora(rank=16)),
        layout=Layout(
            data_parallel=cards,
            shard_degree=cards,
            sharding=Sharding.ZERO3 if cards > 1 else Sharding.NONE,
            gradient_accumulation_steps=8,
        ),
        memory=memory(peak, usable, verdict),
        training=TrainingSpeed(
            step_seconds=around(12.0),
            tokens_per_step=262_144,
            tokens_per_second_per_gpu=around(2_700),
            model_flops_utilization=around(0.38),
            bottleneck="speed.compute",
            terms=(term("speed.compute", "seconds", 9.0), term("speed.communication", "seconds", 3.0)),
        ),
        time_to_train_seconds=around(hours * 3600 / 2),
        busy_seconds=around(hours * 3600),
        time_terms=(
            term("run.training", "seconds", hours * 1600),
            term("run.start", "seconds", hours * 200),
            term("campaign.final", "seconds", hours * 3000),
            term("campaign.sweep", "seconds", hours * 600),
        ),
    )


class Figures(NamedTuple):
    """What a plan costs, how long it takes, how risky it is, and how old its price is."""

    cost: float
    cash: float
    days: float
    risk: float
    age: int | None


def assessment(plan: Plan, tasks: tuple[TaskAssessment, ...], figures: Figures, currency: str) -> Assessment:
    """A plan with its figures."""
    cost, cash, days, risk, age = figures
    return Assessment(
        plan=plan,
        tasks=tasks,
        cost=CostAssessment(
            cash_needed=money(cash, currency),
            cost_of_job=money(cost, currency),
            risk_adjusted_cost=money(cost * (1 + risk), currency),
            price_age_days=age,
            cash_terms=(term("cost.rent", currency, cash),),
            job_terms=(term("cost.rent", currency, cost * 0.8), term("cost.engineering", currency, cost * 0.2)),
        ),
        calendar_days=around(days, 0.25),
        risk=risk,
        risk_terms=(term("risk.price_age", "1", risk, "days_old * per_day", days_old=40, per_day=risk / 40),)
        if risk
        else (),
        findings=(Finding(code="sample.tight", severity=Severity.WARNING, params={"x": 2 * GIB}),),
    )


def offer(name: str, provider: str, price: str, term_: str = "on-demand", currency: str = "USD") -> Offer:
    """A rented card."""
    return Offer(
        id=f"{provider}-{name}".lower().replace(" ", "-"),
        provider=provider,
        provider_kind="shared" if term_ == "shared" else "gpu-cloud",
        gpu_ids=(name.lower().replace(" ", "-"),),
        price_per_gpu_hour=Decimal(price),
        currency=currency,
        term=term_,  # type: ignore[arg-type]
        region="us-east",
        observed_on=date(2026, 10, 22),
        source_url="https://example.org/prices",
        source_title="Price list",
    )


def plans() -> tuple[Plan, Plan, Plan, Plan]:
    """Rented, shared, rented on two nodes, bought."""
    rented = Plan(
        id="rent-a100",
        cluster=cluster("A100 SXM 80GB", 79.3, 1),
        way="rent",
        offer=offer("A100 SXM 80GB", "RunPod", "1.49"),
    )
    shared = Plan(
        id="shared-a800",
        cluster=cluster("A800 SXM 80GB", 79.3, 1),
        way="shared",
        offer=offer("A800 SXM 80GB", "校级算力平台", "2", "shared", "CNY"),
    )
    large = Plan(
        id="rent-h100",
        cluster=cluster("H100 SXM 80GB", 79.6, 8, 2),
        way="rent",
        offer=offer("H100 SXM 80GB", "Lambda Cloud", "2.99", "reserved-1y"),
    )
    bought = Plan(
        id="buy-unknown",
        cluster=cluster("Ascend 910B", None, 8, vendor="Huawei"),
        way="buy",
        purchase=PurchasePrice(
            id="p1",
            gpu_ids=("ascend-910b",),
            product="Ascend 910B",
            seller="Example seller",
            condition="new",
            price=Decimal(110_000),
            currency="CNY",
            observed_on=date(2026, 8, 1),
        ),
    )
    return rented, shared, large, bought


def advice(currency: str = "CNY", tasks: int = 1) -> Advice:
    """Four plans, three picks, three rejections."""
    ids = [f"t{n + 1}" for n in range(tasks)]

    def both(
        peak: float, usable: float | None, verdict: Verdict, hours: float, cards: int
    ) -> tuple[TaskAssessment, ...]:
        return tuple(task(peak - 3 * n, usable, verdict, hours=hours, cards=cards, name=i) for n, i in enumerate(ids))

    rented, shared, large, bought = plans()
    fits, tight, unknown = Verdict.FITS, Verdict.FITS_TIGHTLY, Verdict.UNKNOWN
    ranked = (
        assessment(shared, both(71.0, 79.3, fits, 30, 1), Figures(900, 120, 9, 0.05, 11), currency),
        assessment(rented, both(73.5, 79.3, tight, 28, 1), Figures(1_200.5, 430, 2, 0.12, 40), currency),
        assessment(large, both(30.2, 79.6, fits, 4, 16), Figures(9_800, 9_000, 0.6, 0.0, 40), currency),
        assessment(bought, both(52.0, None, unknown, 60, 8), Figures(100_000, 1_100_000, 40, 0.4, 122), currency),
    )
    reason = Finding(code="sample.reason", params={"amount": "300.00 CNY", "name": "A100 SXM 80GB"})
    return Advice(
        scenario=scenario(currency, tasks),
        picks=(
            Pick(role=PickRole.CHEAPEST, index=0, reasons=(reason, reason)),
            Pick(role=PickRole.BALANCED, index=1, reasons=(reason,)),
            Pick(role=PickRole.LEAST_RISK, index=2, reasons=(reason, reason)),
        ),
        ranked=ranked,
        rejected=(
            Rejection(
                kind="gpu",
                gpu_id="rtx-4090",
                label="RTX 4090 24GB",
                reason=Finding(code="sample.short", params={"x": 47 * GIB}),
            ),
            Rejection(
                kind="offer",
                gpu_id="b200",
                offer_id="b200-x",
                label="B200 180GB",
                reason=Finding(code="sample.dear", params={"over": "38000 CNY"}),
            ),
            Rejection(
                kind="method",
                label="Full fine-tuning",
                reason=Finding(code="sample.short", params={"x": 300 * GIB}),
            ),
        ),
        api=(api_baseline(currency),),
        findings=(
            Finding(code="sample.note", severity=Severity.INFO, source="cases.md"),
            Finding(code="sample.tight", severity=Severity.SERIOUS, params={"x": GIB}),
            Finding(code="sample.advice", severity=Severity.ADVICE),
        ),
        catalog_version="2026.12",
        catalog_sha256="0" * 64,
        searched=Searched(clusters=400, candidates=120_000, plans=900, seconds=0.4),
    )


def api_baseline(currency: str = "CNY", *, allowed: bool = True) -> ApiBaseline:
    """A hosted fine-tuning."""
    return ApiBaseline(
        task_id="t1",
        provider="Together",
        model="Qwen 32B",
        cost=money(250, currency),
        terms=(term("cost.rent", currency, 250),),
        allowed=allowed,
        finding=Finding(code="sample.api", params={"amount": f"250 {currency}"}),
    )


def serving_advice() -> Advice:
    """One plan that serves."""
    base = advice("USD")
    first = base.ranked[0]
    served = first.tasks[0].model_copy(
        update={
            "job": InferenceJob(weight_quantization="fp8", concurrent_sequences=50),
            "layout": Layout(tensor_parallel=4, data_parallel=2),
            "training": None,
            "time_to_train_seconds": None,
            "inference": InferenceSpeed(
                time_to_first_token_seconds=around(0.4),
                time_per_output_token_seconds=around(0.02),
                tokens_per_second=around(2_000),
                tokens_per_second_per_gpu=around(250),
                bottleneck="speed.memory_bound",
                terms=(term("speed.memory_bound", "seconds", 0.02),),
            ),
        }
    )
    ranked = (first.model_copy(update={"tasks": (served,)}), *base.ranked[1:])
    return base.model_copy(update={"ranked": ranked})


def empty_advice() -> Advice:
    """Nothing meets the limits."""
    return advice().model_copy(update={"ranked": (), "picks": ()})
