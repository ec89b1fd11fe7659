"""What an assessment says, in short texts of one language, for cards, tables and details. No Qt, no arithmetic."""

from __future__ import annotations

from engine.advice.result import Advice, ApiBaseline, Assessment, PickRole, Plan, TaskAssessment
from engine.findings import Severity
from engine.i18n import Language
from engine.memory.result import MemoryAssessment, Verdict
from engine.quantity import Estimate
from engine.report import naming
from engine.scenario import Task

__all__ = [
    "api_title",
    "days",
    "days_range",
    "distance",
    "duration_with_range",
    "offer_date",
    "plan_name",
    "plan_source",
    "role_meaning",
    "role_name",
    "severity_name",
    "speed",
    "task_name",
    "task_of",
    "term_name",
    "tightest",
    "verdict_name",
    "verdict_rank",
    "way_name",
]

VERDICT_ORDER = (Verdict.FITS, Verdict.FITS_TIGHTLY, Verdict.UNKNOWN, Verdict.DOES_NOT_FIT)


def tightest(assessment: Assessment) -> TaskAssessment:
    """The task that leaves the least memory: the one that decides whether the plan fits."""
    return max(assessment.tasks, key=lambda t: (verdict_rank(t.memory.verdict), t.memory.missing_bytes))


def verdict_rank(verdict: Verdict) -> int:
    """Order of verdicts, best first."""
    return VERDICT_ORDER.index(verdict)


def verdict_name(verdict: Verdict, language: Language) -> str:
    """The verdict as a short label."""
    match verdict:
        case Verdict.FITS:
            return language.pgettext("verdict", "Fits")
        case Verdict.FITS_TIGHTLY:
            return language.pgettext("verdict", "Fits tightly")
        case Verdict.DOES_NOT_FIT:
            return language.pgettext("verdict", "Does not fit")
        case Verdict.UNKNOWN:
            return language.pgettext("verdict", "Unknown")


def distance(memory: MemoryAssessment, language: Language) -> str:
    """How far the expected peak lies from the card's usable memory, and whether a measurement says so."""
    if memory.anchor is not None:
        return language.fill(
            "{distance} (anchored to your measurement of {x:gib})",
            distance=_distance(memory, language),
            x=memory.anchor.peak_bytes,
        )
    return _distance(memory, language)


def _distance(memory: MemoryAssessment, language: Language) -> str:
    if memory.usable_bytes is None:
        return language.gettext("usable memory of this card not known")
    if memory.missing_bytes > 0:
        return language.fill("{x:gib} too much per GPU", x=memory.missing_bytes)
    return language.fill("{x:gib} to spare per GPU", x=abs(memory.missing_bytes))


def plan_name(plan: Plan, language: Language) -> str:
    """Count and card, and over how many machines."""
    return naming.plan_name(plan, language)


def way_name(plan: Plan, language: Language) -> str:
    """How one gets the hardware."""
    return language.label(f"way.{plan.way}")


def term_name(term: str, language: Language) -> str:
    """Commercial term of an offer."""
    return language.label(f"term.{term}")


def condition_name(condition: str, language: Language) -> str:
    """State of what is bought."""
    return language.label(f"condition.{condition}")


def plan_source(plan: Plan, language: Language) -> str:
    """Who rents or sells it, on which terms."""
    if plan.offer is not None:
        term = "" if plan.way == "shared" else term_name(plan.offer.term, language)
        parts = [plan.offer.provider, term, plan.offer.region]
    elif plan.purchase is not None:
        parts = [plan.purchase.seller, condition_name(plan.purchase.condition, language), plan.purchase.country]
    else:
        parts = [language.gettext("Cards that are there already")]
    return " · ".join(p for p in parts if p)


def offer_date(plan: Plan, language: Language) -> str:
    """The day on which the price was seen."""
    row = plan.offer or plan.purchase
    if row is None:
        return language.gettext("no price needed")
    return language.date(row.observed_on) if row.observed_on else language.gettext("undated")


def role_name(role: PickRole, language: Language) -> str:
    """Why a plan is on top, as a label."""
    match role:
        case PickRole.CHEAPEST:
            return language.pgettext("pick", "Cheapest that works")
        case PickRole.BALANCED:
            return language.pgettext("pick", "Best balance")
        case PickRole.LEAST_RISK:
            return language.pgettext("pick", "Least risk")


def role_meaning(role: PickRole, language: Language) -> str:
    """What the label promises."""
    match role:
        case PickRole.CHEAPEST:
            return language.gettext(
                "The lowest cost of the job, with risk priced in, among all plans that meet the limits."
            )
        case PickRole.BALANCED:
            return language.gettext(
                "The best compromise between cost, time and risk, measured against your own limits."
            )
        case PickRole.LEAST_RISK:
            return language.gettext(
                "The plan with the fewest things that can go wrong: memory, price, delivery, software."
            )


def severity_name(severity: Severity, language: Language) -> str:
    """Severity as a heading."""
    match severity:
        case Severity.SERIOUS:
            return language.pgettext("severity", "Serious")
        case Severity.WARNING:
            return language.pgettext("severity", "Warnings")
        case Severity.ADVICE:
            return language.pgettext("severity", "Advice")
        case Severity.INFO:
            return language.pgettext("severity", "Notes and assumptions")


def days(value: Estimate, language: Language) -> str:
    """Expected length of time, given in days."""
    return language.fill("{x:days}", x=value.expected) if value.expected else language.gettext("at once")


def days_range(value: Estimate, language: Language) -> str:
    """Low to high of a length of time given in days."""
    if not value.high:
        return language.gettext("at once")
    return language.fill("{low:days} – {high:days}", low=value.low, high=value.high)


def duration_with_range(value: Estimate, language: Language) -> str:
    """Expected seconds and their range."""
    return language.fill(
        "{expected:duration} ({low:duration} – {high:duration})",
        expected=value.expected,
        low=value.low,
        high=value.high,
    )


def speed(task: TaskAssessment, language: Language) -> str:
    """Length of one run, or what a service delivers."""
    if task.inference is not None:
        return language.fill(
            "{rate:num} tokens/s in total, first token after {first:duration}",
            rate=task.inference.tokens_per_second.expected,
            first=task.inference.time_to_first_token_seconds.expected,
        )
    if task.time_to_train_seconds is not None:
        return language.fill("one run takes {x:duration}", x=task.time_to_train_seconds.expected)
    return ""


def task_of(advice: Advice, task_id: str) -> Task | None:
    """The task as the user stated it."""
    return next((t for t in advice.scenario.tasks if t.id == task_id), None)


def task_name(advice: Advice, task_id: str) -> str:
    """The user's name of a task, or its id."""
    task = task_of(advice, task_id)
    return (task.name if task else "") or task_id


def api_title(baseline: ApiBaseline, language: Language) -> str:
    """Name of the hosted model."""
    return language.fill("{model} by {provider}", model=baseline.model, provider=baseline.provider)
