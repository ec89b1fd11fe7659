"""The answer for one fixed plan: memory and speed of a case, with everything that had to be assumed."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from engine.architecture.model import Architecture
from engine.findings import Finding, Severity
from engine.hardware.model import CatalogSnapshot, Cluster, Gpu, System
from engine.layout.model import InferenceJob, Job, Layout, Recomputation
from engine.memory.overheads import platform_for
from engine.memory.result import MemoryAssessment, Verdict
from engine.memory.serving import inference_memory
from engine.memory.training import training_memory
from engine.memory.verdict import assess
from engine.quantity import Bounds, Estimate, Frozen, Term, gib
from engine.speed.calibration import serving_stack, stack_of, tables
from engine.speed.hardware import (
    HardwareBlock,
    Precision,
    cluster_for,
    compute_precision,
    hardware_block,
    serving_precision,
)
from engine.speed.hardware import speed_findings as findings_of_speed
from engine.speed.limits import limit_finding
from engine.speed.passes import trains_adapters
from engine.speed.result import InferenceSpeed, TrainingSpeed
from engine.speed.serving import inference_speed
from engine.speed.training import training_speed, widened
from engine.validation.cases import GpuChoice, ResolvedCase, Variant, resolve_case
from engine.validation.fields import Case
from engine.validation.serving_case import unknown_engine
from engine.validation.training_case import large_pretraining

__all__ = ["CaseEstimate", "estimate_case", "estimate_resolved", "likely_system"]

_HEADROOM = 0.10  # of usable memory; cases.md §1
_STATED_PRECISIONS: Mapping[str, Precision] = {"fp8": "fp8", "fp4": "fp4", "fp16": "fp16"}


class CaseEstimate(Frozen):
    """Memory and speed of one case. `training` and `inference` are None where no card, or no rate of it, is known."""

    architecture: Architecture
    gpu_id: str | None
    job: Job | InferenceJob
    layout: Layout
    shape_guessed: bool
    memory: MemoryAssessment
    training: TrainingSpeed | None = None
    inference: InferenceSpeed | None = None
    assumptions: tuple[Finding, ...] = ()
    findings: tuple[Finding, ...] = ()


def estimate_case(
    values: Mapping[str, Any], catalog: CatalogSnapshot, *, hull: bool = False, ran: bool = False
) -> CaseEstimate:
    """Estimate a flat case (cases.md §2). `InputError` names what is missing, wrong, or can't be expressed.

    `hull`: settings that are not given widen the answer to all possibilities instead of taking their usual value.
    `ran`: the case was run, so that its speed is that of settings with which it fits.
    """
    case = Case(values)
    in_use = case.number("in_use_gib") or 0.0
    headroom = case.number("headroom")
    return estimate_resolved(
        resolve_case(values, catalog, hull=hull),
        catalog,
        in_use_bytes=gib(in_use),
        headroom=_HEADROOM if headroom is None else min(headroom, 0.9),
        ran=ran,
    )


def estimate_resolved(
    case: ResolvedCase,
    catalog: CatalogSnapshot,
    *,
    in_use_bytes: int = 0,
    headroom: float = _HEADROOM,
    ran: bool = False,
) -> CaseEstimate:
    """Estimate a resolved case: the expected variant, its interval widened to the hull of the others."""
    gpu = _smallest(case.hardware.gpus)
    memories = [_memory(case, v, gpu, in_use_bytes, headroom) for v in case.variants]
    trainings: list[TrainingSpeed] = []
    servings: list[InferenceSpeed] = []
    findings: list[Finding] = []
    if ran and memories[0].driver.low > (memories[0].usable_bytes or math.inf):
        case = _recomputed(case)
    if _unnamed(case):  # timed as on the program whose layout it is given, with a range of its own
        named = [replace(v, job=v.job.model_copy(update={"framework": "megatron-lm"})) for v in case.variants]
        case = replace(case, expected=named[0], hull=tuple(named[1:]))
    clusters = _as_stated([_cluster(g, case.hardware, catalog) for g in case.hardware.gpus], case.hardware)
    if case.hardware.nodes > 1:  # clusters of many nodes are built of the form with links of its own
        clusters.sort(key=lambda c: c.intra_node.kind in ("pcie-p2p", "pcie-host"))
    for cluster in clusters:
        for variant in case.variants:
            hardware = _rates(case, variant, cluster)
            if not bool(hardware.known):
                continue
            if isinstance(variant.job, InferenceJob):
                servings.append(inference_speed(case.architecture, variant.job, variant.layout, hardware).at())
                continue
            for share in case.length_shares:
                length = max(1, round(variant.job.sequence_length * share))
                job = variant.job.model_copy(update={"sequence_length": length})
                block = training_speed(case.architecture, job, variant.layout, hardware)
                if bool(block.known):
                    trainings.append(block.at())
    if clusters:
        findings.extend(findings_of_speed(clusters[0], _precision(case.expected, clusters[0].gpu), case.framework))
    spread = float(tables().constant("program_spread", "*").expected) if unknown_engine(case.framework) else 0.0
    training = _hull_training(trainings) if trainings else None
    inference = _hull_inference(servings, spread) if servings else None
    speed = training or inference
    limit = limit_finding(speed) if speed is not None else None
    findings.extend([limit] if limit is not None else [])
    memory = _hull_memory(memories)
    findings.extend(_memory_findings(memory, gpu, case))
    return CaseEstimate(
        architecture=case.architecture,
        gpu_id=gpu.id if gpu else None,
        job=case.expected.job,
        layout=case.expected.layout,
        shape_guessed=case.shape_guessed,
        memory=memory,
        training=training,
        inference=inference,
        assumptions=case.assumptions,
        findings=tuple(findings),
    )


def _recomputed(case: ResolvedCase) -> ResolvedCase:
    """The case with full recomputation, where its source leaves that open; without it, the run would not have fitted.

    For adapters alone: where all weights are trained, other things may have made it fit, such as 16-bit states.
    """
    job, full = case.expected.job, Recomputation.FULL
    adapters = isinstance(job, Job) and trains_adapters(job)
    if not adapters or all(v.layout.recomputation is case.expected.layout.recomputation for v in case.hull):
        return case
    layout = case.expected.layout.model_copy(update={"recomputation": full})
    return replace(case, expected=replace(case.expected, layout=layout), hull=(case.expected, *case.hull))


def _smallest(gpus: tuple[Gpu, ...]) -> Gpu | None:
    """Of several cards that a name may mean, the one with the least memory: the careful answer."""
    return min(gpus, key=lambda g: (g.usable_bytes is None, g.usable_bytes or 0), default=None)


def _memory(
    case: ResolvedCase, variant: Variant, gpu: Gpu | None, in_use_bytes: int, headroom: float
) -> MemoryAssessment:
    platform = platform_for(gpu, case.framework, variant.layout.gpus)
    if isinstance(variant.job, InferenceJob):
        block = inference_memory(case.architecture, variant.job, variant.layout, platform=platform)
    else:
        block = training_memory(case.architecture, variant.job, variant.layout, platform=platform)
    return assess(block, gpu, in_use_bytes=in_use_bytes, headroom=headroom)


def _cluster(gpu: Gpu, hardware: GpuChoice, catalog: CatalogSnapshot) -> Cluster:
    per_node = hardware.count // hardware.nodes
    system = None
    if per_node > 1 or hardware.nodes > 1:
        system = likely_system(catalog.systems_by_gpu.get(gpu.id, ()), per_node, hardware.interconnect)
    return cluster_for(gpu, system, gpus_per_node=per_node, nodes=hardware.nodes)


def likely_system(systems: Iterable[System], per_node: int, interconnect: str) -> System | None:
    """The system that a run most likely used: one with the stated links, else with InfiniBand."""
    if "pcie" in interconnect:
        systems = (s for s in systems if s.topology == "PCIe")
    words = {"efa": "efa", "roce": "roce", "ethernet": "tcp"}
    fabric = next((name for word, name in words.items() if word in interconnect), "infiniband")
    large = [s for s in systems if s.gpus >= per_node]
    # of several nodes, those of exactly as many cards come first
    large.sort(key=lambda s: (fabric not in s.fabric.lower(), s.gpus != per_node))
    return large[0] if large else None


def _as_stated(clusters: list[Cluster], hardware: GpuChoice) -> list[Cluster]:
    """Of the forms that a card's name may mean, those with the stated link, where there are any."""
    if "nvlink" in hardware.interconnect:
        kinds = ("nvswitch", "nvlink-pair")
    elif "pcie" in hardware.interconnect:
        kinds = ("pcie-p2p", "pcie-host")
    else:
        return clusters
    return [c for c in clusters if c.intra_node.kind in kinds] or clusters


