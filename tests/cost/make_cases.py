"""Writes `data/cases.fods`: six cases of cost over the months, as formulas by hand in a spreadsheet of their own.

    python tests/cost/make_cases.py           writes the sheets, formulas without values
    python tests/cost/make_cases.py compute   has LibreOffice compute them and writes `data/cases_values.csv`

The formulas stand here as spreadsheet text and share nothing with the engine. Inputs are made up, round and dated
nowhere: the sheets prove arithmetic, not prices. Every amount of a month is rounded to the cent, as a bill is.
"""

# ruff: noqa: E501  (a formula of the sheet is one line)
from __future__ import annotations

import csv
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ET
from pathlib import Path
from xml.sax.saxutils import escape, quoteattr

DATA = Path(__file__).parent / "data"
FIRST = 46  # row of month 0: inputs stand above

OWN = {
    "machine": "IF(MOD([.A{r}];[.life])=0;IF([.A{r}]<[.months];ROUND([.units]*[.price]*(1-[.discount]);2);0);0)",
    "duty": "ROUND([.machine@]*[.duty_rate];2)",
    "tax": "ROUND(([.machine@]+[.duty@])*[.tax_rate];2)",
    "borrowed": "IF([.A{r}]=0;-ROUND(([.machine@]+[.duty@]+[.tax@])*[.financed];2);0)",
    "repaid": "IF(AND([.A{r}]>0;[.A{r}]<=[.loan_months]);ROUND(-PMT([.loan_rate]/12;[.loan_months];-[.borrowed0]);2);0)",
    "electricity": "IF([.A{r}]=0;0;ROUND(([.busy_hours]*[.load_kw]+(730-[.busy_hours])*[.idle_kw])*[.pue]*[.tariff];2))",
    "space": "IF([.A{r}]=0;0;ROUND([.rated_kw]*[.colocation];2))",
    "staff": "IF([.A{r}]=0;0;ROUND([.staff_hours]*[.wage];2))",
    "spares": "IF(MOD([.A{r}]-1;[.life])+1>[.warranty];IF([.A{r}]=0;0;ROUND([.units]*[.price]*(1-[.discount])*[.spares_rate]/12;2));0)",
    "residual": "IF([.A{r}]=[.months];-ROUND([.units]*[.price]*(1-[.discount])*[.residual_share];2);0)",
}
RENT = {
    "rent": "IF([.A{r}]=0;0;ROUND([.cards]*[.card_hour]*[.billed_hours];2))",
    "host": "IF([.A{r}]=0;0;ROUND([.cards]*[.host_hour]*[.billed_hours];2))",
    "storage": "IF([.A{r}]=0;0;ROUND(([.stored_gb]+[.snapshot_gb])*[.gb_month];2))",
    "egress": "IF([.A{r}]=0;0;ROUND([.out_gb]*[.out_price];2))",
    "support": "IF([.A{r}]=0;0;ROUND(MAX([.support_share]*([.rent@]+[.host@]);[.support_least]);2))",
    "rent_tax": "ROUND(([.rent@]+[.host@]+[.storage@]+[.egress@]+[.support@])*[.rent_tax_rate];2)",
    "unused_term": "IF([.A{r}]=[.months];ROUND((CEILING([.months];[.term_months])-[.months])*[.rent@]*(1+[.rent_tax_rate]);2);0)",
    "unspent": "IF([.A{r}]=[.months];IF([.top_up]=0;0;ROUND(CEILING([.spent];[.top_up])-[.spent];2));0)",
}
API = {
    "input": "IF([.A{r}]=0;0;ROUND([.requests]*[.prompt]/1000000*[.in_price];2))",
    "output": "IF([.A{r}]=0;0;ROUND([.requests]*[.answer]/1000000*[.out_token_price];2))",
    "hosting": "IF([.A{r}]=0;0;ROUND([.hosting_hours]*[.hosting_price];2))",
    "api_tax": "ROUND(([.input@]+[.output@]+[.hosting@])*[.api_tax_rate];2)",
}
_NO_LOAN = {"financed": 0, "loan_rate": 0.06, "loan_months": 1}
_NO_EXTRAS = {
    "host_hour": 0, "stored_gb": 0, "snapshot_gb": 0, "gb_month": 0, "out_gb": 0, "out_price": 0, "support_share": 0,
    "support_least": 0, "rent_tax_rate": 0, "term_months": 1, "top_up": 0,
}  # fmt: skip
_SPENT = "SUM([.rent:];[.host:];[.storage:];[.egress:];[.support:];[.rent_tax:])"
#: Case: (kinds of columns, inputs; text is a formula over inputs above it).
CASES: dict[str, tuple[dict[str, str], dict[str, float | str]]] = {
    "rent_only": (
        RENT,
        {
            "months": 14, "rate": 0.05, "cards": 8, "card_hour": 2.99, "runs": 7, "hours_of_run": 11.3, "unit": 1,
            "least_hours": 2,
            "billed_hours": "[.runs]*MAX(CEILING([.hours_of_run];[.unit]);[.least_hours])",
            **_NO_EXTRAS, "host_hour": 0.21, "stored_gb": 2350, "snapshot_gb": 640, "gb_month": 0.023, "out_gb": 147,
            "out_price": 0.09, "support_share": 0.03, "support_least": 29, "rent_tax_rate": 0.06, "top_up": 500,
            "spent": _SPENT,
        },
    ),
    "workstation": (
        OWN,
        {
            "months": 48, "rate": 0.04, "units": 1, "price": 33147.5, "discount": 0.05, "duty_rate": 0, "tax_rate": 0.13,
            **_NO_LOAN, "busy_hours": 210, "load_kw": 0.637, "idle_kw": 0.093, "pue": 1, "tariff": 0.663, "rated_kw": 0,
            "colocation": 0, "staff_hours": 1.5, "wage": 143.2, "life": 60, "warranty": 36, "spares_rate": 0.043,
            "residual_share": 0.227,
        },
    ),
    "node_five_years": (
        OWN,
        {
            "months": 60, "rate": 0.08, "units": 1, "price": 287431.37, "discount": 0.12, "duty_rate": 0.025,
            "tax_rate": 0.2, "financed": 0.7, "loan_rate": 0.067, "loan_months": 36, "busy_hours": 483,
            "load_kw": 8.67, "idle_kw": 2.31, "pue": 1.54, "tariff": 0.1902, "rated_kw": 10.2, "colocation": 163.44,
            "staff_hours": 11, "wage": 67.31, "life": 48, "warranty": 36, "spares_rate": 0.037, "residual_share": 0.625,
        },
    ),
    "hybrid": (
        {**OWN, **RENT},
        {
            "months": 36, "rate": 0.05, "units": 5, "price": 31234.56, "discount": 0, "duty_rate": 0, "tax_rate": 0.19,
            **_NO_LOAN, "busy_hours": 300, "load_kw": 4.77, "idle_kw": 1.07, "pue": 1.3, "tariff": 0.29, "rated_kw": 6,
            "colocation": 125, "staff_hours": 6, "wage": 61.7, "life": 60, "warranty": 24, "spares_rate": 0.05,
            "residual_share": 0.3, "cards": 3, "card_hour": 3.46, "billed_hours": "[.busy_hours]*1.07", **_NO_EXTRAS,
            "stored_gb": 900, "gb_month": 0.1, "rent_tax_rate": 0.19, "spent": _SPENT,
        },
    ),
    "spot": (
        RENT,
        {
            "months": 5, "rate": 0.05, "cards": 16, "card_hour": 1.37, "nodes": 2, "interruptions": 0.175, "lost": 1.7,
            "job_hours": 214.6, "billed_hours": "[.job_hours]*MIN(2;1+[.nodes]*[.interruptions]*[.lost]/730)",
            **_NO_EXTRAS, "stored_gb": 5120, "gb_month": 0.08, "out_gb": 26.8, "out_price": 0.12, "term_months": 3,
            "spent": _SPENT,
        },
    ),
    "api": (
        API,
        {
            "months": 24, "rate": 0.05, "requests": 31417, "prompt": 2180, "answer": 467, "in_price": 0.59,
            "out_token_price": 0.79, "hosting_hours": 730, "hosting_price": 1.7, "api_tax_rate": 0.06,
        },
    ),
}  # fmt: skip


