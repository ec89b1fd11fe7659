"""The menu bar: every action once, with its shortcut; the window connects them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TypeAlias

from PySide6.QtGui import QAction, QActionGroup, QKeySequence
from PySide6.QtWidgets import QMainWindow, QMenu

from gui.settings import SCALES
from gui.state import AppState
from gui.widgets.words import NP_, Text, Words

__all__ = ["Menus"]

Actions: TypeAlias = Mapping[str, Callable[[], object]]

_Key = QKeySequence.StandardKey


class Menus:
    """Menus of the main window. `actions` holds all actions by name; recent files are filled in as they change."""

    def __init__(
        self, window: QMainWindow, state: AppState, words: Words, act: dict[str, Callable[[], object]]
    ) -> None:
        self._window, self._state, self._words, self._act = window, state, words, act
        self.actions: dict[str, QAction] = {}
        self._open_path: Callable[[Path], object] = lambda _path: None
        self._build_file()
        self._build_edit()
        self._build_view()
        self._build_help()

    def on_recent(self, open_path: Callable[[Path], object]) -> None:
        """What opening a recent file does."""
        self._open_path = open_path
        self.refresh_recent()

    def _menu(self, text: Text, name: str, parent: QMenu | None = None) -> QMenu:
        menu = QMenu(parent or self._window)
        menu.setObjectName(f"menu.{name}")
        self._words.bind(menu.setTitle, text)
        if parent is None:
            self._window.menuBar().addMenu(menu)
        else:
            parent.addMenu(menu)
        return menu

    def _add(self, menu: QMenu, name: str, text: Text, keys: QKeySequence | _Key | str | None = None) -> QAction:
        action = QAction(self._window)
        action.setObjectName(f"action.{name}")
        self._words.bind(action.setText, text)
        if keys is not None:
            action.setShortcut(QKeySequence(keys))
        handler = self._act[name]
        action.triggered.connect(lambda _checked=False: handler())
        menu.addAction(action)
        self.actions[name] = action
        return action

    def _build_file(self) -> None:
        menu = self._menu(NP_("menu", "&File"), "file")
        self._add(menu, "new", NP_("menu", "&New scenario"), _Key.New)
        self._add(menu, "open", NP_("menu", "&Open …"), _Key.Open)
        self.recent = self._menu(NP_("menu", "Open &recent"), "recent", menu)
        self._add(menu, "import_run", NP_("menu", "Read a &training configuration …"), "Ctrl+I")
        self._add(menu, "abilities", NP_("menu", "What can my &GPU do? …"), "Ctrl+G")
        menu.addSeparator()
        self._add(menu, "save", NP_("menu", "&Save"), _Key.Save)
        self._add(menu, "save_as", NP_("menu", "Save &as …"), "Ctrl+Shift+S")
        self._add(menu, "verify", NP_("menu", "Check the &record of a report …"))
        menu.addSeparator()
        quit_action = self._add(menu, "quit", NP_("menu", "&Quit"), "Ctrl+Q")
        quit_action.setMenuRole(QAction.MenuRole.QuitRole)

    def _build_edit(self) -> None:
        menu = self._menu(NP_("menu", "&Edit"), "edit")
        self._add(menu, "undo", NP_("menu", "&Undo"), _Key.Undo)
        redo = self._add(menu, "redo", NP_("menu", "&Redo"))
        redo.setShortcuts([QKeySequence("Ctrl+Shift+Z"), QKeySequence("Ctrl+Y")])

    def _build_view(self) -> None:
        menu = self._menu(NP_("menu", "&View"), "view")
        for number, (name, text) in enumerate(
            (
                ("go_start", NP_("menu", "&Start page")),
                ("go_wizard", NP_("menu", "&Questions")),
                ("go_results", NP_("menu", "&Results")),
                ("go_report", NP_("menu", "Re&port")),
                ("go_catalog", NP_("menu", "&Catalogue")),
            )
        ):
            self._add(menu, name, text, f"Ctrl+{number + 1}")
        menu.addSeparator()
        languages: list[tuple[object, Text]] = [
            ("system", NP_("menu", "As the &system")),
            ("en", "English"),
            ("zh_CN", "简体中文"),
        ]
        self._choice(menu, "language", NP_("menu", "&Language"), languages, self._state.set_language)
        looks: list[tuple[object, Text]] = [
            ("system", NP_("menu", "As the &system")),
            ("light", NP_("menu", "&Light")),
            ("dark", NP_("menu", "&Dark")),
        ]
        self._choice(menu, "theme", NP_("menu", "&Appearance"), looks, self._state.set_theme)
        sizes: list[tuple[object, Text]] = [(scale, f"{scale:.0%}") for scale in SCALES]
        self._choice(menu, "scale", NP_("menu", "Text si&ze"), sizes, self._state.set_scale)

    def _choice(
        self, parent: QMenu, name: str, title: Text, offered: list[tuple[object, Text]], choose: Callable[..., object]
    ) -> None:
        menu = self._menu(title, name, parent)
        group = QActionGroup(menu)
        for value, text in offered:
            action = QAction(self._window)
            action.setObjectName(f"action.{name}.{value}")
            action.setCheckable(True)
            self._words.bind(action.setText, text)
            action.setChecked(getattr(self._state.settings, name) == value)
            action.triggered.connect(lambda _checked=False, v=value: choose(v))
            group.addAction(action)
            menu.addAction(action)
            self.actions[f"{name}.{value}"] = action

    def _build_help(self) -> None:
        menu = self._menu(NP_("menu", "&Help"), "help")
        self._add(menu, "keys", NP_("menu", "&Keyboard"), "F1")
        about = self._add(menu, "about", NP_("menu", "&About GPU Advisor"))
        about.setMenuRole(QAction.MenuRole.AboutRole)

    def refresh(self) -> None:
        """What can be done now."""
        self.actions["undo"].setEnabled(self._state.can_undo)
        self.actions["redo"].setEnabled(self._state.can_redo)
        for name in ("language", "theme", "scale"):
            chosen = self.actions.get(f"{name}.{getattr(self._state.settings, name)}")
            if chosen is not None:
                chosen.setChecked(True)

    def refresh_recent(self) -> None:
        """Fill in the recent files."""
        self.recent.clear()
        recent = self._state.settings.recent
        self.recent.setEnabled(bool(recent))
        for number, name in enumerate(recent):
            path = Path(name)
            action = self.recent.addAction(path.name.replace("&", "&&"))
            action.setObjectName(f"action.recent.{number}")
            action.setToolTip(name)
            action.triggered.connect(lambda _checked=False, p=path: self._open_path(p))
