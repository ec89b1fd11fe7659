"""Keeping score: statistics against hand counts, and whole files of traced and measured rows."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from engine.catalog.load import load_base
from engine.control import Cancelled, Control
from engine.errors import InputError
from engine.i18n import Language
from engine.quantity import Estimate
from engine.validation.result import Comparison
from engine.validation.score import ENOUGH_ROWS, group_of, marginals
from engine.validation.validate import validate_file

CATALOG = load_base()
DATA = Path(__file__).parents[1] / "reference/data"
TRACED, MEASURED = DATA / "ground_truth_cases.csv", DATA / "measured_sample.csv"


def _comparison(measured: float, expected: float, spread: float = 0.1, **fields: object) -> Comparison:
    values = {
        "row_id": "x", "kind": "memory", "quantity": "memory", "primary": True, "method": "lora", "framework": "f",
        "gpu": "g", "memory_metric": "max_allocated", "several_gpus": False, "stated": True, "shape_guessed": False,
    }  # fmt: skip
    estimate = Estimate(low=expected * (1 - spread), expected=expected, high=expected * (1 + spread))
    return Comparison(**{**values, **fields}, measured=measured, estimate=estimate)  # type: ignore[arg-type]


def test_statistics_by_hand() -> None:
    found = group_of([_comparison(100, m) for m in (100, 110, 80, 150)], kind="memory")
    assert found.rows == 4
    assert found.median_abs_error == pytest.approx(0.15)
    assert found.max_abs_error == pytest.approx(0.5)
    assert found.bias == pytest.approx(0.05)
    assert found.coverage == pytest.approx(0.5)  # 100 lies in 90-110 and in 99-121, not in 72-88 nor in 135-165
    assert found.median_width == pytest.approx(0.2)
    assert found.median_low <= found.median_abs_error <= found.median_high


def test_the_bootstrap_repeats() -> None:
    rows = [_comparison(100, 100 + i) for i in range(20)]
    assert group_of(rows) == group_of(rows)


def test_small_groups_are_pooled_and_not_judged() -> None:
    few = [_comparison(100, 100, method=m) for m in ("a", "b")]
    many = [_comparison(100, 100, method="c")] * ENOUGH_ROWS
    groups = marginals([*few, *many])
    judged = {g.method: g.coverage_judged for g in groups if g.method}
    assert judged == {"a": False, "b": False, "c": True}
    pooled = next(g for g in groups if g.pooled == "method")
    assert pooled.rows == 2


def test_memory_of_an_unknown_kind_stands_apart() -> None:
    rows = [_comparison(100, 100), _comparison(100, 300, memory_metric="unknown")]
    groups = marginals(rows)
    overall = next(g for g in groups if g.kind == "memory" and g.memory_metric is None and g.gpus is None)
    assert overall.rows == 1
    assert next(g for g in groups if g.memory_metric == "unknown").max_abs_error == pytest.approx(2.0)


def test_all_traced_rows_are_used_and_close() -> None:
    """Every traced case through the flat vocabulary; the numbers come from traces that we did not make."""
    found = validate_file(TRACED, CATALOG)
    assert found.format == "traced"
    assert found.rows == found.used + len(found.unexpressed)
    assert found.used >= 0.85 * found.rows
    overall = found.groups[0]
    assert overall.median_abs_error < 0.001
    assert overall.p95_abs_error < 0.01
    assert overall.coverage is None  # intervals of traces are not judged
    assert overall.phase_right is not None
    assert overall.phase_right > 0.95


def test_a_sample_of_measured_rows() -> None:
    found = validate_file(MEASURED, CATALOG)
    assert found.rows == found.used + len(found.unexpressed)
    assert found.rows_by_kind.keys() == {
        "memory", "throughput", "inference_throughput", "inference_memory", "oom", "fits", "time_to_train", "gpu_hours",
    }  # fmt: skip
    assert found.used >= 0.6 * found.rows
    memory = next(g for g in found.groups if g.kind == "memory" and g.settings == "stated" and g.gpus == "one")
    assert memory.median_abs_error < 0.10
    reported = {o.reported: o for o in found.outcomes}
    assert sum(o.fits for o in found.outcomes if o.reported == "oom") <= 1  # "it fits" where it did not is the worst
    assert reported["measured"].fits + reported["measured"].fits_tightly > reported["measured"].does_not_fit
    for language in (Language("en"), Language("zh_CN")):
        assert all(language.text(u.reason) for u in found.unexpressed)


def test_one_part_of_a_file_and_a_part_that_it_lacks() -> None:
    both = [validate_file(MEASURED, CATALOG, split=s).rows for s in ("calibrate", "test")]
    assert sum(both) == validate_file(MEASURED, CATALOG).rows
    with pytest.raises(InputError, match="no_split"):
        validate_file(MEASURED, CATALOG, split="moon")


def _written(path: Path, rows: list[dict[str, str]]) -> Path:
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return path


def test_a_users_own_file_with_few_columns(tmp_path: Path) -> None:
    row = {"id": "mine", "kind": "memory", "model": "meta-llama/Llama-3.1-8B", "method": "qlora", "seq_len": "2048",
           "peak_memory_gib_per_gpu": "14", "memory_metric": "nvidia-smi", "gpu": "RTX 4090"}  # fmt: skip
    found = validate_file(_written(tmp_path / "我的.csv", [row]), CATALOG)
    assert (found.rows, found.used) == (1, 1)
    assert found.groups[0].coverage == 1.0  # nearly nothing is stated, so that the interval is wide


def test_a_bad_row_is_listed_not_dropped(tmp_path: Path) -> None:
    good = {"id": "good", "kind": "memory", "model": "meta-llama/Llama-3.1-8B", "method": "lora",
            "peak_memory_gib_per_gpu": "20", "memory_metric": "", "seq_len": "1024"}  # fmt: skip
    bad = {**good, "id": "bad", "seq_len": "long"}
    worse = {**good, "id": "worse", "method": "grpo"}
    found = validate_file(_written(tmp_path / "rows.csv", [good, bad, worse]), CATALOG)
    assert [u.id for u in found.unexpressed] == ["bad", "worse"]
    assert found.used == 1


@pytest.mark.parametrize(
    ("content", "code"),
    [
        (b"a,b\n1,2\n", "validate.unknown_columns"),
        (b"id,kind\n", "validate.empty"),
        (b"", "validate.unknown_columns"),
        (b"\xff\xfe\x00", "case.not_text"),
    ],
)
def test_another_file_is_refused(tmp_path: Path, content: bytes, code: str) -> None:
    path = tmp_path / "other.csv"
    path.write_bytes(content)
    with pytest.raises(InputError) as caught:
        validate_file(path, CATALOG)
    assert caught.value.code == code
    with pytest.raises(InputError, match="file_not_found"):
        validate_file(tmp_path / "missing.csv", CATALOG)


def test_scoring_can_be_called_off() -> None:
    control = Control()
    control.cancel()
    with pytest.raises(Cancelled):
        validate_file(MEASURED, CATALOG, control=control)
