"""Writing files so that a person never finds half of one."""

from __future__ import annotations

import contextlib
import errno
import os
import tempfile
from pathlib import Path

from engine.errors import WorldError

__all__ = ["write_atomically"]

#: Permissions of a new file before the process's mask: readable and writable, like any document.
_NEW_FILE_MODE = 0o666


def write_atomically(path: str | Path, content: bytes) -> Path:
    """Write `content` to `path`: all of it or nothing; what stood there before stays until then.

    The bytes go to a temporary file of the same folder, reach the disk, and then take the name. Missing folders are
    made. Returns the absolute path. WorldError: `file.no_space`, `file.not_allowed`, `file.is_folder`,
    `file.cannot_write`.
    """
    target = Path(path).absolute()
    if target.is_dir():
        raise WorldError("file.is_folder", path=str(target))
    temporary = ""
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        descriptor, temporary = tempfile.mkstemp(prefix=f".{target.name[:40]}.", suffix=".tmp", dir=target.parent)
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())
        Path(temporary).chmod(_mode_of(target))
        Path(temporary).replace(target)
    except OSError as problem:
        if temporary:
            with contextlib.suppress(OSError):
                Path(temporary).unlink(missing_ok=True)
        raise _error(problem, str(target)) from problem
    _sync_folder(target.parent)
    return target


def _mode_of(target: Path) -> int:
    """Permissions that the file had, or those of a new one under the process's mask."""
    if target.exists():
        return target.stat().st_mode & 0o7777
    mask = os.umask(0)
    os.umask(mask)
    return _NEW_FILE_MODE & ~mask


def _sync_folder(folder: Path) -> None:
    """Make the new name durable where the system can; not being able to is no failure of the write."""
    if os.name == "nt":
        return
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _error(problem: OSError, path: str) -> WorldError:
    if problem.errno in (errno.ENOSPC, getattr(errno, "EDQUOT", errno.ENOSPC)):
        return WorldError("file.no_space", path=path)
    reason = problem.strerror or str(problem)
    if problem.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        return WorldError("file.not_allowed", path=path, reason=reason)
    return WorldError("file.cannot_write", path=path, reason=reason)
