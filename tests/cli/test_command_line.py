"""The command line: exit codes, JSON and nothing else on stdout, both languages, wrong files."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

import engine
from engine.cli.main import main
from engine.cli.screen import screen_problem

CASE = {"model": "meta-llama/Llama-3.1-8B", "method": "qlora", "gpu": "RTX 4090", "seq_len": 2048}
EXAMPLES = files("resources") / "examples"
DATA = Path(__file__).parents[1] / "reference/data"


@pytest.fixture
def case_file(tmp_path: Path) -> Path:
    path = tmp_path / "case 案例.json"
    path.write_text(json.dumps(CASE), encoding="utf-8")
    return path


def _run(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    code = main([str(a) for a in arguments])
    out, err = capsys.readouterr()
    return code, out, err


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert _run(capsys, "--version") == (0, f"gpu-advisor {engine.__version__}\n", "")


def test_estimate_as_json(capsys: pytest.CaptureFixture[str], case_file: Path) -> None:
    code, out, err = _run(capsys, "estimate", case_file, "--json")
    assert (code, err) == (0, "")
    answer = json.loads(out)
    memory, speed = answer["memory"], answer["speed"]
    for name in ("peak_bytes", "allocated_bytes", "reserved_bytes", "driver_bytes"):
        assert memory[name].keys() == {"low", "expected", "high"}
    assert memory["peak_bytes"] == memory["driver_bytes"]
    assert memory["verdict"] == "fits"
    assert memory["usable_bytes"] > 23 * 2**30
    assert sum(t["bytes"]["expected"] for t in memory["terms"]) == pytest.approx(memory["peak_bytes"]["expected"])
    assert all(t["formula"] and t["source"] for t in memory["terms"])
    assert 0 < speed["mfu"]["low"] <= speed["mfu"]["high"] < 1
    assert {a["params"]["key"] for a in answer["assumptions"]} >= {"optimizer", "micro_batch", "lora_rank"}
    assert {f["severity"] for f in answer["findings"]} <= {"info", "advice", "warning", "serious"}


def test_a_verdict_is_an_answer_whatever_it_is(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "case.json"
    path.write_text(json.dumps({**CASE, "method": "full"}), encoding="utf-8")
    code, out, _ = _run(capsys, "estimate", path, "--json")
    assert code == 0
    assert json.loads(out)["memory"]["verdict"] == "does_not_fit"


@pytest.mark.parametrize(("language", "word"), [("en", "Model weights"), ("zh_CN", "模型权重")])
def test_estimate_in_words(capsys: pytest.CaptureFixture[str], case_file: Path, language: str, word: str) -> None:
    code, out, err = _run(capsys, "estimate", case_file, "--lang", language)
    assert (code, err) == (0, "")
    assert word in out


def test_model_from_catalogue_file_and_size(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = _run(capsys, "model", DATA / "configs/meta-llama--Llama-3.1-8B.json", "--json")
    answer = json.loads(out)
    assert (code, answer["params_total"], answer["guessed"]) == (0, 8_030_261_248, [])
    assert sum(p["parameters"] for p in answer["parts"]) == answer["params_total"]
    code, out, _ = _run(capsys, "model", "meta-llama/Llama-3.1-8B", "--json")
    assert json.loads(out)["params_total"] == 8_030_261_248
    code, out, _ = _run(capsys, "model", "13B", "--json")
    assert json.loads(out)["params_total"] == pytest.approx(13e9, rel=0.02)
    assert json.loads(out)["guessed"]
    code, out, _ = _run(capsys, "model", "mixtral-8x7b", "--lang", "zh_CN")
    assert code == 0
    assert "路由专家" in out


@pytest.mark.parametrize("language", ["en", "zh_CN"])
@pytest.mark.parametrize(
    "arguments",
    [
        ("nosuch",),
        ("advise",),
        ("advise", "--nosuch"),
        ("advise", "missing.json"),
        ("estimate", "missing.json"),
        ("estimate", "{broken}"),
        ("estimate", "{list}"),
        ("estimate", "{empty}"),
        ("advise", "{empty}"),
        ("advise", "{broken}"),
        ("model", "nobody/nothing"),
        ("model", "{broken}"),
        ("model", "missing.json"),
        ("validate", "{broken}"),
        ("validate", "missing.csv"),
        ("estimate", "a", "b"),
    ],
)
def test_bad_input_is_two_and_only_on_stderr(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, arguments: tuple[str, ...], language: str
) -> None:
    for name, text in (("broken", '{"a": 1,\n "b": }'), ("list", "[1]"), ("empty", "{}")):
        (tmp_path / f"{name}.json").write_text(text, encoding="utf-8")
    given = [a.replace("{", f"{tmp_path}/").replace("}", ".json") if a.startswith("{") else a for a in arguments]
    code, out, err = _run(capsys, *given, "--lang", language)
    assert (code, out) == (2, "")
    assert err
    assert "Traceback" not in err
    assert any("\u4e00" <= c <= "\u9fff" for c in err) == (language == "zh_CN")


def test_an_unknown_language_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = _run(capsys, "model", "7B", "--lang", "tlh")
    assert (code, out) == (2, "")
    assert "tlh" in err


def test_the_language_may_stand_before_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = _run(capsys, "--lang", "zh_CN", "model", "7B")
    assert "词嵌入" in out


def test_a_world_that_fails_is_three(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    target = tmp_path / "file" / "out.pdf"
    example = EXAMPLES / "qlora-8b-own-card.json"
    code, _, err = _run(capsys, "advise", example, "--pdf", target)
    assert code == 3
    assert err


def test_advise_as_json_and_pdf(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    target = tmp_path / "报告.pdf"
    code, out, err = _run(capsys, "advise", EXAMPLES / "qlora-8b-own-card.json", "--json", "--pdf", target)
    assert (code, err) == (0, "")
    answer = json.loads(out)
    assert {p["role"] for p in answer["picks"]} <= {"cheapest", "balanced", "least_risk"}
    for pick in answer["picks"]:
        assert pick["reasons"]
        assert pick["memory"]["verdict"] in ("fits", "fits_tightly")
        assert pick["cost"]["cash_needed"]["low"] <= pick["cost"]["cash_needed"]["high"]
    assert all(r["text"] and r["reason"] for r in answer["rejected"])
    assert answer["catalog"]["version"]
    assert len(answer["catalog"]["sha256"]) == 64
    assert answer["searched"]["candidates"] > 0
    assert target.read_bytes().startswith(b"%PDF")


def _starved(tmp_path: Path) -> Path:
    scenario: dict[str, Any] = json.loads((EXAMPLES / "full-70b-rented.json").read_text(encoding="utf-8"))
    scenario["constraints"] = {**scenario.get("constraints", {}), "budget": {"amount": "1", "currency": "USD"}}
    path = tmp_path / "poor.json"
    path.write_text(json.dumps(scenario), encoding="utf-8")
    return path


@pytest.mark.parametrize("language", ["en", "zh_CN"])
def test_nothing_within_the_constraints_is_one(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, language: str
) -> None:
    code, out, err = _run(capsys, "advise", _starved(tmp_path), "--lang", language)
    assert (code, err) == (1, "")
    assert out
    code, out, _ = _run(capsys, "advise", _starved(tmp_path), "--json", "--lang", language)
    assert code == 1
    assert json.loads(out)["picks"] == []


@pytest.mark.parametrize("language", ["en", "zh_CN"])
def test_validate(capsys: pytest.CaptureFixture[str], language: str) -> None:
    code, out, _ = _run(capsys, "validate", DATA / "measured_sample.csv", "--json", "--lang", language)
    answer = json.loads(out)
    assert code == 0
    assert answer["rows"] == answer["used"] + len(answer["unexpressed"])
    assert {"kind", "method", "framework", "gpu", "rows", "median_abs_error", "p90_abs_error", "bias", "coverage",
            "median_width"} <= answer["groups"][0].keys()  # fmt: skip
    code, out, _ = _run(capsys, "validate", DATA / "measured_sample.csv", "--split", "test", "--lang", language)
    assert code == 0
    assert "%" in out


def test_without_a_screen_a_bundled_example_is_done(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert screen_problem() == "no_screen"  # the tests run with an offscreen platform
    code, out, _ = _run(capsys, "--lang", "en")
    assert code == 0
    assert "There is no screen here" in out
    path = Path(out.strip().splitlines()[-1].removeprefix("The report is in "))
    assert path.read_bytes().startswith(b"%PDF")


def test_headless_says_so(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    code, out, _ = _run(capsys, "--headless", "--lang", "zh_CN", "--pdf", tmp_path / "x.pdf")
    assert code == 0
    assert "不打开窗口" in out
    assert (tmp_path / "x.pdf").is_file()


@pytest.mark.parametrize("language", ["en", "zh_CN"])
def test_help_speaks_the_language(capsys: pytest.CaptureFixture[str], language: str) -> None:
    code, out, _ = _run(capsys, "--lang", language, "advise", "--help")
    assert code == 0
    assert ("情景" in out) == (language == "zh_CN")
    assert ("Usage: " in out) == (language == "en")


COMMANDS = [("advise",), ("fit",), ("estimate",), ("validate",), ("catalog",), ("catalog", "add-offer")]


@pytest.mark.parametrize("command", [(), *COMMANDS])
def test_chinese_help_has_no_sentence_of_the_parser(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, command: tuple[str, ...]
) -> None:
    """Headings, defaults, `--help` itself: the words that the parser adds speak the reader's language too."""
    monkeypatch.setenv("LC_ALL", "zh_CN.UTF-8")
    code, out, err = _run(capsys, *command, "--help")
    assert (code, err) == (0, "")
    assert out.startswith("用法：gpu-advisor") and "选项：" in out and "显示本帮助并退出。" in out
    assert not re.search(
        r"Usage|Options|Arguments|Commands|OPTIONS|ARGS|required|default:|Show this|<int|<str|<path", out
    )


