"""What the headers of weight files say: how many tensors of which number format, and how many bytes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from engine.quantity import Frozen

__all__ = ["StoredKind", "Tally", "merged"]


class StoredKind(Frozen):
    """All tensors of one number format: its name as the file has it, elements, and bytes of their data."""

    dtype: str
    tensors: int
    elements: int
    bytes: int


@dataclass(slots=True)
class Tally:
    """Sums over tensors, by number format; and each tensor's format and elements by its name."""

    kinds: dict[str, tuple[int, int, int]] = field(default_factory=dict)
    named: dict[str, tuple[str, int]] = field(default_factory=dict)

    def add(self, name: str, dtype: str, elements: int, size: int) -> None:
        """One tensor."""
        tensors, before, held = self.kinds.get(dtype, (0, 0, 0))
        self.kinds[dtype] = (tensors + 1, before + elements, held + size)
        self.named[name] = (dtype, elements)

    @property
    def stored(self) -> tuple[StoredKind, ...]:
        """By number format, the largest part first."""
        made = (StoredKind(dtype=d, tensors=t, elements=e, bytes=b) for d, (t, e, b) in self.kinds.items())
        return tuple(sorted(made, key=lambda k: (-k.bytes, k.dtype)))

    @property
    def bytes(self) -> int:
        """Bytes of all data."""
        return sum(b for _t, _e, b in self.kinds.values())

    @property
    def elements(self) -> int:
        """Elements of all tensors."""
        return sum(e for _t, e, _b in self.kinds.values())

    @property
    def tensors(self) -> int:
        """Number of tensors."""
        return sum(t for t, _e, _b in self.kinds.values())


def merged(tallies: Iterable[Tally]) -> Tally:
    """The sum over several files."""
    whole = Tally()
    for one in tallies:
        for dtype, (tensors, elements, size) in one.kinds.items():
            t, e, b = whole.kinds.get(dtype, (0, 0, 0))
            whole.kinds[dtype] = (t + tensors, e + elements, b + size)
        whole.named |= one.named
    return whole
