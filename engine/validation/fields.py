"""Values of case files in the engine's words: optimizers, number formats, offload, parallel degrees."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from engine.errors import InputError
from engine.layout.model import (
    Attention,
    Method,
    Offload,
    Optimizer,
    Recomputation,
    Regime,
    Sharding,
    WeightQuantization,
)

__all__ = ["CASE_KEYS", "Case", "Parallel", "parse_parallel"]

#: Keys of a flat case (cases.md §2) and of the curated and scored columns beside them.
CASE_KEYS = frozenset({
    "model", "model_id", "params_b", "method", "framework", "framework_version", "gpu", "gpu_id", "n_gpus", "n_nodes",
    "interconnect", "precision", "regime", "optimizer", "optimizer_state_dtype", "optimizer_in_backward", "seq_len",
    "micro_batch", "global_batch", "grad_accum", "activation_checkpointing", "attention", "lora_rank", "lora_targets",
    "lora_targets_norm", "lora_dtype", "lora_dropout", "kbit_prepare", "quant", "weight_quant", "kv_quant",
    "double_quant", "parallel", "parallel_norm", "parallel_note", "offload", "experts", "fused_or_chunked_ce",
    "torch_compile", "concurrency", "prompt_tokens", "output_tokens", "packing_or_avg_len", "in_use_gib", "headroom",
    "reshard_after_forward", "trained_tokens", "id", "name", "notes", "shape", "config",
})  # fmt: skip

OPTIMIZERS: Mapping[str, Optimizer] = {
    "adamw": Optimizer.ADAMW,
    "adam": Optimizer.ADAMW,
    "adamw_torch": Optimizer.ADAMW,
    "adamw_torch_fused": Optimizer.ADAMW,
    "adamw_fused": Optimizer.ADAMW,
    "adamw_foreach": Optimizer.ADAMW_FOREACH,
    "adamw_fp32": Optimizer.ADAMW_FP32,
    "paged_adamw": Optimizer.ADAMW_FP32,  # bitsandbytes keeps 32-bit states; paging moves them only when short
    "paged_adamw_32bit": Optimizer.ADAMW_FP32,
    "adamw_8bit": Optimizer.ADAMW_8BIT,
    "adamw8bit": Optimizer.ADAMW_8BIT,
    "adamw_bnb_8bit": Optimizer.ADAMW_8BIT,
    "paged_adamw8bit": Optimizer.PAGED_ADAMW_8BIT,
    "paged_adamw_8bit": Optimizer.PAGED_ADAMW_8BIT,
    "adamw_master": Optimizer.ADAMW_MASTER,
    "adafactor": Optimizer.ADAFACTOR,
    "sgd": Optimizer.SGD,
    "sgd_momentum": Optimizer.SGD_MOMENTUM,
    "lion": Optimizer.LION,
    "muon": Optimizer.MUON,
    "muon+adamw": Optimizer.MUON,
}
QUANTIZATIONS: Mapping[str, WeightQuantization] = {
    "": "none", "none": "none", "bf16": "none", "fp16": "none", "16bit": "none", "nf4": "nf4", "nf4-dq": "nf4-dq",
    "nf4_dq": "nf4-dq", "fp4": "fp4", "int8": "int8", "int4": "int4", "gptq4": "gptq4", "gptq": "gptq4",
    "gptq8": "int8", "awq4": "awq4", "awq": "awq4", "fp8": "fp8", "mxfp4": "mxfp4",
    "nvfp4": "fp4",  # 4 bits and an 8-bit scale for 16 elements: 4.5 bits, as many as bitsandbytes fp4
    "q2_k": "q2_k", "q3_k_m": "q3_k_m", "q4_0": "q4_0", "q4_k_m": "q4_k_m", "q5_k_m": "q5_k_m", "q6_k": "q6_k",
    "q8_0": "q8_0",
    "int8-kv": "none",  # the cache alone is quantised
}  # fmt: skip
OFFLOADS: Mapping[str, Offload] = {
    "": Offload.NONE,
    "none": Offload.NONE,
    "optimizer": Offload.OPTIMIZER,
    "optimizer-cpu": Offload.OPTIMIZER,
    "optimizer+parameters": Offload.OPTIMIZER_AND_PARAMETERS,
    "optimizer-cpu+params-cpu": Offload.OPTIMIZER_AND_PARAMETERS,
    "params-cpu": Offload.OPTIMIZER_AND_PARAMETERS,
    "activations": Offload.ACTIVATIONS,
}
CHECKPOINTING: Mapping[str, Recomputation] = {
    "none": Recomputation.NONE,
    "attention": Recomputation.ATTENTION,
    "selective": Recomputation.SELECTIVE,
    "full": Recomputation.FULL,
    "unsloth": Recomputation.FULL,  # and activations in host memory
    "offload": Recomputation.FULL,
}
REGIMES: Mapping[str, Regime] = {r.value: r for r in Regime}
ATTENTIONS: Mapping[str, Attention] = {
    "flash": Attention.FLASH,
    "flash_attention_2": Attention.FLASH,
    "sdpa": Attention.SDPA,
    "eager": Attention.EAGER,
}
TARGETS: Mapping[str, str] = {
    "all-linear": "all-linear", "all linear": "all-linear", "all": "all-linear", "attention": "attention",
    "q,k,v,o": "q,k,v,o", "q,v": "q,v", "qv": "q,v", "mlp": "mlp", "attention (q,k,v,o)": "q,k,v,o",
}  # fmt: skip

_YES, _NO = frozenset({"yes", "true", "1"}), frozenset({"no", "false", "0"})


class Case:
    """A flat case: strings or JSON values by key, read under the engine's names. Blank and "unknown" mean not given."""

    def __init__(self, values: Mapping[str, Any]) -> None:
        self._values = values

    def text(self, *keys: str) -> str:
        """The first of the keys that is given, lower case is kept; "" where none is."""
        for key in keys:
            value = self._values.get(key)
            word = "" if value is None else str(value).strip()
            if word and word.lower() != "unknown":
                return word
        return ""

    def said_unknown(self, key: str) -> bool:
        """Whether the case itself says that a setting is not known."""
        return str(self._values.get(key, "")).strip().lower() == "unknown"

    def number(self, key: str) -> float | None:
        """A positive number, or None where it is not given."""
        word = self.text(key)
        if not word:
            return None
        try:
            value = float(word.replace(",", ""))
        except ValueError as error:
            raise InputError("case.bad_value", key=key, value=word[:60]) from error
        if not 0 <= value < 1e18:
            raise InputError("case.bad_value", key=key, value=word[:60])
        return value

    def count(self, key: str) -> int | None:
        """A whole number of at least one, or None where it is not given."""
        value = self.number(key)
        if value is None:
            return None
        if value < 1 or value != int(value):
            raise InputError("case.bad_value", key=key, value=self.text(key)[:60])
        return int(value)

    def yes(self, key: str) -> bool | None:
        """Yes, no, or None where it is not given."""
        word = self.text(key).lower()
        if not word:
            return None
        if word not in _YES | _NO:
            raise InputError("case.bad_value", key=key, value=word[:60])
        return word in _YES

    def choice(self, table: Mapping[str, Any], *keys: str) -> Any:
        """An entry of a table of words, or None where it is not given; an unknown word is an error that names it."""
        word = self.text(*keys).lower()
        if not word:
            return None
        if word not in table:
            raise InputError("case.not_expressed", key=keys[0], value=word[:60])
        return table[word]

    def method(self) -> Method:
        """What is done."""
        word = self.text("method").lower()
        if not word:
            raise InputError("case.missing", key="method")
        if word not in set(Method):
            raise InputError("case.not_expressed", key="method", value=word[:60])
        return Method(word)

    def lengths(self) -> tuple[int | None, int | None]:
        """Prompt and output tokens, also as "in 1000 / out 200", "tg128" or "pp512" beside other words."""
        prompt, output = self.number("prompt_tokens"), self.number("output_tokens")
        words = self.text("packing_or_avg_len").lower()
        notes = self.text("notes").lower()
        if notes.startswith("prefill"):  # such rows time the reading of a prompt, and say so only there
            words = f"{words} {notes}"
        for name, pattern in (("prompt", r"(?:^|\b)(?:in |pp)(\d+)"), ("output", r"(?:^|\b)(?:out |tg)(\d+)")):
            found = re.search(pattern, words)
            if found and name == "prompt" and prompt is None:
                prompt = float(found[1])
            if found and name == "output" and output is None:
                output = float(found[1])
        if prompt is None and re.search(r"(?:^|\b)tg\d", words):  # llama-bench generates from an empty context
            prompt = 0.0
        return (None if prompt is None else int(prompt)), (None if output is None else int(output))


