"""Which options are worth exact pricing, and the measure by which the best balance is chosen.

An option that works is dropped only where others of the same card, way, seller and term beat it on cost, on time, on
risk and on balance, so that no pick can be lost; the cheapest of each card and way always stays.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from engine.scenario import Scenario
from engine.search.options import Option

__all__ = ["MOST_RANKED", "RISK_STEP", "balance", "finalists", "risk_class"]

#: Plans in the ranked list: more than a person reads, enough for every card and its sellers.
MOST_RANKED = 200
#: Weights of the log-ratios of cost, time and risk to the user's targets: money counts twice.
COST_WEIGHT, TIME_WEIGHT, RISK_WEIGHT = 1.0, 0.5, 0.5
#: The deadline that the balance reckons with where none is stated: a week's experiment.
USUAL_DEADLINE_DAYS = 7.0
#: Being done within this share of the deadline is soon enough: more speed is worth nothing then.
SOON_ENOUGH = 0.25
#: Risks closer than this are the same: the weights are judgements.
RISK_STEP = 0.02


def balance(cost: float, days: float, risk: float, scenario: Scenario) -> float:
    """Weighted sum of log-ratios of cost, time and risk to the user's own targets; less is better (design §6).

    A fixed function of the option and the targets alone, so that adding an option never worsens the choice. The
    budget only shifts it by a constant; risk is held against the headroom that the user wants.
    """
    deadline = scenario.constraints.deadline_days or USUAL_DEADLINE_DAYS
    headroom = max(0.01, scenario.constraints.headroom)
    return (
        COST_WEIGHT * math.log(max(cost, 0.01))
        + TIME_WEIGHT * math.log(max(days, SOON_ENOUGH * deadline) / deadline)
        + RISK_WEIGHT * math.log((risk + headroom) / headroom)
    )


def risk_class(risk: float) -> int:
    """Risks of one class are treated as the same."""
    return round(risk / RISK_STEP)


def finalists(options: Sequence[Option], scenario: Scenario, most: int = MOST_RANKED) -> list[Option]:
    """Options that work and may be picked or listed, best first."""
    working = sorted((o for o in options if o.works), key=lambda o: o.key)
    measures: tuple[Callable[[Option], float], ...] = (
        lambda o: o.ranking_cost,
        lambda o: o.days.expected,
        lambda o: balance(o.cost, o.days.expected, o.risk, scenario),
        lambda o: risk_class(o.risk),
    )
    champions: dict[int, Option] = {}  # best of all by each measure: what is picked is among these
    for relaxed in (True, False):
        pool = [o for o in working if relaxed or not o.tight]
        for measure in measures:
            if pool:
                champion = min(pool, key=lambda o, m=measure: (m(o), o.key))
                champions[id(champion)] = champion
    by_card = _best_of(working, lambda o: (o.cluster.gpu.id, o.seed.way), measures[:1])
    by_seller = _best_of(working, _group, measures)
    found = {id(o): o for o in (*champions.values(), *by_card, *by_seller)}
    must = {*champions, *(id(o) for o in by_card)}
    ordered = sorted(found.values(), key=lambda o: (id(o) not in must, o.key))[: max(most, len(must))]
    return sorted(ordered, key=lambda o: o.key)


def _group(option: Option) -> tuple[str, ...]:
    return (option.cluster.gpu.id, option.seed.way, option.seed.seller, option.seed.term, str(option.tight))


def _best_of(
    options: Sequence[Option],
    group: Callable[[Option], tuple[str, ...]],
    measures: Sequence[Callable[[Option], float]],
) -> list[Option]:
    groups: dict[tuple[str, ...], list[Option]] = {}
    for option in options:
        groups.setdefault(group(option), []).append(option)
    best: list[Option] = []
    for members in groups.values():
        best.extend(min(members, key=lambda o, m=measure: (m(o), o.key)) for measure in measures)
    return best
