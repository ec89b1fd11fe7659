"""What a framework does where a case does not say: the possibilities of a setting, least memory first.

Sources: documented defaults of each program (the figures of `FRAMEWORKS` name them). Where a program leaves a setting
to its user, all usual values stand, and the answer is the hull over them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from engine.layout.model import Attention, Loss, Method, Optimizer, Recomputation, Regime, Sharding, WeightQuantization

__all__ = ["CHANGES", "FRAMEWORKS", "Change", "Framework", "change_of", "framework_of"]

_FLASH = (Attention.FLASH,)
_FLASH_OR_EAGER = (Attention.FLASH, Attention.EAGER)
_ANY_CHECKPOINTING = (Recomputation.FULL, Recomputation.NONE)
_SIXTEEN_BIT = (Regime.PURE_BF16,)
_AUTOCAST = (Regime.BF16_AMP,)
_MASTER = (Regime.FP32_MASTER,)
_ANY_REGIME = (Regime.PURE_BF16, Regime.FP32_MASTER, Regime.BF16_AMP)


@dataclass(frozen=True, slots=True)
class Framework:
    """Possibilities of each setting that a program leaves unsaid; the first is the least in memory.

    `expected_*` names the usual one where it is not the first.
    """

    attention: tuple[Attention, ...] = _FLASH_OR_EAGER
    checkpointing: tuple[Recomputation, ...] = _ANY_CHECKPOINTING
    expected_checkpointing: Recomputation = Recomputation.FULL
    full_regimes: tuple[Regime, ...] = _ANY_REGIME
    expected_full_regime: Regime = Regime.BF16_AMP
    adapter_regimes: tuple[Regime, ...] = (Regime.PURE_BF16, Regime.BF16_AMP)
    expected_adapter_regime: Regime = Regime.PURE_BF16
    adapter_dtypes: tuple[str, ...] = ("bf16", "fp32")
    loss: tuple[Loss, ...] = (Loss.PLAIN,)
    kbit_preparation: tuple[bool, ...] = (False, True)
    qlora_formats: tuple[WeightQuantization, ...] = ("nf4-dq", "nf4")
    optimizers: tuple[Optimizer, ...] = (Optimizer.ADAMW,)
    #: What several data-parallel ranks share out where only degrees are stated, the most shared first.
    shardings: tuple[Sharding, ...] = (Sharding.NONE,)
    precisions: tuple[str, ...] = ("",)  # of matrix work, slowest first; "" follows from the regime
    source: str = ""

    def checkpointing_for(self, method: Method) -> tuple[tuple[Recomputation, ...], Recomputation]:
        """Possibilities and the expected one; PEFT's k-bit preparation switches checkpointing on."""
        if method is Method.QLORA and True in self.kbit_preparation:
            return (Recomputation.FULL,), Recomputation.FULL
        return self.checkpointing, self.expected_checkpointing


