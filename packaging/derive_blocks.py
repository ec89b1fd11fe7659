"""Derives memory factors of further kinds of block from traces of small random shapes. Not needed to run or build.

    python packaging/derive_blocks.py TRACER_FOLDER OUT_FOLDER [KIND ...]      (KIND or KIND:part-of-a-way)
    python packaging/derive_blocks.py --merge OUT_FOLDER
    python packaging/derive_blocks.py --unseen TRACER_FOLDER > tests/reference/data/block_traces.jsonl

TRACER_FOLDER holds the tracer of training steps (`workload.py`, `derive.py`; PyTorch, transformers and PEFT as its
`requirements.txt` pins them). Each kind and way of training is traced with two and with three layers on random widths
(vocabulary 64); the difference is one block, the remainder what surrounds it, and least squares gives the factors.
Shapes of real models are never among them. A fit that is not exact is judged on shapes which it has not seen.
`--merge` puts what OUT_FOLDER holds into `resources/calibration/block_factors.json`. `--unseen` traces shapes that no
fit has seen, for the tests.
"""

from __future__ import annotations

import json
import random
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
from block_kinds import KINDS, WAYS, ways_of

RESOURCE = Path(__file__).resolve().parent.parent / "resources/calibration/block_factors.json"
QUANTITIES = ("saved", "rest", "forward", "backward", "bottom")
FITTED, UNSEEN = 16, 5  # random shapes of each
EXACT = 0.002  # greatest residual, as a part of three blocks, at which factors are rounded to halves

#: Ways that every kind must have: all others can be composed from them.
NEEDED = {f"full/ckpt_{part}/flash" for part in ("none", "attention", "full")} | {
    f"lora/all/fp32/ckpt_{part}/flash" for part in ("none", "full")
}

HOW = (
    "packaging/derive_blocks.py with the shapes of packaging/block_kinds.py: 16 random shapes, and 5 more that judge "
    "a fit which is not exact; fit_error is its greatest error as a part of three blocks' bytes"
)
SYMBOLS = "x experts per token, e experts, rq rank of low-rank queries"

Vector = np.ndarray[Any, np.dtype[np.float64]]


def independent(matrix: Vector, names: list[str]) -> list[int]:
    """Columns in order, without those that the ones before them explain (a = h, k = a)."""
    kept: list[int] = []
    scaled = matrix / np.maximum(np.abs(matrix).max(axis=0), 1e-12)
    for column in range(len(names)):
        trial = scaled[:, [*kept, column]]
        if np.abs(matrix[:, column]).max() and np.linalg.svd(trial, compute_uv=False)[-1] > 1e-6:
            kept.append(column)
    return kept


def non_negative(matrix: Vector, wanted: Vector) -> Vector:
    """Least squares without negative factors: columns with negative ones leave, the worst first."""
    active = list(range(matrix.shape[1]))
    result = np.zeros(matrix.shape[1])
    while active:
        found = np.linalg.lstsq(matrix[:, active], wanted, rcond=None)[0]
        if found.min() >= 0:
            result[active] = found
            return result
        active.pop(int(np.argmin(found * np.abs(matrix[:, active]).max(axis=0))))
    return result


def fit(matrix: Vector, wanted: Vector, size: Vector) -> tuple[Vector, float]:
    """Factors and their greatest error as a part of `size`, on the shapes kept apart where the fit is not exact."""
    scale = np.abs(matrix).max(axis=0)

    def error(factors: Vector, rows: slice) -> float:
        return float((np.abs(matrix[rows] @ factors - wanted[rows]) / size[rows]).max())

    every, seen, unseen = slice(None), slice(0, FITTED), slice(FITTED, None)
    rounded = np.round(np.linalg.lstsq(matrix / scale, wanted, rcond=None)[0] / scale * 2) / 2
    if error(rounded, every) <= EXACT:
        return rounded, error(rounded, every)
    free = np.linalg.lstsq(matrix[seen] / scale, wanted[seen], rcond=None)[0] / scale
    positive = non_negative(matrix[seen] / scale, wanted[seen]) / scale
    best = min((free, positive), key=lambda f: error(f, unseen))
    return best, error(best, every)


