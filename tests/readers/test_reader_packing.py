"""How rows are filled, the forms of examples, and tables that are not read."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.datasets import DatasetCount, count_dataset
from engine.errors import InputError
from engine.i18n import Language
from engine.packing import packing_of, style_of


def data(path: Path, lengths: list[int]) -> DatasetCount:
    """Examples of so many tokens: four letters a token."""
    path.write_text("\n".join(json.dumps({"text": "abcd" * n}) for n in lengths))
    return count_dataset(path)


def test_equal_examples_fill_rows_as_arithmetic_says(tmp_path: Path) -> None:
    found = packing_of(data(tmp_path / "a.jsonl", [100] * 500), 1000)
    assert found.padded == pytest.approx(0.1, rel=0.06)  # a bin is some tokens wide
    assert found.packed == pytest.approx(1.0, abs=0.12)


def test_cut_examples_fill_their_rows(tmp_path: Path) -> None:
    found = packing_of(data(tmp_path / "a.jsonl", [900] * 50), 256)
    assert (found.padded, found.packed) == (1.0, 1.0)


def test_packing_agrees_with_packing_the_examples_themselves(tmp_path: Path) -> None:
    chance = random.Random(3)
    lengths = [int(chance.lognormvariate(5.2, 0.8)) + 1 for _ in range(3000)]
    found = packing_of(data(tmp_path / "a.jsonl", lengths), 2048)
    rows: list[int] = []
    for length in sorted((min(n, 2048) for n in lengths), reverse=True):
        place = next((i for i, left in enumerate(rows) if left >= length), None)
        if place is None:
            rows.append(2048 - length)
        else:
            rows[place] -= length
    useful = sum(min(n, 2048) for n in lengths)
    assert found.packed == pytest.approx(useful / (len(rows) * 2048), abs=0.03)
    assert found.padded == pytest.approx(useful / (len(lengths) * 2048), rel=0.05)


@given(st.lists(st.integers(1, 3000), min_size=1, max_size=40), st.integers(1, 4096))
@settings(max_examples=30, deadline=None)
def test_packing_is_never_worse_than_padding(lengths: list[int], limit: int) -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        found = packing_of(data(Path(folder) / "a.jsonl", lengths), limit)
    assert 0 < found.padded <= found.packed + 1e-9 <= 1 + 1e-9


FORMS = {
    "messages": {"messages": [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]},
    "sharegpt": {"conversations": [{"from": "human", "value": "a"}, {"from": "gpt", "value": "b"}]},
    "alpaca": {"instruction": "a", "input": "", "output": "b"},
    "preference": {"prompt": "p", "chosen": "a", "rejected": "b"},
    "prompt": {"question": "a", "answer": "b"},
    "text": {"text": "ab"},
}


@pytest.mark.parametrize("style", sorted(FORMS))
def test_the_form_of_examples_is_known(style: str, tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text(json.dumps(FORMS[style]))
    found = count_dataset(tmp_path / "a.jsonl")
    assert style_of(found) == style
    assert found.characters == 2 + (style == "preference")  # what is said, not the names of roles
    assert Language("zh_CN").label(f"dataset.style.{style}") != f"dataset.style.{style}"


@pytest.mark.parametrize("ending", ["parquet", "arrow", "xlsx"])
def test_binary_tables_are_refused_with_the_way_out(ending: str, tmp_path: Path) -> None:
    (tmp_path / f"a.{ending}").write_bytes(b"PAR1")
    with pytest.raises(InputError) as caught:
        count_dataset(tmp_path / f"a.{ending}")
    for language in (Language("en"), Language("zh_CN")):
        assert "JSONL" in language.error(caught.value)
        assert "to_json" in language.error(caught.value)
