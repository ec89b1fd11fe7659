"""What stands between the bytes that a program requests and those that the driver shows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from engine.hardware.model import Gpu
from engine.memory.calibration import Overhead, memory_overheads
from engine.memory.terms import term
from engine.quantity import Bounds, Number, TermBlock

__all__ = ["MemoryPlatform", "Parts", "overhead_terms", "platform_for", "pooled", "spread_term"]


#: Frameworks with runs in the calibrate part of the published measurements (families flagperf, qwen1, alpaca-lora), and
#: those that run the same transformers Trainer. Any other is as uncertain as a family that the fit leaves out.
MEASURED_FRAMEWORKS = frozenset({
    "hf-trainer", "trl", "axolotl", "llama-factory", "alpaca-lora", "accelerate", "llama-recipes", "deepspeed",
    "megatron", "megatron-lm", "megatron-deepspeed", "paddlenlp",
})  # fmt: skip


SERVING_ENGINES = frozenset({"vllm", "sglang", "tensorrt-llm", "llama.cpp", "ollama"})


@dataclass(frozen=True, slots=True)
class MemoryPlatform:
    """Overheads of one kind of card and framework. Bytes, or fractions of bytes where named a slack or a spread.

    `context`: driver context and loaded kernels, outside PyTorch. `communication`: NCCL buffers where several cards
    work together. `workspace`: cuBLAS and attention workspaces, inside PyTorch's pool. The slacks (rounding and
    fragmentation, reserved minus allocated) apply to what stays (weights, states), to what comes and goes
    (activations, gradients; more under eager attention) and to a cache that grows. `program_spread`: how far
    activations and temporaries of other releases and frameworks lie from the traced ones; `fixed_spread` the same for
    what stays (buffers beside the weights, copies left from loading).
    """

    context: Bounds
    communication: Bounds
    workspace: Bounds
    slack_fixed: Bounds
    slack_changing: Bounds
    slack_eager: Bounds
    slack_cache: Bounds
    program_spread: Bounds
    fixed_spread: Bounds
    sources: tuple[tuple[str, str], ...]  # item -> source

    def source(self, item: str) -> str:
        """Where the figure of an item comes from."""
        return dict(self.sources).get(item, "")


@dataclass(frozen=True, slots=True)
class Parts:
    """Allocated bytes at the peak by how the allocator sees them."""

    fixed: Number
    changing: Number
    cache: Number


def platform_for(gpu: Gpu | None, framework: str = "", gpus: int = 1) -> MemoryPlatform:
    """Overheads for a card (None: any) and a framework. `gpus` is accepted for symmetry; the layout decides."""
    del gpus
    vendor = gpu.vendor.lower() if gpu else ""
    capability = gpu.compute_capability if gpu else ""
    return _platform(vendor, _major(capability), framework.split(" ")[0].lower())


def _major(capability: str) -> int:
    head = capability.split(".")[0]
    return int(head) if head.isdigit() else 0


@lru_cache(maxsize=256)
def _platform(vendor: str, major: int, framework: str) -> MemoryPlatform:
    other = "non-nvidia" if vendor and vendor != "nvidia" else ""
    scopes = {
        "context": other or (f"cc{major}" if major else ""),
        "communication": other,
        "workspace": "hopper" if major >= 9 else "",
        "program_spread": _kin(framework),
        "fixed_spread": _kin(framework),
    }
    items = ("slack_fixed", "slack_changing", "slack_eager", "slack_cache")
    picked = {item: _find(item, scopes.get(item, framework)) for item in (*scopes, *items)}
    bounds = {n: Bounds(o.low, o.expected, o.high) for n, o in picked.items()}
    sources = tuple((n, f"{o.source} ({o.date})") for n, o in picked.items())
    return MemoryPlatform(**bounds, sources=sources)


def _kin(framework: str) -> str:
    """Whose runs tell how far a framework strays from the formulas."""
    if framework in MEASURED_FRAMEWORKS:
        return "measured"
    return "serving" if framework in SERVING_ENGINES else framework


def _find(item: str, scope: str) -> Overhead:
    rows = memory_overheads()
    return rows.get((item, scope)) or rows[item, ""]


def pooled(platform: MemoryPlatform, engine: str) -> MemoryPlatform:
    """The same card under a serving engine: one pool reserved at start, or tensors that grow token by token."""
    items = ("slack_fixed", "slack_changing", "slack_cache")
    picked = {item: _find(item, engine if (item, engine) in memory_overheads() else "serving") for item in items}
    bounds = {n: Bounds(o.low, o.expected, o.high) for n, o in picked.items()}
    kept = tuple((n, s) for n, s in platform.sources if n not in items)
    sources = (*kept, *((n, f"{o.source} ({o.date})") for n, o in picked.items()))
    return replace(platform, **bounds, sources=sources)


def spread_term(platform: MemoryPlatform, fixed: Number, changing: Number) -> TermBlock:
    """What activations and temporaries may differ by in this framework and release: nothing expected.

    The high end leaves room for math libraries' workspace, which PyTorch counts as allocated and a trace cannot see.
    """
    spread, stays = platform.program_spread, platform.fixed_spread
    low = changing * (spread.low - 1) + fixed * (stays.low - 1)
    high = changing * (spread.high - 1) + fixed * (stays.high - 1) + platform.workspace.high
    return term(
        "memory.program_differences",
        Bounds(low, 0.0 * changing, high),
        "(changing + fixed) * (expected_ratio - 1)",
        platform.source("program_spread"),
        changing=changing,
        fixed=fixed,
        expected_ratio=1.0,
    )


def overhead_terms(platform: MemoryPlatform, parts: Parts, gpus: Number, *, eager: bool) -> list[TermBlock]:
    """Terms from allocated to driver bytes: fragmentation (up to reserved), workspace, context, communication."""
    present = np.where(np.asarray(gpus) > 0, 1.0, 0.0)
    several = np.where(np.asarray(gpus) > 1, 1.0, 0.0)
    item = "slack_eager" if eager else "slack_changing"
    changing = platform.slack_eager if eager else platform.slack_changing
    slack = (
        platform.slack_fixed * parts.fixed + changing * parts.changing + platform.slack_cache * parts.cache
    ) * present
    return [
        term(
            "memory.fragmentation",
            slack,
            "fixed * slack_of_fixed + changing * slack_of_changing + cache * slack_of_cache",
            platform.source(item),
            fixed=parts.fixed,
            slack_of_fixed=platform.slack_fixed.expected,
            changing=parts.changing,
            slack_of_changing=changing.expected,
            cache=parts.cache,
            slack_of_cache=platform.slack_cache.expected,
        ),
        _constant("memory.workspace", platform.workspace, platform.source("workspace"), present),
        _constant("memory.context", platform.context, platform.source("context"), present),
        _constant("memory.nccl", platform.communication, platform.source("communication"), several),
    ]


def _constant(name: str, amount: Bounds, source: str, present: Number) -> TermBlock:
    return term(name, amount * present, "bytes * present", source, bytes=amount.expected, present=present)
