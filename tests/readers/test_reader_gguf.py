"""The metadata of published GGUF files, in llama.cpp's keys, give the totals of the models that they were made from."""

from __future__ import annotations

from typing import Any

import pytest

from engine.architecture.gguf import GgufHeader
from engine.architecture.gguf_model import architecture_from_gguf
from engine.architecture.tensors import Tally
from engine.catalog.load import load_base

MODELS = load_base().model_by_id
HEAD = ("output.weight",)
BIASES = ("blk.0.attn_q.bias",)


def metadata(kind: str, layers: int, width: int, heads: int, kv: int, ff: int, **more: Any) -> dict[str, Any]:
    plain = {"block_count": layers, "embedding_length": width, "attention.head_count": heads,
             "attention.head_count_kv": kv, "feed_forward_length": ff, "context_length": 8192, **more}  # fmt: skip
    return {"general.architecture": kind, **{f"{kind}.{key}": value for key, value in plain.items()}}


#: model -> (metadata, vocabulary, tensors that are there)
FILES: dict[str, tuple[dict[str, Any], int, tuple[str, ...]]] = {
    "meta-llama/Llama-3.1-8B": (metadata("llama", 32, 4096, 32, 8, 14336), 128256, HEAD),
    "meta-llama/Llama-3.2-1B": (metadata("llama", 16, 2048, 32, 8, 8192, **{"attention.key_length": 64}), 128256, ()),
    "mistralai/Mixtral-8x7B-v0.1": (
        metadata("llama", 32, 4096, 32, 8, 14336, expert_count=8, expert_used_count=2), 32000, HEAD),
    "Qwen/Qwen2.5-7B": (metadata("qwen2", 28, 3584, 28, 4, 18944), 152064, (*HEAD, *BIASES)),
    "Qwen/Qwen3-0.6B": (metadata("qwen3", 28, 1024, 16, 8, 3072, **{"attention.key_length": 128}), 151936, ()),
    "Qwen/Qwen3-30B-A3B": (
        metadata("qwen3moe", 48, 2048, 32, 4, 6144, expert_count=128, expert_used_count=8,
                 expert_feed_forward_length=768, **{"attention.key_length": 128}), 151936, HEAD),
    "google/gemma-2-2b": (
        metadata("gemma2", 26, 2304, 8, 4, 9216, **{"attention.key_length": 256, "attention.sliding_window": 4096}),
        256000, ()),
    "google/gemma-3-12b-pt": (
        metadata("gemma3", 48, 3840, 16, 8, 15360, **{"attention.key_length": 256, "attention.sliding_window": 1024}),
        262208, ()),
    "microsoft/Phi-3-mini-4k-instruct": (
        metadata("phi3", 32, 3072, 32, 32, 8192, **{"attention.sliding_window": 2047}), 32064, HEAD),
    "CohereLabs/c4ai-command-r-v01": (metadata("command-r", 40, 8192, 64, 64, 22528), 256000, ()),
    "tiiuae/falcon-7b": (metadata("falcon", 32, 4544, 71, 1, 18176), 65024, ()),
    "tiiuae/falcon-40b": (metadata("falcon", 60, 8192, 128, 8, 32768), 65024, ()),
    "EleutherAI/pythia-1b": (
        metadata("gptneox", 16, 2048, 8, 8, 8192), 50304, (*HEAD, "blk.0.attn_output.bias", "blk.0.ffn_up.bias")),
    "zai-org/glm-4-9b-hf": (metadata("chatglm", 40, 4096, 32, 2, 13696), 151552, (*HEAD, "blk.0.attn_qkv.bias")),
    "openai/gpt-oss-20b": (
        metadata("gpt-oss", 24, 2880, 64, 8, 2880, expert_count=32, expert_used_count=4,
                 expert_feed_forward_length=2880, **{"attention.key_length": 64, "attention.sliding_window": 128}),
        201088, (*HEAD, "blk.0.attn_output.bias", "blk.0.attn_q.bias")),
    "deepseek-ai/DeepSeek-V2-Lite": (
        metadata("deepseek2", 27, 2048, 16, 16, 10944, expert_count=64, expert_used_count=6, expert_shared_count=2,
                 expert_feed_forward_length=1408, leading_dense_block_count=1,
                 **{"attention.kv_lora_rank": 512, "attention.key_length": 192, "attention.value_length": 128,
                    "rope.dimension_count": 64}), 102400, HEAD),
    "deepseek-ai/DeepSeek-V3": (  # newer files: one cached head, widths of a head under keys of their own
        metadata("deepseek2", 61, 7168, 128, 1, 18432, expert_count=256, expert_used_count=8, expert_shared_count=1,
                 expert_feed_forward_length=2048, leading_dense_block_count=3,
                 **{"attention.kv_lora_rank": 512, "attention.q_lora_rank": 1536, "attention.key_length": 576,
                    "attention.value_length": 512, "attention.key_length_mla": 192,
                    "attention.value_length_mla": 128, "rope.dimension_count": 64}),
        129280, (*HEAD, "blk.3.exp_probs_b.bias")),
}  # fmt: skip


@pytest.mark.parametrize("name", sorted(FILES))
def test_metadata_give_the_published_total(name: str) -> None:
    pairs, vocabulary, tensors = FILES[name]
    width = next(v for k, v in pairs.items() if k.endswith("embedding_length"))
    shapes = {"token_embd.weight": (width, vocabulary), **dict.fromkeys(tensors, (1,))}
    found = architecture_from_gguf(GgufHeader(pairs, {}, Tally(), shapes), "m.gguf", name=name)
    row = MODELS[name]
    assert found.parameters_total == pytest.approx(row.parameters_total, rel=1e-3)
    assert found.parameters_active == pytest.approx(row.parameters_active, rel=1e-3)
    assert found.kv_elements_per_token_full == row.kv_elements_per_token_full
    assert found.kv_elements_per_token_window == row.kv_elements_per_token_window
    assert found.guessed == ()
