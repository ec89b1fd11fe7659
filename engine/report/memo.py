"""Profile P5: the one-page memo in six blocks, for a head of department."""

from __future__ import annotations

from engine.advice.result import Advice, Assessment
from engine.messages.mark import N_
from engine.report.charts.memory import heaviest_task
from engine.report.charts.time import gpu_hours
from engine.report.comparison import (
    best_of_each_way,
    break_evens,
    hours_per_month,
    recommended,
    serving_only,
    whole_life,
)
from engine.report.document import (
    OPEN,
    Amount,
    Block,
    Bullets,
    Card,
    Cards,
    Fact,
    Facts,
    Figure,
    Join,
    Label,
    Paragraph,
    Range,
    Section,
    SideBySide,
    Signature,
    Text,
    Value,
    say,
)  # fmt: skip
from engine.report.pieces import (
    base_and_range,
    given,
    money_and_range,
    numbered,
    plan_value,
    price_note,
    rules_sentence,
    seller_value,
    task_sentence,
    verdict_value,
)
from engine.report.risks import top_risks
from engine.report.thresholds import threshold_lines
from engine.report.ways import cheaper_api, ways_table
from engine.scenario import ReportDetails

__all__ = ["memo_head", "memo_sections"]

#: Characters of the applicant's own reason that a memo prints; the whole text stands in the full report.
REASON_LIMIT = 260
TASKS_SHOWN = 3


def memo_head(advice: Advice, details: ReportDetails) -> Facts:
    """Who asks."""
    projects = Join(tuple(Text(p) for p in dict.fromkeys(t.project for t in advice.scenario.tasks if t.project)))
    return Facts(
        (
            Fact(say(N_("Applicant")), given(details.applicant, 60)),
            Fact(say(N_("Unit")), given(details.unit, 60)),
            Fact(say(N_("Source of money")), given(details.fund, 60)),
            Fact(say(N_("Project")), projects if projects.parts else OPEN),
        ),
        columns=4,
    )


def memo_sections(advice: Advice, details: ReportDetails, *, brief: int = 0) -> tuple[Section, ...]:
    """The six blocks. `brief` > 0 leaves out secondary lines, so that the memo keeps to its page (rule R20)."""
    best = recommended(advice)
    if best is None:
        return _nothing_found(advice, details)
    return (
        Section(numbered(1, N_("Request")), _ask(advice, best, details, brief)),
        Section(numbered(2, N_("Why it is needed now")), _why(advice, details, brief)),
        Section(numbered(3, N_("Is it enough?")), (_fit(advice, best, brief),)),
        Section(numbered(4, N_("Three options compared")), (ways_table(advice, best),)),
        Section(numbered(5, N_("Three key numbers")), (_numbers(advice, best),)),
        Section(numbered(6, N_("Main risks and next step")), _risks(advice, best, details, brief)),
    )


def _ask(advice: Advice, best: Assessment, details: ReportDetails, brief: int) -> tuple[Block, ...]:
    cluster = best.plan.cluster
    size = Amount("gib", cluster.gpu.usable_bytes) if cluster.gpu.usable_bytes else Label("verdict.unknown")
    templates = {
        "buy": N_(
            "We ask for approval to buy {plan} (or an equivalent with at least {memory} of usable "
            "memory a card), with the machine around it, from {seller} or at a comparable price: "
            "{cash}."),
        "rent": N_(
            "We ask for approval to rent {plan} (or an equivalent with at least {memory} of usable "
            "memory a card) for about {hours:int} card-hours, from {seller} or at a comparable "
            "price: {cash}."),
        "shared": N_(
            "We ask for approval to use {plan} of the shared cluster {seller} for about {hours:int} "
            "card-hours: {cash}."),
        "owned": N_(
            "We ask for approval to use {plan} that are there already for about {hours:int} "
            "card-hours: {cash}."),
    }  # fmt: skip
    cash = best.cost.cash_needed
    blocks: list[Block] = [
        Paragraph(
            say(
                templates[best.plan.way],
                plan=plan_value(best.plan),
                memory=size,
                seller=seller_value(best.plan),
                hours=gpu_hours(best).expected,
                cash=money_and_range(cash),
            ),
            "lead",
        ),
        Paragraph(
            say(
                N_("Decision asked for by: {decision}. Price: {price}. Amounts as of {date:date}."),
                decision=given(details.decision_by, 40),
                price=price_note(best, advice.scenario),
                date=advice.scenario.as_of.isoformat(),
            )
        ),
    ]
    blocks.extend(cheaper_api(advice, best))
    lines = threshold_lines(advice, cash.money, purchase=best.plan.way == "buy")
    if lines and brief < 3:
        blocks.append(Paragraph(Join(lines, " "), "note"))
    return tuple(blocks)


