"""About this program: versions, licence, and the attributions that the sources of the data ask for."""

from __future__ import annotations

import csv
import io
import platform
from importlib.metadata import PackageNotFoundError, version
from importlib.resources import files

from PySide6.QtCore import qVersion
from PySide6.QtWidgets import (
    QDialog,
    QDialogButtonBox,
    QHBoxLayout,
    QLabel,
    QPlainTextEdit,
    QTabWidget,
    QVBoxLayout,
    QWidget,
)

import engine
from engine.messages.mark import N_
from gui.icons import program_icon
from gui.state import AppState
from gui.widgets.basic import bound_label, label
from gui.widgets.words import Words

__all__ = ["AboutDialog", "attributions"]

_PARTS = ("PySide6-Essentials", "pydantic", "numpy", "matplotlib", "typst", "pypdfium2", "Babel", "sqlite-utils")


def attributions() -> list[tuple[str, str, str]]:
    """(source, licence, attribution) of the catalogue's sources; empty where the file is missing."""
    entry = files("resources") / "catalog" / "licences.csv"
    if not entry.is_file():
        return []
    rows = csv.DictReader(io.StringIO(entry.read_text(encoding="utf-8")))
    return [(row["source"], row["licence"], row["attribution"]) for row in rows]


def _versions() -> str:
    lines = [f"Python {platform.python_version()}", f"Qt {qVersion()}"]
    for part in _PARTS:
        try:
            lines.append(f"{part} {version(part)}")
        except PackageNotFoundError:
            continue
    return "\n".join(lines)


class AboutDialog(QDialog):
    """Name and version, what it rests on, and whose data it uses."""

    def __init__(self, state: AppState, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("about")
        words = Words(state, self)
        words.bind(self.setWindowTitle, N_("About GPU Advisor"))
        self.resize(state.theme.px(620), state.theme.px(520))
        column = QVBoxLayout(self)
        column.setContentsMargins(24, 24, 24, 24)
        column.setSpacing(12)
        head = QHBoxLayout()
        picture = QLabel()
        picture.setPixmap(program_icon().pixmap(state.theme.px(56), state.theme.px(56)))
        head.addWidget(picture)
        texts = QVBoxLayout()
        texts.addWidget(bound_label(words, N_("GPU Advisor"), "title"))
        facts = label("", "muted", selectable=True)
        words.run(
            lambda language: facts.setText(
                language.fill(
                    "Version {version} · catalogue {catalog} ({hash})",
                    version=engine.__version__,
                    catalog=state.catalog.version,
                    hash=state.catalog.sha256[:12],
                )
            )
        )
        texts.addWidget(facts)
        head.addLayout(texts, 1)
        column.addLayout(head)
        column.addWidget(
            bound_label(
                words,
                N_(
                    "Free software under the Apache License 2.0. It works without a network and sends nothing "
                    "anywhere. Estimates are ranges, not promises; prices carry their dates."
                ),
            )
        )
        tabs = QTabWidget()
        tabs.setObjectName("about.tabs")
        sources = "\n\n".join(f"{source}  ({licence})\n{text}" for source, licence, text in attributions())
        pages = ((N_("Data and licences"), sources, "about.data"), (N_("Parts"), _versions(), "about.parts"))
        for index, (title, text, name) in enumerate(pages):
            view = QPlainTextEdit(text)
            view.setReadOnly(True)
            view.setObjectName(name)
            tabs.addTab(view, "")
            words.bind(lambda words_now, i=index: tabs.setTabText(i, words_now), title)
            words.bind(view.setAccessibleName, title)
        words.bind(tabs.setAccessibleName, N_("About GPU Advisor"))
        column.addWidget(tabs, 1)
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        buttons.rejected.connect(self.reject)
        column.addWidget(buttons)
