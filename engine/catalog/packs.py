"""Packs: rows of the catalogue in one file that can be sent, checked, looked at, applied and undone.

A pack is a zip file with `manifest.json` (form, title, day, hash of the rows), `rows.json` and, where it is signed,
`signature.json` (Ed25519 over the manifest). Nothing is unpacked to the disk, and nothing is believed before its hash,
its form and its rows were checked. A pack of kind "update" brings rows of the catalogue; one of kind "overlay" brings
a colleague's own rows, which then count as one's own.
"""

from __future__ import annotations

import hashlib
import io
import json
import stat
import zipfile
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any, Literal, TypeAlias

from pydantic import Field, ValidationError

from engine.catalog.columns import OWN_KINDS
from engine.catalog.importing import RowPlan, status_of
from engine.catalog.store import Edit, Layer, apply_edits, content_of, read_layer, user_database_path
from engine.catalog.trust import Signature, Signed, sign, verify
from engine.catalog.user import FIELDS
from engine.errors import InputError
from engine.findings import Finding, Severity
from engine.hardware.model import CatalogSnapshot
from engine.quantity import Frozen

__all__ = ["FORM", "Manifest", "Pack", "PackPlan", "apply_pack", "own_rows", "pack_bytes", "plan_pack", "read_pack"]

#: The form of packs that this version writes and reads.
FORM = 1
MAX_BYTES = 64 * 1024 * 1024
#: A pack's parts, unpacked; 100,000 offers take 50 MB.
MAX_UNPACKED = 128 * 1024 * 1024
MAX_ROWS = 200_000
_PARTS = ("manifest.json", "rows.json", "signature.json")
Kind: TypeAlias = Literal["update", "overlay"]
Rows: TypeAlias = Sequence[tuple[str, Any]]


class Manifest(Frozen):
    """What a pack says of itself."""

    form: int
    program: Literal["gpu-advisor"]
    kind: Kind
    version: str = Field(max_length=80)
    title: str = Field(max_length=200)
    made_on: date
    rows: int = Field(ge=0, le=MAX_ROWS)
    removed: int = Field(default=0, ge=0, le=MAX_ROWS)
    sha256: str = Field(pattern=r"^[0-9a-f]{64}$")  # of rows.json


@dataclass(frozen=True, slots=True)
class Pack:
    """A pack that was read and checked."""

    manifest: Manifest
    rows: tuple[tuple[str, Any], ...]
    removed: tuple[tuple[str, str], ...]
    signed: Signed
    key: str  # of the signer; "" where it is not signed
    signer: str  # name under which the key was approved

    @property
    def layer(self) -> Layer:
        """Where its rows go."""
        return "pack" if self.manifest.kind == "update" else "user"


@dataclass(frozen=True, slots=True)
class PackPlan:
    """What a pack would change, and what is to be known before it does."""

    pack: Pack
    rows: tuple[RowPlan, ...]
    findings: tuple[Finding, ...]


# writing --------------------------------------------------------------------------------------------------------


def own_rows(database: Path | None = None) -> tuple[tuple[str, Any], ...]:
    """All rows of the user's own; of a quotation's file its name and hash stay, not the folders of this computer."""
    found = read_layer(database or user_database_path())
    return tuple((kind, _without_folders(row)) for kind in OWN_KINDS for row in found.get(kind, ()))


def _without_folders(row: Any) -> Any:
    path = getattr(row, "file_path", "")
    return row.model_copy(update={"file_path": path.replace("\\", "/").rpartition("/")[2]}) if path else row


