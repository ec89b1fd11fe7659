"""Short names of plans in words, the same in charts, reports and tables."""

from __future__ import annotations

import textwrap

from engine.i18n import Language
from engine.layout.plan import Plan
from engine.report.glyphs import printable

__all__ = ["plan_lines", "plan_name", "plan_seller", "plan_way"]

#: Characters of a line beside a chart; longer names go on.
LINE = 30


def plan_name(plan: Plan, language: Language) -> str:
    """Cards and their number: "8 × NVIDIA H100 SXM 80 GB", with the nodes where there are several."""
    cluster = plan.cluster
    if cluster.nodes > 1:
        return language.fill(
            "{gpus} × {card} ({nodes} nodes)", gpus=cluster.gpus, card=cluster.gpu.name, nodes=cluster.nodes
        )
    return f"{cluster.gpus} × {cluster.gpu.name}"


def plan_seller(plan: Plan, language: Language) -> str:
    """Who rents, shares or sells; empty for cards that are there already."""
    if plan.offer is not None:
        return plan.offer.provider
    return plan.purchase.seller if plan.purchase is not None else ""


def plan_way(plan: Plan, language: Language) -> str:
    """How one gets the cards: way, term and seller."""
    words = language.label(f"way.{plan.way}")
    if plan.offer is not None and plan.way == "rent":
        words = f"{words} · {language.label(f'term.{plan.offer.term}')}"
    seller = plan_seller(plan, language)
    return f"{words} · {seller}" if seller else words


def plan_lines(plan: Plan, language: Language) -> str:
    """Name and way in short lines, to stand beside a bar."""
    parts = [printable(plan_name(plan, language)), printable(plan_way(plan, language))]
    return "\n".join(line for part in parts for line in textwrap.wrap(part, LINE, break_long_words=False))
