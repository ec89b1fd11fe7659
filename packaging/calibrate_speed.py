"""Fits the shares of peak and the software constants of the speed formulas to published measurements.

    python packaging/calibrate_speed.py REFERENCE_FOLDER [--dry-run | --leave-out]

Reads `measurements/published.csv` (only rows of split "calibrate") and `models/name-aliases.csv` below the folder, and
writes `resources/calibration/efficiency.csv` and the fitted rows of `software.csv`. Every group of sources weighs by
the square root of its rows, errors are absolute and logarithmic, so that no large or odd source decides alone.
"""

from __future__ import annotations

import csv
import math
import sys
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from speed_rows import MeasuredRow, measured_rows

from engine.catalog.load import load_base
from engine.quantity import Bounds
from engine.speed.calibration import Efficiency, Tables, calibrated_program, stack_of, tables
from engine.speed.hardware import generation_of, hardware_block
from engine.speed.training import training_speed

FOLDER = Path(__file__).resolve().parent.parent / "resources/calibration"
AS_OF = "2026-12-01"
#: Software constants that are fitted, with the factor by which the search steps (shrinking each round).
FREE: Mapping[tuple[str, str], float] = {
    ("matrix_half_width", "*"): 1.5,
    ("attention_sdpa", "*"): 1.2,
    ("attention_eager", "*"): 1.3,
    ("expert_relative", "*"): 1.2,
    ("expert_overlap", "*"): 1.5,
    ("passes", "tuned"): 1.4,
    ("passes", "*"): 1.3,
    ("launch_seconds", "*"): 1.5,
    ("zero3_seconds", "*"): 1.5,
    ("expand_grouped", "*"): 1.5,
}
PASSES = ("hidden_passes", "qkv_passes", "mlp_passes", "logit_bytes_plain", "logit_bytes_chunked")
#: Generations whose attention share stays as the table has it: the measured runs there used kernels of 2023, and the
#: table follows the published shares of today's.
FIXED_ATTENTION = frozenset({"Hopper"})
#: "embeddings, norms and head of the 4-bit base are in fp32": matrix work outside autocast, on a card whose FP32
#: rate is an eighth of its FP16 rate; no usual set-up of this method.
EXCLUDED = frozenset({("fitcheck-t4", "qlora")})
#: Rows whose links are assumed are used where those hardly matter: communication below this share of the step.
LITTLE_COMMUNICATION = 0.1
ROUNDS = 4
#: Best share of a dense peak that large products reach on any card (A100 with cuBLAS); a fit beyond would hide a flaw
#: of the other terms.
HIGHEST = 0.85
#: Least standard deviation (of the logarithm) between two publishers. Versions of one program alone move dense training
#: by 20 % (README of the measurements). Leaving one source out of this fit and predicting it shows 0.1 (tuned) and 0.15
#: (plain) between sources and as much within; few sources stand for many programs, so plain stacks get more.
LEAST_SPREAD = {"tuned": 0.15, "plain": 0.30}
#: Spread between generations of cards, for those without a row of their own: leaving out each family whose cards no
#: other has (`--leave-out`), the medians of the predictions lie 0.09 and 0.21 off in the logarithm. There are only two
#: such families: the larger is taken.
CARRIED_OVER = 0.21
QUANTILE = 1.645  # of the normal distribution, both ends of a 90 % interval


@dataclass(frozen=True)
class Outcome:
    """Predicted over measured speed of a row, and the share of the step that depends on the efficiencies."""

    row: MeasuredRow
    log_ratio: float
    matrix_share: float


def key_of(row: MeasuredRow) -> tuple[str, str, str]:
    """Generation, precision and stack of a row; BF16 and FP16 are one precision."""
    precision = "16" if row.precision in ("bf16", "fp16") else row.precision
    return generation_of(row.cluster.gpu), precision, stack_of(row.framework)


def outcomes(rows: Sequence[MeasuredRow], known: Tables) -> list[Outcome]:
    """The formulas against the rows."""
    found: list[Outcome] = []
    for row in rows:
        hardware = hardware_block([row.cluster], precision=row.precision, framework=row.framework, calibration=known)
        block = training_speed(row.architecture, row.job, row.layout, hardware)
        step = float(block.step_seconds.expected)
        compute = float(block.terms[0].amount.expected)
        ratio = float(block.tokens_per_second_per_gpu.expected) / row.tokens_per_second_per_gpu
        found.append(Outcome(row, math.log(ratio), compute / step))
    return found


