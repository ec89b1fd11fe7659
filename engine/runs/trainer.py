"""Hugging Face's TrainingArguments and TRL's configurations, as a file or as options of a command."""

from __future__ import annotations

from pathlib import Path

from engine.hardware.model import CatalogSnapshot
from engine.runs import common
from engine.runs.settings import Settings
from engine.runs.sharding import fsdp

__all__ = ["NO_EFFECT", "read_trainer"]

NO_EFFECT = (
    "use_cache", "ddp_find_unused_parameters", "ddp_*", "torch_empty_cache_steps", "prompt_template", "text_column",
    "instruction_column", "torch_compile_mode", "torch_compile_backend", "optim_args", "optim_target_modules",
    "task_type", "gradient_checkpointing_kwargs*", "jit_mode_eval", "skip_memory_metrics",
    "use_legacy_prediction_loop", "no_cuda", "bf16_full_eval", "fp16_full_eval", "half_precision_backend",
    "fp16_opt_level", "fsdp_config.min_num_params", "fsdp_config.*wrap*", "fsdp_config.*prefetch*",
    "fsdp_config.*state_dict*", "fsdp_config.*orig_params", "fsdp_config.*cpu_ram*", "fsdp_config.sync_module_states",
    "fsdp_config.*xla*", "fsdp_transformer_layer_cls_to_wrap", "per_device_eval_batch_size", "do_sample",
    "temperature", "top_p", "top_k", "label_names", "past_index", "auto_find_batch_size", "full_determinism",
    "length_column_name", "torchdynamo", "ray_scope", "loss_type", "beta", "precompute_ref_log_probs",
    "max_prompt_length", "max_completion_length", "desirable_weight", "undesirable_weight", "cpo_alpha",
    "simpo_gamma", "use_auth_token", "streaming", "bnb_4bit_quant_storage", "bias", "inference_mode",
    "fan_in_fan_out", "init_lora_weights", "peft_type", "layers_to_transform", "layers_pattern", "auto_mapping",
    "megatron*", "r_pattern", "alpha_pattern", "rank_pattern", "loftq_config*", "peft_version", "qalora*", "corda*",
    "lora_ga*", "eva_config*", "use_qalora", "ensure_weight_tying", "alora*", "arrow*", "trainable_token_indices",
    "layer_replication", "exclude_modules", "target_parameters", "modules_to_save", "lora_modules_to_save",
)  # fmt: skip
_DTYPES = {"bfloat16": "bf16", "bf16": "bf16", "float16": "fp16", "fp16": "fp16", "float32": "fp32", "fp32": "fp32"}
#: Words of a key's name that only one trainer of TRL has.
_TRAINERS = (
    ("num_generations", "grpo"), ("desirable_weight", "kto"), ("precompute_ref_log_probs", "dpo"),
    ("cpo_alpha", "simpo"), ("simpo_gamma", "simpo"), ("cliprange", "ppo"), ("center_rewards_coefficient", "reward"),
)  # fmt: skip


