"""The built database: deterministic, strict, whole, and never written to."""

from __future__ import annotations

import hashlib
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from importlib.resources import as_file, files
from pathlib import Path

import pytest

from engine.catalog import load
from engine.catalog.build import build, content_sha256, version
from engine.catalog.columns import USER_SET, USER_STEPS
from engine.catalog.load import load_base, load_catalog
from engine.catalog.schema import USER
from engine.errors import CatalogError


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("built") / "catalog.sqlite"
    build(target)
    return target


@pytest.fixture
def shipped() -> Iterator[Path]:
    with as_file(files("resources") / "catalog" / "catalog.sqlite") as path:
        yield path


def dump(path: Path) -> list[str]:
    with closing(sqlite3.connect(path)) as db:
        return list(db.iterdump())


def test_two_builds_give_the_same_bytes(built: Path, tmp_path: Path) -> None:
    again = tmp_path / "again.sqlite"
    build(again)
    assert again.read_bytes() == built.read_bytes()


def test_the_shipped_database_is_built_from_the_tables(built: Path, shipped: Path) -> None:
    assert dump(shipped) == dump(built), "run `python -m engine.catalog.build`"


def test_every_table_is_strict_and_every_reference_holds(built: Path) -> None:
    with closing(sqlite3.connect(built)) as db:
        tables = db.execute("SELECT name, strict FROM pragma_table_list WHERE schema = 'main'").fetchall()
        loose = {name for name, strict in tables if not strict}
        assert loose <= {"sqlite_schema", "_sqlite_migrations"}
        assert db.execute("PRAGMA foreign_key_check").fetchall() == []
        assert {"source", "gpu", "offer", "offer_gpu", "model"} <= {name for name, _ in tables}
        keys = {(r[2], r[3]) for r in db.execute("PRAGMA foreign_key_list(offer_gpu)")}
        assert keys == {("offer", "offer_id"), ("gpu", "gpu_id")}


def test_version_and_hash_travel_with_the_snapshot() -> None:
    catalog = load_base()
    assert catalog.version == version()
    assert catalog.sha256 == content_sha256()
    assert len(catalog.sha256) == 64


def test_the_hash_follows_contents_not_line_ends(tmp_path: Path) -> None:
    copy = tmp_path / "resources"
    with as_file(files("resources")) as source:
        for folder in ("catalog", "models"):
            shutil.copytree(source / folder, copy / folder)
    same = content_sha256(copy)
    table = copy / "catalog" / "gpus.csv"
    table.write_bytes(table.read_bytes().replace(b"\n", b"\r\n"))
    assert content_sha256(copy) == same == content_sha256()
    table.write_bytes(table.read_bytes().replace(b"989", b"990", 1))
    assert content_sha256(copy) != same


def test_reading_leaves_the_base_alone(shipped: Path) -> None:
    before = hashlib.sha256(shipped.read_bytes()).hexdigest(), sorted(p.name for p in shipped.parent.iterdir())
    load._read_base.cache_clear()
    load_catalog()
    assert before == (
        hashlib.sha256(shipped.read_bytes()).hexdigest(),
        sorted(p.name for p in shipped.parent.iterdir()),
    )


@pytest.mark.parametrize("contents", [b"", b"this is no database" * 100, None])
def test_a_damaged_or_missing_base_is_said(
    contents: bytes | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = tmp_path / "a folder with spaces"
    (broken / "catalog").mkdir(parents=True)
    if contents is not None:
        (broken / "catalog" / "catalog.sqlite").write_bytes(contents)
    monkeypatch.setattr(load, "files", lambda _name: broken)
    load._read_base.cache_clear()
    try:
        with pytest.raises(CatalogError) as caught:
            load_base()
    finally:
        load._read_base.cache_clear()
    assert caught.value.code == ("catalog.missing" if contents is None else "catalog.damaged")


def test_an_old_sqlite_gets_the_same_snapshot_from_the_tables(monkeypatch: pytest.MonkeyPatch) -> None:
    usual = load_base()
    monkeypatch.setattr(load, "STRICT_SINCE", (99, 0, 0))
    load._read_base.cache_clear()
    try:
        assert load_base() == usual
        assert load_base() is not usual
    finally:
        load._read_base.cache_clear()


def test_the_known_steps_are_those_of_the_schema() -> None:
    assert tuple(m.name for m in USER._migrations) == USER_STEPS
    assert USER.name == USER_SET


def test_reading_needs_neither_sqlite_utils_nor_a_table_library() -> None:
    code = (
        "import sys; from engine.catalog.load import load_catalog; load_catalog(with_user_rows=False);"
        "print([m for m in ('sqlite_utils', 'pandas', 'matplotlib', 'typst', 'PySide6') if m in sys.modules])"
    )
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert answer.stdout.strip() == "[]"


@pytest.mark.benchmark
def test_a_snapshot_is_read_quickly() -> None:
    import time

    best = 9.0
    for _ in range(3):
        load._read_base.cache_clear()
        start = time.perf_counter()
        load_base()
        best = min(best, time.perf_counter() - start)
    assert best < 0.3
