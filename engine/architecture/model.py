"""`Architecture`: the dimensions of a language model, as far as memory, speed and cost depend on them."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from engine.quantity import Frozen

__all__ = ["Architecture", "Basis"]

#: Where the dimensions come from; anything but "catalog" and "config" is a guess that is said.
Basis = Literal["catalog", "config", "checkpoint", "size", "shape"]


class Architecture(Frozen):
    """Dimensions of one model. Counts are elements; `extra` holds the further sizes of rare blocks.

    `head_dim` is the query/key width (latent attention: without-position part plus `mla_qk_rope_head_dim`).
    `intermediate_size` is the dense MLP, `moe_intermediate_size` one expert. The first `first_dense_layers` layers
    are dense, then every `moe_layer_frequency`-th is MoE. `full_attention_layers + sliding_window_layers +
    linear_layers` split the layers by the kind of attention. `block_kind` names the derived memory factors that
    apply ("llama", "qwen3", "gemma2", ... ; "" where none does: a first-principles fallback is used and said).
    """

    id: str
    name: str
    family: str = ""
    basis: Basis = "catalog"
    block_kind: str = ""
    hidden_size: int = Field(gt=0)
    layers: int = Field(gt=0)
    attention_heads: int = Field(default=0, ge=0)
    kv_heads: int = Field(default=0, ge=0)
    head_dim: int = Field(default=0, ge=0)
    intermediate_size: int = Field(default=0, ge=0)
    vocabulary_size: int = Field(gt=0)
    tied_embeddings: bool = False
    max_context: int = Field(default=0, ge=0)
    mlp: Literal["swiglu", "geglu", "gelu", "relu", "relu2", "xielu", "none"] = "swiglu"
    attention_bias: Literal["none", "qkv", "all"] = "none"
    qk_norm: Literal["none", "head", "full"] = "none"
    norm: Literal["rms", "ln", "ln_nobias", "none"] = "rms"
    sliding_window: int = Field(default=0, ge=0)
    full_attention_layers: int = Field(default=0, ge=0)
    sliding_window_layers: int = Field(default=0, ge=0)
    linear_layers: int = Field(default=0, ge=0)
    experts: int = Field(default=0, ge=0)
    experts_per_token: int = Field(default=0, ge=0)
    shared_experts: int = Field(default=0, ge=0)
    moe_intermediate_size: int = Field(default=0, ge=0)
    first_dense_layers: int = Field(default=0, ge=0)
    moe_layer_frequency: int = Field(default=1, ge=1)
    mla_kv_lora_rank: int = Field(default=0, ge=0)
    mla_q_lora_rank: int = Field(default=0, ge=0)
    mla_qk_rope_head_dim: int = Field(default=0, ge=0)
    mla_v_head_dim: int = Field(default=0, ge=0)
    kv_elements_per_token_full: int = Field(default=0, ge=0)
    kv_elements_per_token_window: int = Field(default=0, ge=0)
    state_elements_per_sequence: int = Field(default=0, ge=0)
    parameters_total: int = Field(gt=0, description="text model, tied heads once; no MTP, vision, scales")
    parameters_active: int = Field(gt=0)
    mtp_parameters: int = Field(default=0, ge=0)
    non_text_parameters: int = Field(default=0, ge=0)
    published_parameters: int = Field(default=0, ge=0)
    native_dtype: str = "bf16"
    stored_bits: float = Field(default=0.0, ge=0, le=64, description="bits of a weight in the GGUF file that was read")
    extra: dict[str, float | str] = Field(default_factory=dict)
    confidence: str = ""
    source_url: str = ""
    licence: str = ""
    release_date: str = ""
    guessed: tuple[str, ...] = Field(default=(), description="names of the dimensions that were not read but assumed")

    @property
    def is_moe(self) -> bool:
        """Whether some layers route tokens to experts."""
        return self.experts > 0
