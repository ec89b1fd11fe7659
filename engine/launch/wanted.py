"""A task's job and layout, with what several programs name alike."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from engine.architecture.model import Architecture
from engine.hardware.model import Cluster
from engine.layout.model import (
    Attention,
    Job,
    Layout,
    Loss,
    Method,
    Offload,
    Optimizer,
    Recomputation,
    Regime,
    Sharding,
)

__all__ = ["OPTIMIZERS", "Wanted", "expressible", "yaml_of"]

#: The optimizers by the names of transformers.TrainingArguments (`optim`), which the programs on top of it share.
OPTIMIZERS = {
    Optimizer.ADAMW: "adamw_torch_fused",
    Optimizer.ADAMW_FOREACH: "adamw_torch",
    Optimizer.ADAMW_8BIT: "adamw_bnb_8bit",
    Optimizer.PAGED_ADAMW_8BIT: "paged_adamw_8bit",
    Optimizer.ADAFACTOR: "adafactor",
    Optimizer.SGD: "sgd",
    Optimizer.LION: "lion_32bit",
}
_SUPERVISED = frozenset({Method.FULL, Method.CONTINUED, Method.LORA, Method.QLORA, Method.DORA, Method.DPO})
_ZERO = {Sharding.ZERO1: 1, Sharding.ZERO2: 2, Sharding.ZERO3: 3}


@dataclass(frozen=True)
class Wanted:
    """What is to run."""

    job: Job
    layout: Layout
    cluster: Cluster
    architecture: Architecture
    packed: bool

    @property
    def model(self) -> str:
        """The model's name, or where its folder must be put."""
        return self.architecture.id or "path/to/model"

    @property
    def adapters(self) -> bool:
        """Whether adapters are trained."""
        return self.job.lora is not None

    @property
    def four_bit(self) -> bool:
        """Whether the frozen base is held in 4 bits."""
        return self.job.weight_quantization in ("nf4", "nf4-dq", "fp4")

    @property
    def zero_stage(self) -> int:
        """DeepSpeed's stage; 0 where the layout has none."""
        return _ZERO.get(self.layout.sharding, 0)

    @property
    def lora_targets(self) -> tuple[str, ...]:
        """Names of the matrices in Llama's spelling; empty = all linear ones."""
        parts = {
            "all-linear": (),
            "attention": ("q_proj", "k_proj", "v_proj", "o_proj"),
            "q,k,v,o": ("q_proj", "k_proj", "v_proj", "o_proj"),
            "q,v": ("q_proj", "v_proj"),
            "mlp": ("gate_proj", "up_proj", "down_proj"),
        }
        return parts[self.job.lora.targets] if self.job.lora is not None else ()


def expressible(wanted: Wanted, *, split: bool) -> bool:
    """Whether a program on top of Hugging Face's Trainer can be told all of it; `split` = it can split matrices."""
    job, layout = wanted.job, wanted.layout
    parts = 1 if split and layout.sharding is Sharding.FSDP2 else layout.tensor_parallel * layout.context_parallel
    regimes = {Regime.PURE_BF16, Regime.BF16_AMP, Regime.FP16_AMP}
    return (
        job.method in _SUPERVISED
        and parts * layout.pipeline_parallel == 1
        and layout.optimizer in OPTIMIZERS
        and layout.recomputation in (Recomputation.NONE, Recomputation.FULL)
        and layout.regime in regimes
        and job.weight_quantization in ("none", "nf4", "nf4-dq", "fp4", "int8")
        and layout.offload is not Offload.ACTIVATIONS
        and (layout.offload is not Offload.OPTIMIZER or bool(wanted.zero_stage))
        and layout.loss in (Loss.PLAIN, Loss.CHUNKED)
        and layout.attention in (Attention.FLASH, Attention.SDPA, Attention.EAGER)
    )


def yaml_of(values: dict[str, Any]) -> str:
    """The settings in YAML, in the given order; what is None is left out."""
    import yaml

    kept = {k: v for k, v in values.items() if v is not None}
    return yaml.safe_dump(kept, sort_keys=False, allow_unicode=True, default_flow_style=False)