def _precision(variant: Variant, gpu: Gpu) -> Precision:
    if isinstance(variant.job, InferenceJob):
        return serving_precision(variant.job, gpu)
    regime = compute_precision(variant.layout.regime)
    return _STATED_PRECISIONS.get(variant.precision, regime) if regime != "fp32" else regime


def _rates(case: ResolvedCase, variant: Variant, cluster: Cluster) -> HardwareBlock:
    if isinstance(variant.job, InferenceJob):
        stack = serving_stack(variant.job.engine)
    else:
        stack = stack_of(variant.job.framework)
    found = hardware_block([cluster], precision=_precision(variant, cluster.gpu), framework=case.framework, stack=stack)
    if not _unnamed(case):
        return found
    slower = found.calibration.constant("unnamed_stack", found.stack)
    shares: dict[str, Bounds] = {}
    for name in ("matrix_efficiency", "attention_efficiency", "memory_efficiency"):
        own: Bounds = getattr(found, name)
        shares[name] = Bounds(own.low * slower.low, own.expected * slower.expected, own.high * slower.high)
    return replace(found, **shares)


def _unnamed(case: ResolvedCase) -> bool:
    """Whether a large run was done with a program of which nothing is known."""
    return not case.named_stack and large_pretraining(case.method, case.hardware.count)


