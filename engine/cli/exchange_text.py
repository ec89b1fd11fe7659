"""Plans of tables and packs, and changes, as text for a terminal and as JSON."""

from __future__ import annotations

from typing import Any

from engine.catalog.importing import ImportPlan, RowPlan, changed_fields
from engine.catalog.packs import PackPlan
from engine.catalog.store import Change
from engine.i18n import Language
from engine.messages import LABELS

__all__ = ["change_line", "pack_text", "plan_json", "plan_text"]

#: Rows of a plan that are printed; JSON holds all.
MOST_LINES = 200


def _name(field: str, language: Language) -> str:
    return language.label(f"field.{field}") if f"field.{field}" in LABELS else field


def _value(value: object) -> str:
    return "–" if value in (None, "", ()) else " | ".join(map(str, value)) if isinstance(value, tuple) else str(value)


def plan_json(row: RowPlan, language: Language) -> dict[str, Any]:
    """One row of a plan as JSON."""
    fields = changed_fields(row.before, row.row) if row.row is not None and row.before is not None else ()
    return {
        "line": row.line,
        "status": row.status,
        "kind": row.kind,
        "title": row.title,
        "id": row.row.id if row.row is not None else None,
        "changes": [
            {"field": f, "name": _name(f, language), "before": _value(getattr(row.before, f)),
             "after": _value(getattr(row.row, f))}
            for f in fields
        ],
        "reasons": [{"code": f.code, "text": language.text(f)} for f in row.reasons],
    }  # fmt: skip


def _row_lines(rows: tuple[RowPlan, ...], language: Language) -> list[str]:
    told = [r for r in rows if r.status != "same"]
    lines: list[str] = []
    for row in told[:MOST_LINES]:
        head = f"{row.line:>5}  " if row.line else "       "
        status = language.label(f"row.{row.status}")
        lines.append(f"{head}{status}  {row.title}")
        document = plan_json(row, language)
        lines += [f"         {c['name']}: {c['before']} → {c['after']}" for c in document["changes"]]
        lines += [f"         {r['text']}" for r in document["reasons"]]
    if len(told) > MOST_LINES:
        lines.append(language.fill("… and {count:int} more rows", count=len(told) - MOST_LINES))
    return lines


def _counts(rows: tuple[RowPlan, ...], language: Language) -> str:
    parts: list[str] = []
    for status in ("new", "changed", "removed", "same", "refused"):
        count, label = sum(r.status == status for r in rows), f"row.{status}"
        if count:
            parts.append(f"{language.label(label)}: {count}")
    return "; ".join(parts)


def plan_text(plan: ImportPlan, language: Language) -> str:
    """A table as it was understood, row by row."""
    kind, encoding = f"kind.{plan.kind}", plan.encoding.upper()
    lines = [
        language.fill(
            "Read as {kind:label}, {encoding}, columns parted by {separator}",
            kind=kind,
            encoding=encoding,
            separator=repr(plan.separator),
        )
    ]
    if plan.ignored:
        lines.append(language.fill("Columns that mean nothing here: {names}", names=", ".join(plan.ignored)))
    return "\n".join([*lines, *_row_lines(plan.rows, language), _counts(plan.rows, language)])


def pack_text(plan: PackPlan, language: Language) -> str:
    """What a pack is, who made it, and its change log."""
    manifest = plan.pack.manifest
    lines = [
        language.fill(
            "Pack {title}, version {version}, made on {day:date}",
            title=manifest.title,
            version=manifest.version,
            day=manifest.made_on.isoformat(),
        ),
        *(language.text(f) for f in plan.findings),
    ]
    return "\n".join([*lines, *_row_lines(plan.rows, language), _counts(plan.rows, language)])


def change_line(change: Change, language: Language) -> str:
    """One change in a line."""
    action = f"change.{change.action}"
    return language.fill(
        "{day:date} {action:label}: {title} ({rows:int} rows)",
        day=change.at.date().isoformat(),
        action=action,
        title=change.title,
        rows=change.rows,
    )
