"""Files are written whole or not at all."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

import pytest

from engine.errors import WorldError
from engine.files import write_atomically
from engine.i18n import LANGUAGES, Language


def test_new_file_in_a_new_folder(tmp_path: Path) -> None:
    target = write_atomically(tmp_path / "a b" / "报告.pdf", b"x")
    assert target.read_bytes() == b"x"
    assert [p.name for p in target.parent.iterdir()] == ["报告.pdf"]


@pytest.mark.skipif(os.name == "nt", reason="POSIX permissions")
def test_permissions_stay_and_follow_the_mask(tmp_path: Path) -> None:
    target = tmp_path / "x"
    old = os.umask(0o027)
    try:
        write_atomically(target, b"1")
    finally:
        os.umask(old)
    assert stat.S_IMODE(target.stat().st_mode) == 0o640
    target.chmod(0o600)
    write_atomically(target, b"2")
    assert stat.S_IMODE(target.stat().st_mode) == 0o600


@pytest.mark.parametrize(
    ("number", "code"),
    [(errno.ENOSPC, "file.no_space"), (errno.EACCES, "file.not_allowed"), (errno.EIO, "file.cannot_write")],
)
def test_a_failing_disk_leaves_the_old_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int, code: str
) -> None:
    target = tmp_path / "x"
    target.write_bytes(b"old")

    def fail(_descriptor: int) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(WorldError) as caught:
        write_atomically(target, b"new")
    assert caught.value.code == code
    assert target.read_bytes() == b"old"
    assert [p.name for p in tmp_path.iterdir() if p.is_file()] == ["x"]
    for language in LANGUAGES:
        assert str(target) in Language(language).error(caught.value)


def test_a_folder_is_no_file(tmp_path: Path) -> None:
    with pytest.raises(WorldError) as caught:
        write_atomically(tmp_path, b"x")
    assert caught.value.code == "file.is_folder"
