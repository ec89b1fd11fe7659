"""Draws the fresh cases that the memory formulas are judged on, with a fixed seed. Not needed to run or build.

    python packaging/fresh_grid.py first > tests/reference/fresh_cases.jsonl
    python packaging/fresh_grid.py second > tests/reference/fresh_cases_second.jsonl
    python packaging/fresh_grid.py first --tracer > cases.jsonl  (then: measure.py --file cases.jsonl --csv raw.csv)
    python packaging/fresh_grid.py first --table raw.csv > tests/reference/data/fresh_traces.csv

The second grid has other settings, one case a model, and was drawn after what the first one showed had been mended.

Models come from the catalogue (`resources/models/models.csv`); none of them was traced before, and no factor of a
block was derived from any of them. Each line holds `case_id`, `expectation` (fitted, new or fallback), `id` of the
model in the catalogue and `case`, the settings as the tracer of training steps reads them.
"""

from __future__ import annotations

import csv
import json
import random
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

#: grid -> seed, prefix of its case ids, most cases of a model, cases of each sharded model
GRIDS = {"first": (20261201, "fr", 4, 3), "second": (20261202, "fs", 1, 1)}
MODELS = Path(__file__).resolve().parent.parent / "resources/models/models.csv"
LONG = 131072

#: Cases of the second grid that have no row. The tracer makes 4-bit layers of plain `nn.Linear` only; bitsandbytes
#: converts those of GPT-2 and Falcon too. A loop over 384 experts in 60 layers was given up after ten minutes.
WITHOUT_ROW = ("fs028", "fs033", "fs056")

Settings = dict[str, Any]


@dataclass(frozen=True)
class Fresh:
    """A model, the type of its transformers config, arguments beside the usual ones, and what may be drawn for it."""

    id: str
    type: str
    cases: int
    more: dict[str, Any] = field(default_factory=dict)
    drop: tuple[str, ...] = ()
    longest: int = 65536
    layer_norm: bool = False  # the tracer knows no autocast for these
    routed: bool = False
    split_query: bool = True  # projections of queries and values have the names that "qv" wants
    adapters: bool = True
    kernels: tuple[str, ...] = ("flash", "flash", "flash", "flash", "flash", "sdpa", "eager")


def _rope(part: float) -> dict[str, Any]:
    return {"rope_parameters": {"rope_type": "default", "rope_theta": 10000.0, "partial_rotary_factor": part}}


_NO_DROPOUT = {"resid_pdrop": 0.0, "embd_pdrop": 0.0, "attention_dropout": 0.0, "attn_pdrop": 0.0}
_NEOX: dict[str, Any] = {"drop": ("num_key_value_heads", "head_dim"), "layer_norm": True, "split_query": False}
_GPT2: dict[str, Any] = {"more": _NO_DROPOUT, "longest": 1024, "layer_norm": True, "split_query": False}

_NO_SDPA = ("flash", "flash", "flash", "flash", "eager")  # transformers refuses SDPA for soft-capped scores

