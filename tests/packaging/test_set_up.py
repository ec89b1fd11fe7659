"""The set-up of the README: what it says where something is missing; its pins are what the project asks for."""

from __future__ import annotations

import ast
import importlib.util
import re
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

from engine.cli import screen

ROOT = Path(__file__).parents[2]
START = ROOT / "packaging" / "start.py"
PINS = sorted((ROOT / "packaging").glob("requirements*.txt"))
posix = pytest.mark.skipif(sys.platform == "win32", reason="stands in for programs by shell scripts")

Program = Callable[[str], Path]


@pytest.fixture
def start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The set-up with an environment of its own, speaking English."""
    spec = importlib.util.spec_from_file_location("start", START)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    monkeypatch.setattr(module, "ENVIRONMENT", str(tmp_path / "environment"))
    monkeypatch.setenv("LC_ALL", "C.UTF-8")
    return module


@pytest.fixture
def program(tmp_path: Path) -> Program:
    """Makes a program of one line of shell."""

    def make(line: str) -> Path:
        made = tmp_path / "program"
        made.write_text(f"#!/bin/sh\n{line}\n", encoding="utf-8")
        made.chmod(0o755)
        return made

    return make


def never(*_arguments: object, **_named: object) -> None:
    raise AssertionError("nothing may be started")


def test_an_old_python_can_read_it_and_is_told_so(
    start: ModuleType, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    ast.parse(START.read_text(encoding="utf-8"), feature_version=(3, 6))
    monkeypatch.setattr(start.sys, "version_info", (3, 9, 2))
    monkeypatch.setattr(start, "set_up", never)
    assert start.main(["run"]) == 2
    assert "needs Python 3.11 or later; this is 3.9.2" in capfd.readouterr().err


@posix
@pytest.mark.parametrize(
    "said", ["because ensurepip is not available.", "No module named venv", "Error: No module named pip"]
)
def test_a_missing_venv_module_is_answered_with_the_command(
    start: ModuleType, program: Program, said: str, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(start.sys, "executable", str(program(f"echo '{said}'; exit 1")))
    assert start.main(["run"]) == 3
    version = "{}.{}".format(*sys.version_info[:2])
    assert re.search(rf"^    (sudo )?apt-get install -y python{version}-venv$", capfd.readouterr().err, re.M)
    assert not Path(start.ENVIRONMENT).exists()


@posix
def test_other_trouble_with_the_environment_is_passed_on(
    start: ModuleType, program: Program, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(start.sys, "executable", str(program("echo 'No space left on device'; exit 1")))
    assert start.main(["run"]) == 3
    err = capfd.readouterr().err
    assert "No space left on device" in err and "venv module" not in err


def test_a_folder_that_cannot_be_written_to(
    start: ModuleType, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(start.os, "access", lambda *_arguments: False)
    monkeypatch.setattr(start, "make_environment", never)
    assert start.main(["test"]) == 3
    assert f"The folder {ROOT} can't be written to" in capfd.readouterr().err


@posix
def test_a_missing_library_of_qt_is_answered_with_the_command(
    start: ModuleType, program: Program, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    said = "ImportError: libEGL.so.1: cannot open shared object file: No such file or directory"
    python = program(f"echo Traceback; echo '{said}'; exit 1")
    monkeypatch.setattr(start, "set_up", lambda _with_tests: None)
    monkeypatch.setattr(start, "environment_program", lambda _name: str(python))
    monkeypatch.setattr(start, "hand_over", never)
    monkeypatch.setattr(start.shutil, "which", lambda _name: None)
    assert start.main(["test"]) == 3
    err = capfd.readouterr().err
    assert said in err and "Traceback" not in err
    assert f"apt-get install -y {start.QT_PACKAGES}\n" in err


@posix
def test_a_qt_that_starts_is_no_problem(start: ModuleType, program: Program) -> None:
    assert start.qt_problem(str(program("echo a remark; exit 0"))) == ""


def test_every_place_names_the_same_system_libraries(start: ModuleType) -> None:
    assert start.QT_PACKAGES == screen.SYSTEM_LIBRARIES
    in_ci = re.search(r"apt-get install -y -qq \\\n\s+(.*?) >", (ROOT / ".ci" / "run").read_text(encoding="utf-8"))
    assert in_ci is not None
    assert set(in_ci[1].split()) <= set(start.QT_PACKAGES.split())


def test_its_words_are_there_in_both_languages(start: ModuleType) -> None:
    for english, chinese in start.WORDS.values():
        fields = [sorted(re.findall(r"{(\w+)}", text)) for text in (english, chinese)]
        assert fields[0] == fields[1]
        assert re.search("[\u4e00-\u9fff]", chinese) and not re.search("[\u4e00-\u9fff]", english)


def test_both_readmes_give_the_two_commands() -> None:
    for name in ("README.md", "README.zh_CN.md"):
        lines = (ROOT / name).read_text(encoding="utf-8").splitlines()
        for command in ("run", "test"):
            assert f"    python3 packaging/start.py {command}" in lines


@pytest.mark.parametrize("path", PINS, ids=lambda p: p.name)
def test_every_pin_has_a_hash_and_none_names_a_host(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert not re.search(r"https?://|--(extra-)?index-url|--find-links", text)
    assert len(pins(path)) >= 1
    for block in re.split(r"\n(?=[A-Za-z0-9])", re.sub(r"(?m)^\s*#.*\n?", "", text).strip()):
        assert re.search(r"--hash=sha256:[0-9a-f]{64}", block), block


@pytest.mark.parametrize(("name", "extra"), [("requirements.txt", ""), ("requirements-test.txt", "test")])
def test_the_pins_are_within_what_the_project_asks_for(name: str, extra: str) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    wanted = project["dependencies"] + (project["optional-dependencies"][extra] if extra else [])
    found = pins(ROOT / "packaging" / name)
    for requirement in map(Requirement, wanted):
        version = found[canonicalize_name(requirement.name)]
        assert requirement.specifier.contains(version), f"{requirement} but {version} is pinned"


def pins(path: Path) -> dict[str, Version]:
    """Name and version of each pin of a file."""
    found = re.findall(r"^([A-Za-z0-9._-]+)==([^\s;\\]+)", path.read_text(encoding="utf-8"), re.M)
    return {canonicalize_name(name): Version(version) for name, version in found}
