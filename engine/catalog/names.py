"""Names by which people and files call cards and models, all in lower case."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from engine.architecture.model import Architecture
from engine.hardware.model import Gpu

__all__ = ["gpu_names", "model_names"]

#: Words that people leave out of a card's name, in the order in which they are tried.
_PREFIXES = ("nvidia ", "amd ", "intel ", "geforce ", "tesla ", "instinct ", "英伟达 ")


def gpu_names(gpus: Iterable[Gpu], aliases: Mapping[str, tuple[str, ...]]) -> dict[str, tuple[str, ...]]:
    """Card ids by name. A name of several cards gives them all, slowest first; an exact id always wins."""
    found: dict[str, tuple[str, ...]] = {}
    for gpu in sorted(gpus, key=_slowest_first):
        for name in (gpu.name, *gpu.aliases):
            for short in _shorter(name):
                if gpu.id not in found.get(short, ()):
                    found[short] = (*found.get(short, ()), gpu.id)
    for name, ids in aliases.items():
        for short in _shorter(name):
            found.setdefault(short, ids)
        found[name.lower()] = ids
    found.update({gpu.id: (gpu.id,) for gpu in gpus})
    return found


def _slowest_first(gpu: Gpu) -> tuple[float, float]:
    return (gpu.bf16_flops or gpu.fp16_flops or 0.0, gpu.memory_bytes_per_second or 0.0)


def _shorter(name: str) -> list[str]:
    """The name itself and what is left without maker and series."""
    names = [re.sub(r"\s+", " ", name.strip().lower())]
    for prefix in _PREFIXES:
        if names[-1].startswith(prefix):
            names.append(names[-1].removeprefix(prefix))
    return names


def model_names(models: Iterable[Architecture], aliases: Mapping[str, str]) -> dict[str, str]:
    """Model ids by name: the id, the id without its owner, the display name, and the committed aliases."""
    found: dict[str, str] = {}
    for model in models:
        for name in (model.name, model.id.rpartition("/")[2]):
            found.setdefault(name.lower(), model.id)
    found.update({name.lower(): model_id for name, model_id in aliases.items()})
    found.update({model.id.lower(): model.id for model in models})
    return found