def test_a_group_without_a_command_shows_its_help(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = _run(capsys, "catalog")
    assert code == 2 and not out
    assert "add-offer" in err and "There is no such command" not in err


def test_the_program_starts_without_charts_reports_or_qt() -> None:
    """`--version` loads nothing heavy: no chart library, no PDF compiler, no Qt."""
    script = "import sys; from engine.cli.main import main; main(['--version']); print(*sys.modules)"
    out = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
    assert not {"matplotlib", "typst", "PySide6"} & set(out.split())


def test_examples_are_named_and_speak_the_language(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """A bundled example goes by its name; its unchanged file speaks the language too; a changed one does not."""
    from engine.examples import EXAMPLES, scenario_or_example
    from engine.i18n import Language

    chinese = Language("zh_CN")
    assert scenario_or_example(Path("full-70b-rented"), chinese).name == "全参数微调 70B 模型"
    content = (files("resources") / "examples" / "full-70b-rented.json").read_bytes()
    copy = tmp_path / "full-70b-rented.json"
    copy.write_bytes(content)
    assert scenario_or_example(copy, chinese).name == "全参数微调 70B 模型"
    copy.write_bytes(content.replace(b"Full fine-tuning of a 70B", b"My own 70B"))
    assert scenario_or_example(copy, chinese).name.startswith("My own 70B")
    assert main(["examples", "--lang", "en"]) == 0
    printed = capsys.readouterr().out
    assert all(example.name in printed for example in EXAMPLES)


def test_what_would_make_it_fit(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "case.json"
    path.write_text(json.dumps({**CASE, "method": "full"}), encoding="utf-8")
    code, out, err = _run(capsys, "fit", path, "--json")
    assert (code, err) == (0, "")
    answer = json.loads(out)
    assert answer["memory"]["verdict"] == "does_not_fit"
    assert answer["changes"][0]["verdict"] in ("fits", "fits_tightly")
    for change in answer["changes"]:
        saved = answer["memory"]["peak_bytes"]["expected"] - change["peak_bytes"]["expected"]
        assert change["saved_bytes"] == pytest.approx(saved)
        assert change["words"][0]["text"] and change["meaning"]
    assert {x["name"] for x in answer["limits"]} >= {"fit.limit.sequence_length", "fit.limit.model"}
    code, out, err = _run(capsys, "fit", "qlora-8b-own-card", "--gpu", "RTX 4090", "--lang", "zh_CN")
    assert (code, err) == (0, "") and "装得下" in out


def test_what_would_make_it_fit_needs_a_card_and_a_task(capsys: pytest.CaptureFixture[str]) -> None:
    for more in ((), ("--gpu", "no such card"), ("--gpu", "RTX 4090", "--task", "none")):
        code, out, err = _run(capsys, "fit", "qlora-8b-own-card", *more)
        assert code == 2 and not out and err


@pytest.mark.parametrize("command", ["advise", "fit", "estimate", "model"])
def test_thousands_of_brackets_are_a_known_error(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, command: str
) -> None:
    path = tmp_path / "deep.json"
    path.write_text("[" * 100_000 + "]" * 100_000)
    code, out, err = _run(capsys, command, path)
    assert code == 2
    assert out == "" and "deep.json" in err
