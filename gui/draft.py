"""`Draft`: what the person has typed so far. It may be wrong or incomplete; a `Scenario` may not. No Qt here.

Fields carry the names of the scenario's fields. A number that could not be read stays as the text that was typed, so
that going back and forth loses nothing. What is wrong is asked of the engine (`Scenario` validates), never decided
here; only what has not been chosen yet is known to the draft itself.
"""

from __future__ import annotations

from datetime import date
from typing import Any, Literal, Self, TypeAlias

from pydantic import BaseModel, ConfigDict, ValidationError

from engine.architecture.model import Architecture
from engine.hardware.model import ExchangeRate, Offer, PurchasePrice
from engine.inputs import problems_of
from engine.layout.model import Method
from engine.scenario import (
    Constraints,
    CostTerms,
    Data,
    Economics,
    InferenceWorkload,
    MeasuredPeak,
    MeasuredSpeed,
    ReportDetails,
    Runs,
    Scenario,
    TrainingWorkload,
)
from gui.problems import PAGE_OF_FIELD, Page, Problem

__all__ = ["Draft", "MoneyDraft", "OwnedDraft", "TaskDraft", "Typed"]

#: A number, the text that could not be read as one, or nothing.
Typed: TypeAlias = int | float | str | None


def _default(model: type[BaseModel], name: str) -> Any:
    return model.model_fields[name].default


