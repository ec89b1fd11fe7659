"""Builds the `Document` of a profile from an `Advice`."""

from __future__ import annotations

from datetime import datetime

from engine.advice.result import Advice, Assessment
from engine.advice.scaling_result import Scaling
from engine.messages.mark import N_
from engine.report import document as d
from engine.report.comparison import best_of_each_way, recommended
from engine.report.document import Document, Profile, Section, Text, say
from engine.report.full_cost import cost_sections
from engine.report.full_record import identity, record_sections
from engine.report.full_request import head, request_sections
from engine.report.full_results import rejected_blocks, result_sections
from engine.report.memo import memo_head, memo_sections
from engine.report.profiles import PROFILES, profile_sections
from engine.report.record import report_id, result_sha256
from engine.scenario import ReportDetails

__all__ = ["build_document", "compared_plans"]

#: Plans that figures and tables set side by side; more would not be legible on A4.
PLANS_COMPARED = 5


def compared_plans(advice: Advice) -> tuple[Assessment, ...]:
    """The recommended plan, then the other picks, then the best of each way: what figures set side by side."""
    best = recommended(advice)
    wanted = [best] if best is not None else []
    wanted += [advice.ranked[p.index] for p in advice.picks]
    wanted += best_of_each_way(advice).values()
    found: dict[str, Assessment] = {}
    for assessment in wanted:
        found.setdefault(assessment.plan.id, assessment)
    return tuple(found.values())[:PLANS_COMPARED]


def build_document(
    advice: Advice,
    profile: Profile,
    moment: datetime,
    details: ReportDetails,
    *,
    brief: int = 0,
    scaling: Scaling | None = None,
) -> Document:
    """The document of one profile; `brief` (memo only) leaves out secondary lines so that it keeps to its page.

    `scaling` of the recommended plan, where it is known, makes a figure of the full report.
    """
    hashes = {"report_id": report_id(advice), "result_sha256": result_sha256(advice)}
    memo = profile == "memo"
    return Document(
        profile=profile,
        title=d.Say(_title(profile)),
        subtitle=Text(details.title or advice.scenario.name),
        head=memo_head(advice, details) if memo else head(advice, details, identity(hashes, advice)),
        sections=memo_sections(advice, details, brief=brief)
        if memo
        else _long(profile, advice, moment, details, hashes, scaling),
        report_id=hashes["report_id"],
        result_sha256=hashes["result_sha256"],
        created=moment.date(),
    )


def _title(profile: Profile) -> str:
    if profile == "memo":
        return N_("Request for GPU computing: one-page memo")
    return PROFILES[profile].title if profile in PROFILES else N_("GPU computing: justification report")


def _long(
    profile: Profile,
    advice: Advice,
    moment: datetime,
    details: ReportDetails,
    hashes: dict[str, str],
    scaling: Scaling | None,
) -> tuple[Section, ...]:
    best = recommended(advice)
    if best is None:
        from engine.report.full_nothing import nothing_sections

        return nothing_sections(advice, details, moment, hashes)
    shown = compared_plans(advice)
    if profile in PROFILES:
        return profile_sections(profile, advice, best, shown, details, moment, hashes, scaling)
    return (
        *request_sections(advice, best, details),
        *result_sections(advice, best, shown, scaling),
        *cost_sections(advice, best, shown),
        *record_sections(advice, best, shown, moment, hashes),
        Section(say(N_("A4 Cards and offers without a plan")), rejected_blocks(advice), new_page=True),
    )
