"""Records and workbooks: complete, repeatable, and free of formulas that nobody wrote."""

from __future__ import annotations

import io
import json
import zipfile
from xml.etree import ElementTree

import pytest
from sample_advice import sample_advice, scenario

from engine.advice.result import Advice
from engine.i18n import LANGUAGES, Language
from engine.report.export import COLUMNS, record_bytes, workbook_bytes
from engine.report.record import canonical_json, report_record, result_sha256, scenario_sha256

SPACE = {"x": "http://schemas.openxmlformats.org/spreadsheetml/2006/main"}


def test_the_record_holds_the_whole_answer_and_no_clock() -> None:
    advice = sample_advice()
    record = json.loads(record_bytes(advice))
    assert "seconds" not in record["result"]["searched"]
    record["result"]["searched"]["seconds"] = advice.searched.seconds
    assert Advice.model_validate(record["result"]) == advice
    assert record["scenario_sha256"] == scenario_sha256(advice.scenario)


def test_the_hash_sees_numbers_and_not_timings() -> None:
    advice = sample_advice()
    slower = advice.model_copy(update={"searched": advice.searched.model_copy(update={"seconds": 9.0})})
    assert result_sha256(slower) == result_sha256(advice)
    assert record_bytes(slower) == record_bytes(advice)
    other = advice.model_copy(update={"ranked": advice.ranked[::-1]})
    assert result_sha256(other) != result_sha256(advice)
    assert report_record(other)["report_id"] != report_record(advice)["report_id"]


def test_canonical_json_refuses_what_json_has_no_word_for() -> None:
    assert canonical_json({"b": 1, "a": "字"}) == '{"a":"字","b":1}'.encode()
    with pytest.raises(ValueError):
        canonical_json({"x": float("nan")})


@pytest.mark.parametrize("code", LANGUAGES)
def test_the_workbook_has_a_row_for_every_plan(code: str) -> None:
    advice = sample_advice(scenario("=HYPERLINK(1)"))
    content = workbook_bytes(advice, Language(code))  # type: ignore[arg-type]
    assert content == workbook_bytes(advice, Language(code))  # type: ignore[arg-type]
    with zipfile.ZipFile(io.BytesIO(content)) as book:
        sheet = ElementTree.fromstring(book.read("xl/worksheets/sheet1.xml"))
        strings = ElementTree.fromstring(book.read("xl/sharedStrings.xml"))
    rows = sheet.findall(".//x:row", SPACE)
    assert len(rows) == len(advice.ranked) + 1
    assert len(rows[0].findall("x:c", SPACE)) == len(COLUMNS)
    assert not sheet.findall(".//x:f", SPACE)
    numbers = [float(v.text or "") for v in rows[1].findall("x:c[@s]/x:v", SPACE)]
    assert any(abs(n - float(advice.ranked[0].cost.cost_of_job.expected)) < 0.005 for n in numbers)
    texts = [t.text for t in strings.findall(".//x:t", SPACE)]
    assert ("方案" if code == "zh_CN" else "Plan") in texts
