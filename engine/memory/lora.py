"""Low-rank adapters (arXiv:2106.09685): how many weights they have, and what they keep for the backward pass."""

from __future__ import annotations

from collections.abc import Mapping

from engine.layout.model import Job
from engine.memory.block_kind import LATENT
from engine.memory.shape import FUSED_ATTENTION, FUSED_MLP, PLAIN_MLP, Matrix, Shape, Share
from engine.quantity import Number

__all__ = ["adapted_matrices", "adapter_elements", "adapter_form", "canonical_targets"]

#: Inputs of the projections of a group: symbol of the width, projections that read it, and how they share it.
_Inputs = tuple[tuple[str, int, str], ...]
_SEPARATE: Mapping[str, _Inputs] = {
    "attention": (("h", 3, "shared"), ("a", 1, "kept")),  # q, k, v from one tensor; o from the attention output
    "qv": (("h", 2, "shared"),),
    "mlp": (("h", 2, "shared"), ("f", 1, "own")),  # gate, up from one tensor; down from the gated product
}
_ONE_INWARD: Mapping[str, _Inputs] = {"mlp": (("h", 1, "shared"), ("f", 1, "own"))}  # fused gate and up, or no gate
#: Latent attention: q and kv_a from the block's input, kv_b from the normed latent, o from the attention output.
_LATENT: Mapping[str, _Inputs] = {"attention": (("h", 2, "shared"), ("rk", 1, "own"), ("v", 1, "own"))}
_LATENT_QUERIES: Mapping[str, _Inputs] = {"attention": (*_LATENT["attention"], ("rq", 1, "own"))}

#: Kinds with rotary embedding on a part of each head: the output of attention is copied before its projection, so that
#: the adapter's input is a tensor of its own. Source: traces, with and without dropout.
_COPIED_OUTPUT = frozenset({
    "gpt_neox", "phi3", "glm", "glm4", "glm4_moe", "glm4_moe_qk", "gpt_oss", "minimax_m2", "nemotron", "stablelm",
})  # fmt: skip


def _inputs_of(kind: str) -> Mapping[str, _Inputs]:
    found = dict(_SEPARATE)
    queries = 1 if kind in FUSED_ATTENTION else 3  # q, k, v are one matrix or three
    found["attention"] = (("h", queries, "shared"), ("a", 1, "own" if kind in _COPIED_OUTPUT else "kept"))
    if kind in FUSED_MLP or kind in PLAIN_MLP:
        found |= _ONE_INWARD
    if kind in LATENT:
        found |= _LATENT_QUERIES if kind.endswith("_q") else _LATENT
    if kind == "gpt2":  # its two output projections have one name
        found["attention"] = (*found["attention"], ("f", 1, "own"))
        found["mlp"] = (("h", 1, "shared"),)
    return found


def canonical_targets(targets: str) -> str:
    """Targets as the table of factors names them."""
    return {"all-linear": "all", "attention": "attention", "q,k,v,o": "attention", "q,v": "qv", "mlp": "mlp"}[targets]


def adapter_form(
    kind: str, method: str, targets: str, precision: str, dropout: bool, *, kbit: bool = False
) -> Mapping[str, float]:
    """Bytes a token and layer that adapters keep for backward, as factors of the widths h, a, f and the rank r.

    fp32 adapters without autocast: 4i + 4r for each target anew (PEFT casts the input each time); under autocast
    2i + 2r; over a 4-bit base, or in bf16, 2r and two bytes of each different input. Dropout adds a one-byte mask
    of the input, and where the input was shared a copy of its own for each target. After k-bit preparation the residual
    stream is in 32 bits (`kbit`): each target casts it anew.
    Source: traces (formulas in `block_factors.json`, PEFT 0.21.2).
    """
    groups = {"all": ("attention", "mlp"), "none": ()}.get(targets, (targets,))
    form: dict[str, float] = {}

    def plus(symbol: str, factor: float) -> None:
        form[symbol] = form.get(symbol, 0.0) + factor

    for group in groups:
        for symbol, uses, sharing in _inputs_of(kind)[group]:
            if precision == "fp32":
                plus(symbol, 4.0 * uses)
                plus("r", 4.0 * uses)
            elif precision == "autocast" and (method == "lora" or (kbit and symbol == "h")):
                plus(symbol, 2.0 * uses)
                plus("r", 2.0 * uses)
            else:
                plus("r", 2.0 * uses)
                copies = uses if dropout else (0 if sharing == "kept" else 1)
                plus(symbol, 2.0 * copies)
            if dropout:
                plus(symbol, 1.0 * uses)
    return form


def adapted_matrices(shape: Shape, job: Job) -> tuple[Matrix, ...]:
    """Matrices that get an adapter. Stacked experts get none; where experts are separate layers "all" includes them."""
    if job.lora is None:
        return ()
    targets = canonical_targets(job.lora.targets)
    adaptable = [m for m in shape.matrices if m.adaptable]
    if targets == "qv":
        names = {"q_proj", "v_proj", "qkv_proj", "q_a_proj", "q_b_proj"} & {m.name for m in adaptable}
        return tuple(m for m in adaptable if m.name in names)
    attention = tuple(m for m in adaptable if m.group == "attention" or _shares_name(shape, m))
    if targets == "attention" or (shape.experts and job.experts_implementation != "separate" and targets == "all"):
        return attention
    rest = tuple(m for m in adaptable if m not in attention)
    if shape.experts and job.experts_implementation != "separate":
        rest = tuple(m for m in rest if m.group != "expert")
    return rest if targets == "mlp" else attention + rest


def _shares_name(shape: Shape, matrix: Matrix) -> bool:
    """GPT-2 calls the output of attention and that of the MLP both `c_proj`; PEFT adapts by name."""
    return shape.kind == "gpt2" and matrix.name == "dense_mlp.down_proj"


def adapter_elements(shape: Shape, job: Job, share: Share, tensor_parallel: Number) -> tuple[Number, Number]:
    """Elements of all adapters on this card, and of those of one block: rank x (inputs + outputs) a matrix.

    Under tensor parallelism one of the two factors is split like its matrix; the other is whole, so that the
    split is counted for the wider half only.
    """
    if job.lora is None:
        return 0.0, 0.0
    per_model = 0.0
    split = 0.0
    for matrix in adapted_matrices(shape, job):
        per_model = per_model + job.lora.rank * matrix.count * min(matrix.inputs, matrix.outputs)
        split = split + job.lora.rank * matrix.count * max(matrix.inputs, matrix.outputs)
    local = (per_model + split / tensor_parallel) * share.layers / shape.layers
    return local, local / share.layers
