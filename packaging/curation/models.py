"""Language models and their names."""

from __future__ import annotations

import json
import re
from decimal import Decimal
from pathlib import Path

from curation.tools import COLLECTED, Changes, Row, read, slug, write

#: column of the collection -> column of ours; both count elements.
NAMES = {
    "id": "id", "display_name": "name", "family": "family", "architecture": "kind", "hidden_size": "hidden_size",
    "num_layers": "layers", "num_attention_heads": "attention_heads", "num_kv_heads": "kv_heads",
    "head_dim": "head_dim", "intermediate_size": "intermediate_size", "vocab_size": "vocabulary_size",
    "tie_word_embeddings": "tied_embeddings", "max_context": "max_context", "mlp": "mlp",
    "attention_bias": "attention_bias", "qk_norm": "qk_norm", "norm": "norm", "sliding_window": "sliding_window",
    "n_full_attn_layers": "full_attention_layers", "n_swa_layers": "sliding_window_layers",
    "n_linear_layers": "linear_layers", "n_experts": "experts", "experts_per_token": "experts_per_token",
    "n_shared_experts": "shared_experts", "moe_intermediate_size": "moe_intermediate_size",
    "first_dense_layers": "first_dense_layers", "moe_layer_freq": "moe_layer_frequency",
    "mla_kv_lora_rank": "mla_kv_lora_rank", "mla_q_lora_rank": "mla_q_lora_rank",
    "mla_qk_rope_head_dim": "mla_qk_rope_head_dim", "mla_v_head_dim": "mla_v_head_dim",
    "kv_elems_per_token_full": "kv_elements_per_token_full", "kv_elems_per_token_swa": "kv_elements_per_token_window",
    "state_elems_per_seq": "state_elements_per_sequence", "mtp_params": "mtp_parameters",
    "non_text_params": "non_text_parameters", "published_params": "published_parameters",
    "native_dtype": "native_dtype", "extra": "extra", "licence": "licence", "release_date": "release_date",
    "source_url": "source_url", "confidence": "confidence", "count_basis": "count_basis",
    "confirmed_by": "confirmed_by", "notes": "notes",
}  # fmt: skip
COLUMNS = [*NAMES.values(), "block_kind", "parameters_total", "parameters_active", "source_title", "checked_on"]

#: Families whose Hugging Face block is that of a kind with derived memory factors, for dense models.
DENSE_KINDS = {
    "llama": {"LLaMA 1", "Llama 2", "Code Llama", "Llama 3", "Llama 3.1", "Llama 3.2", "Llama 3.3", "TinyLlama", "Yi",
              "Yi 1.5", "Solar", "Falcon 3", "SmolLM", "SmolLM2", "SmolLM3", "Seed-Coder", "DeepSeek Coder",
              "DeepSeek LLM", "Mistral", "InternLM3", "Granite 3", "EXAONE 3.5"},
    "qwen2": {"Qwen1.5", "Qwen2", "Qwen2.5", "Qwen2.5-Coder", "QwQ"},
    "qwen3": {"Qwen3"},
    "gemma2": {"Gemma 2"},
    "gemma3_text": {"Gemma 3"},
    "phi3": {"Phi-3", "Phi-3.5", "Phi-4"},
    "gpt_neox": {"Pythia", "GPT-NeoX"},
    "gpt2": {"GPT-2"},
    "olmo": {"OLMo"},
    "olmo2": {"OLMo 2", "OLMo 3"},
    "gemma": {"Gemma"},
    "cohere": {"Command R", "Command A", "Aya"},
    "phi": {"Phi"},
    "starcoder2": {"StarCoder2"},
    "opt": {"OPT"},
    "nemotron": {"Nemotron"},
    "arcee": {"AFM"},
    "apertus": {"Apertus"},
    "stablelm": {"StableLM", "StableLM 2"},
    "exaone4": {"EXAONE 4"},
    "hunyuan_v1_dense": {"Hunyuan"},
    "ernie4_5": {"ERNIE 4.5"},
}  # fmt: skip
EXPERT_KINDS = {
    "qwen3_moe": {"Qwen3", "Qwen3-Coder"},
    "mixtral": {"Mixtral"},
    "gpt_oss": {"gpt-oss"},
    "olmoe": {"OLMoE"},
    "qwen2_moe": {"Qwen1.5", "Qwen2"},
    "glm4_moe": {"GLM-4.5", "GLM-4.6", "GLM-4.7"},
    "ernie4_5_moe": {"ERNIE 4.5"},
    "granitemoe": {"Granite 3"},
    "dots1": {"dots"},
    "phimoe": {"Phi-3.5"},
}
LATENT_FAMILIES = {"DeepSeek V2", "DeepSeek V3", "Kimi K2", "Moonlight"}
#: Models that are not of the kind of their family, or whose family has none.
KIND_OF_MODEL = {
    "zai-org/glm-4-9b-hf": "glm",
    "zai-org/GLM-4-9B-0414": "glm4",
    "zai-org/GLM-4-32B-0414": "glm4",
    "ByteDance-Seed/Seed-OSS-36B-Base": "qwen2",
    "XiaomiMiMo/MiMo-7B-Base": "qwen2",
    "Qwen/Qwen2.5-VL-72B-Instruct": "qwen2",
    "MiniMaxAI/MiniMax-M2": "minimax_m2",
    "MiniMaxAI/MiniMax-M2.5": "minimax_m2",
    "MiniMaxAI/MiniMax-M2.7": "minimax_m2",
    "zai-org/GLM-4.7-Flash": "deepseek_v3",
    "facebook/opt-350m": "",  # projections around the blocks, norms behind them
    "CohereLabs/c4ai-command-r-plus": "",  # norms on queries and keys
}


