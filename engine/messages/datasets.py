"""Words about data sets that are counted."""

from __future__ import annotations

from engine.messages.mark import N_

TEMPLATES: dict[str, str] = {
    "dataset.missing": N_("{path} is not there. Check the path."),
    "dataset.unreadable": N_("{path} could not be read ({reason}). Check its permissions and try again."),
    "dataset.unknown_format": N_(
        "{file}: the format is not known by this ending. JSONL, JSON, CSV, TSV and TXT can be counted."
    ),
    "dataset.table": N_(
        "{file}: {kind} files are not read here. Turn it into JSONL, for example where pandas is installed: python -c "
        "\"import pandas as p; p.read_{reader}('{file}').to_json('data.jsonl', orient='records', lines=True)\""
    ),
    "dataset.empty": N_("{file} holds no examples."),
    "dataset.not_text": N_("{file} is not a text file. JSONL, JSON, CSV, TSV and TXT can be counted."),
    "dataset.not_records": N_(
        "{file}: no line could be read as a record. In a JSONL file each line is one JSON object."
    ),
    "dataset.not_json": N_("{file} is not valid JSON (line {line:int})."),
    "dataset.not_csv": N_("{file} is not a valid CSV file (line {line:int})."),
    "dataset.json_too_large": N_(
        "{file} is larger than {limit:gb}, too large for one JSON document. Save it as JSONL, one record a line."
    ),
    "dataset.record_too_long": N_(
        "{file} has a line far longer than any example ({limit:int} bytes and more). "
        "In a JSONL or TXT file each line is one example."
    ),
}

LABELS: dict[str, str] = {
    "dataset.style.preference": N_("preference pairs (chosen and rejected)"),
    "dataset.style.messages": N_("chat messages (role and content)"),
    "dataset.style.sharegpt": N_("conversations (ShareGPT)"),
    "dataset.style.alpaca": N_("instruction, input and output (Alpaca)"),
    "dataset.style.prompt": N_("prompt and answer"),
    "dataset.style.text": N_("plain text"),
    "dataset.format.jsonl": N_("JSON lines"),
    "dataset.format.json": N_("JSON list"),
    "dataset.format.csv": N_("table (CSV)"),
    "dataset.format.txt": N_("plain text, one example a line"),
}
