"""`gpu-advisor launch`: how the first recommended plan of a scenario is started."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from engine.advice.advise import advise
from engine.catalog.load import load_catalog
from engine.cli.text import console, heading
from engine.errors import InputError
from engine.examples import scenario_or_example
from engine.files import write_atomically
from engine.i18n import Language
from engine.launch.recipes import recipes_of
from engine.launch.result import Recipe
from engine.report.naming import plan_name

__all__ = ["chosen_recipe", "launch_answer", "print_launch", "recipes_of_file", "save_recipe"]


def recipes_of_file(path: Path, task: str | None, language: Language) -> tuple[str, tuple[Recipe, ...]]:
    """The name of the plan and all ways to start its task (the first one unless told); empty where nothing works."""
    scenario, catalog = scenario_or_example(path, language), load_catalog()
    known = [t.id for t in scenario.tasks]
    if task is not None and task not in known:
        raise InputError("cli.no_such_task", task=task, known=", ".join(known))
    advice = advise(scenario, catalog)
    if not advice.picks:
        return "", ()
    plan = advice.ranked[advice.picks[0].index]
    return plan_name(plan.plan, language), recipes_of(scenario, catalog, plan, task or known[0])


def launch_answer(plan: str, recipes: tuple[Recipe, ...], language: Language) -> dict[str, Any]:
    """All of it as JSON."""
    return {
        "plan": plan,
        "programs": [
            {
                "program": r.program,
                "command": r.command,
                "files": {f.name: f.content for f in r.files},
                "notes": [language.label(n) for n in r.notes],
                "source": r.source,
            }
            for r in recipes
        ],
    }


def print_launch(plan: str, recipes: tuple[Recipe, ...], language: Language) -> None:
    """The settings of each program, as they can be copied."""
    out = console()
    heading(out, plan)
    for recipe in recipes:
        heading(out, recipe.program)
        for note in recipe.notes:
            out.print(f"• {language.label(note)}", highlight=False)
        print(recipe.text)


def chosen_recipe(recipes: tuple[Recipe, ...], program: str | None) -> tuple[Recipe, ...]:
    """The settings of one program, or all of them; `InputError` where it is not among them."""
    if program is None:
        return recipes
    found = tuple(r for r in recipes if r.program.lower() == program.lower())
    if not found:
        raise InputError("cli.no_such_program", program=program, known=", ".join(r.program for r in recipes))
    return found


def save_recipe(recipe: Recipe, folder: Path) -> list[Path]:
    """Write the command and the files into a folder; `InputError` where one is there already."""
    parts = {"start.sh": recipe.command + "\n", **{f.name: f.content for f in recipe.files}}
    there = [name for name in parts if (folder / name).exists()]
    if there:
        raise InputError("cli.file_there", path=str(folder / there[0]))
    return [write_atomically(folder / name, content.encode("utf-8")) for name, content in parts.items()]
