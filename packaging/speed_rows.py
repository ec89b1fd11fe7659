"""Rows of measured speeds as inputs of the speed formulas, for calibration. Rows that state too little are left out."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from engine.architecture.model import Architecture
from engine.hardware.model import CatalogSnapshot, Cluster
from engine.layout.model import Job, Layout, Lora
from engine.speed.calibration import stack_of
from engine.speed.hardware import Precision, cluster_for
from engine.validation.estimate import likely_system

#: Source of benchmark submissions: their log files state no layout. Those that hold a replica on each card are used, as
#: plain data parallelism with a distributed optimizer and FP8 linear layers, which is what the submitted code does.
MLPERF = "mlperf-5.1"
REGIMES = ("pure-bf16", "fp32-master", "fp16-amp", "bf16-amp", "fp32")


@dataclass(frozen=True)
class MeasuredRow:
    """One measured training speed with everything that the formulas need."""

    id: str
    group: str
    family: str
    method: str
    framework: str
    precision: Precision
    architecture: Architecture
    job: Job
    layout: Layout
    cluster: Cluster
    tokens_per_second_per_gpu: float
    confidence: str
    links_stated: bool  # False: several nodes with links that are assumed


def measured_rows(path: Path, aliases: Path, catalog: CatalogSnapshot, split: str) -> Iterator[MeasuredRow | str]:
    """Rows of one split that state a speed; a text says why a row can't be used."""
    shapes = _shapes(aliases)
    with path.open(encoding="utf-8", newline="") as stream:
        for row in csv.DictReader(stream):
            if row["split"] != split or row["method"] == "inference" or not _has_speed(row):
                continue
            try:
                yield _resolve(row, shapes, catalog)
            except LookupError as error:
                yield f"{row['id']} {row['source_group']}: {error}"


def _has_speed(row: dict[str, str]) -> bool:
    """A step time tells a speed only where rows are full: padded data has fewer tokens than the stated length."""
    full = "not packed" not in row["packing_or_avg_len"] and "padded" not in row["packing_or_avg_len"]
    full = full or "no padding" in row["packing_or_avg_len"]
    return bool(row["tokens_per_s_per_gpu"]) or (row["step_time_kind"] in ("optimizer", "micro") and full)


def _shapes(path: Path) -> dict[str, dict[str, Any]]:
    with path.open(encoding="utf-8", newline="") as stream:
        return {r["name"]: json.loads(r["shape"]) for r in csv.DictReader(stream) if r["shape"]}


def _need(row: dict[str, str], key: str) -> str:
    if not row[key]:
        raise LookupError(f"{key} not stated")
    return row[key]


