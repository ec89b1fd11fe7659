"""What a check of a record found, in sentences and as data."""

from __future__ import annotations

from typing import Any

from engine.i18n import Language
from engine.messages.mark import N_
from engine.report.verify import Verification

__all__ = ["verification_answer", "verification_lines"]

_KINDS = {
    "altered": N_("Changed after it was written: {path} is {recorded}, but the contents give {computed}."),
    "environment": N_("Other program or catalogue: {path} was {recorded}, here it is {computed}."),
    "result": N_("Comes out differently: {path} was recorded as {recorded}, computed again it is {computed}."),
}


def verification_lines(found: Verification, language: Language) -> tuple[str, ...]:
    """The verdict, then each difference, in sentences."""
    if found.identical:
        return (
            language.fill("{id}: identical. Every value of the record comes out the same again.", id=found.report_id),
        )
    head = language.fill("{id}: {n:int} values differ.", id=found.report_id, n=found.count)
    rows = [
        language.fill(_KINDS[d.kind], path=d.path, recorded=d.recorded, computed=d.computed) for d in found.differences
    ]
    more = found.count - len(rows)
    tail = [language.fill("and {n:int} more", n=more)] if more else []
    return (head, *rows, *tail)


def verification_answer(found: Verification) -> dict[str, Any]:
    """The same as data."""
    return {
        "report_id": found.report_id,
        "identical": found.identical,
        "difference_count": found.count,
        "differences": [
            {"kind": d.kind, "path": d.path, "recorded": d.recorded, "computed": d.computed} for d in found.differences
        ],
    }
