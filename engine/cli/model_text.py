"""What the files of a model hold, for the command line."""

from __future__ import annotations

from typing import Any

from rich.text import Text

from engine.architecture.checkpoint import ModelFile
from engine.cli.answers import findings_json
from engine.cli.text import console, table
from engine.i18n import Language

__all__ = ["file_answer", "print_file"]


def file_answer(file: ModelFile, language: Language) -> dict[str, Any]:
    """As JSON, beside the dimensions."""
    return {
        "file": {
            "kind": file.kind,
            "files": list(file.files),
            "stored_bytes": file.stored_bytes,
            "stored": [k.model_dump() for k in file.stored],
            "counted_parameters": file.counted_parameters or None,
            "format": file.file_format,
            "notes": findings_json(file.notes, language),
        }
    }


def print_file(file: ModelFile, language: Language) -> None:
    """For people: number formats and sizes, and what is to be known about the files."""
    out = console()
    if file.stored:
        made = table(
            language.gettext("Number format"),
            language.gettext("Tensors"),
            language.gettext("Elements"),
            language.gettext("Size"),
            right=(1, 2, 3),
        )
        for kind in file.stored:
            size = language.gib(kind.bytes)
            made.add_row(
                Text(kind.dtype),
                Text(language.number(kind.tensors, 0)),
                Text(language.count(kind.elements)),
                Text(size),
            )
        out.print(made)
    if file.stored_bytes:
        files = sum(name != "config.json" for name in file.files)
        words = language.fill(
            "Size of the weights: {size:gib}; number of files: {files:int}.", size=file.stored_bytes, files=files
        )
        out.print(Text(words))
    if file.file_format:
        out.print(Text(language.fill("Format of the file: {name}", name=file.file_format)))
    for note in file.notes:
        out.print(Text(language.text(note), style="yellow"))
