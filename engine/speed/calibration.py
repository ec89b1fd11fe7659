"""Calibration tables: how much of a peak real programs reach. Data, with a source in each row, read once.

`efficiency.csv`  share of the dense peak in matrix work, by card generation, precision and software stack
`links.csv`       share of a link's nominal rate that collectives reach, and latency, by kind of link
`software.csv`    what a software stack does around the matrix work: memory passes, kernels, overlap
"""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Literal

from engine.quantity import Bounds

__all__ = [
    "Efficiency", "LinkFigures", "Stack", "Tables", "attention_kernel", "calibrated_program", "serving_stack",
    "stack_of", "tables",
]  # fmt: skip

#: "tuned": fused kernels, overlapped communication. "plain": eager PyTorch as it comes. The rest are serving engines.
Stack = Literal["tuned", "plain", "serving", "llama.cpp", "eager-serving"]

#: Frameworks whose kernels and schedules are tuned for speed; everything else trains at the plain stack's rate.
_TUNED = ("megatron", "torchtitan", "nemo", "llm-foundry", "composer", "nanotron", "transformer-engine", "nanochat",
          "mlperf", "maxtext", "flagscale", "gpt-neox", "unsloth", "pytorch rocm")  # fmt: skip
#: Parts of the names of programs with training runs among the calibration rows; checked when these are fitted.
_CALIBRATED = ("hf-", "transformers", "trl", "peft", "deepspeed", "xtuner", "paddlenlp", "colossal", "megatron",
               "llm-foundry", "mlperf", "nemo /", "pytorch rocm", "llama-recipes")  # fmt: skip
#: Programs whose attention on Hopper is cuDNN's (Transformer Engine, attention guide: order of its backends).
_CUDNN = ("megatron", "nemo /", "transformer-engine", "mlperf")
_SERVING: Mapping[str, Stack] = {
    "vllm": "serving",
    "sglang": "serving",
    "tensorrt-llm": "serving",
    "llama.cpp": "llama.cpp",
    "ollama": "llama.cpp",
    "hf-transformers": "eager-serving",
}


def stack_of(framework: str) -> Stack:
    """The training stack that a framework's name stands for."""
    name = framework.lower()
    return "tuned" if any(part in name for part in _TUNED) else "plain"


def attention_kernel(framework: str) -> str:
    """Which fused kernel a program's attention is, as rows of the attention share name it; "*" is any."""
    return "cudnn" if any(part in framework.lower() for part in _CUDNN) else "*"


def calibrated_program(framework: str) -> bool:
    """Whether runs of this very program are among the calibration rows."""
    name = framework.lower()
    return any(part in name for part in _CALIBRATED)


def serving_stack(engine: str) -> Stack:
    """The serving stack of an engine's name."""
    return _SERVING.get(engine, "serving")


@dataclass(frozen=True, slots=True)
class Efficiency:
    """Share of a peak, with what it rests on."""

    bounds: Bounds
    rows: int  # measured rows behind it; 0 = carried over from other hardware
    basis: str  # which key of the table answered
    source: str


@dataclass(frozen=True, slots=True)
class LinkFigures:
    """What collectives get out of one kind of link."""

    efficiency: Bounds  # of the nominal rate of one direction
    latency_seconds: float  # of one hop
    nominal_bytes_per_second: float | None  # where the catalogue states none: a usual one
    source: str


@dataclass(frozen=True)
class Tables:
    """All calibration tables."""

    efficiency: Mapping[tuple[str, str, str, str], Efficiency]  # quantity, generation, precision, stack
    links: Mapping[str, LinkFigures]
    software: Mapping[tuple[str, str], Bounds]  # name, stack
    sources: Mapping[tuple[str, str], str]

    def share(self, quantity: str, *, generation: str, vendor: str, precision: str, stack: str) -> Efficiency:
        """Share of the peak for the nearest key: the generation itself, else its vendor, else any card."""
        # BF16 and FP16 run at one rate wherever both exist
        kind = "16" if precision in ("bf16", "fp16") else precision
        for who in (generation, vendor, "*"):
            for what in (kind, "*"):
                for how in (stack, "*"):
                    found = self.efficiency.get((quantity, who, what, how))
                    if found is not None:
                        return found
        raise KeyError((quantity, generation, precision, stack))

    def constant(self, name: str, stack: str) -> Bounds:
        """A constant of a software stack, or the one of all stacks."""
        own = self.software.get((name, stack))
        return own if own is not None else self.software[name, "*"]

    def constant_source(self, name: str, stack: str) -> str:
        """Where `constant` comes from."""
        return self.sources.get((name, stack)) or self.sources[name, "*"]


def _rows(name: str) -> list[dict[str, str]]:
    text = (files("resources") / "calibration" / name).read_text(encoding="utf-8")
    return list(csv.DictReader(line for line in text.splitlines() if not line.startswith("#")))


def _bounds(row: Mapping[str, str]) -> Bounds:
    low, expected, high = float(row["low"]), float(row["expected"]), float(row["high"])
    if not low <= expected <= high:
        raise ValueError(f"calibration row is not ordered: {row}")
    return Bounds(low, expected, high)


@cache
def tables() -> Tables:
    """The bundled calibration tables."""
    efficiency = {
        (r["quantity"], r["generation"], r["precision"], r["stack"]): Efficiency(
            bounds=_bounds(r),
            rows=int(r["rows"]),
            basis=" ".join((r["generation"], r["precision"], r["stack"])),
            source=f"{r['sources']} ({r['as_of']})",
        )
        for r in _rows("efficiency.csv")
    }
    links = {
        r["kind"]: LinkFigures(
            efficiency=_bounds(r),
            latency_seconds=float(r["latency_us"]) * 1e-6,
            nominal_bytes_per_second=float(r["nominal_gb_s"]) * 1e9 if r["nominal_gb_s"] else None,
            source=f"{r['source']} ({r['as_of']})",
        )
        for r in _rows("links.csv")
    }
    software = _rows("software.csv")
    return Tables(
        efficiency=efficiency,
        links=links,
        software={(r["name"], r["stack"]): _bounds(r) for r in software},
        sources={(r["name"], r["stack"]): f"{r['source']} ({r['as_of']})" for r in software},
    )
