"""Tables of others: read right, or refused by name. The collection is made here, byte by byte."""

from __future__ import annotations

import time
from datetime import date
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.catalog.headings import headings_of
from engine.catalog.importing import ImportPlan, apply_plan, changed_fields, plan_import
from engine.catalog.load import load_base, load_catalog
from engine.catalog.store import changes, undo_last
from engine.catalog.table_file import Table, read_table, safe_cell, table_bytes, table_of
from engine.catalog.values import Habit, UnreadableError, day_of, decimal_of, habit_of, unmarked
from engine.errors import InputError
from engine.i18n import Language
from engine.messages import TEMPLATES

TODAY = date(2026, 12, 1)
HEAD = "seller,card,price,currency,date"


def plan_of(text: str, kind: str = "purchase_price") -> ImportPlan:
    return plan_import(kind, table_of(text, headings_of(kind)), load_base(), today=TODAY)


def price_in(cell: str, *others: str, separator: str = "\t") -> Decimal | str:
    """What a price column says of its first cell: the amount, or the code of the refusal."""
    lines = [separator.join(("seller", "card", "price", "currency", "date"))]
    lines += [separator.join((f"s{n}", "rtx 4090", c, "CNY", "2026-11-30")) for n, c in enumerate((cell, *others))]
    first = plan_of("\n".join(lines)).rows[0]
    return first.row.price if first.row is not None else first.reasons[0].code


@pytest.mark.parametrize(
    ("cell", "amount"),
    [
        ("15000", "15000"),
        ("15,000", "15000"),
        ("15,000.50", "15000.50"),
        ("15.000,50", "15000.50"),
        ("15 000,50", "15000.50"),
        ("15\u00a0000", "15000"),
        ("15'000.5", "15000.5"),
        ("１５０００", "15000"),
        ("１５，０００．５０", "15000.50"),
        ("¥15,000", "15000"),
        ("1.5万", "15000"),
        ("15000元", "15000"),
        ("1.5e4", "15000"),
        ("'15000", "15000"),
    ],
)
def test_numbers_as_people_write_them(cell: str, amount: str) -> None:
    assert price_in(cell) == Decimal(amount)


@pytest.mark.parametrize(
    ("cell", "code"),
    [
        ("NaN", "import.not_finite"),
        ("inf", "import.not_finite"),
        ("#DIV/0!", "import.not_finite"),
        ("-15000", "import.negative"),
        ("(15000)", "import.negative"),
        ("-¥15000", "import.negative"),
        ("￥-15000", "import.negative"),
        ("0", "import.bad_value"),
        ("1", "import.absurd_price"),
        ("99999999999", "import.absurd_price"),
        ("9" * 30, "import.absurd"),
        ("9" * 60, "import.not_a_number"),
        ("1e300", "import.absurd"),
        ("=1+1", "import.formula"),
        ("fifteen", "import.not_a_number"),
        ("15,00,000", "import.not_a_number"),
        ("1.2.3,4,5", "import.not_a_number"),
        ("15000-16000", "import.not_a_number"),
        ("三百", "import.not_a_number"),
    ],
)
def test_what_is_no_price_is_refused_by_name(cell: str, code: str) -> None:
    assert price_in(cell) == code


def test_a_column_tells_what_its_marks_mean() -> None:
    assert price_in("15.000", "7,50", separator=";") == Decimal(15000)
    assert price_in("15,000", "16.000,00", separator=";") == "import.absurd_price"  # fifteen
    assert price_in("15.000", separator=";") == "import.ambiguous_number"
    assert price_in("15,000", separator=";") == "import.ambiguous_number"
    assert price_in("15,000", "16000.5", separator=";") == Decimal(15000)


@pytest.mark.parametrize(
    ("cell", "others", "day"),
    [
        ("2026-11-05", (), date(2026, 11, 5)),
        ("2026/11/5", (), date(2026, 11, 5)),
        ("2026.11.05", (), date(2026, 11, 5)),
        ("20261105", (), date(2026, 11, 5)),
        ("2026年11月5日", (), date(2026, 11, 5)),
        ("２０２６－１１－０５", (), date(2026, 11, 5)),
        ("5.11.2026", (), date(2026, 11, 5)),
        ("5 Nov 2026", (), date(2026, 11, 5)),
        ("November 5, 2026", (), date(2026, 11, 5)),
        ("2026-11-05T10:00:00Z", (), date(2026, 11, 5)),
        ("2026-11-05 10:00", (), date(2026, 11, 5)),
        ("25/11/2026", (), date(2026, 11, 25)),
        ("11/25/2026", (), date(2026, 11, 25)),
        ("05/11/2026", ("25/10/2026",), date(2026, 11, 5)),
        ("11/05/2026", ("10/25/2026",), date(2026, 11, 5)),
        ("05/11/2026", (), "import.ambiguous_day"),
        ("05/11/2026", ("25/10/2026", "10/25/2026"), "import.ambiguous_day"),
        ("2026-02-30", (), "import.not_a_day"),
        ("46331", (), "import.not_a_day"),
        ("5/11/26", (), "import.not_a_day"),
        ("2027-01-05", (), "import.future_day"),
        ("1970-01-01", (), "import.not_a_day"),
        ("yesterday", (), "import.not_a_day"),
    ],
)
def test_days_of_many_forms(cell: str, others: tuple[str, ...], day: date | str) -> None:
    try:
        assert day_of(cell, habit_of((cell, *others), ","), TODAY) == day
    except UnreadableError as problem:
        assert problem.code == day


