"""What the wizard offers to choose from, in plain words. Values are those of the scenario."""

from __future__ import annotations

from dataclasses import dataclass

from engine.layout.model import Method
from engine.messages.mark import N_
from gui.draft import TaskDraft
from gui.widgets.words import Text

__all__ = ["GOALS", "Goal", "goal_of"]


@dataclass(frozen=True)
class Goal:
    """Something that a person wants to do, and how it is usually done."""

    key: str
    title: str
    text: str
    method: Method  # the usual one
    methods: tuple[Method, ...] = ()  # those that one can choose between
    outputs_only: bool = False


GOALS: tuple[Goal, ...] = (
    Goal(
        "finetune",
        N_("Teach a model my task or style"),
        N_("Fine-tuning on examples: questions and answers, documents, code. Hundreds to a million examples."),
        Method.LORA,
        (Method.LORA, Method.QLORA, Method.FULL, Method.FREEZE, Method.PROMPT),
    ),
    Goal(
        "continue",
        N_("Teach a model a new field or language"),
        N_("Continued pre-training on a large body of plain text, usually billions of tokens."),
        Method.CONTINUED,
    ),
    Goal(
        "prefer",
        N_("Make answers follow preferences"),
        N_("Alignment on pairs of a better and a worse answer (DPO), after fine-tuning."),
        Method.DPO,
        (Method.DPO,),
    ),
    Goal(
        "pretrain",
        N_("Train a model from scratch"),
        N_("Pre-training with random weights at the start. Needs the most data, time and money by far."),
        Method.PRETRAIN,
    ),
    Goal(
        "serve",
        N_("Run a model for users"),
        N_("Serving: people or programs send requests, and the answers should come fast enough."),
        Method.INFERENCE,
    ),
    Goal(
        "outputs",
        N_("I only need outputs"),
        N_("Answers, labels or summaries of a model that exists. An API may well be cheaper; this compares both."),
        Method.INFERENCE,
        outputs_only=True,
    ),
)


def goal_of(task: TaskDraft) -> Goal | None:
    """The goal that a task's method belongs to; None while nothing is chosen."""
    if not task.method:
        return None
    for goal in GOALS:
        if task.method in (goal.method, *goal.methods) and (
            not task.is_inference or goal.outputs_only == task.outputs_only
        ):
            return goal
    return GOALS[0]


METHODS: tuple[tuple[str, Text], ...] = (
    ("lora", N_("LoRA: trains small adapters, the model itself stays as it is (the usual choice)")),
    ("qlora", N_("QLoRA: the same on a model squeezed to 4 bits (least GPU memory, somewhat slower)")),
    ("full", N_("Full fine-tuning: trains all weights (most GPU memory, for large changes)")),
    ("freeze", N_("Trains only the last layers")),
    ("prompt", N_("Prompt tuning: trains a few virtual tokens (cheapest, weakest)")),
)

PREFERENCE_METHODS: tuple[tuple[str, Text], ...] = (("dpo", N_("DPO: direct preference optimization")),)

ADVISOR: Text = N_("Let the advisor choose")

REGIMES: tuple[tuple[str | None, Text], ...] = (
    (None, ADVISOR),
    ("bf16-amp", N_("Mixed precision: 32-bit weights, 16-bit arithmetic (safest)")),
    ("fp32-master", N_("16-bit weights with a 32-bit master copy")),
    ("pure-bf16", N_("Everything in 16 bits (least memory, may train worse)")),
    ("fp16-amp", N_("Mixed precision in FP16 (older cards)")),
    ("fp32", N_("Everything in 32 bits")),
)

#: The question of the number format for someone who never asked it: where to look, and what to choose if in doubt.
KEPT_IN_32_BITS: tuple[tuple[str | None, Text], ...] = (
    (None, N_("I don't know: reckon with the larger, safe one")),
    ("bf16-amp", N_("Weights and optimizer in 32 bits: the recipe says “mixed precision” or bf16=True")),
    ("fp32-master", N_("16-bit weights beside a 32-bit copy: the recipe says “master weights” (Megatron, DeepSpeed)")),
    ("pure-bf16", N_("Nothing: the model is loaded in 16 bits and stays so (torch_dtype=bfloat16)")),
)

