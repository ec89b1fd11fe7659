"""The examples that ship with the program, in a person's language."""

from __future__ import annotations

import json
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

from engine.i18n import Language
from engine.inputs import MAX_SCENARIO_BYTES, parse_scenario, read_bounded
from engine.messages.mark import N_
from engine.scenario import Scenario

__all__ = ["EXAMPLES", "Example", "example_content", "scenario_or_example"]


@dataclass(frozen=True)
class Example:
    """A bundled scenario."""

    name: str  # of its file, without ".json"
    title: str
    text: str


EXAMPLES: tuple[Example, ...] = (
    Example(
        "qlora-8b-own-card",
        N_("Fine-tune an 8B model on one card"),
        N_("QLoRA on a card that is bought for 20,000 yuan: which one, and is it enough?"),
    ),
    Example(
        "lora-32b-on-premises",
        N_("Adapt a 32B model on premises"),
        N_("LoRA with data that may not leave the building."),
    ),
    Example(
        "full-70b-rented",
        N_("Train all weights of a 70B model"),
        N_("Full fine-tuning on rented nodes: how many cards, how long, what does it cost?"),
    ),
    Example(
        "continued-8b-50b-tokens",
        N_("Teach an 8B model a new field"),
        N_("Continued pre-training on 50 billion tokens, on several nodes."),
    ),
    Example(
        "serve-70b-50-users",
        N_("Serve a 70B model to 50 users"),
        N_("Own cards, rented cards, or an API for a year of service?"),
    ),
    Example(
        "weekend-api",
        N_("A weekend experiment"),
        N_("Only outputs are needed, and an API turns out cheaper than any card."),
    ),
    Example(
        "cn-university-campus-cluster",
        N_("A university with a campus cluster"),
        N_("Two tasks in China, no export-controlled cards: buy, rent, or queue on campus?"),
    ),
)


#: Words inside the example files that are shown to people, as they stand there -> in English.
_WORDS: dict[str, str] = {
    "Continued pretraining, 8B": N_("Continued pre-training, 8B"),
    "Full fine-tuning, 70B": N_("Full fine-tuning, 70B"),
    "全参数微调 7B": N_("Full fine-tuning, 7B"),
    "LoRA, 32B": "LoRA, 32B",
    "LoRA 14B": "LoRA, 14B",
    "QLoRA, 8B": "QLoRA, 8B",
    "Assistant for the department": N_("Assistant for the department"),
    "Label 20,000 abstracts": N_("Label 20,000 abstracts"),
    "课题一": N_("Project 1"),
    "课题二": N_("Project 2"),
    "校级计算平台": N_("Campus computing platform"),
    "校内": N_("on campus"),
    "校内收费标准，每卡时 2 元": N_("Campus tariff: 2 yuan a card-hour"),
    "Patient data: nothing may leave the building.": N_("Patient data: nothing may leave the building."),
    "A workstation with a free slot is there; the group buys one card.": N_(
        "A workstation with a free slot is there; the group buys one card."
    ),
    "Only the answers are needed, no checkpoint.": N_("Only the answers are needed, no checkpoint."),
}


def scenario_or_example(path: Path, language: Language) -> Scenario:
    """The scenario of a file, or the bundled example of that name where there is no such file.

    An example that nobody has changed speaks the given language.
    """
    known = {example.name for example in EXAMPLES}
    if not path.exists() and str(path) in known:
        return parse_scenario(example_content(str(path), language), file=str(path))
    content = read_bounded(path, limit_bytes=MAX_SCENARIO_BYTES)
    if path.stem in known and content == _raw(path.stem):
        content = example_content(path.stem, language)
    return parse_scenario(content, file=path.name)


def example_content(name: str, language: Language) -> bytes:
    """The file of an example, its name and remarks in a language."""
    raw = json.loads(_raw(name))
    title = next((e.title for e in EXAMPLES if e.name == name), "")
    spoken = _spoken(raw, language)
    return json.dumps({**spoken, "name": language.gettext(title) or raw.get("name", "")}).encode()


def _raw(name: str) -> bytes:
    return (files("resources") / "examples" / f"{name}.json").read_bytes()


def _spoken(value: Any, language: Language) -> Any:
    """All known words inside a document, in a language."""
    if isinstance(value, str):
        return language.gettext(_WORDS[value]) if value in _WORDS else value
    if isinstance(value, list):
        return [_spoken(item, language) for item in value]
    return {k: _spoken(v, language) for k, v in value.items()} if isinstance(value, dict) else value
