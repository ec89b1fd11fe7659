"""Configurations that models ship with, older and rarer spellings, and files that are wrong."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.architecture.readers import MAX_CONFIG_BYTES, read_config
from engine.catalog.load import load_base
from engine.errors import InputError, KnownError
from engine.i18n import Language

CONFIGS = Path(__file__).parents[1] / "reference/data/configs"
MODELS = load_base().model_by_id
#: Files of a base whose instruct sibling stands in the table with the same shape.
SIBLING = {"google/gemma-4-26B-A4B": "google/gemma-4-26B-A4B-it"}
COMPARED = (
    "hidden_size", "layers", "attention_heads", "kv_heads", "head_dim", "intermediate_size", "vocabulary_size",
    "tied_embeddings", "mlp", "attention_bias", "qk_norm", "norm", "sliding_window", "full_attention_layers",
    "sliding_window_layers", "linear_layers", "experts", "experts_per_token", "shared_experts", "native_dtype",
    "moe_intermediate_size", "first_dense_layers", "mla_kv_lora_rank", "mla_q_lora_rank", "mla_v_head_dim",
    "kv_elements_per_token_full", "kv_elements_per_token_window", "state_elements_per_sequence", "block_kind",
)  # fmt: skip


def _row(path: Path) -> Any:
    name = path.stem.replace("--", "/")
    name = SIBLING.get(name, name)
    return MODELS[name] if name in MODELS else MODELS["Qwen/Qwen3-Coder-30B-A3B-Instruct"]


@pytest.mark.parametrize("path", sorted(CONFIGS.glob("*.json")), ids=lambda p: p.stem)
def test_published_configurations_are_read_right(path: Path) -> None:
    found, row = read_config(path), _row(path)
    assert found.parameters_total == pytest.approx(row.parameters_total, rel=1e-3)
    assert found.parameters_active == pytest.approx(row.parameters_active, rel=1e-3)
    assert {n: getattr(found, n) for n in COMPARED} == {n: getattr(row, n) for n in COMPARED}
    assert found.guessed == ()
    assert found.basis == "config"


#: What older and rarer configurations write; the model whose published total they must give.
SPELLINGS: dict[str, dict[str, Any]] = {
    "openai-community/gpt2": {"model_type": "gpt2", "n_embd": 768, "n_layer": 12, "n_head": 12, "n_positions": 1024,
                              "vocab_size": 50257, "activation_function": "gelu_new"},
    "EleutherAI/pythia-70m": {"model_type": "gpt_neox", "hidden_size": 512, "num_hidden_layers": 6,
                              "num_attention_heads": 8, "intermediate_size": 2048, "vocab_size": 50304,
                              "hidden_act": "gelu", "tie_word_embeddings": False},
    "EleutherAI/gpt-j-6b": {"model_type": "gptj", "n_embd": 4096, "n_layer": 28, "n_head": 16, "n_inner": None,
                            "vocab_size": 50400, "tie_word_embeddings": False},
    "facebook/opt-125m": {"model_type": "opt", "hidden_size": 768, "num_hidden_layers": 12, "ffn_dim": 3072,
                          "num_attention_heads": 12, "max_position_embeddings": 2048, "vocab_size": 50272,
                          "word_embed_proj_dim": 768, "activation_function": "relu"},
    "bigscience/bloom-560m": {"model_type": "bloom", "n_embed": 1024, "hidden_size": 1024, "n_layer": 24,
                              "num_attention_heads": 16, "vocab_size": 250880},
    "Qwen/Qwen2.5-0.5B": {"model_type": "qwen2", "hidden_size": 896, "num_hidden_layers": 24, "vocab_size": 151936,
                          "num_attention_heads": 14, "num_key_value_heads": 2, "intermediate_size": 4864,
                          "tie_word_embeddings": True, "use_sliding_window": False, "sliding_window": 32768},
    "google/gemma-2-2b": {"model_type": "gemma2", "hidden_size": 2304, "num_hidden_layers": 26, "head_dim": 256,
                          "num_attention_heads": 8, "num_key_value_heads": 4, "intermediate_size": 9216,
                          "vocab_size": 256000, "sliding_window": 4096, "hidden_activation": "gelu_pytorch_tanh"},
    "zai-org/chatglm3-6b": {"model_type": "chatglm", "hidden_size": 4096, "num_layers": 28, "kv_channels": 128,
                            "num_attention_heads": 32, "multi_query_attention": True, "multi_query_group_num": 2,
                            "ffn_hidden_size": 13696, "padded_vocab_size": 65024, "add_qkv_bias": True,
                            "tie_word_embeddings": False},
    "bigcode/starcoder": {"model_type": "gpt_bigcode", "n_embd": 6144, "n_layer": 40, "n_head": 48,
                          "n_inner": 24576, "n_positions": 8192, "vocab_size": 49152, "multi_query": True},
    "microsoft/phi-2": {"model_type": "phi", "hidden_size": 2560, "num_hidden_layers": 32, "num_attention_heads": 32,
                        "intermediate_size": 10240, "vocab_size": 51200, "hidden_act": "gelu_new",
                        "tie_word_embeddings": False},
    "tiiuae/falcon-40b": {"model_type": "falcon", "hidden_size": 8192, "num_hidden_layers": 60, "vocab_size": 65024,
                          "num_attention_heads": 128, "num_kv_heads": 8, "new_decoder_architecture": True},
    "ai21labs/Jamba-v0.1": {"model_type": "jamba", "hidden_size": 4096, "num_hidden_layers": 32, "num_experts": 16,
                            "num_attention_heads": 32, "num_key_value_heads": 8, "intermediate_size": 14336,
                            "num_experts_per_tok": 2, "vocab_size": 65536, "attn_layer_period": 8,
                            "attn_layer_offset": 4, "expert_layer_period": 2, "expert_layer_offset": 1,
                            "mamba_d_state": 16, "mamba_d_conv": 4, "mamba_expand": 2, "mamba_dt_rank": 256,
                            "tie_word_embeddings": False},
    "deepseek-ai/DeepSeek-V2-Lite": {"model_type": "deepseek_v2", "hidden_size": 2048, "num_hidden_layers": 27,
                                     "num_attention_heads": 16, "kv_lora_rank": 512, "q_lora_rank": None,
                                     "qk_nope_head_dim": 128, "qk_rope_head_dim": 64, "v_head_dim": 128,
                                     "intermediate_size": 10944, "n_routed_experts": 64, "n_shared_experts": 2,
                                     "num_experts_per_tok": 6, "moe_intermediate_size": 1408, "moe_layer_freq": 1,
                                     "first_k_dense_replace": 1, "vocab_size": 102400, "tie_word_embeddings": False},
    "LiquidAI/LFM2-1.2B": {"model_type": "lfm2", "hidden_size": 2048, "num_hidden_layers": 16, "conv_L_cache": 3,
                           "num_attention_heads": 32, "num_key_value_heads": 8, "intermediate_size": 8192,
                           "layer_types": ["conv"] * 10 + ["full_attention"] * 6, "vocab_size": 65536},
    "google/gemma-4-E2B-it": {"model_type": "gemma4_text", "hidden_size": 1536, "num_hidden_layers": 35,
                              "num_attention_heads": 8, "num_key_value_heads": 1, "head_dim": 256,
                              "global_head_dim": 512, "intermediate_size": 6144, "vocab_size": 262144,
                              "hidden_size_per_layer_input": 256, "vocab_size_per_layer_input": 262144,
                              "num_kv_shared_layers": 20, "use_double_wide_mlp": True, "sliding_window": 512,
                              "layer_types": (["sliding_attention"] * 4 + ["full_attention"]) * 7},
}  # fmt: skip


@pytest.mark.parametrize("name", sorted(SPELLINGS))
def test_other_spellings_give_the_published_total(name: str) -> None:
    found = read_config({"torch_dtype": "float16", **SPELLINGS[name]})
    assert found.parameters_total == pytest.approx(MODELS[name].parameters_total, rel=1e-3)
    assert found.kv_elements_per_token_full == MODELS[name].kv_elements_per_token_full
    assert found.guessed == ()
    assert found.native_dtype == "fp16"


ORDINARY = {"model_type": "llama", "hidden_size": 4096, "num_hidden_layers": 32, "num_attention_heads": 32,
            "intermediate_size": 11008, "vocab_size": 32000, "torch_dtype": "bfloat16"}  # fmt: skip


@pytest.mark.parametrize("key", ["hidden_size", "num_hidden_layers", "num_attention_heads", "vocab_size"])
def test_a_missing_key_is_named(key: str) -> None:
    with pytest.raises(InputError) as caught:
        read_config({k: v for k, v in ORDINARY.items() if k != key})
    assert caught.value.params["key"] == key


def test_an_unknown_type_is_read_and_said() -> None:
    found = read_config({**ORDINARY, "model_type": "tomorrow"})
    assert found.parameters_total == pytest.approx(6.738e9, rel=1e-3)
    assert "model_type" in found.guessed
    assert found.block_kind == ""


def test_what_was_assumed_is_listed() -> None:
    found = read_config({k: v for k, v in ORDINARY.items() if k not in ("intermediate_size", "torch_dtype")})
    assert set(found.guessed) == {"intermediate_size", "native_dtype"}


@pytest.mark.parametrize(
    ("quantization", "expected"),
    [
        ({"quant_method": "fp8"}, "fp8"),
        ({"quant_method": "gptq", "bits": 4}, "int4"),
        ({"quant_method": "awq", "bits": 4}, "int4"),
        ({"quant_method": "bitsandbytes", "load_in_8bit": True}, "int8"),
        ({"quant_method": "mxfp4"}, "mxfp4"),
    ],
)
def test_published_precision(quantization: dict[str, Any], expected: str) -> None:
    assert read_config({**ORDINARY, "quantization_config": quantization}).native_dtype == expected


def test_a_folder_is_read_and_named_after(tmp_path: Path) -> None:
    folder = tmp_path / "我的 模型"
    folder.mkdir()
    with pytest.raises(InputError, match=r"no_config_in_folder"):
        read_config(folder)
    (folder / "config.json").write_text(json.dumps(ORDINARY), encoding="utf-8")
    assert read_config(folder).name == "我的 模型"


@pytest.mark.parametrize(
    ("content", "code"),
    [
        (b"", "model.not_json"),
        (b"[1, 2]", "model.not_json"),
        (b'{"hidden_size": 1,\n "x": }', "model.not_json"),
        (b"\xff\xfe\x00binary", "model.not_text"),
        (b'{"a":' * 100_000, "model.not_json"),
        (b" " * (MAX_CONFIG_BYTES + 1), "model.file_too_large"),
        (b'{"hidden_size": -4, "num_hidden_layers": 2, "vocab_size": 3, "num_attention_heads": 1}', "model.bad_value"),
        (b'{"hidden_size": true, "num_hidden_layers": 2}', "model.bad_value"),
        (b'{"hidden_size": 1e300, "num_hidden_layers": 2}', "model.bad_value"),
        (
            b'{"hidden_size": 64, "num_hidden_layers": 2, "vocab_size": 9, "num_attention_heads": 8,'
            b' "num_key_value_heads": 7, "model_type": "llama"}',
            "model.bad_value",
        ),
        (b'{"is_encoder_decoder": true}', "model.encoder_decoder"),
    ],
)
def test_a_wrong_file_is_refused_in_words(tmp_path: Path, content: bytes, code: str) -> None:
    path = tmp_path / "config.json"
    path.write_bytes(content)
    with pytest.raises(InputError) as caught:
        read_config(path)
    assert caught.value.code == code
    for language in (Language("en"), Language("zh_CN")):
        assert str(path) in language.error(caught.value)


def test_the_line_of_a_mistake_is_told(tmp_path: Path) -> None:
    path = tmp_path / "config.json"
    path.write_text('{\n"hidden_size": 1,\n"x": }', encoding="utf-8")
    with pytest.raises(InputError) as caught:
        read_config(path)
    assert caught.value.params["line"] == 3


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=4,
)
FILES = {p.stem: json.loads(p.read_text(encoding="utf-8")) for p in sorted(CONFIGS.glob("*.json"))}
EXAMPLES = {**SPELLINGS, **FILES}
SETTINGS = sorted({k for c in EXAMPLES.values() for k in {**c, **c.get("text_config", {})}} | {
    "expansion_ratio", "linear_attn_config", "attn_type_list", "mlp_only_layers", "sliding_window_pattern",
})  # fmt: skip


@settings(max_examples=200, deadline=None)
@given(st.sampled_from(sorted(EXAMPLES)), st.dictionaries(st.sampled_from(SETTINGS), VALUES, min_size=1, max_size=3))
def test_damaged_settings_give_an_answer_or_a_known_error(name: str, damage: dict[str, Any]) -> None:
    try:
        found = read_config({**EXAMPLES[name], **damage})
    except KnownError as error:
        Language("zh_CN").error(error)
    else:
        assert found.parameters_total > 0


@pytest.mark.parametrize("damage", [{"layer_types": None}, {"num_kv_shared_layers": 10_000}, {"sliding_window": None}])
def test_shared_caches_of_damaged_settings_are_never_negative(damage: dict[str, Any]) -> None:
    """Gemma 4's last layers share keys and values; their number and kinds come from the file and may be wrong there."""
    raw = next(c for n, c in EXAMPLES.items() if "num_kv_shared_layers" in {**c, **c.get("text_config", {})})
    text = {**raw.get("text_config", {}), **damage}
    found = read_config({**raw, **damage, **({"text_config": text} if "text_config" in raw else {})})
    assert found.kv_elements_per_token_full >= 0
    assert found.kv_elements_per_token_window >= 0


LAYERED = {"model_type": "llama", "hidden_size": 64, "num_hidden_layers": 4, "num_attention_heads": 4,
           "num_key_value_heads": 2, "vocab_size": 1000, "tie_word_embeddings": False}  # fmt: skip


def test_widths_that_differ_from_layer_to_layer_keep_their_sum_and_are_said_to_be_read_so() -> None:
    even = read_config({**LAYERED, "intermediate_size": [100, 100, 100, 100]})
    mixed = read_config({**LAYERED, "intermediate_size": [1, 99, 150, 150]})
    assert even.intermediate_size == mixed.intermediate_size == 100
    assert mixed.parameters_total == even.parameters_total
    assert "intermediate_size" in mixed.guessed and "intermediate_size" not in even.guessed


def test_more_experts_per_token_than_experts_are_refused() -> None:
    config = {**LAYERED, "model_type": "mixtral", "intermediate_size": 128, "num_local_experts": 8,
              "num_experts_per_tok": 20}  # fmt: skip
    with pytest.raises(InputError) as raised:
        read_config(config)
    assert raised.value.params["key"] == "num_experts_per_tok"
