"""What is to be said of each way, and why one is not to be had."""

from __future__ import annotations

from engine.advice.ways_parts import Sources
from engine.advice.ways_result import WayCode
from engine.findings import Finding, Severity

__all__ = ["ALL_WAYS", "remark_of"]

ALL_WAYS: tuple[WayCode, ...] = (
    "nothing", "owned", "shared", "api", "on-demand", "spot", "reserved", "monthly", "lease", "buy", "hybrid", "stages",
    "wait",
)  # fmt: skip


def remark_of(way: WayCode, sources: Sources, available: bool) -> Finding | None:
    """One sentence of a way."""
    if not available:
        return Finding(code=_missing(way, sources))
    terms = sources.scenario.economics.terms
    cards = sources.best["buy"].plan.cluster.gpus if "buy" in sources.best else 0
    match way:
        case "nothing":
            return Finding(code="ways.nothing_gets_nothing")
        case "spot":
            return Finding(code="ways.spot_loses_work", severity=Severity.ADVICE)
        case "reserved" | "monthly":
            return Finding(code="ways.idle_is_paid")
        case "lease":
            return Finding(code="ways.lease_assumed", params={"rate": terms.loan_rate})
        case "hybrid":
            base = min(cards - 1, max(1, round(cards * terms.base_share)))
            return Finding(code="ways.hybrid_base", params={"base": base, "cards": cards})
        case "stages":
            return Finding(code="ways.stages_price")
        case "wait":
            return Finding(code="ways.wait_price", params={"months": terms.wait_months})
        case "shared":
            return Finding(code="ways.shared_queue")
        case _:
            return None


def _missing(way: WayCode, sources: Sources) -> str:
    limits = sources.scenario.constraints
    if way == "api":
        if not limits.data_may_leave:
            return "ways.data_must_stay"
        return "ways.api_not_wanted" if not limits.api_allowed else "ways.api_none"
    if way in ("on-demand", "spot", "reserved", "monthly") and not limits.data_may_leave:
        return "ways.data_must_stay"
    if way == "spot" and not limits.allow_spot:
        return "ways.spot_not_allowed"
    if way == "owned":
        return "ways.owned_none"
    if way == "shared":
        return "ways.shared_none"
    if way in ("hybrid", "stages", "wait") and "buy" in sources.best and "on-demand" in sources.best:
        return "ways.too_small"
    if way in ("hybrid", "stages", "wait"):
        return "ways.needs_both"
    return "ways.none_within_limits"
