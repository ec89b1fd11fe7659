"""Answers for people in a terminal: picks with reasons, tables, what was assumed; plain text in a pipe."""

from __future__ import annotations

import sys
from collections.abc import Iterable

from rich import box
from rich.console import Console
from rich.padding import Padding
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from engine.advice.result import Advice, Assessment
from engine.architecture.model import Architecture
from engine.architecture.parameters import parameter_parts
from engine.findings import Finding, Severity
from engine.i18n import Language
from engine.memory.result import MemoryAssessment, Verdict
from engine.quantity import Estimate
from engine.report.money_words import two_figures, what_widens
from engine.report.naming import plan_name, plan_way
from engine.speed.result import InferenceSpeed, TrainingSpeed
from engine.validation.estimate import CaseEstimate

__all__ = ["console", "heading", "print_advice", "print_estimate", "print_model"]

#: Columns of text where the output is a file or a pipe, which has no width of its own.
PIPE_WIDTH = 120
#: Ranked plans in the table; all are in the JSON answer.
SHOWN_PLANS = 15
_STYLE = {Severity.SERIOUS: "bold red", Severity.WARNING: "yellow", Severity.ADVICE: "cyan", Severity.INFO: ""}
_VERDICT_STYLE = {Verdict.FITS: "green", Verdict.FITS_TIGHTLY: "yellow", Verdict.DOES_NOT_FIT: "bold red"}


def console() -> Console:
    """The terminal, or a plain stream of fixed width."""
    width = None if sys.stdout.isatty() else PIPE_WIDTH
    return Console(file=sys.stdout, width=width, markup=False, highlight=False, emoji=False, soft_wrap=False)


def table(*headings: str, right: Iterable[int] = ()) -> Table:
    """A table whose columns in `right` are numbers."""
    made = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    numbers = set(right)
    for index, heading in enumerate(headings):
        made.add_column(Text(heading), justify="right" if index in numbers else "left", overflow="fold")
    return made


def heading(out: Console, text: str) -> None:
    """A line with a title."""
    out.print(Rule(Text(text), align="left", style="dim"))


def _finding_lines(out: Console, findings: Iterable[Finding], language: Language) -> None:
    for finding in findings:
        mark = language.label(finding.severity.value)
        line = Text.assemble((f"[{mark}] ", _STYLE[finding.severity]), language.text(finding))
        out.print(Padding(line, (0, 0, 0, 2)))


def _range(estimate: Estimate, language: Language) -> str:
    low, expected, high = (language.number(x) for x in (estimate.low, estimate.expected, estimate.high))
    return expected if low == high else f"{expected} ({low} – {high})"


# advice -------------------------------------------------------------------------------------------------------------


def print_advice(advice: Advice, language: Language) -> None:
    """Picks with reasons, the ranked plans, what was rejected and why, findings."""
    out = console()
    heading(out, advice.scenario.name or language.gettext("Advice"))
    if not advice.picks:
        out.print(Text(language.gettext("Nothing meets the constraints."), style="bold"))
    for pick in advice.picks:
        found = advice.ranked[pick.index]
        title = Text.assemble((language.label(f"role.{pick.role.value}"), "bold"), ": ", _plan(found, language))
        out.print(title)
        for reason in pick.reasons:
            out.print(Padding(Text("– " + language.text(reason)), (0, 0, 0, 2)))
    if advice.ranked:
        out.print()
        _ranked(out, advice, language)
    _rejected(out, advice, language)
    if advice.findings:
        heading(out, language.gettext("What you should know"))
        _finding_lines(out, advice.findings, language)
    out.print()
    out.print(
        Text(
            language.fill(
                "Catalogue {version} ({hash}). {candidates:int} possibilities looked at in {seconds:duration}.",
                version=advice.catalog_version,
                hash=advice.catalog_sha256[:12],
                candidates=advice.searched.candidates,
                seconds=advice.searched.seconds,
            ),
            style="dim",
        )
    )


def _plan(assessment: Assessment, language: Language) -> str:
    return f"{plan_name(assessment.plan, language)} – {plan_way(assessment.plan, language)}"


def _ranked(out: Console, advice: Advice, language: Language) -> None:
    shown = advice.ranked[:SHOWN_PLANS]
    made = table(
        language.gettext("Plan"),
        language.gettext("How"),
        language.gettext("Memory per GPU"),
        language.gettext("Done in"),
        language.gettext("Cash needed"),
        language.gettext("Cost of the job"),
        right=(2, 3, 4, 5),
    )
    for one in shown:
        tightest = max(one.tasks, key=lambda t: t.memory.driver.high)
        verdict = tightest.memory.verdict
        memory = Text(language.gib(tightest.memory.driver.expected), style=_VERDICT_STYLE.get(verdict, ""))
        if verdict is Verdict.FITS_TIGHTLY:
            memory.append(" *")
        made.add_row(
            Text(plan_name(one.plan, language)),
            Text(plan_way(one.plan, language)),
            memory,
            Text(language.duration(one.calendar_days.expected * 86400)),
            Text(language.money(one.cost.cash_needed)),
            Text(language.money(one.cost.cost_of_job)),
        )
    out.print(made)
    for text in (two_figures(shown[0].cost, language), what_widens(shown[0].cost, language)):
        if text:
            out.print(
                Text(language.fill("{name}: {text}", name=language.gettext("First plan"), text=text), style="dim")
            )
    if any(t.memory.verdict is Verdict.FITS_TIGHTLY for a in shown for t in a.tasks):
        out.print(Text("* " + language.gettext("fits tightly: may need more than the headroom leaves"), style="dim"))
    if len(advice.ranked) > len(shown):
        more = len(advice.ranked) - len(shown)
        out.print(Text(language.fill("{more:int} further plans are in the answer of --json.", more=more), style="dim"))


