"""TRL, LLaMA-Factory and Axolotl: one plan in the words of each."""

from __future__ import annotations

from typing import Any

from engine.launch.result import LaunchFile, Recipe
from engine.launch.shards import DEEPSPEED_NAME, accelerate_file, deepspeed_file, launcher
from engine.launch.wanted import OPTIMIZERS, Wanted, yaml_of
from engine.layout.model import Attention, Loss, Method, Offload, Recomputation, Regime, Sharding

__all__ = ["AXOLOTL", "LLAMA_FACTORY", "axolotl", "keeps_32_bits_as_asked", "llama_factory", "trl"]

#: Names of the programs as their makers write them.
TRL, LLAMA_FACTORY, AXOLOTL = "TRL", "LLaMA-Factory", "Axolotl"
_KERNELS = {Attention.FLASH: "flash_attention_2", Attention.SDPA: "sdpa", Attention.EAGER: "eager"}


def _files(wanted: Wanted, *own: LaunchFile) -> tuple[LaunchFile, ...]:
    return (*own, *(f for f in (deepspeed_file(wanted), accelerate_file(wanted)) if f is not None))


def _notes(wanted: Wanted) -> tuple[str, ...]:
    found = ["launch.data", "launch.rates"]
    if wanted.layout.tensor_parallel * wanted.layout.context_parallel > 1:
        found.append("launch.split")
    if wanted.cluster.nodes > 1:
        found.append("launch.nodes")
    return tuple(found)


def _half(wanted: Wanted) -> dict[str, bool]:
    return {"fp16" if wanted.layout.regime is Regime.FP16_AMP else "bf16": True}


# TRL --------------------------------------------------------------------------------------------------------------


def trl(wanted: Wanted) -> Recipe:
    """TRL's command line (docs: huggingface.co/docs/trl, SFTConfig, DPOConfig, ModelConfig)."""
    job, layout, lora = wanted.job, wanted.layout, wanted.job.lora
    autocast = layout.regime in (Regime.BF16_AMP, Regime.FP16_AMP) and not wanted.adapters
    options: dict[str, Any] = {
        "model_name_or_path": wanted.model,
        "dataset_name": "path/to/data",
        "output_dir": "out",
        "torch_dtype": "float32" if autocast else "bfloat16",
        **_half(wanted),
        "max_length": job.sequence_length,
        "packing": wanted.packed if job.method is not Method.DPO else None,
        "per_device_train_batch_size": layout.micro_batch_size,
        "gradient_accumulation_steps": layout.gradient_accumulation_steps,
        "gradient_checkpointing": layout.recomputation is Recomputation.FULL,
        "optim": OPTIMIZERS[layout.optimizer],
        "attn_implementation": _KERNELS[layout.attention],
        "use_liger_kernel": True if layout.loss is Loss.CHUNKED else None,
        "deepspeed": DEEPSPEED_NAME if wanted.zero_stage else None,
    }
    if lora is not None:
        options |= {"use_peft": True, "lora_r": lora.rank, "lora_dropout": lora.dropout}
        options["lora_target_modules"] = " ".join(wanted.lora_targets) or "all-linear"
        options["use_dora"] = True if job.method is Method.DORA else None
    options |= _trl_quantised(wanted)
    words = [f"--{k} {_word(v)}" for k, v in options.items() if v is not None]
    script = "dpo" if job.method is Method.DPO else "sft"
    command = " \\\n  ".join([f"{launcher(wanted)} -m trl.scripts.{script}", *words])
    return Recipe(
        program=TRL,
        command=command,
        files=_files(wanted),
        notes=_notes(wanted),
        source="https://huggingface.co/docs/trl/en/sft_trainer",
    )


def _trl_quantised(wanted: Wanted) -> dict[str, Any]:
    kind = wanted.job.weight_quantization
    if kind == "int8":
        return {"load_in_8bit": True}
    if not wanted.four_bit:
        return {}
    nested = True if kind == "nf4-dq" else None
    return {
        "load_in_4bit": True,
        "bnb_4bit_quant_type": "fp4" if kind == "fp4" else "nf4",
        "use_bnb_nested_quant": nested,
    }