@dataclass(frozen=True, slots=True)
class Parallel:
    """Degrees of a layout, and what data-parallel ranks share out. `sharding` None: not stated."""

    data: int = 1
    tensor: int = 1
    pipeline: int = 1
    context: int = 1
    expert: int = 1
    sharding: Sharding | None = None
    shard_degree: int = 1
    reshard: bool = True
    layer_split: bool = False
    virtual: int = 1  # pieces of the model on each pipeline stage

    def __str__(self) -> str:
        """The degrees as a case writes them."""
        if self.layer_split:
            return "layer-split"
        names = (("data", "dp"), ("tensor", "tp"), ("pipeline", "pp"), ("context", "cp"), ("expert", "ep"),
                 ("virtual", "vpp"))  # fmt: skip
        parts = [f"{short}={getattr(self, name)}" for name, short in names if getattr(self, name) > 1 or short == "dp"]
        if self.sharding is Sharding.FSDP2:
            parts.append("fsdp=full" if self.shard_degree == self.data * self.context else f"fsdp={self.shard_degree}")
        elif self.sharding not in (None, Sharding.NONE):
            parts.append(f"zero={next(stage for stage, kind in _ZERO.items() if kind is self.sharding)}")
        return ",".join(parts)


_KEYS = frozenset({"dp", "tp", "pp", "cp", "ep", "vpp", "zero", "fsdp"})
_ZERO = {0: Sharding.NONE, 1: Sharding.ZERO1, 2: Sharding.ZERO2, 3: Sharding.ZERO3}


