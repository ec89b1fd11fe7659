"""Axolotl's YAML (its documentation: config reference)."""

from __future__ import annotations

from pathlib import Path

from engine.hardware.model import CatalogSnapshot
from engine.runs import common
from engine.runs.settings import Settings
from engine.runs.sharding import fsdp

__all__ = ["NO_EFFECT", "read_axolotl"]

NO_EFFECT = (
    "model_type", "base_model_config", "is_*_model", "is_llama_derived_model", "rl_adapter_ref_model", "auto_resume*",
    "xformers_attention", "s2_attention", "early_stopping*", "shuffle_merged_datasets", "test_datasets*", "plugins",
    "evals_per_epoch", "saves_per_epoch", "gradient_checkpointing_kwargs*", "loss_watchdog*", "liger_rope",
    "liger_rms_norm", "liger_glu_activation", "liger_layer_norm", "liger_cross_entropy", "cosine_*", "relora*",
    "train_on_split", "pretraining_dataset*", "lora_modules_to_save", "lora_fan_in_fan_out", "peft_layers*",
    "tensorboard*", "flash_attn_rms_norm", "flash_attn_cross_entropy", "flash_attn_fuse*", "fsdp_config.*wrap*",
    "fsdp_config.*state_dict*", "fsdp_config.*orig_params", "fsdp_config.*cpu_ram*", "fsdp_config.*sync_module*",
    "fsdp_config.*limit_all*", "fsdp_config.*prefetch*", "added_tokens_overrides*", "lora_mlp_kernel",
    "lora_qkv_kernel", "lora_o_kernel", "use_ray", "total_num_tokens", "sample_packing_*", "eval_sample_packing",
    "pad_to_sequence_len", "dataset_prepared_path", "excess_length_strategy", "min_sample_len",
    "default_system_message", "roles_to_train", "train_on_eos", "lora_model_dir", "peft.loftq_config*", "lora_on_cpu",
    "experimental_skip_move_to_device", "bf16_full_eval",
)  # fmt: skip
_PREFERENCES = {"dpo", "kto", "orpo", "simpo", "grpo", "ipo"}


def read_axolotl(settings: Settings, catalog: CatalogSnapshot, folder: Path | None) -> None:
    """Read an Axolotl configuration."""
    s = settings
    s.put("framework", "axolotl")
    common.model(s, catalog, folder, "base_model")
    adapters = _method(s)
    s.put("seq_len", s.count("seq_len", "sequence_len"))
    s.put("micro_batch", s.count("micro_batch", "micro_batch_size", "batch_size"))
    s.put("grad_accum", s.count("grad_accum", "gradient_accumulation_steps"))
    common.optimizer(s, "optimizer")
    common.attention(s, "attn_implementation")
    if s.yes("attention", "flash_attention"):
        s.put("attention", "flash")
    elif s.yes("attention", "sdp_attention"):
        s.put("attention", "sdpa")
    elif s.yes("attention", "eager_attention"):
        s.put("attention", "eager")
    _checkpointing(s)
    _loss(s)
    if s.yes("torch_compile", "torch_compile"):
        s.put("torch_compile", "yes")
    _precision(s, adapters)
    if s.has("fsdp", "fsdp_config"):
        words = [w.lower() for w in s.words("parallel", "fsdp")]
        fsdp(s, "fsdp_config.", next((w for w in words if w.endswith(("_shard", "_grad_op"))), ""))
        if "offload" in words:
            s.put("offload", "optimizer+parameters")
    s.lacks("sequence_parallel_degree", "context_parallel_size", "tensor_parallel_size", "dp_shard_size",
            "dp_replicate_size", "lora_target_parameters", "activation_offloading", "layer_offloading",
            "qat.weight_dtype", "quantize_moe_experts", "spectrum_top_fraction")  # fmt: skip
    s.usual("seq_len", 512, "sequence_len")
    s.usual("micro_batch", 1, "micro_batch_size")
    s.usual("grad_accum", 1, "gradient_accumulation_steps")


def _method(s: Settings) -> bool:
    adapter = s.text("method", "adapter").lower()
    four, eight = s.yes("weight_quant", "load_in_4bit"), s.yes("weight_quant", "load_in_8bit")
    adapters = adapter in ("lora", "qlora")
    if adapters:
        if adapter == "qlora" and four is None and not eight:
            four = True
        common.quantised_base(s, four, eight, "nf4", double=True)  # Axolotl sets nested quantisation
        common.lora(s, ("lora_r",), ("lora_dropout",), ("lora_target_modules",))
        if s.yes("lora_targets", "lora_target_linear"):
            common.adapter_targets(s, ["all-linear"], "lora_target_linear")
    special = s.text("method", "rl").lower()
    if special in _PREFERENCES:
        s.put("method", "dpo" if special == "ipo" else special)
    elif s.yes("method", "reward_model"):
        s.put("method", "reward")
    elif adapters:
        dora = s.yes("method", "peft_use_dora")
        s.put("method", "qlora" if four else "dora" if dora else "lora")
    elif s.has("unfrozen_parameters"):
        s.words("method", "unfrozen_parameters")
        s.put("method", "freeze")
    else:
        s.put("method", "full")
    return adapters


def _checkpointing(s: Settings) -> None:
    word = s.text("activation_checkpointing", "gradient_checkpointing").lower()
    if word in ("unsloth", "offload"):
        s.put("activation_checkpointing", word)
    elif word in ("true", "yes", "on"):
        s.put("activation_checkpointing", "full")
    elif word:
        s.put("activation_checkpointing", "none")
    else:
        s.usual("activation_checkpointing", "none", "gradient_checkpointing")


def _loss(s: Settings) -> None:
    fused = s.yes("fused_or_chunked_ce", "liger_fused_linear_cross_entropy")
    cut = s.yes("fused_or_chunked_ce", "cut_cross_entropy")
    chunked = s.yes("fused_or_chunked_ce", "chunked_cross_entropy")
    if fused or cut or chunked:
        s.put("fused_or_chunked_ce", "yes")


def _precision(s: Settings, adapters: bool) -> None:
    word = s.text("precision", "bf16").lower() or s.peek("bf16").lower()
    if word == "full":
        s.put("precision", "bf16")
        s.put("regime", None if adapters else "pure-bf16")
    elif word in ("true", "auto", "yes") or s.has("bfloat16"):
        s.put("precision", "bf16")
    elif s.yes("precision", "fp16"):
        s.put("precision", "fp16")
