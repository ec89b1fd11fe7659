"""Why not that: each card that is not in the list, with its one decisive reason and what would change it.

The order of reasons: what the user ruled out; physics (memory); rules of the region; no way to get it; unknown speed;
targets; money; time. A card that fits but is not sold is told from one that can never fit.
"""

from __future__ import annotations

from collections.abc import Iterator
from decimal import ROUND_CEILING, Decimal

import numpy as np

from engine.advice.result import Rejection
from engine.findings import Finding
from engine.hardware.model import Gpu, Offer, PurchasePrice
from engine.i18n import money_param
from engine.quantity import Money
from engine.search.evaluate import NOTHING
from engine.search.options import Option
from engine.search.search import SearchResult

__all__ = ["rejections_of"]

CENT = Decimal("0.01")
#: Reasons against all offers of a card, in the order in which a user could change them.
EASIEST_FIRST = (
    "rejected.spot",
    "rejected.way",
    "rejected.data_must_stay",
    "rejected.price_too_old",
    "rejected.no_longer_sold",
    "rejected.offer_region",
    "rejected.export",
    "rejected.region_only",
)
#: What was asked for and possible but for a limit comes first, then what lacks memory, then what was ruled out.
NEAREST_FIRST = (
    "rejected.over_budget",
    "rejected.too_late",
    "rejected.too_slow",
    "rejected.does_not_fit",
    "rejected.does_not_fit_alone",
    "rejected.no_common_cluster",
    *EASIEST_FIRST,
)


def rejections_of(result: SearchResult) -> tuple[Rejection, ...]:
    """All cards that are not ranked, then the offers that were refused or are dearer than what is ranked."""
    ranked = {a.plan.cluster.gpu.id for a in result.ranked}
    by_card: dict[str, list[Option]] = {}
    for option in result.options:
        by_card.setdefault(option.cluster.gpu.id, []).append(option)
    memory = _Memory(result)
    cards = [
        Rejection(
            kind="gpu", gpu_id=gpu.id, label=gpu.name, reason=_card_reason(gpu, by_card.get(gpu.id, []), result, memory)
        )
        for gpu in sorted(result.catalog.gpus, key=lambda g: (-g.software_maturity, g.vendor, g.name, g.id))
        if gpu.id not in ranked
    ]
    return (*sorted(cards, key=_distance), *_offers(result))


def _distance(rejection: Rejection) -> tuple[int, float]:
    """How far a card is from being advised, so that near misses are read first."""
    reason = rejection.reason
    missing = reason.params.get("missing")
    kind = NEAREST_FIRST.index(reason.code) if reason.code in NEAREST_FIRST else len(NEAREST_FIRST)
    return kind, missing if isinstance(missing, float) else 0.0


def _reason(code: str, **params: str | int | float | None) -> Finding:
    return Finding(code=code, params=params)


class _Memory:
    """How near each card comes to holding all tasks, over all its clusters."""

    def __init__(self, result: SearchResult) -> None:
        self._by_card: dict[str, list[int]] = {}
        for index, cluster in enumerate(result.candidates.clusters):
            self._by_card.setdefault(cluster.gpu.id, []).append(index)
        self._missing = np.max([t.missing_bytes for t in result.tables], axis=0)
        self._fits = np.all([t.fits for t in result.tables], axis=0)
        self._timed = np.max([t.rank for t in result.tables], axis=0) < NOTHING
        self._result = result

    def fits(self, gpu: Gpu) -> bool:
        return self.fewest(gpu) > 0

    def fewest(self, gpu: Gpu) -> int:
        """The fewest cards that hold all tasks; 0 where none do."""
        clusters = self._result.candidates.clusters
        return min((clusters[i].gpus for i in self._by_card.get(gpu.id, []) if self._fits[i]), default=0)

    def timed(self, gpu: Gpu) -> bool:
        return any(self._timed[i] for i in self._by_card.get(gpu.id, []))

    def shortfall(self, gpu: Gpu) -> Finding:
        """What is missing on the cluster that comes nearest."""
        members = self._by_card.get(gpu.id, [])
        possible = [i for i in members if np.isfinite(self._missing[i])]
        if not possible:
            return _reason("rejected.no_layout", gpu=gpu.name)
        best = min(possible, key=lambda i: (float(self._missing[i]), self._result.candidates.clusters[i].gpus, i))
        missing, cluster = float(self._missing[best]), self._result.candidates.clusters[best]
        if missing <= 0:  # each task fits somewhere, but not all of them on one cluster
            return _reason("rejected.no_common_cluster", gpu=gpu.name)
        alone = max(c.gpus for c in (self._result.candidates.clusters[i] for i in members)) == 1
        params = {"gpu": gpu.name, "missing": missing, "usable": gpu.usable_bytes}
        if alone:
            return _reason("rejected.does_not_fit_alone", **params)
        return _reason("rejected.does_not_fit", **params, gpus=cluster.gpus)


