"""The PDF in both languages and profiles: pages, fonts, text, bytes, hostile input."""

from __future__ import annotations

import io
import re
from datetime import UTC, datetime
from functools import cache

import pypdf
import pytest
from sample_advice import CATALOG, memory, sample_advice, scenario

from engine.advice.result import Advice
from engine.findings import Finding, Severity
from engine.i18n import LANGUAGES, Language
from engine.report.pdf import render_pdf, render_png_pages
from engine.report.record import report_id, result_sha256
from engine.scenario import ReportDetails

#: English words that a Chinese report may hold: names, units, terms that practitioners do not translate.
ALLOWED = {
    "GPU", "GiB", "GB", "token", "LoRA", "QLoRA", "FSDP", "DDP", "BF16", "FP32", "MFU", "API", "SHA", "ID", "PyTorch",
    "PUE", "kWh", "Llama", "llama", "meta", "ZeRO", "NCCL", "GeForce",
    "RTX", "SXM", "PCIe", "NVLink", "Logits", "logits", "JSON", "arXiv", "NVIDIA",
}  # fmt: skip

#: What people and the catalogue wrote.
NAMES = (
    "QLoRA of an 8B for a course", "Example Cloud", "Example Shop", "Example API", "llama-8b", "A800 SXM",
    "GPU Advisor",    "hf-transformers", "reason", CATALOG.sha256[:12],
)  # fmt: skip


@cache
def pdf_of(code: str, profile: str) -> bytes:
    return render_pdf(sample_advice(), Language(code), profile)  # type: ignore[arg-type]


def text_of(pdf: bytes) -> str:
    return "\n".join(p.extract_text() for p in pypdf.PdfReader(io.BytesIO(pdf)).pages)


@pytest.mark.parametrize("profile", ["memo", "full"])
@pytest.mark.parametrize("code", LANGUAGES)
def test_fonts_are_embedded_and_the_file_is_tagged(code: str, profile: str) -> None:
    reader = pypdf.PdfReader(io.BytesIO(pdf_of(code, profile)))
    fonts: dict[str, bool] = {}
    for page in reader.pages:
        for font in page["/Resources"]["/Font"].values():  # type: ignore[index]
            real = font.get_object()
            inner = real["/DescendantFonts"][0].get_object() if "/DescendantFonts" in real else real
            descriptor = inner["/FontDescriptor"]
            fonts[real["/BaseFont"]] = any(k in descriptor for k in ("/FontFile", "/FontFile2", "/FontFile3"))
    assert fonts and all(fonts.values()), fonts
    assert any("NotoSansSC" in name for name in fonts)
    root = reader.trailer["/Root"]
    assert root["/MarkInfo"]["/Marked"]  # type: ignore[index]
    assert str(root["/Lang"]).lower().startswith("zh" if code == "zh_CN" else "en")
    assert b"pdfuaid" in root["/Metadata"].get_object().get_data()  # type: ignore[union-attr]


@pytest.mark.parametrize("code", LANGUAGES)
def test_the_memo_is_one_a4_page_with_its_six_blocks(code: str) -> None:
    reader = pypdf.PdfReader(io.BytesIO(pdf_of(code, "memo")))
    assert len(reader.pages) == 1
    assert [round(float(x)) for x in reader.pages[0].mediabox[2:]] == [595, 842]
    text = text_of(pdf_of(code, "memo"))
    titles = {
        "en": (
            "1. Request", "2. Why it is needed now", "3. Is it enough?", "4. Three options compared",
            "5. Three key numbers", "6. Main risks and next step",
        ),
        "zh_CN": (
            "一、申请事项", "二、为什么现在需要", "三、配置是否够用", "四、三种方案对比", "五、三个关键数字",
            "六、主要风险与下一步",
        ),
    }[code]  # fmt: skip
    positions = [text.index(t) for t in titles]
    assert positions == sorted(positions)
    assert report_id(sample_advice()) in text and result_sha256(sample_advice())[:12] in text
    assert ("〔待填写〕" if code == "zh_CN" else "[to be completed]") in text
    rule = "以本单位现行规定为准" if code == "zh_CN" else "current rules prevail"
    assert rule in text.replace("\n", "")


@pytest.mark.parametrize("profile", ["memo", "full"])
def test_nothing_untranslated_stands_in_the_chinese_report(profile: str) -> None:
    # the appendices print formulas, sources and the scenario file as they are
    text = text_of(pdf_of("zh_CN", profile)).split("附录 A1 推荐方案的计算过程\n")[0]
    text = re.sub(report_id(sample_advice()) + "|" + result_sha256(sample_advice())[:12], " ", text)
    text = re.sub(r"https?://\S+|[A-Za-z_]+/[\w.-]+|\w+\.\w+", " ", text)
    for name in NAMES:
        text = re.sub(r"\s+".join(map(re.escape, name.split())), " ", text)
    words = {w for w in re.findall(r"[A-Za-z]{3,}", text) if w not in ALLOWED}
    assert not words & {"None", "nan", "inf"}
    english = {w for w in words if w.islower() or w.istitle()}
    assert not english, sorted(english)


@pytest.mark.parametrize("profile", ["memo", "full"])
def test_no_python_shines_through(profile: str) -> None:
    for code in LANGUAGES:
        text = text_of(pdf_of(code, profile))
        shown = text.split("A2")[0] if profile == "memo" else re.split(r"A2[^.…]*\n", text)[0]
        assert not re.search(r"\b(None|nan|inf)\b|Decimal\(|\{\w+(:\w+)?\}", shown)


