"""`gpu-advisor launch` shows and writes how the recommended plan is started."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from engine.cli.main import main


@pytest.mark.parametrize("lang", ["en", "zh_CN"])
def test_all_programs_as_json(capsys: pytest.CaptureFixture[str], lang: str) -> None:
    assert main(["launch", "qlora-8b-own-card", "--json", "--lang", lang]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert {p["program"] for p in answer["programs"]} >= {"TRL", "LLaMA-Factory", "Axolotl"}
    assert all(p["notes"] and p["source"].startswith("https://") for p in answer["programs"])


def test_files_are_written_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["launch", "qlora-8b-own-card", "--program", "llama-factory", "--out", str(tmp_path / "out")]
    assert main(arguments) == 0
    assert (tmp_path / "out/train.yaml").exists()
    assert main(arguments) == 2
    assert "already" in capsys.readouterr().err


def test_an_unknown_program_is_answered_with_those_that_there_are(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["launch", "qlora-8b-own-card", "--program", "nope"]) == 2
    assert "LLaMA-Factory" in capsys.readouterr().err
