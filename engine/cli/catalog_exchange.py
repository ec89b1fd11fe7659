"""`gpu-advisor catalog import|export|pack|apply|undo|correct…`: tables, packs and corrections without a screen."""

from __future__ import annotations

import json
from datetime import date
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from engine.catalog.exporting import exported_table
from engine.catalog.find import find_rows
from engine.catalog.headings import headings_of
from engine.catalog.importing import ImportPlan, RowPlan, apply_plan, corrected, plan_import
from engine.catalog.load import load_catalog
from engine.catalog.packs import apply_pack, own_rows, pack_bytes, plan_pack, read_pack
from engine.catalog.table_file import read_table
from engine.catalog.trust import approve, own_key, public_key, trusted_keys
from engine.catalog.user import FIELDS, changes, kind_of, save, undo_last
from engine.cli.chosen import language_of
from engine.cli.exchange_text import change_line, pack_text, plan_json, plan_text
from engine.errors import InputError
from engine.files import write_atomically
from engine.i18n import Language, system_language

__all__ = ["add_commands"]

_ = Language(system_language()).gettext


class TableKind(StrEnum):
    """What a table can hold (`engine.catalog.importing.IMPORTED_KINDS`)."""

    OFFER = "offer"
    PURCHASE = "purchase_price"
    GPU = "gpu"
    SYSTEM = "system"
    API = "api_price"
    COST = "cost_item"


Json = Annotated[bool, typer.Option("--json", help=_("Print one JSON document."))]
Lang = Annotated[str, typer.Option("--lang", help=_("Language of the answer."))]
OutFile = Annotated[Path, typer.Argument(help=_("File to write."))]
InFile = Annotated[Path, typer.Argument(help=_("File to read."))]
Yes = Annotated[bool, typer.Option("--yes", help=_("Do it; without, only show what would change."))]


def import_table(
    file: InFile,
    kind: Annotated[TableKind, typer.Option("--kind", help=_("What the rows are."))],
    yes: Yes = False,
    currency: Annotated[str, typer.Option("--currency", help=_("Currency of rows that name none."))] = "",
    day: Annotated[str, typer.Option("--date", help=_("Day of rows that name none."))] = "",
    seller: Annotated[str, typer.Option("--seller", help=_("Seller or provider of rows that name none."))] = "",
    as_json: Json = False,
    lang: Lang = "",
) -> None:
    """Read a table, show row by row what is new, changed or refused, and keep it with --yes."""
    usual = {"currency": currency, "observed_on": day, "seller": seller, "provider": seller}
    language = _language(lang)
    plan = plan_import(kind.value, read_table(file, headings_of(kind.value)), load_catalog(), usual)
    kept = apply_plan(plan, file.name) if yes else None
    if as_json:
        _print_json(_plan_document(plan, kept, language))
        return
    print(plan_text(plan, language))
    _say_kept(kept, language)


def _plan_document(plan: ImportPlan, kept: int | None, language: Language) -> dict[str, Any]:
    return {
        "kind": plan.kind,
        "encoding": plan.encoding,
        "separator": plan.separator,
        "columns": dict(plan.columns),
        "ignored": list(plan.ignored),
        "rows": [plan_json(r, language) for r in plan.rows],
        "kept": kept,
    }


def _say_kept(kept: int | None, language: Language) -> None:
    if kept is None:
        print(language.gettext("Nothing was changed yet. Add --yes to do it; `catalog undo` takes it back."))
    else:
        print(language.fill("Rows written: {count:int}. `catalog undo` takes this back.", count=kept))


def export_table(
    kind: Annotated[TableKind, typer.Argument(help=_("What the rows are."))],
    file: OutFile,
    mine: Annotated[bool, typer.Option("--mine", help=_("Only rows of your own."))] = False,
    lang: Lang = "",
) -> None:
    """Write rows as CSV for a spreadsheet; import reads the file back."""
    rows = getattr(load_catalog(), FIELDS[kind.value])
    if mine:
        rows = tuple(r for r in rows if r.origin == "user")
    path = write_atomically(file, exported_table(kind.value, rows))
    print(_language(lang).fill("Rows written: {count:int}, in {path}", count=len(rows), path=str(path)))


def make_pack(
    file: OutFile,
    title: Annotated[str, typer.Option("--title", help=_("What the pack is, for those who get it."))] = "",
    update: Annotated[
        bool, typer.Option("--update", help=_("The rows are facts of the catalogue, not quotations of your own."))
    ] = False,
    unsigned: Annotated[bool, typer.Option("--unsigned", help=_("Do not sign the pack with your key."))] = False,
    lang: Lang = "",
) -> None:
    """Put your own rows into one file for colleagues."""
    language, rows = _language(lang), own_rows()
    content = pack_bytes(
        rows,
        title or file.stem,
        kind="update" if update else "overlay",
        signing_key=None if unsigned or not rows else own_key(),
    )
    path = write_atomically(file, content)
    print(language.fill("Rows written: {count:int}, in {path}", count=len(rows), path=str(path)))


