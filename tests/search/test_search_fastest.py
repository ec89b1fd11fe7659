"""The fastest of more possibilities is never slower: more kinds of cards, more cards, longer lists of nodes."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.catalog.load import load_catalog
from engine.hardware.model import CatalogSnapshot
from engine.scenario import Scenario
from engine.search.search import search

CARDS = ("nvidia-rtx-4090", "nvidia-a100-pcie-80gb", "nvidia-h100-sxm-80gb", "nvidia-l40s", "nvidia-a100-sxm-80gb")


@cache
def known() -> CatalogSnapshot:
    return load_catalog(with_user_rows=False)


@cache
def example() -> Scenario:
    text = (files("resources") / "examples" / "lora-32b-on-premises.json").read_text(encoding="utf-8")
    return Scenario.model_validate_json(text)


@cache
def fastest(cards: frozenset[str], most: int) -> float:
    """Days of the fastest way to do the work on these cards, whatever it costs."""
    constraints = example().constraints.model_copy(
        update={
            "include_gpus": tuple(sorted(cards)),
            "max_gpus": most,
            "budget": None,
            "ways": ("rent",),
            "data_may_leave": True,
        }
    )
    found = search(example().model_copy(update={"constraints": constraints}), known())
    return min((o.days.expected for o in found.options), default=float("inf"))


@settings(max_examples=12, deadline=None)
@given(st.sets(st.sampled_from(CARDS), min_size=1, max_size=3), st.sampled_from(CARDS), st.sampled_from([1, 4, 16]))
def test_more_kinds_of_cards_or_more_of_them_never_take_longer(cards: set[str], more: str, most: int) -> None:
    few = fastest(frozenset(cards), most)
    assert fastest(frozenset({*cards, more}), most) <= few
    assert fastest(frozenset(cards), 2 * most) <= few


def test_it_is_faster_indeed() -> None:
    """The law would hold of a search that always says the same."""
    slow, fast = (fastest(frozenset({c}), 8) for c in ("nvidia-l40s", "nvidia-h100-sxm-80gb"))
    assert fast < slow < float("inf")
    assert fastest(frozenset({"nvidia-h100-sxm-80gb"}), 16) < 0.7 * fastest(frozenset({"nvidia-h100-sxm-80gb"}), 1)
    assert pytest.approx(fast) == fastest(frozenset({"nvidia-l40s", "nvidia-h100-sxm-80gb"}), 8)
