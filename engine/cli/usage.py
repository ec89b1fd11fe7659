"""Wrong use of the command line in words, and its help in the reader's language.

Typer brings a click of its own in some versions; its classes are reached through what Typer makes public.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import typer

from engine.i18n import Language
from engine.messages.mark import N_

__all__ = ["UsageError", "localised", "usage_text"]

#: What the parser raises for wrong arguments; `typer.BadParameter` is one of its kinds.
UsageError: type[Exception] = next(c for c in typer.BadParameter.__mro__ if c.__name__ == "UsageError")
#: Headings that the parser's help has of its own.
HEADINGS = {"Arguments": N_("Arguments:"), "Options": N_("Options:"), "Commands": N_("Commands:")}
#: What a parameter takes, in place of names of types; the same in every language, so that the columns stay straight.
KINDS = {
    " <path>": "",
    "<path>": "FILE",
    "<str>": "TEXT",
    "<int>": "N",
    "<int range>": "N",
    "<float>": "N",
    "<float range>": "N",
}
#: What the parser adds behind the help of a parameter: its default, its range, whether it is required.
_ADDED = re.compile(r"(?:^|(?<=  ))\[([^\[\]]+)\]$")
_KIND = re.compile(r" ?<path>|<(?:str|int|float)(?: range)?>")


def localised(command: Any, language: Language) -> Any:
    """The command with the help of all its parts translated, the parser's own words included."""
    command.context_class = _context_class(command.context_class, language)
    command.options_metavar = language.gettext("[OPTIONS]")
    if hasattr(command, "subcommand_metavar"):
        command.subcommand_metavar = language.gettext("COMMAND [ARGS]...")
    own_help = command.get_help_option(command.context_class(command))
    if own_help is not None:
        own_help.help = language.gettext("Show this message and exit.")
    command.short_help = None
    for one in (command, *command.params):
        words = getattr(one, "help", None)
        if words:
            one.help = language.gettext(words)
    for one in getattr(command, "commands", {}).values():
        localised(one, language)
    return command


def _context_class(plain: Any, language: Language) -> Any:
    """The parser's context, whose help is set in the reader's language.

    The parser looks its words up in the process's own catalogue, if at all; so they are put in where they are written.
    """
    usual: Any = plain.formatter_class

    class Formatter(usual):
        """The parser's layout with our words."""

        def write_usage(self, prog: str, args: str = "", prefix: str | None = None) -> None:
            super().write_usage(prog, args, language.gettext("Usage: ") if prefix is None else prefix)

        def write_heading(self, heading: str) -> None:
            self.write(" " * self.current_indent + language.gettext(HEADINGS.get(heading, f"{heading}:")) + "\n")

        def write_dl(self, rows: Sequence[tuple[str, str]], *args: Any, **named: Any) -> None:
            said = [
                (_KIND.sub(lambda kind: KINDS[kind.group()], first), _with_additions(text, language))
                for first, text in rows
            ]
            super().write_dl(said, *args, **named)

    return type("Context", (plain,), {"formatter_class": Formatter})


def _with_additions(text: str, language: Language) -> str:
    """The help of a parameter with what the parser adds to it in this language."""
    return _ADDED.sub(lambda added: f"[{'; '.join(_added(a, language) for a in added[1].split('; '))}]", text)


def _added(words: str, language: Language) -> str:
    if words == "required":
        return language.gettext("required")
    name, _, value = words.partition(": ")
    return language.fill("default: {value}", value=value) if name == "default" else words


def usage_text(error: Any, language: Language) -> str:
    """What was wrong with the arguments, and where help is; the help itself where nothing was given."""
    if type(error).__name__ == "NoArgsIsHelpError":
        return str(error.ctx.get_help())
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