def loss(found: Sequence[Outcome]) -> float:
    """Mean absolute logarithmic error, a group weighing by the square root of its rows."""
    groups: dict[str, list[float]] = defaultdict(list)
    for outcome in found:
        groups[outcome.row.group].append(abs(outcome.log_ratio))
    weights = [math.sqrt(len(v)) for v in groups.values()]
    means = [float(np.mean(v)) for v in groups.values()]
    return float(np.average(means, weights=weights))


def with_efficiencies(rows: Sequence[MeasuredRow], known: Tables, rounds: int = 2) -> tuple[Tables, list[Outcome]]:
    """Tables whose matrix efficiencies make the median source of each card and precision right.

    All stacks share the efficiency of a card: they call the same matrix libraries. What they do around them differs,
    and is in the software constants.
    """
    found = outcomes(rows, known)
    for _ in range(rounds):
        by_key: dict[tuple[str, str], list[Outcome]] = defaultdict(list)
        for outcome in found:
            by_key[key_of(outcome.row)[:2]].append(outcome)
        efficiency = dict(known.efficiency)
        for (generation, precision), members in by_key.items():
            old = known.share("matrix", generation=generation, vendor="", precision=precision, stack="*")
            shift = _weighted_median(members)
            value = min(HIGHEST, float(old.bounds.expected) * math.exp(-shift))
            efficiency["matrix", generation, precision, "*"] = Efficiency(Bounds.exact(value), len(members), "", "")
        known = replace(known, efficiency=efficiency)
        found = outcomes(rows, known)
    return known, found


def _weighted_median(members: Sequence[Outcome]) -> float:
    """Median shift of efficiency that the rows ask for; groups weigh by the root of their rows, and by how far matrix
    work decides the step."""
    sizes = Counter(m.row.group for m in members)
    pairs = sorted(
        (m.log_ratio / max(m.matrix_share, 0.3), m.matrix_share / math.sqrt(sizes[m.row.group])) for m in members
    )
    total, passed = sum(w for _, w in pairs), 0.0
    for value, weight in pairs:
        passed += weight
        if passed >= total / 2:
            return value
    return 0.0


def scaled(known: Tables, name: tuple[str, str], factor: float) -> Tables:
    """Tables with one software constant multiplied; "passes" are all kinds of memory passes of a stack together."""
    software = dict(known.software)
    names = PASSES if name[0] == "passes" else (name[0],)
    for each in names:
        key = (each, name[1])
        if key in software:
            value = software[key]
            software[key] = value * factor
            if each == "expert_overlap" and float(software[key].high) > 1:
                return known
    return replace(known, software=software)


def attention_scaled(known: Tables, generation: str, factor: float) -> Tables:
    """Tables with the attention share of one generation multiplied."""
    efficiency = dict(known.efficiency)
    key = ("attention", generation, "*", "*")
    old = efficiency.get(key) or efficiency["attention", "*", "*", "*"]
    value = min(0.85, float(old.bounds.expected) * factor)
    efficiency[key] = replace(old, bounds=Bounds.exact(value))
    return replace(known, efficiency=efficiency)


def fit(rows: Sequence[MeasuredRow]) -> tuple[Tables, list[Outcome]]:
    """Coordinate search over the software constants, efficiencies refitted at each step."""
    known, found = with_efficiencies(rows, tables(), 3)
    best = loss(found)
    generations = sorted({key_of(r)[0] for r in rows} - FIXED_ATTENTION)
    for turn in range(ROUNDS):
        power = 1 / (turn + 1)
        moves = [(lambda t, f, n=name: scaled(t, n, f), step, name) for name, step in FREE.items()]
        moves += [(lambda t, f, g=g: attention_scaled(t, g, f), 1.25, ("attention", g)) for g in generations]
        for move, step, _ in moves:
            for factor in (step**power, step**-power):
                trial, result = with_efficiencies(rows, move(known, factor), 1)
                while loss(result) < best - 1e-4:
                    best, known, found = loss(result), trial, result
                    trial, result = with_efficiencies(rows, move(known, factor), 1)
        print(f"round {turn + 1}: mean absolute log error {best:.4f}")
    return known, found


def spread(values: Sequence[float], groups: Sequence[str], between: float) -> float:
    """Standard deviation that a new source is expected to have: within the key, and between sources.

    `values` are distances from the expected logarithm. Robust: 90 % of the rows lie within QUANTILE deviations.
    """
    count = len(set(groups))
    within = float(np.quantile(np.abs(values), 0.9)) / QUANTILE if len(values) > 4 else float(np.std(values))
    return math.sqrt(max(within, between) ** 2 + between**2 / count)


