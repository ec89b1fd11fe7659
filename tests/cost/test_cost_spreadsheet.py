"""The engine's months against those that a spreadsheet computed from formulas by hand: equal to the cent."""

from __future__ import annotations

import csv
import math
import shutil
from pathlib import Path

import make_cases
import pytest

from engine.cost.ledger import (
    ApiUse,
    Ledger,
    Owning,
    Renting,
    api_ledger,
    merged,
    owning_ledger,
    renting_ledger,
)

NAMES = {
    "machine": "own.machine", "duty": "own.duty", "tax": "own.tax", "borrowed": "own.borrowed", "repaid": "own.repaid",
    "electricity": "own.electricity", "space": "own.space", "staff": "own.staff", "spares": "own.spares",
    "residual": "own.residual", "rent": "rent.cards", "host": "rent.host", "storage": "rent.kept", "egress": "rent.out",
    "support": "rent.support", "rent_tax": "rent.tax", "unused_term": "rent.unused_term", "unspent": "rent.unspent",
    "input": "api.input", "output": "api.output", "hosting": "api.hosting", "api_tax": "api.tax",
}  # fmt: skip


def _own(given: dict[str, float]) -> Owning:
    return Owning(
        price=given["units"] * given["price"], load_kw=given["load_kw"], idle_kw=given["idle_kw"],
        rated_kw=given["rated_kw"], busy_hours=given["busy_hours"], tariff=given["tariff"], pue=given["pue"],
        discount=given["discount"], duty_rate=given["duty_rate"], tax_rate=given["tax_rate"],
        financed=given["financed"], loan_rate=given["loan_rate"], loan_months=int(given["loan_months"]),
        colocation=given["colocation"], staff_hours=given["staff_hours"], wage=given["wage"],
        life_months=int(given["life"]), warranty_months=int(given["warranty"]), spares_rate=given["spares_rate"],
        residual_share=given["residual_share"],
    )  # fmt: skip


def _rent(given: dict[str, float], hours: float) -> Renting:
    return Renting(
        cards=given["cards"], card_hour=given["card_hour"], billed_hours=hours, host_hour=given["host_hour"],
        kept_gb=given["stored_gb"] + given["snapshot_gb"], gb_month=given["gb_month"], out_gb=given["out_gb"],
        out_price=given["out_price"], support_share=given["support_share"], support_least=given["support_least"],
        tax_rate=given["rent_tax_rate"], term_months=int(given["term_months"]), top_up=given["top_up"],
    )  # fmt: skip


def _api(given: dict[str, float]) -> ApiUse:
    return ApiUse(
        requests=given["requests"], prompt_tokens=given["prompt"], answer_tokens=given["answer"],
        input_price=given["in_price"], output_price=given["out_token_price"], hosting_hours=given["hosting_hours"],
        hosting_price=given["hosting_price"], tax_rate=given["api_tax_rate"],
    )  # fmt: skip


def _ledger(case: str, given: dict[str, float]) -> Ledger:
    months = int(given["months"])
    match case:
        case "rent_only":
            hours = given["runs"] * max(math.ceil(given["hours_of_run"] / given["unit"]), given["least_hours"])
            return renting_ledger(_rent(given, hours), months)
        case "workstation" | "node_five_years":
            return owning_ledger(_own(given), months)
        case "hybrid":
            rented = renting_ledger(_rent(given, given["busy_hours"] * 1.07), months)
            return merged(owning_ledger(_own(given), months), rented)
        case "spot":
            lost = given["nodes"] * given["interruptions"] * given["lost"] / 730
            return renting_ledger(_rent(given, given["job_hours"] * (1 + lost)), months)
        case _:
            return api_ledger(_api(given), months)


@pytest.fixture(scope="module")
def expected() -> dict[tuple[str, str, str], float]:
    """What the spreadsheet computed, by case, row and column."""
    path = Path(make_cases.DATA) / "cases_values.csv"
    with path.open(encoding="utf-8", newline="") as file:
        return {(r["case"], r["row"], r["column"]): float(r["value"]) for r in csv.DictReader(file)}


@pytest.mark.parametrize("case", make_cases.CASES)
def test_every_month_and_line_equals_the_spreadsheet(case: str, expected: dict[tuple[str, str, str], float]) -> None:
    given = {k: float(v) if not isinstance(v, str) else math.nan for k, v in make_cases.CASES[case][1].items()}
    ledger = _ledger(case, given)
    rows = {k: v for k, v in expected.items() if k[0] == case}
    assert len(rows) == (ledger.months + 2) * (len(make_cases.CASES[case][0]) + 2)
    for (_, row, column), value in rows.items():
        if column == "present_value":
            if row == "sum":
                assert float(ledger.present_value(given["rate"])) == pytest.approx(value, abs=0.005)
            continue
        amounts = ledger.by_month if column == "total" else ledger.lines[NAMES[column]]
        found = float(amounts.sum() if row == "sum" else amounts[int(row)])
        assert found == pytest.approx(value, abs=0.001), (column, row)
    assert float(ledger.total) == pytest.approx(rows[case, "sum", "total"], abs=0.001)
    assert sum(ledger.years()) == pytest.approx(float(ledger.total), abs=0.001)


@pytest.mark.long
@pytest.mark.skipif(shutil.which("soffice") is None, reason="no LibreOffice here")
def test_the_spreadsheet_still_computes_these_values(
    tmp_path: Path, expected: dict[tuple[str, str, str], float]
) -> None:
    source = tmp_path / "cases.fods"
    source.write_text(make_cases.document(), encoding="utf-8")
    found = {(c, r, n): v for c, r, n, v in make_cases.computed(source)}
    assert found == expected
