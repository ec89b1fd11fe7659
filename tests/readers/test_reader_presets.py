"""Every program of the list has defaults of its own, and a change of version that matters is told and counted."""

from __future__ import annotations

from typing import Any

import pytest

from engine.catalog.load import load_catalog
from engine.i18n import Language
from engine.layout.model import Recomputation, Regime
from engine.validation.defaults import CHANGES, framework_of
from engine.validation.estimate import CaseEstimate, estimate_case
from gui.wizard.choices import FRAMEWORKS

PROGRAMS = (
    "hf-trainer", "trl", "accelerate", "deepspeed", "torchtune", "axolotl", "unsloth", "llama-factory",
    "ms-swift (trl)", "torchtitan", "nemo", "megatron-lm", "verl", "openrlhf",
)  # fmt: skip
CATALOG = load_catalog()


def estimate(**more: Any) -> CaseEstimate:
    case = {"model": "Qwen/Qwen3-0.6B", "method": "full", "gpu": "H100 SXM 80GB", "seq_len": 1024, "micro_batch": 1}
    return estimate_case({**case, **more}, CATALOG)


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_has_defaults_with_a_source(name: str) -> None:
    found = framework_of(name)
    assert found.source
    assert "no framework stated" not in found.source
    assert estimate(framework=name).memory.driver.expected > 0


def test_the_window_offers_them_all() -> None:
    offered = [key for key, _text in FRAMEWORKS]
    assert len(set(offered)) == len(offered) == 14
    for key in offered:
        assert "no framework stated" not in framework_of(key).source


def test_transformers_5_keeps_published_weights() -> None:
    old, new = (estimate(framework="hf-trainer", framework_version=v) for v in ("4.57.1", "5.0.0"))
    assert (old.layout.regime, new.layout.regime) == (Regime.BF16_AMP, Regime.PURE_BF16)
    assert new.memory.driver.expected < old.memory.driver.expected
    codes = [f.code for f in estimate(framework="hf-trainer").assumptions]
    assert "case.version.published_dtype" in codes
    stated = estimate(framework="hf-trainer", regime="pure-bf16").assumptions
    assert "case.version.published_dtype" not in [f.code for f in stated]


def test_trl_recomputes_in_recent_releases() -> None:
    old, new = (estimate(framework="trl", framework_version=v) for v in ("0.11.4", "0.24.0"))
    assert (old.layout.recomputation, new.layout.recomputation) == (Recomputation.NONE, Recomputation.FULL)


@pytest.mark.parametrize("version", ["", "unknown", "main", "x.y", "5", "5.0.0.dev0", "999999999999.1"])
def test_any_version_is_read_or_passed_over(version: str) -> None:
    assert framework_of("hf-trainer", version=version).source


def test_changes_have_words_in_both_languages() -> None:
    for change in CHANGES:
        assert change.source.startswith("https://")
        for found in (estimate(framework=f"{change.program}trainer"),
                      estimate(framework=f"{change.program}trainer", framework_version="9.1")):  # fmt: skip
            told = [f for f in found.assumptions if f.code.startswith(change.code)]
            assert len(told) == 1
            assert Language("zh_CN").text(told[0]) != Language("en").text(told[0])
