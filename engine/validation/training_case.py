"""Settings of a training case, and the job and layout that they make."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from engine.architecture.linears import layer_linears
from engine.architecture.model import Architecture
from engine.errors import InputError
from engine.layout.model import (
    Job,
    Layout,
    Lora,
    Loss,
    Method,
    Offload,
    Optimizer,
    Regime,
    Sharding,
)
from engine.validation import fields as words
from engine.validation.defaults import Framework, change_of, framework_of
from engine.validation.fields import Case, Parallel, parse_parallel
from engine.validation.knobs import Knobs

__all__ = ["large_pretraining", "make_training", "training_knobs"]

#: Methods whose step is more than one forward and backward pass of the trained model in ways that a case can't state.
_NOT_EXPRESSED = frozenset({Method.PPO, Method.GRPO, Method.DISTILL})
_PAIRS = frozenset({Method.DPO, Method.ORPO, Method.SIMPO, Method.REWARD})
_WITH_REFERENCE = frozenset({Method.DPO, Method.KTO})
_USUAL_LENGTHS = (512, 2048, 4096)  # tokens; usual limits of fine-tuning recipes
_PRETRAINING_LENGTHS = (2048, 4096, 8192)
_USUAL_MICRO_BATCHES = (1, 2, 8)  # of fine-tuning recipes; the least is taken where one value is asked for
_USUAL_RANKS = (8, 16, 64)
_VIRTUAL_TOKENS = 20  # PEFT's example for prompt tuning
_FREEZE_FRACTION = 0.25
_MANY_GPUS = 64  # from here on runs use model parallelism rather than sharding alone
_HALF_A_CARD = 40e9  # bytes, where the card is not known
_DEEPEST_PIPELINE = 64  # stages; the deepest published (1 T parameters, arXiv:2104.04473)
_MICRO_BATCHES_A_STAGE = 4  # so that the bubble stays under a fifth (arXiv:2104.04473, section 2.2)
_USUAL_STEP_TOKENS = 4e6  # tokens of one optimizer step in pretraining (GPT-3: 3.2 M, Llama 3: 4 to 16 M)


def training_knobs(
    case: Case, knobs: Knobs, method: Method, architecture: Architecture, gpus: int, usable: int | None = None
) -> None:
    """Read all settings of a training case into `knobs`. `usable`: bytes that a card offers, where it is known."""
    if method in _NOT_EXPRESSED:
        raise InputError("case.method_not_expressed", method=method.value)
    version = case.text("framework_version")
    framework = framework_of(case.text("framework"), pretraining=large_pretraining(method, gpus), version=version)
    if not case.text("framework"):
        knobs.assume("framework", "hf-transformers")
    adapters = _adapters(case, method)
    _tell_change(case, knobs, adapters)
    _regime(case, knobs, framework, adapters)
    _optimizer(case, knobs, framework)
    long = _PRETRAINING_LENGTHS if method in (Method.PRETRAIN, Method.CONTINUED) else _USUAL_LENGTHS
    knobs.take("seq_len", case.count("seq_len"), *long, expected=long[1])
    _attention_and_checkpointing(case, knobs, framework, method)
    _loss(case, knobs, framework)
    precision = case.text("precision").lower() or None
    if precision is None and framework.precisions != ("",):
        knobs.assume("precision", *framework.precisions, expected=framework.precisions[-1])
    else:
        knobs.stated("precision", precision or "")
    _parallel(case, knobs, framework, architecture, gpus, usable)
    _batch(case, knobs, method, gpus)
    if adapters:
        _lora(case, knobs, framework, method)
    experts = case.text("experts").lower().removesuffix("_mm") or None
    if experts not in (None, "grouped", "separate", "eager"):
        raise InputError("case.not_expressed", key="experts", value=str(experts)[:60])
    knobs.stated("experts", experts or "grouped")
    if architecture.is_moe and experts is None:
        knobs.assume("experts", "grouped")


def _tell_change(case: Case, knobs: Knobs, adapters: bool) -> None:
    """Say that a default depends on the program's version, where the case leaves that default to the program."""
    change = change_of(case.text("framework"))
    if change is None or knobs.spreads("framework_version"):
        return
    of_weights = change.code == "case.version.published_dtype"
    stated = case.text("regime") or case.text("precision") in ("fp32", "fp16") or adapters
    if stated if of_weights else case.text("activation_checkpointing"):
        return
    version = case.text("framework_version")
    if version:
        knobs.warn(f"{change.code}.stated", version=version[:20])
    else:
        knobs.warn(change.code)


