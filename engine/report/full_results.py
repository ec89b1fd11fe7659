"""Full report, second part: memory, time, the plans against each other, why not the others."""

from __future__ import annotations

from engine.advice.result import Advice, Assessment, TaskAssessment
from engine.advice.scaling_result import Scaling
from engine.layout.model import InferenceJob, Layout, Offload
from engine.messages.mark import N_
from engine.quantity import Estimate
from engine.report import document as d
from engine.report import pieces
from engine.report.charts.look import MEMORY_STYLES
from engine.report.charts.memory import heaviest_task
from engine.report.charts.time import gpu_hours
from engine.report.document import say
from engine.report.families import option_families
from engine.report.ways import ways_table

__all__ = ["layout_words", "rejected_blocks", "result_sections"]

#: Plans that the comparison prints; the rest stands in the record.
PLANS_PRINTED = 20


def result_sections(
    advice: Advice, best: Assessment, shown: tuple[Assessment, ...], scaling: Scaling | None = None
) -> tuple[d.Section, ...]:
    """Sections 4 to 7."""
    ids = tuple(a.plan.id for a in shown)
    return (
        d.Section(
            pieces.numbered(4, N_("Memory")),
            (
                *_memory_words(advice, best),
                d.Figure("F1", "memory", ids),
                d.Figure("F1b", "timeline", (best.plan.id,)),
                _memory_table(shown),
                *([_tasks_table(advice, best)] if len(best.tasks) > 1 else []),
            ),
        ),
        d.Section(pieces.numbered(5, N_("Time")), _time_blocks(advice, shown, ids, scaling)),
        d.Section(
            pieces.numbered(6, N_("Alternatives")),
            (ways_table(advice, best), option_families(advice, best), _ranked(advice, best)),
        ),
        d.Section(pieces.numbered(7, N_("Why not the others")), (_rejected_words(advice),)),
    )


def _memory_words(advice: Advice, best: Assessment) -> tuple[d.Block, ...]:
    task = heaviest_task(best)
    memory = task.memory
    usable = d.Amount("gib", memory.usable_bytes) if memory.usable_bytes else d.Label("verdict.unknown")
    sentence = say(
        N_(
            "Binding is the memory of one card: task “{task}” peaks at {peak} in the {phase}, the "
            "card offers {usable}. "
            "It {verdict}. Memory of several cards is never added up."
        ),
        task=pieces.task_name(pieces.task_of(advice.scenario, task.task_id)),
        peak=pieces.base_and_range("gib", memory.driver),
        phase=d.Label(memory.peak_phase),
        usable=usable,
        verdict=pieces.verdict_value(best),
    )
    units = say(
        N_(
            "GiB (2^30 bytes) is what drivers and PyTorch count; the “GB” in a card's name is the "
            "vendor's label. Fit is "
            "decided on what the driver offers, at the high end of the interval."
        )
    )
    layout = say(N_("How the work is spread: {layout}."), layout=layout_words(task))
    return d.Paragraph(sentence), d.Paragraph(layout), d.Paragraph(units, "note")


def layout_words(task: TaskAssessment) -> d.Value:
    """How the work is spread, in plain words."""
    layout = task.layout
    counts: list[tuple[int, str]] = [
        (layout.data_parallel, N_("{n:int} copies of the model work side by side")),
        (layout.tensor_parallel, N_("each layer is split over {n:int} cards")),
        (layout.pipeline_parallel, N_("the layers are split into {n:int} stages")),
        (layout.context_parallel, N_("each sequence is split over {n:int} cards")),
    ]
    parts: list[d.Value] = [say(words, n=n) for n, words in counts if n > 1]
    parts += _serving_words(task.job) if isinstance(task.job, InferenceJob) else _training_words(layout)
    return d.Join(tuple(parts), "; ")


def _serving_words(job: InferenceJob) -> list[d.Value]:
    weights: d.Value = (
        say(N_("weights in 16 bits"))
        if job.weight_quantization == "none"
        else say(N_("weights in {format}"), format=job.weight_quantization)
    )
    return [weights, say(N_("KV cache in {bits:int} bits"), bits=job.kv_cache_bits)]


def _training_words(layout: Layout) -> list[d.Value]:
    parts: list[d.Value] = [d.Label(f"sharding.{layout.sharding}")] if layout.gpus > 1 else []
    parts.append(d.Label(f"recomputation.{layout.recomputation}"))
    parts.append(d.Label(f"regime.{layout.regime}"))
    parts.append(
        say(
            N_("{micro:int} sequences at a time on a card, {steps:int} times a step"),
            micro=layout.micro_batch_size,
            steps=layout.gradient_accumulation_steps,
        )
    )
    if layout.offload is not Offload.NONE:
        parts.append(d.Label(f"offload.{layout.offload}"))
    return parts


