"""Keeps freed memory in the process while arrays of many candidates come and go."""

from __future__ import annotations

import ctypes
import sys
from functools import cache

__all__ = ["keep_freed_memory"]

#: Options of glibc's `mallopt` (malloc.h) and bytes: arrays up to the first size come from the heap, and the heap
#: keeps up to the second. Without them each array of a block is given back to the system and its pages are faulted in
#: again: measured, two thirds of the time that a block of 100 000 candidates takes.
_M_TRIM_THRESHOLD, _M_TOP_PAD, _M_MMAP_THRESHOLD = -1, -2, -3
ARRAY_BYTES, KEPT_BYTES, GROWTH_BYTES = 32 * 2**20, 256 * 2**20, 16 * 2**20


@cache
def keep_freed_memory() -> bool:
    """Once a process, where the C library has the setting (glibc); elsewhere nothing happens. Whether it took."""
    if not sys.platform.startswith("linux"):
        return False
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is None:
        return False
    settings = ((_M_MMAP_THRESHOLD, ARRAY_BYTES), (_M_TRIM_THRESHOLD, KEPT_BYTES), (_M_TOP_PAD, GROWTH_BYTES))
    return all(mallopt(option, value) == 1 for option, value in settings)
