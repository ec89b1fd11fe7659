"""How the work is spread, in plain sentences: what each choice of a layout means for memory and speed. No Qt."""

from __future__ import annotations

from collections.abc import Iterator

from engine.advice.result import Assessment, TaskAssessment
from engine.i18n import Language
from engine.layout.model import InferenceJob, Job, Layout, Loss, Offload, Optimizer, Recomputation, Regime, Sharding

__all__ = ["layout_sentences"]


def layout_sentences(assessment: Assessment, task: TaskAssessment, language: Language) -> tuple[str, ...]:
    """What the chosen layout of one task means, most important first."""
    cluster, layout, job = assessment.plan.cluster, task.layout, task.job
    words = list(_spread(layout, cluster.gpus, language, serving=isinstance(job, InferenceJob)))
    if isinstance(job, InferenceJob):
        words += _serving(job, language)
    else:
        words += _batch(job, layout, language)
        words += _saving(layout, language)
        words += _precision(job, layout, language)
    if cluster.assumed:
        words.append(
            language.gettext("The offer does not say how many cards stand in one machine; a usual machine is assumed.")
        )
    return tuple(words)


def _spread(layout: Layout, gpus: int, language: Language, *, serving: bool) -> Iterator[str]:
    if gpus == 1:
        yield language.gettext("Everything runs on one card.")
    if layout.tensor_parallel > 1:
        yield language.fill(
            "Every layer of the model is cut over {n:int} cards that exchange results all the time "
            "(tensor parallelism). Each card holds only its part; fast links between these cards matter.",
            n=layout.tensor_parallel,
        )
    if layout.pipeline_parallel > 1:
        yield language.fill(
            "The layers are divided into {n:int} groups that work one after another, like an assembly line "
            "(pipeline parallelism).",
            n=layout.pipeline_parallel,
        )
    if layout.layer_split:
        yield language.gettext(
            "The layers are placed on several cards without a schedule: only one card works at a time. Memory is "
            "shared, speed is not gained."
        )
    if layout.context_parallel > 1:
        yield language.fill(
            "Each long sequence is cut into {n:int} pieces on different cards (context parallelism).",
            n=layout.context_parallel,
        )
    if layout.expert_parallel > 1:
        yield language.fill(
            "The experts of the model are spread over {n:int} cards (expert parallelism).", n=layout.expert_parallel
        )
    if layout.data_parallel > 1 and serving:
        yield language.fill(
            "{n:int} copies of the model answer side by side and share the users among them.", n=layout.data_parallel
        )
    elif layout.data_parallel > 1:
        yield language.fill(
            "{n:int} groups of cards learn from different examples at the same time and average what they learned "
            "(data parallelism).",
            n=layout.data_parallel,
        )
        yield _sharding(layout, language)


def _sharding(layout: Layout, language: Language) -> str:
    degree = layout.shard_degree
    match layout.sharding:
        case Sharding.NONE:
            return language.gettext(
                "Each group keeps the whole model with gradients and optimizer states (DDP): simple and fast, "
                "saves no memory."
            )
        case Sharding.ZERO1:
            return language.fill(
                "The optimizer states are shared out among {n:int} cards instead of being kept {n:int} times (ZeRO-1).",
                n=degree,
            )
        case Sharding.ZERO2:
            return language.fill(
                "Optimizer states and gradients are shared out among {n:int} cards instead of being kept {n:int} times "
                "(ZeRO-2).",
                n=degree,
            )
        case Sharding.ZERO3:
            return language.fill(
                "Weights, gradients and optimizer states are shared out among {n:int} cards; each layer is fetched "
                "just before it is needed (ZeRO-3). Saves most memory, costs traffic between cards.",
                n=degree,
            )
        case Sharding.FSDP2:
            return language.fill(
                "Weights, gradients and optimizer states are shared out among {n:int} cards; each layer is fetched "
                "just before it is needed (FSDP). Saves most memory, costs traffic between cards.",
                n=degree,
            )