OPTIMIZERS: tuple[tuple[str | None, Text], ...] = (
    (None, ADVISOR),
    ("adamw", N_("AdamW (standard)")),
    ("adamw_8bit", N_("AdamW with 8-bit states (saves memory)")),
    ("paged_adamw_8bit", N_("AdamW 8-bit, paged to host memory when needed")),
    ("adafactor", N_("Adafactor (small states)")),
    ("sgd", N_("SGD (no states)")),
    ("lion", N_("Lion (one state)")),
    ("muon", N_("Muon")),
)

RECOMPUTATIONS: tuple[tuple[str | None, Text], ...] = (
    (None, ADVISOR),
    ("none", N_("No: fastest, needs the most memory")),
    ("selective", N_("In part")),
    ("full", N_("Yes: about a third slower, needs far less memory")),
)

LOSSES: tuple[tuple[str | None, Text], ...] = (
    (None, ADVISOR),
    ("plain", N_("At once, as frameworks do by default")),
    ("chunked", N_("In pieces (saves memory with large vocabularies)")),
)

OFFLOADS: tuple[tuple[str | None, Text], ...] = (
    (None, N_("Only if nothing else fits")),
    ("none", N_("Never")),
    ("optimizer", N_("Optimizer states to host memory")),
    ("optimizer+parameters", N_("Optimizer states and weights to host memory")),
)

ATTENTIONS: tuple[tuple[str | None, Text], ...] = (
    (None, ADVISOR),
    ("flash", N_("FlashAttention")),
    ("sdpa", N_("PyTorch's own (SDPA)")),
    ("eager", N_("Plain (eager): memory grows with the square of the length")),
)

LORA_TARGETS: tuple[tuple[str, Text], ...] = (
    ("all-linear", N_("All linear layers (usual)")),
    ("attention", N_("Attention only")),
    ("q,k,v,o", N_("Attention: Q, K, V and O")),
    ("q,v", N_("Attention: Q and V only")),
    ("mlp", N_("Feed-forward layers only")),
)

BASE_FORMATS: tuple[tuple[str | None, Text], ...] = (
    (None, ADVISOR),
    ("nf4-dq", N_("4-bit NF4, double quantization")),
    ("nf4", N_("4-bit NF4")),
    ("fp4", N_("4-bit FP4")),
    ("int8", N_("8-bit")),
)

FRAMEWORKS: tuple[tuple[str, Text], ...] = (
    ("hf-transformers", "Hugging Face Transformers"),
    ("trl", "TRL"),
    ("accelerate", "Accelerate FSDP"),
    ("deepspeed", "DeepSpeed"),
    ("torchtune", "torchtune"),
    ("axolotl", "Axolotl"),
    ("unsloth", "Unsloth"),
    ("llama-factory", "LLaMA-Factory"),
    ("ms-swift", "ms-swift"),
    ("torchtitan", "torchtitan"),
    ("megatron", "Megatron-LM"),
    ("nemo", "NeMo"),
    ("verl", "verl"),
    ("openrlhf", "OpenRLHF"),
)

SERVING_FORMATS: tuple[tuple[str | None, Text], ...] = (
    (None, ADVISOR),
    ("none", N_("16 bits (as published)")),
    ("fp8", N_("8 bits (FP8)")),
    ("int8", N_("8 bits (INT8)")),
    ("awq4", N_("4 bits (AWQ)")),
    ("gptq4", N_("4 bits (GPTQ)")),
    ("q4_k_m", N_("4 bits (GGUF Q4_K_M)")),
    ("q8_0", N_("8 bits (GGUF Q8_0)")),
)

ENGINES: tuple[tuple[str, Text], ...] = (
    ("vllm", "vLLM"),
    ("sglang", "SGLang"),
    ("tensorrt-llm", "TensorRT-LLM"),
    ("llama.cpp", "llama.cpp"),
    ("ollama", "Ollama"),
    ("hf-transformers", "Hugging Face Transformers"),
)

KV_BITS: tuple[tuple[int, Text], ...] = ((16, N_("16 bits (usual)")), (8, N_("8 bits")), (4, N_("4 bits")))

WAYS: tuple[tuple[str, Text], ...] = (
    ("buy", N_("Buy")),
    ("rent", N_("Rent by the hour or month")),
    ("shared", N_("Shared or campus cluster")),
    ("owned", N_("Use cards that we have")),
)

REGIONS: tuple[tuple[str, Text], ...] = (
    ("", N_("Anywhere")),
    ("CN", N_("Mainland China")),
    ("US", N_("United States")),
    ("EU", N_("European Union")),
    ("UK", N_("United Kingdom")),
    ("other", N_("Elsewhere")),
)
