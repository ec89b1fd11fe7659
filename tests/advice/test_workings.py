"""The working that is shown is the working: each formula, with the values beside it, gives the amount of its term.

Held over the plans of all examples, as a reader with a calculator would check them.
"""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from engine.advice.advise import advise
from engine.advice.result import Assessment
from engine.catalog.load import load_catalog
from engine.examples import EXAMPLES, scenario_or_example
from engine.hardware.model import CatalogSnapshot
from engine.i18n import Language
from engine.quantity import Term

PLANS = 12  # of each example; further ones repeat the kinds
_OPERATORS: dict[type[ast.operator], Callable[[float, float], float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}


def value(node: ast.expr, values: dict[str, float | int | str]) -> float:
    """The value of a formula: sums, products and `max`."""
    match node:
        case ast.Constant(value=int() | float() as number):
            return float(number)
        case ast.Name(id=name):
            return float(values[name])
        case ast.BinOp(left=left, op=op, right=right):
            return _OPERATORS[type(op)](value(left, values), value(right, values))
        case ast.Call(func=ast.Name(id="max"), args=arguments):
            return max(value(a, values) for a in arguments)
        case _:
            raise ValueError(ast.unparse(node))


def terms(plan: Assessment) -> Iterator[Term]:
    yield from (*plan.risk_terms, *plan.cost.job_terms, *plan.cost.cash_terms)
    for task in plan.tasks:
        yield from (*task.time_terms, *task.memory.terms)
        yield from task.training.terms if task.training else ()
        yield from task.inference.terms if task.inference else ()


@pytest.fixture(scope="module")
def catalog() -> CatalogSnapshot:
    """The bundled catalogue, read once."""
    return load_catalog(with_user_rows=False)


@pytest.mark.parametrize("example", [e.name for e in EXAMPLES])
def test_formulas_give_what_is_shown(catalog: CatalogSnapshot, example: str) -> None:
    advice = advise(scenario_or_example(Path(example), Language("en")), catalog)
    checked = 0
    for plan in advice.ranked[:PLANS]:
        for term in terms(plan):
            worked_out = value(ast.parse(term.formula, mode="eval").body, term.values)
            assert math.isclose(worked_out, term.expected, rel_tol=1e-6, abs_tol=1e-12), (term, worked_out)
            checked += 1
    assert checked > 10