def observe(case: Any) -> tuple[list[float], float]:
    """Bytes a token: end of forward, peaks of forward and backward, peak of the last block's backward; and the part of
    that block's gradients there by then.
    """
    from derive import live_bytes  # pyright: ignore[reportMissingImports]
    from workload import run  # pyright: ignore[reportMissingImports]

    trace = run(case)
    marks = trace.tracker.marks
    line = live_bytes(trace, case.autocast)
    trained = [(n, p.numel() * p.element_size()) for n, p in trace.model.named_parameters() if p.requires_grad]
    block = sum(b for n, b in trained if "layers.0." in n or ".h.0." in n)
    below = sum(b for n, b in trained if any(e in n for e in ("embed_tokens", "embed_positions", "wte", "wpe")))
    above = sum(b for _, b in trained) - block - below  # gradients that are there when the last block begins
    end = [other for moment, other, _ in line if moment <= marks["forward:end"]][-1]
    forward = max(other for moment, other, _ in line if marks["forward:start"] <= moment <= marks["forward:end"])
    backward = [point for point in line if point[0] >= marks["backward:start"]]
    bottom, _, grads = max((other, -moment, grads) for moment, other, grads in backward if grads >= above)
    numbers = (end, forward, max(other for _, other, _ in backward), bottom)
    return [n / case.seq_len for n in numbers], (grads - above) / max(block, 1)


def trace_shape(
    kind: str, settings: dict[str, Any], lengths: tuple[int, ...], rng: random.Random
) -> tuple[dict[str, float], list[float], float]:
    """Widths of a random shape by symbol, its bytes a token by quantity, and the part of a block's gradients there."""
    from workload import Case  # pyright: ignore[reportMissingImports]

    (shape, config), layers = KINDS[kind].draw(rng), KINDS[kind].layers
    loss = "plain" if settings.get("param_dtype") == "fp32" else "chunked"
    length, rank = rng.choice(lengths), rng.choice([8, 16, 32, 64])
    common = {**settings, "optimizer": "sgd", "loss": loss, "seq_len": length, "lora_r": rank}
    cases = [Case.from_dict({**common, "model": {**config, layers: n}}) for n in (2, 3)]
    (two, _), (three, part) = (observe(case) for case in cases)
    saved = three[0] - two[0]
    widths = KINDS[kind].widths(shape)
    if settings.get("method", "full") != "full":
        widths["r"] = rank
    if settings.get("attention") == "eager":
        widths |= {"p": shape.heads * length, "m": length}
    rest, forward, backward = (whole - 3 * saved for whole in three[:3])
    return widths, [saved, rest, forward, backward, three[3] - saved], part


def derive(kind: str, settings: dict[str, Any], lengths: tuple[int, ...]) -> dict[str, Any]:
    """Factors of one kind of block trained in one way."""
    rng = random.Random(0)
    rows: list[list[float]] = []
    values: list[list[float]] = []
    parts: list[float] = []
    names: list[str] = []
    for _ in range(FITTED + UNSEEN):
        widths, observed, part = trace_shape(kind, settings, lengths, rng)
        values.append(observed)
        parts.append(part)
        names = list(widths)
        rows.append([float(widths[n]) for n in names])
    matrix, targets = np.array(rows), np.array(values)
    kept = independent(matrix, names)
    matrix, names = matrix[:, kept], [names[i] for i in kept]
    result: dict[str, Any] = {"grad_part": round(float(np.mean(parts)), 3), "fit_error": {}}
    for column, quantity in enumerate(QUANTITIES):
        wanted = targets[:, column]
        factors, error = fit(matrix, wanted, np.abs(3 * targets[:, 0] + wanted))
        result[quantity] = {n: round(float(v), 3) for n, v in zip(names, factors, strict=True) if abs(v) > 1e-3}
        result["fit_error"][quantity] = round(error, 5)
    return result


def entry(kind: str, settings: dict[str, Any]) -> dict[str, Any]:
    """One way; eager attention is told apart at short lengths, where heads x length does not drown the widths."""
    eager = settings.get("attention") == "eager"
    factors = derive(kind, settings, (8192, 16384) if eager else (16384, 32768))
    if eager:
        short = derive(kind, settings, (128, 256, 384))
        for quantity in ("saved", "rest"):
            factors[quantity] = short[quantity]
            factors["fit_error"][quantity] = short["fit_error"][quantity]
    return factors