def _word(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


# LLaMA-Factory ----------------------------------------------------------------------------------------------------


def llama_factory(wanted: Wanted) -> Recipe:
    """LLaMA-Factory's YAML (its arguments: src/llamafactory/hparams)."""
    job, layout, lora = wanted.job, wanted.layout, wanted.job.lora
    bits = 8 if job.weight_quantization == "int8" else 4 if wanted.four_bit else None
    stage = {Method.DPO: "dpo", Method.CONTINUED: "pt"}.get(job.method, "sft")
    pure = layout.regime is Regime.PURE_BF16 and not wanted.adapters
    kernels = {Attention.FLASH: "fa2", Attention.SDPA: "sdpa", Attention.EAGER: "disabled"}
    settings: dict[str, Any] = {
        "model_name_or_path": wanted.model,
        "stage": stage,
        "do_train": True,
        "finetuning_type": "lora" if lora is not None else "full",
        "lora_rank": lora.rank if lora is not None else None,
        "lora_dropout": lora.dropout if lora is not None else None,
        "lora_target": ",".join(wanted.lora_targets) or "all" if lora is not None else None,
        "use_dora": True if job.method is Method.DORA else None,
        "quantization_bit": bits,
        "quantization_method": "bnb" if bits else None,
        "double_quantization": job.weight_quantization == "nf4-dq" if bits == 4 else None,
        "dataset": "your_dataset",
        "template": "default",
        "cutoff_len": job.sequence_length,
        "packing": wanted.packed if stage != "dpo" else None,
        "output_dir": "out",
        "per_device_train_batch_size": layout.micro_batch_size,
        "gradient_accumulation_steps": layout.gradient_accumulation_steps,
        "disable_gradient_checkpointing": layout.recomputation is Recomputation.NONE,
        "optim": OPTIMIZERS[layout.optimizer],
        "flash_attn": kernels[layout.attention],
        "enable_liger_kernel": True if layout.loss is Loss.CHUNKED else None,
        **({"pure_bf16": True} if pure else _half(wanted)),
        "deepspeed": DEEPSPEED_NAME if wanted.zero_stage else None,
    }
    own = LaunchFile(name="train.yaml", content=yaml_of(settings))
    sharded = wanted.layout.sharding is Sharding.FSDP2
    command = f"{launcher(wanted)} src/train.py train.yaml" if sharded else "llamafactory-cli train train.yaml"
    if wanted.cluster.nodes > 1 and not sharded:
        command = f"FORCE_TORCHRUN=1 NNODES={wanted.cluster.nodes} NODE_RANK=$RANK MASTER_ADDR=$HEAD_NODE {command}"
    return Recipe(
        program=LLAMA_FACTORY,
        command=command,
        files=_files(wanted, own),
        notes=(*_notes(wanted), "launch.template"),
        source="https://github.com/hiyouga/LLaMA-Factory/tree/main/examples",
    )


# Axolotl ----------------------------------------------------------------------------------------------------------


def axolotl(wanted: Wanted) -> Recipe:
    """Axolotl's YAML (docs: config reference)."""
    job, layout, lora = wanted.job, wanted.layout, wanted.job.lora
    adapter = None if lora is None else "qlora" if wanted.four_bit else "lora"
    settings: dict[str, Any] = {
        "base_model": wanted.model,
        "adapter": adapter,
        "load_in_4bit": True if wanted.four_bit else None,
        "load_in_8bit": True if job.weight_quantization == "int8" else None,
        "lora_r": lora.rank if lora is not None else None,
        "lora_alpha": 2 * lora.rank if lora is not None else None,
        "lora_dropout": lora.dropout if lora is not None else None,
        "lora_target_linear": True if lora is not None and not wanted.lora_targets else None,
        "lora_target_modules": list(wanted.lora_targets) or None,
        "peft_use_dora": True if job.method is Method.DORA else None,
        "rl": "dpo" if job.method is Method.DPO else None,
        "datasets": [{"path": "path/to/data", "type": "chat_template"}],
        "sequence_len": job.sequence_length,
        "sample_packing": wanted.packed if job.method is not Method.DPO else None,
        "output_dir": "out",
        "micro_batch_size": layout.micro_batch_size,
        "gradient_accumulation_steps": layout.gradient_accumulation_steps,
        "gradient_checkpointing": layout.recomputation is Recomputation.FULL,
        "optimizer": OPTIMIZERS[layout.optimizer],
        **_axolotl_precision(wanted),
        "flash_attention": True if layout.attention is Attention.FLASH else None,
        "sdp_attention": True if layout.attention is Attention.SDPA else None,
        "eager_attention": True if layout.attention is Attention.EAGER else None,
        "deepspeed": DEEPSPEED_NAME if wanted.zero_stage else None,
        **_axolotl_sharded(wanted),
    }
    if layout.loss is Loss.CHUNKED:
        settings["plugins"] = ["axolotl.integrations.liger.LigerPlugin"]
        settings["liger_fused_linear_cross_entropy"] = True
    own = LaunchFile(name="axolotl.yaml", content=yaml_of(settings))
    cluster = wanted.cluster
    several = f" --launcher torchrun -- --nnodes={cluster.nodes} --nproc_per_node={cluster.gpus_per_node}"
    ds = deepspeed_file(wanted)
    return Recipe(
        program=AXOLOTL,
        command="axolotl train axolotl.yaml" + (several if cluster.nodes > 1 else ""),
        files=(own, ds) if ds is not None else (own,),
        notes=_notes(wanted),
        source="https://docs.axolotl.ai/docs/config-reference.html",
    )


def keeps_32_bits_as_asked(wanted: Wanted) -> bool:
    """Whether Axolotl, which loads weights in 16 bits, keeps in 32 bits what the estimate counts there."""
    amp = wanted.layout.regime is Regime.BF16_AMP and not wanted.adapters
    return not amp or bool(wanted.zero_stage)  # DeepSpeed keeps a 32-bit master itself


def _axolotl_precision(wanted: Wanted) -> dict[str, Any]:
    if wanted.layout.regime is Regime.FP16_AMP:
        return {"fp16": True}
    if wanted.adapters:
        return {"bf16": True}
    return {"bf16": "full"} if wanted.layout.regime is Regime.PURE_BF16 else {"bf16": True}


def _axolotl_sharded(wanted: Wanted) -> dict[str, Any]:
    if wanted.layout.sharding is not Sharding.FSDP2:
        return {}
    return {
        "fsdp_version": 2,
        "fsdp_config": {
            "reshard_after_forward": wanted.layout.reshard_after_forward,
            "auto_wrap_policy": "TRANSFORMER_BASED_WRAP",
            "offload_params": wanted.layout.offload is Offload.OPTIMIZER_AND_PARAMETERS,
            "cpu_ram_efficient_loading": True,
            "state_dict_type": "SHARDED_STATE_DICT",
        },
        **_axolotl_split(wanted),
    }


def _axolotl_split(wanted: Wanted) -> dict[str, Any]:
    """Matrices or sequences split over cards (docs: N-D parallelism)."""
    layout = wanted.layout
    if layout.tensor_parallel * layout.context_parallel == 1:
        return {}
    return {
        "dp_shard_size": layout.data_parallel,
        "tensor_parallel_size": layout.tensor_parallel,
        "context_parallel_size": layout.context_parallel,
    }
