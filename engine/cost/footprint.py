"""Greenhouse gas of the electricity, by the grid of a region."""

from __future__ import annotations

from engine.cost.figures import ASSUMPTION
from engine.hardware.model import CostItem
from engine.quantity import Bounds

__all__ = ["grid_intensity"]

_ROW = {"CN": "China", "US": "United States", "UK": "United Kingdom", "EU": "Germany"}
_EU = ("Sweden", "France", "Finland", "Spain", "Netherlands", "Ireland", "Italy", "Germany", "Poland")
#: kg CO2e/kWh for a catalogue without rows or a region not stated: the span of the world's grids.
WORLD = Bounds(0.03, 0.45, 0.71)


def grid_intensity(items: tuple[CostItem, ...], region: str) -> tuple[Bounds, str]:
    """kg CO2e for a kWh of the region's grid, and the source.

    Within China and the EU grids differ tenfold: the interval spans the provinces or countries of the collection.
    """
    rows = {i.item.removeprefix("Grid carbon intensity, "): i for i in items if i.kind == "carbon"}
    row = rows.get(_ROW.get(region, ""))
    if row is None:
        return WORLD, ASSUMPTION
    if region == "CN":
        around = [float(i.value) for name, i in rows.items() if name.startswith("China, ")]
    else:
        around = [float(rows[name].value) for name in _EU if name in rows] if region == "EU" else []
    value = float(row.value)
    source = f"{row.item}, {row.observed_on or 'undated'}, {row.source_url}"
    return Bounds(min([value, *around]), value, max([value, *around])), source