def pack_bytes(
    rows: Rows,
    title: str,
    *,
    kind: Kind = "overlay",
    version: str = "",
    made_on: date | None = None,
    removed: Iterable[tuple[str, str]] = (),
    signing_key: bytes | None = None,
) -> bytes:
    """A pack of these rows; signed where a key is given. The same rows and day give the same bytes."""
    gone = list(removed)
    if not rows and not gone:
        raise InputError("pack.nothing")
    layer: Layer = "pack" if kind == "update" else "user"
    listed = [{"kind": k, "row": json.loads(content_of(row, layer))} for k, row in rows]
    document = {"rows": listed, "removed": [{"kind": k, "id": row_id} for k, row_id in gone]}
    content = json.dumps(document, ensure_ascii=False, sort_keys=True).encode()
    day = made_on or datetime.now(UTC).date()
    manifest = Manifest(
        form=FORM,
        program="gpu-advisor",
        kind=kind,
        version=version or day.isoformat(),
        title=title[:200],
        made_on=day,
        rows=len(rows),
        removed=len(gone),
        sha256=hashlib.sha256(content).hexdigest(),
    )
    said = manifest.model_dump_json(indent=1).encode()
    parts = {"manifest.json": said, "rows.json": content}
    if signing_key is not None:
        parts["signature.json"] = sign(said, signing_key).model_dump_json().encode()
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, part in parts.items():
            archive.writestr(zipfile.ZipInfo(name, (2020, 1, 1, 0, 0, 0)), part, zipfile.ZIP_DEFLATED)
    return stream.getvalue()


# reading --------------------------------------------------------------------------------------------------------


def read_pack(path: Path, trusted: Mapping[str, str]) -> Pack:
    """Read and check a pack; `trusted` are names by public key. `InputError` says why one is refused."""
    parts = _parts(path)
    manifest = _manifest(parts["manifest.json"], path)
    signed, key = verify(parts["manifest.json"], _signature(parts.get("signature.json"), path))
    if hashlib.sha256(parts["rows.json"]).hexdigest() != manifest.sha256:
        raise InputError("pack.wrong_hash", name="rows.json")
    listed, removed = _document(parts["rows.json"], manifest, path)
    return Pack(manifest, _rows(listed, manifest.kind), removed, signed, key, trusted.get(key, "") if key else "")


