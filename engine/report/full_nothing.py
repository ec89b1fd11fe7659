"""Full report where nothing meets the constraints: the answer, the nearest misses, and everything it rests on."""

from __future__ import annotations

import json
from datetime import datetime

from engine.advice.result import Advice
from engine.messages.mark import N_
from engine.report import document as d
from engine.report import pieces
from engine.report.document import say
from engine.report.full_record import findings_table, instructions, record_facts
from engine.report.full_request import inputs_section, workload_section
from engine.report.full_results import rejected_blocks
from engine.scenario import ReportDetails

__all__ = ["nothing_sections"]


def nothing_sections(
    advice: Advice, details: ReportDetails, moment: datetime, hashes: dict[str, str]
) -> tuple[d.Section, ...]:
    """Result, inputs, work, findings, rejected, record."""
    result = say(N_("Nothing on the market meets all of the stated constraints; no money is asked for."))
    return (
        d.Section(
            pieces.numbered(1, N_("Decision summary")),
            (d.Paragraph(result, "warning"), findings_table(advice.findings)),
        ),
        inputs_section(2, advice.scenario, details),
        workload_section(3, advice.scenario),
        d.Section(pieces.numbered(4, N_("Why nothing fits")), rejected_blocks(advice)),
        d.Section(
            say(N_("A2 All inputs")),
            (d.Code(json.dumps(advice.scenario.model_dump(mode="json"), ensure_ascii=False, indent=1)),),
            new_page=True,
        ),
        d.Section(say(N_("A3 How to repeat the calculation")), (record_facts(advice, moment, hashes), *instructions())),
    )