def large_pretraining(method: Method, gpus: int) -> bool:
    """Whether a run is one of those that are done with model parallelism on tuned stacks, whatever their name."""
    return method in (Method.PRETRAIN, Method.CONTINUED) and gpus >= _MANY_GPUS


def _adapters(case: Case, method: Method) -> bool:
    if method in (Method.LORA, Method.DORA, Method.QLORA):
        return True
    if method not in _PAIRS and method is not Method.KTO:
        return False
    quantised = case.text("weight_quant", "quant").lower() not in ("", "none")
    return quantised or case.count("lora_rank") is not None or "lora" in case.text("notes").lower()


def _regime(case: Case, knobs: Knobs, framework: Framework, adapters: bool) -> None:
    stated, precision = case.text("regime").lower(), case.text("precision").lower()
    if stated == "8bit-states":
        knobs.stated("regime", Regime.BF16_AMP if precision == "mixed" else Regime.PURE_BF16)
        return
    if stated:
        knobs.stated("regime", case.choice(words.REGIMES, "regime"))
        return
    if precision == "fp32":
        knobs.stated("regime", Regime.FP32)
    elif precision == "mixed":
        knobs.stated("regime", Regime.BF16_AMP)
    elif precision == "fp16" and not (framework.full_regimes == (Regime.FP32_MASTER,) and not adapters):
        knobs.assume("regime", Regime.FP16_AMP)
    elif adapters:
        usual = framework.expected_adapter_regime
        if _prepares(case, framework) and Regime.BF16_AMP in framework.adapter_regimes:
            usual = Regime.BF16_AMP  # the prepared 32-bit parts need autocast
        knobs.assume("regime", *framework.adapter_regimes, expected=usual)
    else:
        knobs.assume("regime", *framework.full_regimes, expected=framework.expected_full_regime)


def _prepares(case: Case, framework: Framework) -> bool:
    stated = case.yes("kbit_prepare")
    usual = case.text("method").lower() == Method.QLORA and framework.kbit_preparation[-1]
    return usual if stated is None else stated


def _optimizer(case: Case, knobs: Knobs, framework: Framework) -> None:
    optimizer = case.choice(words.OPTIMIZERS, "optimizer")
    states = case.text("optimizer_state_dtype").lower()
    if case.text("regime").lower() == "8bit-states" or states in ("int8", "8bit", "fp8"):
        paged = optimizer is Optimizer.PAGED_ADAMW_8BIT
        optimizer = Optimizer.PAGED_ADAMW_8BIT if paged else Optimizer.ADAMW_8BIT
    elif states == "fp32" and optimizer in (None, Optimizer.ADAMW):
        optimizer = Optimizer.ADAMW_FP32
    knobs.take("optimizer", optimizer, *framework.optimizers, expected=framework.optimizers[-1])
    knobs.stated("optimizer_in_backward", bool(case.yes("optimizer_in_backward")))


def _attention_and_checkpointing(case: Case, knobs: Knobs, framework: Framework, method: Method) -> None:
    knobs.take("attention", case.choice(words.ATTENTIONS, "attention"), *framework.attention)
    possible, usual = framework.checkpointing_for(method)
    stated = case.choice(words.CHECKPOINTING, "activation_checkpointing")
    knobs.take("activation_checkpointing", stated, *possible, expected=usual)
    offload = case.choice(words.OFFLOADS, "offload") or Offload.NONE
    if case.text("activation_checkpointing").lower() in ("unsloth", "offload") and offload is Offload.NONE:
        offload = Offload.ACTIVATIONS
    knobs.stated("offload", offload)


def _loss(case: Case, knobs: Knobs, framework: Framework) -> None:
    chunked = case.yes("fused_or_chunked_ce")
    stated = None if chunked is None else (Loss.CHUNKED if chunked else Loss.PLAIN)
    knobs.take("fused_or_chunked_ce", stated, *framework.loss)


