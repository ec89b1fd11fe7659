"""How the work is shared out: DeepSpeed's JSON, or Accelerate's YAML for FSDP2."""

from __future__ import annotations

import json
from typing import Any

from engine.launch.result import LaunchFile
from engine.launch.wanted import Wanted, yaml_of
from engine.layout.model import Offload, Regime, Sharding

__all__ = ["accelerate_file", "deepspeed_file", "launcher"]

DEEPSPEED_NAME, ACCELERATE_NAME = "deepspeed.json", "accelerate.yaml"


def deepspeed_file(wanted: Wanted) -> LaunchFile | None:
    """DeepSpeed's settings (docs: deepspeed.ai/docs/config-json); None where the layout has no ZeRO stage.

    "auto" takes the value of the trainer, so that the two can't contradict each other.
    """
    if not wanted.zero_stage:
        return None
    zero: dict[str, Any] = {"stage": wanted.zero_stage, "overlap_comm": True, "contiguous_gradients": True}
    if wanted.layout.offload in (Offload.OPTIMIZER, Offload.OPTIMIZER_AND_PARAMETERS):
        zero["offload_optimizer"] = {"device": "cpu", "pin_memory": True}
    if wanted.layout.offload is Offload.OPTIMIZER_AND_PARAMETERS:
        zero["offload_param"] = {"device": "cpu", "pin_memory": True}
    if wanted.zero_stage == 3:
        zero["stage3_gather_16bit_weights_on_model_save"] = True
    settings = {
        "zero_optimization": zero,
        "bf16": {"enabled": "auto"},
        "fp16": {"enabled": "auto"},
        "train_micro_batch_size_per_gpu": "auto",
        "gradient_accumulation_steps": "auto",
        "gradient_clipping": "auto",
    }
    return LaunchFile(name=DEEPSPEED_NAME, content=json.dumps(settings, indent=2) + "\n")


def accelerate_file(wanted: Wanted) -> LaunchFile | None:
    """Accelerate's settings for FSDP2 (docs: huggingface.co/docs/accelerate, FSDP); None without it."""
    if wanted.layout.sharding is not Sharding.FSDP2:
        return None
    cluster = wanted.cluster
    half = "fp16" if wanted.layout.regime is Regime.FP16_AMP else "bf16"
    settings = {
        "distributed_type": "FSDP",
        "num_machines": cluster.nodes,
        "num_processes": cluster.gpus,
        "mixed_precision": half,
        "fsdp_config": {
            "fsdp_version": 2,
            "fsdp_reshard_after_forward": wanted.layout.reshard_after_forward,
            "fsdp_auto_wrap_policy": "TRANSFORMER_BASED_WRAP",
            "fsdp_offload_params": wanted.layout.offload is Offload.OPTIMIZER_AND_PARAMETERS,
            "fsdp_cpu_ram_efficient_loading": True,
            "fsdp_state_dict_type": "SHARDED_STATE_DICT",
        },
    }
    return LaunchFile(name=ACCELERATE_NAME, content=yaml_of(settings | _split(wanted)))


def _split(wanted: Wanted) -> dict[str, Any]:
    """Matrices or sequences split over cards (docs: huggingface.co/docs/accelerate, N-D parallelism; from 1.10)."""
    layout = wanted.layout
    if layout.tensor_parallel * layout.context_parallel == 1:
        return {}
    return {
        "use_parallelism_config": True,
        "parallelism_config": {
            "parallelism_config_dp_replicate_size": 1,
            "parallelism_config_dp_shard_size": layout.data_parallel,
            "parallelism_config_tp_size": layout.tensor_parallel,
            "parallelism_config_cp_size": layout.context_parallel,
        },
    }


def launcher(wanted: Wanted) -> str:
    """The command that starts one process for each card; on several nodes, on each of them with its own rank."""
    cluster = wanted.cluster
    words = ["accelerate launch"]
    if wanted.layout.sharding is Sharding.FSDP2:
        words.append(f"--config_file {ACCELERATE_NAME}")
    else:
        words.append(f"--num_processes {cluster.gpus}")
        if cluster.gpus > 1:
            words.append("--multi_gpu")
        if cluster.nodes > 1:
            words.append(f"--num_machines {cluster.nodes}")
    if cluster.nodes > 1:
        words.append("--machine_rank $RANK --main_process_ip $HEAD_NODE --main_process_port 29500")
    return " ".join(words)