def _card_reason(gpu: Gpu, options: list[Option], result: SearchResult, memory: _Memory) -> Finding:
    market = result.market
    if gpu.id in market.closed:
        return market.closed[gpu.id]
    if not memory.fits(gpu):
        return memory.shortfall(gpu)
    if not options:
        if gpu.id in market.restricted:
            return market.restricted[gpu.id]
        refused = _refusal(gpu, result)
        if refused is not None:
            return refused
        obtainable = any(c.gpu.id == gpu.id for c in result.candidates.clusters[: result.candidates.obtainable])
        if not obtainable:
            return _reason("rejected.no_price", gpu=gpu.name, gpus=memory.fewest(gpu))
        return _reason("rejected.no_speed" if not memory.timed(gpu) else "rejected.no_common_cluster", gpu=gpu.name)
    return _limit_reason(gpu, options, result)


def _refusal(gpu: Gpu, result: SearchResult) -> Finding | None:
    """Of the reasons that keep the offers of a card out, the one that is easiest to change."""
    rows = [(row.id, reason) for row, reason in result.market.refused if row.gpu_ids and row.gpu_ids[0] == gpu.id]
    known = [pair for pair in rows if pair[1].code in EASIEST_FIRST]
    return min(known, key=lambda pair: (EASIEST_FIRST.index(pair[1].code), pair[0]))[1] if known else None


def _limit_reason(gpu: Gpu, options: list[Option], result: SearchResult) -> Finding:
    """Which limit keeps the best option of a card out: the one that is broken least."""
    good = [o for o in options if not o.slow]
    if not good:
        return _reason("rejected.too_slow", gpu=gpu.name)
    punctual = [o for o in good if o.days_late <= 0]
    if punctual:
        best = min(punctual, key=lambda o: (o.over_budget, o.key))  # above 0: within all limits it would be ranked
        return _reason(
            "rejected.over_budget",
            gpu=gpu.name,
            over=_amount(best.over_budget, result),
            cash=_amount(best.cash, result),
            gpus=best.cluster.gpus,
            way=f"way.{best.seed.way}",
        )
    best = min(good, key=lambda o: (max(0.0, o.over_budget) > 0, o.days_late, o.key))
    return _reason(
        "rejected.too_late",
        gpu=gpu.name,
        late=best.days_late,
        days=best.days.expected,
        gpus=best.cluster.gpus,
        way=f"way.{best.seed.way}",
    )


def _amount(value: float, result: SearchResult) -> str:
    return money_param(
        Money(amount=Decimal(repr(value)).quantize(CENT, ROUND_CEILING), currency=result.figures.currency)
    )


# offers -----------------------------------------------------------------------------------------------------------


def _offers(result: SearchResult) -> Iterator[Rejection]:
    """The cheapest refused offer of each card and reason, and sellers whose best plan is dearer than those ranked."""
    rates, currency = result.figures.rates, result.figures.currency
    cheapest: dict[tuple[str, str], tuple[Decimal, str, Offer | PurchasePrice, Finding]] = {}
    for row, reason in result.market.refused:
        if reason.code == "rejected.way" or not row.gpu_ids or row.gpu_ids[0] in result.market.closed:
            continue
        amount = row.price_per_gpu_hour if isinstance(row, Offer) else row.price / row.cards
        price = amount * rates.factor(row.currency, currency)
        kind = "offer" if isinstance(row, Offer) else "price"
        key = (row.gpu_ids[0], kind + reason.code)
        if key not in cheapest or (price, row.id) < cheapest[key][:2]:
            cheapest[key] = (price, row.id, row, reason)
    for _, (_, _, row, reason) in sorted(cheapest.items()):
        yield _offer_rejection(row, reason)
    yield from _dearer(result)


def _offer_rejection(row: Offer | PurchasePrice, reason: Finding) -> Rejection:
    seller = row.provider if isinstance(row, Offer) else row.seller
    return Rejection(
        kind="offer", gpu_id=row.gpu_ids[0], offer_id=row.id, label=f"{seller} · {row.product or row.gpu_ids[0]}",
        reason=reason,
    )  # fmt: skip


def _dearer(result: SearchResult) -> Iterator[Rejection]:
    best: dict[str, Option] = {}
    of_seller: dict[tuple[str, str], Option] = {}
    for option in sorted(result.options, key=lambda o: o.key):
        gpu = option.cluster.gpu.id
        if option.works:
            best.setdefault(gpu, option)
            of_seller.setdefault((gpu, option.seed.seller), option)
    shown = {(a.plan.cluster.gpu.id, _seller(a.plan.offer, a.plan.purchase)) for a in result.ranked}
    for (gpu, seller), option in sorted(of_seller.items()):
        row = option.seed.offer or option.seed.purchase
        if (gpu, seller) in shown or row is None:
            continue
        factor = option.ranking_cost / max(best[gpu].ranking_cost, 0.01)
        yield _offer_rejection(
            row,
            _reason(
                "rejected.dearer", gpu=option.cluster.gpu.name, other=best[gpu].seed.seller, factor=factor
            ),
        )  # fmt: skip


def _seller(offer: Offer | None, purchase: PurchasePrice | None) -> str:
    return offer.provider if offer is not None else purchase.seller if purchase is not None else ""
