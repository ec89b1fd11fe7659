"""Packs: what they bring is shown, applied whole, undone; what is wrong with one is refused by name."""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from collections.abc import Callable
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from engine.catalog.load import load_base, load_catalog
from engine.catalog.packs import apply_pack, own_rows, pack_bytes, plan_pack, read_pack
from engine.catalog.store import undo_last
from engine.catalog.trust import approve, own_key, public_key, sign, trusted_keys
from engine.catalog.user import add_purchase_price, save
from engine.cli.catalog import app
from engine.errors import InputError
from engine.hardware.model import PurchasePrice
from engine.i18n import Language

DAY = date(2026, 11, 30)


def quotation(price: str = "15000", row_id: str = "user.q") -> PurchasePrice:
    return PurchasePrice(
        id=row_id, gpu_ids=("nvidia-rtx-4090",), product="RTX 4090", seller="dealer", condition="new",
        price=Decimal(price), currency="CNY", observed_on=DAY, file_path="/home/me/private/quote.pdf",
    )  # fmt: skip


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "rows.gapack"
    path.write_bytes(pack_bytes([("purchase_price", quotation())], "Quotes", made_on=DAY, signing_key=own_key()))
    return path


def parts_of(path: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(path) as archive:
        return {n: archive.read(n) for n in archive.namelist()}


def packed(parts: dict[str, bytes]) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return stream.getvalue()


def with_manifest(parts: dict[str, bytes], **fields: Any) -> dict[str, bytes]:
    manifest = json.loads(parts["manifest.json"]) | fields
    return {"manifest.json": json.dumps(manifest).encode(), "rows.json": parts["rows.json"]}


def with_rows(parts: dict[str, bytes], change: Callable[[Any], Any]) -> dict[str, bytes]:
    content = json.loads(parts["rows.json"])
    content = change(content) or content
    rows = json.dumps(content).encode()
    changed = {**parts, "rows.json": rows}
    return with_manifest(changed, sha256=hashlib.sha256(rows).hexdigest())


def refusal(path: Path) -> str:
    with pytest.raises(InputError) as caught:
        read_pack(path, trusted_keys())
    for code in ("en", "zh_CN"):
        assert "{" not in Language(code).error(caught.value)  # type: ignore[arg-type]
    return caught.value.code


def test_the_same_rows_and_day_give_the_same_bytes(file: Path) -> None:
    again = pack_bytes([("purchase_price", quotation())], "Quotes", made_on=DAY, signing_key=own_key())
    assert file.read_bytes() == again


def test_a_pack_is_shown_applied_and_undone(file: Path) -> None:
    plan = plan_pack(read_pack(file, trusted_keys()), load_catalog())
    assert [(r.status, r.title) for r in plan.rows] == [("new", "user.q")]
    assert load_catalog().purchase_prices == load_base().purchase_prices
    assert apply_pack(plan) == 1
    assert load_catalog().purchase_prices[0].origin == "user"
    again = plan_pack(read_pack(file, trusted_keys()), load_catalog())
    assert [r.status for r in again.rows] == ["same"]
    assert apply_pack(again) == 0
    assert undo_last().title == "Quotes"
    assert load_catalog().purchase_prices == load_base().purchase_prices


def test_an_update_brings_rows_of_the_catalogue_below_those_of_the_user(tmp_path: Path) -> None:
    card = load_base().gpu_by_id["nvidia-rtx-4090"]
    update = card.model_copy(update={"tdp_watts": 451.0})
    path = tmp_path / "u.gapack"
    path.write_bytes(pack_bytes([("gpu", update)], "Update", kind="update"))
    plan = plan_pack(read_pack(path, {}), load_catalog())
    assert plan.rows[0].status == "changed"
    apply_pack(plan)
    found = load_catalog().gpu_by_id[card.id]
    assert (found.tdp_watts, found.origin) == (451.0, "catalog")
    save(card.model_copy(update={"tdp_watts": 440.0}))
    found = load_catalog().gpu_by_id[card.id]
    assert (found.tdp_watts, found.origin) == (440.0, "user")
    path.write_bytes(pack_bytes([], "Back", kind="update", removed=[("gpu", card.id)]))
    undo_last()
    assert [r.status for r in plan_pack(read_pack(path, {}), load_catalog()).rows] == ["removed"]
    apply_pack(plan_pack(read_pack(path, {}), load_catalog()))
    assert load_catalog().gpu_by_id[card.id] == card


def test_who_signed_is_said_plainly(file: Path, tmp_path: Path) -> None:
    plan = plan_pack(read_pack(file, trusted_keys()), load_base())
    assert [f.code for f in plan.findings] == ["pack.unknown_key"]
    key = own_key()
    assert key is not None
    approve(public_key(key), "王工")
    plan = plan_pack(read_pack(file, trusted_keys()), load_base())
    assert "王工" in Language("zh_CN").text(plan.findings[0])
    unsigned = tmp_path / "unsigned"
    unsigned.write_bytes(packed({k: v for k, v in parts_of(file).items() if k != "signature.json"}))
    assert plan_pack(read_pack(unsigned, trusted_keys()), load_base()).findings[0].code == "pack.unsigned"
    with pytest.raises(InputError, match=r"pack\.bad_key"):
        approve("abc", "x")


def test_ones_own_rows_go_into_a_pack_without_folders_of_this_computer(tmp_path: Path) -> None:
    add_purchase_price(quotation())
    assert [row.file_path for _kind, row in own_rows()] == ["quote.pdf"]
    assert b"private" not in packed(parts_of_bytes(pack_bytes(own_rows(), "x"), tmp_path))


def parts_of_bytes(content: bytes, folder: Path) -> dict[str, bytes]:
    path = folder / "x"
    path.write_bytes(content)
    return parts_of(path)


def hostile(parts: dict[str, bytes]) -> dict[str, tuple[dict[str, bytes], str]]:
    def many_braces(_content: Any) -> None:
        return None

    other = sign(b"something else", bytes(32))
    return {
        "rows changed": ({**parts, "rows.json": parts["rows.json"] + b" "}, "pack.wrong_hash"),
        "manifest changed": ({**parts, "manifest.json": parts["manifest.json"] + b" "}, "pack.bad_signature"),
        "signature of something else": (
            {**parts, "signature.json": other.model_dump_json().encode()}, "pack.bad_signature"),
        "signature that is none": ({**parts, "signature.json": b"{}"}, "pack.not_a_pack"),
        "older form": (with_manifest(parts, form=0), "pack.schema"),
        "newer form": (with_manifest(parts, form=2, more="x"), "pack.schema"),
        "other program": (with_manifest(parts, program="x"), "pack.not_a_pack"),
        "other kind": (with_manifest(parts, kind="x"), "pack.not_a_pack"),
        "fewer rows": (with_manifest(parts, rows=0), "pack.not_a_pack"),
        "way out": ({**parts, "../evil": b""}, "pack.bad_name"),
        "absolute": ({**parts, "/etc/passwd": b""}, "pack.bad_name"),
        "drive": ({**parts, "C:\\evil": b""}, "pack.bad_name"),
        "folder": ({**parts, "sub/rows.json": b""}, "pack.bad_name"),
        "extra": ({**parts, "run.py": b""}, "pack.bad_name"),
        "no rows": ({"manifest.json": parts["manifest.json"]}, "pack.not_a_pack"),
        "brackets": ({**parts, "manifest.json": b"[" * 100_000}, "pack.not_a_pack"),
        "list": ({**parts, "manifest.json": b"[]"}, "pack.not_a_pack"),
        "unknown kind of row": (
            with_rows(parts, lambda c: c["rows"][0].update(kind="exe")), "pack.bad_row"),
        "unknown field": (
            with_rows(parts, lambda c: c["rows"][0]["row"].update(evil=1)), "pack.bad_row"),
        "NaN": (with_rows(parts, lambda c: c["rows"][0]["row"].update(price="NaN")), "pack.bad_row"),
        "negative": (with_rows(parts, lambda c: c["rows"][0]["row"].update(price="-1")), "pack.bad_row"),
        "no id": (with_rows(parts, lambda c: c["rows"][0]["row"].update(id="")), "pack.bad_row"),
        "rows no list": (with_rows(parts, lambda _c: {"rows": 3, "removed": []}), "pack.not_a_pack"),
        "row no object": (with_rows(parts, lambda _c: {"rows": [3], "removed": []}), "pack.bad_row"),
    }  # fmt: skip


@pytest.mark.parametrize("name", list(hostile({"manifest.json": b"{}", "rows.json": b'{"rows": [{"row": {}}]}'})))
def test_hostile_packs_are_refused_by_name(name: str, file: Path) -> None:
    parts, code = hostile(parts_of(file))[name]
    file.write_bytes(packed(parts))
    assert refusal(file) == code
    assert load_catalog().purchase_prices == load_base().purchase_prices


def test_an_origin_in_a_pack_is_not_believed(file: Path) -> None:
    file.write_bytes(packed(with_rows(parts_of(file), lambda c: c["rows"][0]["row"].update(origin="scenario"))))
    assert read_pack(file, {}).rows[0][1].origin == "user"


def test_the_same_name_twice(file: Path) -> None:
    with pytest.warns(UserWarning, match="Duplicate"), zipfile.ZipFile(file, "a") as archive:
        archive.writestr("rows.json", b"{}")
    assert refusal(file) == "pack.bad_name"


def test_a_link_in_a_pack(file: Path) -> None:
    parts = parts_of(file)
    with zipfile.ZipFile(file, "w") as archive:
        for name, content in parts.items():
            info = zipfile.ZipInfo(name)
            info.external_attr = (0o120777 if name == "rows.json" else 0o644) << 16
            archive.writestr(info, content)
    assert refusal(file) == "pack.bad_name"


def test_bombs_are_not_unpacked(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    parts = parts_of(file)
    file.write_bytes(packed({**parts, "rows.json": b" " * 200 * 1024 * 1024}))
    assert file.stat().st_size < 1_000_000
    assert refusal(file) == "pack.too_large"
    content = packed({**parts, "rows.json": b" " * 3_000_000})
    said = (3_000_000).to_bytes(4, "little")
    file.write_bytes(content.replace(said, (100).to_bytes(4, "little")))  # its head lies about its size
    assert refusal(file) in ("pack.wrong_hash", "pack.not_a_pack")
    monkeypatch.setattr("engine.catalog.packs.MAX_BYTES", 10)
    assert refusal(file) == "pack.too_large"


@pytest.mark.parametrize("content", [b"", b"PK", b"no zip at all" * 100, b"PK\x03\x04" + b"\x00" * 100])
def test_files_that_are_no_packs(content: bytes, file: Path) -> None:
    file.write_bytes(content)
    assert refusal(file) == "pack.not_a_pack"
    file.unlink()
    assert refusal(file) == "pack.unreadable"


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_no_damaged_byte_gets_through_or_crashes(data: st.DataObject, file: Path) -> None:
    whole = pack_bytes([("purchase_price", quotation())], "Quotes", made_on=DAY, signing_key=own_key())
    place = data.draw(st.integers(0, len(whole) - 1))
    byte = data.draw(st.integers(0, 255))
    file.write_bytes(whole[:place] + bytes([byte]) + whole[place + 1 :])
    try:
        found = read_pack(file, {})
    except InputError:
        return
    assert found.rows[0][1].price == Decimal(15000)


def run(*arguments: str) -> str:
    answer = CliRunner().invoke(app, list(arguments), catch_exceptions=False)
    assert answer.exit_code == 0, answer.output
    return answer.output


@pytest.mark.parametrize("lang", ["en", "zh_CN"])
def test_all_of_it_without_a_screen(lang: str, tmp_path: Path) -> None:
    table = tmp_path / "报价.csv"
    table.write_bytes("卖家,显卡,报价,日期\n甲,RTX 4090,15000,2026-11-30\n乙,RTX 4090,-1,2026-11-30".encode("gb18030"))
    words = ("import", str(table), "--kind", "purchase_price", "--currency", "CNY", "--lang", lang)
    assert "-1" in run(*words)
    assert load_catalog().purchase_prices == load_base().purchase_prices
    document = json.loads(run(*words, "--yes", "--json"))
    assert [(r["status"], len(r["reasons"])) for r in document["rows"]] == [("new", 0), ("refused", 1)]
    assert document["kept"] == 1
    pack = tmp_path / "p.gapack"
    run("pack", str(pack), "--title", "报价", "--lang", lang)
    run("undo", "--lang", lang)
    assert json.loads(run("apply", str(pack), "--json", "--lang", lang))["rows"][0]["status"] == "new"
    assert "报价" in run("apply", str(pack), "--yes", "--lang", lang)
    assert "→" in run("correct", "nvidia-rtx-4090", "tdp_watts=455", "notes=mine", "--lang", lang)
    assert load_catalog().gpu_by_id["nvidia-rtx-4090"].tdp_watts == 455
    run("remove", "nvidia-rtx-4090", "--lang", lang)
    assert load_catalog().gpu_by_id["nvidia-rtx-4090"] == load_base().gpu_by_id["nvidia-rtx-4090"]
    assert len(json.loads(run("changes", "--json"))["changes"]) == 3
    out = tmp_path / "out.csv"
    run("export", "purchase_price", str(out), "--mine", "--lang", lang)
    back = json.loads(run("import", str(out), "--kind", "purchase_price", "--json"))
    assert [r["status"] for r in back["rows"]] == ["same"]


@pytest.mark.parametrize("values", [["tdp_watts=much"], ["nothing=1"], ["id=x"], ["memory_gb=-1"]])
def test_a_correction_that_can_not_be_is_refused(values: list[str]) -> None:
    with pytest.raises(InputError) as caught:
        CliRunner().invoke(app, ["correct", "nvidia-rtx-4090", *values], catch_exceptions=False)
    assert Language("zh_CN").error(caught.value)
    assert load_catalog().gpus == load_base().gpus


@pytest.mark.parametrize("kind", ["offer", "purchase_price", "gpu", "system", "api_price", "cost_item"])
def test_the_whole_catalogue_goes_out_and_comes_back(kind: str, tmp_path: Path) -> None:
    out = tmp_path / "out.csv"
    run("export", kind, str(out))
    back = json.loads(run("import", str(out), "--kind", kind, "--json"))
    rows = back["rows"]
    assert len(rows) > 50
    odd = [r for r in rows if r["status"] != "same" and [f["code"] for f in r["reasons"]] != ["import.missing"]]
    assert not odd, odd[:5]  # rows without a day are refused: prices must be dated
