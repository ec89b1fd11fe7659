"""A list of cards: those that one has (with a number), or those that one does not want."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QHBoxLayout, QVBoxLayout, QWidget

from engine.hardware.model import Gpu
from engine.messages.mark import N_
from gui.draft import OwnedDraft
from gui.state import AppState
from gui.widgets.basic import button, clear_layout, label
from gui.widgets.editors import NumberEdit
from gui.widgets.picker import Entry, SearchList
from gui.widgets.words import Text, Words

__all__ = ["GpuPicker", "GpuSetEdit", "OwnedEdit", "ask_gpu"]


def gpu_entries(state: AppState) -> list[Entry]:
    """All cards of the catalogue, as entries of a searchable list."""
    aliases: dict[str, list[str]] = {}
    for alias, keys in state.catalog.gpu_aliases.items():
        for key in keys:
            aliases.setdefault(key, []).append(alias)

    def shown(gpu: Gpu) -> str:
        size = f"   ·   {state.language.number(gpu.memory_gb)} GB" if gpu.memory_gb else ""
        return f"{gpu.vendor} {gpu.name}{size}"

    return [Entry(g.id, shown(g), " ".join((g.architecture, *aliases.get(g.id, ())))) for g in state.catalog.gpus]


class GpuPicker(QDialog):
    """Choose one card of the catalogue."""

    def __init__(self, state: AppState, title: Text, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("gpu.picker")
        words = Words(state, self)
        words.bind_plain(self.setWindowTitle, title)
        self.resize(state.theme.px(520), state.theme.px(480))
        column = QVBoxLayout(self)
        column.setContentsMargins(20, 20, 20, 20)
        column.setSpacing(12)
        heading = label("", "subtitle")
        words.bind_plain(heading.setText, title)
        column.addWidget(heading)
        self.list = SearchList(words, "gpu.picker", N_("Cards"), N_("Type to search: 4090, H100, 昇腾 …"))
        self.list.set_entries(gpu_entries(state))
        column.addWidget(self.list, 1)
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Ok | QDialogButtonBox.StandardButton.Cancel)
        self._ok = buttons.button(QDialogButtonBox.StandardButton.Ok)
        self._ok.setEnabled(False)
        buttons.accepted.connect(self.accept)
        buttons.rejected.connect(self.reject)
        column.addWidget(buttons)
        self.list.chosen.connect(lambda _key: self._ok.setEnabled(True))
        self.list.activated.connect(lambda _key: self.accept())


def ask_gpu(state: AppState, title: Text, parent: QWidget) -> str | None:
    """A card that the person picks; None where they changed their mind."""
    dialog = GpuPicker(state, title, parent)
    accepted = dialog.exec() == QDialog.DialogCode.Accepted
    key = dialog.list.current()
    dialog.deleteLater()
    return key if accepted and key else None


class _RowsEdit(QWidget):
    """Rows with a remove button each, and one button to add."""

    def __init__(self, state: AppState, words: Words, add: Text, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._state, self._words, self._title = state, words, add
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(6)
        self._rows = QVBoxLayout()
        self._rows.setSpacing(6)
        column.addLayout(self._rows)
        self.add = button(words, add, "")
        self.add.clicked.connect(self._ask)
        column.addWidget(self.add, 0, Qt.AlignmentFlag.AlignLeft)
        self.setFocusProxy(self.add)

    def setObjectName(self, name: str) -> None:
        """Name the button too."""
        super().setObjectName(name)
        self.add.setObjectName(f"{name}.add")

    def _name(self, gpu_id: str) -> str:
        gpu = self._state.catalog.gpu_by_id.get(gpu_id)
        return f"{gpu.vendor} {gpu.name}" if gpu else gpu_id

    def _row(self, gpu_id: str, extra: list[QWidget], remove: Callable[[], None]) -> None:
        line = QHBoxLayout()
        line.setSpacing(8)
        line.addWidget(label(self._name(gpu_id)), 1)
        for widget in extra:
            line.addWidget(widget)
        gone = button(self._words, N_("Remove"), f"{self.objectName()}.remove.{gpu_id}", "link")
        gone.setAccessibleName(self._state.language.fill("Remove {name}", name=self._name(gpu_id)))
        gone.clicked.connect(lambda: remove())  # without the "checked" of the signal
        line.addWidget(gone)
        self._rows.addLayout(line)

    def _ask(self) -> None:
        key = ask_gpu(self._state, self._title, self)
        if key:
            self._chosen(key)

    def _chosen(self, gpu_id: str) -> None:
        raise NotImplementedError


class GpuSetEdit(_RowsEdit):
    """A set of cards."""

    edited = Signal(object)  # tuple[str, ...]

    def __init__(self, state: AppState, words: Words, add: Text, parent: QWidget | None = None) -> None:
        super().__init__(state, words, add, parent)
        self._value: tuple[str, ...] = ()

    def set_value(self, value: tuple[str, ...]) -> None:
        """Show other cards."""
        if value == self._value:
            return
        self._value = value
        clear_layout(self._rows)
        for gpu_id in value:
            self._row(gpu_id, [], lambda key=gpu_id: self._drop(key))

    def _chosen(self, gpu_id: str) -> None:
        if gpu_id not in self._value:
            self.edited.emit((*self._value, gpu_id))

    def _drop(self, gpu_id: str) -> None:
        self.edited.emit(tuple(key for key in self._value if key != gpu_id))


class OwnedEdit(_RowsEdit):
    """Cards that are there already, with their number."""

    edited = Signal(object)  # tuple[OwnedDraft, ...]

    def __init__(self, state: AppState, words: Words, add: Text, parent: QWidget | None = None) -> None:
        super().__init__(state, words, add, parent)
        self._value: tuple[OwnedDraft, ...] = ()
        self._counts: list[NumberEdit] = []

    def set_value(self, value: tuple[OwnedDraft, ...]) -> None:
        """Show other cards; the editors stay while only numbers change."""
        same = [o.gpu_id for o in value] == [o.gpu_id for o in self._value]
        self._value = value
        if not same:
            clear_layout(self._rows)
            self._counts = []
            for index, owned in enumerate(value):
                self._add_row(index, owned)
        for editor, owned in zip(self._counts, value, strict=True):
            editor.set_value(owned.count)

    def _add_row(self, index: int, owned: OwnedDraft) -> None:
        count = NumberEdit()
        count.setMaximumWidth(self._state.theme.px(90))
        count.setMinimumWidth(self._state.theme.px(60))
        count.setObjectName(f"{self.objectName()}.count.{owned.gpu_id}")
        count.setAccessibleName(self._state.language.fill("Number of {name}", name=self._name(owned.gpu_id)))
        count.edited.connect(lambda value, at=index: self._set_count(at, value))
        self._counts.append(count)
        self._row(owned.gpu_id, [count], lambda at=index: self._drop(at))

    def _set_count(self, index: int, count: object) -> None:
        changed = list(self._value)
        changed[index] = changed[index].changed(count=count)
        self.edited.emit(tuple(changed))

    def _chosen(self, gpu_id: str) -> None:
        if all(o.gpu_id != gpu_id for o in self._value):
            self.edited.emit((*self._value, OwnedDraft(gpu_id=gpu_id)))

    def _drop(self, index: int) -> None:
        self.edited.emit((*self._value[:index], *self._value[index + 1 :]))
