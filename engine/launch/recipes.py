"""All ways in which a task of a plan can be started."""

from __future__ import annotations

from engine.advice.result import Assessment, TaskAssessment
from engine.architecture.model import Architecture
from engine.hardware.model import CatalogSnapshot
from engine.launch.others import serving, torchtitan
from engine.launch.result import Recipe
from engine.launch.trainers import AXOLOTL, LLAMA_FACTORY, axolotl, keeps_32_bits_as_asked, llama_factory, trl
from engine.launch.wanted import Wanted, expressible
from engine.layout.model import InferenceJob
from engine.scenario import Scenario, TrainingWorkload
from engine.search.resolve import resolve_tasks

__all__ = ["recipes_of"]

#: Beginning of a framework's name in a scenario -> program that is named first for it.
_FIRST = {"llama-factory": LLAMA_FACTORY, "axolotl": AXOLOTL, "torchtitan": "torchtitan"}


def recipes_of(
    scenario: Scenario, catalog: CatalogSnapshot, assessment: Assessment, task_id: str
) -> tuple[Recipe, ...]:
    """The settings of each program that can run the task as it was estimated, the scenario's own first.

    Empty where none of them can be told all of it. The plan's vendor does not matter: cards of other makers need
    their own builds of the same programs.
    """
    task = next(t for t in assessment.tasks if t.task_id == task_id)
    resolved = next(r for r in resolve_tasks(scenario, catalog) if r.task.id == task_id)
    if isinstance(task.job, InferenceJob):
        name = _name(resolved.architecture)
        return (serving(name, task.job, task.layout, assessment.plan.cluster),)
    return _training(task, resolved.architecture, assessment, resolved.training)


def _training(
    task: TaskAssessment, architecture: Architecture, assessment: Assessment, workload: TrainingWorkload | None
) -> tuple[Recipe, ...]:
    if isinstance(task.job, InferenceJob) or workload is None:
        return ()
    wanted = Wanted(task.job, task.layout, assessment.plan.cluster, architecture, workload.data.packed)
    makers = ((trl, True), (llama_factory, False), (axolotl, True))
    found = [make(wanted) for make, split in makers if expressible(wanted, split=split)]
    if not keeps_32_bits_as_asked(wanted):
        found = [r for r in found if r.program != AXOLOTL]
    titan = torchtitan(wanted)
    found += [titan] if titan is not None else []
    first = next((p for name, p in _FIRST.items() if workload.framework.lower().startswith(name)), "")
    return tuple(sorted(found, key=lambda r: r.program != first))


def _name(architecture: Architecture) -> str:
    return architecture.id or "path/to/model"
