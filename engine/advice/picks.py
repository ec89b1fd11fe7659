"""Three picks, each with the two or three numbers that decided."""

from __future__ import annotations

from collections.abc import Sequence

from engine.advice.result import Assessment, Pick, PickRole
from engine.findings import Finding
from engine.i18n import money_param
from engine.memory.result import Verdict
from engine.quantity import Money
from engine.scenario import InferenceWorkload, Scenario
from engine.search.select import RISK_STEP, balance, risk_class

__all__ = ["BALANCE_STEP", "pick", "picks_of"]

#: Balances closer than this (2 % of the cost, or what weighs as much) are the same: the cheapest is advised then.
BALANCE_STEP = 0.02
#: Times that differ by a smaller share look the same in print.
SAME_TIME = 0.005


def fits_well(assessment: Assessment) -> bool:
    """Whether every task keeps the headroom."""
    return all(t.memory.verdict is Verdict.FITS for t in assessment.tasks)


def pick(role: PickRole, ranked: Sequence[Assessment], scenario: Scenario) -> int:
    """Index of the pick. What fits tightly is picked only where nothing fits well; ties go to the better rank."""
    pool = [i for i, a in enumerate(ranked) if fits_well(a)] or list(range(len(ranked)))
    match role:
        case PickRole.CHEAPEST:
            return pool[0]
        case PickRole.BALANCED:
            best = min(pool, key=lambda i: (_balance(ranked[i], scenario), i))
            gain = _balance(ranked[pool[0]], scenario) - _balance(ranked[best], scenario)
            return best if gain > BALANCE_STEP else pool[0]
        case PickRole.LEAST_RISK:
            best = min(pool, key=lambda i: (risk_class(ranked[i].risk), i))
            return best if ranked[pool[0]].risk - ranked[best].risk > RISK_STEP / 2 else pool[0]


def picks_of(ranked: Sequence[Assessment], scenario: Scenario) -> tuple[Pick, ...]:
    """The picks of a ranked list; none where it is empty."""
    if not ranked:
        return ()
    indices = {role: pick(role, ranked, scenario) for role in PickRole}
    cheapest = indices[PickRole.CHEAPEST]
    return tuple(
        Pick(role=role, index=index, reasons=_reasons(role, index, cheapest, ranked, scenario))
        for role, index in indices.items()
    )


def _balance(assessment: Assessment, scenario: Scenario) -> float:
    cost = float(assessment.cost.cost_of_job.expected)
    return balance(cost, assessment.calendar_days.expected, assessment.risk, scenario)


def _reason(code: str, **params: str | int | float | None) -> Finding:
    return Finding(code=code, params=params)


def _reasons(
    role: PickRole, index: int, cheapest: int, ranked: Sequence[Assessment], scenario: Scenario
) -> tuple[Finding, ...]:
    own, memory = ranked[index], _memory_reason(ranked[index])
    if role is PickRole.CHEAPEST:
        return (_cost_reason(index, ranked), memory, _service_reason(own, scenario) or _time_reason(own, scenario))
    if index == cheapest:
        code = "reason.balanced_is_cheapest" if role is PickRole.BALANCED else "reason.safest_is_cheapest"
        return (_reason(code, risk=own.risk), memory)
    other = ranked[cheapest]
    code = "reason.balanced" if role is PickRole.BALANCED else "reason.least_risk"
    days: dict[str, float] = {}
    soon, later = sorted((own.calendar_days.expected, other.calendar_days.expected))
    if _service_reason(own, scenario) is None and later > soon * (1 + SAME_TIME):
        days = {"days": own.calendar_days.expected, "cheapest_days": other.calendar_days.expected}
    else:
        code += "_timeless"  # a service is not over some day; or both are done at the same time
    compared = _reason(code, cost=_money(own), cheapest=_money(other), risk=own.risk, cheapest_risk=other.risk, **days)
    decisive = _risk_reason(own, other) if role is PickRole.LEAST_RISK else None
    return tuple(r for r in (compared, decisive, memory) if r is not None)


def _money(assessment: Assessment) -> str:
    return money_param(assessment.cost.cost_of_job.money)


def _cost_reason(index: int, ranked: Sequence[Assessment]) -> Finding:
    own = ranked[index]
    gpu = own.plan.cluster.gpu
    other = next((a for a in ranked[index + 1 :] if a.plan.cluster.gpu.id != gpu.id), None)
    if other is None:
        return _reason("reason.cheapest_alone", cost=_money(own))
    alike = sum(
        1 for a in ranked if a is not own and a.cost.risk_adjusted_cost.low <= own.cost.risk_adjusted_cost.expected
    )
    ranked_cost = own.cost.risk_adjusted_cost
    adjusted = money_param(Money(amount=ranked_cost.expected, currency=ranked_cost.currency))
    next_cost = other.cost.risk_adjusted_cost
    return _reason(
        "reason.cheapest_near_ties" if alike else "reason.cheapest",
        cost=adjusted,
        other=other.plan.cluster.gpu.name,
        other_cost=money_param(Money(amount=next_cost.expected, currency=next_cost.currency)),
        **({"ties": alike} if alike else {}),
    )


def _memory_reason(assessment: Assessment) -> Finding:
    """The task that fills the card most decides."""
    task = max(assessment.tasks, key=lambda t: t.memory.driver.high + t.memory.in_use_bytes)
    memory = task.memory
    gpus = assessment.plan.cluster.gpus
    return _reason(
        ("reason.fits" if memory.verdict is Verdict.FITS else "reason.fits_tightly") + ("" if gpus > 1 else "_alone"),
        needed=memory.driver.expected + memory.in_use_bytes,
        high=memory.driver.high + memory.in_use_bytes,
        usable=memory.usable_bytes,
        gpu=assessment.plan.cluster.gpu.name,
        **({"gpus": gpus} if gpus > 1 else {}),
    )


def _service_reason(assessment: Assessment, scenario: Scenario) -> Finding | None:
    """How fast a service answers, where serving is all that is asked for."""
    workloads = [t.workload for t in scenario.tasks]
    services = [w for w in workloads if isinstance(w, InferenceWorkload) and not w.outputs_only]
    if len(services) < len(workloads):
        return None
    speeds = [t.inference for t in assessment.tasks if t.inference is not None]
    slowest = max(speeds, key=lambda s: s.time_per_output_token_seconds.expected)
    wait = assessment.calendar_days.expected
    return _reason(
        "reason.service_after" if wait > 0 else "reason.service",
        first=max(s.time_to_first_token_seconds.expected for s in speeds),
        rate=1 / slowest.time_per_output_token_seconds.expected,
        **({"wait": wait} if wait > 0 else {}),
    )


def _time_reason(assessment: Assessment, scenario: Scenario) -> Finding:
    days, deadline = assessment.calendar_days, scenario.constraints.deadline_days
    if deadline is None:
        return _reason("reason.time", days=days.expected, high=days.high)
    return _reason("reason.in_time", days=days.expected, high=days.high, deadline=deadline)


def _risk_reason(own: Assessment, other: Assessment) -> Finding | None:
    """The part of the risk in which the two differ most."""
    parts = {t.name: t.expected for t in own.risk_terms}
    worse = [(t.expected - parts.get(t.name, 0.0), t.name) for t in other.risk_terms]
    difference, name = max(worse, default=(0.0, ""))
    return _reason("reason.risk_part", part=name, difference=difference) if difference > 0 else None
