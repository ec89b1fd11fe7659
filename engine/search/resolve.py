"""From what a person states to what is computed: architecture, job, and the knobs that the search may turn.

A knob that the person left open gets what a practitioner would take; each such choice is a finding
``assumption.*``. The lighter tiers are tried only where the usual settings leave no plan at all.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal, cast

from engine.architecture.model import Architecture
from engine.architecture.size import from_size
from engine.architecture.stored import own_format
from engine.errors import InputError
from engine.findings import Finding, Severity
from engine.hardware.model import CatalogSnapshot, Gpu
from engine.layout.model import (
    Attention,
    InferenceJob,
    Job,
    Lora,
    Loss,
    Method,
    Offload,
    Optimizer,
    Recomputation,
    Regime,
    Sharding,
    WeightQuantization,
)
from engine.memory.anchor import Anchor, anchor_of
from engine.scenario import InferenceWorkload, ModelChoice, Scenario, Task, TrainingWorkload
from engine.speed.anchor import SpeedAnchor, speed_anchor_of
from engine.speed.hardware import cluster_for, usual_precision

__all__ = [
    "COVERED_METHODS",
    "Knobs",
    "Precision",
    "ResolvedTask",
    "anchor_of_task",
    "default_regime",
    "precision_of",
    "resolve_model",
    "resolve_task",
    "resolve_tasks",
    "training_job",
    "trains_adapters",
]  # fmt: skip

Precision = Literal["bf16", "fp16"]

#: Methods whose memory, time and cost the search computes; the others are said to be not covered yet.
COVERED_METHODS = frozenset(
    {
        Method.PRETRAIN, Method.CONTINUED, Method.FULL, Method.FREEZE,
        Method.LORA, Method.QLORA, Method.PROMPT, Method.DPO,
    }
)  # fmt: skip
#: Methods that compare a chosen with a rejected answer: two sequences for each sample.
PAIRED_METHODS = frozenset({Method.DPO, Method.ORPO, Method.SIMPO, Method.REWARD})
#: Micro-batches tried: more than 64 sequences a card is outside of what any recipe in the measurements uses.
MICRO_BATCHES = (1, 2, 4, 8, 16, 32, 64)
#: Share of the weights that "freeze" trains where nothing else is said: the last quarter of the layers.
FREEZE_FRACTION = 0.25
DEEPSPEED_FRAMEWORKS = ("deepspeed", "llama-factory-deepspeed")
PIPELINE_FRAMEWORKS = ("megatron", "megatron-lm", "nemo", "torchtitan", "deepspeed-megatron")


@dataclass(frozen=True)
class Knobs:
    """What the search may choose from; each tuple is in the order of preference (the first wins a tie)."""

    shardings: tuple[Sharding, ...] = (Sharding.NONE,)
    regimes: tuple[Regime, ...] = (Regime.BF16_AMP,)
    optimizers: tuple[Optimizer, ...] = (Optimizer.ADAMW,)
    recomputations: tuple[Recomputation, ...] = (Recomputation.NONE, Recomputation.FULL)
    losses: tuple[Loss, ...] = (Loss.PLAIN, Loss.CHUNKED)
    offload: Offload = Offload.NONE
    attention: Attention = Attention.FLASH
    micro_batches: tuple[int, ...] = MICRO_BATCHES
    tensor_parallel: bool = False
    pipeline_parallel: bool = False
    context_parallel: bool = False


@dataclass(frozen=True)
class ResolvedTask:
    """One task, ready for the formulas. `jobs` has several entries where serving may choose a number format."""

    task: Task
    architecture: Architecture
    jobs: tuple[Job | InferenceJob, ...]
    tiers: tuple[Knobs, ...]
    assumptions: tuple[Finding, ...]
    anchor: Anchor | None = None  # what the user measured of this task
    speed_anchor: SpeedAnchor | None = None

    @property
    def training(self) -> TrainingWorkload | None:
        """The workload if it is training."""
        return self.task.workload if isinstance(self.task.workload, TrainingWorkload) else None

    @property
    def serving(self) -> InferenceWorkload | None:
        """The workload if it is serving."""
        return self.task.workload if isinstance(self.task.workload, InferenceWorkload) else None


def precision_of(gpu: Gpu) -> Precision:
    """The 16-bit format that a card trains in: BF16, but FP16 where BF16 is only emulated (before Ampere)."""
    return usual_precision(gpu)


def resolve_model(choice: ModelChoice, catalog: CatalogSnapshot) -> Architecture:
    """The dimensions of the chosen model. InputError where nothing, or nothing known, is named."""
    if choice.architecture is not None:
        return choice.architecture
    if choice.catalog_id is not None:
        model_id = catalog.model_aliases.get(choice.catalog_id.lower(), choice.catalog_id)
        found = catalog.model_by_id.get(choice.catalog_id) or catalog.model_by_id.get(model_id)
        if found is None:
            raise InputError("search.model_unknown", model=choice.catalog_id)
        return found
    if choice.parameters_billion is not None:
        return from_size(choice.parameters_billion)
    raise InputError("search.model_missing")


def resolve_task(task: Task, catalog: CatalogSnapshot) -> ResolvedTask:
    """Resolve one task of a scenario. InputError where it contradicts itself."""
    architecture = resolve_model(task.model, catalog)
    assumptions = list(_model_assumptions(task, architecture))
    workload = task.workload
    if isinstance(workload, InferenceWorkload):
        jobs = tuple(_inference_jobs(workload, architecture))
        assumptions.extend(_inference_assumptions(task, workload))
        return ResolvedTask(task, architecture, jobs, (Knobs(tensor_parallel=True),), tuple(assumptions))
    if workload.method is Method.INFERENCE:
        raise InputError("search.inference_is_no_training", task=task.name or task.id)
    if workload.data.tokens_per_run <= 0:
        raise InputError("search.no_data", task=task.name or task.id)
    longest = architecture.max_context
    if longest and workload.sequence_length > longest:
        assumptions.append(
            _finding(
                "assumption.beyond_context", task, Severity.WARNING, length=workload.sequence_length, limit=longest
            )
        )
    tiers = tuple(_training_tiers(workload))
    assumptions.extend(_training_assumptions(task, workload, tiers[0]))
    return ResolvedTask(task, architecture, (training_job(workload),), tiers, tuple(assumptions))


def resolve_tasks(scenario: Scenario, catalog: CatalogSnapshot) -> tuple[ResolvedTask, ...]:
    """All tasks of a scenario, with what was measured of them."""
    return tuple(
        replace(r, anchor=anchor_of_task(scenario, r, catalog), speed_anchor=speed_anchor_of_task(scenario, r, catalog))
        for r in (resolve_task(t, catalog) for t in scenario.tasks)
    )


def anchor_of_task(scenario: Scenario, resolved: ResolvedTask, catalog: CatalogSnapshot) -> Anchor | None:
    """The last measurement of a task, if it was of the model that the task has now."""
    own = [m for m in scenario.measured if m.task_id == resolved.task.id and m.model == resolved.task.model]
    if not own:
        return None
    return anchor_of(own[-1], resolved.architecture, catalog.gpu_by_id.get(own[-1].gpu_id))


def speed_anchor_of_task(scenario: Scenario, resolved: ResolvedTask, catalog: CatalogSnapshot) -> SpeedAnchor | None:
    """The last measured rate of a task, if it was of the model that the task has now, on a card that is known."""
    own = [m for m in scenario.measured_speeds if m.task_id == resolved.task.id and m.model == resolved.task.model]
    gpu = catalog.gpu_by_id.get(own[-1].gpu_id) if own else None
    if gpu is None:
        return None
    system = next((s for s in catalog.systems if s.id == own[-1].system_id), None)
    cluster = cluster_for(gpu, system, gpus_per_node=own[-1].gpus_per_node, nodes=own[-1].nodes)
    return speed_anchor_of(own[-1], resolved.architecture, cluster)


def _finding(code: str, task: Task, severity: Severity = Severity.INFO, **params: str | int | float) -> Finding:
    return Finding(code=code, severity=severity, params={"task": task.name or task.id, **params})


# training ---------------------------------------------------------------------------------------------------------


def trains_adapters(workload: TrainingWorkload) -> bool:
    """Whether adapters are trained rather than the weights."""
    if workload.method in (Method.LORA, Method.QLORA, Method.DORA):
        return True
    return workload.method in PAIRED_METHODS and workload.adapters


def training_job(workload: TrainingWorkload) -> Job:
    """What one step computes, as the workload states it."""
    adapters = trains_adapters(workload)
    quantization = workload.weight_quantization or ("nf4-dq" if workload.method is Method.QLORA else "none")
    data = workload.data
    filled = 1.0
    if not data.packed and data.tokens_per_example:
        filled = min(1.0, data.tokens_per_example / workload.sequence_length)
    return Job(
        method=workload.method,
        sequence_length=workload.sequence_length,
        lora=Lora(rank=workload.lora_rank, targets=workload.lora_targets) if adapters else None,
        weight_quantization=quantization,
        kbit_preparation=_prepares_kbit(workload, quantization),
        reference_model=workload.method is Method.DPO and not adapters,
        sequences_per_sample=2 if workload.method in PAIRED_METHODS else 1,
        virtual_tokens=workload.virtual_tokens if workload.method is Method.PROMPT else 0,
        trained_layers_fraction=FREEZE_FRACTION if workload.method is Method.FREEZE else 1.0,
        average_tokens_fraction=filled,
        framework=workload.framework,
    )


def _prepares_kbit(workload: TrainingWorkload, quantization: WeightQuantization) -> bool:
    """The usual recipe calls PEFT's k-bit preparation (all but the 4-bit weights in fp32); Unsloth does not."""
    return (
        workload.method is Method.QLORA
        and quantization in ("nf4", "nf4-dq", "fp4")
        and not workload.framework.lower().startswith("unsloth")
        and workload.regime in (None, Regime.BF16_AMP, Regime.FP16_AMP)
    )


