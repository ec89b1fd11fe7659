"""Traced rows as flat cases, and their comparison: bytes and phase of the peak (cases.md §3)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from engine.errors import InputError
from engine.hardware.model import CatalogSnapshot
from engine.validation.estimate import estimate_case
from engine.validation.fields import Case
from engine.validation.result import Comparison

__all__ = ["case_of_trace", "compare_trace"]

_SAME = (
    "model", "method", "seq_len", "micro_batch", "attention", "optimizer", "optimizer_in_backward", "experts",
    "lora_dropout", "kbit_prepare", "reshard_after_forward", "double_quant", "lora_targets", "lora_dtype",
)  # fmt: skip


def case_of_trace(row: Mapping[str, str]) -> dict[str, Any]:
    """The flat case of a traced row. A model's `config` changes single dimensions of the named one."""
    if row.get("config", "{}").strip() not in ("", "{}"):
        raise InputError("case.not_expressed", key="config", value=row["config"][:60])
    case: dict[str, Any] = {key: row.get(key, "") for key in _SAME}
    cards = int(Case(row).count("fsdp") or 1)
    case |= {
        "framework": "hf-transformers",
        "framework_version": row.get("transformers_version", ""),
        "regime": _regime(row, cards),
        "activation_checkpointing": row.get("checkpointing", ""),
        "lora_rank": row.get("lora_r", ""),
        "fused_or_chunked_ce": {"plain": "no", "chunked": "yes"}.get(row.get("loss", ""), ""),
        "n_gpus": cards,
        "n_nodes": 1,
        "parallel": "fsdp=full" if cards > 1 else "",
        "grad_accum": 2 if Case(row).yes("grad_accumulation") else 1,
    }
    if row.get("method") == "qlora":
        case["weight_quant"] = "nf4-dq" if Case(row).yes("double_quant") else "nf4"
    return case


def _regime(row: Mapping[str, str], cards: int) -> str:
    if Case(row).yes("autocast"):
        return "bf16-amp"
    if row.get("param_dtype") == "bf16":
        return "pure-bf16"
    return "fp32-master" if cards > 1 else "fp32"  # fp32 shards are gathered in 16 bits by FSDP's mixed precision


def compare_trace(row: Mapping[str, str], catalog: CatalogSnapshot) -> Comparison:
    """The traced peak beside the allocated bytes of the estimate. `InputError` where it can't be expressed."""
    measured = Case(row).number("peak_bytes_total")
    if not measured:
        raise InputError("validate.nothing_to_compare")
    case = case_of_trace(row)
    found = estimate_case(case, catalog, hull=True)
    return Comparison(
        row_id=row["case_id"],
        kind="traced",
        quantity="memory",
        primary=True,
        method=row.get("method", ""),
        framework=f"hf-transformers {row.get('transformers_version', '')}".strip(),
        gpu="",
        memory_metric="max_allocated",
        several_gpus=found.layout.gpus > 1,
        stated=True,
        shape_guessed=found.shape_guessed,
        measured=measured,
        estimate=found.memory.allocated,
        phase_right=found.memory.peak_phase == row.get("peak_phase"),
    )
