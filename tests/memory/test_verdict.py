"""The verdict's thresholds (cases.md §1), one candidate and many."""

from __future__ import annotations

import numpy as np
import pytest
from traced_models import traced_models

from engine.hardware.model import Gpu
from engine.layout.model import Job, Layout
from engine.memory.result import MemoryBlock, Verdict
from engine.memory.training import training_memory
from engine.memory.verdict import VERDICT_OF_CODE, assess, verdicts


@pytest.fixture
def block() -> MemoryBlock:
    return training_memory(traced_models()["llama-3.2-1b"], Job(method="full", sequence_length=1024), Layout())


def _gpu(usable: float | None) -> Gpu:
    return Gpu(id="x", vendor="NVIDIA", name="x", usable_bytes=None if usable is None else int(usable))


def test_thresholds(block: MemoryBlock) -> None:
    expected, high = float(block.driver.expected), float(block.driver.high)
    assert assess(block, _gpu(expected - 2)).verdict is Verdict.DOES_NOT_FIT
    assert assess(block, _gpu(expected + 2)).verdict is Verdict.FITS_TIGHTLY
    assert assess(block, _gpu(high / 0.9 - 10)).verdict is Verdict.FITS_TIGHTLY
    assert assess(block, _gpu(high / 0.9 + 10)).verdict is Verdict.FITS
    assert assess(block, _gpu(high + 10), headroom=0.0).verdict is Verdict.FITS


def test_unknown_is_a_state_of_its_own(block: MemoryBlock) -> None:
    assert assess(block, _gpu(None)).verdict is Verdict.UNKNOWN
    assert assess(block, None).verdict is Verdict.UNKNOWN
    assert assess(block, None).missing_bytes == 0


def test_memory_in_use_counts(block: MemoryBlock) -> None:
    usable = float(block.driver.high) / 0.9 + 10
    assert assess(block, _gpu(usable)).verdict is Verdict.FITS
    assert assess(block, _gpu(usable), in_use_bytes=2**30).verdict is Verdict.FITS_TIGHTLY
    much = int(usable - float(block.driver.expected)) + 10
    assert assess(block, _gpu(usable), in_use_bytes=much).verdict is Verdict.DOES_NOT_FIT


def test_many_cards_at_once(block: MemoryBlock) -> None:
    expected, high = float(block.driver.expected), float(block.driver.high)
    usable = np.array([expected - 2, expected + 2, high / 0.9 + 10, np.nan])
    codes = verdicts(block, usable)
    assert [VERDICT_OF_CODE[c] for c in codes] == [
        Verdict.DOES_NOT_FIT,
        Verdict.FITS_TIGHTLY,
        Verdict.FITS,
        Verdict.UNKNOWN,
    ]
