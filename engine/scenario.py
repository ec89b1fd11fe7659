"""`Scenario`: all that the user states. Frozen, validated, versioned JSON; the file that is saved and mailed."""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from engine.architecture.model import Architecture
from engine.hardware.model import ExchangeRate, Offer, PurchasePrice
from engine.layout.model import (
    Attention,
    InferenceJob,
    Job,
    Layout,
    Loss,
    Method,
    Offload,
    Optimizer,
    Recomputation,
    Regime,
    WeightQuantization,
)
from engine.quantity import Currency, Frozen, Money

__all__ = [
    "SCHEMA_VERSION",
    "Constraints",
    "CostTerms",
    "Data",
    "Economics",
    "InferenceWorkload",
    "MeasuredPeak",
    "MeasuredSpeed",
    "ModelChoice",
    "OwnedGpus",
    "ReportDetails",
    "Runs",
    "Scenario",
    "Task",
    "TrainingWorkload",
    "Workload",
]

SCHEMA_VERSION = 1

#: Tokens of one run beyond which a figure is a slip: the largest corpora have some 10^14. It keeps costs printable.
MOST_TOKENS_PER_RUN = 1e18
#: A century: no deadline is later.
MOST_DAYS = 36_525.0
#: Amount of money beyond which a figure is a slip, in any currency; exact sums of cents hold up to 10^26.
MOST_MONEY = Decimal("1e15")


def _within_reason(money: Money) -> Money:
    if not 0 <= money.amount <= MOST_MONEY:
        raise ValueError(f"an amount between 0 and {MOST_MONEY}")
    return money


StatedMoney = Annotated[Money, AfterValidator(_within_reason)]


class ModelChoice(Frozen):
    """A model: by catalogue id, by dimensions that were read from a file, or by its size alone (a guess)."""

    catalog_id: str | None = None
    architecture: Architecture | None = None
    parameters_billion: float | None = Field(default=None, gt=0, le=20_000)


class Data(Frozen):
    """Training data of one run: `tokens`, or examples x tokens_per_example; either is passed `epochs` times."""

    tokens: int | None = Field(default=None, gt=0, le=10**18)  # far beyond what is read, so that products stay finite
    examples: int | None = Field(default=None, gt=0, le=10**18)
    tokens_per_example: float | None = Field(default=None, gt=0, le=1e12)
    epochs: float = Field(default=1.0, gt=0, le=1e6)
    packed: bool = True
    source_file: str = ""  # name of the file that was counted, for the record

    @model_validator(mode="after")
    def _within_reason(self) -> Self:
        if self.tokens_per_run > MOST_TOKENS_PER_RUN:
            raise ValueError(f"more than {MOST_TOKENS_PER_RUN:g} tokens in a run")
        return self

    @property
    def tokens_per_run(self) -> float:
        """Tokens that one run trains on, without padding."""
        once = self.tokens if self.tokens is not None else (self.examples or 0) * (self.tokens_per_example or 0)
        return once * self.epochs


class Runs(Frozen):
    """How many runs the campaign has: the final ones, the sweep before, and what fails."""

    final_runs: int = Field(default=1, ge=1, le=1_000_000)
    sweep_runs: int = Field(default=0, ge=0, le=1_000_000)
    sweep_fraction: float = Field(default=0.2, gt=0, le=1)  # length of a sweep run relative to a final one
    failed_fraction: float = Field(default=0.1, ge=0, lt=1)  # share of run time lost to failed runs


class TrainingWorkload(Frozen):
    """Any kind of training. A knob that is None is left to the search."""

    kind: Literal["training"] = "training"
    method: Method
    data: Data
    runs: Runs = Runs()
    sequence_length: int = Field(default=4096, gt=0, le=10_000_000)
    global_batch_size: int = Field(default=64, gt=0)  # sequences (pairs) per optimizer step
    adapters: bool = True  # preference methods: train adapters rather than all weights
    lora_rank: int = Field(default=16, gt=0, le=4096)
    lora_targets: Literal["all-linear", "attention", "q,k,v,o", "q,v", "mlp"] = "all-linear"
    weight_quantization: WeightQuantization | None = None  # qlora: None = nf4 with double quantisation
    regime: Regime | None = None
    optimizer: Optimizer | None = None
    recomputation: Recomputation | None = None
    attention: Attention | None = None
    loss: Loss | None = None
    offload: Offload | None = None  # None = no offload unless nothing else fits
    micro_batch_size: int | None = Field(default=None, gt=0)
    framework: str = "hf-transformers"
    checkpoints_kept: int = Field(default=3, ge=1)
    virtual_tokens: int = Field(default=20, ge=1)