def default_regime(workload: TrainingWorkload, job: Job) -> Regime:
    """What is kept in which precision where the user didn't say.

    All weights trained: 32-bit weights, gradients and states, computed in 16 bits: the regime that loses no small
    update. Adapters: a 16-bit frozen base with 32-bit adapters.
    """
    if job.kbit_preparation or job.lora is None:
        return Regime.PURE_BF16 if workload.method is Method.PROMPT else Regime.BF16_AMP
    return Regime.PURE_BF16


def _training_tiers(workload: TrainingWorkload) -> Iterator[Knobs]:
    job = training_job(workload)
    sharded = Sharding.ZERO3 if workload.framework.lower() in DEEPSPEED_FRAMEWORKS else Sharding.FSDP2
    trains_all = job.lora is None and workload.method is not Method.PROMPT
    micro = (workload.micro_batch_size,) if workload.micro_batch_size else MICRO_BATCHES
    usual = Knobs(
        shardings=(Sharding.NONE, Sharding.ZERO1, Sharding.ZERO2, sharded) if trains_all else (Sharding.NONE, sharded),
        regimes=(workload.regime or default_regime(workload, job),),
        optimizers=(workload.optimizer or Optimizer.ADAMW,),
        recomputations=(workload.recomputation,)
        if workload.recomputation
        else (Recomputation.NONE, Recomputation.FULL),
        losses=(workload.loss,) if workload.loss else Knobs.losses,
        offload=workload.offload or Offload.NONE,
        attention=workload.attention or Attention.FLASH,
        micro_batches=micro,
        tensor_parallel=workload.method.trains_all_weights,
        pipeline_parallel=workload.method.trains_all_weights and workload.framework.lower() in PIPELINE_FRAMEWORKS,
        context_parallel=workload.sequence_length >= CONTEXT_PARALLEL_FROM,
    )
    yield usual
    if not trains_all:
        return
    lighter = usual
    if workload.optimizer is None:
        lighter = replace(usual, optimizers=(Optimizer.ADAMW_8BIT,))
        yield lighter
    if workload.offload is None:
        yield replace(usual, offload=Offload.OPTIMIZER)
        yield replace(usual, offload=Offload.OPTIMIZER_AND_PARAMETERS)


