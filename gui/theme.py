"""How the window looks: colours, spacing and letter sizes as values, and the style sheet made from them.

A theme is a value: light and dark are two of them. Widgets ask for tokens (`theme.accent`), never for "is it dark?".
Contrast of text on its ground is at least 4.5 : 1 in both (WCAG 2.2, 1.4.3); a test measures it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from importlib.resources import files
from typing import Literal

from PySide6.QtCore import QDir, Qt
from PySide6.QtGui import QColor, QFont, QFontDatabase, QGuiApplication, QPalette
from PySide6.QtWidgets import QApplication

from gui.stylesheet import stylesheet

__all__ = ["DARK", "LIGHT", "Theme", "ThemeChoice", "apply_theme", "install_fonts", "theme_for"]

ThemeChoice = Literal["system", "light", "dark"]

#: Our own font first; the others stand in where a system lacks it.
FONT_FAMILIES = ("Noto Sans SC", "Noto Sans CJK SC", "Microsoft YaHei UI", "PingFang SC", "DejaVu Sans")
#: Body size in points at scale 1; the usual size of desktop text.
BODY_POINTS = 10.5


@dataclass(frozen=True)
class Theme:
    """Tokens of one look. Colours are ``#rrggbb``, distances are logical pixels at scale 1."""

    name: Literal["light", "dark"]
    window: str  # behind everything
    surface: str  # cards, lists, editors
    raised: str  # hovered rows, table heads, quiet buttons
    border: str
    border_strong: str  # outlines of editors: 3 : 1 against the surface
    text: str
    muted: str  # secondary text
    accent: str  # buttons, selection, focus
    accent_hover: str
    accent_soft: str  # ground of what is selected
    on_accent: str
    success: str
    success_soft: str
    warning: str
    warning_soft: str
    danger: str
    danger_soft: str
    info_soft: str
    scale: float = 1.0
    xs: int = 4
    s: int = 8
    m: int = 12
    l: int = 16  # noqa: E741 - one letter for each step, as in xs and xl
    xl: int = 24
    radius: int = 8

    @property
    def dark(self) -> bool:
        """Whether the ground is dark; for choosing the charts' `Look`."""
        return self.name == "dark"

    def px(self, distance: float) -> int:
        """A distance at the window's scale."""
        return round(distance * self.scale)

    def points(self, factor: float = 1.0) -> float:
        """A letter size in points at the window's scale, relative to body text."""
        return BODY_POINTS * factor * self.scale

    def font(self, factor: float = 1.0, *, bold: bool = False) -> QFont:
        """The window's font at a size relative to body text."""
        font = QFont()
        font.setFamilies(list(FONT_FAMILIES))
        font.setPointSizeF(self.points(factor))
        font.setBold(bold)
        return font

    def verdict_colours(self, verdict: str) -> tuple[str, str]:
        """Text colour and ground of a memory verdict (`fits`, `fits_tightly`, `does_not_fit`, `unknown`)."""
        return {
            "fits": (self.success, self.success_soft),
            "fits_tightly": (self.warning, self.warning_soft),
            "does_not_fit": (self.danger, self.danger_soft),
        }.get(verdict, (self.muted, self.raised))

    def severity_colours(self, severity: str) -> tuple[str, str]:
        """Text colour and ground of a finding's severity (`info`, `advice`, `warning`, `serious`)."""
        return {
            "advice": (self.accent, self.accent_soft),
            "warning": (self.warning, self.warning_soft),
            "serious": (self.danger, self.danger_soft),
        }.get(severity, (self.muted, self.info_soft))


LIGHT = Theme(
    name="light",
    window="#f4f6f8",
    surface="#ffffff",
    raised="#eaeef2",
    border="#d8dee5",
    border_strong="#868f9a",
    text="#18202a",
    muted="#55606d",
    accent="#0b5cad",
    accent_hover="#084a8c",
    accent_soft="#e3eefa",
    on_accent="#ffffff",
    success="#12693a",
    success_soft="#e2f3e9",
    warning="#8a4b00",
    warning_soft="#fdf0d9",
    danger="#b3261e",
    danger_soft="#fce8e6",
    info_soft="#edf1f5",
)

DARK = Theme(
    name="dark",
    window="#14181d",
    surface="#1d232a",
    raised="#29313a",
    border="#343e49",
    border_strong="#7b8794",
    text="#e8ecf1",
    muted="#a7b2bf",
    accent="#7ab8f5",
    accent_hover="#9ccbf8",
    accent_soft="#1f3550",
    on_accent="#0c1722",
    success="#7bd3a0",
    success_soft="#193527",
    warning="#f2bd6b",
    warning_soft="#3b2d14",
    danger="#ff9a90",
    danger_soft="#452220",
    info_soft="#252d36",
)


def theme_for(choice: ThemeChoice, scale: float = 1.0) -> Theme:
    """The theme that a setting asks for; "system" follows the desktop."""
    dark = choice == "dark"
    if choice == "system":
        application = QGuiApplication.instance()
        dark = isinstance(application, QGuiApplication) and (
            application.styleHints().colorScheme() == Qt.ColorScheme.Dark
        )
    base = DARK if dark else LIGHT
    return replace(base, scale=scale)


def install_fonts() -> tuple[str, ...]:
    """Register the bundled fonts with Qt and say which families came; empty where the folder holds none."""
    families: list[str] = []
    for entry in sorted((files("resources") / "fonts").iterdir(), key=lambda item: item.name):
        if entry.name.lower().endswith((".ttf", ".otf")):
            number = QFontDatabase.addApplicationFontFromData(entry.read_bytes())
            families.extend(QFontDatabase.applicationFontFamilies(number) if number >= 0 else ())
    return tuple(dict.fromkeys(families))


def _palette(theme: Theme) -> QPalette:
    role = QPalette.ColorRole
    palette = QPalette()
    for name, colour in (
        (role.Window, theme.window),
        (role.WindowText, theme.text),
        (role.Base, theme.surface),
        (role.AlternateBase, theme.window),
        (role.Text, theme.text),
        (role.Button, theme.raised),
        (role.ButtonText, theme.text),
        (role.BrightText, theme.danger),
        (role.Highlight, theme.accent),
        (role.HighlightedText, theme.on_accent),
        (role.Accent, theme.accent),
        (role.Link, theme.accent),
        (role.LinkVisited, theme.accent),
        (role.ToolTipBase, theme.surface),
        (role.ToolTipText, theme.text),
        (role.PlaceholderText, theme.muted),
        (role.Light, theme.surface),
        (role.Midlight, theme.raised),
        (role.Mid, theme.border),
        (role.Dark, theme.border_strong),
        (role.Shadow, theme.border_strong),
    ):
        palette.setColor(name, QColor(colour))
    for name in (role.Text, role.WindowText, role.ButtonText):
        palette.setColor(QPalette.ColorGroup.Disabled, name, QColor(theme.border_strong))
    return palette


def apply_theme(application: QApplication, theme: Theme) -> None:
    """Give the whole application this look."""
    QDir.setSearchPaths("icons", [str(files("resources") / "icons")])
    if application.style().name().lower() != "fusion":
        application.setStyle("Fusion")
    application.setFont(theme.font())
    application.setPalette(_palette(theme))
    application.setStyleSheet(stylesheet(theme))