def _hull(estimates: Sequence[Estimate]) -> Estimate:
    """From the least to the most of all, around the first."""
    return Estimate(
        low=min(e.low for e in estimates), expected=estimates[0].expected, high=max(e.high for e in estimates)
    )


def _hull_memory(found: list[MemoryAssessment]) -> MemoryAssessment:
    first = found[0]
    if len(found) == 1:
        return first
    allocated, reserved, driver = (
        _hull([getattr(m, name) for m in found]) for name in ("allocated", "reserved", "driver")
    )
    wider = Term(
        name="case.unknown_settings",
        unit="bytes",
        low=driver.low - sum(t.low for t in first.terms),
        expected=driver.expected - sum(t.expected for t in first.terms),
        high=driver.high - sum(t.high for t in first.terms),
        formula="least and most over the settings that the case does not state",
        source="see the assumptions",
    )
    values = first.model_dump() | {
        "allocated": allocated,
        "reserved": reserved,
        "driver": driver,
        "terms": (*first.terms, wider),
        "verdict": _verdict(first, driver),
        "fallback": any(m.fallback for m in found),
    }
    return MemoryAssessment.model_validate(values)


def _verdict(memory: MemoryAssessment, driver: Estimate) -> Verdict:
    """Verdict of the hull (cases.md §1); the expected value is that of the first variant."""
    if memory.usable_bytes is None or memory.verdict in (Verdict.UNKNOWN, Verdict.DOES_NOT_FIT):
        return memory.verdict
    tight = driver.high + memory.in_use_bytes > (1 - memory.headroom) * memory.usable_bytes
    return Verdict.FITS_TIGHTLY if tight else Verdict.FITS


def _hull_training(found: list[TrainingSpeed]) -> TrainingSpeed:
    first = found[0]
    names = ("step_seconds", "tokens_per_second_per_gpu", "model_flops_utilization")
    return TrainingSpeed.model_validate(
        first.model_dump() | {name: _hull([getattr(s, name) for s in found]) for name in names}
    )


def _hull_inference(found: list[InferenceSpeed], spread: float) -> InferenceSpeed:
    first = found[0]
    names = (
        "time_to_first_token_seconds", "time_per_output_token_seconds", "tokens_per_second",
        "tokens_per_second_per_gpu",
    )  # fmt: skip
    return InferenceSpeed.model_validate(
        first.model_dump() | {name: _spread(_hull([getattr(s, name) for s in found]), spread) for name in names}
    )


def _spread(estimate: Estimate, spread: float) -> Estimate:
    return widened(Bounds(estimate.low, estimate.expected, estimate.high), spread).at() if spread else estimate


def _memory_findings(memory: MemoryAssessment, gpu: Gpu | None, case: ResolvedCase) -> list[Finding]:
    found: list[Finding] = []
    params: dict[str, str | int | float | None]
    name = gpu.name if gpu else ""
    usable = memory.usable_bytes
    match memory.verdict:
        case Verdict.DOES_NOT_FIT:
            params = {"gpu": name, "needed": memory.driver.expected, "usable": usable, "missing": memory.missing_bytes}
            found.append(Finding(code="case.does_not_fit", severity=Severity.SERIOUS, params=params))
        case Verdict.FITS_TIGHTLY:
            params = {"gpu": name, "needed": memory.driver.high, "usable": usable, "headroom": memory.headroom}
            found.append(Finding(code="case.fits_tightly", severity=Severity.WARNING, params=params))
        case Verdict.FITS:
            spare = (usable or 0) - memory.driver.high - memory.in_use_bytes
            params = {"gpu": name, "needed": memory.driver.expected, "spare": spare}
            found.append(Finding(code="case.fits", params=params))
        case Verdict.UNKNOWN:
            found.append(Finding(code="case.verdict_unknown", params={"needed": memory.driver.expected}))
    if gpu is not None and gpu.usable_basis == "rule":
        found.append(Finding(code="case.usable_by_rule", params={"gpu": name, "usable": usable}))
    if memory.fallback:
        params = {"model": case.architecture.name}
        found.append(Finding(code="case.memory_fallback", severity=Severity.WARNING, params=params))
    return found