def _rejected(out: Console, advice: Advice, language: Language) -> None:
    if not advice.rejected:
        return
    heading(out, language.gettext("Rejected, and why"))
    seen: dict[str, list[str]] = {}
    for one in advice.rejected:
        seen.setdefault(language.text(one.reason), []).append(one.label)
    for text in list(seen)[:SHOWN_PLANS]:
        out.print(Padding(Text.assemble((f"{seen[text][0]}: ", "bold"), text), (0, 0, 0, 2)))
    if len(seen) > SHOWN_PLANS:
        more = len(advice.rejected) - SHOWN_PLANS
        out.print(Text(language.fill("{more:int} further ones are in the answer of --json.", more=more), style="dim"))


# one plan -----------------------------------------------------------------------------------------------------------


def print_estimate(estimate: CaseEstimate, language: Language) -> None:
    """Memory by item, verdict, speed, and every default taken."""
    out = console()
    heading(out, estimate.architecture.name)
    _memory(out, estimate.memory, language)
    if estimate.training is not None:
        _training(out, estimate.training, language)
    if estimate.inference is not None:
        _serving(out, estimate.inference, language)
    heading(out, language.gettext("What was assumed"))
    _finding_lines(out, estimate.assumptions, language)
    heading(out, language.gettext("What you should know"))
    _finding_lines(out, estimate.findings, language)


def _memory(out: Console, memory: MemoryAssessment, language: Language) -> None:
    made = table(language.gettext("Memory per GPU"), language.gettext("Expected"), language.gettext("From – to"),
                 right=(1, 2))  # fmt: skip
    for term in memory.terms:
        made.add_row(
            Text(language.label(term.name)),
            Text(language.gib(term.expected, 2)),
            Text("" if term.low == term.high else language.gib_range(term.estimate)),
        )
    made.add_section()
    rows = (
        (language.gettext("Requested by the program"), memory.allocated),
        (language.gettext("Reserved by the framework"), memory.reserved),
        (language.gettext("Shown by the driver"), memory.driver),
    )
    for words, amount in rows:
        made.add_row(Text(words), Text(language.gib(amount.expected, 2)), Text(language.gib_range(amount)))
    if memory.usable_bytes is not None:
        made.add_row(Text(language.gettext("Usable on the card")), Text(language.gib(memory.usable_bytes, 2)), Text(""))
    out.print(made)
    verdict = Text(language.label(memory.verdict.value), style=_VERDICT_STYLE.get(memory.verdict, ""))
    out.print(Text.assemble(language.gettext("Verdict"), ": ", verdict))


def _training(out: Console, speed: TrainingSpeed, language: Language) -> None:
    made = table(language.gettext("Speed"), language.gettext("Expected (from – to)"), right=(1,))
    made.add_row(
        Text(language.gettext("Tokens per second and GPU")), Text(_range(speed.tokens_per_second_per_gpu, language))
    )
    made.add_row(Text(language.gettext("Seconds per optimizer step")), Text(_range(speed.step_seconds, language)))
    share = speed.model_flops_utilization
    shares = " – ".join(language.percent(x) for x in (share.low, share.high))
    made.add_row(
        Text(language.gettext("Share of the card's peak used (MFU)")),
        Text(f"{language.percent(share.expected)} ({shares})"),
    )
    made.add_row(Text(language.gettext("Bottleneck")), Text(language.label(speed.bottleneck)))
    out.print(made)


def _serving(out: Console, speed: InferenceSpeed, language: Language) -> None:
    made = table(language.gettext("Speed"), language.gettext("Expected (from – to)"), right=(1,))
    made.add_row(Text(language.gettext("Output tokens per second")), Text(_range(speed.tokens_per_second, language)))
    made.add_row(
        Text(language.gettext("Seconds to the first token")), Text(_range(speed.time_to_first_token_seconds, language))
    )
    made.add_row(
        Text(language.gettext("Seconds per output token")), Text(_range(speed.time_per_output_token_seconds, language))
    )
    made.add_row(Text(language.gettext("Bottleneck")), Text(language.label(speed.bottleneck)))
    out.print(made)


# model --------------------------------------------------------------------------------------------------------------


def print_model(arch: Architecture, language: Language) -> None:
    """Dimensions and parts of a model."""
    out = console()
    heading(out, arch.name)
    made = table(language.gettext("Part"), language.gettext("Parameters"), language.gettext("Used by a token"),
                 right=(1, 2))  # fmt: skip
    for part in parameter_parts(arch):
        made.add_row(
            Text(language.label(part.name)), Text(language.number(part.count, 0)), Text(language.number(part.active, 0))
        )
    made.add_section()
    made.add_row(
        Text(language.gettext("Total")),
        Text(language.number(arch.parameters_total, 0)),
        Text(language.number(arch.parameters_active, 0)),
    )
    out.print(made)
    dimensions = table(language.gettext("Dimension"), language.gettext("Value"), right=(1,))
    hidden = {"id", "name", "guessed", "source_url", "extra", "parameters_total", "parameters_active"}
    for name, value in arch.model_dump(mode="json").items():
        if name not in hidden and value not in ("", 0, False, None):
            dimensions.add_row(Text(name), Text(str(value)))
    for name, value in arch.extra.items():
        dimensions.add_row(Text(name), Text(f"{value:g}" if isinstance(value, float) else str(value)))
    out.print(dimensions)
    if arch.guessed:
        names = ", ".join(arch.guessed)
        out.print(Text(language.fill("Not read but assumed: {names}", names=names), style="yellow"))
    if arch.source_url:
        out.print(Text(language.fill("Source: {source}", source=arch.source_url), style="dim"))
