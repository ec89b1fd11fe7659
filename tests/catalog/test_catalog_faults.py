"""Kills, full disks, locked and damaged files: nothing lost, nothing half done, and a sentence that helps."""

from __future__ import annotations

import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from datetime import date
from decimal import Decimal
from pathlib import Path

import pytest

from engine.catalog import store
from engine.catalog.load import load_base, load_catalog
from engine.catalog.packs import pack_bytes
from engine.catalog.store import Edit, apply_edits, changes, content_of, last_copy, put_back, read_layer, undo_last
from engine.catalog.user import add_purchase_price, user_database_path
from engine.errors import CatalogError, InputError
from engine.hardware.model import PurchasePrice
from engine.i18n import Language

ROWS = 400


def quotation(number: int, price: str) -> PurchasePrice:
    return PurchasePrice(
        id=f"user.q{number}", gpu_ids=("nvidia-rtx-4090",), product="RTX 4090", seller="dealer", condition="new",
        price=Decimal(price), currency="CNY", observed_on=date(2026, 11, 30), notes="n" * 200,
    )  # fmt: skip


def edits(price: str) -> list[Edit]:
    return [Edit("purchase_price", f"user.q{n}", content_of(quotation(n, price))) for n in range(ROWS)]


def prices() -> set[Decimal]:
    rows = read_layer(user_database_path()).get("purchase_price", ())
    assert len(rows) in (0, ROWS)
    return {r.price for r in rows}


#: What a child does over and over until it is killed: it says when it is ready, then imports, edits, applies a pack.
CHILD = """
import itertools, sys
from pathlib import Path
from engine.catalog.importing import apply_plan, plan_import
from engine.catalog.headings import headings_of
from engine.catalog.load import load_catalog
from engine.catalog.packs import apply_pack, plan_pack, read_pack
from engine.catalog.store import undo_last
from engine.catalog.table_file import table_of
folder = Path(sys.argv[1])
known = headings_of("purchase_price")
tables = [table_of((folder / f"{n}.csv").read_text(encoding="utf-8"), known) for n in (0, 1)]
packs = [read_pack(folder / f"{n}.gapack", {}) for n in (0, 1)]
catalog = load_catalog()
print("ready", flush=True)
for turn in itertools.count():
    if turn % 3 == 0:
        apply_plan(plan_import("purchase_price", tables[turn % 2], catalog), "table")
    elif turn % 3 == 1:
        apply_pack(plan_pack(packs[turn % 2], catalog))
    else:
        undo_last()
    catalog = load_catalog()
"""


def kill_many_times(tmp_path: Path, times: int, seed: int) -> None:
    head = "id,seller,card,product,price,currency,date,notes"
    for number, price in enumerate((15000, 16000)):
        lines = [f"user.q{n},dealer,rtx 4090,RTX 4090,{price},CNY,2026-11-30,{'n' * 200}" for n in range(ROWS)]
        (tmp_path / f"{number}.csv").write_text("\n".join([head, *lines]), encoding="utf-8")
        rows = [("purchase_price", quotation(n, str(price))) for n in range(ROWS)]
        (tmp_path / f"{number}.gapack").write_bytes(pack_bytes(rows, "pack"))
    apply_edits(edits("15000"), "import", "first")
    chance = random.Random(seed)
    seen: set[Decimal] = set()
    in_writes = 0
    for _ in range(times):
        child = subprocess.Popen(
            [sys.executable, "-c", CHILD, str(tmp_path)], stdout=subprocess.PIPE, text=True, env=dict(os.environ)
        )
        assert child.stdout is not None
        assert child.stdout.readline().strip() == "ready"
        time.sleep(chance.uniform(0, 0.4))
        child.send_signal(signal.SIGKILL)
        child.wait()
        child.stdout.close()
        in_writes += user_database_path().with_name("user.sqlite-journal").exists()
        found = prices()
        assert found in ({Decimal(15000)}, {Decimal(16000)}), "rows of two states at once, or lost"
        seen |= found
        assert changes()[-1].before is not None
        with closing(sqlite3.connect(user_database_path())) as db:
            assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    if times > 50:
        assert len(seen) == 2
        assert in_writes, "no kill fell into a write"
    assert undo_last().rows == ROWS


@pytest.mark.skipif(os.name == "nt", reason="kills by signal")
def test_a_few_kills_at_random_moments_leave_whole_rows(tmp_path: Path) -> None:
    kill_many_times(tmp_path, 6, seed=5)


