"""One task with one layout on one cluster, judged by the very formulas of the search."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from engine.architecture.model import Architecture
from engine.control import Control
from engine.hardware.model import Cluster
from engine.layout.model import InferenceJob, Job, Layout, Regime
from engine.memory.anchor import Anchor, anchored
from engine.memory.overheads import platform_for
from engine.memory.result import MemoryAssessment, MemoryBlock, Verdict
from engine.memory.serving import inference_memory
from engine.memory.training import training_memory
from engine.memory.verdict import assess
from engine.scenario import Data, InferenceWorkload, Task, TrainingWorkload, Workload
from engine.search.evaluate import evaluate_task
from engine.search.layouts import Shape, serving_sets, training_sets
from engine.search.resolve import ResolvedTask, precision_of, training_job
from engine.speed.calibration import serving_stack, stack_of
from engine.speed.hardware import hardware_block
from engine.speed.serving import inference_speed
from engine.speed.training import training_speed

__all__ = ["Setting", "nearest_setting", "workload_of"]

#: Fields of the job that have another name in the workload.
SERVED = {"concurrent_users": "concurrent_sequences"}


@dataclass(frozen=True)
class Setting:
    """What is judged. `workload` is what a person states; `job` and `layout` are what runs."""

    workload: Workload
    architecture: Architecture
    job: Job | InferenceJob
    layout: Layout
    cluster: Cluster
    headroom: float
    anchor: Anchor | None = None

    def memory(self) -> MemoryAssessment:
        """Memory of one card and the verdict, by the usual formulas."""
        return assess(
            self._block(), self.cluster.gpu, in_use_bytes=self.cluster.in_use_bytes, headroom=self.headroom
        )  # fmt: skip

    def _block(self) -> MemoryBlock:
        gpu, job, layout = self.cluster.gpu, self.job, self.layout
        if isinstance(job, InferenceJob):
            block = inference_memory(self.architecture, job, layout, platform=platform_for(gpu, job.engine))
        else:
            block = training_memory(self.architecture, job, layout, platform=platform_for(gpu, job.framework))
        if self.anchor is not None and self.anchor.speaks_of(job, layout):
            return anchored(block, self.anchor, layout)
        return block

    def verdict(self) -> Verdict:
        """Does it fit?"""
        return self.memory().verdict

    def seconds_per_token(self) -> float | None:
        """Expected seconds of the whole cluster for each token; None where a rate of the card is not known."""
        job, gpu = self.job, self.cluster.gpu
        if isinstance(job, InferenceJob):
            precision = "fp8" if job.weight_quantization == "fp8" else precision_of(gpu)
            rates = hardware_block([self.cluster], precision=precision, stack=serving_stack(job.engine))
            if not bool(rates.known):
                return None
            served = inference_speed(self.architecture, job, self.layout, rates)
            return 1 / served.at().tokens_per_second.expected if bool(served.known) else None
        precision = "fp32" if self.layout.regime is Regime.FP32 else precision_of(gpu)
        rates = hardware_block([self.cluster], precision=precision, stack=stack_of(job.framework))
        if not bool(rates.known):
            return None
        trained = training_speed(self.architecture, job, self.layout, rates)
        if not bool(trained.known):
            return None
        speed = trained.at()
        return speed.step_seconds.expected / speed.tokens_per_step

    def stated(self, **changes: object) -> Setting:
        """The same with other fields of the workload: the job follows as the search would make it."""
        workload = type(self.workload).model_validate({**self.workload.model_dump(), **changes})
        job = self.job
        if isinstance(workload, TrainingWorkload) and isinstance(self.workload, TrainingWorkload):
            before, after = training_job(self.workload), training_job(workload)
            changed = {n: v for n in Job.model_fields if (v := getattr(after, n)) != getattr(before, n)}
            job = job.model_copy(update=changed)
        elif isinstance(workload, InferenceWorkload):
            served = {SERVED.get(n, n): getattr(workload, n) for n in changes}
            job = job.model_copy(update=served)
        return replace(self, workload=workload, job=job)

    def laid_out(self, **changes: object) -> Setting:
        """The same with other fields of the layout."""
        return replace(self, layout=self.layout.model_copy(update=changes))


def workload_of(job: Job | InferenceJob, layout: Layout) -> Workload:
    """What a person would state for a job that comes without a scenario."""
    if isinstance(job, InferenceJob):
        return InferenceWorkload(
            concurrent_users=job.concurrent_sequences,
            prompt_tokens=max(1, job.prompt_tokens),
            output_tokens=max(1, job.output_tokens),
            weight_quantization=job.weight_quantization,
            kv_cache_bits=job.kv_cache_bits,
            engine=job.engine,
        )
    values: dict[str, object] = {
        "method": job.method,
        "data": Data(tokens=1),
        "sequence_length": job.sequence_length,
        "global_batch_size": layout.data_parallel * layout.micro_batch_size * layout.gradient_accumulation_steps,
        "adapters": job.lora is not None,
        "framework": job.framework,
        "weight_quantization": None if job.weight_quantization == "none" else job.weight_quantization,
    }
    if job.lora is not None:
        values |= {"lora_rank": job.lora.rank, "lora_targets": job.lora.targets}
    return TrainingWorkload.model_validate(values)


def nearest_setting(
    task: Task, resolved: ResolvedTask, cluster: Cluster, headroom: float, control: Control
) -> Setting | None:
    """The layout that the search would take on a cluster; where none fits, the one that needs least memory.

    None where the batch can't be spread over the cards at all.
    """
    knobs = resolved.tiers[0]
    table = evaluate_task(resolved, knobs, [cluster], headroom=headroom, control=control)
    chosen = table.choose([0]).get(0)
    if chosen is not None:
        job, layout = chosen.job, chosen.layout
        return Setting(task.workload, resolved.architecture, job, layout, cluster, headroom, resolved.anchor)
    least = min(_least(resolved, cluster), key=lambda found: found[0], default=None)
    if least is None:
        return None
    _bytes, job, layout = least
    return Setting(task.workload, resolved.architecture, job, layout, cluster, headroom, resolved.anchor)


def _least(resolved: ResolvedTask, cluster: Cluster) -> Iterator[tuple[float, Job | InferenceJob, Layout]]:
    """The layout of least expected bytes of each set, in the order of preference."""
    shapes = [Shape(cluster.gpus_per_node, cluster.nodes)]
    architecture, training = resolved.architecture, resolved.training
    for job in resolved.jobs:
        if isinstance(job, InferenceJob):
            for layouts in serving_sets(architecture, shapes, users=job.concurrent_sequences):
                platform = platform_for(cluster.gpu, job.engine)
                block = inference_memory(architecture, job, layouts.block, platform=platform)
                best = int(np.argmin(np.broadcast_to(block.driver.expected, len(layouts))))
                yield float(np.broadcast_to(block.driver.expected, len(layouts))[best]), job, layouts.block.at(best)
            continue
        batch = training.global_batch_size if training is not None else 1
        for layouts in training_sets(architecture, job, resolved.tiers[0], shapes, global_batch_size=batch):
            platform = platform_for(cluster.gpu, job.framework)
            block = training_memory(architecture, job, layouts.block, platform=platform)
            expected = np.broadcast_to(block.driver.expected, len(layouts))
            best = int(np.argmin(expected))
            yield float(expected[best]), job, layouts.block.at(best)
