"""Starts the window: fonts, look, Qt's own words, crash handling; and says what to do where no window can open."""

from __future__ import annotations

import importlib
import logging
import logging.handlers
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import platformdirs

from engine.cli.screen import SYSTEM_LIBRARIES
from engine.errors import CatalogError, KnownError
from engine.i18n import Language, system_language

if TYPE_CHECKING:
    from PySide6.QtCore import QTranslator
    from PySide6.QtWidgets import QApplication

    from gui.main_window import MainWindow
    from gui.state import AppState

__all__ = ["build_window", "no_window_reason", "run_app"]

_log = logging.getLogger(__name__)

#: Size of one log file, and how many are kept.
LOG_BYTES, LOG_FILES = 500_000, 3


def run_app(argv: list[str]) -> int:
    """Open the window; `argv[1]`, if there, is a scenario file to open. The exit code of the program."""
    language = Language(system_language())
    _start_logging()
    reason = no_window_reason(language)
    if reason:
        sys.stderr.write(reason + "\n")
        return 3
    from PySide6.QtWidgets import QApplication

    from engine.catalog.load import load_catalog
    from gui.crash import take_traces, trace_path
    from gui.dialogs import show_error
    from gui.settings import state_folder
    from gui.state import AppState

    application = QApplication.instance()
    if not isinstance(application, QApplication):
        application = QApplication(argv[:1])
    application.setApplicationName("gpu-advisor")
    application.setApplicationDisplayName("")
    try:
        catalog = load_catalog()
    except CatalogError as error:
        _log.error("the user's own rows can't be read: %s", error)
        try:
            catalog = load_catalog(with_user_rows=False)
        except KnownError as worse:
            sys.stderr.write(language.error(worse) + "\n")
            return 3
        trouble: KnownError | None = error
    else:
        trouble = None
    state = AppState(catalog)
    trace = take_traces(state_folder())  # before a new one is begun
    window = build_window(application, state)
    if window.autosave is not None:
        window.crash.install(trace_path(window.autosave.path))
    try:
        window.show()
        window.warm_up()
        if trouble is not None:
            show_error(window, state.language, trouble)
        if len(argv) > 1:
            window.open_path(Path(argv[1]))
        elif trace:
            window.tell_last_crash(trace)
        return application.exec()
    finally:
        window.crash.uninstall()


def build_window(application: QApplication, state: AppState) -> MainWindow:
    """The window with everything tied to it, not yet shown."""
    from gui.autosave import Autosave, open_slots
    from gui.main_window import MainWindow
    from gui.theme import apply_theme, install_fonts

    install_fonts()
    apply_theme(application, state.theme)
    words = _QtWords(application)
    words.speak(state.language)
    # PySide holds methods weakly: without the window's own reference, Qt's buttons would keep the first language
    state.language_changed.connect(words.speak)
    state.theme_changed.connect(lambda theme: apply_theme(application, theme))
    application.styleHints().colorSchemeChanged.connect(lambda _scheme: state.refresh_theme())
    slot, rescued = open_slots()
    window = MainWindow(state, autosave=Autosave(state, slot, parent=state), rescued=rescued)
    window.qt_words = words
    return window


class _QtWords:
    """Qt's own buttons and dialogs in the window's language."""

    def __init__(self, application: QApplication) -> None:
        self._application = application
        self._installed: list[QTranslator] = []

    def speak(self, language: Language) -> None:
        """Swap the translators; Qt then sends `LanguageChange` to every widget."""
        from PySide6.QtCore import QLibraryInfo, QTranslator

        for translator in self._installed:
            self._application.removeTranslator(translator)
        self._installed = []
        if language.code == "en":
            return
        folder = QLibraryInfo.path(QLibraryInfo.LibraryPath.TranslationsPath)
        for name in ("qtbase", "qt"):
            translator = QTranslator(self._application)
            if translator.load(f"{name}_{language.code}", folder):
                self._application.installTranslator(translator)
                self._installed.append(translator)


def no_window_reason(language: Language) -> str:
    """Why no window can open here, with what to do; empty where one can."""
    try:
        importlib.import_module("PySide6.QtWidgets")  # are its system libraries there?
    except ImportError as error:
        return language.fill(
            "The window needs a part of Qt that can't be loaded: {reason}\nOn Debian or Ubuntu, install it with:\n"
            "    sudo apt-get install -y {packages}\nWithout a window, use: gpu-advisor --headless",
            reason=str(error),
            packages=SYSTEM_LIBRARIES,
        )
    if sys.platform.startswith("linux") and not _has_display():
        return language.gettext(
            "There is no screen here (neither DISPLAY nor WAYLAND_DISPLAY is set), so no window can open. "
            "Use: gpu-advisor --headless"
        )
    return ""


def _has_display() -> bool:
    names = ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM")
    return any(os.environ.get(name) for name in names)


def _start_logging() -> None:
    """A rotating log in the platform's folder; without one where the disk refuses."""
    folder = platformdirs.user_log_path("gpu-advisor", appauthor=False)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        handler = logging.handlers.RotatingFileHandler(
            folder / "gpu-advisor.log", maxBytes=LOG_BYTES, backupCount=LOG_FILES, encoding="utf-8", delay=True
        )
    except OSError:
        return
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    for name in ("engine", "gui"):
        logger = logging.getLogger(name)
        logger.setLevel(logging.INFO)
        if not logger.handlers:
            logger.addHandler(handler)
