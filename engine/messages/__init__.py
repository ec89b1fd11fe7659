"""All sentences and labels of the engine, by code. One module an area; every code is defined exactly once.

`TEMPLATES` maps a code to an English sentence with fields such as ``{needed:gib}``; `LABELS` maps a label code
(term names, enumeration values) to a short English label. `N_` marks text for extraction; `engine.i18n.Language`
translates and fills in. A template names exactly the parameters that its finding or error carries.
"""

from __future__ import annotations

import importlib
import pkgutil

__all__ = ["LABELS", "N_", "TEMPLATES"]

from engine.messages.mark import N_

TEMPLATES: dict[str, str] = {}
LABELS: dict[str, str] = {}


def _collect() -> None:
    for info in sorted(pkgutil.iter_modules(__path__), key=lambda m: m.name):
        if info.name == "mark":
            continue
        module = importlib.import_module(f"{__name__}.{info.name}")
        for target, name in ((TEMPLATES, "TEMPLATES"), (LABELS, "LABELS")):
            part: dict[str, str] = getattr(module, name, {})
            twice = target.keys() & part.keys()
            if twice:
                raise RuntimeError(f"defined twice in engine.messages: {sorted(twice)}")
            target.update(part)


_collect()
