"""The single changes that could make a task fit, each as a few settings from the mildest to the strongest.

A change knows nothing of whether it helps: `engine.advice.fit` judges every setting by the formulas of the search.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import cast

from engine.advice.fit_result import Edit
from engine.advice.fit_setting import Setting
from engine.findings import Finding, Severity
from engine.hardware.model import CatalogSnapshot, Gpu
from engine.layout.model import InferenceJob, Layout, Loss, Method, Offload, Optimizer, Recomputation, Sharding
from engine.memory.result import Verdict
from engine.scenario import InferenceWorkload, TrainingWorkload
from engine.search.clusters import node_counts
from engine.search.layouts import accumulation_steps
from engine.search.resolve import DEEPSPEED_FRAMEWORKS, default_regime, training_job
from engine.speed.hardware import cluster_for

__all__ = ["ANY_FIT", "CHANGES", "Step", "World", "longest"]

#: Sequences and prompts are cut to a multiple of this, and never below the least that still makes sense.
TOKEN_STEP, LEAST_TOKENS = 128, 256
#: Cards that more are tried up to, where the scenario has no lower limit.
MOST_CARDS = 64
#: A card with less than this much more memory is no bigger card: drivers differ by as much.
BIGGER = 1.05
#: Memory of the largest usual host (two sockets, 16 modules of 128 GB), where the machine is not known.
LARGEST_HOST_BYTES = 2 * 2**40
#: Fits, tightly or not.
ANY_FIT = frozenset({Verdict.FITS, Verdict.FITS_TIGHTLY})
_ADAMW = frozenset({Optimizer.ADAMW, Optimizer.ADAMW_FOREACH, Optimizer.ADAMW_FP32, Optimizer.ADAMW_MASTER})


@dataclass(frozen=True)
class Step:
    """One setting of a change, with what a person would do to get there."""

    code: str
    setting: Setting
    words: Finding
    edits: tuple[Edit, ...] = ()
    keeps_result: bool = True


@dataclass(frozen=True)
class World:
    """What can be had: cards that are sold, lent or there, smallest first, and how many."""

    catalog: CatalogSnapshot
    cards: tuple[Gpu, ...]
    most_cards: int = MOST_CARDS
    goal: frozenset[Verdict] = ANY_FIT  # verdicts that are good enough

    def reached(self, setting: Setting) -> bool:
        """Whether a setting is good enough."""
        return setting.verdict() in self.goal


def _step(code: str, setting: Setting, *, keeps: bool = True, edits: tuple[Edit, ...] = (), **params: object) -> Step:
    words = Finding(code=code, severity=Severity.ADVICE, params=cast("dict[str, str | int | float | None]", params))
    return Step(code, setting, words, edits, keeps)


def longest(fits: Callable[[int], bool], least: int, most: int, step: int) -> int | None:
    """The greatest multiple of `step` from `least` to `most` that fits; the next one does not, unless it is `most`.

    None where `least` does not fit. Bisection: 14 trials for a million tokens.
    """
    low, high = -(-least // step), most // step
    if high < low or not fits(low * step):
        return None
    if fits(high * step):
        return high * step
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fits(middle * step) else (low, middle)
    return low * step


# training ---------------------------------------------------------------------------------------------------------


def _training(setting: Setting) -> TrainingWorkload | None:
    return setting.workload if isinstance(setting.workload, TrainingWorkload) else None


def _shorter(setting: Setting, world: World) -> Iterator[Step]:
    work = _training(setting)
    if work is None:
        return
    step = TOKEN_STEP * setting.layout.context_parallel
    found = longest(
        lambda n: world.reached(setting.stated(sequence_length=n)), LEAST_TOKENS, work.sequence_length - step, step
    )  # fmt: skip
    length = found or work.sequence_length // 2 // step * step
    if LEAST_TOKENS <= length < work.sequence_length:
        yield _step(
            "fit.shorter", setting.stated(sequence_length=length), keeps=False,
            edits=(Edit(field="sequence_length", value=length),), length=length, now=work.sequence_length,
        )  # fmt: skip


def _micro_batch(setting: Setting, _world: World) -> Iterator[Step]:
    layout = setting.layout
    size = layout.micro_batch_size
    if _training(setting) is None:
        return
    while size > 1:
        size //= 2
        steps = layout.gradient_accumulation_steps * layout.micro_batch_size // size
        yield _step(
            "fit.micro_batch",
            setting.laid_out(micro_batch_size=size, gradient_accumulation_steps=steps),
            edits=(Edit(field="micro_batch_size", value=size),),
            size=size, now=layout.micro_batch_size, steps=steps,
        )  # fmt: skip


def _recompute(setting: Setting, _world: World) -> Iterator[Step]:
    if _training(setting) is not None and setting.layout.recomputation is not Recomputation.FULL:
        edit = Edit(field="recomputation", value=Recomputation.FULL.value)
        yield _step("fit.recompute", setting.laid_out(recomputation=Recomputation.FULL), edits=(edit,))


def _chunked_loss(setting: Setting, _world: World) -> Iterator[Step]:
    if _training(setting) is not None and setting.layout.loss is Loss.PLAIN:
        edit = Edit(field="loss", value=Loss.CHUNKED.value)
        yield _step("fit.chunked_loss", setting.laid_out(loss=Loss.CHUNKED), edits=(edit,))


def _optimizer(setting: Setting, _world: World) -> Iterator[Step]:
    if _training(setting) is not None and setting.layout.optimizer in _ADAMW:
        edit = Edit(field="optimizer", value=Optimizer.ADAMW_8BIT.value)
        yield _step("fit.optimizer_8bit", setting.laid_out(optimizer=Optimizer.ADAMW_8BIT), edits=(edit,))


def _sharded(work: TrainingWorkload) -> Sharding:
    return Sharding.ZERO3 if work.framework.lower() in DEEPSPEED_FRAMEWORKS else Sharding.FSDP2


def _levels(work: TrainingWorkload) -> tuple[Sharding, ...]:
    if _trains_all(work):
        return (Sharding.NONE, Sharding.ZERO1, Sharding.ZERO2, _sharded(work))
    return (Sharding.NONE, _sharded(work))


def _trains_all(work: TrainingWorkload) -> bool:
    return training_job(work).lora is None and work.method is not Method.PROMPT


def _shard(setting: Setting, _world: World) -> Iterator[Step]:
    work, layout = _training(setting), setting.layout
    ranks = layout.data_parallel * layout.context_parallel
    if work is None or ranks == 1:
        return
    levels = _levels(work)
    begin = levels.index(layout.sharding) + 1 if layout.sharding in levels else len(levels)
    for level in levels[begin:]:
        shared = setting.laid_out(sharding=level, shard_degree=ranks)
        yield _step("fit.shard", shared, level=f"sharding.{level.value}", ranks=ranks)


def _offload(setting: Setting, _world: World) -> Iterator[Step]:
    work = _training(setting)
    if work is None or not _trains_all(work):
        return
    levels = (Offload.NONE, Offload.OPTIMIZER, Offload.OPTIMIZER_AND_PARAMETERS)
    begin = levels.index(setting.layout.offload) + 1 if setting.layout.offload in levels else len(levels)
    for level in levels[begin:]:
        moved = setting.laid_out(offload=level)
        host = moved.memory().host_bytes
        system = setting.cluster.system
        there = (system.ram_bytes if system is not None else None) or LARGEST_HOST_BYTES
        if host * setting.cluster.gpus_per_node <= there:
            edit = Edit(field="offload", value=level.value)
            yield _step("fit.offload", moved, edits=(edit,), what=f"offload.{level.value}", host=host)


def _lora(setting: Setting, _world: World) -> Iterator[Step]:
    work = _training(setting)
    if work is None:
        return
    if work.method in (Method.FULL, Method.CONTINUED, Method.FREEZE):
        yield _adapters("fit.lora", setting, {"method": Method.LORA.value, "regime": None, "optimizer": None})
    elif work.method is Method.DPO and not work.adapters:
        yield _adapters("fit.lora", setting, {"adapters": True, "regime": None, "optimizer": None})


def _qlora(setting: Setting, _world: World) -> Iterator[Step]:
    work = _training(setting)
    if work is not None and work.method in (Method.FULL, Method.CONTINUED, Method.FREEZE, Method.LORA):
        changes = {"method": Method.QLORA.value, "regime": None, "optimizer": None, "weight_quantization": None}
        yield _adapters("fit.qlora", setting, changes)


def _adapters(code: str, setting: Setting, changes: Mapping[str, str | bool | None]) -> Step:
    """Adapters instead of weights, in the number formats that are usual for them."""
    after = setting.stated(**changes)
    work = cast("TrainingWorkload", after.workload)
    sharding = after.layout.sharding if after.layout.sharding in _levels(work) else Sharding.NONE
    after = after.laid_out(
        regime=default_regime(work, training_job(work)),
        optimizer=Optimizer.ADAMW,
        sharding=sharding,
        shard_degree=1 if sharding is Sharding.NONE else after.layout.shard_degree,
        offload=Offload.NONE,
        optimizer_in_backward=False,
    )
    return _step(
        code, after, keeps=False, edits=tuple(Edit(field=n, value=v) for n, v in changes.items()), rank=work.lora_rank
    )


# serving ----------------------------------------------------------------------------------------------------------


def _serving(setting: Setting) -> InferenceWorkload | None:
    return setting.workload if isinstance(setting.workload, InferenceWorkload) else None


def _fewer_users(setting: Setting, world: World) -> Iterator[Step]:
    work = _serving(setting)
    if work is None or work.concurrent_users < 2:
        return
    least, now = setting.layout.data_parallel, work.concurrent_users
    users = longest(lambda n: world.reached(setting.stated(concurrent_users=n)), least, now - 1, 1) or max(
        least, now // 2
    )
    if users < now:
        edit = Edit(field="concurrent_users", value=users)
        yield _step(
            "fit.fewer_users", setting.stated(concurrent_users=users), keeps=False, edits=(edit,), users=users, now=now
        )


def _shorter_prompts(setting: Setting, world: World) -> Iterator[Step]:
    work = _serving(setting)
    if work is None:
        return
    found = longest(
        lambda n: world.reached(setting.stated(prompt_tokens=n)),
        TOKEN_STEP,
        work.prompt_tokens - TOKEN_STEP,
        TOKEN_STEP,
    )
    tokens = found or work.prompt_tokens // 2 // TOKEN_STEP * TOKEN_STEP
    if TOKEN_STEP <= tokens < work.prompt_tokens:
        edit = Edit(field="prompt_tokens", value=tokens)
        yield _step(
            "fit.shorter_prompts", setting.stated(prompt_tokens=tokens), keeps=False, edits=(edit,),
            tokens=tokens, now=work.prompt_tokens,
        )  # fmt: skip


def _kv_cache(setting: Setting, _world: World) -> Iterator[Step]:
    work = _serving(setting)
    if work is not None and work.kv_cache_bits == 16:
        edit = Edit(field="kv_cache_bits", value=8)
        yield _step("fit.kv_cache", setting.stated(kv_cache_bits=8), edits=(edit,))


def _coarser_weights(setting: Setting, _world: World) -> Iterator[Step]:
    job = setting.job
    if not isinstance(job, InferenceJob):
        return
    formats = ("q8_0", "q4_k_m") if job.engine in ("llama.cpp", "ollama") else ("none", "fp8", "awq4")
    begin = formats.index(job.weight_quantization) + 1 if job.weight_quantization in formats else len(formats)
    for name in formats[begin:]:
        edit = Edit(field="weight_quantization", value=name)
        coarser = setting.stated(weight_quantization=name)
        yield _step("fit.coarser_weights", coarser, keeps=False, edits=(edit,), format=name)


# hardware ---------------------------------------------------------------------------------------------------------


def _more_cards(setting: Setting, world: World) -> Iterator[Step]:
    """More of the same card, the weights and states shared out among them; the smallest number that fits comes first.

    Beyond a full machine, whole machines.
    """
    cluster = setting.cluster
    full = max(cluster.gpu.max_gpus_per_node or 8, cluster.gpus_per_node)
    shapes = [(n, 1) for n in range(cluster.gpus_per_node + 1, full + 1)] if cluster.nodes == 1 else []
    shapes += [(full, n) for n in node_counts(full, world.most_cards) if n > cluster.nodes]
    for per_node, nodes in shapes:
        layout = _wider(setting, per_node, nodes)
        if per_node * nodes > world.most_cards or layout is None:
            continue
        larger = cluster_for(
            cluster.gpu,
            cluster.system if cluster.system is not None and cluster.system.gpus >= per_node else None,
            gpus_per_node=per_node,
            nodes=nodes,
            assumed=True,
            in_use_bytes=cluster.in_use_bytes,
        )
        wider = replace(setting, layout=layout, cluster=larger)
        yield _step("fit.more_cards", wider, gpus=larger.gpus, now=cluster.gpus, gpu=cluster.gpu.name)


def _wider(setting: Setting, per_node: int, nodes: int) -> Layout | None:
    """The layout over more cards: more ranks that share, or wider tensor parallelism of a service."""
    layout, architecture = setting.layout, setting.architecture
    cards = per_node * nodes
    work = _training(setting)
    if work is None:
        if nodes > 1 or architecture.attention_heads % per_node or per_node not in (1, 2, 4, 8, 16):
            return None
        return layout.model_copy(update={"data_parallel": 1, "tensor_parallel": per_node, "pipeline_parallel": 1})
    split = layout.tensor_parallel * layout.pipeline_parallel * layout.context_parallel
    if cards % split:
        return None
    data = cards // split
    steps = accumulation_steps(work.global_batch_size, data * layout.micro_batch_size)
    if not steps:
        return None
    level = _sharded(work) if layout.sharding not in (Sharding.ZERO3, Sharding.FSDP2) else layout.sharding
    return layout.model_copy(
        update={
            "data_parallel": data,
            "shard_degree": data * layout.context_parallel,
            "sharding": level,
            "gradient_accumulation_steps": steps,
        }
    )


def _bigger_card(setting: Setting, world: World) -> Iterator[Step]:
    """The same work on a card with more memory; the smallest first."""
    cluster = setting.cluster
    now = cluster.gpu.usable_bytes or 0
    for gpu in world.cards:
        usable = gpu.usable_bytes or 0
        if usable < BIGGER * now or (gpu.max_gpus_per_node or 8) < cluster.gpus_per_node:
            continue
        other = cluster_for(gpu, None, gpus_per_node=cluster.gpus_per_node, nodes=cluster.nodes, assumed=True)
        yield _step("fit.bigger_card", replace(setting, cluster=other), gpu=gpu.name, usable=usable, now=now)


#: All changes by code, in the order in which people would try them.
CHANGES: dict[str, Callable[[Setting, World], Iterator[Step]]] = {
    "fit.chunked_loss": _chunked_loss,
    "fit.recompute": _recompute,
    "fit.micro_batch": _micro_batch,
    "fit.shard": _shard,
    "fit.optimizer_8bit": _optimizer,
    "fit.kv_cache": _kv_cache,
    "fit.coarser_weights": _coarser_weights,
    "fit.fewer_users": _fewer_users,
    "fit.shorter_prompts": _shorter_prompts,
    "fit.shorter": _shorter,
    "fit.offload": _offload,
    "fit.lora": _lora,
    "fit.qlora": _qlora,
    "fit.more_cards": _more_cards,
    "fit.bigger_card": _bigger_card,
}
