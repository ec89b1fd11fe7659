"""Absurd figures in a scenario are refused by name: no traceback, no figure that can't be printed."""

import json
from typing import Any

import pytest
from pydantic import ValidationError

from engine.examples import example_content
from engine.i18n import Language
from engine.scenario import Scenario

RATE = {"currency": "CNY", "observed_on": "2026-11-01", "source": "x"}
WORKLOAD = ("tasks", 0, "workload")


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ((*WORKLOAD, "data", "epochs"), 1e300),
        ((*WORKLOAD, "data"), {"tokens": 10**30}),
        ((*WORKLOAD, "runs", "final_runs"), 10**9),
        (("economics", "electricity_per_kwh"), {"amount": "1E30", "currency": "CNY"}),
        (("economics", "engineer_hour"), {"amount": "-5", "currency": "CNY"}),
        (("constraints", "budget"), {"amount": "1E27", "currency": "CNY"}),
        (("constraints", "deadline_days"), float("inf")),
        (
            ("exchange_rates",),
            [{"currency": "CNY", "units_per_usd": "1E40", "observed_on": "2026-11-01", "source": "x"}],
        ),
        (
            ("exchange_rates",),
            [{"currency": "CNY", "units_per_usd": "1E-40", "observed_on": "2026-11-01", "source": "x"}],
        ),
    ],
)
def test_absurd_values_are_refused(path: tuple[Any, ...], value: object) -> None:
    fields = json.loads(example_content("qlora-8b-own-card", Language("en")))
    assert Scenario.model_validate(fields)
    place = fields
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    with pytest.raises(ValidationError):
        Scenario.model_validate(fields)