def block_kind(row: Row) -> str:
    """Kind of transformer block whose memory factors were derived and apply; empty where none is the same."""
    family, kind = row["family"], row["architecture"]
    if row["id"] in KIND_OF_MODEL:
        return KIND_OF_MODEL[row["id"]]
    if kind == "moe+mla":
        return "deepseek_v3" if family in LATENT_FAMILIES and "idx_heads" not in row["extra"] else ""
    if kind == "moe":
        return next((k for k, families in EXPERT_KINDS.items() if family in families), "")
    if kind != "dense":
        return ""
    if family == "Generic":
        return "llama" if row["mlp"] == "swiglu" else "gpt2"
    if row["id"].startswith("nvidia/Llama-"):
        return "llama"
    if family == "DeepSeek R1 Distill":
        return "llama" if "Llama" in row["id"] else "qwen3" if "Qwen3" in row["id"] else "qwen2"
    if family == "Phi-3" and row["mlp"] != "swiglu":
        return ""  # Phi-3 small has a block of its own
    return next((k for k, families in DENSE_KINDS.items() if family in families), "")


def models(reference: Path, target: Path, changes: Changes) -> set[str]:
    """Write models.csv; returns the ids."""
    out: list[Row] = []
    for row in read(reference / "models/models.csv"):
        made = {new: row[old] for old, new in NAMES.items()}
        made |= {
            "block_kind": block_kind(row),
            "parameters_total": _count(row["params_total_b"]),
            "parameters_active": _count(row["params_active_b"]),
            "source_title": _source_title(row),
            "checked_on": COLLECTED,
        }
        out.append(made)
    write(target / "models.csv", COLUMNS, out)
    changes.count("models", len(out))
    changes.count("models with derived memory factors for their block", sum(bool(r["block_kind"]) for r in out))
    return {r["id"] for r in out}


def _source_title(row: Row) -> str:
    if row["family"] == "Generic":
        return "typical shape for its size, chosen by the collection; not a published model"
    return row["published_source"] or row["confirmed_by"]


def _count(billions: str) -> str:
    return str(int((Decimal(billions) * 1_000_000_000).to_integral_value()))


def model_aliases(reference: Path, target: Path, model_ids: set[str], changes: Changes) -> None:
    """Write model_aliases.csv: names that measurements and people use."""
    rows = read(reference / "models/name-aliases.csv")
    unknown = {r["model_id"] for r in rows if r["model_id"]} - model_ids
    if unknown:
        raise SystemExit(f"aliases name unknown models: {sorted(unknown)}")
    for row in rows:
        if row["shape"]:
            json.loads(row["shape"])
    columns = ["name", "model_id", "shape", "kind", "notes"]
    out = [{k: r["note" if k == "notes" else k] for k in columns} for r in rows]
    write(target / "model_aliases.csv", columns, sorted(out, key=lambda r: (slug(r["name"]), r["name"])))
    changes.count("names of models that join", sum(bool(r["model_id"] or re.search(r"\S", r["shape"])) for r in rows))
