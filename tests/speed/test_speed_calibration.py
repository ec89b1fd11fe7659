"""The calibration tables: ordered, sourced, and free of what is kept for scoring."""

from __future__ import annotations

import csv
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from speed_cases import A100, H100, layout, linked, speed
from speed_cases import gpu as card

from engine.catalog.load import load_base
from engine.speed.calibration import stack_of, tables
from engine.speed.hardware import Precision, cluster_for, generation_of, hardware_block

DATA = Path(__file__).parent.parent / "reference/data"
TABLES = ("efficiency.csv", "links.csv", "software.csv")


def rows(name: str) -> list[dict[str, str]]:
    return list(csv.DictReader((files("resources") / "calibration" / name).read_text(encoding="utf-8").splitlines()))


@pytest.mark.parametrize("name", TABLES)
def test_every_row_is_ordered_and_has_a_source_and_a_date(name: str) -> None:
    for row in rows(name):
        assert float(row["low"]) <= float(row["expected"]) <= float(row["high"]), row
        assert row.get("source") or row.get("sources"), row
        assert row["as_of"] >= "2015", row


def test_no_figure_comes_from_the_part_that_is_kept_for_scoring() -> None:
    kept = {
        line
        for line in (DATA / "test_split_sources.txt").read_text(encoding="utf-8").splitlines()
        if line and not line.startswith("#")
    }
    assert len(kept) > 50
    named = {s for row in rows("efficiency.csv") for s in row["sources"].split()}
    named |= {word.strip(":;,") for row in rows("software.csv") for word in row["source"].split()}
    assert "llm-foundry-a100_80gb" in named
    assert not named & kept


def test_shares_of_a_peak_are_below_one() -> None:
    for row in rows("efficiency.csv"):
        assert float(row["low"]) > 0
        assert float(row["high"]) < 1


def test_every_card_of_the_catalogue_finds_an_efficiency_for_every_stack() -> None:
    cards = load_base().gpus
    for framework in ("megatron", "trl"):
        for precision in ("bf16", "fp16", "fp8", "fp4", "fp32"):
            block = hardware_block([cluster_for(c) for c in cards], precision=precision, framework=framework)
            assert (block.matrix_efficiency.low > 0).all()  # pyright: ignore[reportAttributeAccessIssue]
    assert {generation_of(c) for c in cards} > {"Hopper", "Ampere", "Ampere (GDDR)", "CDNA3"}


def test_stacks_by_framework() -> None:
    assert [stack_of(f) for f in ("Megatron-LM", "torchtitan", "llm-foundry", "nemo / submitter stack")] == [
        "tuned"
    ] * 4
    assert {stack_of(f) for f in ("hf-trainer", "trl", "hf-transformers", "llama-factory", "")} == {"plain"}


def test_a_generation_of_its_own_wins_over_the_vendor() -> None:
    known = tables()
    own = known.share("matrix", generation="Ampere", vendor="NVIDIA", precision="bf16", stack="tuned")
    other = known.share("matrix", generation="Kepler", vendor="NVIDIA", precision="bf16", stack="tuned")
    assert own.rows > 0
    assert other.rows == 0
    assert other.bounds.at().relative_width > own.bounds.at().relative_width


#: Published training speeds of sources that the calibration has not seen, tokens/s and card: torchtitan's benchmark
#: pages of 2024 (github.com/pytorch/torchtitan/tree/main/benchmarks). Model, card, cards, row, micro-batch, settings.
UNSEEN: list[tuple[str, str, int, int, int, dict[str, Any], Precision, float]] = [
    ("meta-llama/Llama-3.1-8B", H100, 8, 8192, 2, {"recomputation": "selective", "attention": "sdpa"}, "bf16", 5762),
    ("meta-llama/Llama-3.1-8B", H100, 128, 8192, 2, {"recomputation": "selective", "attention": "sdpa"}, "fp8", 8380),
    ("meta-llama/Llama-2-13b-hf", A100, 64, 4096, 2, {"recomputation": "none"}, "bf16", 2162),
    ("meta-llama/Llama-2-70b-hf", A100, 64, 4096, 2, {"recomputation": "full"}, "bf16", 353),
    ("meta-llama/Meta-Llama-3-8B", A100, 64, 8192, 1, {"recomputation": "selective"}, "bf16", 2904),
    ("meta-llama/Meta-Llama-3-70B", A100, 64, 8192, 1, {"recomputation": "full"}, "bf16", 331),
    ("meta-llama/Llama-3.1-405B", H100, 128, 8192, 2, {"recomputation": "full", "tensor_parallel": 8}, "bf16", 109),
]


@pytest.mark.parametrize(("name", "gpu_id", "cards", "length", "micro", "settings", "precision", "measured"), UNSEEN)
def test_unseen_runs_lie_within_the_range(
    name: str, gpu_id: str, cards: int, length: int, micro: int, settings: dict[str, Any], precision: Precision,
    measured: float,
) -> None:  # fmt: skip
    spread = layout(cards, sharding="fsdp2", micro_batch_size=micro, regime="fp32-master", **settings)
    hardware = hardware_block([linked(card(gpu_id), 8, nodes=cards // 8)], precision=precision, framework="torchtitan")
    job = {"sequence_length": length, "framework": "torchtitan"}
    found = speed(name, on=hardware, spread=spread, **job).tokens_per_second_per_gpu
    assert found.low <= measured <= found.high
    assert found.expected == pytest.approx(measured, rel=0.25)
