"""What differs from layer to layer in a configuration: windows, experts, linear attention, per-layer inputs."""

from __future__ import annotations

from typing import Any

from engine.architecture import config_keys as names
from engine.architecture.config_keys import ConfigKeys
from engine.errors import InputError

__all__ = ["attention_layers", "experts", "linear_layers", "per_layer_inputs"]

_LINEAR_WORDS = frozenset({"linear_attention", "mamba", "mamba2", "conv", "recurrent"})
_WINDOW_WORDS = frozenset({"sliding_attention", "chunked_attention"})


def attention_layers(keys: ConfigKeys, fields: dict[str, Any]) -> dict[str, Any]:
    """How many layers attend to everything, to a window, or by a linear recurrence; and shapes that differ."""
    extra: dict[str, Any] = {}
    layers = fields["layers"]
    window = keys.number("sliding_window", "attention_chunk_size")
    full, windowed, linear = _split(keys, layers, window)
    if keys.model_type == "gemma4_text" or keys.get("num_global_key_value_heads") is not None:
        extra |= _wide_global_layers(keys, fields, full, windowed)
    if keys.number("index_n_heads") and fields.get("mla_kv_lora_rank"):
        extra |= {
            "idx_heads": keys.number("index_n_heads"),
            "idx_dim": keys.number("index_head_dim"),
            "index_topk": keys.number("index_topk"),
        }
    return {
        "full_attention_layers": full,
        "sliding_window_layers": windowed,
        "linear_layers": linear,
        "sliding_window": window if windowed else 0,
        "extra": extra,
    }


def _split(keys: ConfigKeys, layers: int, window: int) -> tuple[int, int, int]:
    """(full, windowed, linear) layers; they add up to `layers` except where a layer is neither or both."""
    kind = keys.model_type
    if kind in ("mamba", "falcon_mamba", "mamba2"):
        return 0, 0, layers
    if kind == "falcon_h1":
        return layers, 0, layers
    pattern = keys.get("hybrid_override_pattern")
    if isinstance(pattern, str):
        return pattern.count("*"), 0, pattern.count("M")
    types = keys.words("layer_types") or keys.words("layers_block_type")
    if types:
        linear = sum(t in _LINEAR_WORDS for t in types)
        windowed = sum(t in _WINDOW_WORDS for t in types) if window else 0
        return len(types) - linear - windowed, windowed, linear
    if isinstance(keys.get("attn_type_list"), list):  # MiniMax: 0 linear, 1 softmax
        full = sum(1 for x in keys.get("attn_type_list") if x == 1)
        return full, 0, layers - full
    if isinstance(keys.get("linear_attn_config"), dict):  # Kimi Linear
        full = len(keys.get("linear_attn_config.full_attn_layers") or [])
        return full, 0, layers - full
    if keys.number("full_attention_interval"):
        full = layers // keys.number("full_attention_interval")
        return full, 0, layers - full
    if keys.number("attn_layer_period"):  # Jamba
        period, offset = keys.number("attn_layer_period"), keys.number("attn_layer_offset")
        full = sum(1 for i in range(layers) if i % period == offset)
        return full, 0, layers - full
    windowed = _windowed(keys, layers, window)
    return layers - windowed, windowed, 0


def _windowed(keys: ConfigKeys, layers: int, window: int) -> int:
    kind = keys.model_type
    context = keys.number(*names.CONTEXT)
    if not window or (context and window >= context) or keys.get("use_sliding_window") is False:
        return 0
    if kind.startswith("qwen") and not keys.flag("use_sliding_window"):
        return 0
    if keys.flag("use_sliding_window") and keys.get("max_window_layers") is not None:
        return max(layers - keys.number("max_window_layers"), 0)
    if kind in names.WINDOW_EVERYWHERE:
        return layers
    if kind in names.WINDOW_ALTERNATES:
        return (layers + 1) // 2
    stated = keys.get("sliding_window_pattern", "no_rope_layer_interval")
    period = stated if isinstance(stated, int) else len(stated) if isinstance(stated, str) else 0
    period = period or names.WINDOW_PATTERN.get(kind, 0)
    if period:
        return layers - layers // period
    return keys.guess("sliding_window_layers", layers)