def _memory_table(shown: tuple[Assessment, ...]) -> d.Table:
    memories = [heaviest_task(a).memory for a in shown]
    order = {name: i for i, name in enumerate(MEMORY_STYLES)}
    names = sorted({t.name for m in memories for t in m.terms}, key=lambda n: (order.get(n, len(order)), n))
    rows: list[tuple[d.Value, ...]] = []
    for name in names:
        sums = [sum(t.expected for t in m.terms if t.name == name) for m in memories]
        rows.append((d.Label(name), *(d.Amount("gib", s) if s else d.Text("–") for s in sums)))
    total = len(rows)
    rows.append((say(N_("Peak, expected")), *(d.Amount("gib", m.driver.expected) for m in memories)))
    rows.append((say(N_("Peak, low – high")), *(d.Range("gib", m.driver) for m in memories)))
    unknown = d.Label("verdict.unknown")
    rows.append(
        (
            say(N_("Usable on the card")),
            *(d.Amount("gib", m.usable_bytes) if m.usable_bytes else unknown for m in memories),
        )
    )
    rows.append((say(N_("Verdict")), *(pieces.verdict_value(a) for a in shown)))
    columns = [d.Column(say(N_("Item")), weight=1.6)]
    columns += [d.Column(pieces.plan_value(a.plan), "right", 1.0) for a in shown]
    return d.Table(
        "T3",
        say(N_("Memory of one card by item, at the moment of the peak (computed; formulas in appendix A1)")),
        tuple(columns),
        tuple(rows),
        (total, total + 3),
    )


def _tasks_table(advice: Advice, best: Assessment) -> d.Table:
    rows: list[tuple[d.Value, ...]] = [
        (
            pieces.task_name(pieces.task_of(advice.scenario, t.task_id)),
            *pieces.range_columns("gib", t.memory.driver),
            d.Label(f"verdict.{t.memory.verdict}"),
            d.Label(t.memory.peak_phase),
        )
        for t in best.tasks
    ]
    return d.Table(
        "T3b",
        say(N_("Peak memory of every task on the recommended cards")),
        (
            d.Column(say(N_("Task")), weight=2),
            d.Column(say(N_("Low")), "right", 1),
            d.Column(say(N_("Expected")), "right", 1),
            d.Column(say(N_("High")), "right", 1),
            d.Column(say(N_("Verdict")), weight=1),
            d.Column(say(N_("Peak in")), weight=1),
        ),
        tuple(rows),
    )


def _time_blocks(
    advice: Advice, shown: tuple[Assessment, ...], ids: tuple[str, ...], scaling: Scaling | None
) -> tuple[d.Block, ...]:
    blocks: list[d.Block] = []
    if any(t.training for a in shown for t in a.tasks):
        blocks.append(_time_table(advice, shown))
    if any(t.inference for a in shown for t in a.tasks):
        blocks.append(_serving_table(advice, shown))
    blocks.append(d.Figure("F2", "time", ids))
    blocks.append(d.Figure("F2a", "split", ids))
    if scaling is not None and len(scaling.points) > 1:
        blocks.append(d.Figure("F2b", "scaling"))
    return tuple(blocks)


def _serving_table(advice: Advice, shown: tuple[Assessment, ...]) -> d.Table:
    rows: list[tuple[d.Value, ...]] = [
        (
            pieces.plan_value(a.plan),
            pieces.task_name(pieces.task_of(advice.scenario, t.task_id)),
            pieces.stacked("duration", t.inference.time_to_first_token_seconds),
            pieces.stacked("num", per_second(t.inference.time_per_output_token_seconds)),
            pieces.stacked("num", t.inference.tokens_per_second),
            pieces.stacked("num", a.calendar_days),
        )
        for a in shown
        for t in a.tasks
        if t.inference is not None
    ]
    return d.Table(
        "T4b",
        say(N_("Serving at full load, expected value and 90 % interval (computed)")),
        (
            d.Column(say(N_("Plan")), weight=1.7),
            d.Column(say(N_("Task")), weight=1.4),
            d.Column(say(N_("First token after")), "right", 1.2),
            d.Column(say(N_("Tokens a second, each user")), "right", 1.2),
            d.Column(say(N_("Tokens a second, all users")), "right", 1.3),
            d.Column(say(N_("Days until ready")), "right", 1.0),
        ),
        tuple(rows),
    )


