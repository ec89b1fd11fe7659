"""Cost of one successful checkpoint: the run that succeeded, all that failed before it, and what surrounds it."""

from __future__ import annotations

from engine.advice.result import Assessment
from engine.cost.figures import ASSUMPTION, USER
from engine.quantity import Bounds, Term
from engine.scenario import TrainingWorkload
from engine.search.search import SearchResult

__all__ = ["checkpoint_terms"]

_COMPUTE = ("cost.rent", "cost.host_beside_gpu", "cost.wear", "cost.energy")


def checkpoint_terms(result: SearchResult, reference: Assessment) -> tuple[Term, ...]:
    """The six parts for each final run; empty where several tasks share the cost or nothing is trained.

    compute + storage + moving out + orchestration + engineer's hours of recovery - value of reuse, each divided by the
    final runs. Trial and failed runs are inside the compute: only one run in several ends in a checkpoint that is kept.
    """
    scenario, figures = result.scenario, result.figures
    work = scenario.tasks[0].workload
    if len(scenario.tasks) != 1 or not isinstance(work, TrainingWorkload):
        return ()
    extra, runs = scenario.economics.terms, work.runs
    job = {t.name: t for t in reference.cost.job_terms}
    compute = [job[n] for n in _COMPUTE if n in job]
    hours = extra.recovery_hours * (runs.final_runs + runs.sweep_runs) * runs.failed_fraction
    reuse = float(figures.rates.convert(extra.reuse_value, figures.currency).amount) if extra.reuse_value else 0.0
    total = Bounds(sum(t.low for t in compute), sum(t.expected for t in compute), sum(t.high for t in compute))
    nothing = Bounds.exact(0.0)

    def of(name: str) -> Bounds:
        term = job.get(name)
        return Bounds(term.low, term.expected, term.high) if term else nothing

    parts = (
        ("checkpoint.compute", total / runs.final_runs, "compute_of_all_runs / final_runs", ""),
        ("checkpoint.storage", of("cost.storage") / runs.final_runs, "storage / final_runs", ""),
        ("checkpoint.egress", of("cost.egress") / runs.final_runs, "moving_out / final_runs", ""),
        ("checkpoint.orchestration", total * (extra.orchestration_share / runs.final_runs),
         "compute * orchestration_share / final_runs", USER),
        ("checkpoint.recovery", figures.engineer_hour.bounds * (hours / runs.final_runs),
         "recovery_hours * runs * failed_fraction * engineer_hour / final_runs",
         f"{figures.engineer_hour.source}; {ASSUMPTION}"),
        ("checkpoint.reuse", Bounds.exact(-reuse), "-reuse_value", USER),
    )  # fmt: skip
    terms: list[Term] = []
    for name, amount, formula, source in parts:
        low, middle, high = float(amount.low), float(amount.expected), float(amount.high)
        terms.append(Term(name=name, unit=figures.currency, low=low, expected=middle, high=high, formula=formula,
                          values={"final_runs": runs.final_runs}, source=source))  # fmt: skip
    return tuple(terms)
