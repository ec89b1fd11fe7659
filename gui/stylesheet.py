"""The Qt style sheet, filled in from a theme's tokens.

Widgets choose a look by the dynamic property `look` ("card", "title", "primary", …), not by colours of their own.
"""

from __future__ import annotations

from string import Template
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gui.theme import Theme

__all__ = ["stylesheet"]

_SHEET = Template("""
QWidget { color: $text; }
QMainWindow, QDialog, QWidget[look="page"] { background: $window; }
QScrollArea, QScrollArea > QWidget > QWidget[look="scrolled"] { background: transparent; border: none; }
QScrollArea:focus { border: 2px solid $accent; border-radius: ${r2}px; }
QToolTip { background: $surface; color: $text; border: 1px solid $border_strong; padding: ${s}px; }

QLabel { background: transparent; }
QLabel[look="title"] { font-size: ${pt_title}pt; font-weight: 700; }
QLabel[look="subtitle"] { font-size: ${pt_subtitle}pt; font-weight: 600; }
QLabel[look="section"] { font-weight: 700; }
QLabel[look="figure"] { font-size: ${pt_figure}pt; font-weight: 700; }
QLabel[look="muted"] { color: $muted; }
QLabel[look="small"] { color: $muted; font-size: ${pt_small}pt; }
QLabel[look="problem"] { color: $danger; font-size: ${pt_small}pt; font-weight: 600; }
QLabel[look="badge"] { background: $info_soft; color: $muted; border-radius: ${r2}px; padding: 1px ${s}px;
  font-size: ${pt_small}pt; }
QLabel[look="badge-accent"] { background: $accent_soft; color: $accent; border-radius: ${r2}px; padding: 1px ${s}px;
  font-size: ${pt_small}pt; font-weight: 600; }
QLabel[look="good"] { background: $success_soft; color: $success; border-radius: ${r2}px; padding: 2px ${s}px;
  font-weight: 600; }
QLabel[look="tight"] { background: $warning_soft; color: $warning; border-radius: ${r2}px; padding: 2px ${s}px;
  font-weight: 600; }
QLabel[look="bad"] { background: $danger_soft; color: $danger; border-radius: ${r2}px; padding: 2px ${s}px;
  font-weight: 600; }
QLabel[look="neutral"] { background: $raised; color: $muted; border-radius: ${r2}px; padding: 2px ${s}px;
  font-weight: 600; }

QFrame[look="card"] { background: $surface; border: 1px solid $border; border-radius: ${r}px; }
QFrame[look="card-accent"] { background: $surface; border: 2px solid $accent; border-radius: ${r}px; }
QFrame[look="card"]:focus, QFrame[look="card-accent"]:focus { border: 2px solid $text; }
QFrame[look="panel"] { background: $surface; border: none; }
QFrame[look="bar"] { background: $surface; border: none; border-bottom: 1px solid $border; }
QFrame[look="footer"] { background: $surface; border: none; border-top: 1px solid $border; }
QFrame[look="line"] { background: $border; border: none; max-height: 1px; min-height: 1px; }
QFrame[look="drop"] { background: $surface; border: 2px dashed $border_strong; border-radius: ${r}px; }
QFrame[look="drop-ready"] { background: $accent_soft; border: 2px dashed $accent; border-radius: ${r}px; }
QFrame[look="info"] { background: $accent_soft; border: none; border-radius: ${r}px; }
QFrame[look="warning"] { background: $warning_soft; border: none; border-radius: ${r}px; }
QFrame[look="danger"] { background: $danger_soft; border: none; border-radius: ${r}px; }
QFrame[look="warning"] QLabel { color: $warning; }
QFrame[look="danger"] QLabel { color: $danger; }

QPushButton, QToolButton { background: $surface; border: 1px solid $border_strong; border-radius: ${r2}px;
  padding: ${pad_v}px ${pad_h}px; min-height: ${line}px; }
QPushButton:hover, QToolButton:hover { background: $raised; }
QPushButton:pressed, QToolButton:pressed { background: $accent_soft; }
QPushButton:focus, QToolButton:focus { border: 2px solid $accent; padding: ${pad_v1}px ${pad_h1}px; }
QPushButton:disabled, QToolButton:disabled { color: $border_strong; border-color: $border; background: $window; }
QPushButton[look="primary"] { background: $accent; color: $on_accent; border: 1px solid $accent; font-weight: 600; }
QPushButton[look="primary"]:hover { background: $accent_hover; }
QPushButton[look="primary"]:focus { border: 2px solid $text; }
QPushButton[look="primary"]:disabled { background: $raised; color: $muted; border-color: $border; }
QPushButton[look="link"], QToolButton[look="link"] { background: transparent; border: 1px solid transparent;
  color: $accent; padding: 2px ${xs}px; }
QPushButton[look="link"]:hover, QToolButton[look="link"]:hover { text-decoration: underline; }
QPushButton[look="link"]:focus, QToolButton[look="link"]:focus { border: 1px solid $accent; }
QPushButton[look="link"]:disabled { color: $muted; }
QPushButton[look="choice"] { text-align: left; background: $surface; border: 1px solid $border; border-radius: ${r}px;
  padding: ${m}px; }
QPushButton[look="choice"]:hover { border-color: $accent; }
QPushButton[look="choice"]:checked { background: $accent_soft; border: 2px solid $accent; }
QPushButton[look="choice"]:focus { border: 2px solid $text; }
QPushButton[look="segment"] { background: $surface; border: 1px solid $border_strong; border-radius: ${r2}px; }
QPushButton[look="segment"]:checked { background: $accent_soft; color: $accent; border-color: $accent; }
QPushButton[look="segment"]:focus { border: 2px solid $accent; }
QPushButton[look="step"] { text-align: left; background: transparent; border: 2px solid transparent;
  border-radius: ${r2}px; padding: ${s}px ${m}px; }
QPushButton[look="step"]:hover { background: $raised; }
QPushButton[look="step"]:checked { background: $accent_soft; color: $accent; }
QPushButton[look="step"]:focus { border: 2px solid $accent; }
QPushButton[look="step"]:disabled { color: $muted; }
QPushButton[look="nav"] { background: transparent; border: 2px solid transparent; border-radius: ${r2}px;
  padding: ${s}px ${l}px; font-weight: 600; color: $muted; }
QPushButton[look="nav"]:hover { background: $raised; color: $text; }
QPushButton[look="nav"]:checked { background: $accent_soft; color: $accent; }
QPushButton[look="nav"]:focus { border: 2px solid $accent; }
QPushButton[look="nav"]:disabled { color: $border_strong; }
QToolButton[look="why"] { min-width: ${line}px; max-width: ${line}px; min-height: ${line}px; max-height: ${line}px;
  border-radius: ${half}px; padding: 0; color: $accent; border: 1px solid $border_strong; font-weight: 700; }
QToolButton[look="why"]:focus { border: 2px solid $accent; padding: 0; }
QPushButton[look="fold"] { background: transparent; border: 2px solid transparent; color: $accent; font-weight: 600;
  padding: ${xs}px ${s}px ${xs}px 0; }
QPushButton[look="fold"]:focus { border: 2px solid $accent; }
QToolButton::menu-indicator { image: none; }

QLineEdit, QPlainTextEdit, QTextEdit, QTextBrowser, QComboBox, QAbstractSpinBox { background: $surface;
  border: 1px solid $border_strong; border-radius: ${r2}px; padding: ${pad_v}px ${s}px;
  selection-background-color: $accent; selection-color: $on_accent; }
QLineEdit, QComboBox, QAbstractSpinBox { min-height: ${line}px; }
QLineEdit:focus, QPlainTextEdit:focus, QTextEdit:focus, QTextBrowser:focus, QComboBox:focus, QAbstractSpinBox:focus {
  border: 2px solid $accent; padding: ${pad_v1}px ${s1}px; }
QLineEdit[bad="true"], QComboBox[bad="true"] { border: 2px solid $danger; padding: ${pad_v1}px ${s1}px; }
QLineEdit:disabled, QComboBox:disabled { background: $window; color: $border_strong; border-color: $border; }
QLineEdit:read-only { background: $window; }
QComboBox::drop-down { border: none; width: ${drop}px; }
QComboBox::down-arrow { image: url(icons:down-$name.svg); width: ${icon}px; height: ${icon}px; }
QComboBox QAbstractItemView { background: $surface; border: 1px solid $border_strong; outline: none;
  selection-background-color: $accent_soft; selection-color: $text; padding: ${xs}px; }
QComboBox QAbstractItemView::item { min-height: ${row}px; padding: 0 ${s}px; }

QCheckBox, QRadioButton { background: transparent; spacing: ${s}px; padding: ${xs}px; border: 1px solid transparent;
  border-radius: ${r2}px; }
QCheckBox:focus, QRadioButton:focus { border: 1px solid $accent; }
QCheckBox::indicator, QRadioButton::indicator { width: ${box}px; height: ${box}px; border: 1px solid $border_strong;
  background: $surface; border-radius: 4px; }
QRadioButton::indicator { border-radius: ${box_half}px; }
QCheckBox::indicator:checked, QRadioButton::indicator:checked { background: $accent; border-color: $accent;
  image: url(icons:check-$name.svg); }
QRadioButton::indicator:checked { image: url(icons:dot-$name.svg); }
QCheckBox:disabled, QRadioButton:disabled { color: $border_strong; }

QListView, QTreeView, QTableView { background: $surface; alternate-background-color: $window;
  border: 1px solid $border; border-radius: ${r2}px; outline: none; gridline-color: $border;
  selection-background-color: $accent_soft; selection-color: $text; }
QListView:focus, QTreeView:focus, QTableView:focus { border: 2px solid $accent; }
QListView::item, QTreeView::item { min-height: ${row}px; padding: 1px ${s}px; }
QTableView::item { padding: 1px ${s}px; }
QListView::item:hover, QTreeView::item:hover, QTableView::item:hover { background: $raised; }
QListView::item:selected, QTreeView::item:selected, QTableView::item:selected { background: $accent_soft;
  color: $text; }
QHeaderView { background: $raised; border: none; }
QHeaderView::section { background: $raised; color: $text; border: none; border-right: 1px solid $border;
  border-bottom: 1px solid $border; padding: ${pad_v}px ${s}px; font-weight: 600; }
QTableCornerButton::section { background: $raised; border: none; }

QTabWidget::pane { border: 1px solid $border; border-radius: ${r2}px; background: $surface; top: -1px; }
QTabBar { background: transparent; qproperty-drawBase: 0; }
QTabBar::tab { background: transparent; color: $muted; padding: ${s}px ${l}px; border: 2px solid transparent;
  border-bottom: 3px solid transparent; font-weight: 600; }
QTabBar::tab:selected { color: $accent; border-bottom-color: $accent; }
QTabBar::tab:hover { color: $text; }
QTabBar::tab:focus { border-color: $accent; }

QMenuBar { background: $surface; border-bottom: 1px solid $border; }
QMenuBar::item { background: transparent; padding: ${pad_v}px ${m}px; }
QMenuBar::item:selected { background: $raised; }
QMenu { background: $surface; border: 1px solid $border_strong; padding: ${xs}px; }
QMenu::item { padding: ${pad_v}px ${xl}px ${pad_v}px ${l}px; border-radius: 4px; }
QMenu::item:selected { background: $accent_soft; }
QMenu::item:disabled { color: $border_strong; }
QMenu::separator { height: 1px; background: $border; margin: ${xs}px ${s}px; }
QMenu::indicator { width: ${icon}px; height: ${icon}px; left: 2px; }
QStatusBar { background: $surface; border-top: 1px solid $border; color: $muted; }
QStatusBar::item { border: none; }
QStatusBar QLabel { color: $muted; font-size: ${pt_small}pt; padding: ${xs}px ${s}px; }

QProgressBar { background: $raised; border: none; border-radius: 3px; min-height: 6px; max-height: 6px; }
QProgressBar::chunk { background: $accent; border-radius: 3px; }
QSplitter::handle { background: $border; }
QSplitter::handle:horizontal { width: 1px; }
QSplitter::handle:vertical { height: 1px; }
QScrollBar:vertical { background: transparent; width: ${bar}px; margin: 0; }
QScrollBar:horizontal { background: transparent; height: ${bar}px; margin: 0; }
QScrollBar::handle { background: $border_strong; border-radius: ${bar_half}px; margin: 3px; }
QScrollBar::handle:vertical { min-height: 32px; }
QScrollBar::handle:horizontal { min-width: 32px; }
QScrollBar::handle:hover { background: $muted; }
QScrollBar::add-line, QScrollBar::sub-line { width: 0; height: 0; }
QScrollBar::add-page, QScrollBar::sub-page { background: transparent; }
QGroupBox { border: 1px solid $border; border-radius: ${r2}px; margin-top: ${l}px; padding-top: ${s}px; }
QGroupBox::title { subcontrol-origin: margin; left: ${m}px; padding: 0 ${xs}px; font-weight: 600; }
""")


def stylesheet(theme: Theme) -> str:
    """The style sheet of a theme at its scale."""
    px = theme.px
    sizes = {
        "xs": px(theme.xs),
        "s": px(theme.s),
        "s1": max(px(theme.s) - 1, 0),
        "m": px(theme.m),
        "l": px(theme.l),
        "xl": px(theme.xl),
        "r": px(theme.radius),
        "r2": px(theme.radius * 0.7),
        "pad_v": px(5),
        "pad_v1": px(5) - 1,
        "pad_h": px(14),
        "pad_h1": px(14) - 1,
        "line": px(20),
        "half": px(10),
        "drop": px(26),
        "icon": px(14),
        "row": px(30),
        "box": px(18),
        "box_half": px(9.5),
        "bar": px(13),
        "bar_half": px(3.5),
    }
    points = {"title": 1.65, "subtitle": 1.2, "figure": 1.45, "small": 0.9}
    letters = {f"pt_{name}": f"{theme.points(factor):.2f}" for name, factor in points.items()}
    colours = {k: v for k, v in theme.__dict__.items() if isinstance(v, str)}
    return _SHEET.substitute({**colours, **sizes, **letters})
