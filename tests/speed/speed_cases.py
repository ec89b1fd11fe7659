"""Cards, models and short-hand that the tests of speed share."""

from __future__ import annotations

from functools import cache
from typing import Any

from engine.architecture.model import Architecture
from engine.catalog.load import load_base
from engine.hardware.model import Cluster, Gpu, Link
from engine.layout.model import Job, Layout
from engine.speed.hardware import HardwareBlock, cluster_for, hardware_block
from engine.speed.result import TrainingSpeed
from engine.speed.training import training_speed

H100 = "nvidia-h100-sxm-80gb"
A100 = "nvidia-a100-sxm-80gb"
RTX4090 = "nvidia-rtx-4090"
LLAMA_8B = "meta-llama/Llama-3.1-8B"
LLAMA_70B = "meta-llama/Llama-3.1-70B"
LLAMA_1B = "meta-llama/Llama-3.2-1B"
MIXTRAL = "mistralai/Mixtral-8x7B-v0.1"


@cache
def gpu(name: str) -> Gpu:
    """A card of the catalogue."""
    return load_base().gpu_by_id[name]


@cache
def model(name: str) -> Architecture:
    """A model of the catalogue."""
    return load_base().model_by_id[name]


def changed(card: Gpu, **fields: Any) -> Gpu:
    """The card with some fields changed, validated again."""
    return Gpu.model_validate({**card.model_dump(), **fields})


def linked(card: Gpu, cards: int, link: Link | None = None, nodes: int = 1) -> Cluster:
    """Nodes of a card, with another link inside them if asked."""
    cluster = cluster_for(card, gpus_per_node=cards, nodes=nodes)
    return cluster if link is None else Cluster.model_validate({**cluster.model_dump(), "intra_node": link})


def layout(cards: int = 1, **fields: Any) -> Layout:
    """A layout over so many cards; data parallel unless other degrees are given."""
    degrees = 1
    for name in ("tensor_parallel", "pipeline_parallel", "context_parallel"):
        degrees *= fields.get(name, 1)
    usual = {"data_parallel": cards // degrees, "recomputation": "none", "regime": "pure-bf16"}
    if fields.get("sharding", "none") != "none" and "shard_degree" not in fields:
        usual["shard_degree"] = cards // degrees * fields.get("context_parallel", 1)
    return Layout.model_validate({**usual, **fields})


def speed(
    name: str = LLAMA_8B,
    *,
    on: Cluster | HardwareBlock | None = None,
    stack: str = "torchtitan",
    spread: Layout | None = None,
    **job: Any,
) -> TrainingSpeed:
    """Speed of a job; one H100 and full training of 4096 tokens unless said otherwise."""
    hardware = on if isinstance(on, HardwareBlock) else hardware_block([on or linked(gpu(H100), 1)], framework=stack)
    stated = Job.model_validate({"method": "full", "sequence_length": 4096, **job})
    return training_speed(model(name), stated, spread or layout(), hardware).at()


def term(found: TrainingSpeed, name: str) -> float:
    """Expected seconds of one term."""
    return next(t.expected for t in found.terms if t.name == name)
