"""Texts that follow the window's language: each is bound once, in English, and set again when the language changes."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeAlias

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QWidget

from engine.i18n import Language

if TYPE_CHECKING:
    from gui.state import AppState
    from gui.theme import Theme

__all__ = ["NP_", "Text", "Words", "plain", "say"]

#: An English text, or (context, text) for a short one that means different things in different places.
Text: TypeAlias = str | tuple[str, str]


def NP_(context: str, text: str) -> Text:
    """Mark a short text for extraction with its context."""
    return (context, text)


def say(language: Language, text: Text) -> str:
    """A marked text in a language."""
    return language.pgettext(*text) if isinstance(text, tuple) else language.gettext(text)


def plain(text: str) -> str:
    """A label without its mnemonic: "&Budget" and "预算(&B)" become "Budget" and "预算"."""
    head, bracket, tail = text.partition("(&")
    if bracket and tail[1:2] == ")":
        text = head + tail[2:]
    return text.replace("&&", "\0").replace("&", "").replace("\0", "&")


class Words(QObject):
    """The texts of one widget, which owns it."""

    def __init__(self, state: AppState, owner: QWidget) -> None:
        super().__init__(owner)
        self._state = state
        self._bound: list[Callable[[Language], object]] = []
        self._themed: list[Callable[[Theme], object]] = []
        state.language_changed.connect(self.refresh)
        state.theme_changed.connect(self._restyle)

    @property
    def language(self) -> Language:
        """The language of now."""
        return self._state.language

    @property
    def theme(self) -> Theme:
        """The look of now."""
        return self._state.theme

    def on_theme(self, action: Callable[[Theme], object]) -> None:
        """Do something after each change of the look, as long as the owner lives."""
        self._themed.append(action)

    def _restyle(self, theme: Theme) -> None:
        for action in self._themed:
            action(theme)

    def bind(self, setter: Callable[[str], object], text: Text) -> None:
        """Set a text now and after each change of language."""
        self.run(lambda language: setter(say(language, text)))

    def bind_plain(self, setter: Callable[[str], object], text: Text) -> None:
        """As `bind`, without the mnemonic: for accessible names."""
        self.run(lambda language: setter(plain(say(language, text))))

    def run(self, action: Callable[[Language], object]) -> None:
        """Do something that depends on the language, now and after each change."""
        self._bound.append(action)
        action(self._state.language)

    def refresh(self) -> None:
        """Set everything again."""
        for action in self._bound:
            action(self._state.language)
