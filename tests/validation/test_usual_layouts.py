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


def test_larger_cards_need_less_tensor_parallelism() -> None:
    """Submissions of the 8B model to MLPerf Training 5.1 on 8 cards of 288 GB state tensor parallelism of 1."""
    wanted = {
        "model": "meta-llama/Llama-3.1-8B",
        "method": "pretrain",
        "n_gpus": 8,
        "seq_len": 8192,
        "global_batch": 16,
    }
    large = layout(**wanted, gpu_id="nvidia-b300-sxm-288gb", framework="nemo / submitter stack")
    small = layout(**wanted, gpu_id="nvidia-a100-sxm-40gb", framework="nemo / submitter stack")
    assert (large.tensor_parallel, small.tensor_parallel) == (1, 8)


def test_no_more_replicas_than_rows_of_the_batch() -> None:
    found = layout(model="meta-llama/Llama-3.1-8B", method="pretrain", gpu_id="nvidia-gb300-288gb", n_gpus=72,
                   n_nodes=18, seq_len=8192, global_batch=36)  # fmt: skip
    assert (found.data_parallel, found.tensor_parallel) == (36, 2)


def test_a_run_that_was_done_is_timed_with_settings_that_fit() -> None:
    """Adapters of a 70B model at 2 x 4096 tokens fit on two cards only with recomputation, which costs time."""
    case = {"gpu_id": "nvidia-h100-sxm-80gb", "model": "meta-llama/Llama-3.3-70B-Instruct", "method": "lora",
            "framework": "nemo-automodel", "n_gpus": 8, "seq_len": 4096, "micro_batch": 2, "global_batch": 32,
            "parallel": "dp=4,tp=2,fsdp=4"}  # fmt: skip
    asked, ran = (estimate_case(case, load_base(), hull=True, ran=ran) for ran in (False, True))
    stated = estimate_case({**case, "activation_checkpointing": "full"}, load_base(), hull=True, ran=True)
    assert asked.training is not None
    assert ran.training is not None
    assert stated.training is not None
    assert ran.memory == asked.memory
    assert ran.training.step_seconds.expected == pytest.approx(stated.training.step_seconds.expected)
    assert ran.training.step_seconds.expected > 1.2 * asked.training.step_seconds.expected
    assert ran.training.step_seconds.low == pytest.approx(asked.training.step_seconds.low)