def per_second(seconds: Estimate) -> Estimate:
    """A rate from the time of one: low and high change places."""
    return Estimate(low=1 / seconds.high, expected=1 / seconds.expected, high=1 / seconds.low)


def _time_table(advice: Advice, shown: tuple[Assessment, ...]) -> d.Table:
    rows: list[tuple[d.Value, ...]] = []
    totals: list[int] = []
    for assessment in shown:
        rows.extend(_time_row(advice, assessment, t) for t in assessment.tasks if t.training is not None)
        totals.append(len(rows))
        rows.append(
            (
                pieces.plan_value(assessment.plan),
                say(N_("all tasks")),
                say(N_("{hours} card-hours"), hours=pieces.base_and_range("num", gpu_hours(assessment))),
                d.Text(""),
                d.Text(""),
                say(N_("{days} days"), days=pieces.base_and_range("num", assessment.calendar_days)),
            )
        )
    return d.Table(
        "T4",
        say(N_("Speed and time, expected value and 90 % interval (computed from dense peak rates and measured use)")),
        (
            d.Column(say(N_("Plan")), weight=1.7),
            d.Column(say(N_("Task")), weight=1.4),
            d.Column(say(N_("Tokens a second and card")), "right", 1.5),
            d.Column(say(N_("Use of peak rate (MFU)")), "right", 1.1),
            d.Column(say(N_("One run")), "right", 1.3),
            d.Column(say(N_("Everything")), "right", 1.4),
        ),
        tuple(rows),
        tuple(totals),
    )


def _time_row(advice: Advice, assessment: Assessment, task: TaskAssessment) -> tuple[d.Value, ...]:
    dash = d.Text("–")
    speed, use = dash, dash
    if task.training is not None:
        speed = pieces.stacked("num", task.training.tokens_per_second_per_gpu)
        use = pieces.stacked("pct", task.training.model_flops_utilization)
    return (
        pieces.plan_value(assessment.plan),
        pieces.task_name(pieces.task_of(advice.scenario, task.task_id)),
        speed,
        use,
        pieces.stacked("duration", task.time_to_train_seconds) if task.time_to_train_seconds else dash,
        pieces.stacked("duration", task.busy_seconds),
    )


def _ranked(advice: Advice, best: Assessment) -> d.Table:
    printed = advice.ranked[:PLANS_PRINTED]
    rows = tuple(
        (
            d.Amount("int", i),
            d.Join(
                (pieces.plan_value(a.plan), d.Join((pieces.way_value(a.plan), pieces.seller_value(a.plan)), " · ")),
                "\n",
            ),
            pieces.verdict_value(a),
            pieces.stacked("num", a.calendar_days),
            pieces.stacked("money", a.cost.cash_needed),
            pieces.stacked("money", a.cost.cost_of_job),
            d.Amount("pct", a.risk),
        )
        for i, a in enumerate(printed, 1)
    )
    return d.Table(
        "T6c",
        say(
            N_("The first {shown:int} of {all:int} plans, by cost of the job with risk"),
            shown=len(printed),
            all=len(advice.ranked),
        ),
        (
            d.Column(say(N_("No.")), "right"),
            d.Column(say(N_("Plan")), weight=2.6),
            d.Column(say(N_("Memory")), weight=0.9),
            d.Column(pieces.days_title(advice), "right", 1.1),
            d.Column(say(N_("Cash needed")), "right", 1.6),
            d.Column(say(N_("Cost of the job")), "right", 1.6),
            d.Column(say(N_("Risk added")), "right", 0.7),
        ),
        rows,
        tuple(i for i, a in enumerate(printed) if a is best),
    )


def _rejected_words(advice: Advice) -> d.Paragraph:
    cards = sum(1 for r in advice.rejected if r.kind == "gpu")
    return d.Paragraph(
        say(
            N_(
                "{cards:int} cards of the catalogue have no plan that meets all constraints; appendix A4 "
                "names for each "
                "the one reason that decided. Another {offers:int} offers were left out; their reasons "
                "stand there too."
            ),
            cards=cards,
            offers=len(advice.rejected) - cards,
        )
    )


def rejected_blocks(advice: Advice) -> tuple[d.Block, ...]:
    """Every rejected card or offer with its reason."""
    if not advice.rejected:
        return (d.Paragraph(say(N_("Nothing was rejected."))),)
    rows = tuple((d.Text(r.label), r.reason) for r in advice.rejected)
    return (
        d.Table(
            "T6d",
            say(N_("Every card that has no plan above, with the one reason that decided")),
            (d.Column(say(N_("Card or offer")), weight=1), d.Column(say(N_("Reason")), weight=2.4)),
            rows,
        ),
    )
