"""What tests of pages do to them."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget

from engine.advice.result import Advice
from gui.state import AppState

__all__ = ["give", "nameless"]


def give(state: AppState, advice: Advice | None) -> None:
    """What the state does when the engine has answered."""
    state._advice = advice  # pyright: ignore[reportPrivateUsage]
    state.advice_changed.emit(advice)


def nameless(page: QWidget) -> list[tuple[str, str]]:
    """Widgets that the Tab key reaches and a screen reader could not name."""
    return [
        (type(w).__name__, w.objectName())
        for w in page.findChildren(QWidget)
        if w.focusPolicy() & Qt.FocusPolicy.TabFocus
        and not (w.accessibleName() or getattr(w, "text", lambda: "")())
        and not w.objectName().startswith("qt_")
        and w.parent().metaObject().className() != "QComboBoxPrivateContainer"  # the list that a combo box opens
    ]
