"""GPU Advisor's engine: memory, speed, cost and advice for LLM jobs, without a screen.

The public face; everything heavier than the standard library is imported on first use.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

#: public name -> module that defines it
_FACE = {
    "Advice": "engine.advice.result",
    "CatalogSnapshot": "engine.hardware.model",
    "Control": "engine.control",
    "Finding": "engine.findings",
    "KnownError": "engine.errors",
    "Language": "engine.i18n",
    "Scenario": "engine.scenario",
    "advise": "engine.advice.advise",
    "load_catalog": "engine.catalog.load",
}

__all__ = ["__version__", *sorted(_FACE)]  # pyright: ignore[reportUnsupportedDunderAll]

if TYPE_CHECKING:
    from engine.advice.advise import advise as advise
    from engine.advice.result import Advice as Advice
    from engine.catalog.load import load_catalog as load_catalog
    from engine.control import Control as Control
    from engine.errors import KnownError as KnownError
    from engine.findings import Finding as Finding
    from engine.hardware.model import CatalogSnapshot as CatalogSnapshot
    from engine.i18n import Language as Language
    from engine.scenario import Scenario as Scenario


def __getattr__(name: str) -> Any:
    if name in _FACE:
        return getattr(importlib.import_module(_FACE[name]), name)
    raise AttributeError(f"module 'engine' has no attribute {name!r}")
