"""Step 2: which model?"""

from __future__ import annotations

from pathlib import Path

from PySide6.QtWidgets import QGridLayout, QWidget

from engine.architecture.checkpoint import ModelFile, read_model
from engine.architecture.model import Architecture
from engine.errors import KnownError
from engine.i18n import Language
from engine.messages.mark import N_
from gui import dialogs
from gui.draft import Draft
from gui.problems import Page, Problem
from gui.widgets.basic import Banner, Card, bound_label, clear_layout, label
from gui.widgets.choice_cards import Segments
from gui.widgets.drop import DropZone
from gui.widgets.editors import NumberEdit
from gui.widgets.picker import Entry, SearchList
from gui.wizard.page import WizardPage

__all__ = ["ModelPage", "model_facts"]


def file_facts(file: ModelFile, language: Language) -> list[tuple[str, str]]:
    """What the weight files of a model hold, as pairs of caption and value."""
    kinds = ", ".join(f"{k.dtype} {language.count(k.elements)}" for k in file.stored[:4])
    facts = [
        (language.gettext("Size of the weights"), language.gib(file.stored_bytes) if file.stored_bytes else ""),
        (language.gettext("Number formats"), kinds),
        (language.gettext("File format"), file.file_format),
    ]
    return [(caption, value) for caption, value in facts if value]


def model_facts(model: Architecture, language: Language) -> list[tuple[str, str]]:
    """What is known of a model, as pairs of caption and value."""
    gettext, count = language.gettext, language.count
    experts = language.fill("{all:int} experts, {used:int} at a time", all=model.experts, used=model.experts_per_token)
    facts = [
        (gettext("Parameters"), count(model.parameters_total)),
        (gettext("Active per token"), count(model.parameters_active) if model.is_moe else ""),
        (gettext("Layers"), language.number(model.layers, 0)),
        (gettext("Hidden size"), language.number(model.hidden_size, 0)),
        (gettext("Experts"), experts if model.is_moe else ""),
        (gettext("Vocabulary"), language.number(model.vocabulary_size, 0)),
        (gettext("Context length"), language.number(model.max_context, 0) if model.max_context else ""),
        (gettext("Licence"), model.licence),
        (gettext("Released"), model.release_date),
        (gettext("Source"), model.source_url),
    ]
    return [(caption, value) for caption, value in facts if value]


