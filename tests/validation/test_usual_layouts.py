"""What is assumed of runs that state little, against what was published about them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from engine.catalog.load import load_base
from engine.validation.estimate import estimate_case, likely_system


def layout(**case: Any) -> Any:
    return estimate_case({"gpu_id": "nvidia-a100-sxm-80gb", "framework": "megatron-lm", **case}, load_base()).layout


@pytest.mark.parametrize(
    ("billions", "layers", "width", "heads", "cards", "tensor", "pipeline"),
    [
        (22, 48, 6144, 64, 8, 8, 1),
        (175, 96, 12288, 96, 64, 8, 8),
        (530, 105, 20480, 128, 280, 8, 35),
        (1008, 128, 25600, 160, 512, 8, 64),
    ],
)
def test_the_assumed_layout_is_the_published_one(
    billions: float, layers: int, width: int, heads: int, cards: int, tensor: int, pipeline: int
) -> None:
    """Table 3 of arXiv:2205.05198: models of 22, 175, 530 and 1008 billion parameters."""
    shape = {"n_layers": layers, "d_model": width, "n_heads": heads, "vocab": 51200, "mlp": "gelu", "d_ff": 4 * width}
    found = layout(
        params_b=billions, shape=json.dumps(shape), method="pretrain", n_gpus=cards, seq_len=2048, precision="fp16"
    )
    assert (found.tensor_parallel, found.pipeline_parallel) == (tensor, pipeline)


def test_a_pipeline_has_enough_micro_batches() -> None:
    """A batch of 512 rows over 64 replicas of 4 stages: 8 micro-batches, whatever the program calls accumulation."""
    found = layout(
        model="deepseek-ai/DeepSeek-V3", method="pretrain", n_gpus=256, seq_len=4096, micro_batch=1, global_batch=512,
        grad_accum=1, parallel="dp=64,pp=4,ep=64,fsdp=full",
    )  # fmt: skip
    assert found.gradient_accumulation_steps == 8


def test_the_stated_network_decides_the_system() -> None:
    systems = load_base().systems_by_gpu["nvidia-a100-sxm-80gb"]
    for words, fabric in (("nvlink+ib", "InfiniBand"), ("", "InfiniBand"), ("efa", "EFA")):
        found = likely_system(systems, 8, words)
        assert found is not None
        assert fabric in found.fabric
    assert likely_system((), 8, "") is None