def _parts(path: Path) -> dict[str, bytes]:
    try:
        if path.stat().st_size > MAX_BYTES:
            raise InputError("pack.too_large", limit=MAX_BYTES // 2**20)
        with zipfile.ZipFile(path) as archive:
            entries = archive.infolist()
            _check_names(entries, path)
            return {entry.filename: _unpacked(archive, entry) for entry in entries}
    except OSError as error:
        raise InputError("pack.unreadable", path=str(path), detail=error.strerror or str(error)) from error
    except (zipfile.BadZipFile, zlib.error, NotImplementedError, RuntimeError, EOFError, ValueError) as error:
        raise InputError("pack.not_a_pack", path=path.name, detail=str(error)) from error


def _check_names(entries: Sequence[zipfile.ZipInfo], path: Path) -> None:
    """Only the known parts, once each, as plain files: no folders, no ways out, no links, no encryption."""
    names = [e.filename for e in entries]
    for entry in entries:
        link, secret = stat.S_ISLNK(entry.external_attr >> 16), entry.flag_bits & 1
        if entry.filename not in _PARTS or names.count(entry.filename) > 1 or link or secret:
            raise InputError("pack.bad_name", name=entry.filename[:80])
    for needed in _PARTS[:2]:
        if needed not in names:
            raise InputError("pack.not_a_pack", path=path.name, detail=needed)
    if sum(e.file_size for e in entries) > MAX_UNPACKED:
        raise InputError("pack.too_large", limit=MAX_UNPACKED // 2**20)


def _unpacked(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> bytes:
    """The bytes of a part; never more than its head promised, whatever the packed data unfold to."""
    if entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise InputError("pack.bad_name", name=entry.filename)
    with archive.open(entry) as stream:
        content = stream.read(entry.file_size + 1)
    if len(content) != entry.file_size:
        raise InputError("pack.wrong_hash", name=entry.filename)
    return content


def _manifest(content: bytes, path: Path) -> Manifest:
    try:
        found = json.loads(content)
        form = found.get("form") if isinstance(found, dict) else None
        if isinstance(form, int) and form != FORM:
            raise InputError("pack.schema", found=str(form), known=str(FORM))
        return Manifest.model_validate(found)
    except (ValueError, RecursionError) as error:
        raise InputError("pack.not_a_pack", path=path.name, detail=_first(error)) from error


def _signature(content: bytes | None, path: Path) -> Signature | None:
    try:
        return Signature.model_validate_json(content) if content is not None else None
    except ValidationError as error:
        raise InputError("pack.not_a_pack", path=path.name, detail=_first(error)) from error


def _first(error: Exception) -> str:
    if isinstance(error, ValidationError):
        first = error.errors()[0]
        return f"{'.'.join(map(str, first['loc']))}: {first['msg']}"
    return str(error)[:200]


def _document(content: bytes, manifest: Manifest, path: Path) -> tuple[list[Any], tuple[tuple[str, str], ...]]:
    try:
        found = json.loads(content)
        listed, gone = found["rows"], found["removed"]
        removed = tuple((str(r["kind"]), str(r["id"])) for r in gone)
        if len(listed) != manifest.rows or len(removed) != manifest.removed:
            raise ValueError("rows")
        return list(listed), removed
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise InputError("pack.not_a_pack", path=path.name, detail=_first(error)) from error


def _rows(listed: Sequence[Any], kind_of_pack: Kind) -> tuple[tuple[str, Any], ...]:
    origin = "user" if kind_of_pack == "overlay" else "catalog"
    rows: list[tuple[str, Any]] = []
    seen: set[tuple[str, str]] = set()
    for number, entry in enumerate(listed, 1):
        row_id = ""
        try:
            kind, fields = entry["kind"], dict(entry["row"])
            row_id = str(fields.get("id", ""))
            model = OWN_KINDS[kind]
            if "origin" in model.model_fields:
                fields["origin"] = origin
            made: Any = model.model_validate_json(json.dumps(fields))
            if not made.id or (kind, made.id) in seen:
                raise ValueError("id")
        except (ValueError, KeyError, TypeError) as error:
            raise InputError("pack.bad_row", number=number, id=row_id[:80], detail=_first(error)) from error
        seen.add((kind, made.id))
        rows.append((kind, made))
    return tuple(rows)


# applying -------------------------------------------------------------------------------------------------------


def plan_pack(pack: Pack, catalog: CatalogSnapshot, database: Path | None = None) -> PackPlan:
    """The change log: each row that would be new, changed, the same or removed, against the catalogue as it is."""
    known = {kind: {r.id: r for r in getattr(catalog, FIELDS[kind])} for kind in OWN_KINDS}
    plans: list[RowPlan] = []
    for number, (kind, row) in enumerate(pack.rows, 1):
        before = known[kind].get(row.id)
        plans.append(RowPlan(number, status_of(row, before), kind, row.id, row, before))
    there = read_layer(database or user_database_path(), pack.layer)
    for kind, row_id in pack.removed:
        before = next((r for r in there.get(kind, ()) if r.id == row_id), None)
        if before is not None:
            plans.append(RowPlan(0, "removed", kind, row_id, None, before))
    return PackPlan(pack, tuple(plans), _findings(pack))


def _findings(pack: Pack) -> tuple[Finding, ...]:
    if pack.signed == "unsigned":
        return (Finding(code="pack.unsigned", severity=Severity.WARNING),)
    if not pack.signer:
        params: dict[str, str | int | float | None] = {"key": pack.key}
        return (Finding(code="pack.unknown_key", severity=Severity.WARNING, params=params),)
    return (Finding(code="pack.known_key", params={"name": pack.signer}),)


def apply_pack(plan: PackPlan, database: Path | None = None) -> int:
    """Write what the plan says, in one transaction that can be undone; how many rows changed."""
    layer = plan.pack.layer
    edits = [
        Edit(r.kind, r.title, None if r.status == "removed" else content_of(r.row, layer), layer)
        for r in plan.rows
        if r.status in ("new", "changed", "removed")
    ]
    if edits:
        apply_edits(edits, "pack", plan.pack.manifest.title, database)
    return len(edits)