def _wide_global_layers(keys: ConfigKeys, fields: dict[str, Any], full: int, windowed: int) -> dict[str, Any]:
    """Gemma 4: full-attention layers have heads of their own width, fewer of them, and may use keys as values.

    The last layers share keys and values; where their kinds are not listed, they are taken in proportion.
    """
    extra: dict[str, Any] = {"g_hd": keys.number("global_head_dim", default=fields["head_dim"])}
    if keys.number("num_global_key_value_heads"):
        extra["g_kv"] = keys.number("num_global_key_value_heads")
    extra["k_eq_v"] = int(keys.flag("attention_k_eq_v"))
    shared = min(keys.number("num_kv_shared_layers"), full + windowed)
    if shared > 0:
        last = keys.words("layer_types")[-shared:]
        listed = sum(t in _WINDOW_WORDS for t in last)
        extra["kv_shared_swa"] = listed if last else -(-shared * windowed // (full + windowed))
        extra["kv_shared_full"] = shared - extra["kv_shared_swa"]
        extra["wide_layers"] = shared if keys.flag("use_double_wide_mlp") else 0
    return extra


def experts(keys: ConfigKeys, fields: dict[str, Any]) -> dict[str, Any]:
    """Routed and shared experts, and which layers have them."""
    count, extra = keys.number(*names.EXPERTS), dict[str, Any]()
    if count <= 1:
        return {"extra": extra}
    kind, layers = keys.model_type, fields["layers"]
    width = keys.number(*names.EXPERT_WIDTH)
    if kind in ("llama4", "llama4_text"):
        width = keys.required("intermediate_size")
    width = width or fields["intermediate_size"] or keys.required(names.EXPERT_WIDTH[0])
    shared = keys.number(*names.SHARED_EXPERTS, default=1 if kind in ("llama4", "llama4_text") else 0)
    shared_width = keys.number(*names.SHARED_WIDTH)
    if shared_width and not shared:
        shared = 1
    if shared_width and shared_width != shared * width:
        extra["shared_ff"] = shared_width
    if kind in names.SHARED_GATE:
        extra["shared_gate"] = 1
    if kind in names.ROUTER_BIAS or keys.get("topk_method") == "noaux_tc":
        extra["router_bias"] = 1
    if kind == "nemotron_h":
        pattern = str(keys.get("hybrid_override_pattern") or "")
        extra |= {"dense_layers": pattern.count("-"), "moe_layers": pattern.count("E")}
        extra["latent"] = keys.number("moe_latent_size")
    if keys.flag("enable_moe_block"):  # Gemma 4: a dense MLP beside the experts
        extra |= {"dense_layers": layers, "norms": 7}
    first, frequency = _placement(keys, layers, extra)
    per_token = keys.number(*names.EXPERTS_PER_TOKEN) or keys.required(names.EXPERTS_PER_TOKEN[0])
    if per_token > count:
        raise InputError(
            "model.bad_value", file=keys.where, key=names.EXPERTS_PER_TOKEN[0], value=f"{per_token} > {count}"
        )
    return {
        "experts": count,
        "experts_per_token": per_token,
        "shared_experts": shared,
        "moe_intermediate_size": width,
        "first_dense_layers": first,
        "moe_layer_frequency": frequency,
        "extra": extra,
    }


def _placement(keys: ConfigKeys, layers: int, extra: dict[str, Any]) -> tuple[int, int]:
    """First dense layers and the frequency of those with experts; irregular ones are counted into `extra`."""
    stated = keys.get("moe_layer_freq")
    if isinstance(stated, list):  # one 0 or 1 for each layer
        routed = sum(1 for x in stated if x)
        extra |= {"moe_layers": routed, "dense_layers": layers - routed}
        return 0, 1
    if keys.number("expert_layer_period"):  # Jamba
        period, offset = keys.number("expert_layer_period"), keys.number("expert_layer_offset")
        routed = sum(1 for i in range(layers) if i % period == offset)
        extra |= {"moe_layers": routed, "dense_layers": layers - routed}
        return 0, period
    frequency = keys.number("moe_layer_freq", "decoder_sparse_step", "interleave_moe_layer_step", "moe_layer_interval")
    plain = keys.get("mlp_only_layers")
    if isinstance(plain, list) and plain:
        step = max(frequency, 1)
        routed = sum(1 for i in range(layers) if i not in plain and (i + 1) % step == 0)
        extra |= {"moe_layers": routed, "dense_layers": layers - routed}
    return keys.number(*names.FIRST_DENSE), max(frequency, 1)


def linear_layers(keys: ConfigKeys, fields: dict[str, Any]) -> dict[str, Any]:
    """Sizes of the linear-attention or state-space layers, as `lin_*`."""
    if not fields["linear_layers"]:
        return {"extra": {}}
    kind, d = keys.model_type, fields["hidden_size"]
    if keys.get("linear_num_value_heads") is not None:
        extra: dict[str, Any] = {
            "lin": "gdn",
            "lin_nk": keys.required("linear_num_key_heads"),
            "lin_nv": keys.required("linear_num_value_heads"),
            "lin_dk": keys.required("linear_key_head_dim"),
            "lin_dv": keys.required("linear_value_head_dim"),
            "lin_conv": keys.number("linear_conv_kernel_dim", default=4),
        }
    elif isinstance(keys.get("linear_attn_config"), dict):
        extra = {
            "lin": "kda",
            "lin_nk": keys.required("linear_attn_config.num_heads"),
            "lin_dk": keys.required("linear_attn_config.head_dim"),
            "lin_conv": keys.number("linear_attn_config.short_conv_kernel_size", default=4),
        }
    elif kind.startswith("lfm2"):
        extra = {"lin": "shortconv", "lin_conv": keys.number("conv_L_cache", default=3)}
    elif kind.startswith("minimax"):
        extra = {"lin": "lightning"}
    elif kind in ("mamba", "falcon_mamba", "jamba"):
        extra = _mamba1(keys, d)
    else:
        extra = _mamba2(keys, d)
    return {"extra": extra}


def _mamba1(keys: ConfigKeys, d: int) -> dict[str, Any]:
    expand = keys.number("expand", "mamba_expand", default=2)
    inner = keys.number("intermediate_size") if keys.model_type != "jamba" else 0
    rank = keys.get("time_step_rank", "mamba_dt_rank")
    return {
        "lin": "mamba1",
        "lin_inner": inner or expand * d,
        "lin_state": keys.number("state_size", "mamba_d_state", default=16),
        "lin_rank": rank if isinstance(rank, int) else -(-d // 16),
        "lin_conv": keys.number("conv_kernel", "mamba_d_conv", default=4),
        "lin_bcdt_norm": int(keys.model_type == "jamba"),
        **({"norms": 1, "dense_layers": 0} if keys.model_type != "jamba" else {}),
    }


def _mamba2(keys: ConfigKeys, d: int) -> dict[str, Any]:
    heads = keys.number("mamba_num_heads", "mamba_n_heads", "num_heads")
    width = keys.number("mamba_head_dim", "mamba_d_head")
    inner = keys.number("mamba_d_ssm") or keys.number("mamba_expand", "expand", default=2) * d
    if heads and not width:
        width = inner // heads
    if not heads:
        width = width or keys.guess("mamba_head_dim", 64)
        heads = inner // width
    extra: dict[str, Any] = {
        "lin": "mamba2",
        "lin_nh": heads,
        "lin_hd": width,
        "lin_groups": keys.number("n_groups", "mamba_n_groups", default=1),
        "lin_state": keys.number("ssm_state_size", "mamba_d_state", default=128),
        "lin_conv": keys.number("conv_kernel", "mamba_d_conv", default=4),
        "parallel_ssm": int(keys.model_type == "falcon_h1"),
    }
    pattern = keys.get("hybrid_override_pattern")
    if isinstance(pattern, str) and "E" not in pattern:
        extra["dense_layers"] = pattern.count("-")
    return extra


def per_layer_inputs(keys: ConfigKeys, fields: dict[str, Any]) -> dict[str, Any]:
    """Per-layer embeddings and mixing of Gemma 3n and 4."""
    width, extra = keys.number("hidden_size_per_layer_input"), dict[str, Any]()
    if width:
        extra |= {"ple_dim": width, "ple_vocab": keys.number("vocab_size_per_layer_input", *names.VOCABULARY)}
    if keys.model_type.startswith("gemma3n"):
        extra |= {"laurel_rank": keys.number("laurel_rank"), "altup": keys.number("altup_num_inputs")}
        shared, types = keys.number("num_kv_shared_layers"), keys.words("layer_types")
        own = types[: len(types) - shared] if types else ()
        extra["kv_layers_swa"] = sum(t in _WINDOW_WORDS for t in own)
        extra["kv_layers_full"] = len(own) - extra["kv_layers_swa"]
    if keys.flag("enable_moe_block"):  # the router's scale vectors
        extra["other_per_layer"] = fields["hidden_size"] + fields.get("experts", 0) + 1
    return extra
