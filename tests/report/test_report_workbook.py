"""Cost and cash in the workbook: formulas give what the program says, also after another program computed them."""

from __future__ import annotations

import csv
import re
import shutil
import subprocess
import zipfile
from functools import cache
from pathlib import Path
from xml.etree import ElementTree

import pytest

from engine.advice.advise import advise
from engine.advice.result import Advice
from engine.catalog.load import load_catalog
from engine.examples import scenario_or_example
from engine.i18n import Language
from engine.report.comparison import recommended
from engine.report.export import workbook_bytes

SPACE = {"x": "http://schemas.openxmlformats.org/spreadsheetml/2006/main"}


@cache
def advice() -> Advice:
    return advise(scenario_or_example(Path("cn-university-campus-cluster"), Language("en")), load_catalog())


def formulas(path: Path, sheet: int) -> dict[str, tuple[str, float]]:
    with zipfile.ZipFile(path) as book:
        root = ElementTree.fromstring(book.read(f"xl/worksheets/sheet{sheet}.xml"))
    found: dict[str, tuple[str, float]] = {}
    for cell in root.iterfind(".//x:c", SPACE):
        formula = cell.findtext("x:f", None, SPACE)
        if formula:
            found[cell.get("r", "")] = (formula, float(cell.findtext("x:v", "nan", SPACE)))
    return found


@pytest.fixture
def book(tmp_path: Path) -> Path:
    path = tmp_path / "plans.xlsx"
    path.write_bytes(workbook_bytes(advice(), Language("en")))
    return path


def test_formulas_hold_the_totals_of_the_program(book: Path) -> None:
    best, ways = recommended(advice()), advice().ways
    assert best is not None and ways is not None
    cost = formulas(book, 2)
    assert all(re.fullmatch(r"SUM\([BCD]\d+:[BCD]\d+\)", f) for f, _v in cost.values()) and len(cost) == 6
    values = sorted(v for _f, v in cost.values())
    wanted = (best.cost.cash_needed, best.cost.cost_of_job)
    for amount in sorted(float(x) for w in wanted for x in (w.low, w.expected, w.high)):
        assert min(abs(v - amount) for v in values) < 0.05
    cash = formulas(book, 3)
    had = [w for w in ways.ways if w.total is not None]
    assert len(cash) == 2 * len(had)
    for letter, way in zip("BCDEFGHIJKLM", had, strict=False):
        assert way.total is not None and way.present_value is not None
        assert cash[f"{letter}2"][1] == pytest.approx(way.total.expected, abs=0.5)
        assert cash[f"{letter}3"][1] == pytest.approx(way.present_value.expected, abs=0.5)


def _forget_results(path: Path, sheet: int) -> None:
    """Take the stored results out: what another program shows is then its own."""
    with zipfile.ZipFile(path) as book:
        parts = {name: book.read(name) for name in book.namelist()}
    name = f"xl/worksheets/sheet{sheet}.xml"
    parts[name] = re.sub(rb"</f><v>[^<]*</v>", b"</f>", parts[name])
    with zipfile.ZipFile(path, "w") as book:
        for part, content in parts.items():
            book.writestr(part, content)


@pytest.mark.long
@pytest.mark.skipif(shutil.which("soffice") is None, reason="LibreOffice is not installed")
@pytest.mark.parametrize("sheet", [2, 3])
def test_another_program_computes_the_same(book: Path, tmp_path: Path, sheet: int) -> None:
    wanted = formulas(book, sheet)
    _forget_results(book, sheet)
    command = [
        "soffice", f"-env:UserInstallation=file://{tmp_path}/profile", "--headless", "--convert-to",
        f"csv:Text - txt - csv (StarCalc):44,34,76,1,,0,false,false,false,false,false,{sheet}", "--outdir",
        str(tmp_path), str(book),
    ]  # fmt: skip
    subprocess.run(command, check=True, capture_output=True, timeout=180)
    table = next(p for p in tmp_path.glob("plans*.csv"))
    lines = list(csv.reader(table.read_text(encoding="utf-8").splitlines()))
    for cell, (_formula, cached) in wanted.items():
        row, column = int(cell[1:]) - 1, ord(cell[0]) - ord("A")
        assert float(lines[row][column]) == pytest.approx(cached, abs=0.02)