@pytest.mark.long
@pytest.mark.skipif(os.name == "nt", reason="kills by signal")
def test_two_hundred_kills_at_random_moments_leave_whole_rows(tmp_path: Path) -> None:
    kill_many_times(tmp_path, 200, seed=7)


def told(error: BaseException) -> str:
    assert isinstance(error, CatalogError)
    for code in ("en", "zh_CN"):
        assert str(user_database_path()) in Language(code).error(error)  # type: ignore[arg-type]
    return error.code


def test_a_full_disk_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    add_purchase_price(quotation(0, "15000"))
    before = user_database_path().read_bytes()
    connect = sqlite3.connect

    def small(*arguments: object, **more: object) -> sqlite3.Connection:
        connection = connect(*arguments, **more)  # type: ignore[call-overload]
        pages = connection.execute("PRAGMA page_count").fetchone()[0]
        connection.execute(f"PRAGMA max_page_count = {max(pages, 1)}")
        return connection

    with monkeypatch.context() as patched:
        patched.setattr(store.sqlite3, "connect", small)
        with pytest.raises(CatalogError) as caught:
            apply_edits(edits("16000"), "import", "too much")
    assert told(caught.value) == "catalog.user_full"
    assert {r.price for r in read_layer(user_database_path())["purchase_price"]} == {Decimal(15000)}
    assert len(user_database_path().read_bytes()) == len(before)


@pytest.mark.skipif(os.name == "nt" or (hasattr(os, "geteuid") and os.geteuid() == 0), reason="root may write anywhere")
def test_a_read_only_folder_is_said() -> None:
    add_purchase_price(quotation(0, "15000"))
    folder = user_database_path().parent
    folder.chmod(0o500)
    try:
        with pytest.raises(CatalogError) as caught:
            add_purchase_price(quotation(1, "15000"))
        assert told(caught.value) == "catalog.user_unwritable"
        assert load_catalog().purchase_prices[0].price == Decimal(15000)
    finally:
        folder.chmod(0o700)


def test_a_database_that_may_only_be_read_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    add_purchase_price(quotation(0, "15000"))
    connect = sqlite3.connect

    def only_read(path: object, **more: object) -> sqlite3.Connection:
        connection = connect(path, **more)  # type: ignore[call-overload]
        connection.execute("PRAGMA query_only = 1")
        return connection

    monkeypatch.setattr(store.sqlite3, "connect", only_read)
    with pytest.raises(CatalogError) as caught:
        add_purchase_price(quotation(1, "15000"))
    assert told(caught.value) == "catalog.user_unwritable"
    assert load_catalog().purchase_prices[0].price == Decimal(15000)


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9])
def test_a_truncated_file_is_said_kept_and_the_last_copy_put_back(share: float) -> None:
    apply_edits(edits("15000"), "import", "first")
    apply_edits(edits("16000"), "import", "second")
    path = user_database_path()
    assert last_copy() is not None
    content = path.read_bytes()
    path.write_bytes(content[: int(len(content) * share)])
    with pytest.raises(CatalogError) as caught:
        load_catalog()
    assert told(caught.value) == "catalog.user_damaged"
    assert load_catalog(with_user_rows=False).offers
    aside = put_back()
    assert aside is not None
    assert aside.read_bytes() == content[: int(len(content) * share)]
    assert prices() == {Decimal(15000)}
    with pytest.raises(InputError, match=r"catalog\.no_copy"):
        put_back()


def test_a_file_of_the_first_version_is_brought_up_to_date() -> None:
    from sqlite_utils import Database

    from engine.catalog.columns import USER_STEPS
    from engine.catalog.schema import USER

    path = user_database_path()
    path.parent.mkdir(parents=True)
    with closing(sqlite3.connect(path)) as connection:
        db = Database(connection)
        USER.apply(db, stop_before=USER_STEPS[1])
        row = quotation(1, "15000").model_dump(mode="json", exclude={
            "origin", "valid_until", "tax_included", "includes", "file_path", "file_sha256"})  # fmt: skip
        row["gpu_ids"], row["whole_server"] = json.dumps(row["gpu_ids"]), 0
        db.table("purchase_price").insert(row)
        connection.commit()
    found = load_catalog().purchase_prices[0]
    assert (found.id, found.price, found.origin) == ("user.q1", Decimal(15000), "user")
    assert len(load_catalog().purchase_prices) == len(load_base().purchase_prices) + 1


def test_only_so_many_changes_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "KEPT_CHANGES", 3)
    for number in range(5):
        add_purchase_price(quotation(number, "15000"))
    assert [c.title for c in changes()] == ["user.q4", "user.q3", "user.q2"]