def parse_parallel(text: str, gpus: int) -> Parallel:
    """Read `key=value` joined by commas; dp * tp * pp * cp = `gpus`, a missing dp is derived (cases.md §2).

    `layer-split` places layers on the cards without a pipeline schedule.
    """
    if text in ("layer-split", "layer_split"):
        return Parallel(pipeline=gpus, layer_split=True, sharding=Sharding.NONE)
    found: dict[str, str] = {}
    for part in filter(None, (p.strip().lower() for p in text.split(","))):
        key, _, value = part.partition("=")
        if key not in _KEYS or not value:
            raise InputError("case.bad_value", key="parallel", value=text[:60])
        found[key] = value
    degrees = {k: _degree(text, found[k]) for k in ("dp", "tp", "pp", "cp", "ep", "vpp") if k in found}
    inner = degrees.get("tp", 1) * degrees.get("pp", 1) * degrees.get("cp", 1)
    data = degrees.get("dp", max(1, gpus // inner))
    if data * inner != gpus:
        raise InputError("case.parallel_mismatch", value=text[:60], product=data * inner, gpus=gpus)
    context, expert = degrees.get("cp", 1), degrees.get("ep", 1)
    ranks = data * context
    if expert > gpus // degrees.get("pp", 1):
        raise InputError("case.bad_value", key="parallel", value=text[:60])
    sharding: Sharding | None = None
    degree, stated = 1, found.get("fsdp")
    if "zero" in found:
        stage = found["zero"]
        if not stage.isdigit() or int(stage) not in _ZERO:
            raise InputError("case.bad_value", key="parallel", value=text[:60])
        sharding, degree = _ZERO[int(stage)], ranks
    elif stated:
        sharding = Sharding.FSDP2
        degree = ranks if stated == "full" else min(_degree(text, stated), ranks)
    elif ranks == 1:
        sharding = Sharding.NONE
    if sharding is Sharding.NONE:
        degree = 1
    virtual = degrees.get("vpp", 1) if degrees.get("pp", 1) > 1 else 1
    return Parallel(
        data, degrees.get("tp", 1), degrees.get("pp", 1), context, expert, sharding, degree, virtual=virtual
    )


def _degree(text: str, value: str) -> int:
    if not value.isdigit() or int(value) < 1:
        raise InputError("case.bad_value", key="parallel", value=text[:60])
    return int(value)
