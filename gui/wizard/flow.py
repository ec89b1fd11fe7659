"""The order of the wizard's steps: a pure function of the draft. No Qt."""

from __future__ import annotations

from dataclasses import dataclass

from gui.draft import Draft
from gui.problems import Page, Problem

__all__ = ["Step", "first_step", "next_step", "previous_step", "step_of", "steps"]


@dataclass(frozen=True)
class Step:
    """A page, and the task that it is about where it is about one."""

    page: Page
    task: int | None = None


def steps(draft: Draft) -> tuple[Step, ...]:
    """All steps in order: the tasks, then model and data of each, then what they share."""
    of_tasks = [Step(page, i) for i in range(len(draft.tasks)) for page in (Page.MODEL, Page.DATA)]
    return (Step(Page.TASK), *of_tasks, Step(Page.CONSTRAINTS), Step(Page.ECONOMICS), Step(Page.REVIEW))


def first_step() -> Step:
    """Where the wizard begins."""
    return Step(Page.TASK)


def next_step(step: Step, draft: Draft) -> Step | None:
    """The step after; None at the end."""
    return _beside(step, draft, 1)


def previous_step(step: Step, draft: Draft) -> Step | None:
    """The step before; None at the beginning."""
    return _beside(step, draft, -1)


def step_of(problem: Problem) -> Step:
    """Where a problem is put right."""
    return Step(problem.page, problem.task if problem.page in (Page.MODEL, Page.DATA) else None)


def _beside(step: Step, draft: Draft, distance: int) -> Step | None:
    order = steps(draft)
    if step not in order:  # its task was removed
        return first_step()
    index = order.index(step) + distance
    return order[index] if 0 <= index < len(order) else None