def between_sources(found: Sequence[Outcome], stack: str) -> float:
    """Spread of the groups' median errors about the median of their key."""
    by_key: dict[tuple[str, str, str], dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for outcome in found:
        if key_of(outcome.row)[2] == stack:
            by_key[key_of(outcome.row)][outcome.row.group].append(outcome.log_ratio / max(outcome.matrix_share, 0.3))
    offsets = [
        float(np.median(v)) - float(np.median([x for w in groups.values() for x in w]))
        for groups in by_key.values()
        if len(groups) > 1
        for v in groups.values()
    ]
    return float(np.sqrt(np.mean(np.square(offsets)))) if offsets else 0.0


def efficiency_rows(known: Tables, found: Sequence[Outcome]) -> list[dict[str, str]]:
    """Rows of `efficiency.csv`: card and precision with each stack, then pooled over stacks, vendors and all cards."""
    between = {s: max(least, between_sources(found, s)) for s, least in LEAST_SPREAD.items()}
    print("spread between sources:", {k: round(v, 3) for k, v in between.items()})
    pools: dict[tuple[str, str, str], list[tuple[Outcome, float]]] = defaultdict(list)
    for outcome in found:
        generation, precision, stack = key_of(outcome.row)
        own = float(known.efficiency["matrix", generation, precision, "*"].bounds.expected)
        # what the efficiency would have to be for this row to come out right
        implied = math.log(own) - outcome.log_ratio / max(outcome.matrix_share, 0.3)
        vendor = outcome.row.cluster.gpu.vendor
        keys = [(generation, precision, s) for s in (stack, "*")]
        keys += [(who, precision, s) for who in (vendor, "*") for s in (stack, "*")]
        if precision == "16":
            keys += [(generation, "*", "*"), ("*", "*", stack), ("*", "*", "*")]
        for key in keys:
            pools[key].append((outcome, implied))
    return [_row(key, members, between, known) for key, members in sorted(pools.items())]


def _row(
    key: tuple[str, str, str], members: Sequence[tuple[Outcome, float]], between: Mapping[str, float], known: Tables
) -> dict[str, str]:
    generation, precision, stack = key
    groups = [outcome.row.group for outcome, _ in members]
    fitted = {k[:2]: known.efficiency["matrix", k[0], k[1], "*"] for k in {key_of(o.row) for o, _ in members}}
    middle = float(np.median([float(e.bounds.expected) for e in fitted.values()]))
    apart = [v - math.log(middle) for _, v in members]
    sigma = spread(apart, groups, between.get(stack, max(between.values())))
    if generation in ("*", "NVIDIA", "AMD"):
        sigma = math.hypot(sigma, CARRIED_OVER)  # carried over to cards of other generations
    low, high = middle * math.exp(-QUANTILE * sigma), min(HIGHEST + 0.1, middle * math.exp(QUANTILE * sigma))
    return {
        "quantity": "matrix",
        "generation": generation,
        "precision": precision,
        "stack": stack,
        "low": f"{low:.3f}",
        "expected": f"{middle:.3f}",
        "high": f"{high:.3f}",
        "rows": str(len(members) if generation not in ("*", "NVIDIA", "AMD") else 0),
        "groups": str(len(set(groups))),
        "sources": " ".join(sorted(set(groups))),
        "as_of": AS_OF,
        "note": "fitted to published training speeds",
    }


def without(known: Tables, row: MeasuredRow, kept: Sequence[MeasuredRow]) -> tuple[Tables, bool]:
    """Tables in which a card and precision that no kept row has takes the median of the others; whether it does."""
    generation, precision, _ = key_of(row)
    others = {key_of(r)[:2] for r in kept}
    if (generation, precision) in others:
        return known, False
    alike = [k for k in others if k[1] == precision] or list(others)
    middle = float(np.median([float(known.efficiency["matrix", *k, "*"].bounds.expected) for k in alike]))
    efficiency = {k: v for k, v in known.efficiency.items() if k[:3] != ("matrix", generation, precision)}
    efficiency["matrix", generation, precision, "*"] = Efficiency(Bounds.exact(middle), 0, "", "")
    return replace(known, efficiency=efficiency), True


def leave_out(rows: Sequence[MeasuredRow]) -> None:
    """Error of each family when the shares of the peak are fitted without it."""
    for family in sorted({r.family for r in rows}):
        kept = [r for r in rows if r.family != family]
        known, _ = with_efficiencies(kept, tables())
        errors: dict[tuple[str, str], list[float]] = defaultdict(list)
        for row in (r for r in rows if r.family == family):
            trial, carried = without(known, row, kept)
            where = "from other cards" if carried else "from the same cards"
            errors[key_of(row)[2], where].append(outcomes([row], trial)[0].log_ratio)
        for key, logs in sorted(errors.items()):
            print(f"{family:14s} {' '.join(key):28s} {len(logs):3d} rows  median {float(np.median(logs)):+.2f}"
                  f"  90 % below {float(np.quantile(np.abs(logs), 0.9)):.2f}")  # fmt: skip


def main(arguments: Sequence[str]) -> None:
    """Fit, report, write."""
    folder = Path(arguments[0])
    read = measured_rows(
        folder / "measurements/published.csv", folder / "models/name-aliases.csv", load_base(), "calibrate"
    )
    rows: list[MeasuredRow] = []
    left_out: dict[str, int] = defaultdict(int)
    for row in read:
        if isinstance(row, MeasuredRow) and row.precision != "fp32" and (row.group, row.method) not in EXCLUDED:
            rows.append(row)
        elif isinstance(row, MeasuredRow):
            left_out[f"{row.group} {row.method} {row.precision}: excluded"] += 1
        else:
            left_out[row.partition(" ")[2]] += 1
    rows = [r for r in rows if r.links_stated or _communication_share(r) < LITTLE_COMMUNICATION]
    print(f"{len(rows)} rows used; left out: {dict(left_out)}")
    unknown = {r.framework for r in rows if not calibrated_program(r.framework)}
    if unknown:
        raise SystemExit(f"programs to be added to the calibrated ones: {sorted(unknown)}")
    if "--leave-out" in arguments:
        leave_out(rows)
        return
    known, found = fit(rows)
    by_group: dict[tuple[str, ...], list[float]] = defaultdict(list)
    for outcome in found:
        by_group[(outcome.row.group, outcome.row.method, *key_of(outcome.row))].append(outcome.log_ratio)
    for key, logs in sorted(by_group.items()):
        print(f"{len(logs):4d} {' '.join(key):70s} median {math.exp(float(np.median(logs))):.2f}"
              f"  range {math.exp(min(logs)):.2f}-{math.exp(max(logs)):.2f}")  # fmt: skip
    for name in FREE:
        for each in PASSES if name[0] == "passes" else (name[0],):
            if (each, name[1]) in known.software:
                print(each, name[1], f"{float(known.software[each, name[1]].expected):.4g}")
    for key, value in known.efficiency.items():
        if key[0] == "attention":
            print(*key, f"{float(value.bounds.expected):.3f}")
    fitted = efficiency_rows(known, found)
    if "--dry-run" not in arguments:
        write(known, fitted)


def _communication_share(row: MeasuredRow) -> float:
    hardware = hardware_block([row.cluster], precision=row.precision, framework=row.framework)
    speed = training_speed(row.architecture, row.job, row.layout, hardware).at()
    shares = {t.name: t.expected / speed.step_seconds.expected for t in speed.terms}
    return shares["speed.communication"]


def write(known: Tables, fitted: Sequence[dict[str, str]]) -> None:
    """The two tables: fitted rows replaced, the others as they are."""
    path = FOLDER / "efficiency.csv"
    kept = [r for r in _read(path) if r["quantity"] != "matrix" or r["groups"] == "0"]  # from the literature
    for row in kept:
        key = (row["quantity"], row["generation"], row["precision"], row["stack"])
        _rescale(row, float(known.efficiency[key].bounds.expected))
    _save(path, [*kept, *fitted])
    path = FOLDER / "software.csv"
    rows = _read(path)
    names = {(each, name[1]) for name in FREE for each in (PASSES if name[0] == "passes" else (name[0],))}
    for row in rows:
        if (row["name"], row["stack"]) in names:
            _rescale(row, float(known.software[row["name"], row["stack"]].expected))
    _save(path, rows)


def _rescale(row: dict[str, str], expected: float) -> None:
    """A new expected value; low and high keep their distance as factors."""
    old = float(row["expected"])
    for name in ("low", "expected", "high"):
        row[name] = f"{float(row[name]) / old * expected:.4g}"


def _read(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


def _save(path: Path, rows: Sequence[Mapping[str, str]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


if __name__ == "__main__":
    main(sys.argv[1:])
