"""Counting data sets: exact counts, honest estimates, bounded reading, clear errors."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.control import Cancelled, Control
from engine.datasets import RATIOS, count_dataset
from engine.errors import InputError
from engine.i18n import Language


def written(path: Path, *lines: object) -> Path:
    """A JSONL file."""
    path.write_text("\n".join(json.dumps(line, ensure_ascii=False) for line in lines), encoding="utf-8")
    return path


def test_known_text_fields_are_counted_and_others_are_not(tmp_path: Path) -> None:
    path = written(tmp_path / "a.jsonl", {"id": "x" * 999, "prompt": "abcd", "completion": "efgh"})
    found = count_dataset(path)
    assert (found.examples, found.characters) == (1, 8)
    assert set(found.fields) == {"prompt", "completion"}


def test_messages_count_what_they_say_and_their_markers(tmp_path: Path) -> None:
    record = {"messages": [{"role": "user", "content": "abcd"}, {"role": "assistant", "content": "efgh"}]}
    found = count_dataset(written(tmp_path / "a.jsonl", record))
    assert found.characters == 8
    assert found.tokens.expected == pytest.approx(8 * RATIOS["other"].expected + 2 * 5)
    assert found.tokens.low == pytest.approx(8 * RATIOS["other"].low)


def test_chinese_characters_have_a_ratio_of_their_own(tmp_path: Path) -> None:
    found = count_dataset(written(tmp_path / "a.jsonl", {"text": "显存" * 50}, {"text": "abcd" * 25}))
    assert found.chinese_share == pytest.approx(0.5)
    assert found.tokens.expected == pytest.approx(100 * 0.60 + 100 * 0.25)
    assert found.tokens.low < found.tokens.expected < found.tokens.high


def test_published_ratios_lie_inside_the_range() -> None:
    """DeepSeek: 0.6 and 0.3; Qwen: 1/1.8 to 1/1.5 and 1/4 to 1/3; Cohere: 1/1.1 and 1/4.8 tokens a character."""
    for kind, published in (("chinese", (0.6, 1 / 1.8, 1 / 1.5, 1 / 1.1)), ("other", (0.3, 1 / 4, 1 / 3, 1 / 4.8))):
        ratio = RATIOS["chinese" if kind == "chinese" else "other"]
        assert all(ratio.low - 0.01 <= value <= ratio.high + 0.01 for value in published)


def test_preference_pairs_are_recognised(tmp_path: Path) -> None:
    row = {"prompt": "a", "chosen": "b", "rejected": "c"}
    assert count_dataset(written(tmp_path / "a.jsonl", row)).preference_pairs
    assert not count_dataset(written(tmp_path / "b.jsonl", {"text": "a"})).preference_pairs


def test_csv_rows_may_span_lines_and_be_chinese(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    with path.open("w", encoding="gb18030", newline="") as stream:
        csv.writer(stream).writerows([["question", "answer"], ["第一行\n第二行", "好"], ["问", "答"]])
    found = count_dataset(path)
    assert found.examples == 2
    assert found.fields == ("question", "answer")
    assert found.chinese_share > 0.8


def test_text_files_have_an_example_a_line(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("one\n\n two \nthree\n", encoding="utf-8-sig")
    assert count_dataset(path).examples == 3


def test_a_json_list_and_a_list_inside_an_object(tmp_path: Path) -> None:
    rows = [{"text": "a"}, {"text": "b"}, {"text": ""}]
    (tmp_path / "a.json").write_text(json.dumps(rows))
    (tmp_path / "b.json").write_text(json.dumps({"data": rows, "version": [1]}))
    for name in ("a.json", "b.json"):
        found = count_dataset(tmp_path / name)
        assert (found.examples, found.unreadable) == (2, 1)


@given(lengths=st.lists(st.integers(1, 3000), min_size=1, max_size=60))
@settings(max_examples=30, deadline=None)
def test_the_distribution_holds_every_example(tmp_path_factory: pytest.TempPathFactory, lengths: list[int]) -> None:
    path = written(tmp_path_factory.mktemp("d") / "a.jsonl", *({"text": "a" * n} for n in lengths))
    found = count_dataset(path)
    assert found.examples == len(lengths)
    assert sum(count for _, count in found.histogram) == len(lengths)
    assert found.percentiles[100] == pytest.approx(max(lengths) * 0.25)
    assert found.tokens.expected == pytest.approx(sum(lengths) * 0.25)
    shares = [found.share_longer_than(x) for x in (0, 50, 200, 1000, 10**6)]
    assert shares == sorted(shares, reverse=True)
    assert (shares[0], shares[-1]) == (pytest.approx(1), 0)


def test_a_large_file_is_sampled_evenly_and_says_so(tmp_path: Path) -> None:
    path = written(tmp_path / "a.jsonl", *({"text": "a" * (20 if n < 20000 else 60)} for n in range(40000)))
    whole = count_dataset(path)
    part = count_dataset(path, read_limit=path.stat().st_size // 8)
    assert part.sampled
    assert not whole.sampled
    assert part.examples == pytest.approx(whole.examples, rel=0.03)
    assert part.tokens.expected == pytest.approx(whole.tokens.expected, rel=0.03)


def test_counting_can_be_called_off(tmp_path: Path) -> None:
    path = written(tmp_path / "a.jsonl", *({"text": "a"} for _ in range(2000)))
    control = Control()
    control.cancel()
    with pytest.raises(Cancelled):
        count_dataset(path, control)


@pytest.mark.parametrize(
    ("name", "content", "code"),
    [
        ("a.jsonl", b"", "dataset.empty"),
        ("a.jsonl", b"not json\n[1]\n", "dataset.not_records"),
        ("a.json", b"{", "dataset.not_json"),
        ("a.parquet", b"PAR1", "dataset.table"),
        ("a.txt", b"\x00\x01\x02", "dataset.not_text"),
        ("a.csv", b"\x00\x01", "dataset.not_text"),
        ("a.jsonl", b"\x80\xff\xff\n", "dataset.not_text"),
    ],
)
@pytest.mark.parametrize("language", [Language("en"), Language("zh_CN")])
def test_what_cannot_be_counted_is_said_in_words(
    tmp_path: Path, name: str, content: bytes, code: str, language: Language
) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(InputError) as caught:
        count_dataset(path)
    assert caught.value.code == code
    assert name in language.error(caught.value)


def test_a_missing_file(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"dataset\.missing"):
        count_dataset(tmp_path / "none.jsonl")
