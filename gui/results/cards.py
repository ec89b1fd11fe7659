"""The cards on top of the results: what is recommended, and what a hosted API would cost."""

from __future__ import annotations

import html
from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent, QMouseEvent
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QLabel, QSizePolicy, QWidget

from engine.advice.result import Advice, ApiBaseline, Pick
from engine.i18n import Language
from engine.report import money_words
from gui.results import words
from gui.results.parts import verdict_look
from gui.theme import Theme
from gui.widgets.basic import Card, label, set_look

__all__ = ["ApiCard", "PickCard", "pick_cards"]


class PickCard(Card):
    """One plan on top, with the roles that it was picked for; a click or Enter chooses it."""

    chosen = Signal(str)  # plan id

    def __init__(self, advice: Advice, picks: Sequence[Pick], language: Language, theme: Theme) -> None:
        super().__init__(margin=theme.px(theme.m), gap=theme.px(5))
        self.assessment = advice.ranked[picks[0].index]
        self.setObjectName(f"pick.{picks[0].role}")
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Minimum)
        self._texts: list[str] = []
        self._folded: list[QWidget] = []  # what a compact card leaves out
        self._roles(picks, language, theme)
        plan = self.assessment.plan
        self._line(words.plan_name(plan, language), "subtitle")
        self._line(f"{words.way_name(plan, language)} · {words.plan_source(plan, language)}", "small")
        self._verdict(language)
        self._figures(advice, language, theme)
        for pick in picks:
            for reason in pick.reasons:
                self._folded.append(self._line(language.fill("• {reason}", reason=language.text(reason))))
        self.body.addStretch(1)
        self.setAccessibleName(". ".join(self._texts))
        self.setAccessibleDescription(language.gettext("Press Enter to see this plan in the tabs below."))

    def set_chosen(self, chosen: bool) -> None:
        """Frame the card of the plan that is looked at."""
        set_look(self, "card-accent" if chosen else "card")

    def set_compact(self, compact: bool) -> None:
        """Leave out all but the plan, its verdict and its cost, or show it all."""
        for widget in self._folded:
            widget.setVisible(not compact)

    def _line(self, text: str, look: str = "") -> QWidget:
        self._texts.append(text)
        made = label(text, look)
        self.body.addWidget(made)
        return made

    def _roles(self, picks: Sequence[Pick], language: Language, theme: Theme) -> None:
        row = QHBoxLayout()
        row.setSpacing(theme.px(theme.xs))
        for pick in picks:
            text = words.role_name(pick.role, language)
            badge = label(text, "badge-accent", wrap=False)
            badge.setToolTip(words.role_meaning(pick.role, language))
            self._texts.append(text)
            row.addWidget(badge)
        row.addStretch(1)
        self.body.addLayout(row)

    def _verdict(self, language: Language) -> None:
        memory = words.tightest(self.assessment).memory
        row = QHBoxLayout()
        verdict = words.verdict_name(memory.verdict, language)
        far = words.distance(memory, language)
        row.addWidget(label(verdict, verdict_look(memory.verdict), wrap=False), 0, Qt.AlignmentFlag.AlignTop)
        row.addWidget(label(far), 1)
        self._texts += [verdict, far]
        self.body.addLayout(row)

    def _figures(self, advice: Advice, language: Language, theme: Theme) -> None:
        cost, days = self.assessment.cost, self.assessment.calendar_days
        serving = all(t.inference is not None for t in self.assessment.tasks)
        rows = (
            (
                language.gettext("Cost of the job"),
                language.money(cost.cost_of_job),
                language.money_range(cost.cost_of_job),
                money_words.two_figures(cost, language) + "\n\n" + money_words.what_widens(cost, language),
            ),
            (
                language.gettext("Cash needed"),
                language.money(cost.cash_needed),
                language.money_range(cost.cash_needed),
                money_words.two_figures(cost, language),
            ),
            (
                language.gettext("Ready after") if serving else language.gettext("Done after"),
                words.days(days, language),
                words.days_range(days, language),
                "",
            ),
        )
        grid = QGridLayout()
        grid.setHorizontalSpacing(theme.px(theme.s))
        grid.setVerticalSpacing(theme.px(2))
        grid.setColumnStretch(1, 1)
        for number, (name, expected, span, why) in enumerate(rows):
            both = f"{expected} ({span})"
            self._texts.append(language.fill("{name}: {text}", name=name, text=both))
            parts = (label(name, "muted", wrap=False), _amount(expected, span if span != expected else "", theme))
            hint = "\n\n".join(text for text in (language.gettext("90 % interval: low to high"), why.strip()) if text)
            for column, part in enumerate(parts):
                part.setToolTip(hint)
                grid.addWidget(part, number, column, Qt.AlignmentFlag.AlignTop)
            if number:
                self._folded += parts
        self.body.addLayout(grid)
        self._folded.append(self._line(money_words.in_short(cost, language), "small"))
        for task in self.assessment.tasks:
            speed = words.speed(task, language)
            if len(self.assessment.tasks) > 1:
                speed = language.fill("{name}: {text}", name=words.task_name(advice, task.task_id), text=speed)
            self._folded.append(self._line(speed, "small"))

    # Qt -----------------------------------------------------------------------------------------------------

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """A click chooses."""
        if event.button() == Qt.MouseButton.LeftButton and self.rect().contains(event.position().toPoint()):
            self.chosen.emit(self.assessment.plan.id)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Enter and space choose."""
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space):
            self.chosen.emit(self.assessment.plan.id)
        else:
            super().keyPressEvent(event)


def _amount(expected: str, span: str, theme: Theme) -> QLabel:
    """The expected amount in bold, its range behind it, or below it where the card is narrow."""
    whole = html.escape(span.replace(" ", "\u00a0").replace("–", "–\u2060"))  # breaks nowhere
    made = label()
    made.setTextFormat(Qt.TextFormat.RichText)
    small = f"color:{theme.muted}; font-size:{theme.points(0.9):.2f}pt"
    made.setText(f'<b>{html.escape(expected)}</b> &nbsp;<span style="{small}">{whole}</span>')
    return made


class ApiCard(Card):
    """The same outputs, or the same fine-tuning, by a hosted API."""

    def __init__(self, baseline: ApiBaseline, about: str, language: Language, theme: Theme) -> None:
        super().__init__(margin=theme.px(theme.m), gap=theme.px(5))
        self.setObjectName(f"api.{baseline.task_id}")
        row = QHBoxLayout()
        row.addWidget(label(language.gettext("Without own GPUs: by API"), "badge", wrap=False))
        row.addStretch(1)
        self.body.addLayout(row)
        title = words.api_title(baseline, language)
        self.body.addWidget(label(title, "subtitle"))
        allowed = language.gettext("allowed") if baseline.allowed else language.gettext("ruled out by your limits")
        verdict = QHBoxLayout()
        verdict.addWidget(label(allowed, "good" if baseline.allowed else "neutral", wrap=False))
        verdict.addStretch(1)
        self.body.addLayout(verdict)
        money, span = language.money(baseline.cost), language.money_range(baseline.cost)
        cost = language.fill("Cost: {money} ({span})", money=money, span=span)
        self.body.addWidget(_amount(money, span if span != money else "", theme))
        text = language.text(baseline.finding)
        self._folded = [label(text)]
        if about:
            self._folded.append(label(about, "small"))
        for part in self._folded:
            self.body.addWidget(part)
        self.body.addStretch(1)
        self.setAccessibleName(". ".join((title, allowed, cost, text)))

    def set_compact(self, compact: bool) -> None:
        """Leave out the sentence, or show it."""
        for widget in self._folded:
            widget.setVisible(not compact)


def pick_cards(advice: Advice, language: Language, theme: Theme) -> list[PickCard | ApiCard]:
    """A card for each plan on top (one plan may have several roles), then the hosted alternatives."""
    by_plan: dict[int, list[Pick]] = {}
    for pick in advice.picks:
        by_plan.setdefault(pick.index, []).append(pick)
    cards: list[PickCard | ApiCard] = [PickCard(advice, picks, language, theme) for picks in by_plan.values()]
    several = len(advice.scenario.tasks) > 1
    for baseline in advice.api:
        about = words.task_name(advice, baseline.task_id) if several else ""
        cards.append(ApiCard(baseline, about, language, theme))
    return cards
