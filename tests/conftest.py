"""Every test gets folders of its own, no network, and must leave no thread, timer or window behind."""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from left_behind import watch_timers, windows_and_timers

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
os.environ.setdefault("QT_ACCESSIBILITY", "0")


@pytest.fixture(autouse=True)
def own_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A home of its own for each test."""
    home = tmp_path / "home"
    home.mkdir()
    for name in ("HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME"):
        monkeypatch.setenv(name, str(home))
    monkeypatch.setenv("APPDATA", str(home))
    monkeypatch.setenv("LOCALAPPDATA", str(home))
    monkeypatch.setenv("GPU_ADVISOR_DATA", str(home / "data"))
    yield home


@pytest.fixture(autouse=True)
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    """Any attempt to open a connection fails the test."""

    def refuse(self: socket.socket, *args: Any) -> None:
        if self.family != getattr(socket, "AF_UNIX", None):
            raise AssertionError("the program must never use a network")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket.socket, "connect_ex", refuse)


@pytest.fixture(autouse=True)
def nothing_left_behind() -> Iterator[None]:
    """Threads, timers and windows that a test started have ended when it ends."""
    before = set(threading.enumerate())
    watch_timers()
    yield
    left = [t for t in threading.enumerate() if t not in before and t.is_alive() and not t.daemon]
    assert not left, f"threads left behind: {left}"
    on_screen = windows_and_timers()
    assert not on_screen, f"left behind: {on_screen}"
