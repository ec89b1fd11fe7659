"""Left side of the report page: kind of report, its language, the applicant's own facts, and the files to save."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QAbstractButton,
    QButtonGroup,
    QLineEdit,
    QPlainTextEdit,
    QPushButton,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from engine.i18n import Language, LanguageCode
from engine.messages import N_
from engine.report.document import Profile
from engine.scenario import ReportDetails
from gui.state import AppState
from gui.widgets.basic import Fold, button, label, scrolled
from gui.widgets.editors import ChoiceEdit
from gui.widgets.words import NP_, Text, Words, plain, say

__all__ = ["ReportControls"]

#: Fields of `ReportDetails` that the page offers: name, caption, several lines.
DETAILS: tuple[tuple[str, Text, bool], ...] = (
    ("title", N_("Title of the request"), False),
    ("applicant", N_("Applicant"), False),
    ("unit", N_("Applicant's unit"), False),
    ("fund", N_("Source of the money"), False),
    ("why_now", N_("Why now"), True),
    ("decision_by", N_("Decision needed by"), False),
    ("shared_enquiry", N_("Answer of the shared facility, with its date"), True),
    ("next_step", N_("Next step"), True),
)

#: What the forms of reviewers ask for besides.
REVIEW: tuple[tuple[str, Text, bool], ...] = (
    ("equipment_name", N_("Equipment name (the same everywhere)"), False),
    ("cosigner", N_("Co-signer"), False),
    ("money_ends", N_("End of the money; who pays afterwards"), False),
    ("classification", N_("Research instrument or general equipment; imported or not"), False),
    ("purpose", N_("Purpose of the equipment"), True),
    ("existing", N_("Equipment of the same type: unit, age, hours of last year, why not"), True),
    ("quotations", N_("Three quotations: supplier, date, validity, tax, amount"), True),
    ("purchase_method", N_("Proposed method of purchase"), False),
    ("related_purchases", N_("Related purchases of the unit this year"), False),
    ("site", N_("Place, circuit, cooling, floor load, network"), True),
    ("operator", N_("Operator, share of time, running money"), True),
    ("hours_forecast", N_("Expected hours a year: own, campus, outside"), False),
    ("sharing", N_("Access for others, fees, queue rules"), True),
    ("data_class", N_("Class of the data and where it lies"), False),
    ("export_declaration", N_("Export control and lawful channel: applicant's declaration"), True),
    ("benefits", N_("Output, quality and service targets, with date and checker"), True),
)

#: Kinds of report: name, caption, what it is for.
KINDS: tuple[tuple[Profile, Text, Text], ...] = (
    ("memo", N_("One-page memo"), N_("For a decision: the request, three options, three risks.")),
    ("full", N_("Full report"), N_("For review: all inputs, the comparison, the working, the sources.")),
    (
        "university",
        N_("University, China"),
        N_("Feasibility report for the expert panel: duplication check, requirements, lines crossed, acceptance."),
    ),
    ("grant", N_("Grant note, China"), N_("The equipment line of a grant application, without appendices.")),
    (
        "research",
        N_("Research, US, UK, EU"),
        N_("Budget paragraph, procurement file and shared-instrument case from one result."),
    ),
    (
        "business",
        N_("Business case"),
        N_("Options, whole-life cost, sensitivity, risks and approval for a company."),
    ),
)


class ReportControls(QWidget):
    """What the report is made of; `changed` whenever the PDF must be set again."""

    changed = Signal()
    pdf_requested = Signal()
    file_requested = Signal(str)  # "json" or "xlsx"

    def __init__(self, state: AppState, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._state = state
        self._words = Words(state, self)
        self._chosen_language: LanguageCode | None = None
        theme = state.theme
        self.setFixedWidth(theme.px(300))
        area, column = scrolled("report.controls", margin=0, gap=theme.px(theme.s))
        area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._area: QScrollArea = area
        outer = QVBoxLayout(self)
        outer.setContentsMargins(0, 0, 0, 0)
        outer.setSpacing(theme.px(theme.m))
        title = label("", "title")
        self._words.bind(title.setText, N_("Report"))
        outer.addWidget(title)
        outer.addWidget(area, 1)
        self._add_profiles(column)
        self._add_language(column)
        self._add_details(column)
        column.addStretch(1)
        self._add_buttons(outer)
        self.set_ready(False)

    # values -------------------------------------------------------------------------------------------------

    @property
    def profile(self) -> Profile:
        """The kind of report."""
        chosen: list[Profile] = [name for name, made in self.kinds.items() if made.isChecked()]
        return chosen[0] if chosen else "memo"

    @property
    def language(self) -> Language:
        """The report's own language; the window's until another is chosen."""
        return Language(self._chosen_language) if self._chosen_language else self._state.language

    @property
    def details(self) -> ReportDetails:
        """What the applicant stated; kept with the scenario."""
        return self._state.draft.report

    def _typed(self) -> ReportDetails:
        """What stands in the fields, cut to what the form holds."""
        values: dict[str, str] = {}
        for name, editor in self.editors.items():
            text = editor.text() if isinstance(editor, QLineEdit) else editor.toPlainText()
            values[name] = text.strip()[: _limit(name)]
        return ReportDetails.model_validate(values)

    def set_ready(self, ready: bool) -> None:
        """Whether there is something to save."""
        self.pdf.setEnabled(ready)

    # building -----------------------------------------------------------------------------------------------

    def _add_profiles(self, column: QVBoxLayout) -> None:
        heading = label("", "section")
        self._words.bind(heading.setText, N_("Kind of report"))
        column.addWidget(heading)
        self.kinds: dict[Profile, QPushButton] = {n: self._segment(text, hint, n) for n, text, hint in KINDS}
        self.memo, self.full = self.kinds["memo"], self.kinds["full"]
        group = QButtonGroup(self)
        group.setExclusive(True)
        for made in self.kinds.values():
            group.addButton(made)
            column.addWidget(made)
        self.memo.setChecked(True)
        group.buttonClicked.connect(self._profile_chosen)

    def _profile_chosen(self, _button: QAbstractButton) -> None:
        self.changed.emit()

    def _segment(self, text: Text, hint: Text, name: str) -> QPushButton:
        made = button(self._words, text, f"report.{name}", "segment")
        made.setCheckable(True)
        self._words.bind(made.setToolTip, hint)
        self._words.bind(made.setAccessibleDescription, hint)
        return made

    def _add_language(self, column: QVBoxLayout) -> None:
        heading = label("", "section")
        self._words.bind(heading.setText, N_("Language of the report"))
        self.language_box = ChoiceEdit(
            self._words,
            [("", N_("As the window")), ("en", "English"), ("zh_CN", "简体中文")],
        )
        self.language_box.setObjectName("report.language")
        heading.setBuddy(self.language_box)
        self._words.bind(self.language_box.setAccessibleName, N_("Language of the report"))
        self.language_box.edited.connect(self._language_chosen)
        self._state.language_changed.connect(self._window_language_changed)
        column.addSpacing(self._state.theme.px(self._state.theme.s))
        column.addWidget(heading)
        column.addWidget(self.language_box)

    def _language_chosen(self, code: str) -> None:
        self._chosen_language = "zh_CN" if code == "zh_CN" else "en" if code == "en" else None
        self.changed.emit()

    def _window_language_changed(self, _language: object) -> None:
        if self._chosen_language is None:
            self.changed.emit()

    def _add_details(self, column: QVBoxLayout) -> None:
        fold = Fold(self._words, N_("What only you can state"), "report.details")
        note = label("", "small")
        self._words.bind(
            note.setText,
            N_(
                "Optional. What stays empty is printed as [to be completed]; nothing is invented. It is kept with the "
                "scenario."
            ),
        )
        fold.body.addWidget(note)
        self.editors: dict[str, QLineEdit | QPlainTextEdit] = {}
        review = Fold(self._words, N_("For review: site, running, compliance"), "report.review")
        self._add_editors(fold, DETAILS)
        self._add_editors(review, REVIEW)
        self._stated: ReportDetails | None = None
        self._fill()
        self._state.draft_changed.connect(lambda _draft: self._fill())
        column.addSpacing(self._state.theme.px(self._state.theme.s))
        column.addWidget(fold)
        column.addWidget(review)

    def _add_editors(self, fold: Fold, fields: tuple[tuple[str, Text, bool], ...]) -> None:
        for name, caption, several in fields:
            editor: QLineEdit | QPlainTextEdit = QPlainTextEdit() if several else QLineEdit()
            editor.setObjectName(f"report.details.{name}")
            if isinstance(editor, QPlainTextEdit):
                editor.setFixedHeight(self._state.theme.px(72))
                editor.setTabChangesFocus(True)
            else:
                editor.setMaxLength(_limit(name))
            heading = label("", "")
            heading.setBuddy(editor)
            self._words.bind(heading.setText, caption)
            self._words.run(lambda lang, e=editor, c=caption: e.setAccessibleName(plain(say(lang, c))))
            editor.textChanged.connect(lambda *_text: self._state.edit(report=self._typed()))
            fold.body.addWidget(heading)
            fold.body.addWidget(editor)
            self.editors[name] = editor

    def _fill(self) -> None:
        """Show what the scenario states, after it was opened or a step was undone."""
        stated = self._state.draft.report
        if stated == self._stated:
            return
        self._stated = stated
        typed = self._typed()
        for name, editor in self.editors.items():
            text = str(getattr(stated, name))
            if getattr(typed, name) != text:
                editor.blockSignals(True)
                editor.setText(text) if isinstance(editor, QLineEdit) else editor.setPlainText(text)
                editor.blockSignals(False)
        self.changed.emit()

    def _add_buttons(self, column: QVBoxLayout) -> None:
        self.pdf = button(self._words, NP_("button", "Save PDF…"), "report.save", "primary")
        self.pdf.clicked.connect(self.pdf_requested)
        record = button(self._words, NP_("button", "Save record (JSON)…"), "report.json")
        record.clicked.connect(lambda: self.file_requested.emit("json"))
        table = button(self._words, NP_("button", "Save comparison (Excel)…"), "report.xlsx")
        table.clicked.connect(lambda: self.file_requested.emit("xlsx"))
        for made in (self.pdf, record, table):
            column.addWidget(made)


def _limit(name: str) -> int:
    """The most characters that a field of `ReportDetails` holds."""
    for rule in ReportDetails.model_fields[name].metadata:
        longest = getattr(rule, "max_length", None)
        if isinstance(longest, int):
            return longest
    return 1000
