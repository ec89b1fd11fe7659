"""Cut the bundled fonts out of Noto Sans CJK, once; the result is committed. Needs fonttools.

    python packaging/fonts.py FOLDER_WITH_NotoSansCJK-Regular.ttc_AND_-Bold.ttc

The SC face of each collection is reduced to Latin, Greek, punctuation, arrows, mathematical signs, full-width forms
and the hanzi of GB2312 and the common half of Big5, renamed "Noto Sans SC", and written as one OpenType file a
weight. Same input, same bytes.
"""

from __future__ import annotations

import sys
from pathlib import Path

from fontTools import subset
from fontTools.ttLib import TTCollection, TTFont

OUT = Path(__file__).resolve().parent.parent / "resources/fonts"
FAMILY = "Noto Sans SC"
FACE = "Noto Sans CJK SC"
#: seconds since 1904 that the files carry, so that two runs give the same bytes (2026-01-01)
STAMP = 3_850_070_400

#: first and last code point of the blocks that are kept whole, as far as the source has them
BLOCKS = (
    (0x0020, 0x024F),  # ASCII, Latin-1, Latin Extended-A and -B
    (0x02B0, 0x02FF),  # modifier letters
    (0x0370, 0x03FF),  # Greek
    (0x0400, 0x045F),  # Cyrillic
    (0x2000, 0x206F),  # punctuation
    (0x2070, 0x209F),  # superscripts, subscripts
    (0x20A0, 0x20BF),  # currency signs
    (0x2100, 0x218F),  # letter-like, number forms
    (0x2190, 0x21FF),  # arrows
    (0x2200, 0x22FF),  # mathematical operators
    (0x2300, 0x23FF),  # technical
    (0x2460, 0x24FF),  # enclosed numbers
    (0x2500, 0x27BF),  # boxes, shapes, symbols, dingbats
    (0x3000, 0x303F),  # CJK punctuation
    (0x30FB, 0x30FC),
    (0x3200, 0x33FF),  # enclosed CJK, CJK units
    (0xFE10, 0xFE4F),  # vertical and compatibility forms
    (0xFF00, 0xFFEF),  # full-width forms
)


#: hanzi outside GB2312 and the common half of Big5 that names, products and technical texts use
EXTRA = (
    "昇镕喆堃玥珺珂琋玮昉晢晞暐曈煊熠燊翀翃翊赟贇頔顗骎骉龑芃芮芊芸茜荭莜菀萱蓁蕴薏祎祺禛祯沄沚沨洺浠淏淇"
    "淼湉溦滢潆濛灏烨焜瑄瑀瑗璟璠璐璇瓅甯畯眙睿砼碁硚礽稙窸筠箐粲缦翾耑胤膑舢艾苡茗荀莘葳蒽薷蔺虓蛉衎袆褀"
    "訚諴谌豗赪跶轫轹迺遄遆邗邳郄郇郗郯鄄鄞鄢酆釭鈊鉴鋆鍂镓镔镠镥阇阊阚陉陟隰霁霂靓靖韫颀颢飏馗骁骅骞鹍黟"
    "黻龢〇㎡℃‰№㎏㎜㎝㎞㏄"
)


def wanted() -> set[int]:
    """Code points to keep: the blocks, GB2312, the common half of Big5, and the extra ones."""
    points = {p for first, last in BLOCKS for p in range(first, last + 1)} | set(map(ord, EXTRA))
    for codec, leads in (("gb2312", range(0xA1, 0xF8)), ("big5", range(0xA4, 0xC7))):
        for lead in leads:
            for trail in range(0x40, 0xFF):
                try:
                    points.update(map(ord, bytes((lead, trail)).decode(codec)))
                except UnicodeDecodeError:
                    continue
    return points


def face(path: Path) -> TTFont:
    """The simplified Chinese face of a collection."""
    for font in TTCollection(path, lazy=True).fonts:
        if font["name"].getDebugName(1) in (FACE, f"{FACE} Bold"):
            return font
    raise SystemExit(f"no face {FACE!r} in {path}")


def rename(font: TTFont, weight: str) -> None:
    """Family and full names; the licence and copyright entries stay."""
    names = font["name"]
    postscript = f"{FAMILY.replace(' ', '')}-{weight}"
    texts = {
        1: FAMILY,
        2: weight,
        3: f"2.004;{postscript}",
        4: f"{FAMILY} {weight}".removesuffix(" Regular"),
        6: postscript,
    }
    for record in [r for r in names.names if r.nameID in (*texts, 16, 17, 18, 21, 22, 25)]:
        names.removeNames(record.nameID, record.platformID, record.platEncID, record.langID)
    for number, text in texts.items():
        names.setName(text, number, 3, 1, 0x409)
    compact = font["CFF "].cff
    compact.fontNames = [postscript]
    top = compact.topDictIndex[0]
    top.FamilyName, top.FullName = FAMILY, texts[4]
    font["head"].modified = font["head"].created = STAMP


def cut(source: Path, weight: str) -> Path:
    """Subset one weight and write it."""
    options = subset.Options(
        layout_features=["kern", "liga", "ccmp", "locl", "mark", "mkmk", "palt"],
        name_IDs=[0, 1, 2, 3, 4, 5, 6, 13, 14],
        name_languages=[0x409],
        notdef_outline=True,
        hinting=False,
        desubroutinize=False,
        recalc_timestamp=False,
        drop_tables=["VORG", "vhea", "vmtx", "BASE", "DSIG"],
    )
    font = face(source)
    cutter = subset.Subsetter(options)
    cutter.populate(unicodes=wanted())
    cutter.subset(font)
    rename(font, weight)
    font.recalcTimestamp = False
    target = OUT / f"NotoSansSC-{weight}.otf"
    OUT.mkdir(parents=True, exist_ok=True)
    font.flavor = None
    font.save(target, reorderTables=True)
    return target


def main(arguments: list[str]) -> int:
    """Cut both weights from the folder that is named."""
    if len(arguments) != 1:
        print(__doc__, file=sys.stderr)
        return 2
    for weight in ("Regular", "Bold"):
        target = cut(Path(arguments[0]) / f"NotoSansCJK-{weight}.ttc", weight)
        print(f"{target.name}: {target.stat().st_size:,} bytes")
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
