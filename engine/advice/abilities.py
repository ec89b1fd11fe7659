"""The question the other way round: what can be done with cards that are there?

A ladder of well-known open models is tried in four ways. A model's place on a card comes from the very formulas and
layouts of the search; a lighter optimizer or offload is tried where the usual settings leave nothing, and named.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import date
from typing import Literal

from engine.architecture.model import Architecture
from engine.control import Cancelled, Control
from engine.errors import InputError
from engine.hardware.model import CatalogSnapshot, Cluster
from engine.layout.model import InferenceJob, Layout
from engine.memory.result import Verdict
from engine.quantity import Estimate, Frozen
from engine.scenario import OwnedGpus, Scenario
from engine.search.clusters import candidates_of
from engine.search.evaluate import NOTHING, Chosen, TaskTable, evaluate_task
from engine.search.market import market_of
from engine.search.resolve import ResolvedTask, resolve_tasks
from engine.speed.result import InferenceSpeed

__all__ = ["LADDER", "RUN_TOKENS", "USES", "Ability", "Use", "abilities_of", "scenario_for"]

#: Openly published models that are fine-tuned a lot, about one for each size, dense and with experts, smallest first.
LADDER = (
    "Qwen/Qwen3-0.6B", "meta-llama/Llama-3.2-1B", "Qwen/Qwen3-1.7B", "meta-llama/Llama-3.2-3B", "Qwen/Qwen3-4B",
    "Qwen/Qwen2.5-7B", "meta-llama/Llama-3.1-8B", "google/gemma-2-9b", "Qwen/Qwen3-14B", "openai/gpt-oss-20b",
    "mistralai/Mistral-Small-24B-Instruct-2501", "google/gemma-2-27b", "Qwen/Qwen3-30B-A3B", "Qwen/Qwen3-32B",
    "mistralai/Mixtral-8x7B-v0.1", "meta-llama/Llama-3.1-70B", "Qwen/Qwen2.5-72B", "openai/gpt-oss-120b",
    "Qwen/Qwen3-235B-A22B", "meta-llama/Llama-3.1-405B", "deepseek-ai/DeepSeek-V3",
)  # fmt: skip
Use = Literal["inference", "qlora", "lora", "full"]
#: What is tried, the lightest first.
USES: tuple[Use, ...] = ("inference", "qlora", "lora", "full")
#: Training data of the hours that are stated: about 10,000 examples of 1,000 tokens, the sets of the guides.
RUN_TOKENS = 10_000_000
#: Sequences of a step: a usual batch of fine-tuning, small enough for one card.
BATCH = 16


class Ability(Frozen):
    """One model in one use on the cards; `verdict` is `does_not_fit` where no setting holds it."""

    model_id: str
    name: str
    parameters: float
    use: Use
    verdict: Verdict
    gpus: int = 0  # cards that the fastest way takes
    spare_bytes: float = 0.0  # per card at the expected need; of what does not fit: how much is missing, below 0
    tokens_per_second: Estimate | None = None  # of all cards; None where the card's speed is not known
    seconds_for_run: Estimate | None = None  # `RUN_TOKENS` once
    layout: Layout | None = None
    tier: int = 0  # 0 = usual settings; above, a lighter optimizer or offload
    weights: str = ""  # number format in which a service holds the model


def scenario_for(model_id: str, use: Use, owned: Sequence[OwnedGpus], sequence_length: int, as_of: date) -> Scenario:
    """The scenario behind one line: it can be opened and worked on."""
    training = {
        "kind": "training", "method": use, "data": {"tokens": RUN_TOKENS}, "sequence_length": sequence_length,
        "global_batch_size": BATCH,
    }  # fmt: skip
    serving = {"kind": "inference", "prompt_tokens": sequence_length // 2, "output_tokens": sequence_length // 2}
    return Scenario.model_validate(
        {
            "as_of": as_of,
            "tasks": [{"id": "t1", "model": {"catalog_id": model_id},
                       "workload": serving if use == "inference" else training}],
            "constraints": {"ways": ["owned"], "owned": [o.model_dump() for o in owned]},
        }
    )  # fmt: skip


def abilities_of(
    owned: Sequence[OwnedGpus],
    catalog: CatalogSnapshot,
    *,
    as_of: date,
    sequence_length: int = 2048,
    models: Sequence[str] = LADDER,
    control: Control | None = None,
) -> tuple[Ability, ...]:
    """What the cards can do, model by model and use by use. Cards of different kinds are judged each on their own.

    `InputError` where no card is named, or one that does not exist.
    """
    control = control or Control()
    if not owned:
        raise InputError("abilities.no_card")
    known = [m for m in models if m in catalog.model_by_id]
    clusters = _clusters(owned, catalog, as_of, sequence_length)
    found: list[Ability] = []
    for done, model_id in enumerate(known):
        control.checkpoint(done, len(known))
        for use in USES:
            scenario = scenario_for(model_id, use, owned, sequence_length, as_of)
            found.append(_ability(resolve_tasks(scenario, catalog)[0], use, clusters, scenario, control))
    return tuple(found)


def _clusters(
    owned: Sequence[OwnedGpus], catalog: CatalogSnapshot, as_of: date, sequence_length: int
) -> tuple[Cluster, ...]:
    scenario = scenario_for(LADDER[0], "inference", owned, sequence_length, as_of)
    for one in owned:
        if one.gpu_id not in catalog.gpu_by_id:
            raise InputError("search.gpu_unknown", gpu=one.gpu_id)
    candidates = candidates_of(scenario, catalog, market_of(scenario, catalog))
    return candidates.clusters[: candidates.obtainable]


def _ability(
    resolved: ResolvedTask, use: Use, clusters: tuple[Cluster, ...], scenario: Scenario, control: Control
) -> Ability:
    best: Ability | None = None
    nearest = float("-inf")
    for tier, knobs in enumerate(resolved.tiers):
        if control.cancelled:
            raise Cancelled
        table = evaluate_task(resolved, knobs, clusters, headroom=scenario.constraints.headroom)
        nearest = max(nearest, -float(min(table.missing_bytes, default=float("inf"))))
        for ability in _working(resolved, use, tier, table, clusters):
            if best is None or _order(ability) < _order(best):
                best = ability
        if best is not None:
            return best
    return Ability.model_validate(
        {
            **_named(resolved.architecture, use),
            "verdict": Verdict.DOES_NOT_FIT,
            "spare_bytes": nearest if nearest > float("-inf") else 0.0,
        }
    )


def _order(ability: Ability) -> tuple[bool, float]:
    """What fits well first, then the fastest."""
    speed = ability.tokens_per_second
    return (ability.verdict is not Verdict.FITS, -(speed.expected if speed is not None else 0.0))


def _named(architecture: Architecture, use: Use) -> dict[str, object]:
    return {
        "model_id": architecture.id,
        "name": architecture.name or architecture.id,
        "parameters": architecture.parameters_total,
        "use": use,
    }


def _working(
    resolved: ResolvedTask, use: Use, tier: int, table: TaskTable, clusters: tuple[Cluster, ...]
) -> Iterator[Ability]:
    working = [i for i in range(len(clusters)) if table.rank[i] != NOTHING]
    for index, chosen in sorted(table.choose(working).items()):
        yield _of_choice(resolved, use, tier, clusters[index], chosen)


def _of_choice(resolved: ResolvedTask, use: Use, tier: int, cluster: Cluster, chosen: Chosen) -> Ability:
    memory, speed = chosen.memory, chosen.speed
    if isinstance(speed, InferenceSpeed):
        rate = speed.tokens_per_second
        seconds = None
    else:
        each = speed.tokens_per_second_per_gpu
        rate = Estimate(
            low=each.low * cluster.gpus, expected=each.expected * cluster.gpus, high=each.high * cluster.gpus
        )
        seconds = Estimate(low=RUN_TOKENS / rate.high, expected=RUN_TOKENS / rate.expected, high=RUN_TOKENS / rate.low)
    return Ability.model_validate(
        {
            **_named(resolved.architecture, use),
            "verdict": memory.verdict,
            "gpus": cluster.gpus,
            "spare_bytes": (memory.usable_bytes or 0) - memory.in_use_bytes - memory.driver.expected,
            "tokens_per_second": rate,
            "seconds_for_run": seconds,
            "layout": chosen.layout,
            "tier": tier,
            "weights": chosen.job.weight_quantization if isinstance(chosen.job, InferenceJob) else "",
        }
    )
