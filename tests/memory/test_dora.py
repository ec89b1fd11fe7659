"""DoRA takes more than LoRA: by the outputs that it keeps and the norm that it takes."""

from __future__ import annotations

import pytest
from traced_models import traced_models

from engine.layout.model import Job, Layout, Lora, Recomputation
from engine.memory.result import MemoryBlock
from engine.memory.training import training_memory

MODEL = traced_models()["llama-3.1-8b"]


def _memory(method: str, **changes: object) -> MemoryBlock:
    job = Job.model_validate({"method": method, "sequence_length": 2048, "lora": Lora(rank=64)})
    layout = Layout.model_validate({"regime": "pure-bf16", "recomputation": "full", **changes})
    return training_memory(MODEL, job, layout)


@pytest.mark.parametrize("recomputation", [Recomputation.FULL, Recomputation.NONE])
def test_the_difference_is_what_the_paper_s_forward_keeps(recomputation: Recomputation) -> None:
    lora, dora = (_memory(m, recomputation=recomputation) for m in ("lora", "dora"))
    # q 4096, k and v 1024 each, o 4096, gate and up 14336 each, down 4096 outputs, two of each in 16 bits
    outputs = 4096 + 2 * 1024 + 4096 + 2 * 14336 + 4096
    layers = 1 if recomputation is Recomputation.FULL else 32
    wanted = 2 * 2048 * outputs * 2 * layers + 10 * 4096 * 14336
    for count in ("allocated", "reserved", "driver"):
        assert getattr(dora, count).expected - getattr(lora, count).expected == pytest.approx(wanted)
        assert getattr(dora, count).high > getattr(lora, count).high + wanted
        assert getattr(dora, count).low > getattr(lora, count).low


def test_it_stands_as_a_term_of_its_own() -> None:
    assert [t.name for t in _memory("dora").overhead_terms].count("memory.dora") == 1
    assert "memory.dora" not in [t.name for t in _memory("lora").overhead_terms]


def test_it_is_halved_where_matrices_are_split_in_two() -> None:
    term = {t: _memory("dora", tensor_parallel=t).overhead_terms[-1] for t in (1, 2)}
    assert term[1].amount.expected == pytest.approx(2 * term[2].amount.expected)
