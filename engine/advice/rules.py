"""All findings about the advice as a whole: assumptions, rules of the field, and what would change a "no"."""

from __future__ import annotations

from collections.abc import Sequence

from engine.advice.api import alike_rules
from engine.advice.result import ApiBaseline, Pick
from engine.advice.rules_nothing import nothing_works
from engine.advice.rules_plans import plan_rules
from engine.advice.rules_task import task_rules
from engine.findings import Finding, Severity
from engine.search.search import SearchResult

__all__ = ["findings_of"]

_ORDER = (Severity.SERIOUS, Severity.WARNING, Severity.ADVICE, Severity.INFO)


def findings_of(result: SearchResult, picks: Sequence[Pick], api: Sequence[ApiBaseline]) -> tuple[Finding, ...]:
    """Findings, the serious ones first; each once."""
    found: list[Finding] = [
        *nothing_works(result),
        *(b.finding for b in api),
        *alike_rules(result, api),
        *task_rules(result),
        *plan_rules(result, picks),
        *(a for r in result.resolved for a in r.assumptions),
    ]
    unique: dict[str, Finding] = {}
    for finding in found:
        unique.setdefault(finding.code + repr(sorted(finding.params.items())), finding)
    return tuple(sorted(unique.values(), key=lambda f: _ORDER.index(f.severity)))
