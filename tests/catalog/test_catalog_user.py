"""The user's own rows: they win, say so, survive a kill, and are never lost."""

from __future__ import annotations

import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from datetime import date
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from engine.catalog import store
from engine.catalog.check import check_catalog
from engine.catalog.load import load_base, load_catalog
from engine.catalog.user import (
    add_offer,
    add_purchase_price,
    file_sha256,
    read_user_rows,
    remove,
    set_aside,
    shared_cluster,
    user_database_path,
)
from engine.errors import CatalogError, InputError
from engine.hardware.model import Offer, PurchasePrice
from engine.quantity import Money

A800 = ("nvidia-a800-sxm-80gb",)


def campus(name: str = "校级计算平台", price: str = "2") -> Offer:
    money = Money(amount=Decimal(price), currency="CNY")
    return shared_cluster(name, A800, money, queue_days=5, max_gpus=8, country="CN", observed_on=date(2026, 11, 20))


def quotation() -> PurchasePrice:
    return PurchasePrice(
        id="user.dealer", gpu_ids=A800, product="A800", seller="dealer", condition="new", price=Decimal("82000.50"),
        currency="CNY", observed_on=date(2026, 11, 1),
    )  # fmt: skip


def test_the_file_lives_where_the_environment_says(own_folders: Path) -> None:
    assert user_database_path() == own_folders / "data" / "user.sqlite"


def test_an_offer_comes_back_as_it_was_and_says_whose_it_is() -> None:
    saved = add_offer(campus())
    assert saved.origin == "user"
    assert read_user_rows(user_database_path()).offers == (saved,)
    catalog = load_catalog()
    assert catalog.offers[0] == saved
    assert len(catalog.offers) == len(load_base().offers) + 1
    assert load_catalog(with_user_rows=False).offers == load_base().offers


def test_a_row_of_the_users_own_hides_the_bundled_one_until_it_is_removed() -> None:
    bundled = load_base().offers[0]
    own = Offer.model_validate({**bundled.model_dump(), "price_per_gpu_hour": Decimal("0.01")})
    add_offer(own)
    catalog = load_catalog()
    found = [o for o in catalog.offers if o.id == bundled.id]
    assert [(o.price_per_gpu_hour, o.origin) for o in found] == [(Decimal("0.01"), "user")]
    assert len(catalog.offers) == len(load_base().offers)
    remove(bundled.id)
    assert [o for o in load_catalog().offers if o.id == bundled.id] == [bundled]


def test_saving_again_replaces() -> None:
    add_offer(campus(price="2"))
    add_offer(campus(price="3"))
    assert [o.price_per_gpu_hour for o in read_user_rows(user_database_path()).offers] == [Decimal(3)]


def test_quotations_keep_every_digit() -> None:
    saved = add_purchase_price(quotation())
    assert load_catalog().purchase_prices[0] == saved
    assert saved.price == Decimal("82000.50")
    remove(saved.id)
    assert read_user_rows(user_database_path()).purchase_prices == ()


def test_a_bundled_row_can_not_be_removed() -> None:
    with pytest.raises(InputError) as caught:
        remove(load_base().offers[0].id)
    assert caught.value.code == "catalog.not_yours"


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    name=st.text(min_size=1, max_size=30).filter(lambda s: s.strip() == s and "\x00" not in s and s.isprintable()),
    cents=st.integers(0, 10**9),
    days=st.floats(0, 365),
    note=st.text(alphabet=st.characters(exclude_categories=("Cs", "Cc")), max_size=50),
)
def test_any_cluster_survives_the_journey(name: str, cents: int, days: float, note: str, tmp_path: Path) -> None:
    file = tmp_path / "数据 with space" / "user.sqlite"
    money = Money(amount=Decimal(cents) / 100, currency="CNY")
    offer = shared_cluster(name, A800, money, queue_days=days, observed_on=date(2026, 1, 1), notes=note)
    saved = add_offer(offer, file)
    assert saved in read_user_rows(file).offers


def test_a_free_cluster_is_allowed_a_negative_price_is_not() -> None:
    assert campus(price="0").price_per_gpu_hour == 0
    with pytest.raises(ValidationError):
        campus(price="-1")


