"""Words that several areas use."""

from __future__ import annotations

from engine.messages.mark import N_

LABELS: dict[str, str] = {
    "info": N_("Note"),
    "advice": N_("Advice"),
    "warning": N_("Warning"),
    "serious": N_("Serious"),
}

TEMPLATES: dict[str, str] = {}
