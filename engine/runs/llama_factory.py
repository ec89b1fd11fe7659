"""LLaMA-Factory's YAML or JSON (its arguments: src/llamafactory/hparams)."""

from __future__ import annotations

from pathlib import Path

from engine.hardware.model import CatalogSnapshot
from engine.runs import common
from engine.runs.settings import Settings
from engine.runs.sharding import fsdp

__all__ = ["NO_EFFECT", "read_llama_factory"]

NO_EFFECT = (
    "do_train", "template", "mask_history", "train_on_prompt", "plot_loss", "adapter_name_or_path", "export*",
    "pref_beta", "pref_ftx", "kto_*", "simpo_gamma", "ref_model_adapters", "additional_target", "mix_strategy",
    "streaming", "create_new_adapter", "rope_scaling", "resize_vocab", "use_fast_tokenizer", "split_special_tokens",
    "low_cpu_mem_usage", "data_shared_file_system", "media_dir", "image_max_pixels", "video_max_pixels", "ddp_*",
    "bf16_full_eval", "per_device_eval_batch_size", "ref_model", "infer_*", "vllm_*", "do_sample", "temperature",
    "top_p", "fsdp_config.*wrap*", "fsdp_config.*state*", "fsdp_config.*orig*", "reward_model*", "enable_thinking",
    "moe_aux_loss_coef", "freeze_vision_tower", "freeze_multi_modal_projector", "ignore_pad_token_for_loss",
)  # fmt: skip
_STAGES = {"pt": "continued", "rm": "reward", "ppo": "ppo", "kto": "kto"}


def read_llama_factory(settings: Settings, catalog: CatalogSnapshot, folder: Path | None) -> None:
    """Read a LLaMA-Factory configuration."""
    s = settings
    s.put("framework", "llama-factory")
    common.model(s, catalog, folder, "model_name_or_path")
    adapters = _method(s)
    s.put("seq_len", s.count("seq_len", "cutoff_len"))
    s.put("micro_batch", s.count("micro_batch", "per_device_train_batch_size"))
    s.put("grad_accum", s.count("grad_accum", "gradient_accumulation_steps"))
    common.optimizer(s, "optim")
    common.attention(s, "flash_attn")
    off = s.yes("activation_checkpointing", "disable_gradient_checkpointing")
    if off is not None:
        s.put("activation_checkpointing", "none" if off else "full")
    if not off and s.yes("activation_checkpointing", "use_unsloth_gc"):
        s.put("activation_checkpointing", "unsloth")
    if s.yes("fused_or_chunked_ce", "enable_liger_kernel"):
        s.put("fused_or_chunked_ce", "yes")
    if s.yes("framework", "use_unsloth"):
        s.put("framework", "unsloth")
    _precision(s, adapters)
    if s.has("fsdp"):
        words = [w.lower() for w in s.words("parallel", "fsdp")]
        fsdp(s, "fsdp_config.", next((w for w in words if w.endswith(("_shard", "_grad_op"))), ""))
        if "offload" in words:
            s.put("offload", "optimizer+parameters")
    s.lacks("use_galore", "use_apollo", "use_badam", "use_adam_mini", "use_llama_pro", "shift_attn",
            "quantization_device_map", "mixture_of_depths", "sequence_parallel_size",
            "freeze_trainable_layers")  # fmt: skip
    s.usual("seq_len", 2048, "cutoff_len")
    s.usual("micro_batch", 8, "per_device_train_batch_size")
    s.usual("grad_accum", 1, "gradient_accumulation_steps")
    if adapters:
        s.usual("lora_rank", 8, "lora_rank")
        s.usual("lora_targets", "all-linear", "lora_target")


def _method(s: Settings) -> bool:
    stage = s.text("method", "stage").lower() or "sft"
    kind = s.text("method", "finetuning_type").lower() or "lora"
    adapters = kind in ("lora", "oft")
    bits = s.count("weight_quant", "quantization_bit")
    double = s.yes("weight_quant", "double_quantization")
    if s.text("weight_quant", "quantization_method", "quantization_type").lower() in ("hqq", "eetq"):
        s.lacks("quantization_method", "quantization_type")
    if bits is not None and adapters:
        if bits not in (4, 8):
            s.note("run.note.bits", bits=bits)
        common.quantised_base(s, bits <= 4, bits > 4, "nf4", double is not False)
    if adapters:
        common.lora(s, ("lora_rank",), ("lora_dropout",), ("lora_target",))
    if kind == "oft":
        s.lacks("finetuning_type")
    special = _STAGES.get(stage, "")
    if stage == "dpo":
        loss = s.text("method", "pref_loss").lower()
        special = loss if loss in ("orpo", "simpo") else "dpo"
    if special:
        s.put("method", special)
        if stage == "pt" and adapters:  # adapters on plain text: memory and time are those of LoRA
            s.put("method", "qlora" if bits is not None and bits <= 4 else "lora")
    elif kind == "freeze":
        s.put("method", "freeze")
    elif adapters:
        dora = s.yes("method", "use_dora")
        s.put("method", "qlora" if bits is not None and bits <= 4 else "dora" if dora else "lora")
    else:
        s.put("method", "full")
    return adapters


def _precision(s: Settings, adapters: bool) -> None:
    pure = s.yes("regime", "pure_bf16")
    if s.yes("precision", "bf16") or pure:
        s.put("precision", "bf16")
        if not adapters:
            s.put("regime", "pure-bf16" if pure else "bf16-amp")
    elif s.yes("precision", "fp16"):
        s.put("precision", "fp16")
    elif not adapters and not s.has("deepspeed"):
        s.put("precision", "fp32")
