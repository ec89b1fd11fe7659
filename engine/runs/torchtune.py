"""torchtune's YAML (its documentation: configs; recipes)."""

from __future__ import annotations

import re

from engine.hardware.model import CatalogSnapshot
from engine.runs import common
from engine.runs.settings import Settings

__all__ = ["NO_EFFECT", "read_torchtune"]

NO_EFFECT = (
    "tokenizer._component_", "tokenizer.path", "tokenizer.merges_file", "tokenizer.*_template", "checkpointer*",
    "lr_scheduler*", "optimizer.lr", "optimizer.fused", "optimizer.foreach", "loss.ignore_index",
    "loss.num_output_chunks", "device", "profiler*", "metric_logger*", "log_*", "resume*", "save_*",
    "model.lora_alpha", "dataset*", "seed", "shuffle", "clip_grad_norm", "custom_sharded_layers*",
    "keep_last_n_checkpoints", "cudnn_deterministic_mode", "enable_async_checkpointing", "model_type", "adapter_file",
    "max_validation*", "run_val*", "optimizer.weight_decay", "optimizer.momentum", "loss.beta",
    "loss.label_smoothing", "recipe*", "epochs", "max_steps_per_epoch",
)  # fmt: skip
#: The builder's name in torchtune.models -> catalogue name: family, version, size.
_FAMILIES = (
    (r"llama2_(\d+)b", "meta-llama/Llama-2-{}b-hf"),
    (r"llama3_1_(\d+)b", "meta-llama/Llama-3.1-{}B"),
    (r"llama3_2_(\d+)b", "meta-llama/Llama-3.2-{}B"),
    (r"llama3_3_(\d+)b", "meta-llama/Llama-3.3-{}B-Instruct"),
    (r"llama3_(\d+)b", "meta-llama/Meta-Llama-3-{}B"),
    (r"code_llama2_(\d+)b", "codellama/CodeLlama-{}b-hf"),
    (r"mistral_(\d+)b", "mistralai/Mistral-{}B-v0.1"),
    (r"gemma2_(\d+)b", "google/gemma-2-{}b"),
    (r"gemma_(\d+)b", "google/gemma-{}b"),
    (r"qwen2_5_(\d+(?:_\d)?)b", "Qwen/Qwen2.5-{}B"),
    (r"qwen2_(\d+(?:_\d)?)b", "Qwen/Qwen2-{}B"),
    (r"qwen3_(\d+(?:_\d)?)b", "Qwen/Qwen3-{}B"),
    (r"phi3_mini", "microsoft/Phi-3-mini-4k-instruct"),
    (r"phi4_14b", "microsoft/phi-4"),
)


def read_torchtune(settings: Settings, catalog: CatalogSnapshot, *, recipe: str = "") -> None:
    """Read a torchtune configuration; `recipe` is the recipe's name where a command states it."""
    s = settings
    s.put("framework", "torchtune")
    component = s.text("model", "model._component_")
    builder = component.rsplit(".", 1)[-1].lower()
    _model(s, catalog, builder)
    _method(s, builder, recipe)
    s.put("seq_len", s.count("seq_len", "tokenizer.max_seq_len", "dataset.max_seq_len"))
    s.put("micro_batch", s.count("micro_batch", "batch_size"))
    s.put("grad_accum", s.count("grad_accum", "gradient_accumulation_steps"))
    common.optimizer(s, "optimizer._component_")
    if s.yes("optimizer_in_backward", "optimizer_in_bwd"):
        s.put("optimizer_in_backward", "yes")
    checkpointing = s.yes("activation_checkpointing", "enable_activation_checkpointing")
    if checkpointing is not None:
        s.put("activation_checkpointing", "full" if checkpointing else "none")
    mode = s.text("activation_checkpointing", "ac_mode").lower()
    if mode == "selective":
        s.put("activation_checkpointing", "selective")
    if s.yes("offload", "enable_activation_offloading"):
        s.put("offload", "activations")
    if s.yes("offload", "fsdp_cpu_offload"):
        s.put("offload", "optimizer+parameters")
    loss = s.text("fused_or_chunked_ce", "loss._component_").lower()
    if "chunked" in loss or "linearcrossentropy" in loss:
        s.put("fused_or_chunked_ce", "yes")
    elif loss.endswith("crossentropyloss"):
        s.put("fused_or_chunked_ce", "no")
    dtype = s.text("regime", "dtype").lower()
    s.put("regime", {"bf16": "pure-bf16", "fp32": "fp32"}.get(dtype))
    s.put("precision", dtype if dtype in ("bf16", "fp32", "fp16") else None)
    if s.yes("torch_compile", "compile", "compile.model"):
        s.put("torch_compile", "yes")
    tensor = s.count("parallel", "tensor_parallel_dim")
    context = s.count("parallel", "context_parallel_dim")
    _degrees(s, tensor or 1, context or 1, recipe)
    s.lacks("data_parallel_replicate_dim", "enable_fp8_training", "low_cpu_ram", "custom_sharded_layers")
    s.usual("grad_accum", 1, "gradient_accumulation_steps")


