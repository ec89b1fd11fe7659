"""Builds the `Document` of a profile."""

from __future__ import annotations

from datetime import datetime

from engine.advice.result import Advice
from engine.i18n import Language
from engine.messages.mark import N_
from engine.report.details import ReportDetails
from engine.report.document import Document, Profile, Text, Value, say
from engine.report.memo import memo_head, memo_sections
from engine.report.record import report_id, result_sha256

__all__ = ["build_document"]


def build_document(
    advice: Advice, profile: Profile, moment: datetime, details: ReportDetails, language: Language, *, brief: int = 0
) -> Document:
    """The document of one profile. `language` is only stated in the reproducibility record; no words are chosen here."""
    name: Value = Text(details.title or advice.scenario.name) if details.title or advice.scenario.name else Text("")
    title = say(N_("Request for GPU computing: one-page memo"))
    return Document(
        profile=profile,
        title=title,
        subtitle=name,
        head=memo_head(advice, details),
        sections=memo_sections(advice, details, brief=brief),
        report_id=report_id(advice),
        result_sha256=result_sha256(advice),
        created=moment.date(),
    )