@settings(max_examples=150, deadline=None)
@given(
    cents=st.integers(0, 10**11), thousands=st.sampled_from(["", ",", ".", " ", "'"]), point=st.sampled_from([".", ","])
)
def test_a_number_with_decimals_is_read_whatever_its_marks(cents: int, thousands: str, point: str) -> None:
    if thousands == point:
        return
    whole = f"{cents // 100:,}".replace(",", thousands)
    assert decimal_of(f"{whole}{point}{cents % 100:02d}", Habit()) == Decimal(cents) / 100


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=60))
def test_no_cell_breaks_the_readers(text: str) -> None:
    for read in (lambda: decimal_of(text, Habit()), lambda: day_of(text, Habit(), TODAY)):
        try:
            value = read()
        except UnreadableError as problem:
            assert problem.code in TEMPLATES
        else:
            assert not isinstance(value, Decimal) or value.is_finite()


@pytest.mark.parametrize(
    ("encoding", "mark"),
    [("utf-8", b""), ("utf-8", b"\xef\xbb\xbf"), ("utf-16", b""), ("utf-16-le", b""), ("utf-16-be", b""),
     ("gb18030", b""), ("gbk", b"")],
)  # fmt: skip
@pytest.mark.parametrize("separator", [",", "\t", ";", "|"])
def test_encodings_and_separators(encoding: str, mark: bytes, separator: str, tmp_path: Path) -> None:
    lines = [["卖家", "显卡", "报价", "币种", "日期", "备注"],
             ["京东自营店", "RTX 4090", "15999.00", "CNY", "2026-11-30", "含税，次日达"]]  # fmt: skip
    file = tmp_path / "报价.csv"
    file.write_bytes(mark + "\r\n".join(separator.join(line) for line in lines).encode(encoding))
    table = read_table(file, headings_of("purchase_price"))
    assert table.separator == separator
    row = plan_import("purchase_price", table, load_base(), today=TODAY).rows[0].row
    assert (row.seller, row.price, row.notes) == ("京东自营店", Decimal("15999.00"), "含税，次日达")
    assert row.gpu_ids == ("nvidia-rtx-4090",)


@pytest.mark.parametrize(
    "content",
    [
        b"seller,card\nAndr\xe9s,4090",
        "seller,card\nAndrés Müller,4090".encode("cp1252"),
        b"\xff\xfes\x00e\x00l",
        b"\x00\x00\x00\x00",
        b"seller,card\n\xff\xff,4090",
    ],
)
def test_bytes_of_no_known_encoding_are_refused(content: bytes, tmp_path: Path) -> None:
    file = tmp_path / "t.csv"
    file.write_bytes(content)
    with pytest.raises(InputError) as caught:
        read_table(file, headings_of("purchase_price"))
    assert caught.value.code in ("import.encoding", "import.empty")


@pytest.mark.parametrize(
    ("text", "code"),
    [
        (",".join(f"c{n}" for n in range(1_000_000)) + "\n1", "import.too_many_columns"),
        (f"{HEAD}\n" + "," * 1_000_000, "import.too_many_columns"),
        (f"{HEAD}\n" + "x" * 1_000_000, "import.broken_table"),
        (f'{HEAD}\n"' + "x" * 50_000 + '"', "import.long_cell"),
        ("", "import.empty"),
        (HEAD, "import.empty"),
        ("a,b\n1,2", "import.no_columns"),
        ("price,amount,card\n1,2,4090", "import.column_twice"),
    ],
)
def test_tables_that_are_none_are_refused_at_once(text: str, code: str) -> None:
    begun = time.perf_counter()
    with pytest.raises(InputError) as caught:
        plan_of(text)
    assert caught.value.code == code
    assert time.perf_counter() - begun < 2
    assert Language("zh_CN").error(caught.value)


