"""`Plan`: cluster + offer (or purchase); a thing that one could do on Monday."""

from __future__ import annotations

from typing import Literal

from engine.hardware.model import Cluster, Offer, PurchasePrice
from engine.quantity import Frozen

__all__ = ["Plan"]


class Plan(Frozen):
    """Cluster + offer (or purchase). The layout of each task stands with its assessment."""

    id: str  # stable: the same plan has the same id tomorrow
    cluster: Cluster
    way: Literal["buy", "rent", "shared", "owned"]
    offer: Offer | None = None  # rent and shared
    purchase: PurchasePrice | None = None  # buy: the card or server price that was used
