"""The details of the chosen plan: every total opens into its terms, these into formula, values and source."""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, QPoint, Qt
from PySide6.QtGui import QAction, QGuiApplication, QKeySequence, QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QHeaderView, QMenu, QSplitter, QTreeView, QVBoxLayout, QWidget

from engine.advice.result import Assessment
from engine.i18n import Language
from engine.messages import N_
from gui.results import words
from gui.results.layout_words import layout_sentences
from gui.results.selection import Selection
from gui.results.tree import WorkingModel
from gui.results.working import working
from gui.state import AppState
from gui.widgets.basic import button, clear_layout, label, scrolled
from gui.widgets.when_seen import WhenSeen
from gui.widgets.words import Words

__all__ = ["DetailsTab"]

#: Below this width (logical pixels at scale 1) the sentences beside the tree would leave it no room.
NARROW = 720


class DetailsTab(QWidget):
    """The working as a tree, beside what the layout means in plain words."""

    def __init__(self, state: AppState, selection: Selection, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._selection, self._theme = selection, state.theme  # distances of the page as built
        self._words = Words(state, self)
        self.model = WorkingModel(state.language, self)
        self.tree = QTreeView()
        self._shape_tree()
        self.meaning, self._sentences = scrolled("details.meaning", margin=state.theme.px(12), gap=state.theme.px(8))
        self.meaning.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        splitter = QSplitter(Qt.Orientation.Horizontal)
        splitter.setObjectName("details.splitter")
        splitter.setChildrenCollapsible(False)
        splitter.addWidget(self.tree)
        splitter.addWidget(self.meaning)
        splitter.setStretchFactor(0, 5)
        splitter.setStretchFactor(1, 3)
        splitter.setSizes([500, 300])
        self._build(splitter)
        self._seen = WhenSeen(self, lambda: self._show(selection.assessment))
        selection.changed.connect(self._seen.ask)
        self._words.run(self._say)

    def _shape_tree(self) -> None:
        self.tree.setObjectName("details.tree")
        self.tree.setModel(self.model)
        self.tree.setAlternatingRowColors(True)
        self.tree.setWordWrap(True)
        self.tree.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.tree.customContextMenuRequested.connect(self._show_menu)
        header = self.tree.header()
        header.setStretchLastSection(False)
        header.setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        header.setSectionResizeMode(1, QHeaderView.ResizeMode.ResizeToContents)
        header.setSectionResizeMode(2, QHeaderView.ResizeMode.ResizeToContents)
        self.copy_value, self.copy_line = QAction(self.tree), QAction(self.tree)
        self.copy_line.setShortcut(QKeySequence.StandardKey.Copy)
        self.copy_line.setShortcutContext(Qt.ShortcutContext.WidgetShortcut)
        self.copy_value.triggered.connect(self._copy_value)
        self.copy_line.triggered.connect(self._copy_line)
        self.tree.addActions([self.copy_value, self.copy_line])

    def _build(self, splitter: QSplitter) -> None:
        theme = self._theme
        hint = label("", "small")
        self._words.bind(
            hint.setText,
            N_("Open a line (→) to see its formula, the values put in, and where it comes from."),
        )
        expand = button(self._words, N_("Open all"), "details.expand")
        collapse = button(self._words, N_("Close all"), "details.collapse")
        expand.clicked.connect(self.open_all)
        collapse.clicked.connect(self.tree.collapseAll)
        bar = QHBoxLayout()
        bar.addWidget(hint, 1)
        bar.addWidget(expand)
        bar.addWidget(collapse)
        column = QVBoxLayout(self)
        column.setContentsMargins(*(theme.px(theme.m),) * 4)
        column.setSpacing(theme.px(theme.s))
        column.addLayout(bar)
        column.addWidget(splitter, 1)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Where it is narrow, the tree takes all; the sentences stand in it too."""
        super().resizeEvent(event)
        self.meaning.setVisible(self.width() >= self._theme.px(NARROW))

    def open_all(self) -> None:
        """Open every line."""
        self.tree.expandAll()
        self._span_rows(QModelIndex())

    def _say(self, language: Language) -> None:
        self.tree.setAccessibleName(language.gettext("Working of the chosen plan"))
        self.meaning.setAccessibleName(language.gettext("What this means"))
        self.copy_value.setText(language.pgettext("menu", "Copy value"))
        self.copy_line.setText(language.pgettext("menu", "Copy line"))
        self._seen.ask()

    def _show(self, assessment: Assessment | None) -> None:
        language, advice = self._words.language, self._selection.advice
        clear_layout(self._sentences)
        if assessment is None or advice is None:
            self.model.set_nodes((), language)
            return
        self.model.set_nodes(working(advice, assessment, language), language)
        self._span_rows(QModelIndex())
        for row in range(self.model.rowCount()):
            if self.model.node(self.model.index(row, 0)).kind == "group":  # type: ignore[union-attr]
                self.tree.expand(self.model.index(row, 0))
        self._explain(assessment, language)

    def _span_rows(self, parent: QModelIndex) -> None:
        """Lines without amounts (formulas, sources, sentences) use the whole width."""
        for row in range(self.model.rowCount(parent)):
            index = self.model.index(row, 0, parent)
            node = self.model.node(index)
            if node is not None and not node.expected and not node.span:
                self.tree.setFirstColumnSpanned(row, parent, True)
            self._span_rows(index)

    def _explain(self, assessment: Assessment, language: Language) -> None:
        advice = self._selection.advice
        self._sentences.addWidget(label(language.gettext("What this means"), "section"))
        for task in assessment.tasks:
            if len(assessment.tasks) > 1 and advice is not None:
                self._sentences.addWidget(label(words.task_name(advice, task.task_id), "section"))
            for sentence in layout_sentences(assessment, task, language):
                self._sentences.addWidget(label(language.fill("• {reason}", reason=sentence), selectable=True))
        self._sentences.addStretch(1)

    # copying ------------------------------------------------------------------------------------------------

    def _copy_value(self) -> None:
        index = self.tree.currentIndex()
        node = self.model.node(index)
        if node is not None:
            QGuiApplication.clipboard().setText(node.expected or node.title)

    def _copy_line(self) -> None:
        node = self.model.node(self.tree.currentIndex())
        if node is not None:
            QGuiApplication.clipboard().setText("\t".join(t for t in (node.title, node.expected, node.span) if t))

    def _show_menu(self, place: QPoint) -> None:
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.addActions([self.copy_value, self.copy_line])
        menu.popup(self.tree.viewport().mapToGlobal(place))
