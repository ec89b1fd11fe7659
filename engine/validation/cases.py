"""From a flat case to jobs and layouts: stated settings as they are, unknown ones as their possibilities."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from engine.architecture.model import Architecture
from engine.errors import InputError
from engine.findings import Finding
from engine.hardware.model import CatalogSnapshot, Gpu
from engine.layout.model import InferenceJob, Job, Layout, Method
from engine.quantity import gib
from engine.validation import fields as words
from engine.validation.fields import Case
from engine.validation.knobs import Knobs, Which
from engine.validation.models import find_model
from engine.validation.serving_case import inference_knobs, make_inference
from engine.validation.training_case import make_training, training_knobs

#: Of the GiB in a card's name, what its driver offers: 0.93 to 1.0 over the cards that report it; low, to be careful.
_USABLE_SHARE = 0.95
_PRETRAINING_GPUS = 512  # published pretraining runs have hundreds to thousands
_WEIGHTS_SHARE = 0.7  # of the memory, so that a cache fits beside them
_LARGEST_NODE = 8
#: Companies' own programs, of which nothing is published but their runs.
_OWN_STACKS = ("internal", "hai-llm")
#: Where rows are not packed, the stated length is the longest. Of instruction data nearly all rows are below a fifth of
#: it (LitGPT, tutorials/prepare_dataset.md: 1304 tokens in Alpaca, of which 256 hold all but a few rows).
_UNPACKED = (0.2, 0.08, 1.0)

__all__ = ["GpuChoice", "ResolvedCase", "Variant", "resolve_case"]


@dataclass(frozen=True, slots=True)
class Variant:
    """One possibility of a case."""

    job: Job | InferenceJob
    layout: Layout
    precision: str  # of matrix work, where the case states it; "" follows from the regime


@dataclass(frozen=True, slots=True)
class GpuChoice:
    """Cards that the case's name stands for (slowest first) and how many; empty where none is named or known."""

    gpus: tuple[Gpu, ...]
    count: int
    nodes: int
    interconnect: str = ""


@dataclass(frozen=True, slots=True)
class ResolvedCase:
    """A case ready for the formulas. `expected` first; `hull` adds the variants of least and most memory."""

    method: Method
    architecture: Architecture
    hardware: GpuChoice
    expected: Variant
    hull: tuple[Variant, ...]
    framework: str
    named_stack: bool = True  # whether a public program is named
    length_shares: tuple[float, ...] = (1.0,)  # of the sequence length that a row has on average, the expected first
    assumptions: tuple[Finding, ...] = field(default=())

    @property
    def variants(self) -> tuple[Variant, ...]:
        """All of them, the expected one first."""
        return (self.expected, *self.hull)

    @property
    def shape_guessed(self) -> bool:
        """Whether dimensions of the model were made up: from a size alone, or where a stated shape leaves some out."""
        return self.architecture.basis == "size" or bool(self.architecture.guessed)


def resolve_case(values: Mapping[str, Any], catalog: CatalogSnapshot, *, hull: bool = False) -> ResolvedCase:
    """Resolve a flat case (cases.md §2). `InputError` names what is missing, wrong, or can't be expressed.

    A setting that is not given takes its usual value. It takes all values that the framework admits, and the answer is
    their hull, where the case says "unknown" or `hull` is set (rows of measurements, whose settings were real).
    """
    case = Case(values)
    method = case.method()
    knobs = Knobs(lambda key: hull or case.said_unknown(key))
    for key in values:
        if key not in words.CASE_KEYS and values[key] not in (None, ""):
            knobs.warn("case.ignored_key", key=str(key)[:60])
    architecture = find_model(case, catalog)
    if architecture.basis == "size":
        knobs.warn("case.model_from_size", parameters=architecture.parameters_total)
    elif architecture.guessed:
        knobs.warn("case.model_guessed", model=architecture.name, names=", ".join(architecture.guessed))
    hardware = _hardware(case, catalog, knobs, method, architecture)
    usable = min((g.usable_bytes for g in hardware.gpus if g.usable_bytes), default=None)
    if method is Method.INFERENCE:
        inference_knobs(case, knobs, architecture, hardware.count, usable)
        choices = [knobs.chosen(w) for w in _needed(knobs)]
        made = [Variant(*make_inference(case, c), case.text("precision").lower()) for c in choices]
    else:
        training_knobs(case, knobs, method, architecture, hardware.count, usable)
        choices = [knobs.chosen(w) for w in _needed(knobs)]
        made = [Variant(*make_training(case, c, method), c["precision"]) for c in choices]
    return ResolvedCase(
        method=method,
        architecture=architecture,
        hardware=hardware,
        expected=made[0],
        hull=tuple(v for i, v in enumerate(made[1:], 1) if v not in made[:i]),
        framework=case.text("framework") or "hf-transformers",
        named_stack=bool(case.text("framework")) and not any(w in case.text("framework").lower() for w in _OWN_STACKS),
        length_shares=_length_shares(case, hull),
        assumptions=tuple(knobs.assumed),
    )