def use_pack(file: InFile, yes: Yes = False, as_json: Json = False, lang: Lang = "") -> None:
    """Check a pack, show what it would change, and apply it with --yes."""
    language = _language(lang)
    plan = plan_pack(read_pack(file, trusted_keys()), load_catalog())
    kept = apply_pack(plan) if yes else None
    if as_json:
        findings = [{**f.model_dump(mode="json"), "text": language.text(f)} for f in plan.findings]
        rows = [plan_json(r, language) for r in plan.rows]
        _print_json({"manifest": plan.pack.manifest.model_dump(mode="json"), "key": plan.pack.key,
                     "signer": plan.pack.signer, "findings": findings, "rows": rows, "kept": kept})  # fmt: skip
        return
    print(pack_text(plan, language))
    _say_kept(kept, language)


def undo(as_json: Json = False, lang: Lang = "") -> None:
    """Take back the latest change of your own rows."""
    language = _language(lang)
    change = undo_last()
    if as_json:
        _print_json({"undone": {"action": change.action, "title": change.title, "rows": change.rows}})
    else:
        print(language.fill("Undone: {what}", what=change_line(change, language)))


def list_changes(as_json: Json = False, lang: Lang = "") -> None:
    """List the changes of your own rows that can be undone, the latest first."""
    language, found = _language(lang), changes()
    if as_json:
        _print_json({"changes": [{"at": c.at.isoformat(), "action": c.action, "title": c.title, "rows": c.rows}
                                 for c in found]})  # fmt: skip
    else:
        print("\n".join(change_line(c, language) for c in found) or language.gettext("There are none."))


def correct(
    row_id: Annotated[str, typer.Argument(help=_("Id of a row."))],
    values: Annotated[list[str], typer.Argument(help=_("New values, as field=value; field= takes a value away."))],
    as_json: Json = False,
    lang: Lang = "",
) -> None:
    """Correct a row for yourself; `catalog remove` brings the original back."""
    catalog, language = load_catalog(), _language(lang)
    row = find_rows(catalog, row_id)[0]
    texts = {name: text for name, _equals, text in (part.partition("=") for part in values)}
    made = save(corrected(row, texts, catalog))
    if as_json:
        _print_json({"saved": made.model_dump(mode="json"), "was": row.model_dump(mode="json")})
        return
    document = plan_json(RowPlan(0, "changed", kind_of(row), made.id, made, row), language)
    print("\n".join(f"{c['name']}: {c['before']} → {c['after']}" for c in document["changes"]))


def show_key(
    key: Annotated[str, typer.Argument(help=_("Nothing, or a key to approve."))] = "",
    of: Annotated[str, typer.Option("--of", help=_("Whose key it is."))] = "",
    lang: Lang = "",
) -> None:
    """Print the public key of your packs, or approve the key of somebody else."""
    language = _language(lang)
    if not key:
        print(public_key(own_key()))
        return
    approve(key, of)
    print(language.fill("Packs signed with this key are now known as made by {name}.", name=of))


def _language(name: str) -> Language:
    if name not in ("", "en", "zh_CN"):
        raise InputError("catalog.bad_value", field="field.name", value=name)
    return language_of(name or None)


def _print_json(document: dict[str, Any]) -> None:
    print(json.dumps(document, ensure_ascii=False, indent=1, default=_plain))


def _plain(value: object) -> str:
    return value.isoformat() if isinstance(value, date) else str(value)


def add_commands(app: typer.Typer) -> None:
    """Add these commands to `gpu-advisor catalog`."""
    for name, command, words in (
        ("import", import_table, _("Read a table; show what is new, changed or refused; keep it with --yes.")),
        ("export", export_table, _("Write rows as CSV for a spreadsheet; import reads the file back.")),
        ("pack", make_pack, _("Put your own rows into one file for colleagues.")),
        ("apply", use_pack, _("Check a pack, show what it would change, and apply it with --yes.")),
        ("undo", undo, _("Take back the latest change of your own rows.")),
        ("changes", list_changes, _("List the changes of your own rows that can be undone, the latest first.")),
        ("correct", correct, _("Correct a row for yourself; `catalog remove` brings the original back.")),
        ("key", show_key, _("Print the public key of your packs, or approve the key of somebody else.")),
    ):
        app.command(name, help=words)(command)
