"""What must be mended before a report is handed in."""

from __future__ import annotations

from datetime import date

import pytest
from sample_advice import sample_advice

from engine.i18n import LANGUAGES, Language
from engine.report.checks import Check, checks_of
from engine.report.wording import words
from engine.scenario import ReportDetails

FULL = ReportDetails(quotations="A, 1 Dec, 10\nB, 1 Dec, 11\nC, 2 Dec, 12")


def found(details: ReportDetails = FULL, fields: int = 0, ways: tuple[str, ...] = ("rent",)) -> tuple[Check, ...]:
    advice = sample_advice(ways=ways)
    return checks_of(advice, advice.ranked[0], details, fields)


def said(checks: tuple[Check, ...]) -> str:
    return "\n".join(words(c.what, Language("en")) for c in checks)


def test_open_fields_block_and_stand_first() -> None:
    checks = found(fields=3)
    assert checks[0].blocking and "3 fields" in words(checks[0].what, Language("en"))
    assert not any(c.blocking for c in found())


@pytest.mark.parametrize(("text", "count"), [("", 0), ("one", 1), ("one; two；three", 3), ("a\n\nb\n", 2)])
def test_quotations_are_counted(text: str, count: int) -> None:
    shown = said(found(ReportDetails(quotations=text)))
    assert (f"{count} quotations" in shown) is (count < 3)


@pytest.mark.parametrize("text", ["国际领先的平台", "a State-of-the-art server", "the best card"])
def test_superlatives_are_named(text: str) -> None:
    assert "needs proof" in said(found(FULL.model_copy(update={"purpose": text})))
    assert "needs proof" not in said(found(FULL.model_copy(update={"purpose": "bestseller, uniquely"})))


def test_old_and_undated_prices() -> None:
    advice = sample_advice(ways=("rent",))
    best = advice.ranked[0]
    assert best.plan.offer is not None

    def with_date(day: date | None) -> str:
        offer = best.plan.offer.model_copy(update={"observed_on": day})  # type: ignore[union-attr]
        changed = best.model_copy(update={"plan": best.plan.model_copy(update={"offer": offer})})
        return said(checks_of(advice, changed, FULL, 0))

    assert "no date" in with_date(None)
    assert "days old" in with_date(date(2026, 9, 1))
    assert "days old" not in with_date(date(2026, 11, 30))


def test_consumer_cards_in_a_server_room() -> None:
    assert "consumer" in said(found(ways=("buy",)))
    assert "consumer" not in said(found(ways=("rent",)))


@pytest.mark.parametrize("code", LANGUAGES)
def test_every_check_has_words_and_a_place(code: str) -> None:
    language = Language(code)  # type: ignore[arg-type]
    for check in found(ReportDetails(purpose="唯一"), 2, ("buy",)):
        assert words(check.what, language) and words(check.where, language)
