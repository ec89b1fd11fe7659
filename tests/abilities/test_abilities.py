"""What can these cards do? Answers by the search's own formulas, held against the search and against arithmetic."""

from __future__ import annotations

import stat
from datetime import date
from functools import cache
from pathlib import Path

import pytest

from engine.advice.abilities import RUN_TOKENS, USES, Ability, abilities_of, scenario_for
from engine.advice.advise import advise
from engine.catalog.load import load_catalog
from engine.control import Cancelled, Control
from engine.detect import detect_owned, parse_listing
from engine.errors import InputError, WorldError
from engine.hardware.model import CatalogSnapshot
from engine.memory.result import Verdict
from engine.scenario import OwnedGpus

DAY = date(2026, 12, 1)
MODELS = ("Qwen/Qwen3-0.6B", "meta-llama/Llama-3.1-8B", "meta-llama/Llama-3.1-70B")


@cache
def _catalog() -> CatalogSnapshot:
    return load_catalog(with_user_rows=False)


@cache
def _found(gpu: str, count: int, in_use_gib: int = 0) -> dict[tuple[str, str], Ability]:
    owned = (OwnedGpus(gpu_id=gpu, count=count, in_use_bytes=in_use_gib * 2**30),)
    return {(a.model_id, a.use): a for a in abilities_of(owned, _catalog(), as_of=DAY, models=MODELS)}


def test_one_24_gb_card_does_what_the_arithmetic_says() -> None:
    found = _found("nvidia-rtx-4090", 1)
    assert len(found) == len(MODELS) * len(USES)
    assert found["Qwen/Qwen3-0.6B", "full"].verdict is Verdict.FITS  # 16 bytes x 0.6e9 = 9.6 GB
    assert found["meta-llama/Llama-3.1-8B", "qlora"].verdict is Verdict.FITS  # 5 GB of weights
    assert found["meta-llama/Llama-3.1-8B", "full"].tier > 0 or (
        found["meta-llama/Llama-3.1-8B", "full"].verdict is Verdict.DOES_NOT_FIT
    )  # 128 GB of state
    missing = found["meta-llama/Llama-3.1-70B", "qlora"]  # 38 to 42 GB loaded
    assert missing.verdict is Verdict.DOES_NOT_FIT and missing.spare_bytes < -10e9


@pytest.mark.parametrize("use", USES)
def test_it_says_what_the_search_says(use: str) -> None:
    """A line works exactly where its scenario has a plan."""
    found = _found("nvidia-h100-sxm-80gb", 2)
    for model in MODELS:
        ability = found[model, use]
        scenario = scenario_for(model, ability.use, (OwnedGpus(gpu_id="nvidia-h100-sxm-80gb", count=2),), 2048, DAY)
        assert bool(advise(scenario, _catalog()).ranked) is (ability.verdict is not Verdict.DOES_NOT_FIT)


def test_more_cards_and_emptier_cards_never_do_less() -> None:
    one, two, busy = _found("nvidia-rtx-4090", 1), _found("nvidia-rtx-4090", 2), _found("nvidia-rtx-4090", 1, 12)
    order = (Verdict.DOES_NOT_FIT, Verdict.FITS_TIGHTLY, Verdict.FITS)
    for key, ability in one.items():
        assert order.index(two[key].verdict) >= order.index(ability.verdict) or two[key].tier < ability.tier
        assert order.index(busy[key].verdict) <= order.index(ability.verdict) or busy[key].tier > ability.tier


def test_hours_are_the_tokens_over_the_rate() -> None:
    ability = _found("nvidia-rtx-4090", 1)["meta-llama/Llama-3.1-8B", "qlora"]
    assert ability.seconds_for_run is not None and ability.tokens_per_second is not None
    assert ability.seconds_for_run.expected == pytest.approx(RUN_TOKENS / ability.tokens_per_second.expected)
    assert ability.seconds_for_run.low <= ability.seconds_for_run.expected <= ability.seconds_for_run.high


def test_a_wrong_question_is_answered_in_words_and_a_long_one_can_be_called_off() -> None:
    with pytest.raises(InputError, match="no_card"):
        abilities_of((), _catalog(), as_of=DAY)
    with pytest.raises(InputError, match="gpu_unknown"):
        abilities_of((OwnedGpus(gpu_id="nonsense"),), _catalog(), as_of=DAY)
    control = Control()
    control.cancel()
    with pytest.raises(Cancelled):
        abilities_of((OwnedGpus(gpu_id="nvidia-rtx-4090"),), _catalog(), as_of=DAY, control=control)


LISTING = """NVIDIA GeForce RTX 4090, 24564, 1500
NVIDIA GeForce RTX 4090, 24564, 300
NVIDIA A100-SXM4-80GB, 81920, 0
NVIDIA H100 80GB HBM3, 81559, 0
NVIDIA H20, 97871, 0
NVIDIA GeForce RTX 4060 Ti, 8188, 0
NVIDIA Nonsense 9000, 1, 0
broken line
"""


def test_the_driver_s_names_find_their_cards() -> None:
    owned, unknown = parse_listing(LISTING, _catalog())
    assert [(o.gpu_id, o.count) for o in owned] == [
        ("nvidia-rtx-4090", 2), ("nvidia-a100-sxm-80gb", 1), ("nvidia-h100-sxm-80gb", 1),
        ("nvidia-h20-96gb", 1),
    ]  # fmt: skip
    assert owned[0].in_use_bytes == 1500 * 2**20 and owned[1].in_use_bytes == 0
    assert unknown == (
        "NVIDIA GeForce RTX 4060 Ti",
        "NVIDIA Nonsense 9000",
    )  # the one with 8 GB is not in the catalogue


def test_a_machine_without_the_driver_or_with_a_broken_one_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(WorldError, match="no_driver"):
        detect_owned(_catalog())
    fake = tmp_path / "nvidia-smi"
    fake.write_text("#!/bin/sh\nexit 9\n")
    fake.chmod(fake.stat().st_mode | stat.S_IXUSR)
    with pytest.raises(WorldError, match="no_answer"):
        detect_owned(_catalog())
    fake.write_text("#!/bin/sh\necho 'NVIDIA L40S, 46068, 0'\n")
    assert [o.gpu_id for o in detect_owned(_catalog())[0]] == ["nvidia-l40s"]
