"""How ranks share a model: DeepSpeed's JSON and Accelerate's YAML, alone or named by another configuration."""

from __future__ import annotations

from engine.runs.settings import Settings

__all__ = ["ACCELERATE_NO_EFFECT", "DEEPSPEED_NO_EFFECT", "accelerate", "deepspeed", "fsdp"]

DEEPSPEED_NO_EFFECT = (
    "scheduler*", "optimizer.params.*", "*.loss_scale*", "*initial_scale_power", "*hysteresis", "*min_loss_scale",
    "zero_allow_untested_optimizer", "*pin_memory", "*overlap_comm", "*gradient_clipping", "*contiguous_gradients",
    "*round_robin_gradients", "*gather_16bit_weights_on_model_save", "*allgather_partitions", "*reduce_scatter",
    "*load_from_fp32_weights", "*stage3_param_persistence_threshold", "*ignore_unused_parameters", "*buffer_count",
    "*fast_init", "*.nvme_path", "train_batch_size", "*auto_cast", "communication_data_type",
    "fp16.loss_scale_window", "*.loss_scale_window", "data_types*", "monitor*", "tensorboard*", "csv_monitor*",
    "flops_profiler*", "zero_force_ds_cpu_optimizer",
)  # fmt: skip
ACCELERATE_NO_EFFECT = (
    "compute_environment", "downcast_bf16", "multi_gpu", "main_*", "machine_rank", "rdzv_backend", "same_network",
    "tpu*", "use_cpu", "enable_cpu_affinity", "*fsdp_auto_wrap_policy", "*fsdp_transformer_layer_cls_to_wrap",
    "*fsdp_backward_prefetch*", "*fsdp_forward_prefetch", "*fsdp_use_orig_params", "*fsdp_sync_module_states",
    "*fsdp_cpu_ram_efficient_loading", "*fsdp_state_dict_type", "*zero3_save_16bit_model", "*zero3_init_flag",
    "*deepspeed_multinode_launcher", "*min_num_params", "*fsdp_min_num_params", "gpu_ids",
    "fsdp_config.limit_all_gathers",
)  # fmt: skip
#: Names and numbers of FSDP's strategies (torch.distributed.fsdp.ShardingStrategy).
_STRATEGIES = {
    "full_shard": "full", "1": "full", "shard_grad_op": "grad", "2": "grad", "no_shard": "none", "3": "none",
    "hybrid_shard": "hybrid", "4": "hybrid", "hybrid_shard_zero2": "hybrid", "5": "hybrid",
}  # fmt: skip


def deepspeed(settings: Settings, prefix: str = "") -> None:
    """A DeepSpeed configuration, whose keys begin with `prefix`."""
    p = prefix
    stage = settings.count("parallel", f"{p}zero_optimization.stage")
    if stage is None and settings.has(f"{p}zero_optimization.stage"):
        stage = 0
    if stage is not None:
        settings.put("parallel", f"zero={min(stage, 3)}")
    devices = [
        settings.text("offload", f"{p}zero_optimization.{part}.device", *old).lower()
        for part, old in (
            ("offload_optimizer", (f"{p}zero_optimization.cpu_offload",)),
            ("offload_param", (f"{p}zero_optimization.cpu_offload_params",)),
        )
    ]
    _offload(settings, *(d not in ("", "none", "false") for d in devices))
    if "nvme" in devices:
        settings.note("run.note.nvme")
    if settings.yes("precision", f"{p}bf16.enabled", f"{p}bfloat16.enabled"):
        settings.put("precision", "bf16")
    elif settings.yes("precision", f"{p}fp16.enabled"):
        settings.put("precision", "fp16")
    settings.lacks(
        f"{p}zero_optimization.zero_hpz_partition_size", f"{p}zero_optimization.zero_quantized_weights",
        f"{p}zero_optimization.zero_quantized_gradients", f"{p}zero_optimization.mics_shard_size",
        f"{p}activation_checkpointing.cpu_checkpointing", f"{p}activation_checkpointing.partition_activations",
        f"{p}zero_optimization.sub_group_size", f"{p}compression_training", f"{p}sparse_attention.mode",
    )  # fmt: skip
    framework = str(settings.case.get("framework", ""))
    if "deepspeed" not in framework:
        settings.put("framework", f"{framework} deepspeed".strip())