def prepare(tracer: Path) -> None:
    """Make the tracer's modules importable; its lists of projections lack OPT's name."""
    sys.path.insert(0, str(tracer))
    import workload  # pyright: ignore[reportMissingImports]

    workload.ATTENTION_TARGETS |= {"out_proj"}


def trace_all(tracer: Path, out: Path, wanted: list[str]) -> None:
    """Derive what OUT lacks; a way that the kind can't be traced in is said and left out."""
    prepare(tracer)
    shipped = json.loads(RESOURCE.read_text(encoding="utf-8"))["kinds"]
    for item in wanted or list(KINDS):
        kind, _, part = item.partition(":")
        path = out / f"{kind}.json"
        found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
        for key in ways_of(kind):
            if key in found or part not in key or (key in shipped.get(kind, {}) and not counts_experts(kind)):
                continue
            started = time.perf_counter()
            try:
                found[key] = entry(kind, WAYS[key])
            except Exception as error:  # noqa: BLE001 - one way must not stop the others
                print(f"{kind} {key}: {type(error).__name__}: {str(error)[:300]}", flush=True)
                continue
            seconds = time.perf_counter() - started
            print(f"{kind} {key}: {found[key]['fit_error']} in {seconds:.0f} s", flush=True)
            path.write_text(json.dumps(found, indent=1, sort_keys=True), encoding="utf-8")


#: Ways in which shapes that no fit has seen are traced for the tests.
CHECKED = ("full", "lora/all/fp32", "lora/all/bf16/ckpt", "qlora/all/fp32")
CHECK_SEED, CHECK_SHAPES, CHECK_LENGTH = 7, 2, 16384


def trace_unseen(tracer: Path, wanted: list[str]) -> None:
    """Print what further random shapes keep and need, one line a kind, way and shape."""
    prepare(tracer)
    table = json.loads(RESOURCE.read_text(encoding="utf-8"))["kinds"]
    for kind in wanted or [k for k in KINDS if k in table]:
        for key in ways_of(kind):
            if key not in table[kind] or not key.startswith(CHECKED) or "cast" in key or "eager" in key:
                continue
            rng = random.Random(CHECK_SEED)
            for _ in range(CHECK_SHAPES):
                widths, observed, _ = trace_shape(kind, WAYS[key], (CHECK_LENGTH,), rng)
                found = dict(zip(QUANTITIES, (round(v, 3) for v in observed), strict=True))
                print(json.dumps({"kind": kind, "way": key, "widths": widths, "bytes_per_token": found}), flush=True)


def counts_experts(kind: str) -> bool:
    """Kinds whose factors tell the number of experts apart replace earlier ones, which held it constant."""
    return KINDS[kind].group in ("routed", "latent")


def merge(out: Path) -> None:
    """Add to the resource; entries that it has already stay, but for those of routed kinds."""
    table = json.loads(RESOURCE.read_text(encoding="utf-8"))
    table["source"] |= {"how_later_ones": HOW, "further_symbols": SYMBOLS}
    for path in sorted(out.glob("*.json")):
        found = json.loads(path.read_text(encoding="utf-8"))
        if not found.keys() >= NEEDED and path.stem not in table["kinds"]:
            print(f"{path.stem}: left out, not all of the ways that others are composed from are there")
            continue
        ways = table["kinds"].get(path.stem, {})
        table["kinds"][path.stem] = {**ways, **found} if counts_experts(path.stem) else {**found, **ways}
    RESOURCE.write_text(json.dumps(table, indent=1, sort_keys=True) + "\n", encoding="utf-8")


def main(arguments: list[str]) -> int:
    """Trace, or merge."""
    if len(arguments) == 2 and arguments[0] == "--merge":
        merge(Path(arguments[1]))
    elif len(arguments) >= 2 and arguments[0] == "--unseen":
        trace_unseen(Path(arguments[1]), arguments[2:])
    elif len(arguments) >= 2:
        trace_all(Path(arguments[0]), Path(arguments[1]), arguments[2:])
    else:
        print(__doc__, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