def _model(s: Settings, catalog: CatalogSnapshot, builder: str) -> None:
    plain = re.sub(r"^(q?lora|dora)_", "", builder)
    for pattern, name in _FAMILIES:
        found = re.fullmatch(pattern + r"(_instruct|_base)?", plain)
        if found is None:
            continue
        size = found[1].replace("_", ".") if found.re.groups > 1 else ""
        known = common.known_model(name.format(size), catalog)
        if known is not None:
            s.put("model", known)
            s.taken("model._component_", known)
            return
    if builder:
        s.note("run.note.model_unknown", model=builder[:80])


def _method(s: Settings, builder: str, recipe: str) -> None:
    quantised = builder.startswith("qlora_") or bool(s.yes("weight_quant", "model.quantize_base"))
    adapters = quantised or builder.startswith(("lora_", "dora_")) or s.has("model.lora_rank")
    if adapters:
        s.put("lora_rank", s.count("lora_rank", "model.lora_rank"))
        s.put("lora_dropout", s.number("lora_dropout", "model.lora_dropout"))
        names = list(s.words("lora_targets", "model.lora_attn_modules"))
        if s.yes("lora_targets", "model.apply_lora_to_mlp"):
            names += ["gate_proj", "up_proj", "down_proj"]
        if s.yes("lora_targets", "model.apply_lora_to_output"):
            s.lacks("model.apply_lora_to_output")
        common.adapter_targets(s, names, "model.lora_attn_modules")
        if quantised:
            s.put("weight_quant", "nf4-dq")  # torchao's NF4 tensor quantises its scales
    loss = s.peek("loss._component_").lower()
    dora = s.yes("method", "model.use_dora")
    if "dpo" in loss or "dpo" in recipe:
        s.put("method", "dpo")
    elif "grpo" in loss or "grpo" in recipe:
        s.put("method", "grpo")
    elif "ppo" in recipe or "ppoloss" in loss:
        s.put("method", "ppo")
    elif "distillation" in recipe or "forwardkl" in loss:
        s.put("method", "distill")
    else:
        s.put("method", "qlora" if quantised else "dora" if dora else "lora" if adapters else "full")


def _degrees(s: Settings, tensor: int, context: int, recipe: str) -> None:
    stated = s.words("parallel", "data_parallel_shard_dim")
    if tensor > 1 or context > 1:
        parts = [f"tp={tensor}"] if tensor > 1 else []
        parts += [f"cp={context}"] if context > 1 else []
        s.put("parallel", ",".join((*parts, "fsdp=full")))
    elif stated or "distributed" in recipe or s.has("fsdp_cpu_offload", "tensor_parallel_dim"):
        s.put("parallel", "fsdp=full")
    elif "single_device" in recipe:
        s.put("n_gpus", 1)
