"""A record computed again: identical, or the value that was changed is named."""

from __future__ import annotations

import copy
import json
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from engine.advice.advise import advise
from engine.catalog.load import load_catalog
from engine.cli.main import main
from engine.errors import InputError
from engine.examples import scenario_or_example
from engine.i18n import LANGUAGES, Language
from engine.report.export import record_bytes
from engine.report.record import canonical_sha256, created_here
from engine.report.verify import read_record, verify_record
from engine.report.verify_words import verification_lines


@cache
def _record() -> bytes:
    scenario = scenario_or_example(Path("qlora-8b-own-card"), Language("en"))
    created = created_here(datetime(2026, 12, 1, 8, 30, tzinfo=UTC))
    return record_bytes(advise(scenario, load_catalog()), created)


def fresh() -> dict[str, Any]:
    return copy.deepcopy(json.loads(_record()))


def test_an_untouched_record_is_identical_and_keeps_its_moment(tmp_path: Path) -> None:
    path = tmp_path / "报告 1.json"
    path.write_bytes(_record())
    found = verify_record(read_record(path), load_catalog())
    assert found.identical, found
    assert fresh()["created"]["at"] == "2026-12-01T08:30:00+00:00"
    assert main(["verify", str(path), "--lang", "en"]) == 0


def test_one_changed_digit_is_found(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    record = fresh()
    record["result"]["ranked"][0]["tasks"][0]["memory"]["driver"]["high"] += 1
    found = verify_record(record, load_catalog())
    kinds = {(d.kind, d.path) for d in found.differences}
    assert kinds == {("altered", "result_sha256"), ("result", "result.ranked[0].tasks[0].memory.driver.high")}
    path = tmp_path / "r.json"
    path.write_text(json.dumps(record), encoding="utf-8")
    assert main(["verify", str(path), "--json"]) == 1
    answer = json.loads(capsys.readouterr().out)
    assert not answer["identical"] and answer["difference_count"] == 2


def test_a_forger_who_mends_the_hash_is_found_too() -> None:
    record = fresh()
    record["result"]["ranked"][0]["cost"]["cash_needed"]["expected"] = "1.00"
    record["result_sha256"] = canonical_sha256(record["result"])
    found = verify_record(record, load_catalog())
    assert [d.path for d in found.differences] == ["result.ranked[0].cost.cash_needed.expected"]


@pytest.mark.parametrize("name", ["result_sha256", "scenario_sha256", "report_id"])
def test_changed_hashes_and_names_are_found(name: str) -> None:
    record = fresh()
    record[name] = "0" + str(record[name])[1:] if str(record[name])[0] != "0" else "1" + str(record[name])[1:]
    found = verify_record(record, load_catalog())
    assert [(d.kind, d.path) for d in found.differences] == [("altered", name)]


def test_another_catalogue_is_said_first() -> None:
    record = fresh()
    record["catalog"]["sha256"] = "0" * 64
    found = verify_record(record, load_catalog())
    assert [d.kind for d in found.differences] == ["environment"]
    for code in LANGUAGES:
        lines = verification_lines(found, Language(code))
        assert "catalog.sha256" in lines[1] and "0" * 64 in lines[1]


@pytest.mark.parametrize("content", ["", "[]", "{}", "[" * 5000, '{"record_version": 1}', "\x00"])
def test_what_is_no_record_is_refused(tmp_path: Path, content: str) -> None:
    path = tmp_path / "x.json"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(InputError):
        read_record(path)
    assert main(["verify", str(path)]) == 2


def test_a_record_whose_scenario_is_broken_is_refused() -> None:
    record = fresh()
    record["result"]["scenario"] = {"tasks": []}
    with pytest.raises(InputError) as caught:
        verify_record(record, load_catalog())
    assert caught.value.code == "report.no_scenario"
