"""What would make it fit, in words of one language: for the window and the terminal."""

from __future__ import annotations

from engine.advice.fit_result import FitChange, FitLimit
from engine.i18n import Language

__all__ = ["explanation", "limit_words"]


def explanation(row: FitChange, language: Language) -> str:
    """What a change means, for someone who never heard of it."""
    return "\n".join(language.label(f"fit.why.{code.removeprefix('fit.')}") for code in row.codes)


def limit_words(limit: FitLimit, language: Language) -> str:
    """One limit in a sentence."""
    name = language.label(limit.code)
    if limit.most is None and limit.most_tightly is None:
        return language.fill("{name}: nothing fits with these settings", name=name)
    if limit.code == "fit.limit.model":
        if limit.most is None:
            return language.fill("{name}: {model}, tightly", name=name, model=limit.name_tightly)
        return language.fill("{name}: {model} ({size:count} parameters)", name=name, model=limit.name, size=limit.most)
    if limit.most is None:
        return language.fill(
            "{name}: {tight:int}, tightly; now {now:int}", name=name, tight=limit.most_tightly, now=limit.now
        )
    if limit.capped:
        return language.fill("{name}: {most:int} and more; now {now:int}", name=name, most=limit.most, now=limit.now)
    return language.fill(
        "{name}: {most:int} with the headroom kept, {tight:int} tightly; now {now:int}",
        name=name,
        most=limit.most,
        tight=limit.most_tightly,
        now=limit.now,
    )
