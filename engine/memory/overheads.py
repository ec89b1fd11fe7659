"""What stands between the bytes that a program requests and those that the driver shows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from engine.hardware.model import Gpu
from engine.memory.calibration import Overhead, memory_overheads
from engine.memory.terms import term
from engine.quantity import Bounds, Number, TermBlock

__all__ = ["GENERAL", "MemoryPlatform", "overhead_terms", "platform_for", "pooled"]


@dataclass(frozen=True, slots=True)
class MemoryPlatform:
    """Overheads of one kind of card and framework. Bytes, but for `slack`: a fraction of the allocated bytes.

    `context`: driver context and loaded kernels, outside PyTorch. `communication`: NCCL buffers where several cards
    work together. `workspace`: cuBLAS and attention workspaces, inside PyTorch's pool. `slack`: rounding and
    fragmentation, reserved minus allocated.
    """

    context: Bounds
    communication: Bounds
    workspace: Bounds
    slack: Bounds
    sources: tuple[tuple[str, str], ...]  # item -> source

    def source(self, item: str) -> str:
        """Where the figure of an item comes from."""
        return dict(self.sources).get(item, "")


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
    hopper = "hopper" if major >= 9 else ""
    other = "non-nvidia" if vendor and vendor != "nvidia" else ""
    context, communication = _find("context", other), _find("communication", other)
    workspace, slack = _find("workspace", hopper), _find("slack", framework)
    picked = (("context", context), ("communication", communication), ("workspace", workspace), ("slack", slack))
    bounds = {n: Bounds(o.low, o.expected, o.high) for n, o in picked}
    return MemoryPlatform(**bounds, sources=tuple((n, f"{o.source} ({o.date})") for n, o in picked))


def _find(item: str, scope: str) -> Overhead:
    rows = memory_overheads()
    return rows.get((item, scope)) or rows[item, ""]


#: Any card, any framework.
GENERAL = platform_for(None)


def pooled(platform: MemoryPlatform) -> MemoryPlatform:
    """The same card under a serving engine, whose pool is reserved once: hardly any fragmentation."""
    one = _find("slack", "serving")
    sources = tuple((n, s) for n, s in platform.sources if n != "slack")
    return replace(
        platform,
        slack=Bounds(one.low, one.expected, one.high),
        sources=(*sources, ("slack", f"{one.source} ({one.date})")),
    )


def overhead_terms(platform: MemoryPlatform, allocated: Bounds, gpus: Number) -> list[TermBlock]:
    """Terms from allocated to driver bytes: fragmentation (up to reserved), workspace, context, communication."""
    several = np.where(np.asarray(gpus) > 1, 1.0, 0.0)
    slack = Bounds(
        allocated.low * platform.slack.low,
        allocated.expected * platform.slack.expected,
        allocated.high * platform.slack.high,
    )
    return [
        term(
            "memory.fragmentation",
            slack,
            "allocated * slack",
            platform.source("slack"),
            allocated=allocated.expected,
            slack=platform.slack.expected,
        ),
        _constant("memory.workspace", platform.workspace, platform.source("workspace"), several * 0.0 + 1.0),
        _constant("memory.context", platform.context, platform.source("context"), several * 0.0 + 1.0),
        _constant("memory.nccl", platform.communication, platform.source("communication"), several),
    ]


def _constant(name: str, amount: Bounds, source: str, present: Number) -> TermBlock:
    return term(name, amount * present, "bytes * present", source, bytes=amount.expected, present=present)