class InferenceWorkload(Frozen):
    """Serving, or only needing outputs."""

    kind: Literal["inference"] = "inference"
    concurrent_users: int = Field(default=1, ge=1)
    prompt_tokens: int = Field(default=1024, ge=1)
    output_tokens: int = Field(default=512, ge=1)
    requests_per_day: float = Field(default=1000, ge=0, le=1e12)
    months: float = Field(default=12, gt=0, le=1200)  # how long the service runs
    tokens_per_second_per_user: float = Field(default=10, gt=0, le=1e6)  # target while decoding
    first_token_seconds: float = Field(default=5, gt=0, le=1e9)  # target
    weight_quantization: WeightQuantization | None = None  # None = the search may choose (16-bit, fp8, 4-bit)
    kv_cache_bits: Literal[4, 8, 16] = 16
    engine: Literal["vllm", "sglang", "tensorrt-llm", "llama.cpp", "ollama", "hf-transformers"] = "vllm"
    outputs_only: bool = False  # "I only need outputs": leads to the API baseline


Workload = Annotated[TrainingWorkload | InferenceWorkload, Field(discriminator="kind")]


class Task(Frozen):
    """One thing to do on the hardware."""

    id: str
    name: str = ""
    project: str = ""
    model: ModelChoice
    workload: Workload


class OwnedGpus(Frozen):
    """Cards that are there already."""

    gpu_id: str
    count: int = Field(default=1, gt=0)
    in_use_bytes: int = Field(default=0, ge=0)


class Constraints(Frozen):
    """What limits the choice. Empty means no limit."""

    budget: StatedMoney | None = None
    deadline_days: float | None = Field(default=None, gt=0, le=MOST_DAYS)
    ways: tuple[Literal["buy", "rent", "shared", "owned"], ...] = ("buy", "rent", "shared", "owned")
    allow_spot: bool = False
    region: Literal["", "CN", "US", "EU", "UK", "other"] = ""
    export_controlled_allowed: bool = True  # False: cards restricted for the region may not be bought
    data_may_leave: bool = True  # False: no rented cloud, no API
    api_allowed: bool = True
    include_gpus: tuple[str, ...] = ()
    exclude_gpus: tuple[str, ...] = ()
    vendors: tuple[str, ...] = ()
    owned: tuple[OwnedGpus, ...] = ()
    max_gpus: int = Field(default=64, gt=0, le=4096)
    headroom: float = Field(default=0.10, ge=0, lt=0.9)
    host_available: bool = False  # a machine with free slots is there: bare cards need no host bought around them
    server_room: bool = True  # False: only machines that stand in an office (workstations)


class CostTerms(Frozen):
    """What a purchase or a contract brings with it. Nothing is added that is not stated, but for the spare parts."""

    project_months: int | None = Field(default=None, ge=1, le=120)  # how long the work goes on; None = the years below
    accounting_years: float = Field(default=5, gt=0, le=20)  # depreciation in the books, straight line
    education_discount: float = Field(default=0, ge=0, lt=1)  # or a negotiated one, on what is bought
    import_duty: float = Field(default=0, ge=0, le=2)
    tax_rate: float = Field(
        default=0, ge=0, le=1
    )  # VAT on top of the prices, bought and rented; 0 = as they are stated
    financed_share: float = Field(default=0, ge=0, le=1)  # share of the price that is lent
    loan_rate: float = Field(default=0.06, ge=0, lt=1)  # a year; also that of a lease
    loan_months: int = Field(default=36, ge=1, le=120)
    colocation_per_kw_month: Money | None = None  # None = the room costs nothing extra
    staff_hours_per_month: float = Field(default=0, ge=0, le=730)  # of looking after machines of one's own
    warranty_months: int = Field(default=36, ge=0, le=120)
    spares_per_year: float = Field(default=0.03, ge=0, lt=1)  # of the price, once the warranty is over (assumption)
    snapshot_gb: float = Field(default=0, ge=0)  # kept at the provider beside data and checkpoints
    support_share: float = Field(default=0, ge=0, le=1)  # support plan of a provider, of the rent
    minimum_top_up: Money | None = None  # smallest payment in advance
    base_share: float = Field(default=0.6, gt=0, lt=1)  # hybrid: share of the cards that is bought, the rest is rented
    wait_months: int = Field(default=6, ge=1, le=60)  # way "wait": rented until then
    orchestration_share: float = Field(
        default=0, ge=0, le=1
    )  # scheduler and monitoring, of the compute of a checkpoint
    recovery_hours: float = Field(default=2, ge=0, le=200)  # engineer's hours for each failed run (assumption)
    reuse_value: Money | None = None  # what checkpoints and evaluations are worth later, for each successful one


