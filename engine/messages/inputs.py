"""Words for what is wrong with a value that a person typed or a scenario file holds."""

from __future__ import annotations

from engine.messages.mark import N_

TEMPLATES: dict[str, str] = {
    "input.missing": N_("This is needed."),
    "input.greater_than": N_("Must be more than {limit:num}."),
    "input.at_least": N_("Must be at least {limit:num}."),
    "input.less_than": N_("Must be less than {limit:num}."),
    "input.at_most": N_("Must be at most {limit:num}."),
    "input.not_a_number": N_("This is not a number. Examples: 5000, 50B, 1.5M."),
    "input.not_whole": N_("A whole number is needed."),
    "input.not_a_date": N_("This is not a date. Write it as 2026-12-01."),
    "input.not_a_choice": N_("This is not one of the choices."),
    "input.currency": N_("A currency is three capital letters, such as USD or CNY."),
    "input.too_few": N_("At least {limit:num} is needed here."),
    "input.unknown_field": N_("This program does not know a field of this name."),
    "input.unusable": N_("This value can't be used."),
    "input.file_missing": N_("{path} is not there. Check the path."),
    "input.file_unreadable": N_("{path} could not be read ({reason}). Check its permissions and try again."),
    "input.file_too_large": N_(
        "{path} is larger than {limit:num} bytes, too large for a file of this kind. Is it the right one?"
    ),
    "scenario.not_json": N_("{file} is not a scenario file: it is not JSON (line {line:num})."),
    "scenario.not_an_object": N_("{file} is not a scenario file: a JSON object is expected."),
    "scenario.newer": N_(
        "{file} was written by a newer version of this program (format {found}; this version reads up to {known:num}). "
        "Update the program to open it."
    ),
    "scenario.not_a_scenario": N_(
        "{file} is not a scenario file: it has neither a format number (schema_version) nor tasks."
    ),
    "scenario.invalid": N_("{file} can't be used as it is. Field {field}, value {value}: {reason:label}."),
}

#: Why a value of a file is refused, as the end of a sentence; "reason." + the code of the problem.
LABELS: dict[str, str] = {
    "reason.input.missing": N_("it is needed but missing"),
    "reason.input.greater_than": N_("it is too small"),
    "reason.input.at_least": N_("it is too small"),
    "reason.input.less_than": N_("it is too large"),
    "reason.input.at_most": N_("it is too large"),
    "reason.input.not_a_number": N_("a number is expected"),
    "reason.input.not_whole": N_("a whole number is expected"),
    "reason.input.not_a_date": N_("a date such as 2026-12-01 is expected"),
    "reason.input.not_a_choice": N_("it is not one of the choices"),
    "reason.input.currency": N_("a currency such as USD or CNY is expected"),
    "reason.input.too_few": N_("it holds too few entries"),
    "reason.input.unknown_field": N_("this program knows no field of this name"),
    "reason.input.unusable": N_("it can't be used"),
}
