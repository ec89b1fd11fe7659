"""Which kind of transformer block a model has, as the table of memory factors names it."""

from __future__ import annotations

from engine.architecture.linears import extra_count
from engine.architecture.model import Architecture
from engine.memory.calibration import block_factors

__all__ = ["LATENT", "REFERENCE", "ROUTED", "resolve_kind"]

#: Kinds that keep what another kind keeps (they differ in parameters only). Source: the traces' own grouping.
SAME = {"mistral": "llama", "smollm3": "llama", "granite": "llama", "qwen2": "llama", "gemma3": "gemma3_text"}

#: Kind whose known differences between ways of training are carried over to kinds that lack a way.
REFERENCE = "llama"

#: Kinds with latent attention: without and with low-rank queries.
LATENT = frozenset({"deepseek_v3", "deepseek_v3_q"})

#: Kinds with stacked experts, which adapters leave alone: "all" targets are those of attention.
ROUTED = LATENT | {
    "mixtral", "qwen3_moe", "gpt_oss", "olmoe", "qwen2_moe", "glm4_moe", "glm4_moe_qk", "ernie4_5_moe", "granitemoe",
    "minimax_m2", "dots1", "phimoe",
}  # fmt: skip


def resolve_kind(arch: Architecture) -> tuple[str, bool]:
    """The kind of block to read, and whether it is only the nearest by structure."""
    kind = SAME.get(arch.block_kind, arch.block_kind)
    for one in _variants(arch, kind):
        if one in block_factors():
            return one, False
    return next(k for k in _by_structure(arch) if k in block_factors()), True


def _variants(arch: Architecture, kind: str) -> tuple[str, ...]:
    """A kind that one Hugging Face type covers with and without a part, the very one first."""
    if kind == "deepseek_v3" and arch.mla_q_lora_rank:
        return "deepseek_v3_q", kind
    if kind == "glm4_moe" and arch.qk_norm != "none":
        return ("glm4_moe_qk",)
    return (kind,)


def _by_structure(arch: Architecture) -> tuple[str, ...]:
    """Kinds by likeness; what a block keeps follows from its norms, its MLP and whether it routes tokens."""
    gated = arch.mlp in ("swiglu", "geglu")
    if arch.mla_kv_lora_rank:
        return ("deepseek_v3_q", "deepseek_v3") if arch.mla_q_lora_rank else ("deepseek_v3",)
    if arch.is_moe:
        return _routed(arch)
    if arch.norm in ("ln", "ln_nobias"):
        parallel = extra_count(arch, "norms", 2) == 1
        if gated:
            return ("cohere", "gpt_neox") if parallel else ("stablelm", "gpt_neox")
        plain = {"relu": "opt", "relu2": "nemotron"}.get(arch.mlp, "phi" if parallel else "gpt_neox")
        return plain, "gpt_neox"
    if arch.mlp == "geglu":
        four = extra_count(arch, "norms", 2) >= 4
        return ("gemma3_text",) if arch.qk_norm != "none" else ("gemma2",) if four else ("gemma", "gemma2")
    by_norm = {"head": "qwen3", "full": "olmo2"}.get(arch.qk_norm, REFERENCE)
    if not gated and arch.mlp != "none":
        return ("apertus" if arch.mlp == "xielu" else "arcee"), by_norm, REFERENCE
    if arch.norm == "none":
        return "olmo", REFERENCE
    if extra_count(arch, "norms", 2) >= 4 and arch.qk_norm == "none":
        return "glm4", REFERENCE
    return by_norm, "qwen3", REFERENCE


def _routed(arch: Architecture) -> tuple[str, ...]:
    shared = arch.shared_experts or extra_count(arch, "shared_ff")
    if arch.norm != "rms":
        return "phimoe", "mixtral"
    if arch.qk_norm == "full":
        return "olmoe", "qwen3_moe"
    if arch.qk_norm == "head":
        return ("glm4_moe_qk", "qwen3_moe") if shared else ("qwen3_moe",)
    return ("qwen2_moe", "mixtral") if shared else ("mixtral",)
