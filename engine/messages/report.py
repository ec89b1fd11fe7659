"""Words of files, charts and reports that are not literal in `engine.report`."""

from __future__ import annotations

from engine.messages.mark import N_

TEMPLATES: dict[str, str] = {
    "file.no_space": N_("There is no space left to write {path}. Free some space, or choose another folder."),
    "file.not_allowed": N_(
        "{path} may not be written here ({reason}). Choose another folder, or close the program that holds the file."
    ),
    "file.is_folder": N_("{path} is a folder. Give a file name in it."),
    "file.cannot_write": N_("{path} could not be written: {reason}. What stood there before is unchanged."),
}