#: Kinds of block whose factors were derived first; models of families and sizes that no trace had.
FITTED = (
    Fresh("01-ai/Yi-6B", "llama", 4), Fresh("01-ai/Yi-34B", "llama", 3),
    Fresh("HuggingFaceTB/SmolLM2-1.7B", "llama", 4),
    Fresh("tiiuae/Falcon3-7B-Base", "llama", 3), Fresh("mistralai/Mistral-Nemo-Instruct-2407", "mistral", 4),
    Fresh("meta-llama/Llama-3.2-3B", "llama", 4), Fresh("codellama/CodeLlama-34b-hf", "llama", 2),
    Fresh("deepseek-ai/deepseek-llm-7b-base", "llama", 3), Fresh("ibm-granite/granite-3.0-8b-instruct", "granite", 4),
    Fresh("HuggingFaceTB/SmolLM3-3B", "smollm3", 3), Fresh("Qwen/Qwen2.5-1.5B", "qwen2", 4),
    Fresh("Qwen/Qwen2.5-14B", "qwen2", 3), Fresh("Qwen/Qwen1.5-4B", "qwen2", 3), Fresh("Qwen/Qwen2.5-72B", "qwen2", 2),
    Fresh("Qwen/Qwen3-4B", "qwen3", 4), Fresh("Qwen/Qwen3-14B", "qwen3", 4), Fresh("Qwen/Qwen3-32B", "qwen3", 2),
    Fresh("google/gemma-2-9b", "gemma2", 4, {"sliding_window": 4096}, kernels=_NO_SDPA),
    Fresh("google/gemma-2-27b", "gemma2", 2, {"sliding_window": 4096}, kernels=_NO_SDPA),
    Fresh("google/gemma-3-4b-pt", "gemma3_text", 4, {"sliding_window": 1024}),
    Fresh("google/gemma-3-12b-pt", "gemma3_text", 3, {"sliding_window": 1024}),
    Fresh("microsoft/phi-4", "phi3", 4, {"sliding_window": None}, ("head_dim",), split_query=False),
    Fresh("microsoft/Phi-3-medium-4k-instruct", "phi3", 3, {"sliding_window": LONG}, ("head_dim",), split_query=False),
    Fresh("EleutherAI/pythia-410m", "gpt_neox", 4, **_NEOX), Fresh("EleutherAI/pythia-6.9b", "gpt_neox", 4, **_NEOX),
    Fresh("EleutherAI/gpt-neox-20b", "gpt_neox", 2, **_NEOX),
    Fresh("openai-community/gpt2-large", "gpt2", 3, **_GPT2), Fresh("openai-community/gpt2-xl", "gpt2", 3, **_GPT2),
    Fresh("mistralai/Mixtral-8x22B-v0.1", "mixtral", 4, routed=True),
    Fresh("Qwen/Qwen3-235B-A22B", "qwen3_moe", 4, routed=True), Fresh("openai/gpt-oss-120b", "gpt_oss", 4, routed=True),
    Fresh("deepseek-ai/DeepSeek-V2-Lite", "deepseek_v2", 3, routed=True, split_query=False),
    Fresh("moonshotai/Kimi-K2-Instruct", "deepseek_v3", 3, routed=True, split_query=False),
)  # fmt: skip

#: Kinds of block whose factors are derived from random shapes only.
NEW = (
    Fresh("allenai/OLMo-2-0425-1B", "olmo2", 4, drop=("head_dim",)),
    Fresh("allenai/OLMo-2-0325-32B", "olmo2", 3, drop=("head_dim",)),
    Fresh("zai-org/GLM-4-9B-0414", "glm4", 4, _rope(0.5), split_query=True),
    Fresh("google/gemma-7b", "gemma", 3), Fresh("CohereLabs/c4ai-command-r-v01", "cohere", 3, drop=("head_dim",)),
    Fresh("bigcode/starcoder2-7b", "starcoder2", 3, {"residual_dropout": 0.0, "embedding_dropout": 0.0,
          "sliding_window": 4096}, ("head_dim",), layer_norm=True),
    Fresh("microsoft/phi-2", "phi", 3, {**_rope(0.4), **_NO_DROPOUT}, ("head_dim",), layer_norm=True),
    Fresh("stabilityai/stablelm-2-1_6b", "stablelm", 3, {**_rope(0.25), "use_qkv_bias": True}, ("head_dim",),
          layer_norm=True),
    Fresh("facebook/opt-6.7b", "opt", 3, {"dropout": 0.0}, longest=2048, layer_norm=True, adapters=False),
    Fresh("nvidia/Nemotron-Mini-4B-Instruct", "nemotron", 3, _rope(0.5), layer_norm=True),
    Fresh("arcee-ai/AFM-4.5B-Base", "arcee", 3), Fresh("allenai/OLMo-7B-hf", "olmo", 2, drop=("head_dim",)),
    Fresh("allenai/OLMoE-1B-7B-0924", "olmoe", 3, drop=("head_dim",), routed=True),
    Fresh("Qwen/Qwen1.5-MoE-A2.7B", "qwen2_moe", 3, drop=("head_dim",), routed=True),
    Fresh("zai-org/GLM-4.5-Air", "glm4_moe", 3, {**_rope(0.5), "n_group": 1, "topk_group": 1}, routed=True),
)  # fmt: skip