def _why(advice: Advice, details: ReportDetails, brief: int) -> tuple[Block, ...]:
    tasks = advice.scenario.tasks
    shown = max(1, TASKS_SHOWN - max(0, brief - 1))
    items: list[Value] = [task_sentence(t) for t in tasks[:shown]]
    if len(tasks) > shown:
        items.append(say(N_("and {n:int} more tasks (full report)"), n=len(tasks) - shown))
    reason = given(details.why_now, REASON_LIMIT if brief < 3 else REASON_LIMIT // 2)
    deadline = advice.scenario.constraints.deadline_days
    words = (
        say(N_("Reason: {reason}. Needed within {days:num} days."), reason=reason, days=deadline)
        if deadline
        else say(N_("Reason: {reason}."), reason=reason)
    )
    return Bullets(tuple(items)), Paragraph(words)


def _fit(advice: Advice, best: Assessment, brief: int) -> Block:
    memory = heaviest_task(best).memory
    spare = -memory.missing_bytes
    largest = sorted(memory.terms, key=lambda t: -t.expected)[: 3 if brief < 3 else 2]
    lines: list[Value] = [
        say(
            N_("Peak memory of one card: {peak}; usable: {usable}. It {verdict}, with {spare:gib} to spare."),
            peak=base_and_range("gib", memory.driver),
            usable=Amount("gib", memory.usable_bytes) if memory.usable_bytes else Label("verdict.unknown"),
            verdict=verdict_value(best),
            spare=spare,
        ),
        say(
            N_("Largest items: {items}."),
            items=Join(tuple(say(N_("{item} {size:gib}"), item=Label(t.name), size=t.expected) for t in largest)),
        ),
        _time_line(advice, best),
    ]
    left = tuple(Paragraph(line) for line in lines)
    plans = tuple(a.plan.id for a in best_of_each_way(advice).values()) if brief < 1 else (best.plan.id,)
    return SideBySide(left, (Figure("F1", "memory", plans, small=True),))


def _time_line(advice: Advice, best: Assessment) -> Value:
    hours = base_and_range("num", gpu_hours(best))
    if not serving_only(advice):
        days = base_and_range("num", best.calendar_days)
        return say(N_("Done in {days} days, waiting included; {hours} card-hours."), days=days, hours=hours)
    speeds = [t.inference for t in best.tasks if t.inference is not None]
    first = max((s.time_to_first_token_seconds.high for s in speeds), default=0.0)
    per_user = min((1 / s.time_per_output_token_seconds.high for s in speeds), default=0.0)
    return say(
        N_(
            "At full load the first token comes after {first:duration} at most, then {rate:num} "
            "tokens a second or more "
            "for each user; {hours} card-hours."
        ),
        first=first,
        rate=per_user,
        hours=hours,
    )


def _numbers(advice: Advice, best: Assessment) -> Cards:
    total, present, years = whole_life(advice, best)
    if years:
        life = say(
            N_("{years:num} years at {hours:num} h a month, residual value not counted; present value {npv}"),
            years=years,
            hours=hours_per_month(advice, best),
            npv=Amount("money", present),
        )
    else:
        life = say(N_("the whole job; nothing remains to be paid or kept afterwards"))
    job = best.cost.cost_of_job
    spread = max(best.cost.job_terms, key=lambda t: t.high - t.low, default=None)
    cause = (
        say(N_("cost of the job, 90 % interval; widest item: {item}"), item=Label(spread.name))
        if spread is not None
        else say(N_("cost of the job, 90 % interval"))
    )
    return Cards(
        (
            Card(say(N_("Whole-life cost")), Amount("money", total), life),
            _break_even_card(advice),
            Card(say(N_("Range")), Range("money", job), cause),
        )
    )


def _break_even_card(advice: Advice) -> Card:
    name = say(N_("Break-even use"))
    points = break_evens(advice)
    if not points:
        return Card(name, Text("–"), say(N_("only where a purchase and another way both fit")))
    point = points[0]
    against = plan_value(point.other.assessment.plan)
    months, used = point.months[1], point.utilization[1]
    if used is None or months is None:
        meaning = say(
            N_("buying does not pay against {plan} within {months:num} months at the stated use"),
            plan=against,
            months=point.life_months,
        )
        return Card(name, say(N_("not reached")), meaning)
    late = say(N_("{n:num}"), n=point.months[2]) if point.months[2] is not None else say(N_("never"))
    meaning = say(
        N_(
            "of all hours; above it buying is cheaper than {plan}: paid after {months:num} months at "
            "the stated use ({early:num} – {late})"),
        plan=against, months=months, early=point.months[0] or 0.0, late=late,
    )  # fmt: skip
    return Card(name, Amount("pct", used), meaning)


def _risks(advice: Advice, best: Assessment, details: ReportDetails, brief: int) -> tuple[Block, ...]:
    items = tuple(say(N_("{risk} → {measure}"), risk=r.what, measure=r.measure) for r in top_risks(advice, best, 3))
    step = given(details.next_step, 200) if details.next_step.strip() else _next_step(best)
    blocks: list[Block] = [Bullets(items, numbered=True), Paragraph(say(N_("Next step: {step}."), step=step))]
    if brief < 4 or threshold_lines(advice, best.cost.cash_needed.money, purchase=best.plan.way == "buy"):
        blocks.append(Paragraph(rules_sentence(), "note"))
    blocks.append(Signature((say(N_("Signature")), say(N_("Date")))))
    return tuple(blocks)


def _next_step(best: Assessment) -> Value:
    """What to do before the money is spent; a proposal that the applicant may replace."""
    match best.plan.way:
        case "owned":
            return say(N_("a trial run of one hour on these cards, then the start"))
        case "shared":
            return say(N_("ask the shared facility for fee and queue in writing, and run one hour there as a trial"))
        case _:
            return say(
                N_(
                    "a trial run of one hour on one such card, three dated quotations on the same "
                    "configuration, then "
                    "the decision"
                )
            )


def _nothing_found(advice: Advice, details: ReportDetails) -> tuple[Section, ...]:
    """A memo that says that nothing meets the constraints, and what came closest."""
    nearest = [f for f in advice.findings if f.severity.value in ("serious", "warning", "advice")][:5]
    reasons = tuple(say(N_("{card}: {reason}"), card=Text(r.label), reason=r.reason) for r in advice.rejected[:6])
    return (
        Section(
            numbered(1, N_("Result")),
            (
                Paragraph(
                    say(N_("Nothing on the market meets all of the stated constraints; no money is asked for.")),
                    "warning",
                ),
            ),
        ),
        Section(numbered(2, N_("Why it is needed now")), _why(advice, details, 0)),
        Section(
            numbered(1, N_("What would have to change")), (Bullets(tuple(nearest)),) if nearest else (Paragraph(OPEN),)
        ),
        Section(numbered(4, N_("Why nothing fits")), (Bullets(reasons),) if reasons else ()),
    )
