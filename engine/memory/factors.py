"""Which linear forms give the bytes of one block: the derived ones, or the nearest ones with a wider interval.

A *form* maps symbols (widths; see the header of `block_factors.json`) to factors; its value is bytes a token.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache

from engine.architecture.model import Architecture
from engine.layout.model import Attention, Job, LayoutLike, Method, Recomputation, Regime, Sharding
from engine.memory.block_kind import LATENT, REFERENCE, ROUTED, resolve_kind
from engine.memory.calibration import block_factors
from engine.memory.lora import adapter_form, canonical_targets
from engine.memory.precision import is_four_bit, uses_autocast

__all__ = [
    "QUANTITIES",
    "BlockForms",
    "Way",
    "forms_of",
    "resolve_kind",
    "sdpa_forms",
    "way_of",
    "with_fused_kernels",
    "with_selected_operators",
]

Form = Mapping[str, float]
QUANTITIES = ("saved", "rest", "forward", "backward", "bottom")

#: Interval of a block's bytes where a way of training is composed from neighbours, as a fraction of those bytes.
#: Source: derived entries left out one at a time and composed: median 0, 95th percentile 10 % (tests/memory).
COMPOSED_ERROR = 0.12

#: The same where the kind of block itself has no derived factors. Source: leave-one-kind-out over the traces:
#: 5th to 95th percentile of the activations -21 to +17 %, 95th percentile of the peak 10 % (tests/memory).
FALLBACK_ERROR = 0.30


@dataclass(frozen=True, slots=True)
class Way:
    """A way of training as the table of factors is keyed."""

    method: str  # full | lora | qlora
    targets: str = ""  # all | attention | qv | mlp | none
    precision: str = "bf16"  # full: bf16, fp32, fp32_autocast; adapters: fp32, bf16, autocast
    dropout: bool = False
    kbit: bool = False
    checkpointing: str = "full"  # none | attention | full
    attention: str = "flash"  # flash | eager

    @property
    def key(self) -> str:
        """Key of the table."""
        parts = [self.method]
        if self.method != "full":
            parts += [self.targets, self.precision]
            parts += ["dropout"] * self.dropout + ["kbit_prepare"] * self.kbit
        elif self.precision != "bf16":
            parts.append(self.precision)
        return "/".join([*parts, f"ckpt_{self.checkpointing}", self.attention])


@dataclass(frozen=True, slots=True)
class BlockForms:
    """Forms of one block; `gradient_part` is the part of its gradients that exists at the block's own peak.

    `error` is the uncertainty as a fraction of the block's bytes; `fallback` says that the kind is not derived.
    """

    kind: str
    saved: Form
    rest: Form
    forward: Form
    backward: Form
    bottom: Form
    gradient_part: float
    error: float
    fallback: bool


def way_of(job: Job, layout: LayoutLike) -> Way:
    """The way of training that a job and a layout describe."""
    checkpointing = {
        Recomputation.NONE: "none",
        Recomputation.ATTENTION: "attention",
        Recomputation.SELECTIVE: "attention",
        Recomputation.FULL: "full",
    }[layout.recomputation]
    attention = "eager" if layout.attention is Attention.EAGER else "flash"
    mixed = uses_autocast(job, layout)
    if job.lora is None and job.method is not Method.PROMPT:
        precision = {Regime.FP32: "fp32", Regime.BF16_AMP: "fp32_autocast", Regime.FP16_AMP: "fp32_autocast"}
        chosen = precision.get(layout.regime, "bf16")
        if mixed and layout.sharding in (Sharding.FSDP2, Sharding.ZERO3):
            chosen = "bf16"  # 16-bit weights are gathered from 32-bit shards: nothing is cast
        return Way("full", "", chosen, False, False, checkpointing, attention)
    four = is_four_bit(job.weight_quantization)
    targets = canonical_targets(job.lora.targets) if job.lora else "none"
    dtype = job.lora.adapter_dtype if job.lora else "bf16"
    return Way(
        method="qlora" if four else "lora",
        targets=targets,
        precision="autocast" if mixed else dtype,
        dropout=bool(job.lora and job.lora.dropout),
        kbit=job.kbit_preparation and four,
        checkpointing=checkpointing,
        attention=attention,
    )


#: What Megatron-LM's fused kernels keep of a block: 16-bit inputs of both norms and of the matrices behind them,
#: q, k, v, the attention output, and both halves and the product of the gated MLP. Source: arXiv:2205.05198,
#: eq. 1 to 3, with a gated MLP and flash attention; parallel in the sequence.
FUSED_SAVED: Form = {"h": 8.0, "f": 6.0, "a": 4.0, "k": 4.0, "hq": 4.0, "t": 4.0, "s": 6.0, "q": 2.0, "v": 4.0}

#: Interval of those bytes: Transformer Engine, recomputed products, 32-bit residuals. Source: spread over the
#: Megatron rows of the calibration part of the published measurements.
FUSED_ERROR = 0.25


#: What a block keeps under torchtitan's selective recomputation: its input, the attention output and every second
#: product of a matrix (half of q, k, v, o, gate, up, down). Source: torchtitan, activation checkpointing by operator.
EVERY_SECOND_PRODUCT: Form = {"h": 4.0, "f": 2.0, "a": 3.0, "k": 2.0, "hq": 4.0, "t": 2.0, "s": 2.0}


def with_selected_operators(forms: BlockForms, way: Way) -> BlockForms:
    """Forms of a block of which single operators are recomputed, as torchtitan selects them."""
    if way.method != "full" or way.attention == "eager" or forms.kind in LATENT:
        return forms
    return replace(forms, saved=EVERY_SECOND_PRODUCT, error=max(forms.error, FUSED_ERROR))


def with_fused_kernels(forms: BlockForms, way: Way) -> BlockForms:
    """Forms of a block whose norms, rotary embedding and activation are fused kernels: Megatron-LM, torch.compile."""
    if way.checkpointing == "full" or way.attention == "eager" or way.method != "full":
        return forms
    latent = forms.kind in LATENT
    skipped = ("a", "k") if latent else ("q", "v")
    saved = {s: f for s, f in FUSED_SAVED.items() if s not in skipped}
    return replace(forms, saved=saved, error=max(forms.error, FUSED_ERROR))


@lru_cache(maxsize=1024)
def forms_of(kind: str, way: Way, *, known_kind: bool = True) -> BlockForms:
    """Forms of a kind and way: derived, or composed from the nearest derived ones."""
    found, exact = _compose(kind, way)
    if way.method != "full" and way.attention == "eager" and way.precision == "autocast":
        found = _with_probabilities(found)
    gradient_part = found["grad_part"].get("1", 0.0)
    fit = found["fit_error"].get("1", 0.0)
    error = fit if exact else max(fit, COMPOSED_ERROR)
    if not known_kind:
        error = max(error, FALLBACK_ERROR)
    saved, rest, forward, backward, bottom = (found[q] for q in QUANTITIES)
    return BlockForms(kind, saved, rest, forward, backward, bottom, gradient_part, error, not known_kind)


def sdpa_forms(arch: Architecture, job: Job, layout: LayoutLike) -> tuple[Form, Form]:
    """What PyTorch's SDPA keeps above flash attention: a form for windowed layers, and one for all layers.

    A window not longer than the sequence comes as a boolean mask: memory-efficient kernel, k and v repeated, and a
    16-bit copy of the mask for each layer. 32-bit inputs with grouped heads leave only the math kernel, which keeps
    32-bit probabilities. Source: traces.
    """
    if layout.attention is not Attention.SDPA:
        return {}, {}
    windowed: Form = {}
    if arch.sliding_window_layers and 0 < arch.sliding_window <= job.sequence_length:
        windowed = {"a": 4.0, "k": -4.0, "m": 2.0}
    grouped = 0 < arch.kv_heads < arch.attention_heads
    return windowed, {"p": 4.0, "a": 8.0, "k": -8.0} if layout.regime is Regime.FP32 and grouped else {}


def _entry(kind: str, way: Way) -> dict[str, Form] | None:
    table = block_factors()[kind]
    raw = table.get(way.key)
    if raw is None and kind in ROUTED and way.targets == "attention":
        raw = table.get(replace(way, targets="all").key)
    if raw is None:
        return None
    fit = raw["fit_error"]
    entry: dict[str, Form] = {q: raw[q] for q in QUANTITIES}
    entry["grad_part"] = {"1": raw["grad_part"]}
    entry["fit_error"] = {"1": max(fit["saved"], fit["backward"], fit["bottom"])}
    return entry


def _combine(*parts: tuple[float, dict[str, Form]]) -> dict[str, Form]:
    """Linear combination of entries; the gradient part and the fit error are those of the first."""
    result: dict[str, Form] = {"grad_part": parts[0][1]["grad_part"], "fit_error": parts[0][1]["fit_error"]}
    for quantity in QUANTITIES:
        total: dict[str, float] = {}
        for weight, entry in parts:
            for symbol, factor in entry[quantity].items():
                total[symbol] = total.get(symbol, 0.0) + weight * factor
        result[quantity] = total
    return result


def _compose(kind: str, way: Way) -> tuple[dict[str, Form], bool]:
    entry = _entry(kind, way)
    if entry is not None:
        return entry, True
    if way.method == "full":
        return _compose_full(kind, way), False
    if (way.attention, way.checkpointing) not in (("flash", "none"), ("flash", "full")):
        # the kernel and the recomputed part act alike under adapters: take the difference from full training
        plain = replace(way, attention="flash", checkpointing="full" if way.checkpointing == "full" else "none")
        base, _ = _compose(kind, plain)
        full = Way("full", checkpointing=way.checkpointing, attention=way.attention)
        flash = Way("full", checkpointing=plain.checkpointing, attention="flash")
        return _combine((1, base), (1, _compose(kind, full)[0]), (-1, _compose(kind, flash)[0])), False
    return _compose_adapters(kind, way), False


def _with_probabilities(entry: dict[str, Form]) -> dict[str, Form]:
    """Eager attention under autocast on a GPU holds one 16-bit copy of the probabilities more at the block's peak.

    The traces run autocast by the operator list of the CPU, which has no such copy. Source: measured peaks of adapters
    under autocast with eager attention (calibration part of the published measurements, family fitcheck-t4): 2.07 to
    2.13 bytes a probability above the traced form.
    """
    changed = dict(entry)
    for quantity in ("backward", "bottom"):
        changed[quantity] = {**entry[quantity], "p": entry[quantity].get("p", 0.0) + 2.0}
    return changed


def _compose_full(kind: str, way: Way) -> dict[str, Form]:
    if way.checkpointing == "attention" and way.attention == "eager":
        # eager attention inside a recomputed region leaves nothing behind but its peak
        flash, eager = replace(way, attention="flash"), replace(way, checkpointing="full")
        full = replace(eager, attention="flash")
        parts = (1, _compose(kind, flash)[0]), (1, _compose(kind, eager)[0]), (-1, _compose(kind, full)[0])
        return _combine(*parts)
    plain = replace(way, precision="bf16")
    if plain == way:  # a kind whose eager attention was not traced: the kernel acts alike in all kinds
        flash = replace(way, attention="flash")
        parts = (1, _compose(kind, flash)[0]), (1, _compose(REFERENCE, way)[0]), (-1, _compose(REFERENCE, flash)[0])
        return _combine(*parts)
    base = _compose(kind, plain)[0]
    if way.precision == "fp32":
        return _in_32_bits(base)
    one = "none" if way.checkpointing == "none" else "full"
    cast = _entry(kind, Way("full", precision="fp32_autocast", checkpointing=one))
    uncast = _entry(kind, Way("full", checkpointing=one))
    if cast is None or uncast is None:
        cast = _entry(REFERENCE, Way("full", precision="fp32_autocast", checkpointing=one)) or base
        uncast = _entry(REFERENCE, Way("full", checkpointing=one)) or base
    return _combine((1, base), (1, cast), (-1, uncast))


def _in_32_bits(entry: dict[str, Form]) -> dict[str, Form]:
    """All tensors doubled, except the two norms' inputs and the constants, which are 32-bit already."""
    doubled: dict[str, Form] = {"grad_part": entry["grad_part"], "fit_error": entry["fit_error"]}
    for quantity in QUANTITIES:
        form = {s: f if s in ("1", "hq", "d", "dr") else 2 * f for s, f in entry[quantity].items()}
        if quantity == "saved" and form.get("h", 0) > 8:
            form["h"] -= 8.0
        doubled[quantity] = form
    return doubled