#: Kinds that have no factors, or whose factors are hidden for the comparison: the nearest kind by structure is taken,
#: as for a model of a kind that nobody derived, and the interval says so.
FALLBACK = (
    Fresh("swiss-ai/Apertus-8B-2509", "apertus", 2), Fresh("LGAI-EXAONE/EXAONE-4.0-32B", "exaone4", 3,
          {"sliding_window": 4096, "sliding_window_pattern": 4}),
    Fresh("tencent/Hunyuan-7B-Instruct", "hunyuan_v1_dense", 3), Fresh("baidu/ERNIE-4.5-0.3B-PT", "ernie4_5", 2),
    Fresh("ibm-granite/granite-3.1-3b-a800m-base", "granitemoe", 2, drop=("head_dim",), routed=True),
    Fresh("baidu/ERNIE-4.5-21B-A3B-Thinking", "ernie4_5_moe", 2, routed=True),
    Fresh("MiniMaxAI/MiniMax-M2", "minimax_m2", 3, {"rotary_dim": 64}, routed=True),
    Fresh("tiiuae/falcon-40b", "falcon", 2, {"new_decoder_architecture": True, "hidden_dropout": 0.0,
          "attention_dropout": 0.0}, ("head_dim",), layer_norm=True, split_query=False, kernels=("sdpa",)),
    Fresh("EleutherAI/gpt-j-6b", "gptj", 2, _NO_DROPOUT, longest=2048, layer_norm=True, adapters=False,
          kernels=("eager",)),
    Fresh("LiquidAI/LFM2-1.2B", "lfm2", 2, drop=("head_dim",), adapters=False),
)  # fmt: skip

SHARDED = ("01-ai/Yi-34B", "Qwen/Qwen2.5-14B", "Qwen/Qwen3-32B", "meta-llama/Llama-3.2-3B", "google/gemma-2-9b",
           "mistralai/Mixtral-8x22B-v0.1", "Qwen/Qwen3-235B-A22B", "openai/gpt-oss-120b",
           "allenai/OLMo-2-0325-32B", "allenai/OLMoE-1B-7B-0924")  # fmt: skip

OPTIMIZERS = ("adamw", "adamw", "adamw", "adamw_foreach", "adamw_fp32", "adamw_8bit", "adamw_master", "sgd",
              "sgd_momentum", "adafactor", "lion", "muon")  # fmt: skip


def config(fresh: Fresh, row: dict[str, str]) -> dict[str, Any]:
    """Arguments of the transformers config, from the dimensions in the catalogue."""

    def size(name: str) -> int:
        return int(row[name] or 0)

    heads, experts = size("attention_heads"), size("experts")
    found: dict[str, Any] = {
        "model_type": fresh.type, "hidden_size": size("hidden_size"), "num_hidden_layers": size("layers"),
        "intermediate_size": size("intermediate_size"), "num_attention_heads": heads,
        "num_key_value_heads": size("kv_heads") or heads, "head_dim": size("head_dim"),
        "vocab_size": size("vocabulary_size"), "tie_word_embeddings": row["tied_embeddings"] == "true",
        "max_position_embeddings": LONG, "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2,
    }  # fmt: skip
    if experts:
        found |= _experts(fresh.type, experts, row)
    match fresh.type:
        case "gpt2":
            found |= {"n_embd": found["hidden_size"], "n_layer": found["num_hidden_layers"], "n_head": heads}
            found |= {"n_positions": 1024}
            for name in ("hidden_size", "num_hidden_layers", "num_attention_heads", "intermediate_size", "head_dim",
                         "num_key_value_heads", "max_position_embeddings"):  # fmt: skip
                found.pop(name)
        case "gptj":
            found |= {"n_embd": found["hidden_size"], "n_layer": found["num_hidden_layers"], "n_head": heads}
            found |= {"n_positions": 2048, "rotary_dim": 64}
            for name in ("hidden_size", "num_hidden_layers", "num_attention_heads", "intermediate_size", "head_dim",
                         "num_key_value_heads", "max_position_embeddings"):  # fmt: skip
                found.pop(name)
        case "opt":
            found |= {"ffn_dim": found.pop("intermediate_size"), "word_embed_proj_dim": found["hidden_size"]}
            found |= {"max_position_embeddings": 2048}
            for name in ("num_key_value_heads", "head_dim"):
                found.pop(name)
        case "falcon":
            found |= {"num_kv_heads": found.pop("num_key_value_heads"), "ffn_hidden_size": found["intermediate_size"]}
        case "lfm2":
            full = (2, 5, 8, 10, 12, 14)  # its published layers of attention
            kinds = ["full_attention" if i in full else "conv" for i in range(found["num_hidden_layers"])]
            found |= {"layer_types": kinds, "block_auto_adjust_ff_dim": False, "conv_L_cache": 3}
        case _:
            pass
    if row["attention_bias"] != "none" and fresh.type in ("glm4", "glm4_moe", "gpt_oss"):
        found["attention_bias"] = True
    if fresh.type == "glm4_moe":
        found["use_qk_norm"] = row["qk_norm"] == "head"
    return {k: v for k, v in {**found, **fresh.more}.items() if k not in fresh.drop}


