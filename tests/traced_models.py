"""The 22 traced models as architectures, and rows of the traces as jobs and layouts of the engine."""

from __future__ import annotations

import csv
from functools import cache
from pathlib import Path
from typing import Any

from engine.architecture.model import Architecture
from engine.architecture.parameters import parameters_total
from engine.layout.model import (
    Attention,
    Job,
    Layout,
    Lora,
    Loss,
    Method,
    Optimizer,
    Recomputation,
    Regime,
    Sharding,
)

DATA = Path(__file__).parent / "reference" / "data"


def _model(
    name: str, kind: str, hidden: int, width: int, layers: int, heads: int, kv: int, vocabulary: int, **more: Any
) -> Architecture:
    values: dict[str, Any] = {
        "id": name,
        "name": name,
        "block_kind": kind,
        "hidden_size": hidden,
        "intermediate_size": width,
        "layers": layers,
        "attention_heads": heads,
        "kv_heads": kv,
        "head_dim": hidden // heads,
        "vocabulary_size": vocabulary,
        "full_attention_layers": layers,
        "parameters_total": 1,
        "parameters_active": 1,
        **more,
    }
    counted = parameters_total(Architecture(**values))
    return Architecture(**{**values, "parameters_total": counted, "parameters_active": counted})


def _all() -> list[Architecture]:
    tied = {"tied_embeddings": True}
    bias = {"attention_bias": "qkv"}
    norms = {"qk_norm": "head", "head_dim": 128}
    layer_norm = {"mlp": "gelu", "norm": "ln", "attention_bias": "all"}
    return [
        _model("smollm2-135m", "llama", 576, 1536, 30, 9, 3, 49152, **tied),
        _model("tinyllama-1.1b", "llama", 2048, 5632, 22, 32, 4, 32000),
        _model("llama-3.2-1b", "llama", 2048, 8192, 16, 32, 8, 128256, **tied),
        _model("llama-2-7b", "llama", 4096, 11008, 32, 32, 32, 32000),
        _model("llama-3.1-8b", "llama", 4096, 14336, 32, 32, 8, 128256),
        _model("llama-3.1-70b", "llama", 8192, 28672, 80, 64, 8, 128256),
        _model("qwen2.5-0.5b", "qwen2", 896, 4864, 24, 14, 2, 151936, **tied, **bias),
        _model("qwen2.5-7b", "qwen2", 3584, 18944, 28, 28, 4, 152064, **bias),
        _model("qwen2.5-32b", "qwen2", 5120, 27648, 64, 40, 8, 152064, **bias),
        _model("qwen3-0.6b", "qwen3", 1024, 3072, 28, 16, 8, 151936, **tied, **norms),
        _model("qwen3-8b", "qwen3", 4096, 12288, 36, 32, 8, 151936, **norms),
        _model("mistral-7b-v0.1", "mistral", 4096, 14336, 32, 32, 8, 32000, sliding_window=4096,
               full_attention_layers=0, sliding_window_layers=32),
        _model("gemma-2-2b", "gemma2", 2304, 9216, 26, 8, 4, 256000, **tied, head_dim=256, mlp="geglu",
               sliding_window=4096, full_attention_layers=13, sliding_window_layers=13, extra={"norms": 4}),
        _model("gemma-3-1b", "gemma3_text", 1152, 6912, 26, 4, 1, 262144, **tied, head_dim=256, mlp="geglu",
               qk_norm="head", sliding_window=512, full_attention_layers=4, sliding_window_layers=22,
               extra={"norms": 4}),
        _model("phi-3-mini", "phi3", 3072, 8192, 32, 32, 32, 32064),
        _model("pythia-1.4b", "gpt_neox", 2048, 8192, 24, 16, 16, 50304, **layer_norm, extra={"mlp_bias": 1}),
        _model("gpt2-124m", "gpt2", 768, 3072, 12, 12, 12, 50257, **tied, **layer_norm,
               extra={"mlp_bias": 1, "pos": 32768}),
        _model("mixtral-8x7b", "mixtral", 4096, 14336, 32, 32, 8, 32000, experts=8, experts_per_token=2,
               moe_intermediate_size=14336),
        _model("qwen3-30b-a3b", "qwen3_moe", 2048, 6144, 48, 32, 4, 151936, **norms, experts=128,
               experts_per_token=8, moe_intermediate_size=768),
        _model("gpt-oss-20b", "gpt_oss", 2880, 2880, 24, 64, 8, 201088, head_dim=64, attention_bias="all", experts=32,
               experts_per_token=4, moe_intermediate_size=2880, extra={"router_bias": 1, "sinks": 1, "expert_bias": 1}),
        _model("moonlight-16b-a3b", "deepseek_v3", 2048, 11264, 27, 16, 16, 163840, experts=64, experts_per_token=6,
               shared_experts=2, moe_intermediate_size=1408, first_dense_layers=1, head_dim=192, mla_kv_lora_rank=512,
               mla_qk_rope_head_dim=64, mla_v_head_dim=128),
        _model("deepseek-v3", "deepseek_v3", 7168, 18432, 61, 128, 128, 129280, experts=256, experts_per_token=8,
               shared_experts=1, moe_intermediate_size=2048, first_dense_layers=3, head_dim=192, mla_kv_lora_rank=512,
               mla_q_lora_rank=1536, mla_qk_rope_head_dim=64, mla_v_head_dim=128),
    ]  # fmt: skip


