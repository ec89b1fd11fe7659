"""Wrong use of the command line in words, and its help in the reader's language.

Typer brings a click of its own in some versions; its classes are reached through what Typer makes public.
"""

from __future__ import annotations

from typing import Any

import typer

from engine.i18n import Language

__all__ = ["UsageError", "localised", "usage_text"]

#: What the parser raises for wrong arguments; `typer.BadParameter` is one of its kinds.
UsageError: type[Exception] = next(c for c in typer.BadParameter.__mro__ if c.__name__ == "UsageError")


def localised(command: Any, language: Language) -> Any:
    """The command with the help of all its parts translated."""
    command.short_help = None
    for one in (command, *command.params):
        words = getattr(one, "help", None)
        if words:
            one.help = language.gettext(words)
    for one in getattr(command, "commands", {}).values():
        localised(one, language)
    return command


def usage_text(error: Any, language: Language) -> str:
    """What was wrong with the arguments, and where help is."""
    path = error.ctx.command_path if error.ctx else "gpu-advisor"
    help_line = language.fill("Help: {command} --help", command=path)
    return f"{_reason(error, language)}\n{help_line}"


def _reason(error: Any, language: Language) -> str:
    kind = type(error).__name__
    if kind == "NoSuchOption":
        return language.fill("There is no option {name}.", name=error.option_name)
    if kind == "MissingParameter":
        return language.fill("{name} is missing.", name=_name(error))
    if kind == "BadOptionUsage":
        return language.fill("The option {name} needs a value.", name=error.option_name)
    if kind == "BadParameter":
        return language.fill("{name} has a value that can't be used.", name=_name(error))
    commands = getattr(error.ctx.command, "commands", None) if error.ctx else None
    if commands:
        return language.fill("There is no such command. Commands: {known}.", known=", ".join(commands))
    return language.gettext("There are too many arguments.")


def _name(error: Any) -> str:
    parameter = error.param
    if parameter is None:
        return str(error.param_hint or "")
    return str(parameter.metavar or (parameter.opts[0] if parameter.opts else parameter.name))
