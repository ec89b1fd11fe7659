"""Headers of GGUF files: the metadata and the list of tensors. The data is never read.

Format (ggml/docs/gguf.md, versions 2 and 3, little-endian): magic, version, number of tensors, number of metadata
pairs; the pairs; then for each tensor its name, dimensions (fastest first), type and offset.
"""

from __future__ import annotations

import math
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from engine.architecture.tensors import Tally
from engine.errors import InputError, WorldError

__all__ = ["GGML_TYPES", "GgufHeader", "read_gguf"]

#: The largest vocabularies with their merges take some 20 MB.
_MOST_HEADER_BYTES = 64 * 2**20
_MOST_PAIRS, _MOST_TENSORS, _MOST_ITEMS = 4096, 100_000, 1_500_000
_MOST_NAME_BYTES = 65_535  # of a key, by the format
_KEPT_ITEMS = 4096  # of an array: one entry a layer; vocabularies are only counted
_MOST_ELEMENTS = 10**14

#: Types of tensors: number -> name, elements of a block, bytes of a block (ggml: sizes of the block structures).
GGML_TYPES: dict[int, tuple[str, int, int]] = {
    0: ("F32", 1, 4), 1: ("F16", 1, 2), 2: ("Q4_0", 32, 18), 3: ("Q4_1", 32, 20), 6: ("Q5_0", 32, 22),
    7: ("Q5_1", 32, 24), 8: ("Q8_0", 32, 34), 9: ("Q8_1", 32, 40), 10: ("Q2_K", 256, 84), 11: ("Q3_K", 256, 110),
    12: ("Q4_K", 256, 144), 13: ("Q5_K", 256, 176), 14: ("Q6_K", 256, 210), 15: ("Q8_K", 256, 292),
    16: ("IQ2_XXS", 256, 66), 17: ("IQ2_XS", 256, 74), 18: ("IQ3_XXS", 256, 98), 19: ("IQ1_S", 256, 50),
    20: ("IQ4_NL", 32, 18), 21: ("IQ3_S", 256, 110), 22: ("IQ2_S", 256, 82), 23: ("IQ4_XS", 256, 136),
    24: ("I8", 1, 1), 25: ("I16", 1, 2), 26: ("I32", 1, 4), 27: ("I64", 1, 8), 28: ("F64", 1, 8),
    29: ("IQ1_M", 256, 56), 30: ("BF16", 1, 2), 34: ("TQ1_0", 256, 54), 35: ("TQ2_0", 256, 66),
    39: ("MXFP4", 32, 17), 40: ("NVFP4", 64, 36),
}  # fmt: skip
_SCALARS = {0: "<B", 1: "<b", 2: "<H", 3: "<h", 4: "<I", 5: "<i", 6: "<f", 7: "<?", 10: "<Q", 11: "<q", 12: "<d"}
_STRING, _ARRAY = 8, 9


@dataclass(frozen=True, slots=True)
class GgufHeader:
    """Metadata by key (long arrays as their length alone, under `lengths`), tensors, and shapes by name."""

    pairs: dict[str, Any]
    lengths: dict[str, int]
    tensors: Tally
    shapes: dict[str, tuple[int, ...]]


class _Cursor:
    """Reads the beginning of a file, checked at each step."""

    def __init__(self, data: bytes, where: str, *, whole: bool) -> None:
        self.data, self.at, self.where, self.whole = data, 0, where, whole
        self.items = 0

    def broken(self) -> InputError:
        """The file ends in the middle, or the header is longer than any that is read."""
        if self.whole:
            return InputError("model.weights_cut_short", file=self.where)
        return InputError("model.header_too_large", file=self.where, size=self.at, limit=_MOST_HEADER_BYTES)

    def scalar(self, form: str) -> Any:
        try:
            (value,) = struct.unpack_from(form, self.data, self.at)
        except struct.error as error:
            raise self.broken() from error
        self.at += struct.calcsize(form)
        return value

    def take(self, length: int) -> bytes:
        if length > len(self.data) - self.at:
            raise self.broken()
        self.at += length
        return self.data[self.at - length : self.at]

    def text(self, most: int = _MOST_HEADER_BYTES) -> str:
        length = self.scalar("<Q")
        if length > most:
            raise InputError("model.bad_header", file=self.where)
        return self.take(length).decode("utf-8", errors="replace")

    def skip_texts(self, count: int) -> None:
        data, at, unpack = self.data, self.at, struct.Struct("<Q").unpack_from
        end = len(data) - 8
        for _ in range(count):
            if at > end:
                raise self.broken()
            at += 8 + unpack(data, at)[0]
        if at > len(data):
            raise self.broken()
        self.at = at


