"""A factor that is changed by a tenth is noticed: some comparison with a traced step then fails.

The comparison is of each phase of each traced step (forward, backward, optimizer), of what it keeps for the backward
pass, and of single blocks of random shapes, each with a fixed tolerance. Factors whose change stays below it everywhere
are too small to matter; they are listed (`pytest -m long -s tests/memory/test_factor_sensitivity.py`).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

import pytest
from block_traces import allowed, block_traces
from traced_models import settings_of, traced_models, traced_rows

import engine.memory.factors as factors
import engine.memory.moments as moments
from engine.architecture.model import Architecture
from engine.catalog.load import load_base
from engine.layout.model import Job, Layout, Loss
from engine.memory.block_kind import LATENT, resolve_kind
from engine.memory.calibration import block_factors
from engine.memory.training import training_memory
from engine.quantity import TermBlock

CHANGE = 1.1
TOLERANCE = 0.002  # of a phase's peak, beyond which the comparison with a traced step fails
PHASES = ("forward", "backward", "optimizer")


@dataclass(frozen=True)
class _Step:
    """A traced step and what the formulas are compared with."""

    case_id: str
    architecture: Architecture
    job: Job
    layout: Layout
    peaks: tuple[float, ...]
    kept: float  # bytes kept after the forward pass

    def errors(self) -> tuple[float, ...]:
        """Error of each phase's peak, and of what the forward pass keeps."""
        block = training_memory(self.architecture, self.job, self.layout)
        found = dict.fromkeys(PHASES, 0.0)
        for _, phase, amount in block.moments:
            found[phase] = max(found[phase], float(amount.expected))
        kept = sum(float(t.amount.expected) for t in block.terms_of_moment[0] if t.name == "memory.activations")
        if self.layout.loss is Loss.PLAIN:  # log-softmax in 32 bits, and two bytes more of soft-capped logits
            capped = resolve_kind(self.architecture)[0] == "gemma2"
            tokens = self.job.sequence_length * self.layout.micro_batch_size
            kept += (6 if capped else 4) * tokens * self.architecture.vocabulary_size
        phases = (found[p] / true - 1 for p, true in zip(PHASES, self.peaks, strict=True))
        return (*phases, kept / self.kept - 1)


@cache
def _steps() -> tuple[_Step, ...]:
    models = {**load_base().model_by_id, **traced_models()}
    rows = (*traced_rows(), *traced_rows("fresh_traces.csv"), *traced_rows("fresh_traces_second.csv"))
    return tuple(
        _Step(
            row["case_id"],
            models[row["model"]],
            *settings_of(row),
            tuple(float(row[f"peak_{phase}_bytes"]) for phase in PHASES),
            float(row["bytes_activations_saved_after_forward"]),
        )
        for row in rows
    )


@cache
def _right() -> dict[str, tuple[bool, ...]]:
    """Which phases of which steps the unchanged formulas give within the tolerance."""
    return {s.case_id: tuple(abs(e) <= TOLERANCE for e in s.errors()) for s in _steps()}


def _noticed(steps: list[_Step]) -> bool:
    """Whether a comparison that held no longer does."""
    return any(
        right and abs(error) > TOLERANCE
        for step in steps
        for right, error in zip(_right()[step.case_id], step.errors(), strict=True)
    )


def _noticed_in_a_block(kind: str, key: str, quantity: str, symbol: str, value: float) -> bool:
    """Whether the form, right for a shape that no fit has seen, no longer is."""
    entry = block_factors()[kind][key]
    changed = {**entry[quantity], symbol: value * CHANGE}
    unchanged = {**entry[quantity], symbol: value}
    most = allowed(entry, quantity)
    return any(
        t.miss(quantity, unchanged) <= most < t.miss(quantity, changed)
        for t in block_traces()
        if (t.kind, t.way) == (kind, key)
    )


def _by_way() -> dict[tuple[str, str], list[_Step]]:
    found: dict[tuple[str, str], list[_Step]] = defaultdict(list, {(t.kind, t.way): [] for t in block_traces()})
    for step in _steps():
        kind, fallback = resolve_kind(step.architecture)
        key = factors.way_of(step.job, step.layout).key
        if not fallback and key in block_factors()[kind]:
            found[kind, key].append(step)
    return found


def _changed(kind: str, key: str) -> Iterator[tuple[str, str, float]]:
    """Change one factor after the other; it is put back in between."""
    for quantity in factors.QUANTITIES:
        form = block_factors()[kind][key][quantity]
        for symbol, value in list(form.items()):
            form[symbol] = value * CHANGE
            factors.forms_of.cache_clear()
            yield quantity, symbol, value
            form[symbol] = value
    factors.forms_of.cache_clear()


@pytest.mark.long
def test_a_factor_changed_by_a_tenth_is_noticed() -> None:
    seen: Counter[tuple[str, bool]] = Counter()
    small: list[str] = []
    main: list[str] = []
    for (kind, key), steps in sorted(_by_way().items()):
        for quantity, symbol, value in _changed(kind, key):
            noticed = _noticed_in_a_block(kind, key, quantity, symbol, value) or _noticed(steps)
            seen[quantity, noticed] += 1
            if not noticed:
                small.append(f"{kind} {key} {quantity} {value:g} {symbol}")
                if (quantity, key) == ("saved", "full/ckpt_none/flash") and symbol in "hf" and kind not in LATENT:
                    main.append(small[-1])
    for quantity in factors.QUANTITIES:
        print(f"{quantity}: {seen[quantity, True]} noticed, {seen[quantity, False]} too small to matter")  # noqa: T201
    print("\n".join(["too small to matter in every traced step:", *small]))  # noqa: T201
    assert not main
    assert sum(n for (_, noticed), n in seen.items() if noticed) > 2000
    unnoticed = [line for line in small if " saved " in line and line.split()[-1] in ("h", "f", "a", "k")]
    print(f"{len(unnoticed)} of them are bytes a width that a block keeps")  # noqa: T201


#: Terms and constants whose moment is the peak of its phase in no traced step, or too small a part of it.
SMALL = {"NORM_BACKWARD", "NORM_KEPT"}
TERMS = (
    "loss_forward",
    "loss_backward",
    "kept_activations",
    "layer_activations",
    "block_work",
    "gradient_term",
    "gather_term",
    "reduce_term",
    "cast_copies",
    "head_cast_copy",
    "_states",
    "scratch_bytes",
)


@pytest.mark.parametrize("name", TERMS)
def test_a_term_changed_by_a_tenth_is_noticed(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    _right()
    original: Callable[..., Any] = getattr(moments, name)

    def larger(*arguments: Any, **options: Any) -> Any:
        found = original(*arguments, **options)
        if isinstance(found, TermBlock):
            return TermBlock(found.name, found.amount * CHANGE, found.formula, found.values, found.source)
        return found if found is None else found * CHANGE

    monkeypatch.setattr(moments, name, larger)
    assert _noticed(list(_steps())) is (name not in SMALL)


@pytest.mark.parametrize("name", ["NORM_BACKWARD", "NORM_KEPT"])
def test_a_constant_changed_by_a_tenth(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    _right()
    monkeypatch.setattr(moments, name, getattr(moments, name) * CHANGE)
    assert _noticed(list(_steps())) is (name not in SMALL)
