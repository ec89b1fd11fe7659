"""The rules that every test runs under do bite."""

from __future__ import annotations

import socket
from collections.abc import Iterator

import pytest
from left_behind import windows_and_timers
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication, QLabel


def test_no_test_reaches_a_network() -> None:
    with socket.socket() as one, pytest.raises(AssertionError, match="never use a network"):
        one.connect(("192.0.2.1", 80))
    with socket.socket() as one, pytest.raises(AssertionError, match="never use a network"):
        one.connect_ex(("192.0.2.1", 80))


@pytest.fixture
def forgotten(qapp: QApplication) -> Iterator[tuple[QLabel, QTimer, QTimer]]:
    """A window in sight and running timers with and without an owner, cleared away at the end."""
    window, owned, free = QLabel("forgotten"), QTimer(qapp), QTimer()
    window.show()
    owned.start(1000)
    free.start(1000)
    yield window, owned, free
    free.stop()
    owned.stop()
    owned.deleteLater()
    window.close()


def test_what_is_left_behind_is_found(forgotten: tuple[QLabel, QTimer, QTimer]) -> None:
    found = windows_and_timers()
    assert all(one in found for one in forgotten)
