"""`gpu-advisor catalog …`: list, show, add offers of one's own, check, restore."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime
from decimal import Decimal, InvalidOperation
from enum import StrEnum
from typing import Annotated, Any

import typer
from pydantic import ValidationError

from engine.catalog.check import check_catalog
from engine.catalog.find import find_gpus, find_rows, rows_of
from engine.catalog.load import load_catalog
from engine.catalog.user import add_offer, add_purchase_price, put_back, remove, set_aside, shared_cluster
from engine.cli.catalog_exchange import add_commands
from engine.cli.catalog_text import check_text, entry_text, offer_line, table_text
from engine.cli.chosen import language_of
from engine.errors import InputError
from engine.hardware.model import CatalogSnapshot, Offer, PurchasePrice
from engine.i18n import Language, system_language
from engine.quantity import Money

__all__ = ["app"]

#: Help is made when the program starts, before `--lang` is read: it speaks the system's language.
_ = Language(system_language()).gettext
app = typer.Typer(help=_("The catalogue: cards, systems, offers, prices, models."), no_args_is_help=True)


class Kind(StrEnum):
    """What can be listed."""

    GPUS = "gpus"
    SYSTEMS = "systems"
    OFFERS = "offers"
    MODELS = "models"
    PRICES = "prices"
    COSTS = "costs"
    API = "api"


class LanguageName(StrEnum):
    """Languages of the answers."""

    ENGLISH = "en"
    CHINESE = "zh_CN"


class Term(StrEnum):
    """Terms under which one can rent."""

    ON_DEMAND = "on-demand"
    SPOT = "spot"
    MONTH = "reserved-1m"
    YEAR = "reserved-1y"
    THREE_YEARS = "reserved-3y"
    MONTHLY = "monthly"


Json = Annotated[bool, typer.Option("--json", help=_("Print one JSON document."))]
Lang = Annotated[LanguageName | None, typer.Option("--lang", help=_("Language of the answer."))]
Currency = Annotated[str, typer.Option("--currency", help=_("Three letters, such as CNY or USD."))]
Day = Annotated[str, typer.Option("--date", help=_("Day on which the price was seen, as 2026-12-01; default today."))]
GpuName = Annotated[str, typer.Option("--gpu", help=_("Name or id of the card."))]
Note = Annotated[str, typer.Option("--note", help=_("Anything to remember with the row."))]
Country = Annotated[str, typer.Option("--country", help=_("Two letters, such as CN or US."))]


def _language(name: LanguageName | None) -> Language:
    return language_of(name.value if name else None)


def _print_json(catalog: CatalogSnapshot, **content: Any) -> None:
    document = {"catalog": {"version": catalog.version, "sha256": catalog.sha256}, **content}
    print(json.dumps(document, ensure_ascii=False, indent=1, default=str))


@app.command("list", help=_("List cards, systems, offers, models, purchase prices, costs or API prices."))
def list_rows(
    kind: Annotated[Kind, typer.Argument(help=_("What to list."))],
    filter_text: Annotated[str, typer.Option("--filter", help=_("Words that a row must hold."))] = "",
    history: Annotated[bool, typer.Option("--all", help=_("Offers: older and members-only ones too."))] = False,
    as_json: Json = False,
    lang: Lang = None,
) -> None:
    """List cards, systems, offers, models, purchase prices, costs or API prices."""
    catalog = load_catalog()
    rows = rows_of(catalog, kind.value, filter_text, history=history)
    if as_json:
        _print_json(catalog, kind=kind.value, rows=[r.model_dump(mode="json") for r in rows])
    else:
        print(table_text(kind.value, rows, _language(lang)))


@app.command(help=_("Show everything that is known of one row, with its source and date."))
def show(
    name: Annotated[str, typer.Argument(help=_("Id of a row, or name of a card or model."))],
    as_json: Json = False,
    lang: Lang = None,
) -> None:
    """Show everything that is known of one row, with its source and date."""
    catalog = load_catalog()
    rows = find_rows(catalog, name)
    if as_json:
        _print_json(catalog, rows=[r.model_dump(mode="json") for r in rows])
    else:
        print("\n\n".join(entry_text(r, _language(lang)) for r in rows))


@app.command("add-offer", help=_("Add an offer of your own; it wins over a bundled one of the same id."))
def add_own_offer(
    provider: Annotated[str, typer.Option("--provider", help=_("Who rents the cards out."))],
    gpu: GpuName,
    price: Annotated[str, typer.Option("--price", help=_("Price of one card for one hour."))],
    currency: Currency,
    term: Annotated[Term, typer.Option("--term", help=_("How it is billed."))] = Term.ON_DEMAND,
    gpus: Annotated[int | None, typer.Option("--gpus", min=1, help=_("Cards in the unit that is sold."))] = None,
    region: Annotated[str, typer.Option("--region", help=_("Where the machines stand."))] = "",
    country: Country = "",
    max_gpus: Annotated[int | None, typer.Option("--max-gpus", min=1, help=_("Most cards at once."))] = None,
    day: Day = "",
    note: Note = "",
    row_id: Annotated[str, typer.Option("--id", help=_("Id; that of a bundled row replaces it for you."))] = "",
    as_json: Json = False,
    lang: Lang = None,
) -> None:
    """Add an offer of your own; it wins over a bundled one of the same id."""
    catalog = load_catalog()
    gpu_ids = tuple(g.id for g in find_gpus(catalog, gpu))
    fields = {
        "id": row_id or f"user.{'-'.join(provider.lower().split())}.{gpu_ids[0]}.{term.value}",
        "provider": provider,
        "provider_kind": "gpu-cloud",
        "gpu_ids": gpu_ids,
        "gpus_per_unit": gpus,
        "region": region,
        "country": country,
        "price_per_gpu_hour": _amount(price),
        "currency": currency,
        "term": term.value,
        "observed_on": _day(day),
        "max_gpus": max_gpus,
        "source_title": provider,
        "confidence": "high",
        "notes": note,
    }
    saved = add_offer(_made(Offer, fields))
    _confirm(catalog, saved, as_json, lang)


@app.command("add-shared", help=_("Add a shared cluster, such as that of your campus."))
def add_shared(
    name: Annotated[str, typer.Option("--name", help=_("Name of the cluster."))],
    gpu: GpuName,
    price: Annotated[str, typer.Option("--price", help=_("Fee of one card for one hour; 0 where it is free."))],
    currency: Currency,
    queue_days: Annotated[float, typer.Option("--queue-days", min=0, help=_("Usual wait before a job starts."))] = 0.0,
    max_gpus: Annotated[int | None, typer.Option("--max-gpus", min=1, help=_("Most cards at once."))] = None,
    country: Country = "",
    day: Day = "",
    note: Note = "",
    as_json: Json = False,
    lang: Lang = None,
) -> None:
    """Add a shared cluster, such as that of your campus."""
    catalog = load_catalog()
    gpu_ids = tuple(g.id for g in find_gpus(catalog, gpu))
    try:
        money = Money(amount=_amount(price, free_allowed=True), currency=currency)
    except ValidationError as error:
        raise InputError("catalog.bad_value", field="field.currency", value=currency) from error
    offer = shared_cluster(
        name,
        gpu_ids,
        money,
        queue_days=queue_days,
        max_gpus=max_gpus,
        country=country,
        observed_on=_day(day),
        notes=note,
    )
    _confirm(catalog, add_offer(offer), as_json, lang)


@app.command("add-quotation", help=_("Add a purchase price that you were quoted."))
def add_quotation(
    seller: Annotated[str, typer.Option("--seller", help=_("Who quoted the price."))],
    gpu: GpuName,
    price: Annotated[str, typer.Option("--price", help=_("Price of the whole item."))],
    currency: Currency,
    cards: Annotated[int, typer.Option("--cards", min=1, help=_("Cards in the price."))] = 1,
    server: Annotated[
        bool, typer.Option("--server", help=_("The price includes the machine around the cards."))
    ] = False,
    used: Annotated[bool, typer.Option("--used", help=_("The item is used."))] = False,
    country: Country = "",
    day: Day = "",
    note: Note = "",
    as_json: Json = False,
    lang: Lang = None,
) -> None:
    """Add a purchase price that you were quoted."""
    catalog = load_catalog()
    found = find_gpus(catalog, gpu)
    fields = {
        "id": f"user.{'-'.join(seller.lower().split())}.{found[0].id}.{cards}x",
        "gpu_ids": tuple(g.id for g in found),
        "product": f"{cards} x {found[0].name}" if cards > 1 else found[0].name,
        "seller": seller,
        "condition": "used" if used else "new",
        "price": _amount(price),
        "currency": currency,
        "cards": cards,
        "whole_server": server,
        "country": country,
        "observed_on": _day(day),
        "confidence": "high",
        "notes": note,
    }
    _confirm(catalog, add_purchase_price(_made(PurchasePrice, fields)), as_json, lang)


def _made(model: type[Any], fields: dict[str, Any]) -> Any:
    try:
        return model.model_validate(fields)
    except ValidationError as error:
        first = error.errors()[0]
        name = str(first["loc"][0]) if first["loc"] else "id"
        raise InputError("catalog.bad_value", field=f"field.{name}", value=str(fields.get(name))) from error


def _amount(text: str, *, free_allowed: bool = False) -> Decimal:
    # Nobody rents out or sells for nothing: a 0 is a slip, and the plan that rests on it would win every ranking.
    try:
        amount = Decimal(text.replace(",", "").strip())
    except InvalidOperation as error:
        raise InputError("catalog.bad_value", field="field.price", value=text) from error
    if not amount.is_finite() or amount < 0 or (not amount and not free_allowed):
        raise InputError("catalog.bad_value", field="field.price", value=text)
    return amount


def _day(text: str) -> date:
    try:
        return date.fromisoformat(text) if text else datetime.now(UTC).date()
    except ValueError as error:
        raise InputError("catalog.bad_value", field="field.observed_on", value=text) from error


def _confirm(catalog: CatalogSnapshot, row: Offer | PurchasePrice, as_json: bool, lang: LanguageName | None) -> None:
    if as_json:
        _print_json(catalog, saved=row.model_dump(mode="json"))
    elif isinstance(row, Offer):
        print(offer_line(row, _language(lang)))
    else:
        print(_language(lang).fill("Saved: {id}", id=row.id))


@app.command("remove", help=_("Remove a row of your own; a bundled row that it hid is back."))
def remove_row(
    row_id: Annotated[str, typer.Argument(help=_("Id of a row of your own."))],
    as_json: Json = False,
    lang: Lang = None,
) -> None:
    """Remove a row of your own; a bundled row that it hid is back."""
    remove(row_id)
    if as_json:
        print(json.dumps({"removed": row_id}, ensure_ascii=False))
    else:
        print(_language(lang).fill("Removed: {id}", id=row_id))


@app.command(help=_("Check the catalogue: version, hash, joined names, ages of prices."))
def check(day: Day = "", as_json: Json = False, lang: Lang = None) -> None:
    """Check the catalogue: version, hash, joined names, ages of prices."""
    catalog = load_catalog()
    result = check_catalog(catalog, _day(day))
    language = _language(lang)
    if as_json:
        findings = [{**f.model_dump(mode="json"), "text": language.text(f)} for f in result.findings]
        _print_json(catalog, **{**result.model_dump(mode="json"), "findings": findings})
    else:
        print(check_text(result, language))


@app.command(
    help=_("Set the file with your own rows aside, without deleting it, and go back to the bundled catalogue.")
)
def restore(
    last_copy: Annotated[
        bool, typer.Option("--last-copy", help=_("Go back to the copy from before the last large change."))
    ] = False,
    as_json: Json = False,
    lang: Lang = None,
) -> None:
    """Set the file with your own rows aside, without deleting it, and go back to the bundled catalogue or a copy."""
    moved = put_back() if last_copy else set_aside()
    if as_json:
        print(json.dumps({"set_aside": str(moved) if moved else None}, ensure_ascii=False))
    elif moved:
        print(_language(lang).fill("Your own rows were set aside in {path}", path=moved))
    else:
        print(_language(lang).gettext("There are no rows of your own."))


add_commands(app)