def test_both_languages_print_the_same_numbers() -> None:
    """Rule R16: sizes in the same number, the same values, whatever the order of the words around them."""

    def sizes(text: str) -> list[str]:
        return sorted(re.findall(r"(\d+\.\d)\s*GiB", text))

    assert sizes(text_of(pdf_of("en", "full"))) == sizes(text_of(pdf_of("zh_CN", "full")))


def test_same_inputs_same_bytes_and_another_moment_another_file() -> None:
    advice = sample_advice()
    assert render_pdf(advice, Language("en")) == render_pdf(advice, Language("en"))
    later = render_pdf(advice, Language("en"), created_at=datetime(2027, 1, 2, 3, 4, tzinfo=UTC))
    assert later != render_pdf(advice, Language("en"))


def test_the_full_report_has_bookmarks_working_and_hashes() -> None:
    pdf = pdf_of("en", "full")
    reader = pypdf.PdfReader(io.BytesIO(pdf))
    titles = [str(o.title) for o in reader.outline if not isinstance(o, list)]
    assert titles[0].startswith("1. Decision summary") and any(t.startswith("A3") for t in titles)
    text = text_of(pdf)
    assert "parameters = 8,030,000,000" in text and "arXiv:2305.14314" in text
    assert result_sha256(sample_advice()) in text.replace("\n", "")
    assert f"page 1 of {len(reader.pages)}" in text


@pytest.mark.parametrize("code", LANGUAGES)
def test_markup_in_what_people_type_prints_as_written(code: str) -> None:
    evil = r"#set text(red) $x^2$ *b* _i_ \ <tag> @ref `r` {x} %s"
    advice = sample_advice(scenario(evil))
    details = ReportDetails(applicant="#strong[me]", why_now="a < b & c > d \U0001f9ea 字 " + "long " * 600)
    for profile in ("memo", "full"):
        pdf = render_pdf(advice, Language(code), profile, details=details)  # type: ignore[arg-type]
        text = " ".join(text_of(pdf).split())
        assert evil in text
        assert "#strong[me]" in text and "a < b & c > d [U+1F9EA] 字" in text
        if profile == "memo":
            assert len(pypdf.PdfReader(io.BytesIO(pdf)).pages) == 1


def test_open_fields_are_counted_and_vanish_when_filled() -> None:
    details = ReportDetails(applicant="A", unit="B", fund="C", why_now="D", decision_by="E")
    text = text_of(render_pdf(sample_advice(), Language("en"), details=details))
    assert "0 items to be completed" in text
    assert "[to be completed]" not in text


@pytest.mark.parametrize("profile", ["memo", "full"])
@pytest.mark.parametrize("code", LANGUAGES)
def test_nothing_found_is_said(code: str, profile: str) -> None:
    advice = sample_advice()
    miss = Finding(code="file.is_folder", severity=Severity.SERIOUS, params={"path": "x"})
    empty = advice.model_copy(update={"ranked": (), "picks": (), "findings": (miss,)})
    text = text_of(render_pdf(empty, Language(code), profile))  # type: ignore[arg-type]
    assert ("没有方案能满足全部" if code == "zh_CN" else "meets all of the stated constraints") in text.replace(
        "\n", ""
    )


@pytest.mark.parametrize("ways", [("rent",), ("buy",), ("shared",), ("rent", "shared")])
def test_a_missing_way_is_said_with_its_reason(ways: tuple[str, ...]) -> None:
    text = text_of(render_pdf(sample_advice(ways=ways), Language("en")))
    assert "No plan of this way" in text or "No shared cluster" in text


def test_unknown_memory_and_undated_prices_print() -> None:
    advice = sample_advice(ways=("rent",))
    plan = advice.ranked[0]
    gpu = plan.plan.cluster.gpu.model_copy(update={"usable_bytes": None})
    assert plan.plan.offer is not None
    offer = plan.plan.offer.model_copy(update={"observed_on": None})
    cluster = plan.plan.cluster.model_copy(update={"gpu": gpu})
    changed = plan.model_copy(
        update={
            "plan": plan.plan.model_copy(update={"cluster": cluster, "offer": offer}),
            "tasks": tuple(t.model_copy(update={"memory": memory(gpu)}) for t in plan.tasks),
            "cost": plan.cost.model_copy(update={"price_age_days": None}),
        }
    )
    other: Advice = advice.model_copy(update={"ranked": (changed,)})
    for profile in ("memo", "full"):
        assert "undated" in text_of(render_pdf(other, Language("en"), profile))  # type: ignore[arg-type]


def test_preview_pages_are_images_of_the_file() -> None:
    pages = render_png_pages(pdf_of("en", "memo"), 50)
    assert len(pages) == 1 and pages[0].startswith(b"\x89PNG")


def test_a_cheaper_api_is_said_first() -> None:
    advice = sample_advice(ways=("rent",))
    asked = advice.scenario.model_copy(update={"tasks": advice.scenario.tasks[:1]})
    rent = advice.ranked[0].model_copy(update={"tasks": advice.ranked[0].tasks[:1]})
    one = advice.model_copy(update={"scenario": asked, "ranked": (rent,)})
    assert "A hosted API is expected to do the same work for less" in text_of(render_pdf(one, Language("en")))
    barred = one.model_copy(update={"api": tuple(a.model_copy(update={"allowed": False}) for a in one.api)})
    assert "for less" not in text_of(render_pdf(barred, Language("en")))