def _compose_adapters(kind: str, way: Way) -> dict[str, Form]:
    """From the nearest traced adapters of the kind; what differs is carried over from the reference kind."""
    if kind in ROUTED and way.targets == "all":
        way = replace(way, targets="attention")
    anchor = _nearest_way(kind, way)
    base = None if anchor is None else _entry(kind, anchor)
    if base is None or anchor is None:  # every derived kind has adapters; one without would be a damaged file
        raise KeyError(f"no adapters derived for {kind}")
    if way.kbit and not anchor.kbit:
        # 32-bit norms and embeddings make the residual stream 32-bit, whatever the adapters are
        kbit = Way("qlora", "all", "autocast", kbit=True, checkpointing=way.checkpointing)
        with_kbit, without = _entry(REFERENCE, kbit), _entry(REFERENCE, replace(kbit, kbit=False))
        if with_kbit is not None and without is not None:
            return _combine((1, _compose(kind, replace(way, kbit=False))[0]), (1, with_kbit), (-1, without))
    if kind in ROUTED:
        anchor = replace(anchor, targets="attention")
    kept = _retarget(base, anchor, way, kind)["saved"]  # the rules of what adapters keep are exact, kind by kind
    parts: list[tuple[float, dict[str, Form]]] = [(1.0, base)]
    known = _nearest_way(REFERENCE, way)
    if known is not None and known != anchor:
        reference = _entry(REFERENCE, known)
        origin = _entry(REFERENCE, anchor)
        if reference is not None and origin is not None:
            parts += [(1.0, reference), (-1.0, origin)]
            anchor = known
    return {**_retarget(_combine(*parts), anchor, way, kind), "saved": kept}


