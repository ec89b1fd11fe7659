"""Characters that our fonts can print; others are written as their code point, never dropped in silence."""

from __future__ import annotations

from functools import cache
from importlib.resources import as_file, files
from pathlib import Path

__all__ = ["printable", "rare_signs_folder"]

#: Characters that need no glyph.
_LAYOUT = frozenset("\n ")


def rare_signs_folder() -> Path:
    """Folder of DejaVu Sans, which comes with matplotlib: signs and scripts that our own font lacks."""
    import matplotlib

    return Path(matplotlib.get_data_path()) / "fonts" / "ttf"


@cache
def _covered() -> frozenset[int]:
    from matplotlib.ft2font import FT2Font

    with as_file(files("resources") / "fonts" / "NotoSansSC-Regular.otf") as path:
        own = FT2Font(str(path)).get_charmap()
    other = FT2Font(str(rare_signs_folder() / "DejaVuSans.ttf")).get_charmap()
    return frozenset(own) | frozenset(other)


def printable(text: str) -> str:
    """The text with every character that neither font has written as [U+1F9EA]; tabs become spaces."""
    if text.isascii() and text.isprintable():
        return text
    covered = _covered()
    text = text.replace("\r\n", "\n").replace("\t", " ")
    return "".join(c if c in _LAYOUT or (ord(c) in covered and ord(c) >= 0x20) else f"[U+{ord(c):04X}]" for c in text)
