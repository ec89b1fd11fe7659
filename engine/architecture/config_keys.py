"""Names that model configurations use for the same dimension, and what their types imply without saying."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from engine.architecture.config_dialects import translated
from engine.errors import InputError

__all__ = ["KNOWN_TYPES", "ConfigKeys"]

HIDDEN = ("hidden_size", "d_model", "n_embd", "model_dim", "dim")
LAYERS = ("num_hidden_layers", "n_layer", "n_layers", "num_layers")
HEADS = ("num_attention_heads", "n_head", "n_heads", "num_heads")
KV_HEADS = ("num_key_value_heads", "num_kv_heads", "n_head_kv", "attn_config.kv_n_heads", "n_kv_heads")
HEAD_DIM = ("head_dim", "kv_channels", "attention_head_dim")
MLP_WIDTH = (
    "intermediate_size", "ffn_hidden_size", "ffn_dim", "n_inner", "ffn_config.ffn_hidden_size", "d_ff", "hidden_dim",
)  # fmt: skip
VOCABULARY = ("vocab_size", "padded_vocab_size", "n_vocab")
CONTEXT = ("max_position_embeddings", "max_seq_len", "n_positions", "seq_length", "max_sequence_length", "n_ctx")
EXPERTS = ("num_experts", "n_routed_experts", "num_local_experts", "moe_num_experts", "ffn_config.moe_num_experts")
EXPERTS_PER_TOKEN = (
    "num_experts_per_tok", "top_k_experts", "moe_topk", "moe_top_k", "moe_k", "experts_per_token",
    "num_experts_per_token", "ffn_config.moe_top_k",
)  # fmt: skip
SHARED_EXPERTS = ("n_shared_experts", "num_shared_experts", "num_shared_expert", "moe_num_shared_experts")
EXPERT_WIDTH = ("moe_intermediate_size", "expert_ffn_hidden_size", "moe_ffn_hidden_size")
SHARED_WIDTH = (
    "shared_expert_intermediate_size", "moe_shared_expert_intermediate_size", "shared_intermediate_size",
)  # fmt: skip
FIRST_DENSE = ("first_k_dense_replace", "num_dense_layers", "moe_layer_start_index")
ACTIVATION = ("hidden_act", "hidden_activation", "activation_function", "mlp_hidden_act", "activation", "afn")

#: Plain MLP of two matrices; every other type gates with a third.
PLAIN_MLP = frozenset({
    "gpt2", "gpt_neox", "gptj", "gpt_bigcode", "opt", "bloom", "falcon", "refinedweb", "refinedwebmodel", "mpt", "phi",
    "starcoder2", "nemotron", "nemotron_h", "codegen", "persimmon", "apertus", "arcee", "gpt_neo",
})  # fmt: skip
LAYER_NORM = frozenset({
    "gpt2", "gpt_neox", "gptj", "gpt_bigcode", "opt", "bloom", "falcon", "refinedweb", "refinedwebmodel", "phi",
    "starcoder2", "nemotron", "codegen", "persimmon", "stablelm", "stablelm_epoch", "phimoe", "gpt_neo",
    "phi3small",
})  # fmt: skip
LAYER_NORM_WITHOUT_BIAS = frozenset({"mpt", "dbrx", "cohere", "cohere2"})
NO_NORM_WEIGHTS = frozenset({"olmo"})
#: Biases in the MLP as well as in attention.
ALL_BIASES = frozenset({"gpt2", "gpt_neox", "gpt_bigcode", "opt", "bloom", "phi", "starcoder2"})
MLP_BIASES_ONLY = frozenset({"gptj", "codegen"})
HEAD_BIAS = frozenset({"gptj", "codegen", "phi", "phimoe"})
#: Biases on queries, keys and values (implied, or where `attention_bias` is set).
QKV_BIAS_IMPLIED = frozenset({
    "qwen", "qwen2", "qwen2_moe", "qwen2_vl", "qwen2_vl_text", "qwen2_5_vl", "qwen2_5_vl_text", "qwen2_5_omni_text",
})  # fmt: skip
QKV_BIAS_IF_SET = frozenset({"glm", "glm4", "glm4_moe", "seed_oss", "mimo", "mimo_v2_flash", "chatglm", "stablelm"})
ONE_NORM = frozenset({"gptj", "codegen", "phi", "cohere", "cohere2", "mamba", "falcon_mamba", "nemotron_h"})
FOUR_NORMS = frozenset({"gemma2", "gemma3", "gemma3_text", "gemma3n", "gemma3n_text", "gemma4", "gemma4_text",
                        "gemma4_unified", "glm4", "grok-1", "afmoe"})  # fmt: skip
#: One norm vector as wide as a head on queries and keys / over all heads.
HEAD_NORM = frozenset({
    "qwen3", "qwen3_moe", "qwen3_vl_text", "qwen3_vl_moe_text", "qwen3_next", "qwen3_5", "qwen3_5_text", "qwen3_5_moe",
    "qwen3_5_moe_text", "gemma3", "gemma3_text", "gemma3n", "gemma3n_text", "gemma4", "gemma4_text", "exaone4",
    "exaone_moe", "apertus", "lfm2", "lfm2_moe", "dots1", "hunyuan_v1_dense", "hunyuan_v1_moe", "afmoe",
})  # fmt: skip
FULL_NORM = frozenset({"olmo2", "olmo3", "olmoe", "minimax_m2"})
#: Head and embedding share their weights unless the file says otherwise.
TIED = frozenset({
    "gpt2", "gpt_bigcode", "gpt_neo", "opt", "bloom", "falcon", "refinedweb", "refinedwebmodel", "mpt", "gemma",
    "gemma2", "gemma3", "gemma3_text", "gemma3n", "gemma3n_text", "gemma4", "gemma4_text", "cohere", "cohere2",
    "starcoder2", "smollm3", "minicpm", "phi3small", "lfm2", "lfm2_moe", "granitemoehybrid", "mamba", "qwen3_5_text",
    "grok-1",
})  # fmt: skip
#: A bias, or a learned correction, on the scores of the router.
ROUTER_BIAS = frozenset({
    "deepseek_v3", "deepseek_v32", "kimi_k2", "glm4_moe", "glm4_moe_lite", "glm_moe_dsa", "gpt_oss", "kimi_linear",
    "dots1", "lfm2_moe", "minimax_m2", "bailing_moe_v2", "bailing_moe", "mimo_v2_flash", "exaone_moe", "afmoe",
})  # fmt: skip
SHARED_GATE = frozenset({"qwen2_moe", "qwen3_next", "qwen3_5_moe", "qwen3_5_moe_text"})
OUTPUT_GATE = frozenset({"qwen3_next", "qwen3_5", "qwen3_5_text", "qwen3_5_moe", "qwen3_5_moe_text", "afmoe"})
#: A window in every layer, in every second one, or in all but every n-th.
WINDOW_EVERYWHERE = frozenset({"mistral", "mixtral", "starcoder2", "phi3", "phimoe"})
WINDOW_ALTERNATES = frozenset({"gemma2", "gpt_oss"})
WINDOW_PATTERN = {"gemma3": 6, "gemma3_text": 6, "gemma3n": 5, "gemma3n_text": 5, "cohere2": 4, "gemma4": 6,
                  "gemma4_text": 6, "exaone4": 4, "llama4": 4, "llama4_text": 4}  # fmt: skip

_ORDINARY = frozenset({
    "llama", "yi", "aquila", "baichuan", "internlm", "internlm2", "internlm3", "granite", "granitemoe", "exaone",
    "ernie4_5", "ernie4_5_moe", "minicpm3", "deepseek", "deepseek_v2", "ministral", "ministral3", "mistral3", "jamba",
    "falcon_h1", "minimax", "minimax_text_01", "hunyuan", "smollm",
})  # fmt: skip
#: Types whose implied settings stand above; any other is read as an ordinary block, and that is said.
KNOWN_TYPES = frozenset().union(
    PLAIN_MLP, LAYER_NORM, LAYER_NORM_WITHOUT_BIAS, NO_NORM_WEIGHTS, QKV_BIAS_IMPLIED, QKV_BIAS_IF_SET, ONE_NORM,
    FOUR_NORMS, HEAD_NORM, FULL_NORM, TIED, ROUTER_BIAS, SHARED_GATE, OUTPUT_GATE, WINDOW_EVERYWHERE,
    WINDOW_ALTERNATES, WINDOW_PATTERN, _ORDINARY,
)  # fmt: skip

#: No model is larger in any dimension; a larger number in a file is an error in it.
_LARGEST = 10**8


class ConfigKeys:
    """A configuration (its text part laid over the whole), asked for numbers under any of their usual names."""

    def __init__(self, config: Mapping[str, Any], where: str) -> None:
        text = next((config[k] for k in ("text_config", "llm_config", "language_config") if _table(config.get(k))), {})
        self.where = where
        self.guessed: list[str] = []
        self._values = translated({**config, **text})
        self.model_type = str(self._values.get("model_type") or "").lower()

    def get(self, *names: str) -> Any:
        """The first value that is there and not null; None if there is none. A dot leads into a nested table."""
        for name in names:
            value: Any = self._values
            for step in name.split("."):
                value = value.get(step) if isinstance(value, Mapping) else None
            if value is not None:
                return value
        return None

    def number(self, *names: str, default: int = 0) -> int:
        """A count under one of its names; `default` where the file does not say."""
        value = self.get(*names)
        if isinstance(value, list) and value:  # one entry a layer
            numbers = [self._checked(names[0], x) for x in value]
            usual = max(numbers, key=numbers.count)  # the first of those that occur most
            return usual if len(set(numbers)) == 1 else self.guess(names[0], usual)
        return default if value is None else self._checked(names[0], value)

    def required(self, *names: str) -> int:
        """A count that must be there and positive."""
        if self.get(*names) is None:
            raise InputError("model.missing_key", file=self.where, key=names[0])
        value = self.number(*names)
        if value <= 0:
            raise InputError("model.bad_value", file=self.where, key=names[0], value=str(value))
        return value

    def guess(self, field: str, value: int) -> int:
        """A value that was assumed; its field is listed for the reader."""
        if field not in self.guessed:
            self.guessed.append(field)
        return value

    def mean(self, *names: str) -> int:
        """A count of which the layers may have different ones: the mean, rounded up, keeps the sum over the layers."""
        value = self.get(*names)
        layers = self.number(*LAYERS)
        if not isinstance(value, list) or len(value) != layers or len(set(map(str, value))) == 1:
            return self.number(*names)
        return self.guess(names[0], -(-sum(self._checked(names[0], x) for x in value) // layers))

    def flag(self, *names: str, default: bool = False) -> bool:
        """A yes-or-no setting."""
        value = self.get(*names)
        return default if value is None else bool(value)

    def words(self, name: str) -> tuple[str, ...]:
        """A list of words, such as the kinds of layers."""
        value = self.get(name)
        return tuple(str(x) for x in value) if isinstance(value, list) else ()

    def _checked(self, key: str, value: Any) -> int:
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= _LARGEST:
            raise InputError("model.bad_value", file=self.where, key=key, value=str(value)[:60])
        if value != int(value):
            raise InputError("model.bad_value", file=self.where, key=key, value=str(value)[:60])
        return int(value)


def _table(value: object) -> bool:
    return isinstance(value, Mapping) and bool(value)
