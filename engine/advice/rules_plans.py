"""Rules about the plans that were found: what a buyer or renter should settle before signing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from engine.advice.result import Assessment, Pick, TaskAssessment
from engine.cost.age import STALE_DAYS
from engine.findings import Finding, Severity
from engine.memory.result import Verdict
from engine.messages.mark import N_
from engine.search.clusters import Seed
from engine.search.options import DELIVERY_SERVER, DELIVERY_SMALL, delivery_days
from engine.search.search import SearchResult

__all__ = ["plan_rules"]

#: Share of the step spent on communication from which the link decides.
COMMUNICATION_HEAVY = 0.25
LINKS_LOOKED_AT = 20  # plans from the top; further down the list nobody needs the warning
#: Days of computing from which errors in memory without ECC become likely enough to plan for.
LONG_RUN_DAYS = 7.0


def plan_rules(result: SearchResult, picks: Sequence[Pick]) -> Iterator[Finding]:
    """Rules of the picks, each said once."""
    chosen = [result.ranked[i] for i in sorted({p.index for p in picks})]
    yield from _summed_memory(chosen)
    yield from _delivery(chosen)
    yield from _prices(result, chosen)
    yield from _links(result, chosen)
    yield from _long_runs(chosen)
    yield from _spot(result)
    yield from _next_tier(result, chosen)


def _summed_memory(chosen: Sequence[Assessment]) -> Iterator[Finding]:
    if any(a.plan.cluster.gpus > 1 for a in chosen):
        yield Finding(code="advice.memory_is_not_summed", severity=Severity.INFO)


def _delivery(chosen: Sequence[Assessment]) -> Iterator[Finding]:
    bought = [a for a in chosen if a.plan.way == "buy"]
    if not bought:
        return
    waits = [delivery_days(Seed(0, "buy", None, a.plan.purchase), a.plan.cluster.gpu, a.plan.cluster) for a in bought]
    longest = DELIVERY_SERVER if any(w == DELIVERY_SERVER for w in waits) else DELIVERY_SMALL
    yield Finding(code="assumption.delivery", params={"days": longest.expected, "high": longest.high})


def _prices(result: SearchResult, chosen: Sequence[Assessment]) -> Iterator[Finding]:
    ages = [a.cost.price_age_days for a in result.ranked if a.cost.price_age_days is not None]
    stale = sum(1 for age in ages if age > STALE_DAYS)
    if stale:
        yield Finding(
            code="advice.stale_prices",
            severity=Severity.WARNING,
            params={"stale": stale, "plans": len(result.ranked), "limit": STALE_DAYS, "oldest": max(ages)},
        )
    if any(a.plan.way == "rent" for a in chosen):
        yield Finding(code="advice.capacity_not_promised", severity=Severity.ADVICE)


def _links(result: SearchResult, chosen: Sequence[Assessment]) -> Iterator[Finding]:
    """Cards without a fast link, on plans that exchange much: the best such plan is named, a pick with more weight."""
    for assessment in (*chosen, *result.ranked[:LINKS_LOOKED_AT]):
        cluster = assessment.plan.cluster
        if cluster.gpus == 1 or cluster.intra_node.kind not in ("pcie-p2p", "pcie-host"):
            continue
        share = max((_communication_share(t) for t in assessment.tasks), default=0.0)
        if share >= COMMUNICATION_HEAVY:
            yield Finding(
                code="advice.link_bound",
                severity=Severity.WARNING if assessment in chosen else Severity.ADVICE,
                params={"gpu": cluster.gpu.name, "gpus": cluster.gpus, "share": share},
                source=N_("computed here: waiting for other cards, as a share of one training step"),
            )
            return


def _communication_share(task: TaskAssessment) -> float:
    """Share of a training step that waits for other cards."""
    if task.training is None:
        return 0.0
    waiting = sum(t.expected for t in task.training.terms if t.name == "speed.communication")
    return waiting / task.training.step_seconds.expected


def _long_runs(chosen: Sequence[Assessment]) -> Iterator[Finding]:
    for assessment in chosen:
        gpu = assessment.plan.cluster.gpu
        runs = [t.time_to_train_seconds.expected / 86_400 for t in assessment.tasks if t.time_to_train_seconds]
        if runs and max(runs) > LONG_RUN_DAYS:
            without_ecc = gpu.ecc.lower() in ("no", "")
            yield Finding(
                code="advice.long_run_without_ecc" if without_ecc else "advice.long_run",
                severity=Severity.WARNING if without_ecc else Severity.ADVICE,
                params={"gpu": gpu.name, "days": max(runs)},
            )
            return


def _spot(result: SearchResult) -> Iterator[Finding]:
    if any(a.plan.offer is not None and a.plan.offer.term == "spot" for a in result.ranked):
        yield Finding(code="advice.spot_needs_restart", severity=Severity.ADVICE)


def _next_tier(result: SearchResult, chosen: Sequence[Assessment]) -> Iterator[Finding]:
    """A tight fit leads to the next tier: the cheapest plan that keeps the headroom, and its price."""
    tight = [a for a in result.ranked[:1] if any(t.memory.verdict is Verdict.FITS_TIGHTLY for t in a.tasks)]
    if not tight or not chosen:
        return
    roomy = next((a for a in result.ranked if all(t.memory.verdict is Verdict.FITS for t in a.tasks)), None)
    first = tight[0].plan.cluster
    if roomy is None:
        yield Finding(code="advice.only_tight", severity=Severity.WARNING, params={"gpu": first.gpu.name})
        return
    extra = roomy.cost.cost_of_job.expected - tight[0].cost.cost_of_job.expected
    yield Finding(
        code="advice.next_tier",
        severity=Severity.ADVICE,
        params={
            "tight": first.gpu.name,
            "roomy": roomy.plan.cluster.gpu.name,
            "extra": f"{extra} {roomy.cost.cost_of_job.currency}",
        },
    )
