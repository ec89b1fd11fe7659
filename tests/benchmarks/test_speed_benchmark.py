"""How fast a million candidates get their speed."""

from __future__ import annotations

import time
from dataclasses import fields

import numpy as np
import pytest

from engine.catalog.load import load_base
from engine.layout.model import Job, Layout, LayoutBlock
from engine.speed.hardware import cluster_for, hardware_block
from engine.speed.training import training_speed

CANDIDATES = 1_000_000


@pytest.mark.benchmark
def test_a_million_training_speeds() -> None:
    catalog = load_base()
    clusters = [cluster_for(g, gpus_per_node=8, nodes=n) for g in catalog.gpus for n in (1, 2, 4, 8)]
    rng = np.random.default_rng(7)
    index = rng.integers(0, len(clusters), CANDIDATES)
    single = Layout.model_validate({"sharding": "fsdp2"})
    values = {f.name: getattr(single, f.name) for f in fields(LayoutBlock)}
    degrees = {k: np.ones(CANDIDATES, np.int64) for k, v in values.items() if isinstance(v, int)}
    del degrees["reshard_after_forward"], degrees["optimizer_in_backward"], degrees["layer_split"], degrees["compile"]
    degrees["data_parallel"] = degrees["shard_degree"] = 8 * np.array([1, 2, 4, 8])[index % 4]
    degrees["micro_batch_size"] = 2 ** rng.integers(0, 5, CANDIDATES)
    block = LayoutBlock(**(values | degrees))
    job = Job.model_validate({"method": "full", "sequence_length": 4096})
    started = time.perf_counter()
    hardware = hardware_block(clusters, index=index)
    found = training_speed(catalog.model_by_id["meta-llama/Llama-3.1-70B"], job, block, hardware)
    seconds = time.perf_counter() - started
    print(f"{CANDIDATES / seconds / 1e6:.2f} million training speeds a second ({seconds:.2f} s)")
    assert np.isfinite(np.asarray(found.step_seconds.expected)[np.asarray(found.known)]).all()
    assert seconds < 15
