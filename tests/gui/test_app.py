"""Starting the program: with a screen, without one, with a file, with a damaged user database."""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
from pathlib import Path

import pytest

from engine.examples import example_content
from engine.i18n import Language
from gui.app import no_window_reason, run_app

_CODE = """
import sys
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication
from gui.app import run_app
app = QApplication(["gpu-advisor"])
def look():
    window = next(w for w in app.topLevelWidgets() if w.objectName() == "main")
    print(window.windowTitle(), "|", window.stack.currentWidget().objectName(), "|", len(app.topLevelWidgets()) > 1)
    window.close()
    app.quit()
QTimer.singleShot(700, look)
sys.exit(run_app(sys.argv[1:]))
"""


def started(home: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """The program in a process of its own."""
    env = {**os.environ, "QT_QPA_PLATFORM": "offscreen", "HOME": str(home), "LC_ALL": "C.UTF-8", **environment}
    code = [sys.executable, "-c", _CODE, "gpu-advisor", *arguments]
    return subprocess.run(code, env=env, capture_output=True, text=True, timeout=120, check=False)


def test_it_opens_with_a_scenario_and_ends_well(tmp_path: Path) -> None:
    path = tmp_path / "mine.json"
    path.write_bytes(example_content("weekend-api", Language("en")))
    done = started(tmp_path, str(path))
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("A weekend experiment")
    assert "| wizard |" in done.stdout
    assert "Traceback" not in done.stderr


def test_it_speaks_the_systems_language(tmp_path: Path) -> None:
    done = started(tmp_path, LC_ALL="zh_CN.UTF-8")
    assert done.returncode == 0, done.stderr
    assert "选卡顾问" in done.stdout
    assert "| start |" in done.stdout


def test_damaged_rows_of_the_user_are_said_and_do_not_keep_the_window_shut(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    folder.mkdir()
    (folder / "user.sqlite").write_bytes(b"this is no database" * 100)
    done = started(tmp_path, GPU_ADVISOR_DATA=str(folder))
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip().endswith("True")  # a message beside the window


def test_without_a_screen_it_says_what_to_do(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(sys, "platform", "linux")
    assert run_app(["gpu-advisor"]) == 3
    assert "--headless" in capsys.readouterr().err


@pytest.mark.parametrize("code", ["en", "zh_CN"])
def test_a_missing_system_library_is_answered_with_the_command(monkeypatch: pytest.MonkeyPatch, code: str) -> None:
    language = Language("en" if code == "en" else "zh_CN")

    def missing(name: str) -> None:
        raise ImportError("libEGL.so.1: cannot open shared object file")

    monkeypatch.setattr(importlib, "import_module", missing)
    reason = no_window_reason(language)
    assert "libEGL.so.1" in reason
    assert "apt-get install -y libegl1" in reason
