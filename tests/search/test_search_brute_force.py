"""The search finds what trying every plan one by one finds."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import pytest
from small_world import catalog, scenario, training

from engine.cost.plan import price_plan
from engine.hardware.model import Cluster
from engine.layout.model import Job, Layout, Loss, Recomputation, Sharding
from engine.memory.overheads import platform_for
from engine.memory.result import Verdict
from engine.memory.training import training_memory
from engine.memory.verdict import assess
from engine.quantity import Estimate
from engine.scenario import Scenario, TrainingWorkload
from engine.search.evaluate import GOOD, NOTHING, TIGHT
from engine.search.options import plan_of
from engine.search.resolve import resolve_task
from engine.search.search import SearchResult, search
from engine.speed.hardware import hardware_block
from engine.speed.training import training_speed


def every_layout(cluster: Cluster, job: Job, workload: TrainingWorkload) -> Iterator[Layout]:
    """All layouts that a person would call legal, written down independently of the search."""
    adapters = job.lora is not None
    kinds = itertools.product(Sharding, (Loss.PLAIN, Loss.CHUNKED), (Recomputation.NONE, Recomputation.FULL))
    used = (
        (Sharding.NONE, Sharding.FSDP2) if adapters else (Sharding.NONE, Sharding.ZERO1, Sharding.ZERO2, Sharding.FSDP2)
    )
    for sharding, loss, recomputation in kinds:
        for tensor, micro in itertools.product((1, 2, 4, 8), (1, 2, 4, 8, 16, 32, 64)):
            if sharding not in used or (adapters and tensor > 1) or cluster.gpus_per_node % tensor:
                continue
            data = cluster.gpus // tensor
            if data == 1 and sharding is not Sharding.NONE:
                continue
            steps = max(1, round(workload.global_batch_size / (data * micro)))
            if abs(steps * data * micro - workload.global_batch_size) > 0.1 * workload.global_batch_size:
                continue
            yield Layout(
                data_parallel=data, tensor_parallel=tensor, shard_degree=1 if sharding is Sharding.NONE else data,
                micro_batch_size=micro, gradient_accumulation_steps=steps, sharding=sharding, loss=loss,
                recomputation=recomputation, regime=resolve_regime(adapters),
            )  # fmt: skip


def resolve_regime(adapters: bool) -> str:
    return "pure-bf16" if adapters else "bf16-amp"


def best_by_hand(cluster: Cluster, result: SearchResult, headroom: float) -> tuple[int, float] | None:
    """(rank, seconds a token) of the best layout of a cluster, one layout at a time."""
    resolved = result.resolved[0]
    job, workload = resolved.jobs[0], resolved.training
    assert isinstance(job, Job) and workload is not None
    platform = platform_for(cluster.gpu, job.framework)
    found: list[tuple[int, float]] = []
    for layout in every_layout(cluster, job, workload):
        memory = training_memory(resolved.architecture, job, layout, platform=platform)
        verdict = assess(memory, cluster.gpu, headroom=headroom).verdict
        if verdict not in (Verdict.FITS, Verdict.FITS_TIGHTLY):
            continue
        speed = training_speed(resolved.architecture, job, layout, hardware_block([cluster])).at()
        rank = GOOD if verdict is Verdict.FITS else TIGHT
        found.append((rank, speed.step_seconds.expected / speed.tokens_per_step))
    return min(found, default=None)


@pytest.mark.parametrize(
    "task",
    [training("small", "full"), training("medium", "lora"), training("small", "lora", global_batch_size=6)],
    ids=["full", "lora", "odd batch"],
)
def test_best_layout_of_each_cluster(task) -> None:
    stated = scenario(task, ways=("rent",))
    result = search(stated, catalog())
    table = result.tables[0]
    assert result.candidates.obtainable > 3
    for index in range(result.candidates.obtainable):
        by_hand = best_by_hand(result.candidates.clusters[index], result, stated.constraints.headroom)
        if by_hand is None:
            assert table.rank[index] == NOTHING
        else:
            assert int(table.rank[index]) == by_hand[0]
            assert table.score[index] == pytest.approx(by_hand[1], rel=1e-9)


def test_cheapest_plan_is_the_cheapest_of_all_priced_one_by_one() -> None:
    stated = scenario(training("small", "full"))
    result = search(stated, catalog())
    costs: list[tuple[float, str]] = []
    for option in result.options:
        busy = option.busy_seconds
        cost = price_plan(
            plan_of(option.seed, option.cluster),
            Estimate(low=busy.low / 3600, expected=busy.expected / 3600, high=busy.high / 3600),
            option.days, stated, result.catalog, risk=option.risk, storage_gb=option.storage_gb,
            result_gb=option.result_gb,
        )  # fmt: skip
        assert option.cost == pytest.approx(float(cost.cost_of_job.expected), abs=0.05)
        assert option.cash == pytest.approx(float(cost.cash_needed.expected), abs=0.05)
        costs.append((float(cost.risk_adjusted_cost.expected), option.id))
    best = result.ranked[0]
    assert float(best.cost.risk_adjusted_cost.expected) == pytest.approx(min(costs)[0], abs=0.02)
    ranked_costs = [float(a.cost.risk_adjusted_cost.expected) for a in result.ranked]
    assert ranked_costs == sorted(ranked_costs)


def test_nothing_that_does_not_fit_has_a_price() -> None:
    result = search(scenario(training("medium", "full"), ways=("rent", "buy")), catalog())
    assert result.ranked, "8B full fine-tuning fits on several big cards"
    for assessment in result.ranked:
        assert all(t.memory.verdict in (Verdict.FITS, Verdict.FITS_TIGHTLY) for t in assessment.tasks)
        assert assessment.plan.cluster.gpu.id == "big"
    priced = {o.cluster.gpu.id for o in result.options}
    assert priced == {"big"}


def test_scenario_resolves_the_same_task_that_the_search_uses() -> None:
    stated: Scenario = scenario(training("small", "full"))
    assert resolve_task(stated.tasks[0], catalog()).jobs == search(stated, catalog()).resolved[0].jobs
