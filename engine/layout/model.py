"""`Job`: what one step computes. `Layout`: how the work is spread. `LayoutBlock`: many layouts as arrays.

Formulas read a `Layout` or a `LayoutBlock` through the same attribute names: integers may be arrays there, while
kinds (optimizer, recomputation, …) are one value for the whole block.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Literal, TypeAlias

import numpy as np
from pydantic import Field

from engine.quantity import Frozen, Number

__all__ = [
    "Attention",
    "InferenceJob",
    "Job",
    "Layout",
    "LayoutBlock",
    "LayoutLike",
    "Lora",
    "Loss",
    "Method",
    "Offload",
    "Optimizer",
    "Recomputation",
    "Regime",
    "Sharding",
    "WeightQuantization",
]


class Method(StrEnum):
    """What is trained, or that nothing is."""

    PRETRAIN = "pretrain"
    CONTINUED = "continued"
    FULL = "full"
    FREEZE = "freeze"
    LORA = "lora"
    DORA = "dora"
    QLORA = "qlora"
    PROMPT = "prompt"
    DPO = "dpo"
    ORPO = "orpo"
    KTO = "kto"
    SIMPO = "simpo"
    REWARD = "reward"
    PPO = "ppo"
    GRPO = "grpo"
    DISTILL = "distill"
    INFERENCE = "inference"

    @property
    def trains_all_weights(self) -> bool:
        """Whether every weight has a gradient (unless adapters are asked for in a preference method)."""
        return self in (Method.PRETRAIN, Method.CONTINUED, Method.FULL, Method.DISTILL)


class Regime(StrEnum):
    """What is kept in which precision (cases.md §2)."""

    PURE_BF16 = "pure-bf16"
    FP32_MASTER = "fp32-master"
    BF16_AMP = "bf16-amp"
    FP16_AMP = "fp16-amp"
    FP32 = "fp32"


class Optimizer(StrEnum):
    """Optimizer by its states and scratch."""

    ADAMW = "adamw"  # states in the dtype of the trained weights, fused
    ADAMW_FOREACH = "adamw_foreach"
    ADAMW_FP32 = "adamw_fp32"  # 32-bit states
    ADAMW_8BIT = "adamw_8bit"
    PAGED_ADAMW_8BIT = "paged_adamw_8bit"
    ADAMW_MASTER = "adamw_master"  # fp32 master copy and states
    ADAFACTOR = "adafactor"
    SGD = "sgd"
    SGD_MOMENTUM = "sgd_momentum"
    LION = "lion"
    MUON = "muon"


class Recomputation(StrEnum):
    """Activation checkpointing."""

    NONE = "none"
    ATTENTION = "attention"
    SELECTIVE = "selective"
    FULL = "full"


class Attention(StrEnum):
    """Attention kernel."""

    FLASH = "flash"
    SDPA = "sdpa"
    EAGER = "eager"


class Loss(StrEnum):
    """How logits and cross-entropy are computed."""

    PLAIN = "plain"
    CHUNKED = "chunked"


class Sharding(StrEnum):
    """What data-parallel ranks share out among themselves."""

    NONE = "none"  # DDP
    ZERO1 = "zero1"
    ZERO2 = "zero2"
    ZERO3 = "zero3"
    FSDP2 = "fsdp2"


class Offload(StrEnum):
    """What lives in host memory."""

    NONE = "none"
    OPTIMIZER = "optimizer"
    OPTIMIZER_AND_PARAMETERS = "optimizer+parameters"
    ACTIVATIONS = "activations"


WeightQuantization: TypeAlias = Literal[
    "none", "nf4", "nf4-dq", "fp4", "int8", "int4", "gptq4", "awq4", "fp8", "mxfp4", "q2_k", "q3_k_m", "q4_0",
    "q4_k_m", "q5_k_m", "q6_k", "q8_0",
]  # fmt: skip


class Lora(Frozen):
    """Low-rank adapters."""

    rank: int = Field(default=16, gt=0)
    targets: Literal["all-linear", "attention", "q,k,v,o", "q,v", "mlp"] = "all-linear"
    adapter_dtype: Literal["fp32", "bf16"] = "fp32"
    dropout: float = Field(default=0.0, ge=0, lt=1)


class Job(Frozen):
    """One training step of one model, apart from how it is spread over cards."""

    method: Method
    sequence_length: int = Field(gt=0)
    lora: Lora | None = None  # set for lora, qlora, and for preference methods that train adapters
    weight_quantization: WeightQuantization = "none"  # of the frozen base
    kbit_preparation: bool = False  # peft.prepare_model_for_kbit_training: all but the 4-bit weights in fp32
    experts_implementation: Literal["grouped", "separate", "eager"] = "grouped"
    reference_model: bool = False  # a frozen copy of the whole model beside the policy (preference methods, full)
    sequences_per_sample: int = 1  # 2 for preference pairs
    virtual_tokens: int = 0  # prompt tuning
    trained_layers_fraction: float = Field(default=1.0, gt=0, le=1)  # freeze
    average_tokens_fraction: float = Field(default=1.0, gt=0, le=1)  # useful tokens of a row (padding), 1 = packed
    framework: str = "hf-transformers"
    framework_version: str = ""


class InferenceJob(Frozen):
    """Serving one model."""

    weight_quantization: WeightQuantization = "none"
    kv_cache_bits: Literal[4, 8, 16] = 16
    concurrent_sequences: int = Field(default=1, gt=0)
    prompt_tokens: int = Field(default=1024, ge=0)
    output_tokens: int = Field(default=512, ge=0)
    engine: Literal["vllm", "sglang", "tensorrt-llm", "llama.cpp", "ollama", "hf-transformers"] = "vllm"
    engine_version: str = ""


class Layout(Frozen):
    """How the work is spread; data * tensor * pipeline * context parallel = number of cards."""

    data_parallel: int = Field(default=1, gt=0)
    tensor_parallel: int = Field(default=1, gt=0)
    pipeline_parallel: int = Field(default=1, gt=0)
    context_parallel: int = Field(default=1, gt=0)
    expert_parallel: int = Field(default=1, gt=0)
    shard_degree: int = Field(default=1, gt=0)  # ranks among which sharded states are split (dp * cp, or less: hybrid)
    micro_batch_size: int = Field(default=1, gt=0)  # sequences (preference methods: pairs) per step and replica
    gradient_accumulation_steps: int = Field(default=1, gt=0)
    sharding: Sharding = Sharding.NONE
    reshard_after_forward: bool = True
    recomputation: Recomputation = Recomputation.FULL
    attention: Attention = Attention.FLASH
    loss: Loss = Loss.PLAIN
    regime: Regime = Regime.BF16_AMP
    optimizer: Optimizer = Optimizer.ADAMW
    optimizer_in_backward: bool = False
    offload: Offload = Offload.NONE
    layer_split: bool = False  # layers placed on several cards without a pipeline schedule
    compile: bool = False
    virtual_stages: int = Field(default=1, gt=0)  # pieces of the model on each stage (interleaved 1F1B)

    @property
    def gpus(self) -> int:
        """Cards that the layout uses."""
        return self.data_parallel * self.tensor_parallel * self.pipeline_parallel * self.context_parallel


@dataclass(frozen=True)
class LayoutBlock:
    """Many layouts that share their kinds; the integer fields are int64 arrays of one shape."""

    data_parallel: Number
    tensor_parallel: Number
    pipeline_parallel: Number
    context_parallel: Number
    expert_parallel: Number
    shard_degree: Number
    micro_batch_size: Number
    gradient_accumulation_steps: Number
    sharding: Sharding
    reshard_after_forward: bool
    recomputation: Recomputation
    attention: Attention
    loss: Loss
    regime: Regime
    optimizer: Optimizer
    optimizer_in_backward: bool
    offload: Offload
    layer_split: bool = False
    compile: bool = False
    virtual_stages: int = 1

    @property
    def gpus(self) -> Number:
        """Cards that each layout uses."""
        return self.data_parallel * self.tensor_parallel * self.pipeline_parallel * self.context_parallel

    def at(self, index: int) -> Layout:
        """The layout of one candidate."""
        values = dict(self.__dict__)
        for name, value in values.items():
            if isinstance(value, np.ndarray):
                values[name] = int(value[index])
        return Layout(**values)


LayoutLike: TypeAlias = Layout | LayoutBlock
