"""Settings of an inference case, and the job and layout that they make."""

from __future__ import annotations

from typing import Any

from engine.architecture.model import Architecture
from engine.architecture.stored import own_format
from engine.layout.model import InferenceJob, Layout, Sharding
from engine.memory.kv_cache import STATE_BYTES, kv_elements
from engine.memory.quantized import FORMATS
from engine.validation import fields as words
from engine.validation.fields import Case, Parallel, parse_parallel
from engine.validation.knobs import Knobs

__all__ = ["inference_knobs", "make_inference", "serving_engine", "unknown_engine"]

#: Part of a framework's name -> the engine whose way of working it shares.
_ENGINES = (
    ("vllm", "vllm"), ("sglang", "sglang"), ("tensorrt", "tensorrt-llm"), ("ollama", "ollama"),
    ("llama.cpp", "llama.cpp"), ("llamafile", "llama.cpp"), ("kobold", "llama.cpp"), ("gguf", "llama.cpp"),
    ("lm studio", "llama.cpp"), ("lmdeploy", "vllm"),
)  # fmt: skip
#: Sequences at once on a replica under the highest load, where a benchmark does not say (low, expected, high): limits
#: that engines ship with, as far as their caches fit. vLLM max_num_seqs 256 to 1024; TensorRT-LLM max_batch_size 2048.
_BUSY = (64, 512, 2048)
_BUSY_TENSORRT = (256, 2048, 2048)
_BATCHING = ("vllm", "sglang", "tensorrt-llm")
_USUAL_PROMPT, _USUAL_OUTPUT = 1024, 512


def serving_engine(framework: str) -> str:
    """The engine that a framework's name stands for; plain Transformers where it is none of them."""
    name = framework.lower()
    return next((engine for part, engine in _ENGINES if part in name), "hf-transformers")


def unknown_engine(framework: str) -> bool:
    """Whether the program is timed as plain Transformers only because nothing else is known about it."""
    name = framework.lower()
    return bool(name) and not any(part in name for part, _ in (*_ENGINES, ("transformers", ""), ("hf-", "")))


def inference_knobs(case: Case, knobs: Knobs, architecture: Architecture, gpus: int, usable: int | None) -> None:
    """Read all settings of an inference case into `knobs`."""
    engine = serving_engine(case.text("framework"))
    if not case.text("framework"):
        knobs.assume("framework", "vllm")
        engine = "vllm"
    knobs.stated("engine", engine)
    _formats(case, knobs, architecture)
    _lengths(case, knobs)
    note = case.text("parallel_note").lower()
    text = case.text("parallel_norm", "parallel")
    if note.startswith("layer split") or (not text and gpus > 1 and engine in ("llama.cpp", "ollama")):
        text = "layer-split"
    if text or gpus == 1:
        knobs.stated("parallel", parse_parallel(text, gpus))
    else:
        knobs.assume("parallel", Parallel(tensor=gpus))
    sequences = case.count("concurrency") or case.count("micro_batch")
    if sequences is None and engine in _BATCHING and case.text("framework"):
        room = _sequences_that_fit(knobs, architecture, gpus, usable)
        limits = _BUSY_TENSORRT if engine == "tensorrt-llm" else _BUSY
        replicas = knobs.known("parallel").data
        least, busy, most = (max(1, min(n * replicas, room)) for n in limits)
        knobs.assume("concurrency", least, busy, most, expected=busy)
    else:
        knobs.take("concurrency", sequences, 1)


def _sequences_that_fit(knobs: Knobs, architecture: Architecture, gpus: int, usable: int | None) -> int:
    """Sequences whose caches find room beside the weights on all cards together, at 90 % of their memory."""
    if usable is None:
        return _BUSY[-1]
    weights = architecture.parameters_total * FORMATS[knobs.known("weight_quant")].bits / 8
    length = knobs.known("prompt_tokens") + knobs.known("output_tokens")
    elements, states = kv_elements(architecture, length)
    each = float(elements) * knobs.known("kv_quant") / 8 + float(states) * STATE_BYTES
    return int((0.9 * usable * gpus - weights) / each) if each else _BUSY[-1]


def _formats(case: Case, knobs: Knobs, architecture: Architecture) -> None:
    quantization = case.choice(words.QUANTIZATIONS, "weight_quant", "quant")
    precision = case.text("precision").lower()
    if quantization is None and precision in ("fp8", "int8", "int4", "mxfp4"):
        quantization = precision
    if quantization is None and precision == "fp4":
        quantization = "fp4"
    if quantization is None and precision in ("bf16", "fp16", "fp32"):
        quantization = "none"
    native = {"fp8": "fp8", "mxfp4": "mxfp4", "int4": "int4"}.get(architecture.native_dtype, "none")
    published = own_format(architecture) or native
    knobs.take("weight_quant", quantization, published)
    bits = case.choice({"": 16, "none": 16, "bf16": 16, "fp16": 16, "int8": 8, "fp8": 8, "int4": 4, "q4_0": 4,
                        "q8_0": 8}, "kv_quant")  # fmt: skip
    if bits is None and case.text("quant").lower() == "int8-kv":
        bits = 8
    # NVIDIA's 8-bit and 4-bit checkpoints and build commands for TensorRT-LLM keep the cache in FP8 (its benchmark
    # notes of release 0.5: --enable_fp8 --fp8_kv_cache; ModelOpt checkpoints since: kv_cache_quant_algo FP8)
    narrow = knobs.known("engine") == "tensorrt-llm" and knobs.known("weight_quant") in ("fp8", "fp4")
    knobs.take("kv_quant", bits, 8 if narrow else 16)


def _lengths(case: Case, knobs: Knobs) -> None:
    prompt, output = case.lengths()
    whole = case.count("seq_len")
    if prompt is not None and output is None and whole in (None, prompt):  # a prompt is read, nothing generated
        output = 0
    if whole is not None and prompt is None and output is None:
        output, prompt = whole, 0  # a sequence of that length is generated
    elif whole is not None and prompt is None and output is not None:
        prompt = max(whole - output, 0)
    elif whole is not None and output is None and prompt is not None:
        output = max(whole - prompt, 0)
    knobs.take("prompt_tokens", prompt, _USUAL_PROMPT)
    knobs.take("output_tokens", output, _USUAL_OUTPUT)


def make_inference(case: Case, chosen: dict[str, Any]) -> tuple[InferenceJob, Layout]:
    """Job and layout of one choice of all settings."""
    parallel: Parallel = chosen["parallel"]
    job = InferenceJob(
        weight_quantization=chosen["weight_quant"],
        kv_cache_bits=chosen["kv_quant"],
        concurrent_sequences=chosen["concurrency"],
        prompt_tokens=chosen["prompt_tokens"],
        output_tokens=chosen["output_tokens"],
        engine=chosen["engine"],
        engine_version=case.text("framework_version"),
    )
    layout = Layout(
        data_parallel=parallel.data,
        tensor_parallel=parallel.tensor,
        pipeline_parallel=parallel.pipeline,
        expert_parallel=parallel.expert,
        sharding=parallel.sharding or Sharding.NONE,
        shard_degree=parallel.shard_degree,
        layer_split=parallel.layer_split,
    )
    return job, layout