def read_gguf(path: Path) -> GgufHeader:
    """The header of one file. `InputError` where it is no GGUF file, cut short, or contradicts itself."""
    try:
        with path.open("rb") as stream:
            data = stream.read(_MOST_HEADER_BYTES)
            size = path.stat().st_size
    except FileNotFoundError as error:
        raise InputError("model.file_not_found", file=str(path)) from error
    except OSError as error:
        raise WorldError("model.unreadable", file=str(path), reason=error.strerror or str(error)) from error
    where = str(path)
    if data[:4] != b"GGUF":
        raise InputError("model.not_gguf", file=where)
    cursor = _Cursor(data, where, whole=size <= len(data))
    cursor.at = 4
    version = cursor.scalar("<I")
    if version not in (2, 3):
        raise InputError("model.gguf_version", file=where, version=version)
    tensors, pairs = cursor.scalar("<Q"), cursor.scalar("<Q")
    if tensors > _MOST_TENSORS or pairs > _MOST_PAIRS:
        raise InputError("model.bad_header", file=where)
    found, lengths = _pairs(cursor, pairs)
    header = _tensors(cursor, tensors, found, lengths)
    start = -(-cursor.at // 32) * 32 if tensors else cursor.at
    if start + header.tensors.bytes > size + 32:  # the last tensor need not be padded
        raise InputError("model.weights_cut_short", file=where)
    return header


def _pairs(cursor: _Cursor, count: int) -> tuple[dict[str, Any], dict[str, int]]:
    found: dict[str, Any] = {}
    lengths: dict[str, int] = {}
    for _ in range(count):
        key = cursor.text(_MOST_NAME_BYTES)
        kind = cursor.scalar("<I")
        if kind == _ARRAY:
            lengths[key], found[key] = _array(cursor)
        else:
            found[key] = _value(cursor, kind)
    return found, lengths


def _value(cursor: _Cursor, kind: int) -> Any:
    if kind == _STRING:
        return cursor.text()
    if kind not in _SCALARS:
        raise InputError("model.bad_header", file=cursor.where)
    return cursor.scalar(_SCALARS[kind])


def _array(cursor: _Cursor) -> tuple[int, list[Any] | None]:
    """Length and, of a short one of numbers, its entries."""
    kind, count = cursor.scalar("<I"), cursor.scalar("<Q")
    if kind == _STRING:
        cursor.items += count
        if cursor.items > _MOST_ITEMS:
            raise InputError("model.bad_header", file=cursor.where)
        cursor.skip_texts(count)
        return count, None
    if kind not in _SCALARS:
        raise InputError("model.bad_header", file=cursor.where)
    width = struct.calcsize(_SCALARS[kind])
    raw = cursor.take(count * width)
    if count > _KEPT_ITEMS:
        return count, None
    return count, list(struct.unpack(f"<{count}{_SCALARS[kind][1]}", raw))


def _tensors(cursor: _Cursor, count: int, pairs: dict[str, Any], lengths: dict[str, int]) -> GgufHeader:
    tally, shapes = Tally(), dict[str, tuple[int, ...]]()
    for _ in range(count):
        name = cursor.text(_MOST_NAME_BYTES)
        dimensions = cursor.scalar("<I")
        if dimensions > 8:
            raise InputError("model.bad_header", file=cursor.where)
        shape = tuple(cursor.scalar("<Q") for _ in range(dimensions))
        kind = cursor.scalar("<I")
        cursor.scalar("<Q")  # offset of the data
        elements = math.prod(shape)
        if kind not in GGML_TYPES or elements > _MOST_ELEMENTS:
            raise InputError("model.bad_tensor", file=cursor.where, tensor=name[:80])
        label, block, size = GGML_TYPES[kind]
        if elements % block:
            raise InputError("model.bad_tensor", file=cursor.where, tensor=name[:80])
        tally.add(name, label, elements, elements // block * size)
        shapes[name] = shape
    return GgufHeader(pairs, lengths, tally, shapes)
