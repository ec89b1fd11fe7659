"""Words: every code that a report prints has some, and none that the glossary forbids."""

from __future__ import annotations

import csv
import io
import re
from importlib.resources import files
from pathlib import Path

import pytest
from babel.messages.pofile import read_po
from sample_advice import sample_advice

from engine.advice.result import PickRole
from engine.i18n import Language
from engine.layout.model import Method, Offload, Recomputation, Regime, Sharding
from engine.memory.result import Verdict
from engine.messages import LABELS
from engine.messages.sources import SOURCES
from engine.quantity import Estimate, Money, MoneyEstimate
from engine.report.document import OPEN, Amount, Facts, Join, Ordinal, Range, Text, count_open, say
from engine.report.thresholds import next_lines, threshold_lines, thresholds
from engine.report.wording import words

PO = files("resources") / "locale/zh_CN/LC_MESSAGES/gpu_advisor.po"
EN, ZH = Language("en"), Language("zh_CN")


def chinese() -> list[str]:
    with PO.open("rb") as stream:
        return [str(m.string) for m in read_po(stream, locale="zh_CN") if m.id and m.string]


def test_no_forbidden_word_is_used() -> None:
    with (Path(__file__).parent / "data/terms_avoid.csv").open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert len(rows) > 15
    bad: list[tuple[str, str]] = []
    for row in rows:
        for word in row["avoid_zh"].split("；"):
            # 激活 is forbidden as the short form of 激活值; 激活值 and 激活参数量 are the right words
            bad += [
                (word, s)
                for s in chinese()
                if word in s.replace("激活值", "").replace("激活参数", "").replace("激活重计算", "")
            ]
    assert not bad


def test_one_word_for_fits() -> None:
    """装得下 in the window and the terminal, 可容纳 in reports (T026 of the list of terms), and no third one."""
    third = re.compile("[放容塞][得不]下|勉强放下|塞下")
    assert not [text for text in chinese() if third.search(text)]


@pytest.mark.parametrize("kind", [Method, Regime, Recomputation, Sharding, Verdict, PickRole])
def test_every_member_has_a_label(kind: type) -> None:
    prefix = {"PickRole": "role"}.get(kind.__name__, kind.__name__.lower())
    missing = [f"{prefix}.{m}" for m in kind if f"{prefix}.{m}" not in LABELS]  # type: ignore[attr-defined]
    assert not missing


def test_offload_and_ways_have_labels() -> None:
    assert all(f"offload.{o}" in LABELS for o in Offload if o is not Offload.NONE)
    assert all(f"way.{w}" in LABELS for w in ("buy", "rent", "shared", "owned", "api"))


def test_every_threshold_has_words_a_document_and_a_source() -> None:
    lines = thresholds()
    assert len(lines) >= 13
    for line in lines:
        assert f"threshold.{line.id}" in LABELS
        assert line.document and line.rule_date and line.source_url.startswith("http")


def test_the_two_neighbouring_lines() -> None:
    from decimal import Decimal

    below, above = next_lines("CN", Money(amount=Decimal(1_200_000), currency="CNY"), purchase=True)
    assert below is not None and below.id == "T-CN-10a"
    assert above is not None and above.id == "T-CN-10b"
    assert next_lines("CN", Money(amount=Decimal(1), currency="USD"), purchase=True) == (None, None)
    ten_thousand = Money(amount=Decimal(10_000), currency="USD")
    reached = next_lines("US", ten_thousand, purchase=True)[0]
    assert reached is not None and reached.id == "T-US-01"  # a line counts once its amount is reached
    assert next_lines("US", ten_thousand, purchase=False)[0] is None  # what is rented is no equipment
    assert len(threshold_lines(sample_advice(), Money(amount=Decimal(450_000), currency="CNY"), purchase=True)) == 2


def test_values_in_words() -> None:
    from decimal import Decimal

    cost = MoneyEstimate(low=Decimal(24_571), expected=Decimal(36_717), high=Decimal(53_182), currency="CNY")
    assert words(Amount("money", cost), ZH) == "3.67 万元"
    assert words(Range("money", cost), ZH) == "2.46 – 5.32 万元"
    assert words(Amount("money", cost), EN) == "¥36,717"
    assert words(Range("gib", Estimate(low=2**30, expected=2**31, high=3 * 2**30)), EN) == "1.0 – 3.0 GiB"
    assert words(Join((Text("a"), Text("b"))), ZH) == "a、b"
    assert [words(Ordinal(n), ZH) for n in (1, 10, 12)] == ["一", "十", "十二"]
    assert words(say("{x} and {y:pct}", x=Text("{y}"), y=0.5), EN) == "{y} and 50%"
    assert words(OPEN, EN) == "[to be completed]" and words(OPEN, ZH) == "〔待填写〕"


def test_open_fields_are_found_at_any_depth() -> None:
    from engine.report.document import Fact

    assert count_open((say("{x}", x=OPEN), Facts((Fact(Text("a"), OPEN), Fact(Text("b"), Text("c")))))) == 2


def test_sources_of_the_tables_are_translated() -> None:
    """What a calibration table says in words about a source is known to the translators; citations are not words."""
    spoken = re.compile(r"[a-z]{3,} [a-z]{2,} [a-z]{3,}")
    for name in ("memory_overheads", "software", "links"):
        text = (files("resources") / "calibration" / f"{name}.csv").read_text(encoding="utf-8")
        for row in csv.DictReader(io.StringIO(text)):
            if spoken.search(row["source"]):
                assert row["source"] in SOURCES, (name, row["source"])
    chinese = Language("zh_CN")
    for source in SOURCES:
        assert chinese.source(f"{source} (2026-12-01)") != f"{source} (2026-12-01)"
        assert chinese.source(f"{source} (2026-12-01)").endswith(" (2026-12-01)")