class ModelPage(WizardPage):
    """From the catalogue, from a config.json, or by size alone."""

    PAGE = Page.MODEL
    TITLE = N_("Which model?")
    INTRO = N_("The exact dimensions make the estimate exact. A size alone works too, with a wider range.")

    def build(self) -> None:
        """Three sources, and what is known of the chosen model."""
        self._file: ModelFile | None = None  # what was read last, for the facts about its files
        self.source = Segments(
            self.words,
            "model.source",
            [
                ("catalog", N_("From the &list")),
                ("config", N_("From a f&ile")),
                ("size", N_("Only the &size")),
            ],
        )
        self.source.edited.connect(lambda value: self.edit(model_source=value))
        self.body.addWidget(self.source)

        self.list = SearchList(
            self.words, "model.catalog", N_("Models"), N_("Type to search: Llama 70B, Qwen3, 通义, DeepSeek …")
        )
        self.list.view.setMinimumHeight(230)
        self.list.chosen.connect(lambda key: self.edit(catalog_id=key))
        self.body.addWidget(self.list, 1)

        self.drop = DropZone(
            self.words,
            "model.config",
            N_(
                "Drop a model here: its config.json, its folder with safetensors files, or a GGUF file. Only headers "
                "are read, never the weights, and nothing is sent anywhere."
            ),
            N_("Choose a file …"),
        )
        self.drop.dropped.connect(self.open_config)
        self.drop.wanted.connect(self._ask_config)
        self.body.addWidget(self.drop)

        self.size_form = self.form("model", columns=1)
        self.size_form.add(
            "parameters_billion",
            N_("Si&ze"),
            self.bind(NumberEdit(), "parameters_billion"),
            unit=N_("billion parameters"),
            hint=N_("8 means 8B. Dimensions are then assumed from models of this size, and the ranges are wider."),
        )
        self.body.addWidget(self.size_form)

        self.trouble = Banner("model.trouble")
        self.body.addWidget(self.trouble)
        self.problem = label("", "problem")
        self.problem.setObjectName("model.problem")
        self.body.addWidget(self.problem)

        self.facts = Card()
        self.facts.body.addWidget(bound_label(self.words, N_("The chosen model"), "section"))
        self.fact_title = label("", "subtitle")
        self.facts.body.addWidget(self.fact_title)
        self.fact_grid = QGridLayout()
        self.fact_grid.setHorizontalSpacing(24)
        self.fact_grid.setColumnStretch(1, 1)
        self.fact_grid.setColumnStretch(3, 1)
        self.facts.body.addLayout(self.fact_grid)
        self.guessed = label("", "tight")
        self.facts.body.addWidget(self.guessed)
        self.body.addWidget(self.facts)

        self.words.run(lambda _language: self._fill())
        self.state.catalog_changed.connect(lambda _catalog: self._fill())

    def _fill(self) -> None:
        language, catalog = self.state.language, self.state.catalog
        names: dict[str, list[str]] = {}
        for alias, key in catalog.model_aliases.items():
            names.setdefault(key, []).append(alias)
        self.list.set_entries(
            [
                Entry(
                    m.id,
                    f"{m.name}   ·   {language.count(m.parameters_total)}",
                    " ".join((m.family, *names.get(m.id, ()))),
                )
                for m in catalog.models
            ]
        )
        self.refresh(self.state.draft)

    def refresh(self, draft: Draft) -> None:
        """Only the chosen source, and the facts."""
        task = self.current
        self.source.set_value(task.model_source)
        self.list.setVisible(task.model_source == "catalog")
        self.drop.setVisible(task.model_source == "config")
        self.size_form.setVisible(task.model_source == "size")
        self.list.set_current(task.catalog_id or "")
        chosen = task.architecture if task.model_source == "config" else None
        if task.model_source == "catalog" and task.catalog_id:
            catalog = self.state.catalog
            key = catalog.model_aliases.get(task.catalog_id.lower(), task.catalog_id)
            chosen = catalog.model_by_id.get(key)
        self._show_facts(chosen)

    def _show_facts(self, model: Architecture | None) -> None:
        self.facts.setVisible(model is not None)
        clear_layout(self.fact_grid)
        if model is None:
            return
        language = self.state.language
        self.fact_title.setText(model.name)
        facts = model_facts(model, language)
        if self._file is not None and self._file.architecture == model:
            facts += file_facts(self._file, language)
        for number, (caption, value) in enumerate(facts):
            wide = len(value) > 40
            row, column = (20 + number, 0) if wide else (number // 2, number % 2 * 2)
            self.fact_grid.addWidget(label(caption, "muted", wrap=False), row, column)
            shown = label(value, selectable=True)
            shown.setWordWrap(True)
            self.fact_grid.addWidget(shown, row, column + 1, 1, 3 if wide else 1)
        names = ", ".join(model.guessed)
        self.guessed.setText(language.fill("Not stated there, so assumed: {names}", names=names) if names else "")
        self.guessed.setVisible(bool(names))

    def open_config(self, path: Path) -> None:
        """Read a config.json, a folder or a weight file and choose what it describes."""
        try:
            file = read_model(path)
        except KnownError as error:
            self.trouble.say(self.state.language.error(error), "danger")
            return
        self._file = file
        self.trouble.say("\n".join(self.state.language.text(note) for note in file.notes), "warning")
        self.edit(model_source="config", architecture=file.architecture)

    def _ask_config(self) -> None:
        language = self.state.language
        path = dialogs.ask_open(self, language.gettext("Choose a model"), "config.json (*.json *.gguf *.safetensors)")
        if path is not None:
            self.open_config(path)

    def show_problems(self, problems: object) -> None:
        """The list and the drop zone have no form row; their problem stands below them."""
        found: list[Problem] = list(problems)  # type: ignore[call-overload]
        super().show_problems(found)
        bad = next((p for p in found if p.field in ("catalog_id", "architecture")), None)
        self.problem.setText(bad.words(self.state.language) if bad else "")
        self.problem.setVisible(bad is not None)

    def first_focus(self) -> QWidget:
        """The search line, the drop zone's button, or the size."""
        source = self.current.model_source
        if source == "catalog":
            return self.list.search
        return self.drop.button if source == "config" else self.size_form.rows["parameters_billion"].target