_HF = Framework(
    expected_checkpointing=Recomputation.NONE,
    full_regimes=(Regime.PURE_BF16, Regime.BF16_AMP),
    expected_full_regime=Regime.BF16_AMP,
    adapter_regimes=_AUTOCAST,
    expected_adapter_regime=Regime.BF16_AMP,
    adapter_dtypes=("fp32",),
    kbit_preparation=(True,),
    source="TrainingArguments of transformers (bf16 = autocast), PEFT (fp32 adapters, k-bit preparation)",
)
_DEEPSPEED = Framework(
    full_regimes=_MASTER,
    expected_full_regime=Regime.FP32_MASTER,
    adapter_regimes=_MASTER,
    expected_adapter_regime=Regime.FP32_MASTER,
    kbit_preparation=(True,),
    shardings=(Sharding.ZERO3, Sharding.ZERO2, Sharding.ZERO1),
    source="DeepSpeed: bf16 or fp16 weights beside fp32 master weights and states",
)
_MEGATRON = Framework(
    attention=_FLASH,
    checkpointing=(Recomputation.FULL, Recomputation.SELECTIVE, Recomputation.NONE),
    expected_checkpointing=Recomputation.SELECTIVE,
    full_regimes=_MASTER,
    expected_full_regime=Regime.FP32_MASTER,
    adapter_regimes=_MASTER,
    expected_adapter_regime=Regime.FP32_MASTER,
    adapter_dtypes=("bf16",),
    shardings=(Sharding.ZERO1,),
    source="Megatron-LM: distributed optimizer, --recompute-activations selective",
)
_SUBMISSION = replace(_MEGATRON, precisions=("", "fp8"), source="MLPerf Training v5.1 submissions: FP8 where offered")
#: Large pretraining of which no framework, or one of the company's own, is named.
_PRETRAINING = replace(
    _MEGATRON,
    full_regimes=(Regime.FP32_MASTER, Regime.BF16_AMP),
    source="as Megatron-LM: published large runs shard the optimizer and recompute attention alone (arXiv:2205.05198)",
)
_AUTOMODEL = Framework(
    attention=_FLASH,
    expected_checkpointing=Recomputation.NONE,
    full_regimes=_SIXTEEN_BIT,
    expected_full_regime=Regime.PURE_BF16,
    adapter_regimes=_SIXTEEN_BIT,
    expected_adapter_regime=Regime.PURE_BF16,
    adapter_dtypes=("bf16",),
    kbit_preparation=(False,),
    source="NeMo AutoModel: FSDP2 over bf16 weights, activation_checkpointing false unless set",
)
#: Programs around Transformers that recompute unless told otherwise (axolotl examples, xtuner, TRL's SFTConfig).
_HF_RECOMPUTED = replace(_HF, expected_checkpointing=Recomputation.FULL)
_AXOLOTL = replace(
    _HF_RECOMPUTED,
    full_regimes=(Regime.PURE_BF16, Regime.BF16_AMP),
    expected_full_regime=Regime.PURE_BF16,
    optimizers=(Optimizer.ADAMW_8BIT, Optimizer.ADAMW),
    source="axolotl examples: weights loaded in bf16, adamw_bnb_8bit or adamw_torch",
)
_TITAN = Framework(
    attention=_FLASH,
    checkpointing=(Recomputation.FULL, Recomputation.SELECTIVE, Recomputation.NONE),
    expected_checkpointing=Recomputation.SELECTIVE,
    full_regimes=_MASTER,
    expected_full_regime=Regime.FP32_MASTER,
    source="torchtitan: FSDP2 mixed precision over fp32 shards, selective activation checkpointing",
)
_PURE = Framework(
    attention=_FLASH,
    full_regimes=_SIXTEEN_BIT,
    expected_full_regime=Regime.PURE_BF16,
    adapter_regimes=_SIXTEEN_BIT,
    expected_adapter_regime=Regime.PURE_BF16,
    adapter_dtypes=("bf16",),
    kbit_preparation=(False,),
    source="torchtune and LitGPT: weights, gradients and states in bf16 (bf16-true)",
)
_LLAMA_FACTORY = Framework(
    checkpointing=(Recomputation.FULL,),
    full_regimes=(Regime.PURE_BF16, Regime.BF16_AMP),
    expected_full_regime=Regime.BF16_AMP,
    adapter_regimes=_AUTOCAST,
    expected_adapter_regime=Regime.BF16_AMP,
    adapter_dtypes=("fp32",),
    kbit_preparation=(False, True),
    source="LLaMA-Factory: gradient checkpointing on, trained weights in fp32 unless pure_bf16",
)
_UNSLOTH = Framework(
    attention=_FLASH,
    checkpointing=(Recomputation.FULL,),
    adapter_regimes=_AUTOCAST,
    expected_adapter_regime=Regime.BF16_AMP,
    adapter_dtypes=("fp32",),
    loss=(Loss.CHUNKED,),
    kbit_preparation=(False,),
    source="Unsloth: fused cross-entropy in chunks, checkpointing with offload",
)
_AMP = Framework(
    attention=_FLASH,
    full_regimes=_AUTOCAST,
    expected_full_regime=Regime.BF16_AMP,
    loss=(Loss.CHUNKED, Loss.PLAIN),
    source="llm-foundry: amp_bf16 over FSDP, fused cross-entropy that works in place",
)