def _parallel(
    case: Case, knobs: Knobs, framework: Framework, architecture: Architecture, gpus: int, usable: int | None
) -> None:
    adapters = _adapters(case, case.method())
    half = usable / 2 if usable else _HALF_A_CARD
    note = case.text("parallel_note").lower()
    text = case.text("parallel_norm", "parallel")
    if note.startswith("layer split"):
        text = "layer-split"
    if not text and "not kept" in note:
        raise InputError("case.not_expressed", key="parallel", value=note[:60])
    shard_grad = "shard_grad_op" in note
    if not text and gpus > 1 and not shard_grad:
        megatron = framework.shardings == (Sharding.ZERO1,)  # has no other sharding of its own
        if not adapters and (gpus >= _MANY_GPUS or megatron):
            knobs.assume("parallel", usual_parallel(architecture, gpus, half, case.count("global_batch")))
            return
        whole = Parallel(data=gpus, sharding=Sharding.NONE)
        split = Parallel(data=gpus, sharding=Sharding.FSDP2, shard_degree=gpus)
        if framework.full_regimes == (Regime.FP32_MASTER,) and "deepspeed" in case.text("framework").lower():
            split = Parallel(data=gpus, sharding=Sharding.ZERO3, shard_degree=gpus)
            whole = Parallel(data=gpus, sharding=Sharding.ZERO2, shard_degree=gpus)
        alone = adapters and 2 * architecture.parameters_total <= _HALF_A_CARD
        knobs.assume("parallel", split, whole, expected=whole if alone else split)
        return
    found = parse_parallel(text, gpus)
    if shard_grad:
        found = Parallel(data=gpus, sharding=Sharding.FSDP2, shard_degree=gpus, reshard=False)
    if case.yes("reshard_after_forward") is False and found.sharding is Sharding.FSDP2:
        found = replace(found, reshard=False)
    if found.sharding is None:  # degrees without a word on what the ranks share out
        ranks = found.data * found.context
        kinds = framework.shardings if not adapters else (Sharding.NONE,)
        possible = [replace(found, sharding=k, shard_degree=1 if k is Sharding.NONE else ranks) for k in kinds]
        held = 6 * architecture.parameters_total / (found.tensor * found.pipeline)
        knobs.assume("parallel", *possible, expected=possible[-1 if held <= half else 0])
        return
    knobs.stated("parallel", found)


def usual_parallel(
    architecture: Architecture, gpus: int, half: float = _HALF_A_CARD, batch: int | None = None
) -> Parallel:
    """A layout as large runs use it where nothing is stated: a distributed optimizer, and the least tensor and
    pipeline parallelism that leaves half of a card, `half` bytes, for activations.

    bytes = 6 x weights / (tp x pp) + 12 x weights / gpus: 16-bit weights, 32-bit gradients, sharded fp32 states
    (arXiv:2104.04473, arXiv:1910.02054). Routed experts spread over up to 64 ranks first (arXiv:2412.19437). A `batch`
    of that many rows has no work for more replicas than rows.
    """
    routed = sum(x.elements for x in layer_linears(architecture) if x.kind == "expert")
    stages = [p for p in range(1, _DEEPEST_PIPELINE + 1) if architecture.layers % p == 0 or p & (p - 1) == 0]
    degrees = [(t, p) for p in stages for t in (1, 2, 4, 8) if gpus % (t * p) == 0]
    degrees = [d for d in degrees if batch is None or gpus <= batch * d[0] * d[1]] or degrees
    # dense models cut matrices inside a node before layers; mixtures the other way, as their matrices are small
    degrees.sort(key=lambda d: (d[0] * d[1], d[0] if routed else -d[0]))

    def held(degree: tuple[int, int], expert: int) -> float:
        here = (architecture.parameters_total - routed + routed / expert) / (degree[0] * degree[1])
        return 6 * here + 12 * architecture.parameters_total / gpus

    def expert_ranks(degree: tuple[int, int]) -> int:
        ranks = gpus // (degree[0] * degree[1])
        return max(e for e in (1, 2, 4, 8, 16, 32, 64) if ranks % e == 0 and e <= max(architecture.experts, 1))

    fitting = (d for d in degrees if held(d, expert_ranks(d)) <= half)
    best = next(fitting, None) or min(degrees, key=lambda d: held(d, expert_ranks(d)))
    ranks = gpus // (best[0] * best[1])
    kind = Sharding.NONE if ranks == 1 else Sharding.ZERO1
    return Parallel(ranks, *best, 1, expert_ranks(best), kind, ranks)