def _length_shares(case: Case, hull: bool) -> tuple[float, ...]:
    words, framework = case.text("packing_or_avg_len").lower(), case.text("framework").lower()
    # torchtune packs only where it is told to (its documentation: packed = False), so that its runs were like this;
    # who asks for an estimate of a length is told what rows of that length take
    unpacked = words.startswith("not packed") or (hull and not words and framework.startswith("torchtune"))
    return _UNPACKED if unpacked else (1.0,)


def _needed(knobs: Knobs) -> tuple[Which, ...]:
    return ("expected",) if knobs.certain else ("expected", "least", "most")


def _hardware(
    case: Case, catalog: CatalogSnapshot, knobs: Knobs, method: Method, architecture: Architecture
) -> GpuChoice:
    count, nodes = case.count("n_gpus"), case.count("n_nodes")
    gpus = _named_gpus(case, catalog, knobs)
    if count is None:
        count = _usual_count(method, architecture, gpus) if knobs.spreads("n_gpus") else 1
        knobs.assume("n_gpus", count)
    if nodes is not None and count % nodes:
        raise InputError("case.nodes_mismatch", gpus=count, nodes=nodes)
    if nodes is None:
        per_node = min((g.max_gpus_per_node or 8 for g in gpus), default=8)
        nodes = max(1, -(-count // per_node))
        while count % nodes:
            nodes += 1
        if count > 1:
            knobs.assume("n_nodes", nodes)
    return GpuChoice(gpus, count, nodes, case.text("interconnect").lower())


def _usual_count(method: Method, architecture: Architecture, gpus: tuple[Gpu, ...]) -> int:
    """Cards of a run that was done somewhere but whose number is not told; only figures per card are compared."""
    if method in (Method.PRETRAIN, Method.CONTINUED):
        return _PRETRAINING_GPUS
    usable = min((g.usable_bytes for g in gpus if g.usable_bytes), default=None)
    needed = 2 * architecture.parameters_total if method is Method.INFERENCE else 0
    count = 1
    while usable and needed > _WEIGHTS_SHARE * usable * count and count < _LARGEST_NODE:
        count *= 2
    return count


def _named_gpus(case: Case, catalog: CatalogSnapshot, knobs: Knobs) -> tuple[Gpu, ...]:
    ids = [i for i in case.text("gpu_id").split("|") if i]
    found = tuple(catalog.gpu_by_id[i] for i in ids if i in catalog.gpu_by_id)
    name = case.text("gpu")
    if not found and name:
        alias = catalog.gpu_aliases.get(" ".join(name.lower().split()), ())
        found = tuple(catalog.gpu_by_id[i] for i in alias)
        sized = None if found else _card_of_size(name)
        if sized is not None:
            knobs.warn("case.gpu_by_size", gpu=name[:80], usable=sized.usable_bytes)
            return (sized,)
        if not found:
            knobs.warn("case.gpu_unknown", gpu=name[:80])
    if len(found) > 1:
        knobs.warn("case.gpu_several", gpu=name or found[0].name, taken=found[0].name, names=_names(found))
    return found


def _card_of_size(name: str) -> Gpu | None:
    """A card that the catalogue lacks but whose name tells its memory: enough for a verdict, not for speed."""
    size = re.search(r"\b(\d{1,3}) ?GB\b", name, re.IGNORECASE)
    if size is None:
        return None
    return Gpu(
        id=f"unlisted/{'-'.join(name.lower().split())[:60]}",
        vendor="",
        name=name[:60],
        memory_gb=float(size[1]),
        usable_bytes=gib(float(size[1]) * _USABLE_SHARE),
        usable_basis="rule",
        confidence="low",
    )


def _names(gpus: tuple[Gpu, ...]) -> str:
    return ", ".join(g.name for g in gpus)