#: Sequences from this length on may be split over cards; below it, no recipe does.
CONTEXT_PARALLEL_FROM = 32_768


# serving ----------------------------------------------------------------------------------------------------------


def _serving_formats(workload: InferenceWorkload, architecture: Architecture) -> tuple[WeightQuantization, ...]:
    """Number formats that the search may choose, best quality first; the published one where it is not 16 bits."""
    if workload.weight_quantization is not None:
        return (workload.weight_quantization,)
    own = own_format(architecture)
    if own is not None and workload.engine in ("llama.cpp", "ollama"):
        return (cast(WeightQuantization, own),)
    native = architecture.native_dtype.lower()
    if workload.engine in ("llama.cpp", "ollama"):
        return ("q8_0", "q4_k_m")
    if "mxfp4" in native:
        return ("mxfp4",)
    return ("fp8", "awq4") if "fp8" in native else ("none", "fp8", "awq4")


def _inference_jobs(workload: InferenceWorkload, architecture: Architecture) -> Iterator[InferenceJob]:
    for weight_quantization in _serving_formats(workload, architecture):
        yield InferenceJob(
            weight_quantization=weight_quantization,
            kv_cache_bits=workload.kv_cache_bits,
            concurrent_sequences=workload.concurrent_users,
            prompt_tokens=workload.prompt_tokens,
            output_tokens=workload.output_tokens,
            engine=workload.engine,
        )


