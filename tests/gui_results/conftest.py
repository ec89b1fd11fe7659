"""Words for the codes of the sample, in both languages."""

from __future__ import annotations

import pytest

from engine.messages import LABELS, TEMPLATES

WORDS = {
    "sample.note": "A note.",
    "sample.advice": "An advice.",
    "sample.tight": "Only {x:gib} stay free.",
    "sample.short": "Needs {x:gib} more per card.",
    "sample.dear": "{over:money} over the budget.",
    "sample.reason": "Costs {amount:money} less than {name}.",
    "sample.api": "The same by API costs {amount:money}.",
}


@pytest.fixture(autouse=True)
def sample_words(monkeypatch: pytest.MonkeyPatch) -> None:
    """The sample's sentences stand beside the engine's own."""
    for code, text in WORDS.items():
        monkeypatch.setitem(TEMPLATES, code, text)
    for code in ("memory.weights", "memory.activations", "memory.context", "speed.compute", "risk.price_age"):
        if code not in LABELS:
            monkeypatch.setitem(LABELS, code, code.rpartition(".")[2])