def _column(number: int) -> str:
    return chr(ord("A") + number)


def _resolved(formula: str, row: int, last: int, inputs: list[str], lines: list[str]) -> str:
    """Names of inputs and columns as cells."""
    out = formula.replace("[.A{r}]", f"[.A{row}]").replace("[.borrowed0]", f"[.{_letter(lines, 'borrowed')}{FIRST}]")
    for name in lines:
        letter = _letter(lines, name)
        out = out.replace(f"[.{name}@]", f"[.{letter}{row}]")
        out = out.replace(f"[.{name}:]", f"[.{letter}{FIRST}:.{letter}{last}]")
    for number, name in enumerate(inputs):
        out = out.replace(f"[.{name}]", f"[.B{number + 1}]")
    return out


def _letter(lines: list[str], name: str) -> str:
    return _column(1 + lines.index(name)) if name in lines else "Z"


def _cell(value: float | str) -> str:
    if isinstance(value, str) and value.startswith("="):
        return f"<table:table-cell table:formula={quoteattr('of:' + value)} office:value-type='float'/>"
    if isinstance(value, str):
        return f"<table:table-cell office:value-type='string'><text:p>{escape(value)}</text:p></table:table-cell>"
    return f"<table:table-cell office:value-type='float' office:value='{value!r}'/>"