class Economics(Frozen):
    """Figures that costs are built from. A figure that is None is taken from the catalogue for the region."""

    currency: Currency = "USD"
    hours_per_month: float = Field(default=200, gt=0, le=730)  # use of bought cards by all work
    years: float = Field(default=4, gt=0, le=10)  # technical life of what is bought
    electricity_per_kwh: StatedMoney | None = None
    pue: float | None = Field(default=None, ge=1, le=3)
    engineer_hour: StatedMoney | None = None
    discount_rate: float = Field(default=0.05, ge=0, lt=1)
    terms: CostTerms = CostTerms()


class MeasuredPeak(Frozen):
    """A peak that the user measured in a run of their own, with what ran: estimates of like runs start from it."""

    task_id: str
    gpu_id: str
    kind: Literal["allocated", "reserved", "driver"]  # asked for, reserved (PyTorch), shown by the driver
    peak_bytes: int = Field(gt=0)
    model: ModelChoice
    job: Job | InferenceJob
    layout: Layout


class MeasuredSpeed(Frozen):
    """A rate that the user measured in a run of their own (of a service: output tokens), with what ran and on what."""

    task_id: str
    gpu_id: str
    system_id: str = ""
    gpus_per_node: int = Field(default=1, gt=0)
    nodes: int = Field(default=1, gt=0)
    tokens_per_second_per_gpu: float = Field(gt=0, lt=1e9)  # of one card, without padding, once it runs steadily
    model: ModelChoice
    job: Job | InferenceJob
    layout: Layout


class ReportDetails(Frozen):
    """What only the applicant can state; no figure rests on it. What is missing prints as to be completed (rule R3)."""

    title: str = Field(default="", max_length=300)
    applicant: str = Field(default="", max_length=200)
    unit: str = Field(default="", max_length=200)
    fund: str = Field(default="", max_length=200)  # name and number of the money
    why_now: str = Field(default="", max_length=4000)
    decision_by: str = Field(default="", max_length=100)
    next_step: str = Field(default="", max_length=1000)
    shared_enquiry: str = Field(default="", max_length=2000)  # dated answer of the shared facility
    equipment_name: str = Field(default="", max_length=200)  # short and generic, the same on every form
    cosigner: str = Field(default="", max_length=200)
    money_ends: str = Field(default="", max_length=500)  # when the fund ends, who pays afterwards
    classification: str = Field(default="", max_length=500)  # research instrument or general equipment; imported
    purpose: str = Field(default="", max_length=4000)
    existing: str = Field(default="", max_length=4000)  # same type: where, age, hours of last year, why not
    quotations: str = Field(default="", max_length=4000)
    purchase_method: str = Field(default="", max_length=1000)
    related_purchases: str = Field(default="", max_length=1000)  # of the unit in the same year (rule R19)
    site: str = Field(default="", max_length=2000)
    operator: str = Field(default="", max_length=1000)
    hours_forecast: str = Field(default="", max_length=1000)
    sharing: str = Field(default="", max_length=2000)
    data_class: str = Field(default="", max_length=1000)
    export_declaration: str = Field(default="", max_length=2000)
    benefits: str = Field(default="", max_length=2000)


class Scenario(Frozen):
    """All that the user states."""

    schema_version: Literal[1] = 1
    name: str = ""
    as_of: date
    tasks: tuple[Task, ...] = Field(min_length=1)
    constraints: Constraints = Constraints()
    economics: Economics = Economics()
    offers: tuple[Offer, ...] = ()  # the user's own and shared ones, so that the file stands alone
    purchase_prices: tuple[PurchasePrice, ...] = ()  # own quotations
    exchange_rates: tuple[ExchangeRate, ...] = ()  # override those of the catalogue
    measured: tuple[MeasuredPeak, ...] = ()  # at most one counts for each task: the last
    measured_speeds: tuple[MeasuredSpeed, ...] = ()  # at most one counts for each task: the last
    notes: str = ""
    report: ReportDetails = ReportDetails()
