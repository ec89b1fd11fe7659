"""`N_`: marks a text for extraction without translating it yet."""

from __future__ import annotations

__all__ = ["N_"]


def N_(text: str) -> str:
    """Return `text` unchanged; the extractor of translations knows this name."""
    return text