def _experts(kind: str, experts: int, row: dict[str, str]) -> dict[str, Any]:
    width, used, shared = (int(row[n] or 0) for n in ("moe_intermediate_size", "experts_per_token", "shared_experts"))
    dense, latent = int(row["first_dense_layers"] or 0), int(row["mla_kv_lora_rank"] or 0)
    found: dict[str, Any] = {"num_experts_per_tok": used}
    match kind:
        case "mixtral" | "gpt_oss" | "granitemoe" | "minimax_m2":
            return found | {"num_local_experts": experts, "intermediate_size": width}
        case "olmoe":
            return found | {"num_experts": experts, "intermediate_size": width}
        case "ernie4_5_moe":
            names = {"moe_num_experts": experts, "moe_k": used, "moe_num_shared_experts": shared}
            return names | {"moe_intermediate_size": width, "moe_layer_start_index": dense}
        case "qwen2_moe":
            return found | {"num_experts": experts, "moe_intermediate_size": width,
                            "shared_expert_intermediate_size": 5632}  # fmt: skip
        case "qwen3_moe":
            return found | {"num_experts": experts, "moe_intermediate_size": width}
        case _:
            found |= {"n_routed_experts": experts, "moe_intermediate_size": width, "n_shared_experts": shared}
            found |= {"first_k_dense_replace": dense, "n_group": 1, "topk_group": 1}
            if latent:
                rope, head = int(row["mla_qk_rope_head_dim"]), int(row["head_dim"])
                found |= {"kv_lora_rank": latent, "q_lora_rank": int(row["mla_q_lora_rank"] or 0) or None,
                          "qk_rope_head_dim": rope, "qk_nope_head_dim": head - rope, "head_dim": rope,
                          "v_head_dim": int(row["mla_v_head_dim"])}  # fmt: skip
            return found


def _size(rng: random.Random, fresh: Fresh, attention: str, checkpointing: str) -> Settings:
    """Sequence length and micro-batch; a quarter is long, eager attention short."""
    lengths = [512, 1024, 1536, 2048, 4096, 6144, 8192, 16384, 32768, 65536]
    most = 4096 if attention == "eager" else 16384 if checkpointing == "none" else 65536
    length = rng.choice([n for n in lengths if n <= min(most, fresh.longest)])
    rows = rng.choice([n for n in (1, 2, 3, 4, 8) if n * length <= most])
    return {"seq_len": length, "micro_batch": rows}


def _full(rng: random.Random, fresh: Fresh) -> Settings:
    attention = rng.choice(fresh.kernels)
    checkpointing = rng.choice(("none", "full", "full", "attention"))
    found: Settings = {"method": "full", "attention": attention, "checkpointing": checkpointing}
    found |= _size(rng, fresh, attention, checkpointing)
    found |= {"loss": rng.choice(("plain", "chunked")), "optimizer": rng.choice(OPTIMIZERS)}
    lifetime = rng.choice(("", "", "", "grad_accumulation", "optimizer_in_backward"))
    if lifetime:
        found[lifetime] = True
        found["optimizer"] = "adamw" if lifetime == "optimizer_in_backward" else found["optimizer"]
    if not (fresh.layer_norm or fresh.routed) and attention != "eager" and rng.random() < 0.25:
        found |= {"param_dtype": "fp32", "autocast": True, "loss": "plain"}
        if checkpointing == "attention":
            found["checkpointing"] = "full"
    if fresh.routed and rng.random() < 0.2:
        found["experts"] = "eager"
    return found


