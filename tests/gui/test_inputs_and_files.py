"""Numbers as people type them, settings, scenario files, and what kind of file something is. No window."""

from __future__ import annotations

import json
import logging
import subprocess
import sys
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.errors import InputError, KnownError
from engine.examples import example_content
from engine.i18n import Language
from engine.inputs import read_scenario, write_scenario
from gui.draft import Draft
from gui.files import FileKind, kind_of_file
from gui.settings import MAX_RECENT, Settings, SettingsFile
from gui.widgets.numbers import editable_number, read_amount, read_number
from gui.widgets.words import plain

ENGLISH = Language("en")


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("50B", 50 * 10**9),
        ("1.5 M", 1_500_000),
        ("5亿", 5 * 10**8),
        ("2 万", 20_000),
        ("3千万", 3 * 10**7),
        ("1万亿", 10**12),
        ("1,000", 1000),
        ("１２", 12),
        ("1e9", 10**9),
        ("0.1", 0.1),
        ("", None),
        ("  ", None),
        ("ten", "ten"),
        ("1.2.3", "1.2.3"),
        ("nan", "nan"),
        ("inf", "inf"),
        ("1e999", "1e999"),
    ],
)
def test_numbers_are_read_as_people_type_them(text: str, value: object) -> None:
    assert read_number(text) == value


@given(st.one_of(st.integers(-(10**15), 10**15), st.floats(-1e12, 1e12, allow_nan=False).map(lambda x: round(x, 6))))
@settings(max_examples=200, deadline=None)
def test_an_editor_never_changes_a_number(value: float) -> None:
    assert read_number(editable_number(value, ENGLISH)) == value


@given(st.text(max_size=30))
@settings(max_examples=200, deadline=None)
def test_any_text_is_read_or_kept(text: str) -> None:
    value = read_number(text)
    assert value is None or isinstance(value, int | float) or value == text


def test_money_is_read_exactly() -> None:
    assert read_amount("0.1") == Decimal("0.1")
    assert read_amount("2万") == 20000


@pytest.mark.parametrize(
    ("text", "bare"), [("&Budget", "Budget"), ("预算(&B)", "预算"), ("R&&D", "R&D"), ("打开(&O)…", "打开…")]
)
def test_names_carry_no_mnemonic(text: str, bare: str) -> None:
    assert plain(text) == bare


def test_bad_settings_fall_back_one_by_one_and_unknown_ones_stay(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "settings.json"
    path.write_text(json.dumps({"language": "klingon", "theme": "dark", "scale": 99, "of_the_future": [1]}))
    file = SettingsFile(path)
    assert (file.value.language, file.value.theme, file.value.scale) == ("system", "dark", 1.0)
    assert "language" in caplog.text
    assert "scale" in caplog.text
    file.update(theme="light")
    assert json.loads(path.read_text())["of_the_future"] == [1]


@pytest.mark.parametrize("content", [b"", b"[]", b"{", b"\xff\xfe\x00"])
def test_damaged_settings_are_no_obstacle(tmp_path: Path, content: bytes, caplog: pytest.LogCaptureFixture) -> None:
    path = tmp_path / "settings.json"
    path.write_bytes(content)
    with caplog.at_level(logging.ERROR):
        assert SettingsFile(path).value == Settings()


def test_recent_files_have_no_doubles_and_an_end() -> None:
    kept = Settings()
    for number in [*range(MAX_RECENT + 5), 7]:
        kept = kept.with_recent(f"/x/{number}.json")
    assert len(kept.recent) == MAX_RECENT
    assert kept.recent[0] == "/x/7.json"
    assert len(set(kept.recent)) == MAX_RECENT


def test_a_scenario_file_comes_back_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "a b" / "情景.json"
    path.parent.mkdir()
    path.write_bytes(example_content("full-70b-rented", ENGLISH))
    scenario = read_scenario(path)
    write_scenario(path, scenario)
    assert read_scenario(path) == scenario


@pytest.mark.parametrize(
    ("content", "code"),
    [
        (b"{", "scenario.not_json"),
        (b"\xff\xfe{}", "scenario.not_json"),
        (b"[1]", "scenario.not_an_object"),
        (b'{"a": 1}', "scenario.not_a_scenario"),
        (b'{"schema_version": 99, "tasks": []}', "scenario.newer"),
        (b'{"schema_version": 1, "as_of": "2026-12-01", "tasks": []}', "scenario.invalid"),
        (b'{"schema_version": 1, "as_of": "soon", "tasks": [{}]}', "scenario.invalid"),
    ],
)
@pytest.mark.parametrize("language", [Language("en"), Language("zh_CN")])
def test_a_wrong_scenario_file_is_refused_in_words(
    tmp_path: Path, content: bytes, code: str, language: Language
) -> None:
    path = tmp_path / "wrong.json"
    path.write_bytes(content)
    with pytest.raises(InputError) as caught:
        read_scenario(path)
    assert caught.value.code == code
    words = language.error(caught.value)
    assert "wrong.json" in words
    assert "{" not in words.replace(str(content), "")


def test_files_that_are_missing_or_too_large(tmp_path: Path) -> None:
    with pytest.raises(KnownError, match="file_missing"):
        read_scenario(tmp_path / "none.json")
    big = tmp_path / "big.json"
    big.write_bytes(b" " * 5_000_001)
    with pytest.raises(InputError, match="file_too_large"):
        read_scenario(big)


@pytest.mark.parametrize(
    ("name", "content", "kind"),
    [
        ("a.json", b'{"schema_version": 1, "tasks": []}', FileKind.SCENARIO),
        ("config.json", b'{"model_type": "llama", "hidden_size": 8}', FileKind.CONFIG),
        ("rows.json", b'[{"text": "x"}]', FileKind.DATA),
        ("a.jsonl", b"{}", FileKind.DATA),
        ("a.CSV", b"a,b", FileKind.DATA),
        ("broken.json", b"{", FileKind.SCENARIO),
        ("a.png", b"", FileKind.UNKNOWN),
    ],
)
def test_a_file_is_known_by_what_it_holds(tmp_path: Path, name: str, content: bytes, kind: FileKind) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    assert kind_of_file(path) is kind


def test_the_draft_needs_no_qt() -> None:
    code = (
        "import sys, gui.draft, gui.history, gui.problems, gui.wizard.flow, gui.files; print('PySide6' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
    assert Draft.new().tasks
