"""A data file that is counted in the background: drop zone, progress, what was found."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QProgressBar, QVBoxLayout, QWidget

from engine.datasets import RATIOS, DatasetCount, count_dataset
from engine.errors import KnownError
from engine.messages.mark import N_
from engine.packing import packing_of, style_of
from gui import dialogs
from gui.jobs import JobRunner
from gui.state import AppState
from gui.widgets.basic import Banner, Card, bound_label, button, label
from gui.widgets.drop import DropZone
from gui.widgets.histogram import Histogram
from gui.widgets.words import Words

__all__ = ["DatasetCard"]


class DatasetCard(QWidget):
    """Counts a file off the GUI thread; `counted(DatasetCount)` when it is done. One file at a time."""

    counted = Signal(object)

    def __init__(self, state: AppState, words: Words, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._state = state
        self._found: DatasetCount | None = None
        self._limit = 0.0
        self.jobs = JobRunner(self)
        self.jobs.succeeded.connect(self._take)
        self.jobs.failed.connect(self._fail)
        self.jobs.busy_changed.connect(self._busy)
        self.jobs.progress.connect(self._progress)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(10)
        self.drop = DropZone(
            words,
            "data.file",
            N_("Drop a JSONL, CSV or TXT file here. It is counted on this computer; nothing is sent anywhere."),
            N_("Choose a file …"),
        )
        self.drop.dropped.connect(self.count)
        self.drop.wanted.connect(self._ask)
        column.addWidget(self.drop)
        self.working = QWidget()
        row = QHBoxLayout(self.working)
        row.setContentsMargins(0, 0, 0, 0)
        row.addWidget(bound_label(words, N_("Counting …"), "muted", wrap=False))
        self.bar = QProgressBar()
        self.bar.setTextVisible(False)
        row.addWidget(self.bar, 1)
        cancel = button(words, N_("Cancel"), "data.file.cancel")
        cancel.clicked.connect(self.jobs.cancel)
        row.addWidget(cancel)
        self.working.hide()
        column.addWidget(self.working)
        self.trouble = Banner("data.file.trouble")
        column.addWidget(self.trouble)
        self.result = Card()
        self.title, self.lines = label("", "section"), label("", selectable=True)
        self.histogram = Histogram(state.theme)
        self.caption, self.basis = label("", "small"), label("", "small")
        for part in (self.title, self.lines, self.histogram, self.caption, self.basis):
            self.result.body.addWidget(part)
        self.result.hide()
        column.addWidget(self.result)
        words.run(lambda _language: self._show())
        words.bind_plain(self.bar.setAccessibleName, N_("Counting …"))
        state.theme_changed.connect(lambda _theme: self._show())

    def count(self, path: Path) -> None:
        """Start counting a file."""
        self.trouble.say("")
        self.jobs.submit(partial(count_dataset, path))

    def set_limit(self, sequence_length: object) -> None:
        """The sequence length that the distribution is held against."""
        limit = float(sequence_length) if isinstance(sequence_length, int | float) else 0.0
        if limit != self._limit:
            self._limit = limit
            self._show()

    def forget(self) -> None:
        """Another draft: what was counted before is no longer shown."""
        self._found = None
        self._show()

    def close_jobs(self) -> None:
        """End the background work."""
        self.jobs.close()

    def _ask(self) -> None:
        gettext = self._state.language.gettext
        filters = gettext("Data files") + " (*.jsonl *.ndjson *.json *.csv *.tsv *.txt)"
        path = dialogs.ask_open(self, gettext("Choose a data file"), filters)
        if path is not None:
            self.count(path)

    def _take(self, found: DatasetCount) -> None:
        self._found = found
        self._show()
        self.counted.emit(found)

    def _fail(self, error: Exception) -> None:
        if isinstance(error, KnownError):
            self.trouble.say(self._state.language.error(error), "danger")
        else:
            self._state.failed.emit(error)

    def _busy(self, busy: bool) -> None:
        self.working.setVisible(busy)
        self.bar.setRange(0, 0)

    def _progress(self, done: int, total: int) -> None:
        self.bar.setRange(0, 1000)
        self.bar.setValue(1000 * done // max(total, 1))

    def _show(self) -> None:
        found, language = self._found, self._state.language
        self.result.setVisible(found is not None)
        if found is None:
            return
        fill = language.fill
        self.title.setText(found.file_name)
        lines = [
            fill(
                "{examples:int} examples, {characters:count} characters, {chinese:pct} of them Chinese",
                examples=found.examples,
                characters=found.characters,
                chinese=found.chinese_share,
            ),
            fill(
                "About {expected:count} tokens ({low:count} to {high:count}, depending on the tokenizer)",
                expected=found.tokens.expected,
                low=found.tokens.low,
                high=found.tokens.high,
            ),
            fill(
                "Tokens per example: half have up to {p50:int}, 95% up to {p95:int}, the longest {p100:int}",
                p50=found.percentiles[50],
                p95=found.percentiles[95],
                p100=found.percentiles[100],
            ),
        ]
        if found.fields:
            lines.append(fill("Fields counted: {names}", names=", ".join(found.fields)))
        style = style_of(found)
        if style:
            lines.append(fill("Form of the examples: {name}", name=language.label(f"dataset.style.{style}")))
        if self._limit:
            rows = packing_of(found, self._limit)
            lines.append(
                fill(
                    "Rows of {limit:int} tokens are filled to {packed:pct} when examples are packed, to {padded:pct} "
                    "when each has a row of its own",
                    limit=self._limit,
                    packed=rows.packed,
                    padded=rows.padded,
                )
            )
        if found.unreadable:
            lines.append(fill("{count:int} records could not be read and were skipped", count=found.unreadable))
        if found.sampled:
            lines.append(language.gettext("The file is large: parts of it were read and scaled up."))
        self.lines.setText("\n".join(lines))
        self.histogram.show_bins(found.histogram, self._limit, self._state.theme)
        longer = fill(
            "Distribution of lengths. {share:pct} of the examples are longer than the sequence length of {limit:int} "
            "tokens and would be cut.",
            share=found.share_longer_than(self._limit),
            limit=self._limit,
        )
        self.caption.setText(longer)
        self.histogram.setAccessibleName(longer)
        chinese, other = RATIOS["chinese"], RATIOS["other"]
        self.basis.setText(
            fill(
                "Tokens are estimated from characters: {zh_low:num} to {zh_high:num} tokens a Chinese character, "
                "{low:num} to {high:num} a letter of other scripts. Source: {source}.",
                zh_low=chinese.low,
                zh_high=chinese.high,
                low=other.low,
                high=other.high,
                source=chinese.source,
            )
        )