class _Value(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")

    def changed(self, **changes: Any) -> Self:
        """The same with other values."""
        return type(self)(**{**dict(self), **changes})


class MoneyDraft(_Value):
    """An amount as typed and its currency."""

    amount: str | None = None
    currency: str = "USD"

    def document(self) -> dict[str, str] | None:
        """As the scenario's file has it; None where no amount is stated."""
        return None if self.amount in (None, "") else {"amount": str(self.amount), "currency": self.currency}


class OwnedDraft(_Value):
    """Cards that are there already."""

    gpu_id: str
    count: Typed = 1
    in_use_bytes: Typed = 0


class TaskDraft(_Value):
    """One task. Training and serving fields live side by side, so that changing one's mind loses nothing."""

    id: str
    name: str = ""
    project: str = ""
    method: str | None = None  # None = not chosen yet
    outputs_only: bool = False

    model_source: Literal["catalog", "config", "size"] = "catalog"
    catalog_id: str | None = None
    architecture: Architecture | None = None
    parameters_billion: Typed = None

    data_source: Literal["tokens", "examples", "file"] = "examples"
    tokens: Typed = None
    examples: Typed = None
    tokens_per_example: Typed = None
    epochs: Typed = _default(Data, "epochs")
    packed: bool = _default(Data, "packed")
    source_file: str = ""
    final_runs: Typed = _default(Runs, "final_runs")
    sweep_runs: Typed = _default(Runs, "sweep_runs")
    sweep_fraction: Typed = _default(Runs, "sweep_fraction")
    failed_fraction: Typed = _default(Runs, "failed_fraction")
    sequence_length: Typed = _default(TrainingWorkload, "sequence_length")
    global_batch_size: Typed = _default(TrainingWorkload, "global_batch_size")
    adapters: bool = _default(TrainingWorkload, "adapters")
    lora_rank: Typed = _default(TrainingWorkload, "lora_rank")
    lora_targets: str = _default(TrainingWorkload, "lora_targets")
    weight_quantization: str | None = None
    regime: str | None = None
    optimizer: str | None = None
    recomputation: str | None = None
    attention: str | None = None
    loss: str | None = None
    offload: str | None = None
    micro_batch_size: Typed = None
    framework: str = _default(TrainingWorkload, "framework")
    checkpoints_kept: Typed = _default(TrainingWorkload, "checkpoints_kept")
    virtual_tokens: Typed = _default(TrainingWorkload, "virtual_tokens")

    concurrent_users: Typed = _default(InferenceWorkload, "concurrent_users")
    prompt_tokens: Typed = _default(InferenceWorkload, "prompt_tokens")
    output_tokens: Typed = _default(InferenceWorkload, "output_tokens")
    requests_per_day: Typed = _default(InferenceWorkload, "requests_per_day")
    months: Typed = _default(InferenceWorkload, "months")
    tokens_per_second_per_user: Typed = _default(InferenceWorkload, "tokens_per_second_per_user")
    first_token_seconds: Typed = _default(InferenceWorkload, "first_token_seconds")
    serving_quantization: str | None = None
    kv_cache_bits: int = _default(InferenceWorkload, "kv_cache_bits")
    engine: str = _default(InferenceWorkload, "engine")

    @property
    def is_inference(self) -> bool:
        """Whether nothing is trained."""
        return self.method == Method.INFERENCE

    def model_document(self) -> dict[str, Any]:
        """The chosen model as the scenario's file has it; empty where none is chosen."""
        match self.model_source:
            case "catalog":
                return {"catalog_id": self.catalog_id} if self.catalog_id else {}
            case "config":
                return {"architecture": self.architecture.model_dump()} if self.architecture else {}
            case "size":
                given = self.parameters_billion not in (None, "")
                return {"parameters_billion": self.parameters_billion} if given else {}

    def document(self) -> dict[str, Any]:
        """As the scenario's file has it."""
        workload = self._inference() if self.is_inference else self._training()
        return {
            "id": self.id,
            "name": self.name,
            "project": self.project,
            "model": self.model_document(),
            "workload": workload,
        }

    def _training(self) -> dict[str, Any]:
        own = set(TrainingWorkload.model_fields) & set(type(self).model_fields)
        by_tokens = self.data_source == "tokens"
        return {
            **{name: getattr(self, name) for name in own},
            "kind": "training",
            "data": {
                "tokens": self.tokens if by_tokens else None,
                "examples": None if by_tokens else self.examples,
                "tokens_per_example": None if by_tokens else self.tokens_per_example,
                "epochs": self.epochs,
                "packed": self.packed,
                "source_file": self.source_file if self.data_source == "file" else "",
            },
            "runs": {name: getattr(self, name) for name in Runs.model_fields},
        }

    def _inference(self) -> dict[str, Any]:
        own = set(InferenceWorkload.model_fields) & set(type(self).model_fields) - {"weight_quantization"}
        stated = {name: getattr(self, name) for name in own}
        return {**stated, "kind": "inference", "weight_quantization": self.serving_quantization}

    def unchosen(self, index: int) -> list[Problem]:
        """What has not been stated yet."""
        found: list[Problem] = []
        if not self.method:
            found.append(Problem(Page.TASK, index, "method", "draft.no_goal"))
        if not self.model_document():
            name = {"catalog": "catalog_id", "config": "architecture", "size": "parameters_billion"}[self.model_source]
            found.append(Problem(Page.MODEL, index, name, "draft.no_model"))
        if not self.is_inference:
            wanted = ("tokens",) if self.data_source == "tokens" else ("examples", "tokens_per_example")
            code = "draft.no_file" if self.data_source == "file" else "draft.no_data"
            missing = [n for n in wanted if getattr(self, n) in (None, "")]
            found.extend(
                Problem(Page.DATA, index, name, code) for name in missing[: 1 if code == "draft.no_file" else 2]
            )
        return found


class Draft(_Value):
    """All that has been typed so far."""

    name: str = ""
    as_of: str = ""
    notes: str = ""
    tasks: tuple[TaskDraft, ...] = (TaskDraft(id="t1"),)

    budget: MoneyDraft = MoneyDraft()
    deadline_days: Typed = None
    ways: tuple[str, ...] = _default(Constraints, "ways")
    allow_spot: bool = _default(Constraints, "allow_spot")
    region: str = _default(Constraints, "region")
    export_controlled_allowed: bool = _default(Constraints, "export_controlled_allowed")
    data_may_leave: bool = _default(Constraints, "data_may_leave")
    api_allowed: bool = _default(Constraints, "api_allowed")
    include_gpus: tuple[str, ...] = ()
    exclude_gpus: tuple[str, ...] = ()
    vendors: tuple[str, ...] = ()
    owned: tuple[OwnedDraft, ...] = ()
    max_gpus: Typed = _default(Constraints, "max_gpus")
    headroom: Typed = _default(Constraints, "headroom")
    host_available: bool = _default(Constraints, "host_available")
    server_room: bool = _default(Constraints, "server_room")

    currency: str = _default(Economics, "currency")
    hours_per_month: Typed = _default(Economics, "hours_per_month")
    years: Typed = _default(Economics, "years")
    electricity_per_kwh: MoneyDraft = MoneyDraft()
    pue: Typed = None
    engineer_hour: MoneyDraft = MoneyDraft()
    discount_rate: Typed = _default(Economics, "discount_rate")
    terms: CostTerms = CostTerms()

    offers: tuple[Offer, ...] = ()
    purchase_prices: tuple[PurchasePrice, ...] = ()
    exchange_rates: tuple[ExchangeRate, ...] = ()
    measured: tuple[MeasuredPeak, ...] = ()
    measured_speeds: tuple[MeasuredSpeed, ...] = ()
    report: ReportDetails = ReportDetails()

    @classmethod
    def new(cls, *, currency: str = "USD", today: date | None = None) -> Draft:
        """An empty draft; prices will be read as of today."""
        none = MoneyDraft(currency=currency)
        day = (today or date.today()).isoformat()
        return cls(as_of=day, currency=currency, budget=none, electricity_per_kwh=none, engineer_hour=none)

    # tasks --------------------------------------------------------------------------------------------------

    def with_task(self, index: int, **changes: Any) -> Draft:
        """The same with one task changed."""
        tasks = list(self.tasks)
        tasks[index] = tasks[index].changed(**changes)
        return self.changed(tasks=tuple(tasks))

    def with_added_task(self, like: int | None = None) -> Draft:
        """The same with a further task at the end, empty or a copy of another."""
        number = 1 + max((int(t.id[1:]) for t in self.tasks if t.id[:1] == "t" and t.id[1:].isdigit()), default=0)
        fresh = TaskDraft(id=f"t{number}") if like is None else self.tasks[like].changed(id=f"t{number}")
        return self.changed(tasks=(*self.tasks, fresh))

    def without_task(self, index: int) -> Draft:
        """The same without one task; the last one stays."""
        if len(self.tasks) == 1:
            return self
        gone = self.tasks[index].id
        return self.changed(
            tasks=(*self.tasks[:index], *self.tasks[index + 1 :]),
            measured=tuple(m for m in self.measured if m.task_id != gone),
            measured_speeds=tuple(m for m in self.measured_speeds if m.task_id != gone),
        )

    # to and from a scenario ---------------------------------------------------------------------------------

    def document(self) -> dict[str, Any]:
        """As the scenario's file has it, whether it can be used or not."""
        limits = {name: getattr(self, name) for name in Constraints.model_fields}
        figures = {name: getattr(self, name) for name in Economics.model_fields}
        return {
            "schema_version": 1,
            "name": self.name,
            "as_of": self.as_of,
            "notes": self.notes,
            "tasks": [task.document() for task in self.tasks],
            "constraints": {**limits, "budget": self.budget.document(), "owned": [dict(o) for o in self.owned]},
            "economics": {
                **figures,
                "electricity_per_kwh": self.electricity_per_kwh.document(),
                "engineer_hour": self.engineer_hour.document(),
            },
            "offers": self.offers,
            "purchase_prices": self.purchase_prices,
            "exchange_rates": self.exchange_rates,
            "measured": self.measured,
            "measured_speeds": self.measured_speeds,
            "report": self.report,
        }

    def check(self) -> tuple[Scenario | None, tuple[Problem, ...]]:
        """The scenario, or all that keeps it from being one, in the order of the pages."""
        unchosen = [p for index, task in enumerate(self.tasks) for p in task.unchosen(index)]
        document = self.document()
        for task in document["tasks"]:
            if task["workload"].get("method", "") is None:
                task["workload"]["method"] = Method.LORA  # said above as not chosen; the other fields are still checked
        try:
            scenario = Scenario.model_validate(document)
        except ValidationError as error:
            wrong = [
                _placed(p.location, p.code, dict(p.params)) for p in problems_of(error) if p.location != ("tasks",)
            ]
            return None, tuple(sorted((*unchosen, *wrong), key=lambda p: p.order))
        return (None if unchosen else scenario), tuple(sorted(unchosen, key=lambda p: p.order))

    def problems(self, page: Page | None = None, task: int | None = None) -> tuple[Problem, ...]:
        """What is wrong or missing, on one page (and for one task) or on all."""
        found = self.check()[1]
        return tuple(p for p in found if page in (None, p.page) and (task is None or p.task in (None, task)))

    def to_scenario(self) -> Scenario | None:
        """The scenario; None while there are problems."""
        return self.check()[0]

    @classmethod
    def from_scenario(cls, scenario: Scenario) -> Draft:
        """A draft that states just what a scenario states."""
        limits, figures = scenario.constraints, scenario.economics

        def money(value: Any) -> MoneyDraft:
            if value is None:
                return MoneyDraft(currency=figures.currency)
            return MoneyDraft(amount=str(value.amount), currency=value.currency)

        plain: dict[str, Any] = {n: getattr(limits, n) for n in Constraints.model_fields} | {
            n: getattr(figures, n) for n in Economics.model_fields
        }
        values: dict[str, Any] = {
            **plain,
            "name": scenario.name,
            "as_of": scenario.as_of.isoformat(),
            "notes": scenario.notes,
            "tasks": tuple(_task_draft(t.model_dump()) for t in scenario.tasks),
            "budget": money(limits.budget),
            "owned": tuple(OwnedDraft(**dict(o)) for o in limits.owned),
            "electricity_per_kwh": money(figures.electricity_per_kwh),
            "engineer_hour": money(figures.engineer_hour),
            "offers": scenario.offers,
            "purchase_prices": scenario.purchase_prices,
            "exchange_rates": scenario.exchange_rates,
            "measured": scenario.measured,
            "measured_speeds": scenario.measured_speeds,
            "report": scenario.report,
        }
        return cls(**values)


def _task_draft(raw: dict[str, Any]) -> TaskDraft:
    """A task of a scenario (dumped) as a draft."""
    work, model = dict(raw["workload"]), raw["model"]
    values: dict[str, Any] = {name: raw[name] for name in ("id", "name", "project")}
    source = "config" if model["architecture"] else "size"
    values |= {**model, "model_source": "catalog" if model["catalog_id"] else source}
    if work.pop("kind") == "inference":
        values |= {"method": Method.INFERENCE.value, "serving_quantization": work.pop("weight_quantization")} | work
    else:
        data = work.pop("data")
        counted = "file" if data["source_file"] else "examples"
        values |= {**work, **data, **work.pop("runs"), "data_source": "tokens" if data["tokens"] else counted}
    return TaskDraft(**values)


def _placed(location: tuple[str | int, ...], code: str, params: dict[str, object]) -> Problem:
    """A problem of the scenario on the page and at the field where it was typed."""
    index = next((part for part in location if isinstance(part, int)), None) if "tasks" in location[:1] else None
    names = [str(part) for part in location if isinstance(part, str) and part in PAGE_OF_FIELD]
    name = names[-1] if names else "name"
    if name == "weight_quantization" and "inference" in location:
        name = "serving_quantization"
    return Problem(PAGE_OF_FIELD.get(name, Page.REVIEW), index, name, code, params)
