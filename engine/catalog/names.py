"""Names by which people and files call cards and models, all in lower case."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from engine.architecture.model import Architecture
from engine.hardware.model import Gpu

__all__ = ["gpu_names", "model_names"]

#: Words that people leave out of a card's name, in the order in which they are tried.
_PREFIXES = ("nvidia ", "amd ", "intel ", "英伟达 ", "geforce ", "tesla ", "instinct ", "rtx ")
_SIZE = re.compile(r"\s+\d+ ?gb?\b")
#: The first word of a name stands for all its cards where it is a model number ("h100", not "rtx").
_MODEL_NUMBER = re.compile(r"(?=.*\d)[a-z]{1,4}\d+[a-z]*")


def gpu_names(gpus: Iterable[Gpu], aliases: Mapping[str, tuple[str, ...]]) -> dict[str, tuple[str, ...]]:
    """Card ids by name. A name of several cards gives them all, slowest first; an exact name always wins.

    The committed aliases come first, then names and their shorter forms, then bare model numbers ("h100").
    """
    ordered = sorted(gpus, key=_slowest_first)
    found = {gpu.id: (gpu.id,) for gpu in ordered} | {name.lower(): ids for name, ids in aliases.items()}
    _add(found, ((gpu.id, name.lower()) for gpu in ordered for name in (gpu.name, *gpu.aliases)))
    official = [gpu for gpu in ordered if gpu.status != "unofficial"]
    _add(found, ((gpu.id, s) for gpu in official for name in (gpu.name, *gpu.aliases) for s in _shorter(name)))
    for name, ids in aliases.items():
        for short in _shorter(name):
            found.setdefault(short, ids)
    _add(found, ((gpu.id, number) for gpu in official for number in _model_number(gpu)))
    return found


def _add(found: dict[str, tuple[str, ...]], pairs: Iterable[tuple[str, str]]) -> None:
    """Add names that no earlier and stricter kind of name has taken; several cards may share a new one."""
    new: dict[str, tuple[str, ...]] = {}
    for gpu_id, name in pairs:
        if name not in found and gpu_id not in new.get(name, ()):
            new[name] = (*new.get(name, ()), gpu_id)
    found.update(new)


def _slowest_first(gpu: Gpu) -> tuple[float, float, str]:
    return (gpu.bf16_flops or gpu.fp16_flops or 0.0, gpu.memory_bytes_per_second or 0.0, gpu.id)


def _shorter(name: str) -> list[str]:
    """What is left of a name without maker and series, each also without the memory size."""
    names = [re.sub(r"\s+", " ", name.strip().lower())]
    for prefix in _PREFIXES:
        if names[-1].startswith(prefix):
            names.append(names[-1].removeprefix(prefix))
    return [*names, *(_SIZE.sub("", n) for n in names)]


def _model_number(gpu: Gpu) -> list[str]:
    words = [name.split()[0] for name in _shorter(gpu.name) if name.split()]
    return [w for w in words if _MODEL_NUMBER.fullmatch(w)]


def model_names(models: Iterable[Architecture], aliases: Mapping[str, str]) -> dict[str, str]:
    """Model ids by name: the id, the id without its owner, the display name, and the committed aliases."""
    found: dict[str, str] = {}
    for model in models:
        for name in (model.name, model.id.rpartition("/")[2]):
            found.setdefault(name.lower(), model.id)
    found.update({name.lower(): model_id for name, model_id in aliases.items()})
    found.update({model.id.lower(): model.id for model in models})
    return found