def _sheet(name: str, columns: dict[str, str], inputs: dict[str, float | str]) -> str:
    months = int(inputs["months"])
    names, lines = list(inputs), list(columns)
    last = FIRST + months
    total, worth = _column(1 + len(lines)), _column(2 + len(lines))
    rows: list[list[float | str]] = []
    for key, value in inputs.items():
        cell = "=" + _resolved(value, 0, last, names, lines) if isinstance(value, str) else value
        rows.append([key, cell])
    rows += [[] for _ in range(FIRST - 4 - len(rows))]
    rows.append(["sum", *(f"=SUM([.{_column(i + 1)}{FIRST}:.{_column(i + 1)}{last}])" for i in range(len(lines) + 2))])
    rows.append([])
    rows.append(["month", *lines, "total", "present_value"])
    for month in range(months + 1):
        row = FIRST + month
        cells = ["=" + _resolved(columns[line], row, last, names, lines) for line in lines]
        rate = _resolved("[.rate]", row, last, names, lines)
        rows.append(
            [
                month,
                *cells,
                f"=SUM([.B{row}:.{_column(len(lines))}{row}])",
                f"=[.{total}{row}]/(1+{rate})^([.A{row}]/12)",
            ]
        )
    assert worth == _column(len(rows[-1]) - 1)
    body = "".join(
        f"<table:table-row>{''.join(_cell(c) for c in r) or '<table:table-cell/>'}</table:table-row>\n" for r in rows
    )
    return f"<table:table table:name={quoteattr(name)}>\n{body}</table:table>"


def document() -> str:
    """The flat spreadsheet."""
    spaces = " ".join(
        f'xmlns:{k}="urn:oasis:names:tc:opendocument:xmlns:{k}:{v}"'
        for k, v in (("office", "1.0"), ("table", "1.0"), ("text", "1.0"), ("of", "1.2"))
    )
    sheets = "\n".join(_sheet(n, c, i) for n, (c, i) in CASES.items())
    return (
        f'<?xml version="1.0" encoding="UTF-8"?>\n<office:document {spaces} office:version="1.3" '
        f'office:mimetype="application/vnd.oasis.opendocument.spreadsheet">\n'
        f"<office:body><office:spreadsheet>\n{sheets}\n</office:spreadsheet></office:body></office:document>\n"
    )


def computed(source: Path, office: str = "soffice") -> list[tuple[str, str, str, float]]:
    """(case, row, column, value) of every sum and every month, as LibreOffice computes them from the sheets."""
    with tempfile.TemporaryDirectory() as folder:
        profile = f"-env:UserInstallation=file://{folder}/profile"
        command = [office, profile, "--headless", "--convert-to", "fods", "--outdir", folder, str(source)]
        subprocess.run(command, check=True, capture_output=True, timeout=240)
        root = ET.parse(Path(folder) / source.name).getroot()
    return [item for table in root.iter(_tag("table")) for item in _values(table)]


def _tag(name: str, space: str = "table") -> str:
    return f"{{urn:oasis:names:tc:opendocument:xmlns:{space}:1.0}}{name}"


def _values(table: ET.Element) -> list[tuple[str, str, str, float]]:
    case = table.get(_tag("name"), "")
    lines = [*CASES[case][0], "total", "present_value"]
    found: list[tuple[str, str, str, float]] = []
    for row in table.iter(_tag("table-row")):
        values: list[str | None] = []
        for cell in row.iter(_tag("table-cell")):
            text = cell.get(_tag("value", "office")) or "".join(cell.itertext()).strip()
            values += [text] * int(cell.get(_tag("number-columns-repeated"), "1"))
        name = str(values[0])
        if len(values) > len(lines) and (name == "sum" or name.isdigit()):
            found += [(case, name, line, float(str(v))) for line, v in zip(lines, values[1:], strict=False)]
    return found


def main() -> None:
    """Write the sheets, or have them computed."""
    source = DATA / "cases.fods"
    if sys.argv[1:] != ["compute"]:
        source.write_text(document(), encoding="utf-8")
        return
    with (DATA / "cases_values.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(("case", "row", "column", "value"))
        writer.writerows((c, r, n, repr(v)) for c, r, n, v in computed(source))


if __name__ == "__main__":
    main()
