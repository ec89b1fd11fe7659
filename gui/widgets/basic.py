"""Small parts that pages are made of: labels, cards, banners, buttons, scrolling pages."""

from __future__ import annotations

from typing import Literal

from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import (
    QBoxLayout,
    QFrame,
    QHBoxLayout,
    QLabel,
    QLayout,
    QPushButton,
    QScrollArea,
    QSizePolicy,
    QToolButton,
    QVBoxLayout,
    QWhatsThis,
    QWidget,
)

from gui.icons import fold_icon
from gui.theme import Theme
from gui.widgets.words import Text, Words

__all__ = [
    "Banner",
    "Card",
    "ElidedLabel",
    "Fold",
    "WhyButton",
    "bound_label",
    "button",
    "clear_layout",
    "label",
    "line",
    "scrolled",
    "set_look",
]


def set_look(widget: QWidget, look: str) -> None:
    """Choose a look of the style sheet; has effect at once."""
    if widget.property("look") != look:
        widget.setProperty("look", look)
        widget.style().unpolish(widget)
        widget.style().polish(widget)


def label(text: str = "", look: str = "", *, wrap: bool = True, selectable: bool = False) -> QLabel:
    """A label in one of the style sheet's looks; plain text, so that user text is never markup."""
    made = QLabel(text)
    made.setTextFormat(Qt.TextFormat.PlainText)
    made.setWordWrap(wrap)
    if look:
        made.setProperty("look", look)
    if selectable:
        made.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
    return made


def bound_label(words: Words, text: Text, look: str = "", *, wrap: bool = True) -> QLabel:
    """A label whose text follows the language."""
    made = label("", look, wrap=wrap)
    words.bind(made.setText, text)
    return made


def button(words: Words, text: Text, name: str, look: str = "") -> QPushButton:
    """A push button with an object name, whose text follows the language."""
    made = QPushButton()
    made.setObjectName(name)
    if look:
        made.setProperty("look", look)
    words.bind(made.setText, text)
    words.bind_plain(made.setAccessibleName, text)
    return made


def line() -> QFrame:
    """A thin line between parts."""
    made = QFrame()
    made.setProperty("look", "line")
    made.setFixedHeight(1)
    return made


def clear_layout(layout: QLayout) -> None:
    """Remove and delete all that a layout holds."""
    while (item := layout.takeAt(0)) is not None:
        widget, inner = item.widget(), item.layout()
        if widget is not None:
            widget.hide()
            widget.setParent(None)
            widget.deleteLater()
        elif inner is not None:
            clear_layout(inner)


class Card(QFrame):
    """A surface with a border and room inside; `body` is its vertical layout."""

    def __init__(self, parent: QWidget | None = None, *, look: str = "card", margin: int = 16, gap: int = 8) -> None:
        super().__init__(parent)
        self.setProperty("look", look)
        self.body = QVBoxLayout(self)
        self.body.setContentsMargins(margin, margin, margin, margin)
        self.body.setSpacing(gap)


class ElidedLabel(QLabel):
    """One line at the right edge that is cut with an ellipsis where there is no room; the tool tip has it all."""

    def __init__(self, look: str = "", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._full = ""
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        if look:
            self.setProperty("look", look)

    def set_full_text(self, text: str) -> None:
        """Show a text as far as there is room."""
        self._full = text
        self.setToolTip(text)
        self._cut()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Cut again."""
        super().resizeEvent(event)
        self._cut()

    def _cut(self) -> None:
        room = max(self.width() - 2, 0)
        self.setText(self.fontMetrics().elidedText(self._full, Qt.TextElideMode.ElideRight, room))


class Banner(QFrame):
    """A line of words on a coloured ground, hidden while it has nothing to say; `buttons` holds what can be done."""

    def __init__(self, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName(name)
        self.setProperty("look", "info")
        row = QHBoxLayout(self)
        row.setContentsMargins(16, 10, 16, 10)
        self.text = label(selectable=True)
        self.text.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        row.addWidget(self.text, 1)
        self.buttons = QHBoxLayout()
        row.addLayout(self.buttons)
        self.hide()

    def say(self, text: str, kind: Literal["info", "warning", "danger"] = "info") -> None:
        """Show a text; an empty one hides the banner."""
        set_look(self, kind)
        self.text.setText(text)
        self.setAccessibleName(text)
        self.setVisible(bool(text))


class WhyButton(QToolButton):
    """A round "?" beside a field: why this is asked. The words also stand in the tool tip, for the mouse."""

    def __init__(self, words: Words, text: Text, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName(name)
        self.setText("?")
        self.setProperty("look", "why")
        self._words = words
        words.bind(self._set_help, text)
        self.clicked.connect(self._show)

    def name_after(self, field: str) -> None:
        """Say in the accessible name which field is meant."""
        self.setAccessibleName(self._words.language.fill("Why {field} is asked", field=field))

    def _set_help(self, text: str) -> None:
        self.setToolTip(f"<qt>{_escaped(text)}</qt>")  # rich text, so that Qt breaks the lines
        self.setWhatsThis(text)
        self.setAccessibleDescription(text)

    def _show(self) -> None:
        QWhatsThis.showText(self.mapToGlobal(QPoint(0, self.height() + 4)), self.toolTip(), self)


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace("\n", "<br>")


class Fold(QWidget):
    """A part that is folded away until it is wanted, such as "Advanced"; `body` is its layout."""

    def __init__(self, words: Words, text: Text, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._arrows = {opened: fold_icon(words.theme, opened=opened) for opened in (False, True)}
        outer = QVBoxLayout(self)
        outer.setContentsMargins(0, 0, 0, 0)
        outer.setSpacing(8)
        self.toggle = QPushButton()
        self.toggle.setObjectName(name)
        self.toggle.setProperty("look", "fold")
        self.toggle.setCheckable(True)
        self.toggle.setIcon(self._arrows[False])
        words.bind(self.toggle.setText, text)
        words.bind_plain(self.toggle.setAccessibleName, text)
        outer.addWidget(self.toggle, 0, Qt.AlignmentFlag.AlignLeft)
        self.inside = QWidget()
        self.body = QVBoxLayout(self.inside)
        self.body.setContentsMargins(0, 0, 0, 0)
        self.inside.hide()
        outer.addWidget(self.inside)
        self.toggle.toggled.connect(self._fold)
        words.on_theme(self._repaint)

    def open(self) -> None:
        """Unfold."""
        self.toggle.setChecked(True)

    def _repaint(self, theme: Theme) -> None:
        self._arrows = {opened: fold_icon(theme, opened=opened) for opened in (False, True)}
        self.toggle.setIcon(self._arrows[self.toggle.isChecked()])

    def _fold(self, opened: bool) -> None:
        self.toggle.setIcon(self._arrows[opened])
        self.inside.setVisible(opened)


def scrolled(name: str, *, margin: int = 24, gap: int = 16) -> tuple[QScrollArea, QVBoxLayout]:
    """A page that scrolls when the window is small, and the layout of what is on it."""
    area = QScrollArea()
    area.setObjectName(name)
    area.setWidgetResizable(True)
    area.setFrameShape(QFrame.Shape.NoFrame)
    area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAsNeeded)
    area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
    inside = QWidget()
    inside.setProperty("look", "scrolled")
    layout = QVBoxLayout(inside)
    layout.setContentsMargins(margin, margin, margin, margin)
    layout.setSpacing(gap)
    layout.setDirection(QBoxLayout.Direction.TopToBottom)
    area.setWidget(inside)
    return area, layout
