"""Profiles P1 to P4: order and titles, open fields, lines crossed, tests of requirements, hostile text."""

from __future__ import annotations

import io
import re
from decimal import Decimal
from functools import cache

import pypdf
import pytest
from sample_advice import sample_advice, scenario

from engine.i18n import LANGUAGES, Language
from engine.quantity import Money
from engine.report.build import build_document
from engine.report.document import Document, Signature, Table, count_open
from engine.report.pdf import render_pdf
from engine.report.profiles import PROFILES
from engine.report.rules import acceptance_tests, crossed_lines, rule_lines
from engine.report.wording import words
from engine.scenario import ReportDetails

#: The long documents share their sections; one of them is rendered in every run, the others in the long one.
KINDS = ("grant", "university", *(pytest.param(k, marks=pytest.mark.long) for k in ("research", "business")))
FILLED = ReportDetails(**{name: f"given {name}" for name in ReportDetails.model_fields})

#: Titles of the specification, as each profile must print them.
TITLES = {
    ("university", "zh_CN"): (
        "基本情况", "购置必要性", "查重", "算力与显存需求测算", "方案比选", "主要技术指标与配置",
        "市场调研与价格依据", "采购方式说明", "安装使用条件、人员与运行经费落实情况", "开放共享方案与效益预测",
        "全周期费用与不确定性", "数据安全、出口管制与能耗说明", "交付、验收与售后",
        "风险与应对", "专家组论证意见", "审批意见",
    ),
    ("research", "en"): (
        "Item and cost", "Need and relation to aims", "Existing and shared resources", "Sizing",
        "Alternatives considered", "Required properties", "Price reasonableness", "Whole-life cost", "Location, care",
        "Users, access", "Delivery, acceptance", "Risks", "Certifications",
    ),
    ("business", "en"): (
        "Summary and decision", "Objective", "Options", "Demand and sizing", "Costs and benefits", "Financing",
        "Sensitivity", "Risks", "Security", "Delivery", "Energy", "Approval",
    ),
}  # fmt: skip


def document(kind: str, details: ReportDetails | None = None, ways: tuple[str, ...] = ("buy",)) -> Document:
    from datetime import UTC, datetime

    moment = datetime(2026, 12, 1, tzinfo=UTC)
    return build_document(sample_advice(ways=ways), kind, moment, details or ReportDetails())  # type: ignore[arg-type]


@cache
def pdf_of(kind: str, code: str, filled: bool) -> bytes:
    details = FILLED if filled else ReportDetails()
    return render_pdf(sample_advice(), Language(code), kind, details=details)  # type: ignore[arg-type]


@cache
def text_of(kind: str, code: str, filled: bool) -> str:
    return text_in(pdf_of(kind, code, filled))


def text_in(pdf: bytes) -> str:
    return "\n".join(p.extract_text() for p in pypdf.PdfReader(io.BytesIO(pdf)).pages)


@pytest.mark.parametrize(("kind", "code"), list(TITLES))
def test_sections_stand_in_the_order_of_the_specification(kind: str, code: str) -> None:
    language = Language(code)  # type: ignore[arg-type]
    titles = [words(s.title, language) for s in document(kind).sections]
    wanted = TITLES[kind, code]
    for title, part in zip(titles, wanted, strict=False):
        assert part in title
    assert len(titles) >= len(wanted)


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_is_invented_and_what_is_stated_is_printed(kind: str) -> None:
    assert count_open(document(kind)) > count_open(document(kind, FILLED))
    missing = [n for n in ("fund", "purpose", "existing") if f"given {n}" not in text_of(kind, "en", True)]
    assert not (missing if kind != "business" else set(missing) - {"existing"}), missing
    assert "DRAFT" in text_of(kind, "en", False)


def test_every_field_of_the_assistant_is_printed_in_the_university_report() -> None:
    text = " ".join(text_of("university", "en", True).split())
    other = {"title", "applicant", "next_step"}  # title on the cover, next step in the memo only
    missing = [n for n in ReportDetails.model_fields if n not in other and f"given {n}" not in text]
    assert not missing


