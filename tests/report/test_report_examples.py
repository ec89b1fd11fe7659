"""Reports of the bundled examples, by the real engine and catalogue."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from functools import cache
from importlib.resources import files

import pypdf
import pytest

import engine
from engine.advice.result import Advice
from engine.hardware.model import CatalogSnapshot
from engine.i18n import LANGUAGES, Language
from engine.messages import LABELS
from engine.report.build import build_document, compared_plans
from engine.report.document import Label
from engine.report.pdf import render_pdf
from engine.scenario import ReportDetails, Scenario

EXAMPLES = sorted(p.name for p in (files("resources") / "examples").iterdir() if p.name.endswith(".json"))


@cache
def catalog() -> CatalogSnapshot:
    return engine.load_catalog(with_user_rows=False)


@cache
def advice_of(name: str) -> Advice:
    text = (files("resources") / "examples" / name).read_text(encoding="utf-8")
    return engine.advise(Scenario.model_validate_json(text), catalog())


def labels(node: object) -> Iterator[str]:
    if isinstance(node, Label):
        yield node.code
    elif isinstance(node, tuple):
        for part in node:
            yield from labels(part)
    elif isinstance(node, dict):
        for part in node.values():
            yield from labels(part)
    elif hasattr(node, "__dataclass_fields__"):
        for field in node.__dataclass_fields__:
            yield from labels(getattr(node, field))


@pytest.mark.parametrize("name", EXAMPLES)
@pytest.mark.parametrize("code", LANGUAGES)
def test_memo_of_every_example_is_one_page(name: str, code: str) -> None:
    pdf = render_pdf(advice_of(name), Language(code))  # type: ignore[arg-type]
    pages = pypdf.PdfReader(io.BytesIO(pdf)).pages
    assert len(pages) == 1
    assert not re.search(r"\b(None|nan|inf)\b|\{\w+(:\w+)?\}", pages[0].extract_text())


@pytest.mark.parametrize("name", EXAMPLES)
def test_every_code_in_a_full_report_has_words(name: str) -> None:
    moment = datetime(2026, 12, 1, tzinfo=UTC)
    document = build_document(advice_of(name), "full", moment, ReportDetails())
    assert not {code for code in labels(document.sections) if code not in LABELS}


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_working_adds_up_to_what_is_printed(name: str) -> None:
    for plan in compared_plans(advice_of(name)):
        for task in plan.tasks:
            total = sum(t.expected for t in task.memory.terms)
            assert total == pytest.approx(task.memory.driver.expected, rel=1e-6)
        for terms, total_money in (
            (plan.cost.cash_terms, plan.cost.cash_needed),
            (plan.cost.job_terms, plan.cost.cost_of_job),
        ):
            assert sum(t.expected for t in terms) == pytest.approx(float(total_money.expected), abs=0.05)


@pytest.mark.parametrize("code", LANGUAGES)
def test_a_full_report_of_a_real_case(code: str) -> None:
    advice = advice_of("cn-university-campus-cluster.json")
    text = "\n".join(
        p.extract_text()
        for p in pypdf.PdfReader(io.BytesIO(render_pdf(advice, Language(code), "full"))).pages  # type: ignore[arg-type]
    )
    assert advice.catalog_sha256 in text.replace("\n", "")
    assert "校级计算平台" in text
    for rejection in advice.rejected[:20]:
        assert rejection.label.split()[0] in text
