"""Questions to the person, each a function of its own, so that tests can answer them."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFileDialog, QMessageBox, QPushButton, QWidget

from engine.errors import KnownError
from engine.i18n import Language

__all__ = ["ask_leave", "ask_open", "ask_save", "ask_unsaved", "show_error", "show_message"]


def ask_open(parent: QWidget, title: str, filters: str, folder: str = "") -> Path | None:
    """A file to open; None where the person changed their mind."""
    name, _chosen = QFileDialog.getOpenFileName(parent, title, folder, filters)
    return Path(name) if name else None


def ask_save(parent: QWidget, title: str, filters: str, proposal: str) -> Path | None:
    """A file to write to; the dialog asks before an existing one is replaced."""
    name, _chosen = QFileDialog.getSaveFileName(parent, title, proposal, filters)
    return Path(name) if name else None


def _box(parent: QWidget | None, icon: QMessageBox.Icon, title: str, text: str) -> QMessageBox:
    box = QMessageBox(icon, title, text, QMessageBox.StandardButton.NoButton, parent)
    box.setTextFormat(Qt.TextFormat.PlainText)
    box.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose, False)
    return box


def _ask(box: QMessageBox, answers: dict[str, str], default: str, escape: str) -> str:
    """Show a question with these buttons (answer -> words) and give back the answer."""
    made: dict[str, QPushButton] = {}
    for answer, words in answers.items():
        role = QMessageBox.ButtonRole.RejectRole if answer == escape else QMessageBox.ButtonRole.AcceptRole
        made[answer] = box.addButton(words, role)
        made[answer].setObjectName(f"answer.{answer}")
    box.setDefaultButton(made[default])
    box.setEscapeButton(made[escape])
    box.exec()
    clicked = box.clickedButton()
    box.deleteLater()
    return next((answer for answer, b in made.items() if b is clicked), escape)


def ask_unsaved(parent: QWidget, language: Language) -> str:
    """What to do with changes that were not saved: "save", "discard" or "cancel"."""
    box = _box(
        parent,
        QMessageBox.Icon.Question,
        language.gettext("Unsaved changes"),
        language.gettext("The scenario has changes that are not saved. Save them first?"),
    )
    answers = {
        "save": language.pgettext("button", "Save"),
        "discard": language.pgettext("button", "Don't save"),
        "cancel": language.pgettext("button", "Cancel"),
    }
    return _ask(box, answers, "save", "cancel")


def ask_leave(parent: QWidget, language: Language) -> bool:
    """Whether to leave the questions and go to the start page."""
    box = _box(
        parent,
        QMessageBox.Icon.Question,
        language.gettext("Leave the questions?"),
        language.gettext("Go back to the start page? Everything that you have entered is kept."),
    )
    answers = {"leave": language.gettext("Start page"), "stay": language.pgettext("button", "Stay here")}
    return _ask(box, answers, "stay", "stay") == "leave"


def ask_forget(parent: QWidget, language: Language) -> bool:
    """Whether unsaved work of an earlier time may be thrown away."""
    box = _box(
        parent,
        QMessageBox.Icon.Warning,
        language.gettext("Throw the unsaved work away?"),
        language.gettext("What was entered then and never saved can't be brought back."),
    )
    answers = {
        "forget": language.pgettext("button", "Throw away"),
        "keep": language.pgettext("button", "Keep it"),
    }
    return _ask(box, answers, "keep", "keep") == "forget"


def show_error(parent: QWidget | None, language: Language, error: KnownError) -> None:
    """Say what went wrong in the world, and what to do."""
    show_message(parent, language.gettext("This did not work"), language.error(error), warning=True)


def show_message(parent: QWidget | None, title: str, text: str, *, warning: bool = False) -> None:
    """Say something; without waiting, so that nothing else stands still."""
    icon = QMessageBox.Icon.Warning if warning else QMessageBox.Icon.Information
    box = _box(parent, icon, title, text)
    box.setObjectName("message")
    box.addButton(QMessageBox.StandardButton.Ok)
    box.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    box.open()