def _batch(job: Job, layout: Layout, language: Language) -> Iterator[str]:
    if layout.gradient_accumulation_steps > 1:
        yield language.fill(
            "A card works on {micro:int} × {tokens:int} tokens at a time and adds up {rounds:int} such rounds before "
            "the weights change (gradient accumulation).",
            micro=layout.micro_batch_size,
            tokens=job.sequence_length,
            rounds=layout.gradient_accumulation_steps,
        )
    else:
        yield language.fill(
            "A card works on {micro:int} × {tokens:int} tokens at a time; then the weights change.",
            micro=layout.micro_batch_size,
            tokens=job.sequence_length,
        )
    if job.lora is not None:
        yield language.fill(
            "Only small added matrices of rank {rank:int} are trained (adapters); the model itself stays frozen.",
            rank=job.lora.rank,
        )
    if job.weight_quantization != "none":
        yield language.fill(
            "The frozen model is kept in a compressed form ({name}), which needs a fraction of its 16-bit size.",
            name=job.weight_quantization,
        )
    if job.reference_model:
        yield language.gettext("A second, frozen copy of the model stands beside the one that learns, for comparison.")


def _saving(layout: Layout, language: Language) -> Iterator[str]:
    match layout.recomputation:
        case Recomputation.FULL:
            yield language.gettext(
                "Intermediate results are dropped and computed again when needed (gradient checkpointing): much less "
                "memory for about a third more computing."
            )
        case Recomputation.SELECTIVE | Recomputation.ATTENTION:
            yield language.gettext(
                "The largest intermediate results are dropped and computed again (selective recomputation): less "
                "memory for little extra computing."
            )
        case Recomputation.NONE:
            yield language.gettext(
                "All intermediate results stay in memory, nothing is computed twice: the fastest way."
            )
    if layout.loss is Loss.CHUNKED:
        yield language.gettext(
            "The loss is computed piece by piece, so that the scores of the whole vocabulary never "
            "stand in memory at once."
        )
    match layout.offload:
        case Offload.OPTIMIZER:
            yield language.gettext("Optimizer states live in host memory (offload): possible on small cards, but slow.")
        case Offload.OPTIMIZER_AND_PARAMETERS:
            yield language.gettext(
                "Optimizer states and weights live in host memory (offload): possible on small cards, but very slow."
            )
        case Offload.ACTIVATIONS:
            yield language.gettext("Intermediate results wait in host memory (offload), which slows each step.")
        case Offload.NONE:
            pass


def _precision(job: Job, layout: Layout, language: Language) -> Iterator[str]:
    match layout.regime:
        case Regime.PURE_BF16:
            yield language.gettext("Weights, gradients and optimizer states are all kept in 16 bits (BF16).")
        case Regime.FP32_MASTER:
            yield language.gettext(
                "Computing runs in 16 bits beside an exact 32-bit copy of the trained weights (mixed precision)."
            )
        case Regime.BF16_AMP:
            yield language.gettext("Trained weights are kept in 32 bits, computing runs in BF16 (mixed precision).")
        case Regime.FP16_AMP:
            yield language.gettext(
                "Trained weights are kept in 32 bits, computing runs in FP16 (mixed precision), because the card has "
                "no BF16 or the scenario says so."
            )
        case Regime.FP32:
            yield language.gettext("Everything is kept and computed in 32 bits.")
    if layout.optimizer in (Optimizer.ADAMW_8BIT, Optimizer.PAGED_ADAMW_8BIT):
        yield language.gettext("The optimizer keeps its states in 8 bits, a quarter of the usual size.")
    if layout.optimizer is Optimizer.PAGED_ADAMW_8BIT:
        yield language.gettext("At peaks the optimizer states may move to host memory (paged).")


def _serving(job: InferenceJob, language: Language) -> Iterator[str]:
    yield language.fill(
        "Up to {n:int} requests at the same time, each of {prompt:int} tokens in and {output:int} tokens out.",
        n=job.concurrent_sequences,
        prompt=job.prompt_tokens,
        output=job.output_tokens,
    )
    if job.weight_quantization == "none":
        yield language.gettext("Weights are kept in 16 bits, without loss of quality.")
    else:
        yield language.fill(
            "Weights are kept in a compressed form ({name}): less memory and faster, at a small risk for quality.",
            name=job.weight_quantization,
        )
    yield language.fill(
        "The memory of the conversation (KV cache) is kept in {bits:int} bits, for {engine}.",
        bits=job.kv_cache_bits,
        engine=job.engine,
    )
