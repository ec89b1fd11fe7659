"""What would make it fit, and how far it could go: for a plan, for any card, or for a fixed case.

Every answer comes from the formulas of the search: a change is made, and the same memory, verdict, speed and price are
computed again. Nothing here estimates a saving.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from itertools import combinations

from engine.advice.fit_changes import ANY_FIT, CHANGES, LEAST_TOKENS, MOST_CARDS, TOKEN_STEP, Step, World, longest
from engine.advice.fit_result import FitAdvice, FitChange, FitLimit
from engine.advice.fit_setting import Setting, nearest_setting, workload_of
from engine.advice.result import Assessment, TaskAssessment
from engine.architecture.model import Architecture
from engine.control import Control
from engine.cost.figures import figures_of
from engine.cost.plan import price_plan
from engine.errors import InputError
from engine.hardware.model import CatalogSnapshot, Cluster, Gpu
from engine.layout.model import InferenceJob, Job, Layout
from engine.memory.result import MemoryAssessment, Verdict
from engine.quantity import Estimate, Money
from engine.scenario import Scenario, TrainingWorkload
from engine.search.layouts import accumulation_steps
from engine.search.market import card_ids, market_of
from engine.search.resolve import anchor_of_task, resolve_task
from engine.speed.hardware import cluster_for

__all__ = ["fit_of_case", "fit_of_plan", "fit_on_card"]

#: Longest sequences that are tried where the model states no limit of its own, and largest micro-batch, most users.
MOST_TOKENS, MOST_SEQUENCES = 1 << 20, 4096
#: Kinds of changes that do the same thing, so that both together are no pair.
EXCLUSIVE = (
    {"fit.lora", "fit.qlora"}, {"fit.more_cards", "fit.bigger_card"}, {"fit.lora", "fit.offload"},
    {"fit.qlora", "fit.offload"},
)  # fmt: skip


def fit_of_plan(
    assessment: Assessment,
    scenario: Scenario,
    catalog: CatalogSnapshot,
    task_id: str | None = None,
    control: Control | None = None,
) -> FitAdvice:
    """What would make one task (the heaviest, where none is named) fit better on a plan of the advice."""
    found = next((t for t in assessment.tasks if t.task_id == task_id), None)
    chosen = found or max(assessment.tasks, key=lambda t: t.memory.driver.expected)
    task = next(t for t in scenario.tasks if t.id == chosen.task_id)
    resolved = resolve_task(task, catalog)
    setting = Setting(
        task.workload,
        resolved.architecture,
        chosen.job,
        chosen.layout,
        assessment.plan.cluster,
        scenario.constraints.headroom,
        anchor_of_task(scenario, resolved, catalog),
    )
    price = _Price(assessment, chosen, scenario, catalog)
    return _answer(task.id, setting, _world(scenario, catalog), control or Control(), price.difference)


def fit_on_card(
    scenario: Scenario,
    catalog: CatalogSnapshot,
    gpu: str,
    *,
    gpus: int = 1,
    task_id: str | None = None,
    control: Control | None = None,
) -> FitAdvice:
    """What would make a task (the first, where none is named) fit on so many of a card, whether it does or not.

    InputError where there is no such card, or where the batch can't be spread over so many.
    """
    control = control or Control()
    task = next((t for t in scenario.tasks if t.id == task_id), scenario.tasks[0])
    cluster = _cluster(scenario, catalog, gpu, gpus)
    resolved = resolve_task(task, catalog)
    resolved = replace(resolved, anchor=anchor_of_task(scenario, resolved, catalog))
    setting = nearest_setting(task, resolved, cluster, scenario.constraints.headroom, control)
    if setting is None:
        raise InputError("fit.no_layout", gpus=cluster.gpus, gpu=cluster.gpu.name)
    return _answer(task.id, setting, _world(scenario, catalog), control, None)


def fit_of_case(
    architecture: Architecture,
    job: Job | InferenceJob,
    layout: Layout,
    cluster: Cluster,
    catalog: CatalogSnapshot,
    *,
    headroom: float = 0.10,
    control: Control | None = None,
) -> FitAdvice:
    """What would make a fixed case fit."""
    setting = Setting(workload_of(job, layout), architecture, job, layout, cluster, headroom)
    sold = {i for o in (*catalog.offers, *catalog.purchase_prices) for i in o.gpu_ids}
    return _answer("", setting, World(catalog, _cards(catalog, sold)), control or Control(), None)


def _cluster(scenario: Scenario, catalog: CatalogSnapshot, name: str, gpus: int) -> Cluster:
    """So many of a card, in one machine as far as they go into one."""
    known = [g for i in sorted(card_ids([name], catalog)) if (g := catalog.gpu_by_id.get(i)) is not None]
    gpu = catalog.gpu_by_id.get(name) or min(known, key=lambda g: (g.usable_bytes or 0, g.id), default=None)
    if gpu is None:
        raise InputError("search.gpu_unknown", gpu=name)
    owned = [o for o in scenario.constraints.owned if gpu.id in card_ids([o.gpu_id], catalog)]
    full = gpu.max_gpus_per_node or 8
    per_node = gpus if gpus <= full else full
    if gpus % per_node:
        raise InputError("fit.no_layout", gpus=gpus, gpu=gpu.name)
    in_use = max((o.in_use_bytes for o in owned), default=0)
    return cluster_for(
        gpu, None, gpus_per_node=per_node, nodes=gpus // per_node, assumed=gpus > 1, in_use_bytes=in_use
    )  # fmt: skip


def _world(scenario: Scenario, catalog: CatalogSnapshot) -> World:
    market = market_of(scenario, catalog)
    sold = {i for row in (*market.offers, *market.purchases) for i in row.gpu_ids} - market.closed.keys()
    return World(catalog, _cards(catalog, sold), max(MOST_CARDS, scenario.constraints.max_gpus))


def _cards(catalog: CatalogSnapshot, sold: set[str]) -> tuple[Gpu, ...]:
    known = [g for g in catalog.gpus if g.id in sold and g.usable_bytes]
    return tuple(sorted(known, key=lambda g: (g.usable_bytes or 0, g.id)))


# money ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Price:
    """Cost of the job on the same plan when the work takes another time."""

    assessment: Assessment
    chosen: TaskAssessment
    scenario: Scenario
    catalog: CatalogSnapshot

    def difference(self, factor: float) -> Money | None:
        """What it costs more (or less) when this task takes `factor` times as long; None for a service."""
        if self.chosen.training is None:
            return None
        figures = figures_of(self.scenario, self.catalog)
        amounts = [
            price_plan(
                self.assessment.plan, self._hours(f), self.assessment.calendar_days, self.scenario, self.catalog,
                risk=self.assessment.risk, figures=figures,
            ).cost_of_job
            for f in (1.0, factor)
        ]  # fmt: skip
        change = (amounts[1].expected - amounts[0].expected).quantize(Decimal("0.01"))
        return Money(amount=change, currency=amounts[0].currency)

    def _hours(self, factor: float) -> Estimate:
        def total(name: str) -> float:
            parts = (
                getattr(t.busy_seconds, name) * (factor if t.task_id == self.chosen.task_id else 1.0)
                for t in self.assessment.tasks
            )
            return sum(parts) / 3600

        return Estimate(low=total("low"), expected=total("expected"), high=total("high"))


Price = Callable[[float], Money | None]


# changes ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Judge:
    """Judges settings against the one that is there."""

    base: Setting
    memory: MemoryAssessment
    pace: float | None
    world: World
    control: Control
    price: Price | None

    def change(self, steps: Sequence[Step], memory: MemoryAssessment) -> FitChange:
        """The answer for a setting that was reached by one or two steps."""
        setting = steps[-1].setting
        pace = setting.seconds_per_token()
        factor = pace / self.pace if pace is not None and self.pace else None
        same_plan = setting.cluster == self.base.cluster
        money = self.price(factor) if self.price is not None and factor is not None and same_plan else None
        return FitChange(
            codes=tuple(s.code for s in steps),
            words=tuple(s.words for s in steps),
            edits=tuple(e for s in steps for e in s.edits),
            job=setting.job,
            layout=setting.layout,
            cluster=setting.cluster,
            memory=memory,
            saved_bytes=self.memory.driver.expected - memory.driver.expected,
            time_factor=factor,
            cost_difference=money,
            keeps_result=all(s.keeps_result for s in steps),
        )

    def single(self, code: str) -> FitChange | None:
        """The mildest step of a change that fits; where none does, the one that leaves least missing."""
        tried: list[tuple[Step, MemoryAssessment]] = []
        for step in CHANGES[code](self.base, self.world):
            self.control.checkpoint()
            memory = step.setting.memory()
            tried.append((step, memory))
            if memory.verdict in self.world.goal and _missing(memory) < self._missing_now:
                return self.change([step], memory)
        helpful = [t for t in tried if _missing(t[1]) < self._missing_now]
        if not helpful:
            return None
        step, memory = min(helpful, key=lambda t: _missing(t[1]))
        return self.change([step], memory)

    @property
    def _missing_now(self) -> float:
        return _missing(self.memory) - 1.0  # less than a byte is no help

    def pairs(self, codes: Sequence[str]) -> Iterator[FitChange]:
        """Two changes together that fit, the mildest steps of each two."""
        for first, second in combinations([c for c in CHANGES if c in codes], 2):
            if {first, second} not in EXCLUSIVE:
                found = self._pair(first, second)
                if found is not None:
                    yield found

    def _pair(self, first: str, second: str) -> FitChange | None:
        starts = list(CHANGES[first](self.base, self.world))[:4]
        for one in starts:
            for two in list(CHANGES[second](one.setting, self.world))[:6]:
                self.control.checkpoint()
                memory = two.setting.memory()
                if memory.verdict in self.world.goal:
                    return self.change([one, two], memory)
        return None


def _missing(memory: MemoryAssessment) -> float:
    """Bytes that the card lacks (expected), negative where there are some to spare."""
    return memory.driver.expected + memory.in_use_bytes - (memory.usable_bytes or 0)


def _order(change: FitChange) -> tuple[bool, float, bool, float, tuple[str, ...]]:
    """What fits first; then the least card-hours, what changes no result, the most saved."""
    hours = (change.time_factor or float("inf")) * change.cluster.gpus
    return (not change.fits, round(hours, 6), not change.keeps_result, -change.saved_bytes, change.codes)


def _answer(task_id: str, setting: Setting, world: World, control: Control, price: Price | None) -> FitAdvice:
    memory = setting.memory()
    if memory.verdict in ANY_FIT:  # what fits tightly, or well, is helped only by what fits well
        world = replace(world, goal=frozenset({Verdict.FITS}))
    judge = _Judge(setting, memory, setting.seconds_per_token(), world, control, price)
    found = [c for code in CHANGES if (c := judge.single(code)) is not None]
    changes = tuple(sorted(found, key=_order))
    pair: FitChange | None = None
    if memory.verdict is not Verdict.FITS:
        helping = [c for c in changes if c.memory.verdict in world.goal]
        pair = min(judge.pairs([c.codes[0] for c in changes if c not in helping]), key=_order, default=None)
        if pair is not None and helping and _order(helping[0]) <= _order(pair):
            pair = None  # one change does it for less
    return FitAdvice(
        task_id=task_id,
        model=setting.architecture.name,
        cluster=setting.cluster,
        job=setting.job,
        layout=setting.layout,
        memory=memory,
        changes=changes,
        pair=pair,
        limits=tuple(_limits(setting, world, control)),
    )


# limits -----------------------------------------------------------------------------------------------------------


def _limits(setting: Setting, world: World, control: Control) -> Iterator[FitLimit]:
    if setting.cluster.gpu.usable_bytes is None:
        return
    work, layout = setting.workload, setting.layout
    if isinstance(work, TrainingWorkload):
        step = TOKEN_STEP * layout.context_parallel
        most = max(setting.architecture.max_context or MOST_TOKENS, LEAST_TOKENS)
        yield _limit(
            "fit.limit.sequence_length", work.sequence_length, lambda n: setting.stated(sequence_length=n),
            step, most, step, control,
        )  # fmt: skip
        yield _limit(
            "fit.limit.micro_batch", layout.micro_batch_size, lambda n: _batched(setting, work, n),
            1, MOST_SEQUENCES, 1, control,
        )  # fmt: skip
    else:
        most = setting.architecture.max_context or MOST_TOKENS
        yield _limit(
            "fit.limit.users", work.concurrent_users, lambda n: setting.stated(concurrent_users=n),
            layout.data_parallel, MOST_SEQUENCES, 1, control,
        )  # fmt: skip
        yield _limit(
            "fit.limit.prompt_tokens", work.prompt_tokens, lambda n: setting.stated(prompt_tokens=n),
            TOKEN_STEP, max(most - work.output_tokens, TOKEN_STEP), TOKEN_STEP, control,
        )  # fmt: skip
    yield _largest_model(setting, world.catalog, control)


def _batched(setting: Setting, work: TrainingWorkload, size: int) -> Setting:
    """Another micro-batch; the accumulation follows, so that the whole batch stays as near as it can."""
    at_once = setting.layout.data_parallel * size
    steps = accumulation_steps(work.global_batch_size, at_once) or max(1, work.global_batch_size // at_once)
    return setting.laid_out(micro_batch_size=size, gradient_accumulation_steps=steps)


def _limit(
    code: str,
    now: int,
    made: Callable[[int], Setting],
    least: int,
    most: int,
    step: int,
    control: Control,
) -> FitLimit:
    verdicts: dict[int, Verdict] = {}

    def verdict(value: int) -> Verdict:
        control.checkpoint()
        if value not in verdicts:
            verdicts[value] = made(value).verdict()
        return verdicts[value]

    safe = longest(lambda n: verdict(n) is Verdict.FITS, least, most, step)
    tight = longest(lambda n: verdict(n) in ANY_FIT, least, most, step)
    return FitLimit(code=code, now=now, most=safe, most_tightly=tight, capped=safe == most // step * step)


def _largest_model(setting: Setting, catalog: CatalogSnapshot, control: Control) -> FitLimit:
    """The model of the catalogue with most parameters that fits in the place of this one."""
    layout = setting.layout
    found: dict[str, Architecture] = {}
    for model in sorted(catalog.models, key=lambda m: (-m.parameters_total, m.id)):
        control.checkpoint()
        if not _spreads(model, layout):
            continue
        verdict = replace(setting, architecture=model, anchor=None).verdict()
        if verdict in ANY_FIT:
            found.setdefault("tightly", model)
        if verdict is Verdict.FITS:
            found["safe"] = model
            break
    safe, tight = found.get("safe"), found.get("tightly")
    return FitLimit(
        code="fit.limit.model",
        now=setting.architecture.parameters_total,
        most=safe.parameters_total if safe else None,
        most_tightly=tight.parameters_total if tight else None,
        name=safe.name if safe else "",
        name_tightly=tight.name if tight else "",
    )


def _spreads(model: Architecture, layout: Layout) -> bool:
    heads, wide, deep = model.attention_heads, layout.tensor_parallel, layout.pipeline_parallel
    return (wide == 1 or bool(heads and heads % wide == 0)) and model.layers % deep == 0
