"""The report page: the preview is the very file, in its own language; search; saving; cancelling."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path

import pypdf
import pytest
import results_sample as sample
from pages_at_hand import give, nameless
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from engine.advice.result import Advice
from engine.control import Cancelled, Control
from engine.examples import example_content
from engine.i18n import Language
from engine.report.pdf import render_pdf
from engine.scenario import ReportDetails
from gui import dialogs
from gui.report import pages
from gui.report.page import ReportPage
from gui.report.pages import find, make_preview, render_pages
from gui.state import AppState

Opened = Callable[[type[ReportPage]], ReportPage]
WAIT = 60_000


def words_of(pdf: bytes) -> str:
    return "\n".join(page.extract_text() for page in pypdf.PdfReader(io.BytesIO(pdf)).pages)


def shown(qtbot: QtBot, page: ReportPage, change: Callable[[], object]) -> bytes:
    with qtbot.waitSignal(page.preview_ready, timeout=WAIT):
        change()
    assert page.preview is not None
    return page.preview.pdf


def test_no_results_no_report(qtbot: QtBot, state: AppState, opened: Opened) -> None:
    page = opened(ReportPage)
    with qtbot.waitSignal(page.edit_requested):
        qtbot.mouseClick(page.findChild(QWidget, "report.edit"), Qt.MouseButton.LeftButton)
    page.save_pdf()  # nothing to save, nothing happens
    assert page.preview is None


def test_preview_saves_the_very_bytes_in_another_language_than_the_window(
    qtbot: QtBot, state: AppState, opened: Opened, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    state.set_language("zh_CN")
    page = opened(ReportPage)
    chinese = shown(qtbot, page, lambda: give(state, sample.advice()))
    assert "申请" in words_of(chinese)
    page.controls.language_box.set_value("en")
    english = shown(qtbot, page, lambda: page.controls.language_box.edited.emit("en"))
    assert "Request" in words_of(english) and "申请事项" not in words_of(english)
    assert page.view.pages == len(pypdf.PdfReader(io.BytesIO(english)).pages)
    monkeypatch.setattr(dialogs, "ask_save", lambda *_args: tmp_path / "memo.pdf")
    monkeypatch.setattr(dialogs, "show_message", lambda *_args, **_more: None)
    with qtbot.waitSignal(page.exporter.saved, timeout=WAIT):
        page.save_pdf()
    assert (tmp_path / "memo.pdf").read_bytes() == english
    assert str(tmp_path) in page.banner.text.text()
    assert page.folder.isVisibleTo(page)


def test_details_of_the_applicant_are_printed(qtbot: QtBot, state: AppState, opened: Opened) -> None:
    page = opened(ReportPage)
    shown(qtbot, page, lambda: give(state, sample.advice()))
    pdf = shown(qtbot, page, lambda: page.controls.editors["applicant"].insert("Dr. Li #1 *x*"))  # type: ignore[union-attr]
    assert "Dr. Li #1 *x*" in words_of(pdf)


def test_details_are_kept_with_the_scenario_and_ask_for_no_new_estimate(
    qtbot: QtBot, state: AppState, opened: Opened, tmp_path: Path
) -> None:
    state.open_example(example_content("qlora-8b-own-card", state.language), "x")
    page = opened(ReportPage)
    give(state, sample.advice())
    answer = state.advice
    assert answer is not None
    qtbot.keyClicks(page.controls.editors["applicant"], "Dr. Li")
    why = page.controls.editors["why_now"]
    qtbot.keyClicks(why, "Two lines,")
    qtbot.keyClick(why, Qt.Key.Key_Return)
    qtbot.keyClicks(why, "both kept ")
    assert state.advice is not None and state.advice.ranked == answer.ranked
    assert state.advice.scenario.report.applicant == "Dr. Li"
    assert state.unsaved
    state.save(tmp_path / "a.json")
    state.new()
    assert not page.controls.editors["applicant"].text()  # type: ignore[union-attr]
    state.open_scenario(tmp_path / "a.json")
    assert page.controls.details.why_now == "Two lines,\nboth kept"
    assert page.controls.editors["applicant"].text() == "Dr. Li"  # type: ignore[union-attr]
    state.edit(report=ReportDetails(applicant="Dr. Wu"))
    assert page.controls.editors["applicant"].text() == "Dr. Wu"  # type: ignore[union-attr]
    state.undo()
    assert page.controls.editors["applicant"].text() == "Dr. Li"  # type: ignore[union-attr]


def test_a_report_without_the_window_prints_the_scenarios_details() -> None:
    advice = sample.advice()
    stated = advice.scenario.model_copy(update={"report": ReportDetails(applicant="Dr. Li of the file")})
    pdf = render_pdf(advice.model_copy(update={"scenario": stated}), Language("en"))
    assert "Dr. Li of the file" in "".join(page.extract_text() for page in pypdf.PdfReader(io.BytesIO(pdf)).pages)


def test_search_finds_and_steps(qtbot: QtBot, state: AppState, opened: Opened) -> None:
    page = opened(ReportPage)
    pdf = shown(qtbot, page, lambda: give(state, sample.advice()))
    hits = find(pdf, "a800", Control())
    assert hits and all(h.boxes for h in hits)
    page.search.setText("a800")
    qtbot.waitUntil(lambda: page.found.text() == f"1 of {len(hits)}", timeout=WAIT)
    qtbot.keyClick(page.search, Qt.Key.Key_Return)
    if len(hits) > 1:
        assert page.found.text() == f"2 of {len(hits)}"
    page.search.setText("zzzz")
    qtbot.waitUntil(lambda: page.found.text() == "not found", timeout=WAIT)


def test_zoom_changes_the_size_of_pages(qtbot: QtBot, state: AppState, opened: Opened) -> None:
    page = opened(ReportPage)
    shown(qtbot, page, lambda: give(state, sample.advice()))
    sheet = page.view.findChild(QWidget, "preview.page1")
    before = sheet.width()
    page.view.zoom_in()
    assert sheet.width() > before
    page.view.fit_width()
    assert abs(sheet.width() - before) <= 2
    assert sheet.accessibleName() == "Page 1 of 1"
    assert "A800" in sheet.accessibleDescription()


def test_a_page_image_is_the_page(state: AppState) -> None:
    preview = make_preview(sample.advice(), Language("en"), "memo", ReportDetails(), 1.0, Control())
    (image,) = render_pages(preview.pdf, [0], 1.0, Control())
    assert (image.width, image.height) == pytest.approx(preview.sizes[0], abs=1)
    assert 0 < sum(byte < 128 for byte in image.pixels) < len(image.pixels) / 4  # mostly paper, some ink


def test_making_can_be_called_off() -> None:
    control = Control()
    control.cancel()
    with pytest.raises(Cancelled):
        make_preview(sample.advice(), Language("en"), "memo", ReportDetails(), 1.0, control)


def test_only_the_last_of_many_changes_is_shown(
    qtbot: QtBot, state: AppState, opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[str] = []
    real = pages.make_preview

    def counted(advice: Advice, *rest: object) -> pages.Preview:
        made.append(advice.scenario.name)
        return real(advice, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr("gui.report.page.make_preview", counted)
    page = opened(ReportPage)
    for number in range(5):
        advice = sample.advice()
        give(state, advice.model_copy(update={"scenario": advice.scenario.model_copy(update={"name": f"N{number}"})}))
    with qtbot.waitSignal(page.preview_ready, timeout=WAIT):
        pass
    assert made == ["N4"]


def test_every_control_that_takes_the_focus_has_a_name(state: AppState, opened: Opened) -> None:
    page = opened(ReportPage)
    give(state, sample.advice())
    assert not nameless(page)
