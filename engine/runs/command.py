"""A command line pasted as text, or a shell script: options, overrides, files that it names, cards that it uses."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass, field

from engine.errors import InputError

__all__ = ["MAX_COMMAND_CHARACTERS", "Command", "find_command", "parse_command"]

MAX_COMMAND_CHARACTERS = 50_000
_MOST_WORDS = 2000
_LAUNCHERS = re.compile(
    r"(^|[\s/])(accelerate\s+launch|torchrun|deepspeed|axolotl|llamafactory-cli|llama-factory|tune\s+run|trl|swift|"
    r"python3?|torch\.distributed\.(run|launch))(\s|$)"
)
_ASSIGNMENT = re.compile(r"^(?:export\s+)?([A-Za-z_][A-Za-z0-9_]{0,60})=(\S.*)?$")
_VARIABLE = re.compile(r"\$\{?([A-Za-z_][A-Za-z0-9_]{0,60})\}?")
_OVERRIDE = re.compile(r"^[A-Za-z_][\w.]*=")
_PREFERENCES = re.compile(r"(?<![a-z])(dpo|kto|orpo|simpo|grpo|ppo|reward|rm|sft)(?![a-z])")

#: Options of launchers; a word after their value stands for itself.
_ONE_VALUE = frozenset({
    "nproc_per_node", "nnodes", "num_gpus", "num_nodes", "num_processes", "num_machines", "config", "config_file",
    "master_port", "master_addr", "main_process_port", "main_process_ip", "machine_rank", "mixed_precision",
    "rdzv_backend", "rdzv_endpoint", "rdzv_id", "include", "hostfile", "deepspeed_config",
})  # fmt: skip


@dataclass(slots=True)
class Command:
    """What a command line says. `options` without dashes; `plain` are words that belong to no option."""

    program: str = "trainer"
    options: dict[str, str | tuple[str, ...]] = field(default_factory=dict)
    overrides: dict[str, str] = field(default_factory=dict)
    plain: list[str] = field(default_factory=list)
    variables: dict[str, str] = field(default_factory=dict)
    method: str = ""

    def one(self, *names: str) -> str:
        """The first of the options that has a value."""
        for name in names:
            value = self.options.get(name, "")
            word = value[0] if isinstance(value, tuple) and value else value
            if isinstance(word, str) and word not in ("", "true"):
                return word
        return ""


def find_command(text: str, file: str) -> str:
    """The first line of a script that starts a training, continued lines joined, variables put in."""
    if len(text) > MAX_COMMAND_CHARACTERS:
        raise InputError("run.too_large", file=file, limit=MAX_COMMAND_CHARACTERS)
    lines = re.sub(r"[\\^]\r?\n", " ", text).replace("\r", "\n").split("\n")
    variables: dict[str, str] = {}
    for line in lines:
        line = line.strip()
        if not line or line.startswith(("#", "//", "REM ")):
            continue
        assigned = _ASSIGNMENT.match(line)
        if assigned and not _LAUNCHERS.search(line):
            variables[assigned[1]] = (assigned[2] or "").strip("\"'")[:1000]
            continue
        if _LAUNCHERS.search(line):
            return _VARIABLE.sub(lambda m: variables.get(m[1], m[0]), line)[:MAX_COMMAND_CHARACTERS]
    raise InputError("run.no_command", file=file)


def parse_command(line: str, file: str) -> Command:
    """Split one command line. `InputError` where its quotes do not match."""
    try:
        words = shlex.split(line, comments=True)[:_MOST_WORDS]
    except ValueError as error:
        raise InputError("run.bad_command", file=file) from error
    found = Command()
    while words and _ASSIGNMENT.match(words[0]):
        name, _, value = words.pop(0).partition("=")
        found.variables[name] = value
    _collect(found, words)
    module = found.options.pop("m", "")  # python -m, accelerate launch -m: the program's name, no setting of it
    known = " ".join((*found.plain, module if isinstance(module, str) else " ".join(module))).lower()
    if "axolotl" in known:
        found.program = "axolotl"
    elif "llamafactory" in known or "llama_factory" in known or "llama-factory" in known or "stage" in found.options:
        found.program = "llama-factory"
    elif found.plain[:1] == ["tune"]:
        found.program = "torchtune"
    elif found.plain[:1] == ["swift"]:
        found.program = "ms-swift"
    said = _PREFERENCES.search(known)
    found.method = {"rm": "reward"}.get(said[1], said[1]) if said else ""
    return found


def _collect(found: Command, words: list[str]) -> None:
    key, values = "", list[str]()

    def close() -> None:
        if key:
            found.options.setdefault(key, "true" if not values else values[0] if len(values) == 1 else tuple(values))

    for word in words:
        if len(word) > 2 and word.startswith("--"):
            close()
            name, equals, value = word[2:].partition("=")
            key, values = name.replace("-", "_")[:100], ([value] if equals else [])
            if equals:
                close()
                key = ""
        elif len(word) == 2 and word[0] == "-" and word[1].isalpha():
            close()
            key, values = word[1], []
        elif _OVERRIDE.match(word):
            close()
            key, (name, _, value) = "", word.partition("=")
            found.overrides[name[:100]] = value[:500]
        elif not key or word.endswith(".py") or (values and (key in _ONE_VALUE or len(key) == 1)):
            close()
            key = ""
            found.plain.append(word)
        else:
            values.append(word[:500])
    close()