def test_too_large_a_file_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("engine.catalog.table_file.MAX_BYTES", 1000)
    file = tmp_path / "t.csv"
    file.write_bytes(b"a" * 1001)
    with pytest.raises(InputError, match=r"import\.too_large"):
        read_table(file, ())
    with pytest.raises(InputError, match=r"import\.unreadable"):
        read_table(tmp_path, ())


def test_a_plan_says_of_each_row_what_becomes_of_it() -> None:
    plan = plan_of(
        f"{HEAD},extra\nA,rtx 4090,15000,CNY,2026-11-30,x\nB,no such card,15000,CNY,2026-11-30,\n"
        "A,rtx 4090,16000,CNY,2026-11-30,\nC,4090,15000,yuan,2026-11-30,\nD,4090,15000,CNY,,\nE,4090,,CNY,2026-11-30"
    )
    assert plan.ignored == ("extra",)
    found = [(r.line, r.status, r.reasons[0].code if r.reasons else "") for r in plan.rows]
    assert found == [
        (2, "new", ""),
        (3, "refused", "import.unknown_card"),
        (4, "refused", "import.twice"),
        (5, "refused", "import.bad_value"),
        (6, "refused", "import.missing"),
        (7, "refused", "import.missing"),
    ]
    for language in (Language("en"), Language("zh_CN")):
        for row in plan.rows:
            assert all("{" not in language.text(f) for f in row.reasons)
    assert load_catalog().purchase_prices == load_base().purchase_prices


def test_a_plan_is_applied_whole_seen_as_changed_and_undone() -> None:
    text = f"{HEAD}\nA,rtx 4090,15000,CNY,2026-11-30\nB,h100 sxm,200000,CNY,2026-11-30"
    assert apply_plan(plan_of(text), "prices.csv") == 2
    catalog = load_catalog()
    assert [p.origin for p in catalog.purchase_prices[:2]] == ["user", "user"]
    known = headings_of("purchase_price")
    again = plan_import("purchase_price", table_of(text.replace("15000", "14000"), known), catalog, today=TODAY)
    assert [r.status for r in again.rows] == ["changed", "same"]
    assert changed_fields(again.rows[0].before, again.rows[0].row) == ("price",)
    apply_plan(again, "prices.csv")
    assert load_catalog().purchase_prices[0].price in (Decimal(14000), Decimal(200000))
    assert [c.title for c in changes()] == ["prices.csv", "prices.csv"]
    undo_last()
    assert {p.price for p in load_catalog().purchase_prices[:2]} == {Decimal(15000), Decimal(200000)}
    undo_last()
    assert load_catalog().purchase_prices == load_base().purchase_prices
    with pytest.raises(InputError, match=r"catalog\.nothing_to_undo"):
        undo_last()


def test_rental_offers_and_cards_with_their_units() -> None:
    offers = plan_of(
        "供应商\t显卡\t单价\t货币\t计费方式\t日期\t地区\n某云\tH100 SXM\t14.5\tCNY\t按需\t2026/11/30\t北京", "offer"
    )
    offer = offers.rows[0].row
    assert (offer.provider, offer.term, offer.price_per_gpu_hour) == ("某云", "on-demand", Decimal("14.5"))
    cards = plan_of("id,name,vendor,usable_gib,memory_gb_per_s,bf16_tflops\nmy-card,My Card,Me,31.5,900,120", "gpu")
    card = cards.rows[0].row
    assert (card.usable_bytes, card.memory_bytes_per_second, card.bf16_flops) == (int(31.5 * 2**30), 900e9, 120e12)
    assert (card.usable_basis, card.origin) == ("reported", "user")
    absurd = plan_of("provider,card,price,currency,date\nX,H100 SXM,2000,USD,2026-11-30", "offer")
    assert absurd.rows[0].reasons[0].code == "import.absurd_price"


@settings(max_examples=200, deadline=None)
@given(
    st.text(alphabet=st.characters(exclude_categories=("Cs", "Cc")), max_size=40)
    | st.sampled_from(["=1", "'=1", "@x", "''+1"])
)
def test_no_exported_cell_is_a_formula_and_all_come_back(text: str) -> None:
    cell = safe_cell(text)
    assert not cell.startswith(("=", "+", "-", "@", "\t", "\r"))
    assert unmarked(cell) == text


def test_formulas_go_out_harmless_and_come_back_as_they_were() -> None:
    content = table_bytes(("seller", "card"), [['=HYPERLINK("x")', "@SUM(1)"]])
    assert b"\n=" not in content
    assert b",@" not in content
    table = table_of(content.decode("utf-8-sig"), headings_of("purchase_price"))
    assert isinstance(table, Table)
    assert table.rows[0][1] == ('\'=HYPERLINK("x")', "'@SUM(1)")