def _adapters(rng: random.Random, fresh: Fresh, method: str) -> Settings:
    attention, checkpointing = rng.choice(fresh.kernels), rng.choice(("none", "full", "full"))
    found: Settings = {"method": method, "attention": attention, "checkpointing": checkpointing}
    found |= _size(rng, fresh, attention, checkpointing)
    targets = ("all", "all", "attention", "qv") if fresh.split_query else ("all", "all", "attention")
    found |= {
        "loss": rng.choice(("plain", "chunked")),
        "optimizer": rng.choice(("adamw", "adamw", "adamw_8bit", "adamw_fp32", "lion")),
        "lora_r": rng.choice((4, 8, 16, 32, 64, 128, 256)),
        "lora_targets": rng.choice(targets),
        "lora_dtype": rng.choice(("fp32", "bf16")),
        "lora_dropout": rng.choice((0.0, 0.0, 0.05)),
        "grad_accumulation": rng.random() < 0.25,
    }
    if not fresh.layer_norm and rng.random() < 0.4:
        found |= {"autocast": True, "lora_dtype": "fp32"}
    if method == "qlora":
        found |= {"double_quant": rng.random() < 0.6}
        if found.get("autocast") and rng.random() < 0.5:
            found["kbit_prepare"] = True
    return found


def _settings(rng: random.Random, fresh: Fresh, number: int) -> Settings:
    if not fresh.adapters or number % 2 == 0:
        return _full(rng, fresh)
    return _adapters(rng, fresh, "lora" if fresh.routed or number % 4 == 1 else "qlora")


def _sharded(rng: random.Random) -> Settings:
    checkpointing = rng.choice(("none", "full", "full", "attention"))
    length = rng.choice((1024, 2048, 4096, 8192)) if checkpointing != "full" else rng.choice((2048, 8192, 16384, 32768))
    return {
        "method": "full", "fsdp": rng.choice((2, 4, 8, 16, 32, 64)), "checkpointing": checkpointing, "seq_len": length,
        "micro_batch": rng.choice((1, 2)), "param_dtype": rng.choice(("bf16", "fp32")),
        "reshard_after_forward": rng.random() < 0.7, "optimizer": rng.choice(("adamw", "adamw", "adamw_foreach")),
    }  # fmt: skip


def cases(grid: str) -> Iterator[dict[str, Any]]:
    """All fresh cases of a grid in a fixed order."""
    seed, prefix, most, sharded = GRIDS[grid]
    with MODELS.open(encoding="utf-8", newline="") as stream:
        rows = {r["id"]: r for r in csv.DictReader(stream)}
    rng = random.Random(seed)
    groups = {"fitted": FITTED, "new": NEW, "fallback": FALLBACK}
    expected = {f.id: name for name, group in groups.items() for f in group}
    every = {f.id: f for group in groups.values() for f in group}
    drawn: list[tuple[Fresh, Settings]] = []
    for place, fresh in enumerate(every.values()):
        first = 0 if most > 1 else place  # one case a model: full training, LoRA and QLoRA by turns
        drawn += [(fresh, _settings(rng, fresh, first + n)) for n in range(min(fresh.cases, most))]
    drawn += [(every[name], _sharded(rng)) for name in SHARDED for _ in range(sharded)]
    for number, (fresh, settings) in enumerate(drawn, 1):
        case = {"model": config(fresh, rows[fresh.id]), **settings}
        yield {"case_id": f"{prefix}{number:03d}", "expectation": expected[fresh.id], "id": fresh.id, "case": case}


def table(grid: str, raw: Path) -> Iterator[dict[str, str]]:
    """Rows of the tracer's table with the model named as in the catalogue, and what is expected of the row."""
    known = {c["case_id"]: c for c in cases(grid)}
    with raw.open(encoding="utf-8", newline="") as stream:
        for row in csv.DictReader(stream):
            case = known[row["case_id"]]
            if row["case_id"] in WITHOUT_ROW:
                continue
            if row["config"] != "{}" or json.loads(row["model"]) != case["case"]["model"]:
                raise SystemExit(f"{row['case_id']} is not the case of the grid")
            yield {**row, "model": case["id"], "expectation": case["expectation"], "notes": ""}


def main(arguments: list[str]) -> int:
    """Print the cases, the same as the tracer reads them, or the traced table."""
    if not arguments or arguments[0] not in GRIDS:
        print(__doc__, file=sys.stderr)
        return 2
    grid, rest = arguments[0], arguments[1:]
    if len(rest) == 2 and rest[0] == "--table":
        rows = list(table(grid, Path(rest[1])))
        writer = csv.DictWriter(sys.stdout, fieldnames=list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    elif rest in ([], ["--tracer"]):
        for case in cases(grid):
            print(json.dumps({"case_id": case["case_id"], **case["case"]} if rest else case))
    else:
        print(__doc__, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
