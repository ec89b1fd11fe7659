"""The bundled fonts: one family in two weights with every character that the program itself prints."""

from __future__ import annotations

from importlib.resources import as_file, files

import pytest
from matplotlib.ft2font import FT2Font

import engine
from engine.report.glyphs import printable

FOLDER = files("resources") / "fonts"


def characters(weight: str) -> set[int]:
    with as_file(FOLDER / f"NotoSansSC-{weight}.otf") as path:
        font = FT2Font(str(path))
        assert font.family_name == "Noto Sans SC"
        return set(font.get_charmap())


@pytest.mark.parametrize("weight", ["Regular", "Bold"])
def test_every_character_of_the_words_is_there(weight: str) -> None:
    text = (files("resources") / "locale/zh_CN/LC_MESSAGES/gpu_advisor.po").read_text(encoding="utf-8")
    # ⚠ is not in the source family; the report and the charts take it from DejaVu Sans
    missing = {c for c in text if ord(c) > 0x20} - {chr(p) for p in characters(weight)} - set("⚠")
    assert not missing


@pytest.mark.parametrize("weight", ["Regular", "Bold"])
def test_all_of_gb2312_is_there(weight: str) -> None:
    found = characters(weight)
    wanted: set[int] = set()
    for lead in range(0xB0, 0xF8):
        for trail in range(0xA1, 0xFF):
            try:
                wanted.update(map(ord, bytes((lead, trail)).decode("gb2312")))
            except UnicodeDecodeError:
                continue
    assert len(wanted) == 6763
    assert wanted <= found


def test_the_catalogue_can_be_printed() -> None:
    catalog = engine.load_catalog()
    names = [g.name + g.region_notes + g.notes for g in catalog.gpus]
    names += [o.provider + o.product + o.region + o.notes for o in catalog.offers]
    names += [p.seller + p.product + p.notes for p in catalog.purchase_prices]
    names += [m.name for m in catalog.models] + [s.name for s in catalog.systems]
    changed = [n for n in names if printable(n) != n.replace("\t", " ")]
    assert not changed


def test_weights_are_small_and_the_licence_is_beside_them() -> None:
    sizes = [len((FOLDER / f"NotoSansSC-{weight}.otf").read_bytes()) for weight in ("Regular", "Bold")]
    assert max(sizes) < 6_000_000
    assert "SIL OPEN FONT LICENSE Version 1.1" in (FOLDER / "OFL.txt").read_text(encoding="utf-8")


def test_what_no_font_has_is_written_as_its_code_point() -> None:
    assert printable("a\U0001f9eab\tc") == "a[U+1F9EA]b c"
    assert printable("昇腾 910B ⚠ ≥ 80 GB → 显存") == "昇腾 910B ⚠ ≥ 80 GB → 显存"
    assert printable("x\x07") == "x[U+0007]"
