"""Reads the dimensions of a model from the `config.json` that ships with its weights."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import ValidationError

from engine.architecture import config_keys as names
from engine.architecture.cache import cache_elements
from engine.architecture.config_blocks import attention_layers, experts, linear_layers, per_layer_inputs
from engine.architecture.config_keys import ConfigKeys
from engine.architecture.kinds import block_kind
from engine.architecture.model import Architecture
from engine.architecture.parameters import parameters_active, parameters_total
from engine.errors import InputError

__all__ = ["architecture_from_config"]

#: Extra sizes whose absence means something else than zero.
_ZERO_COUNTS = frozenset({"dense_layers", "moe_layers"})
_DTYPES = {"bfloat16": "bf16", "float16": "fp16", "float32": "fp32"}


def architecture_from_config(config: Mapping[str, Any], where: str, *, name: str = "") -> Architecture:
    """The dimensions in a Hugging Face configuration; `where` names the file in errors.

    Settings that a model type implies without writing them down follow its public modelling code. An unknown type is
    read as an ordinary decoder and `guessed` says so. What cannot be read at all raises `InputError` naming the key.
    """
    keys = ConfigKeys(config, where)
    if keys.flag("is_encoder_decoder"):
        raise InputError("model.encoder_decoder", file=where)
    if keys.model_type not in names.KNOWN_TYPES:
        keys.guessed.append("model_type")
    fields: dict[str, Any] = {**_sizes(keys), **_conventions(keys)}
    extra = _extras(keys)
    for read in (attention_layers, experts, linear_layers):
        part = read(keys, fields)
        extra.update(part.pop("extra"))
        fields.update(part)
    extra.update(per_layer_inputs(keys, fields))
    label = name or str(config.get("_name_or_path") or "") or where
    return _counted(fields, extra, keys, label)


def _counted(fields: dict[str, Any], extra: dict[str, Any], keys: ConfigKeys, label: str) -> Architecture:
    try:
        draft = Architecture(
            id=label,
            name=label,
            family=keys.model_type,
            basis="config",
            block_kind=block_kind(keys.model_type),
            native_dtype=_native_dtype(keys),
            parameters_total=1,
            parameters_active=1,
            extra={k: v for k, v in extra.items() if v or k in _ZERO_COUNTS},
            **fields,
        )
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(str(x) for x in first["loc"])
        raise InputError("model.bad_value", file=keys.where, key=key, value=str(first["input"])[:60]) from error
    cache = cache_elements(draft)
    counted = {
        "parameters_total": parameters_total(draft),
        "parameters_active": parameters_active(draft),
        "kv_elements_per_token_full": cache.per_token_full,
        "kv_elements_per_token_window": cache.per_token_window,
        "state_elements_per_sequence": cache.per_sequence,
        "guessed": tuple(keys.guessed),
    }
    return Architecture.model_validate({**draft.model_dump(), **counted})


def _sizes(keys: ConfigKeys) -> dict[str, Any]:
    hidden, layers = keys.required(*names.HIDDEN), keys.required(*names.LAYERS)
    vocabulary = keys.required(*names.VOCABULARY)
    heads = keys.number(*names.HEADS)
    attention_free = keys.model_type in ("mamba", "falcon_mamba", "mamba2")
    if not heads and not attention_free:
        raise InputError("model.missing_key", file=keys.where, key=names.HEADS[0])
    sizes: dict[str, Any] = {
        "hidden_size": hidden,
        "layers": layers,
        "vocabulary_size": vocabulary,
        "max_context": keys.number(*names.CONTEXT),
        "attention_heads": 0 if attention_free else heads,
    }
    if attention_free:
        return {**sizes, "mlp": "none"}
    rope, plain = keys.number("qk_rope_head_dim"), keys.number("qk_nope_head_dim")
    latent = keys.number("kv_lora_rank")
    if latent:
        head_dim = plain + rope
        sizes |= {
            "mla_kv_lora_rank": latent,
            "mla_q_lora_rank": keys.number("q_lora_rank"),
            "mla_qk_rope_head_dim": rope,
            "mla_v_head_dim": keys.number("v_head_dim", default=plain),
        }
    else:
        head_dim = keys.number(*names.HEAD_DIM) or hidden // heads
        if not keys.number(*names.HEAD_DIM) and hidden % heads:
            keys.guessed.append("head_dim")
    return {
        **sizes,
        "head_dim": head_dim,
        "kv_heads": _kv_heads(keys, heads),
        "intermediate_size": _width(keys, hidden),
    }


def _kv_heads(keys: ConfigKeys, heads: int) -> int:
    if keys.flag("multi_query_attention") and keys.get("multi_query_group_num"):  # ChatGLM
        return keys.number("multi_query_group_num")
    if keys.model_type in ("falcon", "refinedweb", "refinedwebmodel"):
        if keys.flag("new_decoder_architecture") or keys.get("n_head_kv") is not None:
            return keys.number("num_kv_heads", "n_head_kv", default=heads)
        return 1 if keys.flag("multi_query", default=True) else heads
    if keys.model_type == "gpt_bigcode":
        return 1 if keys.flag("multi_query", default=True) else heads
    found = keys.number(*names.KV_HEADS, default=heads)
    if found and (found > heads or heads % found):  # every key head serves the same number of query heads
        raise InputError("model.bad_value", file=keys.where, key=names.KV_HEADS[0], value=str(found))
    return found


def _width(keys: ConfigKeys, hidden: int) -> int:
    if keys.model_type in ("llama4", "llama4_text"):  # experts have `intermediate_size`, dense layers their own
        return keys.number("intermediate_size_mlp", "intermediate_size")
    width = keys.mean(*names.MLP_WIDTH)
    if width:
        return width
    if keys.get("expansion_ratio") is not None:
        return keys.number("expansion_ratio") * hidden
    if keys.number(*names.EXPERTS):
        return 0  # experts in every layer, none dense
    if keys.model_type in names.PLAIN_MLP:
        return 4 * hidden  # their documented default
    return keys.guess("intermediate_size", 4 * hidden)


def _conventions(keys: ConfigKeys) -> dict[str, Any]:
    kind = keys.model_type
    found: dict[str, Any] = {"norm": _norm(kind), "attention_bias": _attention_bias(keys), "qk_norm": _qk_norm(keys)}
    if kind not in ("mamba", "falcon_mamba", "mamba2"):
        found["mlp"] = _mlp(keys)
    if keys.get("tie_word_embeddings") is None:
        found["tied_embeddings"] = kind in names.TIED
        if kind not in names.KNOWN_TYPES:
            keys.guessed.append("tied_embeddings")
    else:
        found["tied_embeddings"] = keys.flag("tie_word_embeddings")
    return found


def _norm(kind: str) -> Literal["rms", "ln", "ln_nobias", "none"]:
    if kind in names.LAYER_NORM:
        return "ln"
    if kind in names.LAYER_NORM_WITHOUT_BIAS:
        return "ln_nobias"
    return "none" if kind in names.NO_NORM_WEIGHTS else "rms"


def _mlp(keys: ConfigKeys) -> str:
    activation = str(keys.get(*names.ACTIVATION) or "").lower()
    if keys.model_type in names.PLAIN_MLP:
        if "xielu" in activation:
            return "xielu"
        if "relu2" in activation or keys.model_type in ("nemotron", "arcee"):
            return "relu2"
        return "relu" if activation == "relu" else "gelu"
    return "geglu" if "gelu" in activation or keys.model_type.startswith("gemma") else "swiglu"


def _attention_bias(keys: ConfigKeys) -> str:
    kind = keys.model_type
    if kind in names.QKV_BIAS_IMPLIED or keys.flag("add_qkv_bias") or keys.flag("use_qkv_bias"):
        return "qkv"
    if kind in names.ALL_BIASES:
        return "all" if keys.flag("use_bias", default=True) else "none"
    stated = keys.flag("attention_bias") or (keys.flag("bias") and kind in ("internlm", "falcon", "refinedweb"))
    if not stated:
        return "none"
    return "qkv" if kind in names.QKV_BIAS_IF_SET else "all"


def _qk_norm(keys: ConfigKeys) -> str:
    if keys.model_type in names.FULL_NORM:
        return "full"
    if keys.model_type in names.HEAD_NORM:
        return "head"
    stated = keys.flag("use_qk_norm", "qk_layernorm") and not keys.model_type.startswith("llama4")
    return "head" if stated else "none"  # Llama 4 normalises without weights


def _extras(keys: ConfigKeys) -> dict[str, Any]:
    kind, extra = keys.model_type, dict[str, Any]()
    implied = kind in names.MLP_BIASES_ONLY or (kind in names.ALL_BIASES and keys.flag("use_bias", default=True))
    if implied or keys.flag("mlp_bias") or (keys.flag("bias") and kind in ("falcon", "refinedweb")):
        extra["mlp_bias"] = 1
    if kind in names.HEAD_BIAS or keys.flag("lm_head_bias"):
        extra["head_bias"] = 1
    if kind in ("gpt2", "gpt_bigcode", "gpt_neo"):
        extra["pos"] = keys.number("n_positions", "max_position_embeddings")
    if kind == "opt":
        extra["pos"] = keys.number("max_position_embeddings") + 2  # its table starts at an offset of two
        if keys.number("word_embed_proj_dim") != keys.number(*names.HIDDEN):
            extra["emb_dim"] = keys.number("word_embed_proj_dim")
    if kind == "mpt" and keys.flag("learned_pos_emb", default=True) and not keys.flag("attn_config.alibi"):
        extra["pos"] = keys.number("max_seq_len")
    if kind == "bloom":
        extra["emb_norm"] = 1
    one = kind in names.ONE_NORM
    if kind in ("falcon", "refinedweb", "refinedwebmodel"):
        two = keys.flag("new_decoder_architecture") or keys.get("n_head_kv") is not None
        one = keys.flag("parallel_attn", default=True) and (not two or keys.number("num_ln_in_parallel_attn") == 1)
    if one:
        extra["norms"] = 1
    elif kind in names.FOUR_NORMS:
        extra["norms"] = 4
    if kind in names.OUTPUT_GATE and keys.flag("attn_output_gate", default=True):
        extra["attn_gate"] = "elem"
    if kind == "gpt_oss":
        extra["sinks"] = 1
        extra["expert_bias"] = 1
    return extra


def _native_dtype(keys: ConfigKeys) -> str:
    method = str(keys.get("quantization_config.quant_method") or "").lower()
    if method:
        if method in ("fp8", "fbgemm_fp8", "mxfp4"):
            return "mxfp4" if method == "mxfp4" else "fp8"
        bits = keys.get("quantization_config.bits") or _first_group_bits(keys)
        eight = bits == 8 or keys.flag("quantization_config.load_in_8bit")
        is_float = str(keys.get("quantization_config.config_groups.group_0.weights.type") or "") == "float"
        if eight:
            return "fp8" if is_float else "int8"
        return "int4"
    stated = str(keys.get("dtype", "torch_dtype") or "").removeprefix("torch.")
    if stated not in _DTYPES:
        keys.guessed.append("native_dtype")
    return _DTYPES.get(stated, "bf16")


def _first_group_bits(keys: ConfigKeys) -> int:
    return keys.number("quantization_config.config_groups.group_0.weights.num_bits")