#: Accelerate's own FSDP plugin, version 1 or 2, keeps trained weights in fp32 shards under mixed precision.
_ACCELERATE = replace(
    _HF,
    full_regimes=_MASTER,
    expected_full_regime=Regime.FP32_MASTER,
    source="Accelerate, FSDP: trained weights are upcast to fp32 shards, gathered in 16 bits",
)
_SWIFT = replace(
    _HF_RECOMPUTED,
    expected_full_regime=Regime.PURE_BF16,
    source="ms-swift, command-line parameters: torch_dtype as published, gradient_checkpointing true",
)
_VERL = Framework(
    attention=_FLASH,
    full_regimes=_MASTER,
    expected_full_regime=Regime.FP32_MASTER,
    source="verl, FSDP workers: fp32 shards with bf16 mixed precision, enable_gradient_checkpointing true",
)
_OPENRLHF = replace(
    _DEEPSPEED,
    expected_checkpointing=Recomputation.NONE,
    source="OpenRLHF: DeepSpeed ZeRO with bf16 weights; --gradient_checkpointing is off unless given",
)

#: By the beginning of a framework's name, or a part of it in brackets; the first that matches holds.
FRAMEWORKS: tuple[tuple[str, Framework], ...] = (
    ("unsloth", _UNSLOTH),
    ("megatron", _MEGATRON),
    ("nemo /", _SUBMISSION),
    ("nemo-automodel", _AUTOMODEL),
    ("pytorch rocm", _SUBMISSION),
    ("nemo", _MEGATRON),
    ("torchtitan", _TITAN),
    ("torchtune", _PURE),
    ("litgpt", _PURE),
    ("llm-foundry", _AMP),
    ("deepspeed", _DEEPSPEED),
    ("openrlhf", _OPENRLHF),
    ("verl", _VERL),
    ("ms-swift", _SWIFT),
    ("accelerate", _ACCELERATE),
    ("colossal", _DEEPSPEED),
    ("llama-factory", _LLAMA_FACTORY),
    ("hf-", _HF),
    ("peft", _HF),
    ("trl", _HF_RECOMPUTED),
    ("axolotl", _AXOLOTL),
    ("xtuner", _HF_RECOMPUTED),
    ("transformers", _HF),
)
_ANY = Framework(source="no framework stated: all usual regimes")


@dataclass(frozen=True, slots=True)
class Change:
    """A default that a program changed: from version `since` on it is the newer one; `code` says it in words."""

    program: str
    since: tuple[int, ...]
    code: str
    before: Mapping[str, Any]
    after: Mapping[str, Any]
    source: str


#: Changes of defaults that decide memory. Versions are those of the program that is named.
CHANGES: tuple[Change, ...] = (
    Change(
        "hf-",
        (5,),
        "case.version.published_dtype",
        {},
        {"expected_full_regime": Regime.PURE_BF16},
        "https://github.com/huggingface/transformers/pull/42805",
    ),
    Change(
        "trl",
        (0, 22),
        "case.version.trl_checkpointing",
        {"expected_checkpointing": Recomputation.NONE},
        {},
        "https://github.com/huggingface/trl/pull/3510 (released by 0.22)",
    ),
)


def change_of(name: str) -> Change | None:
    """The change of a default that matters for this program; None where none is known."""
    return next((c for c in CHANGES if name.lower().startswith(c.program)), None)


def framework_of(name: str, *, pretraining: bool = False, version: str = "") -> Framework:
    """Defaults of the framework of this name; where it is not known, those of any framework or of large pretraining.

    `version`: its release, "" where it is not known; then the defaults are the usual ones, and `change_of` tells more.
    """
    found = _named(name, pretraining=pretraining)
    change, number = change_of(name), _version(version)
    if change is None or not number:
        return found
    return replace(found, **(change.after if number >= change.since else change.before))


def _version(text: str) -> tuple[int, ...]:
    """The leading numbers of a version; empty where there are none."""
    return tuple(int(n) for n in re.findall(r"\d{1,6}", text.split("+")[0].split("-")[0])[:3])


def _named(name: str, *, pretraining: bool) -> Framework:
    word = name.lower()
    table: Mapping[str, Framework] = dict(FRAMEWORKS)
    for part in table:
        if word.startswith(part) or f"({part}" in word or f" {part}" in word:
            return table[part]
    return _PRETRAINING if pretraining else _ANY
