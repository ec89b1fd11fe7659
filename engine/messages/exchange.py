"""Words for tables and packs of the catalogue: what was read, refused, and why."""

from __future__ import annotations

from engine.messages.mark import N_

TEMPLATES: dict[str, str] = {
    # a whole table
    "import.unreadable": N_("{path} can't be read: {detail}"),
    "import.too_large": N_("A table of more than {limit:int} MB is not read. Split it."),
    "import.encoding": N_(
        "The characters of this table could not be recognised. Save it as UTF-8 (in a spreadsheet: “CSV UTF-8”) and "
        "try again."
    ),
    "import.too_many_columns": N_("A table of more than {limit:int} columns is not read."),
    "import.too_many_rows": N_("A table of more than {limit:int} rows is not read. Split it."),
    "import.long_cell": N_(
        "Line {line:int}: a cell holds more than {limit:int} characters; a quotation mark may be missing."
    ),
    "import.broken_table": N_("Line {line:int} can't be read as a row of a table: {detail}"),
    "import.empty": N_("The table is empty: it needs a line of headings and at least one row below it."),
    "import.no_columns": N_("None of the headings is known ({heads}). Name the columns as in an exported table."),
    "import.column_twice": N_("Two columns mean the same: {field:label}. Remove one of them."),
    "import.unknown_field": N_("Rows of this kind have no field {name}."),
    # one row
    "import.missing": N_("{field:label} is missing."),
    "import.not_a_number": N_("{field:label}: “{value}” is not a number."),
    "import.not_finite": N_("{field:label}: “{value}” is no amount; the spreadsheet could not compute it."),
    "import.formula": N_("{field:label}: “{value}” is a formula; paste its value."),
    "import.ambiguous_number": N_(
        "{field:label}: “{value}” may be read in two ways, as thousands or as a fraction. Write it with decimals."
    ),
    "import.negative": N_("{field:label}: “{value}” is negative."),
    "import.absurd": N_("{field:label}: “{value}” is beyond any price."),
    "import.absurd_price": N_(
        "{field:label}: {value} is no price of one card; between {low:num} and {high:num} US$ are believed. Check the "
        "unit and the currency."
    ),
    "import.no_rate": N_("There is no exchange rate for {currency}, so the price can't be checked."),
    "import.not_whole": N_("{field:label}: “{value}” is not a whole number."),
    "import.not_a_day": N_("{field:label}: “{value}” is not a day. Write it as 2026-12-31."),
    "import.ambiguous_day": N_("{field:label}: “{value}” may be day/month or month/day. Write it as 2026-12-31."),
    "import.future_day": N_("{field:label}: “{value}” lies in the future."),
    "import.not_yes_or_no": N_("{field:label}: “{value}” is neither yes nor no."),
    "import.unknown_card": N_("{field:label}: the catalogue has no card named “{value}”. Add the card first."),
    "import.unknown_word": N_("{field:label}: “{value}” is none of the words that are known here."),
    "import.bad_value": N_("{field:label}: “{value}” can't be used."),
    "import.twice": N_("The same row as in line {line:int} ({id})."),
    # packs
    "pack.unreadable": N_("{path} can't be read: {detail}"),
    "pack.not_a_pack": N_("{path} is not a pack of this program: {detail}"),
    "pack.bad_name": N_("The pack was refused: it holds a file with a name that a pack never has ({name})."),
    "pack.too_large": N_("The pack was refused: unpacked it would take more than {limit:int} MB."),
    "pack.wrong_hash": N_("The pack was refused: {name} is not what its manifest says. It was damaged or changed."),
    "pack.schema": N_(
        "The pack was refused: it is written in form {found}, and this version reads form {known}. Use a matching pack."
    ),
    "pack.bad_signature": N_(
        "The pack was refused: its signature does not fit its contents. It was changed after it was signed."
    ),
    "pack.bad_row": N_("The pack was refused: row {number:int} ({id}) makes no sense: {detail}"),
    "pack.nothing": N_("There are no rows of your own to put into a pack."),
    "pack.bad_key": N_("This is not a public key: {value}. A public key is 64 characters from 0–9 and a–f."),
    "pack.key_unreadable": N_("The key file {path} can't be used: {detail}"),
    "pack.unsigned": N_("The pack is not signed: nobody vouches for it. Apply it only if you know where it is from."),
    "pack.unknown_key": N_(
        "The pack is signed with a key that you have not approved ({key}). The signature says only that the pack was "
        "not changed since, not who made it."
    ),
    "pack.known_key": N_("The pack is signed by {name}, whose key you approved."),
}

LABELS: dict[str, str] = {
    "field.valid_until": N_("Valid until"),
    "field.tax_included": N_("Tax included"),
    "field.includes": N_("What the price includes"),
    "field.file_path": N_("File of the quotation"),
    "field.file_sha256": N_("SHA-256 of the file"),
    "kind.gpu": N_("Card"),
    "kind.system": N_("Machine"),
    "kind.offer": N_("Rental offer"),
    "kind.purchase_price": N_("Purchase price"),
    "kind.api_price": N_("API price"),
    "kind.cost_item": N_("Other cost"),
    "kind.model": N_("Model"),
    "row.new": N_("New row"),
    "row.changed": N_("Changed"),
    "row.same": N_("As before"),
    "row.refused": N_("Refused"),
    "row.removed": N_("Removed"),
    "change.add": N_("Added"),
    "change.edit": N_("Entered or corrected"),
    "change.remove": N_("Removed"),
    "change.import": N_("Imported table"),
    "change.pack": N_("Applied pack"),
    "change.revert": N_("Reverted"),
}
