"""Kinds and ways without derived factors: the stated intervals are measured here, leaving out what is known."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from traced_models import case_of, traced_models, traced_rows

import engine.memory.factors as factors
import engine.memory.step as step
from engine.architecture.model import Architecture
from engine.catalog.load import load_base
from engine.layout.model import Job, Layout, Lora
from engine.memory.calibration import block_factors
from engine.memory.training import training_memory

#: What each kind is taken for when its own factors are left out.
OTHER = {
    "llama": "qwen3",
    "qwen3": "llama",
    "gemma2": "gemma3_text",
    "gemma3_text": "gemma2",
    "phi3": "llama",
    "gpt2": "gpt_neox",
    "gpt_neox": "gpt2",
    "mixtral": "qwen3_moe",
    "qwen3_moe": "mixtral",
    "gpt_oss": "mixtral",
    "deepseek_v3": "qwen3_moe",
    "deepseek_v3_q": "qwen3_moe",
}


def test_leave_one_kind_out(monkeypatch: pytest.MonkeyPatch) -> None:
    errors: list[float] = []
    covered: list[bool] = []
    known = factors.resolve_kind

    def other(arch: Architecture) -> tuple[str, bool]:
        return OTHER[known(arch)[0]], True

    monkeypatch.setattr(step, "resolve_kind", other)
    for row in traced_rows():
        block = training_memory(*case_of(row))
        peak = float(row["peak_bytes_total"])
        assert block.fallback
        errors.append(abs(float(block.allocated.expected) / peak - 1))
        covered.append(float(block.allocated.low) <= peak <= float(block.allocated.high))
    assert np.quantile(errors, 0.5) <= 0.02
    assert np.quantile(errors, 0.95) <= 0.12
    assert np.mean(covered) >= 0.90


def _way(key: str) -> factors.Way:
    parts = key.split("/")
    checkpointing, attention = parts[-2].removeprefix("ckpt_"), parts[-1]
    if parts[0] == "full":
        precision = parts[1] if len(parts) > 3 else "bf16"
        return factors.Way("full", "", precision, False, False, checkpointing, attention)
    flags = {"dropout": "dropout" in parts, "kbit": "kbit_prepare" in parts}
    return factors.Way(parts[0], parts[1], parts[2], **flags, checkpointing=checkpointing, attention=attention)


def test_leave_one_way_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each derived entry that can be composed from others is, and lies near what was derived."""
    known = ((factors.resolve_kind(a), a) for a in (*load_base().models, *traced_models().values()))
    examples = {kind: a for (kind, fallback), a in known if not fallback}
    job = Job.model_validate({"method": "lora", "sequence_length": 2048, "lora": Lora()})
    real = factors._entry
    errors: list[float] = []
    for kind, entries in block_factors().items():
        if kind not in examples:
            continue
        widths = step._widths(examples[kind], job, Layout(), 2048, hidden_split=False)
        for key in entries:
            way = _way(key)
            assert way.key == key
            anchors = (way.precision == "fp32" and way.method == "lora") or way.precision == "bf16" == way.attention
            if kind == factors.REFERENCE or anchors or (way.method == "full" and way.precision == "bf16"):
                continue

            def without(k: str, w: factors.Way, *, kind: str = kind, key: str = key) -> dict[str, Any] | None:
                return None if (k, w.key) == (kind, key) else real(k, w)

            monkeypatch.setattr(factors, "_entry", without)
            composed, exact = factors._compose(kind, way)
            monkeypatch.setattr(factors, "_entry", real)
            derived = real(kind, way)
            assert derived is not None and not exact
            for quantity in ("saved", "backward"):
                found, true = (step._evaluate(e[quantity], widths, 1) for e in (composed, derived))
                around = abs(float(true)) + 2 * abs(float(step._evaluate(derived["saved"], widths, 1)))
                errors.append(abs(float(found - true)) / around)
    assert len(errors) > 60
    assert np.quantile(errors, 0.9) <= factors.COMPOSED_ERROR


def test_unknown_kinds_are_said_and_wider() -> None:
    known = traced_models()["llama-3.1-8b"]
    unknown = Architecture.model_validate({**known.model_dump(), "block_kind": ""})
    job = Job.model_validate({"method": "full", "sequence_length": 8192})
    layout = Layout(recomputation="none", micro_batch_size=2)
    derived, guessed = (training_memory(a, job, layout) for a in (known, unknown))
    assert guessed.fallback and not derived.fallback
    assert float(guessed.driver.expected) == pytest.approx(float(derived.driver.expected))
    assert float(guessed.driver.high) > 1.05 * float(derived.driver.high)


@pytest.mark.parametrize(
    ("changes", "kind"),
    [
        ({}, "llama"),
        ({"qk_norm": "head"}, "qwen3"),
        ({"qk_norm": "full"}, "olmo2"),
        ({"norm": "ln"}, "stablelm"),
        ({"norm": "ln", "mlp": "gelu"}, "gpt_neox"),
        ({"norm": "ln", "mlp": "gelu", "extra": {"norms": 1}}, "phi"),
        ({"mlp": "geglu"}, "gemma"),
        ({"mlp": "geglu", "extra": {"norms": 4}}, "gemma2"),
        ({"extra": {"norms": 4}}, "glm4"),
        ({"experts": 8, "experts_per_token": 2, "moe_intermediate_size": 512}, "mixtral"),
        ({"experts": 8, "experts_per_token": 2, "moe_intermediate_size": 512, "shared_experts": 1}, "qwen2_moe"),
        ({"mla_kv_lora_rank": 512, "mla_qk_rope_head_dim": 64, "mla_v_head_dim": 128}, "deepseek_v3"),
    ],
)
def test_nearest_kind_by_structure(changes: dict[str, Any], kind: str) -> None:
    base = {**traced_models()["llama-3.1-8b"].model_dump(), "block_kind": "", **changes}
    assert factors.resolve_kind(Architecture.model_validate(base)) == (kind, True)