@pytest.mark.parametrize("kind", KINDS)
def test_both_languages_print_the_same_sizes_and_no_english_is_left(kind: str) -> None:
    def sizes(text: str) -> list[str]:
        return sorted(re.findall(r"(\d+\.\d)\s*GiB", text))

    english, chinese = text_of(kind, "en", False), text_of(kind, "zh_CN", False)
    assert sizes(english) == sizes(chinese)
    assert not re.search(r"\b(None|nan|inf)\b|\{\w+(:\w+)?\}|Decimal\(", english.split("A2 ")[0])
    body = chinese.split("附录 A1")[0]
    assert not re.search(r"\b(at least|Requirement|Proved|Passes|given|office|Date)\b", body)


def test_signatures_are_blank_lines_for_every_office() -> None:
    names = [b.names for s in document("university").sections for b in s.blocks if isinstance(b, Signature)]
    assert len(names) >= len(PROFILES["university"].signatures) + 6
    assert not [b for s in document("grant").sections for b in s.blocks if isinstance(b, Signature)]


def test_every_requirement_names_its_test() -> None:
    for kind in ("university", "research"):
        table = next(
            b for s in document(kind).sections for b in s.blocks if isinstance(b, Table) and b.number == "T7"
        )  # fmt: skip
        assert len(table.rows) >= 4
        assert all(len(row) == 3 and words(row[2], Language("en")) for row in table.rows)


@pytest.mark.parametrize(
    ("amount", "wanted", "not_wanted"),
    [
        ("399999.99", {"T-CN-01", "T-CN-02a"}, {"T-CN-06", "T-CN-10b"}),
        ("400000", {"T-CN-06"}, {"T-CN-07"}),
        ("500000", {"T-CN-07", "T-CN-17"}, {"T-CN-10a"}),
        ("2000000", {"T-CN-09", "T-CN-10a", "T-CN-10b", "T-CN-11"}, {"T-CN-12"}),
    ],
)
def test_lines_are_crossed_at_their_amount(amount: str, wanted: set[str], not_wanted: set[str]) -> None:
    money = Money(amount=Decimal(amount), currency="CNY")
    found = {line.id for line in crossed_lines("CN", money, purchase=True)}
    assert wanted <= found and not (found & not_wanted)
    assert not {line.applies_to for line in crossed_lines("CN", money, purchase=False)} - {"any"}
    assert not crossed_lines("CN", Money(amount=Decimal(amount), currency="USD"), purchase=True)


def test_rule_rows_are_dated_and_speak_both_languages() -> None:
    assert len({line.id for line in rule_lines()}) == len(rule_lines())
    for line in rule_lines():
        assert line.rule_date and line.effect.text and re.search("[一-鿿]", line.effect.chinese)
        assert line.scope == "general" or line.confidence != "high"


def test_acceptance_tests_follow_the_hardware() -> None:
    bought = {t.id for t in acceptance_tests(sample_advice(ways=("buy",)).ranked[0])}
    rented = {t.id for t in acceptance_tests(sample_advice(ways=("rent",)).ranked[0])}
    assert "C087" in bought and "C091" not in bought  # a GeForce: no level 3 diagnosis, no switch
    assert "C081" in bought and "C081" not in rented  # nothing arrives where one rents
    assert "C108" in bought & rented


@pytest.mark.parametrize("code", LANGUAGES)
def test_hostile_text_prints_as_written(code: str) -> None:
    evil = r"#set text(red) $x^2$ *b* \ <tag> =cmd|' /C calc'!A0 @ref"
    long = ("显存 " * 1300 + "end")[:4000]
    details = ReportDetails(purpose=evil, existing=long, quotations="\u05e9\u05dc\u05d5\u05dd \U0001f9ea " + "w" * 300)
    pdf = render_pdf(sample_advice(scenario(evil)), Language(code), "grant", details=details)  # type: ignore[arg-type]
    text = " ".join(text_in(pdf).split())
    assert evil in text and "U+1F9EA" in text
    assert text.count("显存 显存") > 500


@pytest.mark.parametrize("kind", KINDS)
def test_the_file_declares_pdf_a_and_is_repeatable(kind: str) -> None:
    pdf = pdf_of(kind, "en", False)
    if kind == "grant":
        assert pdf == render_pdf(sample_advice(), Language("en"), kind)  # type: ignore[arg-type]
    root = pypdf.PdfReader(io.BytesIO(pdf)).trailer["/Root"]
    data: bytes = root["/Metadata"].get_object().get_data()  # type: ignore[index,union-attr]
    assert b"<pdfaid:part>2</pdfaid:part>" in data and b"pdfuaid" in data
    assert root["/OutputIntents"]  # type: ignore[index]