# what was assumed -------------------------------------------------------------------------------------------------


def _model_assumptions(task: Task, architecture: Architecture) -> Iterator[Finding]:
    if architecture.basis == "size":
        yield _finding("assumption.model_from_size", task, Severity.WARNING, parameters=architecture.parameters_total)
    elif architecture.guessed:
        yield _finding(
            "assumption.model_guessed", task, Severity.WARNING, model=architecture.name,
            names=", ".join(architecture.guessed),
        )  # fmt: skip


def _training_assumptions(task: Task, workload: TrainingWorkload, knobs: Knobs) -> Iterator[Finding]:
    job = training_job(workload)
    if workload.regime is None:
        if job.kbit_preparation:
            yield _finding("assumption.regime_qlora", task)
        elif job.lora is not None:
            yield _finding("assumption.regime_adapters", task)
        elif workload.method is not Method.PROMPT:
            yield _finding("assumption.regime_full", task)
    if workload.optimizer is None:
        yield _finding("assumption.optimizer", task)
    if workload.attention is None:
        yield _finding("assumption.attention", task)
    if workload.method is Method.QLORA and workload.weight_quantization is None:
        yield _finding("assumption.nf4", task)
    if workload.method is Method.FREEZE:
        yield _finding("assumption.freeze", task, fraction=FREEZE_FRACTION)
    if workload.recomputation is None or workload.loss is None or workload.micro_batch_size is None:
        yield _finding("assumption.knobs_searched", task)


def _inference_assumptions(task: Task, workload: InferenceWorkload) -> Iterator[Finding]:
    yield _finding("assumption.concurrency", task, users=workload.concurrent_users)
    if workload.weight_quantization is None:
        yield _finding("assumption.formats_searched", task)