def _batch(case: Case, knobs: Knobs, method: Method, gpus: int) -> None:
    micro, accumulation, whole = case.count("micro_batch"), case.count("grad_accum"), case.count("global_batch")
    ranks = knobs.known("parallel").data
    if micro is None and whole is not None:
        share = max(1, whole // (ranks * (accumulation or 1)))
        if accumulation is not None:
            micro = share
        else:
            knobs.assume("micro_batch", *sorted({1, min(2, share), share}), expected=min(2, share))
    if micro is not None or whole is None:
        knobs.take("micro_batch", micro, *_USUAL_MICRO_BATCHES, expected=_USUAL_MICRO_BATCHES[0])
    size = knobs.known("micro_batch")
    stages = knobs.known("parallel").pipeline
    # a pipeline cuts a batch into micro-batches besides what a program calls accumulation
    cut = stages > 1 and whole is not None and whole > ranks * size * (accumulation or 1)
    if whole is not None and (accumulation is None or cut):
        accumulation = max(1, round(whole / (ranks * size)))
    usual = 1 if stages == 1 else _MICRO_BATCHES_A_STAGE * stages
    if large_pretraining(method, gpus):
        usual = max(usual, round(_USUAL_STEP_TOKENS / (ranks * size * knobs.known("seq_len"))))
    knobs.take("grad_accum", accumulation, usual)


def _lora(case: Case, knobs: Knobs, framework: Framework, method: Method) -> None:
    knobs.take("lora_rank", case.count("lora_rank"), *_USUAL_RANKS, expected=_USUAL_RANKS[1])
    targets = case.text("lora_targets_norm", "lora_targets").lower()
    if targets == "list" or (targets and targets not in words.TARGETS):
        raise InputError("case.not_expressed", key="lora_targets", value=case.text("lora_targets")[:60])
    knobs.take("lora_targets", words.TARGETS.get(targets), "q,v", "all-linear", expected="all-linear")
    dtype = case.text("lora_dtype").lower() or None
    if dtype not in (None, "fp32", "bf16", "fp16"):
        raise InputError("case.not_expressed", key="lora_dtype", value=str(dtype)[:60])
    dtypes = framework.adapter_dtypes
    knobs.take("lora_dtype", "bf16" if dtype == "fp16" else dtype, *dtypes, expected=dtypes[-1])
    dropout = case.number("lora_dropout") or 0.0
    knobs.stated("lora_dropout", dropout)
    quantization = case.choice(words.QUANTIZATIONS, "weight_quant", "quant")
    if quantization == "nf4" and case.yes("double_quant"):
        quantization = "nf4-dq"
    if method is Method.QLORA and quantization in (None, "none"):
        double = case.yes("double_quant")
        one = None if double is None else ("nf4-dq" if double else "nf4")
        knobs.take("weight_quant", one, *framework.qlora_formats)
    else:
        knobs.stated("weight_quant", quantization or "none")
    if str(knobs.known("weight_quant")).startswith(("nf4", "fp4", "int8")):
        prepared = framework.kbit_preparation
        knobs.take("kbit_prepare", case.yes("kbit_prepare"), *prepared, expected=prepared[-1])
    else:
        knobs.stated("kbit_prepare", False)


def make_training(case: Case, chosen: dict[str, Any], method: Method) -> tuple[Job, Layout]:
    """Job and layout of one choice of all settings."""
    lora = None
    if "lora_rank" in chosen:
        lora = Lora(
            rank=chosen["lora_rank"],
            targets=chosen["lora_targets"],
            adapter_dtype=chosen["lora_dtype"],
            dropout=chosen["lora_dropout"],
        )
    parallel: Parallel = chosen["parallel"]
    regime: Regime = chosen["regime"]
    job = Job(
        method=method,
        sequence_length=chosen["seq_len"],
        lora=lora,
        weight_quantization=chosen.get("weight_quant", "none"),
        kbit_preparation=bool(chosen.get("kbit_prepare", False)),
        experts_implementation=chosen["experts"],
        reference_model=method in _WITH_REFERENCE and lora is None,
        sequences_per_sample=2 if method in _PAIRS else 1,
        virtual_tokens=_VIRTUAL_TOKENS if method is Method.PROMPT else 0,
        trained_layers_fraction=_FREEZE_FRACTION if method is Method.FREEZE else 1.0,
        framework=case.text("framework") or "hf-transformers",
        framework_version=case.text("framework_version"),
    )
    layout = Layout(
        data_parallel=parallel.data,
        tensor_parallel=parallel.tensor,
        pipeline_parallel=parallel.pipeline,
        context_parallel=parallel.context,
        expert_parallel=parallel.expert,
        shard_degree=parallel.shard_degree,
        sharding=parallel.sharding or Sharding.NONE,
        reshard_after_forward=parallel.reshard,
        layer_split=parallel.layer_split,
        virtual_stages=parallel.virtual,
        micro_batch_size=chosen["micro_batch"],
        gradient_accumulation_steps=chosen["grad_accum"],
        recomputation=chosen["activation_checkpointing"],
        attention=chosen["attention"],
        loss=chosen["fused_or_chunked_ce"],
        regime=regime,
        optimizer=chosen["optimizer"],
        optimizer_in_backward=chosen["optimizer_in_backward"],
        offload=chosen["offload"],
        compile=bool(case.yes("torch_compile")),
    )
    return job, layout
