"""Overheads: their sources, their scopes, and that nothing of the test part of the measurements went into them."""

from __future__ import annotations

import numpy as np
from traced_models import DATA, traced_models

from engine.hardware.model import Gpu
from engine.layout.model import Job, Layout
from engine.memory.calibration import memory_overheads
from engine.memory.overheads import platform_for
from engine.memory.training import training_memory
from engine.memory.verdict import assess


def test_no_source_of_the_test_part_is_named() -> None:
    listed = (DATA / "test_split_sources.txt").read_text(encoding="utf-8").splitlines()
    forbidden = {line.strip().lower() for line in listed if line.strip() and not line.startswith("#")}
    assert len(forbidden) > 10
    for one in memory_overheads().values():
        text = f"{one.source} {one.notes}".lower()
        assert not [f for f in forbidden if f in text], one


def test_bounds_are_ordered_and_dated() -> None:
    for one in memory_overheads().values():
        assert one.low <= one.expected <= one.high, one
        assert one.source and one.date and one.unit, one


def _overheads(gpu: Gpu | None, layout: Layout, framework: str = "hf-transformers") -> dict[str, float]:
    job = Job.model_validate({"method": "full", "sequence_length": 1024, "framework": framework})
    arch = traced_models()["llama-3.2-1b"]
    found = assess(training_memory(arch, job, layout, platform=platform_for(gpu, framework)), gpu)
    return {t.name: t.expected for t in found.terms}


def test_communication_needs_several_cards() -> None:
    assert "memory.nccl" not in _overheads(None, Layout())
    assert _overheads(None, Layout(data_parallel=2))["memory.nccl"] > 3e8


def test_hopper_has_larger_workspaces_than_turing_and_turing_a_smaller_context() -> None:
    turing = Gpu(id="t4", vendor="NVIDIA", name="T4", compute_capability="7.5")
    hopper = Gpu(id="h100", vendor="NVIDIA", name="H100", compute_capability="9.0")
    small, large = _overheads(turing, Layout()), _overheads(hopper, Layout())
    assert small["memory.workspace"] < large["memory.workspace"]
    assert small["memory.context"] < large["memory.context"]


def test_cards_without_public_figures_get_a_wider_interval() -> None:
    known = platform_for(Gpu(id="a", vendor="NVIDIA", name="a", compute_capability="8.0"))
    unknown = platform_for(Gpu(id="b", vendor="Huawei", name="b"))
    assert np.subtract(unknown.context.high, unknown.context.low) > np.subtract(known.context.high, known.context.low)


def test_frameworks_without_runs_of_their_own_get_a_wider_interval() -> None:
    measured, other = platform_for(None, "hf-transformers"), platform_for(None, "some-framework 1.0")
    assert float(other.program_spread.high) > float(measured.program_spread.high)
    assert float(other.slack_fixed.high) > float(measured.slack_fixed.high)


def test_eager_attention_fragments_more() -> None:
    job = Job.model_validate({"method": "full", "sequence_length": 1024})
    arch = traced_models()["llama-3.2-1b"]
    ratios = []
    for kernel in ("flash", "eager"):
        found = assess(training_memory(arch, job, Layout.model_validate({"attention": kernel})), None)
        ratios.append(found.reserved.expected / found.allocated.expected)
    assert ratios[0] < ratios[1]
