"""torchtitan for layouts that split the matrices, the layers or the sequence; and the engines that serve."""

from __future__ import annotations

from engine.hardware.model import Cluster
from engine.launch.result import Recipe
from engine.launch.wanted import Wanted
from engine.layout.model import InferenceJob, Layout, Method, Recomputation, Sharding

__all__ = ["serving", "torchtitan"]

_TITAN = frozenset({Method.PRETRAIN, Method.CONTINUED, Method.FULL})
#: Number formats by the names of vLLM's and SGLang's `--quantization`.
_FORMATS = {"fp8": "fp8", "awq4": "awq_marlin", "gptq4": "gptq_marlin", "int8": "bitsandbytes", "nf4": "bitsandbytes"}
#: Share of the card that the engine may use; the estimate counts its pools with the same share.
_SHARE = 0.9


def torchtitan(wanted: Wanted) -> Recipe | None:
    """torchtitan's options (its docs: job_config); None for what it does not do."""
    layout, job = wanted.layout, wanted.job
    if job.method not in _TITAN or job.lora is not None or layout.sharding not in (Sharding.FSDP2, Sharding.NONE):
        return None
    replicas = layout.data_parallel * layout.micro_batch_size * layout.gradient_accumulation_steps
    cluster = wanted.cluster
    modes = {Recomputation.NONE: "none", Recomputation.SELECTIVE: "selective", Recomputation.FULL: "full"}
    if layout.recomputation not in modes:
        return None
    shard = layout.data_parallel if layout.sharding is Sharding.FSDP2 else 1
    options = {
        "parallelism.data_parallel_shard_degree": shard,
        "parallelism.data_parallel_replicate_degree": layout.data_parallel // shard,
        "parallelism.tensor_parallel_degree": layout.tensor_parallel,
        "parallelism.pipeline_parallel_degree": layout.pipeline_parallel,
        "parallelism.context_parallel_degree": layout.context_parallel,
        "training.local_batch_size": layout.micro_batch_size,
        "training.global_batch_size": replicas,
        "training.seq_len": job.sequence_length,
        "activation_checkpoint.mode": modes[layout.recomputation],
    }
    start = f"torchrun --nproc_per_node={cluster.gpus_per_node} --nnodes={cluster.nodes}"
    if cluster.nodes > 1:
        start += " --rdzv_backend=c10d --rdzv_endpoint=$HEAD_NODE:29500"
    words = [f"--{key}={value}" for key, value in options.items()]
    command = " \\\n  ".join([f"{start} -m torchtitan.train", "--job.config_file=model.toml", *words])
    notes = ["launch.data", "launch.rates", "launch.model_file", *(["launch.nodes"] if cluster.nodes > 1 else [])]
    return Recipe(
        program="torchtitan",
        command=command,
        notes=tuple(notes),
        source="https://github.com/pytorch/torchtitan/blob/main/torchtitan/config/job_config.py",
    )


def serving(model: str, job: InferenceJob, layout: Layout, cluster: Cluster) -> Recipe:
    """The command of the engine that the task names."""
    length = job.prompt_tokens + job.output_tokens
    several = ("launch.nodes",) if cluster.nodes > 1 else ()
    if job.engine in ("llama.cpp", "ollama"):
        return _llama_cpp(model, job, length)
    quantization = _FORMATS.get(job.weight_quantization, "")
    if job.engine == "sglang":
        words = [
            f"python -m sglang.launch_server --model-path {model}",
            f"--tp-size {layout.tensor_parallel}",
            *_unless_one("--pp-size", layout.pipeline_parallel),
            *_unless_one("--dp-size", layout.data_parallel),
            f"--context-length {length}",
            f"--max-running-requests {job.concurrent_sequences}",
            f"--mem-fraction-static {_SHARE}",
            *([f"--quantization {quantization}"] if quantization else []),
            *(["--kv-cache-dtype fp8_e5m2"] if job.kv_cache_bits == 8 else []),
        ]
        return Recipe(
            program="SGLang",
            command=" \\\n  ".join(words),
            notes=("launch.served", *several),
            source="https://docs.sglang.ai/advanced_features/server_arguments.html",
        )
    words = [
        f"vllm serve {model}",
        f"--tensor-parallel-size {layout.tensor_parallel}",
        *_unless_one("--pipeline-parallel-size", layout.pipeline_parallel),
        *_unless_one("--data-parallel-size", layout.data_parallel),
        f"--max-model-len {length}",
        f"--max-num-seqs {-(-job.concurrent_sequences // layout.data_parallel)}",
        f"--gpu-memory-utilization {_SHARE}",
        *([f"--quantization {quantization}"] if quantization else []),
        *(["--kv-cache-dtype fp8"] if job.kv_cache_bits == 8 else []),
    ]
    return Recipe(
        program="vLLM",
        command=" \\\n  ".join(words),
        notes=("launch.served", *(["launch.other_engine"] if job.engine not in ("vllm",) else []), *several),
        source="https://docs.vllm.ai/en/latest/configuration/engine_args.html",
    )


def _unless_one(option: str, value: int) -> list[str]:
    return [f"{option} {value}"] if value > 1 else []


def _llama_cpp(model: str, job: InferenceJob, length: int) -> Recipe:
    name = f"{model.rsplit('/', 1)[-1]}-{job.weight_quantization.upper()}.gguf"
    words = [
        f"llama-server --model {name}",
        f"--ctx-size {length * job.concurrent_sequences}",  # shared out among the slots
        f"--parallel {job.concurrent_sequences}",
        "--n-gpu-layers 999",
        *([f"--cache-type-k q{job.kv_cache_bits}_0 --cache-type-v q{job.kv_cache_bits}_0"]
          if job.kv_cache_bits < 16 else []),
    ]  # fmt: skip
    return Recipe(
        program="llama.cpp",
        command=" \\\n  ".join(words),
        notes=("launch.served", "launch.gguf"),
        source="https://github.com/ggml-org/llama.cpp/tree/master/tools/server",
    )
