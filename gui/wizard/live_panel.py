"""The live estimate beside the pages: the best plan for what is stated so far, or what is still missing."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QLabel, QProgressBar, QVBoxLayout, QWidget

from engine.advice.result import Advice, Assessment, PickRole, TaskAssessment
from engine.i18n import Language
from engine.memory.result import Verdict
from engine.messages.mark import N_
from gui.state import AppState
from gui.widgets.basic import bound_label, button, label, line, scrolled, set_look
from gui.widgets.words import Words
from gui.wizard.summary import problem_line

__all__ = ["LivePanel", "plan_title", "verdict_words"]

_LOOKS = {
    Verdict.FITS: "good",
    Verdict.FITS_TIGHTLY: "tight",
    Verdict.DOES_NOT_FIT: "bad",
    Verdict.UNKNOWN: "neutral",
}


def plan_title(assessment: Assessment) -> str:
    """Cards of a plan: "8 × NVIDIA H100 SXM"."""
    cluster = assessment.plan.cluster
    return f"{cluster.gpus} × {cluster.gpu.vendor} {cluster.gpu.name}"


def verdict_words(verdict: Verdict, language: Language) -> str:
    """The verdict as a short label."""
    return {
        Verdict.FITS: language.gettext("Fits"),
        Verdict.FITS_TIGHTLY: language.gettext("Fits tightly"),
        Verdict.DOES_NOT_FIT: language.gettext("Does not fit"),
        Verdict.UNKNOWN: language.gettext("Not known"),
    }[verdict]


class LivePanel(QFrame):
    """A compact answer that follows the draft; `details_wanted()` opens the results."""

    details_wanted = Signal()

    def __init__(self, state: AppState, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._state = state
        self.setObjectName("live")
        self.setProperty("look", "panel")
        words = Words(state, self)
        outer = QVBoxLayout(self)
        outer.setContentsMargins(0, 0, 0, 0)
        area, column = scrolled("live.scroll", margin=20, gap=8)
        outer.addWidget(area)
        column.addWidget(bound_label(words, N_("Estimate so far"), "subtitle"))
        self.bar = QProgressBar()
        self.bar.setRange(0, 0)
        self.bar.setTextVisible(False)
        words.bind(self.bar.setAccessibleName, N_("Computing …"))
        keep = self.bar.sizePolicy()
        keep.setRetainSizeWhenHidden(True)
        self.bar.setSizePolicy(keep)
        self.bar.hide()
        column.addWidget(self.bar)
        self.status = label("", "muted")
        self.status.setObjectName("live.status")
        column.addWidget(self.status)
        self.answer = QWidget()
        self._column = QVBoxLayout(self.answer)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(6)
        self._build_answer(words)
        column.addWidget(self.answer)
        column.addStretch(1)
        self.more = button(words, N_("All results"), "live.more")
        self.more.clicked.connect(self.details_wanted)
        column.addWidget(self.more)
        self._advice: Advice | None = None
        state.advice_changed.connect(self._take)
        state.draft_changed.connect(lambda _draft: self._show())
        state.busy_changed.connect(self.bar.setVisible)
        words.run(lambda _language: self._show())

    def _build_answer(self, words: Words) -> None:
        self.title = label("", "section")
        self.provider = label("", "muted")
        self.verdict = label("", "neutral", wrap=False)
        for part in (self.title, self.provider):
            self._column.addWidget(part)
        self._column.addWidget(self.verdict, 0, Qt.AlignmentFlag.AlignLeft)
        self.figures: dict[str, tuple[QLabel, QLabel]] = {}
        for key, caption in (
            ("memory", N_("GPU memory per card")),
            ("time", N_("Until everything is done")),
            ("speed", N_("Output of the service")),
            ("cost", N_("Cost of the job")),
            ("cash", N_("Cash needed")),
        ):
            self._column.addWidget(line())
            head = bound_label(words, caption, "small")
            value = label("", "section")
            value.setObjectName(f"live.{key}")
            note = label("", "small")
            self.figures[key] = (value, note)
            for part in (head, value, note):
                self._column.addWidget(part)

    def brief(self) -> str:
        """The answer in one line, for windows that have no room for the panel; empty while there is none."""
        if self._advice is None or self.answer.isHidden():
            return ""
        cost, verdict = self.figures["cost"][0].text(), self.verdict.text()
        return " · ".join((self.title.text(), verdict, cost))

    def _take(self, advice: Advice | None) -> None:
        self._advice = advice
        self._show()

    def _show(self) -> None:
        language, advice = self._state.language, self._advice
        problems = self._state.draft.problems()
        best = _cheapest(advice) if advice is not None else None
        shown = best is not None and not problems
        self.answer.setVisible(shown)
        self.more.setVisible(bool(advice) and not problems)
        if problems:
            still = language.gettext("Still needed for an estimate:")
            lines = list(dict.fromkeys(f"•  {problem_line(p, language)}" for p in problems))[:4]
            self.status.setText("\n".join([still, *lines]))
        elif advice is None:
            self.status.setText(language.gettext("Computing …") if self._state.busy else "")
        elif best is None:
            self.status.setText(
                language.gettext("Nothing works within these limits. The results say why, and what would change it.")
            )
        else:
            options = len(advice.ranked)
            self.status.setText(
                language.fill("Cheapest of {options:int} plans that work. It changes as you type.", options=options)
            )
        self.status.setVisible(bool(self.status.text()))
        if shown and best is not None:
            self._fill(best, language)

    def _fill(self, best: Assessment, language: Language) -> None:
        plan, worst = best.plan, _tightest(best.tasks)
        self.title.setText(plan_title(best))
        seller = plan.offer.provider if plan.offer else plan.purchase.seller if plan.purchase else ""
        way = {
            "buy": language.gettext("Bought"),
            "rent": language.gettext("Rented"),
            "shared": language.gettext("Shared cluster"),
            "owned": language.gettext("Already there"),
        }[plan.way]
        self.provider.setText(" · ".join(part for part in (way, seller) if part))
        memory = worst.memory
        self.verdict.setText(verdict_words(memory.verdict, language))
        set_look(self.verdict, _LOOKS[memory.verdict])
        usable = (
            language.fill("of {usable:gib} usable", usable=memory.usable_bytes)
            if memory.usable_bytes is not None
            else ""
        )
        self._figure("memory", language.gib_range(memory.driver), usable)
        training = any(task.training is not None for task in best.tasks)
        days = best.calendar_days
        span = f"{language.duration(days.low * 86400)} – {language.duration(days.high * 86400)}"
        self._figure("time", span if training else "", "")
        serving = next((task.inference for task in best.tasks if task.inference), None)
        rate = language.fill("{rate:num} tokens per second", rate=serving.tokens_per_second.expected) if serving else ""
        self._figure("speed", rate, "")
        cost = best.cost
        self._figure("cost", language.money(cost.cost_of_job), language.money_range(cost.cost_of_job))
        self._figure("cash", language.money(cost.cash_needed), "")

    def _figure(self, key: str, text: str, note: str) -> None:
        value, below = self.figures[key]
        value.setText(text)
        below.setText(note)
        below.setVisible(bool(note))
        index = self._column.indexOf(value)
        for offset in (-2, -1, 0):  # line, caption, value
            item = self._column.itemAt(index + offset)
            widget = item.widget() if item is not None else None
            if widget is not None:
                widget.setVisible(bool(text))


def _cheapest(advice: Advice) -> Assessment | None:
    """The plan of the first pick (the cheapest that works); None where nothing works."""
    picks = sorted(advice.picks, key=lambda pick: pick.role is not PickRole.CHEAPEST)
    return advice.ranked[picks[0].index] if picks else None


def _tightest(tasks: tuple[TaskAssessment, ...]) -> TaskAssessment:
    """The task that leaves the least room."""
    return max(tasks, key=lambda task: task.memory.driver.high / (task.memory.usable_bytes or 1))
