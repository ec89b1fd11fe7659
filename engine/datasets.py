"""Counting a data set offline: examples, the distribution of their lengths, and tokens estimated from characters.

No tokenizer is asked: which one is right depends on the model, and none is bundled. Characters are counted exactly, by
kind of script, and turned into tokens by ratios with a range (see `RATIOS`), so the answer is an `Estimate`.

Time and memory are bounded: files are streamed, one record at a time; beyond `READ_LIMIT_BYTES` evenly spaced parts of
a line-based file are read (the beginning, of a CSV file) and scaled up, which the answer says (`sampled`).
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Literal, TypeAlias

import numpy as np

from engine.control import Control
from engine.errors import InputError, WorldError
from engine.quantity import Estimate, Frozen

__all__ = ["DATA_ENDINGS", "RATIOS", "READ_LIMIT_BYTES", "TABLE_ENDINGS", "DatasetCount", "Ratio", "count_dataset"]

#: Bytes that are read of one file; about five seconds of work on one core.
READ_LIMIT_BYTES = 256 * 2**20
#: Parts of a large file that are read.
PARTS = 64
#: A record longer than this is not an example: the file is probably one large JSON document.
RECORD_LIMIT_BYTES = 32 * 2**20
#: Examples whose lengths are kept for the distribution; beyond, every n-th is kept.
LENGTHS_KEPT = 1_000_000
#: Tokens that a chat template puts around one message: start, role, line break, end, line break
#: (ChatML, as written by the chat templates of the Qwen models).
TOKENS_PER_MESSAGE = 5
#: Records between two looks at the control.
CHECK_EVERY = 500


class Ratio(Frozen):
    """Tokens per character of one kind of script."""

    low: float
    expected: float
    high: float
    source: str


#: Tokens per character. Chinese stands for all scripts without spaces between words (Han, kana, hangul).
RATIOS: dict[Literal["chinese", "other"], Ratio] = {
    "chinese": Ratio(
        low=0.55,
        expected=0.60,
        high=0.91,
        source=(
            "DeepSeek API documentation, token usage: about 0.6 tokens a Chinese character; Qwen documentation, key "
            "concepts: 1.5 to 1.8 characters a token; Cohere multilingual-22-12 model card: 1.1 characters a token"
        ),
    ),
    "other": Ratio(
        low=0.21,
        expected=0.25,
        high=0.33,
        source=(
            "Qwen documentation, key concepts: 3 to 4 English characters a token; DeepSeek API documentation, token "
            "usage: about 0.3 tokens a character; Cohere multilingual-22-12 model card: 4.8 characters a token"
        ),
    ),
}

#: Han ideographs (with extensions A to H), kana, hangul, full-width forms and CJK punctuation.
_CHINESE = re.compile("[\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uffef\U00020000-\U000323af]")

#: Keys of a record that hold text to train on, in the formats that trainers read; where none of them is there, every
#: text of the record counts.
_TEXT_KEYS = frozenset(
    (
        "text", "content", "value", "instruction", "input", "output", "prompt", "completion", "response", "question",
        "answer", "query", "system", "history", "chosen", "rejected", "messages", "conversations", "conversation",
        "dialogue", "context", "问题", "回答", "指令", "输入", "输出", "内容", "文本",
    )
)  # fmt: skip
_MESSAGE_LISTS = frozenset(("messages", "conversations", "conversation", "dialogue"))

Format: TypeAlias = Literal["jsonl", "json", "csv", "txt"]

#: Endings of the files that can be counted.
DATA_ENDINGS: dict[str, Format] = {
    "jsonl": "jsonl",
    "ndjson": "jsonl",
    "json": "json",
    "csv": "csv",
    "tsv": "csv",
    "txt": "txt",
    "text": "txt",
    "md": "txt",
}
#: Binary tables, which take a library of over 100 MB to read: what pandas calls them, to say how they become JSONL.
TABLE_ENDINGS = {"parquet": "parquet", "arrow": "feather", "feather": "feather", "xlsx": "excel"}


class DatasetCount(Frozen):
    """What was counted. Percentiles are of tokens per example at the expected ratio."""

    file_name: str
    file_bytes: int
    format: Format
    examples: int
    characters: int
    chinese_share: float  # share of the characters that are Chinese (or kana, hangul)
    tokens: Estimate
    tokens_per_example: Estimate
    percentiles: dict[int, float]  # 50, 90, 95, 99, 100 -> tokens
    histogram: tuple[tuple[float, int], ...]  # (upper edge in tokens, examples in the bin)
    preference_pairs: bool  # records hold a chosen and a rejected answer
    fields: tuple[str, ...]  # names of the fields whose text was counted; empty for plain text
    unreadable: int  # records that were skipped
    sampled: bool  # only parts of the file were read

    def share_longer_than(self, tokens: float) -> float:
        """Share of the examples longer than a sequence length, from the histogram (linear inside a bin)."""
        longer, lower = 0.0, 0.0
        for upper, count in self.histogram:
            if lower >= tokens:
                longer += count
            elif upper > tokens:
                longer += count * (upper - tokens) / (upper - lower)
            lower = upper
        return longer / max(sum(count for _, count in self.histogram), 1)


@dataclass
class _Tally:
    """Running totals; lengths are thinned so that memory stays bounded."""

    examples: int = 0
    chinese: int = 0
    other: int = 0
    messages: int = 0
    unreadable: int = 0
    pairs: int = 0
    keep_every: int = 1

    def __post_init__(self) -> None:
        self.lengths: list[float] = []
        self.fields: dict[str, None] = {}

    def add(self, text: str, messages: int) -> None:
        chinese = len(_CHINESE.findall(text))
        other = len(text) - chinese
        self.chinese += chinese
        self.other += other
        self.messages += messages
        if self.examples % self.keep_every == 0:
            self.lengths.append(_tokens(chinese, other, messages).expected)
            if len(self.lengths) >= LENGTHS_KEPT:
                self.lengths = self.lengths[::2]
                self.keep_every *= 2
        self.examples += 1


def count_dataset(path: Path, control: Control | None = None, *, read_limit: int = READ_LIMIT_BYTES) -> DatasetCount:
    """Count the examples and estimate the tokens of a JSONL, JSON, CSV or TXT file.

    InputError: `dataset.missing`, `dataset.unknown_format`, `dataset.empty`, `dataset.not_text`,
    `dataset.not_records`, `dataset.record_too_long`. WorldError: `dataset.unreadable`.
    """
    control = control or Control()
    kind = _format_of(path)
    tally = _Tally()
    try:
        size = path.stat().st_size
        with path.open("rb") as stream:
            read, sampled = _READERS[kind](stream, path, size, read_limit, tally, control)
    except FileNotFoundError as error:
        raise InputError("dataset.missing", path=str(path)) from error
    except UnicodeDecodeError as error:
        raise InputError("dataset.not_text", file=path.name) from error
    except OSError as error:
        raise WorldError("dataset.unreadable", path=str(path), reason=error.strerror or str(error)) from error
    if not tally.examples:
        code = "dataset.not_records" if tally.unreadable else "dataset.empty"
        raise InputError(code, file=path.name)
    return _summary(path, kind, size, tally, size / read if sampled else 1.0, sampled)


def _format_of(path: Path) -> Format:
    ending = path.suffix.lower().lstrip(".")
    if ending in TABLE_ENDINGS:
        raise InputError("dataset.table", file=path.name, kind=ending, reader=TABLE_ENDINGS[ending])
    if ending not in DATA_ENDINGS:
        raise InputError("dataset.unknown_format", file=path.name)
    return DATA_ENDINGS[ending]


def _tokens(chinese: float, other: float, messages: float) -> Estimate:
    """Tokens of so many characters: characters times ratio, plus the markers of the messages."""
    zh, en, marks = RATIOS["chinese"], RATIOS["other"], messages * TOKENS_PER_MESSAGE
    return Estimate(
        low=chinese * zh.low + other * en.low,
        expected=chinese * zh.expected + other * en.expected + marks,
        high=chinese * zh.high + other * en.high + marks,
    )


def _summary(path: Path, kind: Format, size: int, tally: _Tally, scale: float, sampled: bool) -> DatasetCount:
    tokens = _tokens(tally.chinese * scale, tally.other * scale, tally.messages * scale)
    examples = round(tally.examples * scale)
    lengths = np.asarray(tally.lengths)
    marks = (50, 90, 95, 99, 100)
    top = max(float(np.percentile(lengths, 99)) * 1.05, 1.0)
    edges = np.append(np.linspace(0, top, 25), max(float(lengths.max()), top) + 1)
    counts, _ = np.histogram(lengths, edges)
    characters = tally.chinese + tally.other
    return DatasetCount(
        file_name=path.name,
        file_bytes=size,
        format=kind,
        examples=examples,
        characters=round(characters * scale),
        chinese_share=tally.chinese / characters if characters else 0.0,
        tokens=tokens,
        tokens_per_example=Estimate(
            low=tokens.low / examples, expected=tokens.expected / examples, high=tokens.high / examples
        ),
        percentiles={m: float(v) for m, v in zip(marks, np.percentile(lengths, marks), strict=True)},
        histogram=tuple((float(edge), int(n)) for edge, n in zip(edges[1:], counts, strict=True)),
        preference_pairs=tally.pairs * 2 > tally.examples,
        fields=tuple(tally.fields),
        unreadable=round(tally.unreadable * scale),
        sampled=sampled,
    )


# reading ------------------------------------------------------------------------------------------------------


def _lines(stream: BinaryIO, path: Path, size: int, limit: int, control: Control) -> Iterator[tuple[bytes, int]]:
    """Lines of a file with their size; of a large one, those of evenly spaced parts."""
    parts = 1 if size <= limit else PARTS
    length = size if parts == 1 else limit // parts
    done = seen = 0
    for part in range(parts):
        stream.seek(part * (size // parts))
        if part:
            stream.readline(RECORD_LIMIT_BYTES + 1)  # the rest of a line that began before
        left = length
        while left > 0 and (raw := stream.readline(RECORD_LIMIT_BYTES + 1)):
            if len(raw) > RECORD_LIMIT_BYTES:
                raise InputError("dataset.record_too_long", file=path.name, limit=RECORD_LIMIT_BYTES)
            left -= len(raw)
            done += len(raw)
            seen += 1
            if seen % CHECK_EVERY == 0:
                control.checkpoint(done, min(size, limit))
            yield raw, done


def _decode(raw: bytes) -> str:
    """Text of a line: UTF-8 (with or without a mark), else the Chinese national encoding."""
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        return raw.decode("gb18030")


def _read_jsonl(
    stream: BinaryIO, path: Path, size: int, limit: int, tally: _Tally, control: Control
) -> tuple[int, bool]:
    done = 0
    for raw, done in _lines(stream, path, size, limit, control):  # noqa: B007 - used after the loop
        text = _decode(raw).strip()
        if not text:
            continue
        try:
            record: Any = json.loads(text)
        except (ValueError, RecursionError):
            tally.unreadable += 1
            continue
        _take(record, tally)
    return max(done, 1), size > limit


def _read_json(
    stream: BinaryIO, path: Path, size: int, limit: int, tally: _Tally, control: Control
) -> tuple[int, bool]:
    """A list of records in one document; it has to be read whole, so it has a smaller limit."""
    if size > min(limit, READ_LIMIT_BYTES):
        raise InputError("dataset.json_too_large", file=path.name, limit=min(limit, READ_LIMIT_BYTES))
    try:
        document: Any = json.loads(_decode(stream.read()))
    except (ValueError, RecursionError) as error:
        if isinstance(error, UnicodeDecodeError):
            raise
        raise InputError("dataset.not_json", file=path.name, line=getattr(error, "lineno", 1)) from error
    if isinstance(document, dict):  # {"data": [...]}: the longest list inside
        lists = [value for value in document.values() if isinstance(value, list)]
        document = max(lists, key=len, default=[])
    for number, record in enumerate(document if isinstance(document, list) else []):
        if number % CHECK_EVERY == 0:
            control.checkpoint(number, len(document))
        _take(record, tally)
    return max(size, 1), False


def _read_txt(stream: BinaryIO, path: Path, size: int, limit: int, tally: _Tally, control: Control) -> tuple[int, bool]:
    """One example a line that is not empty."""
    done = 0
    for raw, done in _lines(stream, path, size, limit, control):  # noqa: B007 - used after the loop
        if b"\0" in raw:
            raise InputError("dataset.not_text", file=path.name)
        text = _decode(raw).strip()
        if text:
            tally.add(text, 0)
    return max(done, 1), size > limit


def _read_csv(stream: BinaryIO, path: Path, size: int, limit: int, tally: _Tally, control: Control) -> tuple[int, bool]:
    """One example a row; a row may span lines, so a large file is read from its beginning."""
    head = stream.read(65536)
    if b"\0" in head:
        raise InputError("dataset.not_text", file=path.name)
    try:
        head[: head.rfind(b"\n") + 1 or None].decode("utf-8-sig")
        encoding = "utf-8-sig"
    except UnicodeDecodeError:
        encoding = "gb18030"
    stream.seek(0)
    text = io.TextIOWrapper(stream, encoding=encoding, errors="replace", newline="")
    csv.field_size_limit(RECORD_LIMIT_BYTES)
    dialect = "excel-tab" if path.suffix.lower() == ".tsv" else "excel"
    rows = csv.reader(text, dialect)
    done, header = 0, next(rows, [])
    try:
        for number, row in enumerate(rows):
            if number % CHECK_EVERY == 0:
                done = stream.tell()
                control.checkpoint(min(done, size), size)
                if done > limit:
                    break
            _take(dict(zip(header, row, strict=False)), tally)
    except csv.Error as error:
        raise InputError("dataset.not_csv", file=path.name, line=rows.line_num) from error
    finally:
        text.detach()
    return max(min(done, size), 1), done > limit


_Reader: TypeAlias = Callable[[BinaryIO, Path, int, int, _Tally, Control], tuple[int, bool]]
_READERS: dict[Format, _Reader] = {"jsonl": _read_jsonl, "json": _read_json, "csv": _read_csv, "txt": _read_txt}


def _take(record: Any, tally: _Tally) -> None:
    """Count one record: its text fields, or all of its text where none has a known name."""
    if isinstance(record, str):
        tally.add(record, 0)
        return
    if not isinstance(record, dict):
        tally.unreadable += 1
        return
    known = {k: v for k, v in record.items() if str(k).strip().lower() in _TEXT_KEYS and v not in (None, "")}
    counted = known or {k: v for k, v in record.items() if isinstance(v, str | list | dict)}
    texts: list[str] = []
    messages = 0
    for key, value in counted.items():
        texts.extend(_strings(value))
        if str(key).lower() in _MESSAGE_LISTS and isinstance(value, list):
            messages += len(value)
        if len(tally.fields) < 20:
            tally.fields.setdefault(str(key)[:60])
    text = "".join(texts)
    if not text.strip():
        tally.unreadable += 1
        return
    tally.pairs += "chosen" in known and "rejected" in known
    tally.add(text, messages)


def _strings(value: Any, depth: int = 0) -> Iterator[str]:
    """All text inside a value; of a message, only what it says."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list) and depth < 20:
        for item in value:
            yield from _strings(item, depth + 1)
    elif isinstance(value, dict) and depth < 20:
        said = [value[k] for k in ("content", "value", "text") if k in value]
        for item in said or value.values():
            yield from _strings(item, depth + 1)