@cache
def traced_models() -> dict[str, Architecture]:
    """Architectures by the short names of the traces."""
    return {a.id: a for a in _all()}


@cache
def traced_rows(name: str = "ground_truth_cases.csv") -> tuple[dict[str, str], ...]:
    """Rows of the committed copy of the traces."""
    with (DATA / name).open(encoding="utf-8", newline="") as stream:
        return tuple(csv.DictReader(stream))


def case_of(row: dict[str, str]) -> tuple[Architecture, Job, Layout]:
    """Architecture, job and layout of a row (cases.md §3)."""
    return traced_models()[row["model"]], *settings_of(row)


def settings_of(row: dict[str, str]) -> tuple[Job, Layout]:
    """Job and layout of a row."""
    autocast, sharded = row["autocast"] == "True", int(row["fsdp"])
    if autocast:
        regime = Regime.BF16_AMP
    elif row["param_dtype"] == "bf16":
        regime = Regime.PURE_BF16
    else:
        regime = Regime.FP32_MASTER if sharded > 1 else Regime.FP32
    lora = None
    if row["method"] != "full":
        targets = {"all": "all-linear", "qv": "q,v", "attention": "attention"}[row["lora_targets"]]
        lora = Lora(
            rank=int(row["lora_r"]),
            targets=targets,
            adapter_dtype=row["lora_dtype"],
            dropout=float(row["lora_dropout"]),
        )
    four = "nf4-dq" if row["double_quant"] == "True" else "nf4"
    job = Job(
        method=Method(row["method"]),
        sequence_length=int(row["seq_len"]),
        lora=lora,
        weight_quantization=four if row["method"] == "qlora" else "none",
        kbit_preparation=row["kbit_prepare"] == "True",
        experts_implementation="eager" if row["experts"] == "eager" else "grouped",
    )
    layout = Layout(
        data_parallel=sharded,
        shard_degree=sharded,
        sharding=Sharding.FSDP2 if sharded > 1 else Sharding.NONE,
        reshard_after_forward=row["reshard_after_forward"] == "True",
        micro_batch_size=int(row["micro_batch"]),
        gradient_accumulation_steps=2 if row["grad_accumulation"] == "True" else 1,
        recomputation=Recomputation(row["checkpointing"]),
        attention=Attention(row["attention"]),
        loss=Loss(row["loss"]),
        regime=regime,
        optimizer=Optimizer(row["optimizer"]),
        optimizer_in_backward=row["optimizer_in_backward"] == "True",
    )
    return job, layout
