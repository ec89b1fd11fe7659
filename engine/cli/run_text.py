"""What was read of a training configuration, for the command line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rich.text import Text

from engine.cli.answers import findings_json
from engine.cli.text import console, heading, table
from engine.i18n import Language
from engine.runs.result import RunFile

__all__ = ["is_run", "print_run", "run_answer"]


def is_run(path: Path) -> bool:
    """Whether a path is that of a training configuration or a script that starts one."""
    from engine.runs.read import looks_like_run

    return path.exists() and looks_like_run(path)


def run_answer(run: RunFile, language: Language) -> dict[str, Any]:
    """As JSON: the case, and every key of the file under what became of it."""
    return {
        "program": run.program,
        "case": run.case,
        "used": [u.model_dump() for u in run.used],
        "defaults": [u.model_dump() for u in run.defaults],
        "left": [k.model_dump() for k in run.left],
        "asked": list(run.asked),
        "notes": findings_json(run.notes, language),
    }


def print_run(run: RunFile, language: Language) -> None:
    """For people: what was used, what the program takes unsaid, what was not used and why, what is still asked."""
    out = console()
    heading(
        out, language.fill("{file}, read as a configuration of {program}", file=run.file or "-", program=run.program)
    )
    made = table(language.gettext("Key"), language.gettext("Value"), language.gettext("Decides"))
    for use in run.used:
        value = f"{use.value} → {use.taken}" if use.taken and use.taken != use.value else use.value
        made.add_row(Text(use.key), Text(value), Text(language.label(f"run.sets.{use.sets}")))
    if run.used:
        out.print(made)
    if run.defaults:
        words = ", ".join(f"{u.key} = {u.value}" for u in run.defaults)
        out.print(Text(language.fill("Not written; the program's own default: {words}", words=words)))
    for reason in ("not_modelled", "unknown", "no_effect"):
        left = run.keys_left(reason)
        if left:
            names = ", ".join(k.key for k in left)
            style = "dim" if reason == "no_effect" else "yellow"
            out.print(Text(f"{language.label(f'run.left.{reason}')}: {names}", style=style))
    for note in run.notes:
        out.print(Text(language.text(note), style="yellow"))
    asked = [language.label(f"run.sets.{a}") for a in run.asked if a != "gpu"]
    if asked:
        names = language.gettext(", ").join(asked)
        out.print(Text(language.fill("Not said there: {names}", names=names)))