def _architecture(row: dict[str, str], shapes: dict[str, dict[str, Any]], catalog: CatalogSnapshot) -> Architecture:
    if row["model_id"]:
        return catalog.model_by_id[row["model_id"]]
    shape = shapes.get(row["model"])
    if shape is None or "d_model" not in shape:
        raise LookupError("model not in the catalogue")
    total = round(float(_need(row, "params_b")) * 1e9)
    heads, width = shape["n_heads"], shape["d_model"]
    return Architecture(
        id=row["model"],
        name=row["model"],
        hidden_size=width,
        layers=shape["n_layers"],
        attention_heads=heads,
        kv_heads=shape.get("n_kv_heads", heads),
        head_dim=shape.get("head_dim", width // heads),
        intermediate_size=shape.get("d_ff", 4 * width),
        vocabulary_size=shape["vocab"],
        tied_embeddings=shape.get("tied", False),
        mlp=shape.get("mlp", "swiglu"),
        parameters_total=total,
        parameters_active=total,
    )


def _precision(row: dict[str, str], has_fp8: bool) -> Precision:
    # submissions to this benchmark run their linear layers in FP8 where the card has it (rules and submitted code)
    if row["source_group"] == MLPERF:
        return "fp4" if row["precision"] == "fp4" else "fp8" if has_fp8 else "bf16"
    match row["precision"]:
        case "fp8" | "fp4" | "fp16" | "fp32":
            return row["precision"]
        case _:
            return "fp16" if row["regime"] == "fp16-amp" else "bf16"


def _fill_submission(row: dict[str, str], gpus: int) -> dict[str, str]:
    """A submission's row with the layout that is assumed for it."""
    steps = int(row["grad_accum"] or 1)
    micro = float(row["global_batch"]) / gpus / steps
    if micro < 1 or micro != int(micro):
        raise LookupError("a replica is spread over several cards, layout not stated")
    stated = {"micro_batch": str(int(micro)), "activation_checkpointing": "none", "parallel_norm": f"dp={gpus},zero=1"}
    return row | stated | {"framework": "mlperf " + row["framework"], "regime": "fp32-master"}


def _parallel(row: dict[str, str]) -> dict[str, str]:
    if not row["parallel_norm"] and row["n_gpus"] != "1":
        raise LookupError("layout not stated")
    return dict(re.findall(r"(\w+)=(\w+)", row["parallel_norm"]))


def _layout(row: dict[str, str], gpus: int, pairs: dict[str, str]) -> Layout:
    get = {k: int(pairs.get(k, 1)) for k in ("tp", "pp", "cp", "ep", "dp")}
    data = gpus // (get["tp"] * get["pp"] * get["cp"])
    sharding = {"1": "zero1", "2": "zero2", "3": "zero3"}.get(pairs.get("zero", ""), "none")
    shard = data * get["cp"]
    if "fsdp" in pairs:
        sharding = "fsdp2"
        shard = shard if pairs["fsdp"] == "full" else int(pairs["fsdp"])
    micro = int(float(_need(row, "micro_batch")))
    batch = float(row["global_batch"] or 0)
    steps = int(row["grad_accum"] or 0) or max(1, round(batch / (data * micro)))
    checkpointing = row["activation_checkpointing"]
    if not checkpointing:
        raise LookupError("activation_checkpointing not stated")
    recomputation = {"unsloth": "full", "offload": "full"}.get(checkpointing, checkpointing)
    regime = (
        row["regime"] if row["regime"] in ("pure-bf16", "fp32-master", "fp16-amp", "bf16-amp", "fp32") else "bf16-amp"
    )
    offload = row["offload"]
    return Layout(
        data_parallel=data,
        tensor_parallel=get["tp"],
        pipeline_parallel=get["pp"],
        context_parallel=get["cp"],
        expert_parallel=get["ep"],
        virtual_stages=int(pairs.get("vpp", 1)) if get["pp"] > 1 else 1,
        shard_degree=shard,
        micro_batch_size=micro,
        gradient_accumulation_steps=steps,
        sharding=sharding,
        recomputation=recomputation,
        attention=row["attention"] or "flash",
        loss="chunked" if row["fused_or_chunked_ce"] == "yes" else "plain",
        regime=regime,
        compile=row["torch_compile"] == "yes",
        offload="none"
        if offload in ("", "none")
        else "optimizer"
        if offload == "optimizer-cpu"
        else "optimizer+parameters",
    )


def _job(row: dict[str, str], sequence: int) -> Job:
    adapters = row["method"] in ("lora", "qlora")
    targets = row["lora_targets_norm"]
    quantization = row["weight_quant"] or "none"
    return Job(
        method="full" if row["method"] not in ("full", "pretrain", "lora", "qlora", "dpo") else row["method"],
        sequence_length=sequence,
        lora=Lora(
            rank=int(row["lora_rank"] or 16),
            targets=targets if targets in ("all-linear", "attention", "q,k,v,o", "q,v", "mlp") else "all-linear",
        )
        if adapters
        else None,
        # PEFT's usual preparation for quantised models keeps norms in 32 bits
        kbit_preparation=row["method"] == "qlora" and "hf-" in row["framework"],
        weight_quantization={"gptq8": "int8"}.get(quantization, quantization) if adapters else "none",
        framework=row["framework"],
    )


def _resolve(row: dict[str, str], shapes: dict[str, dict[str, Any]], catalog: CatalogSnapshot) -> MeasuredRow:
    gpu = catalog.gpu_by_id[_need(row, "gpu_id").split("|")[-1]]
    gpus = int(_need(row, "n_gpus"))
    if row["source_group"] == MLPERF:
        row = _fill_submission(row, gpus)
    architecture = _architecture(row, shapes, catalog)
    sequence = int(_need(row, "seq_len"))
    layout = _layout(row, gpus, _parallel(row))
    nodes = int(row["n_nodes"] or max(1, gpus // 8))
    per_node = max(1, gpus // nodes)
    systems = [s for s in catalog.systems_by_gpu.get(gpu.id, ()) if s.gpus == per_node]
    system = likely_system(systems, per_node, row["interconnect"].lower())
    cluster = cluster_for(gpu, system, gpus_per_node=per_node, nodes=nodes)
    speed = float(row["tokens_per_s_per_gpu"] or 0)
    if not speed:
        micro = layout.micro_batch_size * sequence * layout.data_parallel / gpus
        steps = layout.gradient_accumulation_steps if row["step_time_kind"] == "optimizer" else 1
        speed = micro * steps / float(row["step_time_s"])
    return MeasuredRow(
        id=row["id"],
        group=row["source_group"],
        family=row["source_family"],
        method=row["method"],
        framework=row["framework"],
        precision=_precision(row, bool(gpu.fp8_flops)),
        architecture=architecture,
        job=_job(row, sequence),
        layout=layout,
        cluster=cluster,
        tokens_per_second_per_gpu=speed,
        confidence=row["confidence"],
        links_stated=nodes == 1 or stack_of(row["framework"]) == "tuned",
    )
