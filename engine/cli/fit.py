"""`gpu-advisor fit`: what would make a scenario's task, or a case, fit on a card."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rich.padding import Padding
from rich.text import Text

from engine.advice.fit import fit_of_case, fit_on_card
from engine.advice.fit_result import FitAdvice, FitChange
from engine.catalog.find import find_gpus
from engine.catalog.load import load_catalog
from engine.cli.answers import findings_json, memory_json, three
from engine.cli.text import console, heading, table
from engine.errors import InputError
from engine.examples import EXAMPLES, scenario_or_example
from engine.i18n import Language
from engine.report.fit_words import explanation, limit_words
from engine.speed.hardware import cluster_for
from engine.validation.cases import resolve_case
from engine.validation.estimate import estimate_case, likely_system

__all__ = ["fit_answer", "fit_of_file", "print_fit"]


def fit_of_file(
    path: Path,
    gpu: str | None,
    gpus: int,
    task: str | None,
    language: Language,
    run_values: dict[str, Any] | None = None,
) -> FitAdvice:
    """The answer for a scenario (then a card must be named) or a case; `InputError` where something is missing.

    `run_values`: the case that was read from a training configuration, which is then not read as anything else.
    """
    from engine.cli.main import read_case

    catalog = load_catalog()
    is_example = not path.exists() and str(path) in {e.name for e in EXAMPLES}
    values = run_values or ({} if is_example else read_case(path))
    if is_example or "tasks" in values:
        if gpu is None:
            raise InputError("cli.no_gpu")
        scenario = scenario_or_example(path, language)
        if task is not None and task not in {t.id for t in scenario.tasks}:
            raise InputError("cli.no_such_task", task=task, known=", ".join(t.id for t in scenario.tasks))
        smallest = min(find_gpus(catalog, gpu), key=lambda g: (g.usable_bytes or 0, g.id))
        return fit_on_card(scenario, catalog, smallest.id, gpus=gpus, task_id=task)
    if gpu is not None:
        values = {**values, "gpu": gpu, "n_gpus": gpus}
    found, hardware = estimate_case(values, catalog), resolve_case(values, catalog).hardware
    if found.gpu_id is None:
        raise InputError("cli.no_gpu")
    card = catalog.gpu_by_id[found.gpu_id]
    per_node = hardware.count // hardware.nodes
    systems = catalog.systems_by_gpu.get(card.id, ())
    system = likely_system(systems, per_node, hardware.interconnect) if hardware.count > 1 else None
    cluster = cluster_for(card, system, gpus_per_node=per_node, nodes=hardware.nodes)
    in_use, headroom = found.memory.in_use_bytes, found.memory.headroom
    cluster = cluster.model_copy(update={"in_use_bytes": in_use})
    return fit_of_case(found.architecture, found.job, found.layout, cluster, catalog, headroom=headroom)


def fit_answer(found: FitAdvice, language: Language) -> dict[str, Any]:
    """As JSON: how it stands, changes (those that make it fit first), the best pair, the limits."""
    return {
        "task": found.task_id,
        "model": found.model,
        "gpu": found.cluster.gpu.id,
        "gpus": found.cluster.gpus,
        "job": found.job.model_dump(mode="json"),
        "layout": found.layout.model_dump(mode="json"),
        "memory": memory_json(found.memory, language),
        "changes": [_change(c, language) for c in found.changes],
        "pair": _change(found.pair, language) if found.pair is not None else None,
        "limits": [
            {
                "name": x.code, "text": language.label(x.code), "now": x.now, "most": x.most,
                "most_tightly": x.most_tightly, "model": x.name, "model_tightly": x.name_tightly, "capped": x.capped,
            }
            for x in found.limits
        ],
    }  # fmt: skip


def _change(change: FitChange, language: Language) -> dict[str, Any]:
    difference = change.cost_difference
    return {
        "codes": list(change.codes),
        "words": findings_json(change.words, language),
        "meaning": explanation(change, language),
        "edits": {e.field: e.value for e in change.edits},
        "gpu": change.cluster.gpu.id,
        "gpus": change.cluster.gpus,
        "layout": change.layout.model_dump(mode="json"),
        "verdict": change.memory.verdict.value,
        "peak_bytes": three(change.memory.driver),
        "missing_bytes": change.memory.missing_bytes,
        "saved_bytes": change.saved_bytes,
        "time_factor": change.time_factor,
        "cost_difference": None
        if difference is None
        else {"amount": float(difference.amount), "currency": difference.currency},
        "keeps_result": change.keeps_result,
    }


def print_fit(found: FitAdvice, language: Language) -> None:
    """For people: a table of changes, what they mean, and the limits."""
    out = console()
    where = language.fill(
        "{model} on {gpus:int} × {gpu}", model=found.model, gpus=found.cluster.gpus, gpu=found.cluster.gpu.name
    )
    heading(out, where)
    verdict = language.label(found.memory.verdict.value)
    usable = found.memory.usable_bytes
    out.print(
        Text(
            language.fill(
                "{verdict}: needs {needed:gib} on each card, usable are {usable:gib}.",
                verdict=verdict,
                needed=found.memory.driver.expected,
                usable=usable,
            )
        )
    )
    rows = (*((found.pair,) if found.pair else ()), *found.changes)
    if rows:
        made = table(
            language.gettext("Change"),
            language.gettext("Verdict"),
            language.gettext("Saved on each card"),
            language.gettext("Time"),
            right=(2, 3),
        )
        for row in rows:
            made.add_row(
                Text(language.gettext(" + ").join(language.text(w) for w in row.words)),
                Text(language.label(row.memory.verdict.value)),
                Text(language.gib(row.saved_bytes)),
                Text("?" if row.time_factor is None else f"{language.number(row.time_factor, 2)}×"),
            )
        out.print(made)
        for code in dict.fromkeys(c for row in rows for c in row.codes):
            why = language.label(f"fit.why.{code.removeprefix('fit.')}")
            out.print(Padding(Text.assemble((language.label(code), "bold"), ": ", why), (0, 0, 0, 2)))
    if found.limits:
        heading(out, language.gettext("How far it goes, everything else as it is"))
        for limit in found.limits:
            out.print(Padding(Text(limit_words(limit, language)), (0, 0, 0, 2)))