def _nearest_way(kind: str, way: Way) -> Way | None:
    """The traced way of a kind that is nearest to `way`."""
    bare = replace(way, dropout=False, kbit=False)
    wide = "attention" if way.targets in ("attention", "qv") else "all"
    plain = replace(bare, method="lora", precision="fp32")
    tries = (
        way,
        replace(way, dropout=False),
        replace(way, targets="all", dropout=False),
        bare,
        replace(bare, targets="all"),
        replace(bare, targets="attention"),
        replace(bare, method="lora", targets="all"),
        replace(plain, targets=wide),
        replace(plain, targets="all"),
    )
    return next((w for w in tries if _entry(kind, w) is not None), None)


def _retarget(entry: dict[str, Form], have: Way, want: Way, kind: str) -> dict[str, Form]:
    """Exchange what the adapters keep: the rules of `adapter_form` for `want` in place of those for `have`."""
    gained = adapter_form(kind, want.method, want.targets, want.precision, want.dropout, kbit=want.kbit)
    lost = adapter_form(kind, have.method, have.targets, have.precision, have.dropout, kbit=have.kbit)
    change = {s: gained.get(s, 0.0) - lost.get(s, 0.0) for s in {*gained, *lost}}
    result = dict(entry)
    recomputed = want.checkpointing == "full"
    for quantity in ("forward", "backward", "bottom") if recomputed else ("saved",):
        form = dict(entry[quantity])
        for symbol, factor in change.items():
            form[symbol] = form.get(symbol, 0.0) + factor
        result[quantity] = form
    return result
