"""What is handed over: files with the command that uses them."""

from __future__ import annotations

from engine.quantity import Frozen

__all__ = ["LaunchFile", "Recipe"]


class LaunchFile(Frozen):
    """One file to be saved under its name."""

    name: str
    content: str


class Recipe(Frozen):
    """One program with all that it must be told; `notes` are codes of sentences."""

    program: str  # name as its makers write it
    command: str
    files: tuple[LaunchFile, ...] = ()
    notes: tuple[str, ...] = ()
    source: str = ""  # where the names of the settings are documented

    @property
    def text(self) -> str:
        """All of it as one text that can be copied."""
        parts = [self.command, *(f"# {f.name}\n{f.content.rstrip()}" for f in self.files)]
        return "\n\n".join(parts) + "\n"
