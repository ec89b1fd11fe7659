"""How charts look: three `Look` values, and one fixed colour and hatch for each component everywhere."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = [
    "COST_STYLES", "DARK", "LIGHT", "LOOKS", "MEMORY_STYLES", "PRINT", "TIME_STYLES", "WAY_STYLES", "Look", "Style",
    "style_of",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Look:
    """Colours and sizes of a chart; the drawing is the same for all of them."""

    name: str
    background: str
    text: str
    muted: str
    grid: str
    limit: str  # capacities, deadlines, budgets
    edge: str  # between neighbouring segments
    hatches: bool = True
    font_size: float = 9.0
    transparent: bool = False


LIGHT = Look("light", "#ffffff", "#1f2328", "#5b636d", "#d9dde3", "#b3261e", "#ffffff")
DARK = Look("dark", "#1e2227", "#e8eaed", "#a9b0b9", "#3a4149", "#ff8a80", "#1e2227")
PRINT = Look("print", "#ffffff", "#000000", "#444444", "#cccccc", "#000000", "#ffffff", font_size=8.5)
LOOKS: dict[str, Look] = {look.name: look for look in (LIGHT, DARK, PRINT)}


@dataclass(frozen=True, slots=True)
class Style:
    """Fill of a component: one of the Okabe-Ito colours, told apart by its hatch in grey print."""

    color: str
    hatch: str = ""


ORANGE, SKY, GREEN, YELLOW = "#E69F00", "#56B4E9", "#009E73", "#F0E442"
BLUE, VERMILION, PURPLE, GREY = "#0072B2", "#D55E00", "#CC79A7", "#999999"

#: Fixed order (bottom of the stack first) and look of every memory term.
MEMORY_STYLES: dict[str, Style] = {
    "memory.weights": Style(BLUE),
    "memory.reference_model": Style(BLUE, "xx"),
    "memory.cast_copies": Style(BLUE, ".."),
    "memory.adapters": Style(SKY),
    "memory.gradients": Style(GREEN, "//"),
    "memory.optimizer_states": Style(ORANGE),
    "memory.step_scratch": Style(ORANGE, "xx"),
    "memory.activations": Style(VERMILION, "\\\\"),
    "memory.block_work": Style(VERMILION, ".."),
    "memory.logits": Style(PURPLE),
    "memory.kv_cache": Style(YELLOW, ".."),
    "memory.inputs": Style(YELLOW),
    "memory.gather_buffers": Style(GREEN, ".."),
    "memory.reduce_buffers": Style(GREEN, "xx"),
    "memory.context_exchange": Style(GREEN),
    "memory.program_differences": Style(PURPLE, "//"),
    "memory.other_moment": Style(PURPLE, "xx"),
    "memory.other": Style(GREY, "xx"),
    "memory.workspace": Style(GREY),
    "memory.fragmentation": Style(GREY, "//"),
    "memory.context": Style("#666666"),
    "memory.nccl": Style("#666666", ".."),
    "memory.engine_graphs": Style("#666666", "//"),
    "memory.in_use": Style("#333333", "xx"),
}

#: Fixed order and look of every cost term.
COST_STYLES: dict[str, Style] = {
    "cost.rent": Style(BLUE),
    "cost.host_beside_gpu": Style(BLUE, ".."),
    "cost.servers": Style(ORANGE),
    "cost.cards": Style(ORANGE, "//"),
    "cost.host": Style(SKY),
    "cost.host_memory": Style(SKY, ".."),
    "cost.fabric": Style(SKY, "xx"),
    "cost.wear": Style(ORANGE, "\\\\"),
    "cost.energy": Style(YELLOW),
    "cost.storage": Style(GREEN),
    "cost.egress": Style(GREEN, ".."),
    "cost.engineering": Style(PURPLE),
}

#: Fixed order and look of what time goes into: the parts of a step, then what comes on top of the steps.
TIME_STYLES: dict[str, Style] = {
    "speed.compute": Style(BLUE),
    "speed.memory_bound": Style(SKY),
    "speed.prefill": Style(BLUE, "//"),
    "speed.communication": Style(VERMILION),
    "speed.bubble": Style(VERMILION, "\\\\"),
    "speed.offload": Style(PURPLE),
    "speed.optimizer": Style(ORANGE),
    "speed.overhead": Style(GREY),
    "run.stragglers": Style(VERMILION, ".."),
    "run.input": Style(GREEN),
    "run.evaluation": Style(GREEN, "//"),
    "run.checkpoints": Style(YELLOW),
    "run.start": Style(YELLOW, ".."),
    "run.failures": Style(GREY, "xx"),
}

#: Ways to get cards, and the hosted alternative.
WAY_STYLES: dict[str, Style] = {
    "buy": Style(ORANGE, "//"),
    "rent": Style(BLUE),
    "shared": Style(GREEN, ".."),
    "owned": Style(SKY, "xx"),
    "api": Style(PURPLE, "\\\\"),
}

_OTHER_HATCHES = ("--", "++", "oo", "||")


def style_of(name: str, styles: dict[str, Style]) -> Style:
    """The style of a component; one that is not listed gets a grey of its own hatch, the same every time."""
    if name in styles:
        return styles[name]
    return Style("#bbbbbb", _OTHER_HATCHES[sum(map(ord, name)) % len(_OTHER_HATCHES)])
