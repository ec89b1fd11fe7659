"""`Advice`: the ranked answer, the rejected rest with reasons, and what it rests on."""

from __future__ import annotations

from enum import StrEnum
from typing import Literal

from pydantic import Field

from engine.advice.ways_result import WaysComparison
from engine.cost.result import CostAssessment
from engine.findings import Finding
from engine.layout.model import InferenceJob, Job, Layout
from engine.layout.plan import Plan
from engine.memory.result import MemoryAssessment
from engine.quantity import Estimate, Frozen, MoneyEstimate, Term
from engine.scenario import Scenario
from engine.speed.result import InferenceSpeed, TrainingSpeed

__all__ = ["Advice", "ApiBaseline", "Assessment", "Pick", "PickRole", "Plan", "Rejection", "Searched", "TaskAssessment"]


class TaskAssessment(Frozen):
    """One task on a plan."""

    task_id: str
    job: Job | InferenceJob
    layout: Layout
    memory: MemoryAssessment
    training: TrainingSpeed | None = None
    inference: InferenceSpeed | None = None
    time_to_train_seconds: Estimate | None = None  # one final run
    busy_seconds: Estimate  # all runs of the campaign, or the hours that the service is up
    time_terms: tuple[Term, ...] = ()


class Assessment(Frozen):
    """A plan with all that was computed for it."""

    plan: Plan
    tasks: tuple[TaskAssessment, ...]
    cost: CostAssessment
    calendar_days: Estimate  # until everything asked for is done, queue and delivery included
    risk: float = Field(ge=0)  # 0 = none; sum of the named parts in `risk_terms`
    risk_terms: tuple[Term, ...] = ()
    findings: tuple[Finding, ...] = ()


class PickRole(StrEnum):
    """Why a plan is on top."""

    CHEAPEST = "cheapest"
    BALANCED = "balanced"
    LEAST_RISK = "least_risk"


class Pick(Frozen):
    """A plan on top, with the two or three numbers that decided."""

    role: PickRole
    index: int = Field(ge=0)  # into Advice.ranked
    reasons: tuple[Finding, ...]


class Rejection(Frozen):
    """A card, offer or method that is out, with its one decisive reason and what would change it."""

    kind: Literal["gpu", "offer", "method"]
    gpu_id: str = ""
    offer_id: str = ""
    label: str
    reason: Finding


class ApiBaseline(Frozen):
    """The same outputs, or the same fine-tuning, by a hosted API."""

    task_id: str
    provider: str
    model: str
    cost: MoneyEstimate
    terms: tuple[Term, ...]
    allowed: bool
    alike: bool = False  # priced for another model of the same size and shape: nobody listed sells this one
    finding: Finding


class Searched(Frozen):
    """How much was looked at."""

    clusters: int
    candidates: int
    plans: int
    seconds: float


class Advice(Frozen):
    """Ranked assessments, the rejected ones with the reason, findings, and what they rest on."""

    scenario: Scenario
    picks: tuple[Pick, ...]
    ranked: tuple[Assessment, ...]
    rejected: tuple[Rejection, ...]
    api: tuple[ApiBaseline, ...] = ()
    ways: WaysComparison | None = None  # the ways on the same work over the months; None where nothing is ranked
    findings: tuple[Finding, ...] = ()
    catalog_version: str
    catalog_sha256: str
    searched: Searched