def read_trainer(settings: Settings, catalog: CatalogSnapshot, folder: Path | None, *, method: str = "") -> None:
    """Read the options of a trainer; `method` is what the script's or trainer's name says."""
    s = settings
    trl = bool(method) or s.has("max_seq_length", "max_length", "use_peft", "packing", "model_name_or_path")
    s.put("framework", "trl" if trl else "hf-trainer")
    common.model(s, catalog, folder, "model_name_or_path", "model_name", "model", "model_id", "base_model")
    adapters = _method(s, method)
    s.put(
        "micro_batch", s.count("micro_batch", "per_device_train_batch_size", "per_gpu_train_batch_size", "batch_size")
    )
    s.put("grad_accum", s.count("grad_accum", "gradient_accumulation_steps"))
    s.put("seq_len", s.count("seq_len", "max_seq_length", "max_length", "max_seq_len", "block_size", "model_max_length",
                             "cutoff_len"))  # fmt: skip
    common.optimizer(s, "optim")
    common.attention(s, "attn_implementation", "attn_impl")
    if s.yes("attention", "use_flash_attention_2", "use_flash_attn"):
        s.put("attention", "flash")
    checkpointing = s.yes("activation_checkpointing", "gradient_checkpointing")
    if checkpointing is not None:
        s.put("activation_checkpointing", "full" if checkpointing else "none")
    if s.yes("fused_or_chunked_ce", "use_liger_kernel", "use_liger", "use_liger_loss"):
        s.put("fused_or_chunked_ce", "yes")
    if s.yes("torch_compile", "torch_compile"):
        s.put("torch_compile", "yes")
    _precision(s, adapters)
    _sharing(s)
    s.lacks("activation_offloading", "padding_free", "use_vllm", "context_parallel_size", "galore_rank",
            "parallelism_config.cp_size", "parallelism_config.tp_size", "vllm_mode", "sync_ref_model")  # fmt: skip
    s.usual("micro_batch", 8, "per_device_train_batch_size")
    s.usual("grad_accum", 1, "gradient_accumulation_steps")
    if adapters:
        s.usual("lora_rank", 16 if s.has("use_peft") else 8, "lora_r")


def _method(s: Settings, method: str) -> bool:
    """What is done; whether adapters are trained."""
    adapters = bool(s.yes("method", "use_peft", "use_lora")) or s.has("lora_r", "lora_rank", "lora_target_modules")
    if s.has("use_peft") and s.peek("use_peft").lower() in ("false", "no", "0"):
        adapters = False
    four = s.yes("weight_quant", "load_in_4bit", "use_4bit")
    eight = s.yes("weight_quant", "load_in_8bit", "use_8bit")
    kind = s.text("weight_quant", "bnb_4bit_quant_type")
    double = s.yes("weight_quant", "use_bnb_nested_quant", "bnb_4bit_use_double_quant", "use_nested_quant")
    common.quantised_base(s, four, eight, kind, double)
    tuned = s.text("method", "train_type", "tuner_type", "sft_type").lower()  # ms-swift
    if tuned in ("lora", "qlora", "full"):
        adapters = tuned != "full"
    adapters = adapters or bool(four)
    special = method or next((m for key, m in _TRAINERS if s.has(key)), "")
    if s.text("method", "rlhf_type").lower() in ("dpo", "kto", "orpo", "simpo", "grpo", "ppo"):
        special = s.peek("rlhf_type").lower()
    if adapters:
        common.lora(s, ("lora_r", "lora_rank", "r"), ("lora_dropout",), ("lora_target_modules", "target_modules"))
    if special and special != "sft":
        s.put("method", special)
    elif four:
        s.put("method", "qlora")
    elif adapters:
        s.put("method", "dora" if s.yes("method", "use_dora") else "lora")
    else:
        s.put("method", "full")
    return adapters


def _precision(s: Settings, adapters: bool) -> None:
    stored = _DTYPES.get(s.text("precision", "torch_dtype", "dtype", "model_dtype").lower(), "")
    if s.yes("precision", "bf16"):
        s.put("precision", "bf16")
        if not adapters:  # autocast over the dtype in which the weights were loaded
            s.put("regime", "pure-bf16" if stored == "bf16" else "bf16-amp" if stored == "fp32" else None)
    elif s.yes("precision", "fp16"):
        s.put("precision", "fp16")
    elif stored == "bf16":
        s.put("precision", "bf16")
        s.put("regime", None if adapters else "pure-bf16")
    elif not adapters and not s.has("deepspeed"):
        s.put("precision", "fp32")


def _sharing(s: Settings) -> None:
    words = {w.lower() for w in s.words("parallel", "fsdp")}
    if words & {"true", "full_shard", "shard_grad_op", "hybrid_shard", "no_shard"}:
        named = next((w for w in words if w.endswith(("_shard", "_grad_op"))), "full_shard")
        fsdp(s, "fsdp_config.", named)
        if "offload" in words:
            s.put("offload", "optimizer+parameters")
