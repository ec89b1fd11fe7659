"""What each configuration under data/runs says, written from the documentation of its program, not by this one."""

from __future__ import annotations

from typing import Any, NamedTuple

__all__ = ["EXPECTED", "Expected"]


class Expected(NamedTuple):
    """`case`: keys of a case with their values. `not_modelled`, `unknown`: keys that must be told to the reader."""

    case: dict[str, Any]
    not_modelled: frozenset[str] | set[str] = frozenset()
    unknown: frozenset[str] | set[str] = frozenset()
    notes: frozenset[str] | set[str] = frozenset()
    open: frozenset[str] | set[str] = frozenset()  # keys of a case that must stay open


_FULL = {"method": "full", "precision": "bf16", "activation_checkpointing": "full"}
EXPECTED: dict[str, Expected] = {
    "trl/sft-full.yaml": Expected(
        {**_FULL, "model": "meta-llama/Llama-3.1-8B", "framework": "trl", "regime": "pure-bf16", "attention": "flash",
         "seq_len": 2048, "micro_batch": 2, "grad_accum": 8},
        open={"n_gpus", "lora_rank", "parallel"},
    ),
    "trl/sft-qlora.yaml": Expected(
        {"model": "Qwen/Qwen2.5-7B", "method": "qlora", "weight_quant": "nf4-dq", "lora_rank": 64, "lora_dropout": 0.05,
         "lora_targets": "all-linear", "seq_len": 4096, "micro_batch": 1, "grad_accum": 16,
         "optimizer": "paged_adamw_8bit", "activation_checkpointing": "full"},
        open={"regime"},
    ),
    "trl/dpo.yaml": Expected(
        {**_FULL, "model": "mistralai/Mistral-7B-v0.1", "method": "dpo", "seq_len": 1024, "micro_batch": 4,
         "grad_accum": 4, "optimizer": "adamw", "attention": "flash", "regime": "pure-bf16"},
    ),
    "trl/trainer-args.json": Expected(
        {"model": "openai-community/gpt2-large", "method": "full", "precision": "fp16", "seq_len": 1024,
         "micro_batch": 4, "grad_accum": 1, "optimizer": "adafactor"},
        unknown={"my_own_switch"},
        open={"activation_checkpointing", "attention"},
    ),
    "trl/fsdp.yaml": Expected(
        {"model": "meta-llama/Llama-2-70b-hf", "method": "lora", "parallel": "fsdp=full",
         "offload": "optimizer+parameters", "lora_rank": 16, "lora_targets": "all-linear", "micro_batch": 1},
    ),
    "trl/ds-inline.json": Expected(
        {"model": "Qwen/Qwen2.5-14B", "framework": "trl deepspeed", "parallel": "zero=3", "offload": "optimizer",
         "seq_len": 8192, "micro_batch": 1, "grad_accum": 4, "fused_or_chunked_ce": "yes"},
        not_modelled={"optim"},
        notes={"run.note.optimizer"},
        open={"optimizer"},
    ),
    "axolotl/qlora.yml": Expected(
        {"model": "meta-llama/Meta-Llama-3-8B", "method": "qlora", "weight_quant": "nf4-dq", "lora_rank": 32,
         "lora_targets": "all-linear", "seq_len": 4096, "micro_batch": 2, "grad_accum": 4, "attention": "flash",
         "optimizer": "paged_adamw_32bit", "activation_checkpointing": "full", "framework": "axolotl"},
    ),
    "axolotl/full.yml": Expected(
        {"model": "meta-llama/Llama-3.2-1B", "method": "full", "regime": "pure-bf16", "optimizer": "adamw_8bit",
         "activation_checkpointing": "unsloth", "fused_or_chunked_ce": "yes", "seq_len": 8192, "grad_accum": 8},
        open={"lora_rank"},
    ),
    "axolotl/fsdp-lora.yml": Expected(
        {"model": "mistralai/Mixtral-8x7B-v0.1", "method": "lora", "weight_quant": "int8", "lora_targets": "q,v",
         "parallel": "fsdp=full", "offload": "optimizer+parameters", "activation_checkpointing": "none",
         "attention": "sdpa", "optimizer": "adamw"},
    ),
    "axolotl/dpo.yml": Expected(
        {"model": "Qwen/Qwen2.5-0.5B", "method": "dpo", "seq_len": 2048, "micro_batch": 2, "grad_accum": 4,
         "optimizer": "adamw_8bit"},
        open={"lora_rank"},
    ),
    "axolotl/zero3.yml": Expected(
        {"model": "deepseek-ai/deepseek-coder-33b-base", "method": "full", "parallel": "zero=3",
         "offload": "optimizer+parameters", "framework": "axolotl deepspeed"},
        not_modelled={"context_parallel_size"},
        notes={"run.note.stage_by_name"},
    ),
    "axolotl/frozen.yml": Expected(
        {"model": "google/gemma-2-2b", "method": "freeze", "attention": "eager", "seq_len": 1024, "micro_batch": 4},
        not_modelled={"optimizer"},
        notes={"run.note.optimizer"},
    ),
    "llama-factory/lora-sft.yaml": Expected(
        {"model": "meta-llama/Meta-Llama-3-8B", "method": "lora", "lora_rank": 8, "lora_targets": "all-linear",
         "seq_len": 2048, "micro_batch": 1, "grad_accum": 8, "precision": "bf16", "framework": "llama-factory"},
        open={"regime", "optimizer"},
    ),
    "llama-factory/qlora.yaml": Expected(
        {"model": "Qwen/Qwen3-14B", "method": "qlora", "weight_quant": "nf4", "lora_rank": 16, "lora_targets": "q,v",
         "seq_len": 4096, "attention": "flash"},
    ),
    "llama-factory/full-ds3.yaml": Expected(
        {"model": "Qwen/Qwen2.5-7B", "method": "full", "parallel": "zero=3", "framework": "llama-factory deepspeed",
         "fused_or_chunked_ce": "yes", "seq_len": 8192},
        notes={"run.note.stage_by_name"},
        open={"lora_rank", "offload", "regime"},  # DeepSpeed keeps 32-bit master weights
    ),
    "llama-factory/dpo.yaml": Expected(
        {"model": "meta-llama/Meta-Llama-3-8B", "method": "simpo", "lora_rank": 8, "precision": "fp16"},
    ),
    "llama-factory/pretrain.yaml": Expected(
        {"model": "Qwen/Qwen2.5-1.5B", "method": "continued", "regime": "pure-bf16", "seq_len": 4096,
         "micro_batch": 4, "grad_accum": 16, "activation_checkpointing": "none"},
        not_modelled={"use_badam"},
    ),
    "llama-factory/unsloth.json": Expected(
        {"model": "mistralai/Mistral-7B-v0.3", "method": "qlora", "framework": "unsloth", "lora_rank": 32,
         "weight_quant": "nf4-dq", "seq_len": 1024},
    ),
    "torchtune/full-single.yaml": Expected(
        {**_FULL, "model": "meta-llama/Llama-3.1-8B", "regime": "pure-bf16", "optimizer": "paged_adamw_8bit",
         "optimizer_in_backward": "yes", "fused_or_chunked_ce": "yes", "seq_len": 4096, "micro_batch": 2,
         "grad_accum": 1, "framework": "torchtune"},
        open={"torch_compile", "offload", "parallel"},
    ),
    "torchtune/lora.yaml": Expected(
        {"model": "meta-llama/Llama-3.2-3B", "method": "lora", "lora_rank": 64, "lora_targets": "all-linear",
         "seq_len": 8192, "torch_compile": "yes", "activation_checkpointing": "none", "fused_or_chunked_ce": "yes"},
        notes={"run.note.targets"},  # q, v, output and the MLP: k is not among them
    ),
    "torchtune/qlora.yaml": Expected(
        {"model": "Qwen/Qwen2.5-7B", "method": "qlora", "weight_quant": "nf4-dq", "lora_targets": "q,v",
         "offload": "activations", "fused_or_chunked_ce": "no", "grad_accum": 16},
    ),
    "torchtune/full-distributed.yaml": Expected(
        {"model": "meta-llama/Llama-3.3-70B-Instruct", "method": "full", "parallel": "tp=2,fsdp=full",
         "offload": "optimizer+parameters", "seq_len": 8192},
    ),
    "torchtune/dora.yaml": Expected(
        {"model": "meta-llama/Llama-2-7b-hf", "method": "dora", "lora_rank": 8, "lora_targets": "q,k,v,o",
         "regime": "fp32", "grad_accum": 8, "seq_len": 1024},
    ),
    "torchtune/dpo.yaml": Expected(
        {"model": "meta-llama/Llama-3.1-8B", "method": "dpo", "lora_rank": 16, "lora_targets": "q,v",
         "micro_batch": 4},
    ),
    "sharding/ds-zero2.json": Expected(
        {"parallel": "zero=2", "precision": "bf16", "optimizer": "adamw", "micro_batch": 2, "grad_accum": 4,
         "framework": "deepspeed"},
        open={"model", "method", "offload"},
        unknown={"zero_optimization.allgather_bucket_size"},
    ),
    "sharding/ds-zero3-offload.json": Expected(
        {"parallel": "zero=3", "precision": "fp16", "offload": "optimizer+parameters", "micro_batch": 1,
         "global_batch": 64},
        not_modelled={"zero_optimization.sub_group_size"},
        notes={"run.note.nvme"},
        unknown={"zero_optimization.stage3_max_live_parameters"},
    ),
    "sharding/ds-auto.json": Expected(
        {"parallel": "zero=1"},
        not_modelled={"zero_optimization.zero_hpz_partition_size"},
        open={"micro_batch", "grad_accum", "precision"},
    ),
    "sharding/accelerate-fsdp2.yaml": Expected(
        {"n_gpus": 8, "n_nodes": 1, "parallel": "fsdp=full", "precision": "bf16", "activation_checkpointing": "full"},
        open={"offload", "reshard_after_forward", "model"},
    ),
    "sharding/accelerate-fsdp1.yaml": Expected(
        {"n_gpus": 16, "n_nodes": 2, "parallel": "fsdp=full", "reshard_after_forward": "no", "precision": "fp16",
         "offload": "optimizer+parameters"},
    ),
    "sharding/accelerate-deepspeed.yaml": Expected(
        {"n_gpus": 4, "parallel": "zero=3", "offload": "optimizer", "grad_accum": 2, "precision": "bf16",
         "framework": "deepspeed"},
    ),
}  # fmt: skip