def test_a_kill_in_the_middle_of_a_write_loses_nothing() -> None:
    kept = add_offer(campus("kept"))
    path = user_database_path()
    code = (
        "import os, signal\n"
        "from pathlib import Path\n"
        "from engine.catalog import store\n"
        "def write(db):\n"
        "    db.execute('PRAGMA cache_spill = 1')\n"
        "    row = next(iter(db.table('own_row').rows))\n"
        "    for i in range(3000):\n"
        "        db.table('own_row').insert({**row, 'id': f'half-{i}', 'content': 'x' * 2000})\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
        f"store.write(Path({str(path)!r}), write)\n"
    )
    ended = subprocess.run([sys.executable, "-c", code], check=False)
    assert ended.returncode == -signal.SIGKILL
    assert path.with_name("user.sqlite-journal").exists(), "the kill came before anything reached the disk"
    assert read_user_rows(path).offers == (kept,)
    assert add_offer(campus("after")) in read_user_rows(path).offers


@pytest.mark.parametrize(
    "contents", [b"no database at all, but long enough to have a header" * 40, b"SQLite format 3\x00"]
)
def test_a_damaged_file_is_said_and_kept(contents: bytes) -> None:
    path = user_database_path()
    path.parent.mkdir(parents=True)
    path.write_bytes(contents)
    with pytest.raises(CatalogError) as caught:
        load_catalog()
    assert caught.value.code == "catalog.user_damaged"
    with pytest.raises(CatalogError):
        add_offer(campus())
    assert path.read_bytes() == contents
    aside = set_aside()
    assert aside is not None
    assert aside.read_bytes() == contents
    assert load_catalog().offers == load_base().offers
    assert set_aside() is None


def test_a_row_that_makes_no_sense_is_said() -> None:
    add_offer(campus())
    with closing(sqlite3.connect(user_database_path())) as db:
        db.execute("UPDATE own_row SET content = replace(content, 'CNY', 'yuan')")
        db.commit()
    with pytest.raises(CatalogError) as caught:
        load_catalog()
    assert caught.value.code == "catalog.user_damaged"


def test_a_file_of_a_newer_program_is_refused_and_untouched() -> None:
    add_offer(campus())
    path = user_database_path()
    with closing(sqlite3.connect(path)) as db:
        query = "INSERT INTO _sqlite_migrations (migration_set, name, applied_at) VALUES (?, 'm999_future', '')"
        db.execute(query, ["gpu_advisor.user"])
        db.commit()
    before = path.read_bytes()
    for act in (load_catalog, lambda: add_offer(campus("other"))):
        with pytest.raises(CatalogError) as caught:
            act()
        assert caught.value.code == "catalog.user_newer"
    assert path.read_bytes() == before
    assert load_catalog(with_user_rows=False).offers


def test_an_empty_database_is_brought_up_to_date() -> None:
    path = user_database_path()
    path.parent.mkdir(parents=True)
    with closing(sqlite3.connect(path)) as db:
        db.execute("CREATE TABLE something_else (x INTEGER)")
    assert read_user_rows(path).offers == ()
    assert add_offer(campus()) in read_user_rows(path).offers


def test_a_locked_file_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    add_offer(campus())
    monkeypatch.setattr(store, "BUSY_SECONDS", 0.05)
    with closing(sqlite3.connect(user_database_path())) as other:
        other.execute("BEGIN EXCLUSIVE")
        with pytest.raises(CatalogError) as caught:
            add_offer(campus("other"))
        assert caught.value.code == "catalog.user_locked"
        with pytest.raises(CatalogError) as caught:
            load_catalog()
        assert caught.value.code == "catalog.user_locked"


def test_a_folder_in_the_way_is_said(own_folders: Path) -> None:
    (own_folders / "data").write_text("a file where the folder should be")
    with pytest.raises(CatalogError) as caught:
        add_offer(campus())
    assert caught.value.code == "catalog.user_unwritable"


def test_a_quotation_that_has_run_out_is_said() -> None:
    add_purchase_price(quotation().model_copy(update={"valid_until": date(2026, 11, 15), "tax_included": True}))
    found = [f for f in check_catalog(load_catalog(), date(2026, 12, 1)).findings if "expired" in f.code]
    assert [f.params["id"] for f in found] == ["user.dealer"]
    assert not [f for f in check_catalog(load_catalog(), date(2026, 11, 15)).findings if "expired" in f.code]


def test_the_file_of_a_quotation_is_known_by_its_hash(tmp_path: Path) -> None:
    file = tmp_path / "报价.pdf"
    file.write_bytes(b"abc")
    assert file_sha256(file) == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    with pytest.raises(InputError, match=r"catalog\.file_unreadable"):
        file_sha256(tmp_path / "none.pdf")
