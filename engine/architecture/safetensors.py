"""Headers of safetensors files: names, number formats and shapes of the tensors. The data is never read.

Format (safetensors README): eight bytes, little-endian, the length N of the header; N bytes of JSON
`{name: {"dtype", "shape", "data_offsets": [begin, end]}}`; then the data.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from engine.architecture.tensors import Tally
from engine.errors import InputError, WorldError

__all__ = ["MAX_HEADER_BYTES", "read_safetensors"]

#: The largest published headers have under 2 MB a file; JSON of this size parses in a fifth of a second.
MAX_HEADER_BYTES = 10_000_000
_MOST_ELEMENTS = 10**14
#: Bits of one element.
_BITS = {
    "F64": 64, "F32": 32, "F16": 16, "BF16": 16, "F8_E4M3": 8, "F8_E5M2": 8, "F8_E8M0": 8, "F8_E4M3FNUZ": 8,
    "F8_E5M2FNUZ": 8, "F6_E2M3": 6, "F6_E3M2": 6, "F4": 4, "I64": 64, "I32": 32, "I16": 16, "I8": 8, "U64": 64,
    "U32": 32, "U16": 16, "U8": 8, "BOOL": 8, "C64": 64,
}  # fmt: skip


def read_safetensors(path: Path) -> Tally:
    """Tensors of one file. `InputError` where it is no safetensors file, cut short, or contradicts itself."""
    try:
        with path.open("rb") as stream:
            size = path.stat().st_size
            length = int.from_bytes(stream.read(8), "little")
            if size < 10 or length > size - 8:
                raise InputError("model.weights_cut_short", file=str(path))
            if length > MAX_HEADER_BYTES:
                raise InputError("model.header_too_large", file=str(path), size=length, limit=MAX_HEADER_BYTES)
            header = stream.read(length)
    except FileNotFoundError as error:
        raise InputError("model.file_not_found", file=str(path)) from error
    except OSError as error:
        raise WorldError("model.unreadable", file=str(path), reason=error.strerror or str(error)) from error
    try:
        table = json.loads(header)
    except (RecursionError, ValueError) as error:
        raise InputError("model.bad_header", file=str(path)) from error
    if not isinstance(table, dict):
        raise InputError("model.bad_header", file=str(path))
    tally = Tally()
    end = 0
    for name, entry in table.items():
        if name != "__metadata__":
            end = max(end, _add(tally, name, entry, str(path)))
    if end > size - 8 - length:
        raise InputError("model.weights_cut_short", file=str(path))
    return tally


def _add(tally: Tally, name: str, entry: Any, where: str) -> int:
    """Count one tensor; where its data ends."""
    if not isinstance(entry, Mapping):
        raise InputError("model.bad_header", file=where)
    dtype: Any = entry.get("dtype")
    shape, offsets = _counts(entry.get("shape"), 16), _counts(entry.get("data_offsets"), 2)
    if not isinstance(dtype, str) or shape is None or offsets is None or len(offsets) != 2:
        raise InputError("model.bad_header", file=where)
    elements, size = math.prod(shape), offsets[1] - offsets[0]
    known = _BITS.get(dtype)
    if elements > _MOST_ELEMENTS or size < 0 or (known is not None and size != -(-elements * known // 8)):
        raise InputError("model.bad_tensor", file=where, tensor=name[:80])
    tally.add(name, dtype[:20], elements, size)
    return offsets[1]


def _counts(value: Any, most: int) -> list[int] | None:
    """A short list of whole numbers of a size that a file can have; None where this is none."""
    if not isinstance(value, list) or len(value) > most:
        return None
    right = all(isinstance(x, int) and not isinstance(x, bool) and 0 <= x < 2**63 for x in value)
    return [int(x) for x in value] if right else None
