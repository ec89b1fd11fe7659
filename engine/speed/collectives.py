"""Time of collective operations over two levels of links: inside a node, and between nodes.

Bandwidth term: ring algorithms (Patarasu and Yuan, J. Parallel Distrib. Comput. 69, 2009): an all-gather or a
reduce-scatter of S bytes over n ranks moves S (n - 1) / n bytes through each card; an all-reduce twice that. Across
nodes the operation is split in two levels: S over the local ranks, S / local over the nodes, through each card's share
of the network. Latency term: the shorter of a ring, n - 1 hops, and a tree, 2 log2 n hops.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from engine.quantity import Bounds, Number

__all__ = [
    "Links",
    "Ranks",
    "all_gather_seconds",
    "all_reduce_direct_seconds",
    "all_reduce_seconds",
    "all_to_all_seconds",
    "point_to_point_seconds",
]


@dataclass(frozen=True, slots=True)
class Links:
    """Rates that collectives reach, per card and direction (bytes/s), and latency of a hop (s)."""

    intra: Bounds
    inter: Bounds
    intra_latency: Number
    inter_latency: Number


@dataclass(frozen=True, slots=True)
class Ranks:
    """A group of `local` x `nodes` cards that work together."""

    local: Number
    nodes: Number

    @classmethod
    def of(cls, size: Number, per_node: Number) -> Ranks:
        """A group of `size` ranks of which a node holds at most `per_node`."""
        local = np.minimum(size, np.maximum(1, np.floor(per_node)))
        return cls(local, np.ceil(size / local))

    @property
    def size(self) -> Number:
        """Ranks in the group."""
        return self.local * self.nodes


def _share(ranks: Number) -> Number:
    return (ranks - 1) / ranks


def _hops(ranks: Number) -> Number:
    """Steps until the last rank has heard: ring or tree, whichever is shorter; 0 for one rank."""
    return np.minimum(ranks - 1, 2 * np.ceil(np.log2(np.maximum(ranks, 1))))


def _over(volume: Number, rate: Bounds) -> Bounds:
    """`volume / rate`; no time at all where nothing is sent, even over a link that does not exist."""

    def quotient(divisor: Number) -> Number:
        return np.where(volume > 0, volume / np.where(divisor > 0, divisor, np.nan), 0.0)

    return Bounds(quotient(rate.high), quotient(rate.expected), quotient(rate.low))


def all_gather_seconds(total_bytes: Number, ranks: Ranks, links: Links) -> Bounds:
    """Seconds to gather (or reduce and scatter) `total_bytes` over the group; `total_bytes` is the whole result."""
    inside = _over(_share(ranks.local) * total_bytes, links.intra)
    between = _over(_share(ranks.nodes) * total_bytes / ranks.local, links.inter)
    return inside + between + _latency(ranks, links)


def all_reduce_seconds(total_bytes: Number, ranks: Ranks, links: Links) -> Bounds:
    """Seconds to sum `total_bytes` over the group and leave the sum on each rank."""
    return all_gather_seconds(total_bytes, ranks, links) * 2


def all_to_all_seconds(sent_bytes: Number, ranks: Ranks, links: Links) -> Bounds:
    """Seconds until each rank has sent an equal part of its `sent_bytes` to each rank of the group.

    Of what a rank sends, (size - local) / size crosses nodes and (local - 1) / size stays inside.
    """
    inside = _over(sent_bytes * (ranks.local - 1) / ranks.size, links.intra)
    between = _over(sent_bytes * (ranks.size - ranks.local) / ranks.size, links.inter)
    return inside + between + _latency(ranks, links)


def point_to_point_seconds(sent_bytes: Number, crosses_nodes: Number, links: Links) -> Bounds:
    """Seconds to hand `sent_bytes` to the next rank."""
    inside = _over(sent_bytes * (1 - crosses_nodes), links.intra)
    between = _over(sent_bytes * crosses_nodes, links.inter)
    return inside + between + np.where(crosses_nodes > 0, links.inter_latency, links.intra_latency)


def all_reduce_direct_seconds(total_bytes: Number, ranks: Ranks, links: Links, direct: Number) -> Bounds:
    """As `all_reduce_seconds`; where `direct`, every card writes to every other of its node at once.

    Serving engines sum small messages that way where each pair of cards has a link (two-shot all-reduce of TensorRT-LLM
    and vLLM): one hop to reduce and one to gather, whatever the number of cards.
    """
    saved = np.where(direct, np.maximum(0.0, _hops(ranks.local) - 1), 0.0) * links.intra_latency
    return (all_gather_seconds(total_bytes, ranks, links) + -saved) * 2


def _latency(ranks: Ranks, links: Links) -> Number:
    return _hops(ranks.local) * links.intra_latency + _hops(ranks.nodes) * links.inter_latency