def _offload(settings: Settings, optimizer: bool, parameters: bool) -> None:
    if parameters:
        settings.put("offload", "optimizer+parameters")
    elif optimizer:
        settings.put("offload", "optimizer")


def fsdp(settings: Settings, prefix: str, strategy: str) -> None:
    """FSDP's options under `prefix` (with or without "fsdp_" before each name); `strategy` as it was stated so far."""
    p, q = prefix, f"{prefix}fsdp_"
    stated = settings.text("parallel", f"{q}sharding_strategy", f"{p}sharding_strategy").lower() or strategy
    kind = _STRATEGIES.get(stated, "full")
    version = settings.count("parallel", f"{q}version", f"{p}version", "fsdp_version")
    again = settings.text("parallel", f"{q}reshard_after_forward", f"{p}reshard_after_forward").lower()
    if version == 2 or again in ("true", "false"):
        kind = "grad" if again == "false" else "full"
    elif again in _STRATEGIES:
        kind = _STRATEGIES[again]
    settings.put("parallel", "zero=0" if kind == "none" else "fsdp=full")
    if kind == "grad":
        settings.put("reshard_after_forward", "no")
    if kind == "hybrid":
        settings.note("run.note.hybrid_shard")
    if settings.yes("offload", f"{q}offload_params", f"{p}offload_params", f"{p}cpu_offload"):
        settings.put("offload", "optimizer+parameters")
    if settings.yes("activation_checkpointing", f"{q}activation_checkpointing", f"{p}activation_checkpointing"):
        settings.put("activation_checkpointing", "full")


def accelerate(settings: Settings, prefix: str = "") -> None:
    """An Accelerate configuration: number of cards, precision, and FSDP or DeepSpeed."""
    p = prefix
    settings.put("n_gpus", settings.count("n_gpus", f"{p}num_processes"))
    settings.put("n_nodes", settings.count("n_nodes", f"{p}num_machines"))
    precision = settings.text("precision", f"{p}mixed_precision").lower()
    if precision == "no":
        settings.put("precision", "fp32")
    elif precision in ("bf16", "fp16", "fp8"):
        settings.put("precision", precision)
    settings.put("grad_accum", settings.count("grad_accum", f"{p}gradient_accumulation_steps"))
    kind = settings.text("parallel", f"{p}distributed_type").upper()
    if kind == "FSDP" or settings.has(f"{p}fsdp_config"):
        fsdp(settings, f"{p}fsdp_config.", "")
    elif kind == "DEEPSPEED" or settings.has(f"{p}deepspeed_config"):
        _accelerate_deepspeed(settings, f"{p}deepspeed_config.")
    elif kind in ("MULTI_GPU", "MULTI_NPU"):
        settings.put("parallel", "zero=0")
    elif kind == "MEGATRON_LM":
        settings.lacks(f"{p}distributed_type")
    if settings.text("torch_compile", f"{p}dynamo_config.dynamo_backend", f"{p}dynamo_backend").lower() not in (
        "",
        "no",
    ):
        settings.put("torch_compile", "yes")


def _accelerate_deepspeed(settings: Settings, p: str) -> None:
    stage = settings.number("parallel", f"{p}zero_stage")
    if stage is not None:
        settings.put("parallel", f"zero={min(int(stage), 3)}")
    devices = [settings.text("offload", f"{p}offload_{part}_device").lower() for part in ("optimizer", "param")]
    _offload(settings, *(d not in ("", "none") for d in devices))
    settings.put("grad_accum", settings.count("grad_accum", f"{p}gradient_accumulation_steps"))
    settings.put("framework", f"{settings.case.get('framework', '')} deepspeed".strip())
