"""Odd configurations, written from public facts: read right to 0.1 % of the published total, or refused by name."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import pytest

from engine.architecture.readers import read_config
from engine.errors import InputError

CONFIGS = Path(__file__).parent / "data/configs"
with (CONFIGS / "published.csv").open(encoding="utf-8", newline="") as stream:
    PUBLISHED = {row["model"]: int(row["params_total"]) for row in csv.DictReader(stream)}
#: Where a file says nothing of the number format.
SILENT = {"Qwen/Qwen-7B", "Qwen/Qwen-14B", "EleutherAI/gpt-neo-1.3B", "EleutherAI/gpt-neo-2.7B", "allenai/OLMo-1B",
          "openai-community/gpt2-xl"}  # fmt: skip


def test_there_are_forty_and_each_has_a_published_total() -> None:
    assert {p.stem.replace("--", "/") for p in CONFIGS.glob("*.json")} == set(PUBLISHED)
    assert len(PUBLISHED) >= 40


@pytest.mark.parametrize("name", sorted(PUBLISHED))
def test_an_odd_configuration_gives_the_published_total(name: str) -> None:
    found = read_config(CONFIGS / f"{name.replace('/', '--')}.json")
    assert found.parameters_total == pytest.approx(PUBLISHED[name], rel=1e-3)
    assert set(found.guessed) == ({"native_dtype"} if name in SILENT else set())


@pytest.mark.parametrize(
    ("config", "code", "key"),
    [
        ({"model_type": "t5", "is_encoder_decoder": True, "d_model": 512}, "model.encoder_decoder", None),
        ({"model_type": "llama"}, "model.missing_key", "hidden_size"),
        ({"model_type": "olmo", "d_model": 64, "n_layers": 2, "n_heads": 2}, "model.missing_key", "vocab_size"),
        ({"model_type": "mixtral", "hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 2,
          "vocab_size": 100, "intermediate_size": 96, "num_local_experts": 8}, "model.missing_key",
         "num_experts_per_tok"),
        ({"model_type": "qwen", "hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": "two",
          "vocab_size": 100}, "model.bad_value", "num_attention_heads"),
    ],
)  # fmt: skip
def test_what_cannot_be_read_is_refused_by_the_name_of_the_fact(
    config: dict[str, Any], code: str, key: str | None
) -> None:
    with pytest.raises(InputError) as caught:
        read_config(config)
    assert (caught.value.code, caught.value.params.get("key")) == (code, key)
