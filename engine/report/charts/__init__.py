"""Charts as pure functions to a matplotlib `Figure`; matplotlib is imported when one is drawn."""

from __future__ import annotations

from engine.report.charts.canvas import png_bytes, svg_bytes
from engine.report.charts.cost import cost_alt, cost_caption, cost_chart
from engine.report.charts.look import DARK, LIGHT, LOOKS, PRINT, Look
from engine.report.charts.memory import memory_alt, memory_caption, memory_chart
from engine.report.charts.scaling import scaling_alt, scaling_caption, scaling_chart
from engine.report.charts.step import split_alt, split_caption, split_chart
from engine.report.charts.time import time_alt, time_caption, time_chart
from engine.report.charts.timeline import timeline_alt, timeline_caption, timeline_chart
from engine.report.charts.ways import (
    tornado_alt,
    tornado_caption,
    tornado_chart,
    ways_alt,
    ways_caption,
    ways_chart,
)

__all__ = [
    "DARK",
    "LIGHT",
    "LOOKS",
    "PRINT",
    "Look",
    "cost_alt",
    "cost_caption",
    "cost_chart",
    "memory_alt",
    "memory_caption",
    "memory_chart",
    "png_bytes",
    "scaling_alt",
    "scaling_caption",
    "scaling_chart",
    "split_alt",
    "split_caption",
    "split_chart",
    "svg_bytes",
    "time_alt",
    "time_caption",
    "time_chart",
    "timeline_alt",
    "timeline_caption",
    "timeline_chart",
    "tornado_alt",
    "tornado_caption",
    "tornado_chart",
    "ways_alt",
    "ways_caption",
    "ways_chart",
]
