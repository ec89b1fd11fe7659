"""Profiles P1 to P4: the same sections in the order, with the titles and signatures, that each reader expects."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from engine.advice.result import Advice, Assessment
from engine.advice.scaling_result import Scaling
from engine.messages.mark import N_
from engine.report import document as d
from engine.report import modules, pieces
from engine.report.checks import checks_of
from engine.report.document import say
from engine.report.full_cost import cost_sections
from engine.report.full_record import record_sections
from engine.report.full_request import request_sections
from engine.report.full_results import rejected_blocks, result_sections
from engine.scenario import ReportDetails

__all__ = ["PROFILES", "ProfileSpec", "profile_sections"]

Blocks = tuple[d.Block, ...]


@dataclass(frozen=True, slots=True)
class ProfileSpec:
    """A profile: its title, its sections (title and modules of the section library), and who signs."""

    title: str
    sections: tuple[tuple[str, tuple[str, ...]], ...]
    signatures: tuple[str, ...]
    appendix: bool = True


_UNIVERSITY = ProfileSpec(
    N_("Feasibility justification report for valuable equipment"),
    (
        (N_("Basic facts"), ("M01", "M02")),
        (N_("Need for the purchase"), ("M03", "M04")),
        (N_("Equipment of the same type and sharing (duplication check)"), ("M06",)),
        (N_("Sizing of computing power and GPU memory"), ("M05",)),
        (N_("Alternatives"), ("M07",)),
        (N_("Main technical requirements and configuration"), ("M08",)),
        (N_("Market and basis of the price"), ("M09",)),
        (N_("Way of purchase"), ("M10",)),
        (N_("Site, staff and running money"), ("M13", "M14")),
        (N_("Sharing and expected benefits"), ("M19",)),
        (N_("Whole-life cost and uncertainty"), ("M11", "M12")),
        (N_("Data security, export control and energy"), ("M15", "M16")),
        (N_("Delivery, acceptance and service"), ("M17",)),
        (N_("Risks and measures"), ("M18",)),
        (N_("Opinion of the experts (blank)"), ("experts",)),
        (N_("Approvals (blank)"), ("sign",)),
    ),
    (
        N_("Applicant"), N_("Co-signer"), N_("Head of the laboratory or platform"), N_("Head of the unit (seal)"),
        N_("Network and information office"), N_("Finance office"), N_("Laboratory and equipment office"),
        N_("Assets and purchasing office"), N_("Vice-president in charge"),
    ),
)  # fmt: skip

_GRANT = ProfileSpec(
    N_("Budget note: equipment line"),
    (
        (N_("Kind of spending"), ("M02",)),
        (N_("Use: the research tasks"), ("M03",)),
        (N_("Need: why existing and shared equipment does not do"), ("M06",)),
        (N_("Calculation and basis of the price"), ("M01", "M09")),
        (N_("Main performance and technical parameters"), ("M08",)),
        (N_("Other sources of money"), ("funds",)),
    ),
    (),
    appendix=False,
)

_RESEARCH = ProfileSpec(
    N_("Research equipment justification"),
    (
        (N_("Item and cost"), ("M01", "M02", "M09")),
        (N_("Need and relation to aims"), ("M03", "M04")),
        (N_("Existing and shared resources"), ("M06",)),
        (N_("Sizing"), ("M05",)),
        (N_("Alternatives considered"), ("M07",)),
        (N_("Required properties and sources of supply"), ("M08", "M10")),
        (N_("Price reasonableness"), ("prices",)),
        (N_("Whole-life cost, depreciation, allocation"), ("M11", "M12")),
        (N_("Location, care, security, export"), ("M13", "M15")),
        (N_("Users, access, operations and maintenance plan"), ("M14",)),
        (N_("Delivery, acceptance, warranty"), ("M17",)),
        (N_("Risks"), ("M18",)),
        (N_("Certifications and signatures"), ("truth", "sign")),
    ),
    (
        N_("Principal investigator"), N_("Department chair or dean"), N_("Research computing"),
        N_("Information security"), N_("Export-control office"), N_("Sponsored programs"), N_("Procurement"),
    ),
)  # fmt: skip

_BUSINESS = ProfileSpec(
    N_("Business case for GPU computing"),
    (
        (N_("Summary and decision"), ("M01",)),
        (N_("Objective and cost of doing nothing"), ("M03",)),
        (N_("Options"), ("M07",)),
        (N_("Demand and sizing"), ("M04", "M05")),
        (N_("Costs and benefits"), ("M11", "M19")),
        (N_("Financing and accounting"), ("M02", "M09")),
        (N_("Sensitivity"), ("M12",)),
        (N_("Risks"), ("M18",)),
        (N_("Security and compliance"), ("M15",)),
        (N_("Delivery and acceptance"), ("M13", "M17")),
        (N_("Energy"), ("M16",)),
        (N_("Approval"), ("sign",)),
    ),
    (
        N_("Business sponsor"), N_("Budget owner"), N_("Finance"), N_("Infrastructure"), N_("Security and legal"),
        N_("Procurement"), N_("Approver by authority limit"),
    ),
)  # fmt: skip

PROFILES: dict[str, ProfileSpec] = {
    "university": _UNIVERSITY,
    "grant": _GRANT,
    "research": _RESEARCH,
    "business": _BUSINESS,
}

#: Modules that are written for the profiles.
_OWN: dict[str, Callable[[Advice, Assessment, ReportDetails], Blocks]] = {
    "M02": modules.basic_facts,
    "M03": modules.need,
    "M06": modules.duplication,
    "M08": modules.requirements,
    "M09": modules.market,
    "M10": modules.procedure,
    "M13": modules.site,
    "M14": modules.operation,
    "M15": modules.compliance,
    "M16": modules.energy,
    "M17": modules.acceptance,
    "M19": modules.targets,
}


def profile_sections(
    profile: str,
    advice: Advice,
    best: Assessment,
    shown: tuple[Assessment, ...],
    details: ReportDetails,
    moment: datetime,
    hashes: dict[str, str],
    scaling: Scaling | None,
) -> tuple[d.Section, ...]:
    """The sections of one profile; those that the full report has too are the same blocks."""
    spec = PROFILES[profile]
    request = request_sections(advice, best, details)
    memory, time, alternatives, why_not = result_sections(advice, best, shown, scaling)
    cost, *uncertainty = cost_sections(advice, best, shown)
    risks, prices, _declarations, *appendix = record_sections(advice, best, shown, moment, hashes)
    library: dict[str, Blocks] = {
        "M01": request[0].blocks if spec.appendix else request[0].blocks[:1],
        "M04": request[2].blocks,
        "M05": (*memory.blocks, *time.blocks),
        "M07": (*alternatives.blocks, *why_not.blocks),
        "M11": cost.blocks,
        "M12": tuple(b for s in uncertainty for b in s.blocks),
        "M18": risks.blocks[:1],
        "prices": prices.blocks,
        "funds": (d.Paragraph(say(N_("Share of each source of money: {text}"), text=pieces.given(details.fund))),),
        "truth": (_truth(),),
        "experts": _expert_page(),
        "sign": _signatures(spec),
        **{name: make(advice, best, details) for name, make in _OWN.items()},
    }
    library["M09"] = (*library["M09"], *(prices.blocks if spec.appendix and "prices" not in _used(spec) else ()))
    found = [
        d.Section(pieces.numbered(i, title), tuple(b for name in names for b in library[name]))
        for i, (title, names) in enumerate(spec.sections, 1)
    ]
    if spec.appendix:
        found.append(_checks(advice, best, details, d.count_open(tuple(found))))
        found += [*appendix, d.Section(say(N_("A4 Cards and offers without a plan")), rejected_blocks(advice))]
    return tuple(found)


def _used(spec: ProfileSpec) -> set[str]:
    return {name for _title, names in spec.sections for name in names}


def _checks(advice: Advice, best: Assessment, details: ReportDetails, open_fields: int) -> d.Section:
    """A5: what is to be mended before the report is handed in."""
    checks = checks_of(advice, best, details, open_fields)
    title = say(N_("A5 Checks before it is handed in"))
    if not checks:
        return d.Section(title, (d.Paragraph(say(N_("Nothing was found that has to be mended."))),))
    rows = tuple((say(N_("must be mended")) if c.blocking else say(N_("look at it")), c.what, c.where) for c in checks)
    return d.Section(
        title,
        (
            d.Table(
                "T21",
                say(N_("Found by the program; this page is taken out before the report is handed in")),
                (
                    d.Column(say(N_("Kind")), weight=0.8),
                    d.Column(say(N_("Finding")), weight=3),
                    d.Column(say(N_("Where it is mended")), weight=1.5),
                ),
                rows,
                tuple(i for i, c in enumerate(checks) if c.blocking),
            ),
        ),
        new_page=True,
    )


def _truth() -> d.Paragraph:
    return d.Paragraph(
        say(
            N_(
                "I declare that the statements above are true and complete to my knowledge, and that conflicts of "
                "interest, if any, are named here: {open}. The figures were computed with the program named on the "
                "cover."
            ),
            open=d.OPEN,
        )
    )  # fmt: skip


def _expert_page() -> Blocks:
    line = (say(N_("Name, unit, title")), say(N_("Field")), say(N_("Signature")))
    return (
        d.Paragraph(say(N_("To be written by the experts at the review; nothing is filled in here.")), "note"),
        d.Signature((say(N_("Head of the group")), say(N_("Date")))),
        *(d.Signature(line) for _ in range(5)),
    )


def _signatures(spec: ProfileSpec) -> Blocks:
    return tuple(d.Signature((d.Say(name), say(N_("Date")))) for name in spec.signatures)
