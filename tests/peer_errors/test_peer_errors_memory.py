"""Errors that peer tools make with memory: each check holds, and turns red when that error is put in."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from dataclasses import dataclass, replace
from importlib.resources import files
from typing import Any

import numpy as np
import pytest
from traced_models import traced_models

import engine.memory.moments as moments
import engine.memory.overheads as overheads
import engine.memory.peak as peak
import engine.memory.quantized as quantized
import engine.memory.serving as serving
import engine.memory.step as step
import engine.memory.training as training
import engine.memory.verdict as verdict
import engine.memory.weights as weights
from engine.architecture.model import Architecture
from engine.hardware.model import Gpu
from engine.layout.model import InferenceJob, Job, Layout, Lora
from engine.memory.calibration import Overhead, memory_overheads
from engine.memory.kv_cache import kv_elements
from engine.memory.moments import Moment
from engine.memory.result import MemoryAssessment, Verdict
from engine.quantity import GIB, Bounds, TermBlock

Mutation = Callable[[pytest.MonkeyPatch], None]


@dataclass(frozen=True)
class PeerError:
    """A right behaviour, and ways of putting the error in."""

    number: int
    what: str
    check: Callable[[], None]
    mutations: tuple[Mutation, ...]


def _train(name: str = "llama-3.1-8b", layout: dict[str, Any] | None = None, **job: Any) -> MemoryAssessment:
    values = {"method": "full", "sequence_length": 4096, **job}
    chosen = Layout.model_validate({"regime": "pure-bf16", **(layout or {})})
    return verdict.assess(training.training_memory(traced_models()[name], Job.model_validate(values), chosen), None)


def _serve(name: str = "llama-3.1-8b", **job: Any) -> dict[str, float]:
    block = serving.inference_memory(traced_models()[name], InferenceJob.model_validate(job), Layout())
    return {t.name: t.expected for t in verdict.assess(block, None).terms}


def _term(found: MemoryAssessment, name: str) -> float:
    return sum(t.expected for t in found.terms if t.name == name)


# 1 ----------------------------------------------------------------------------------------------------------


def master_copy() -> None:
    found = _train(layout={"regime": "fp32-master"})
    held = _term(found, "memory.weights") + _term(found, "memory.optimizer_states")
    assert held / 8.03e9 == pytest.approx(14, rel=0.01)  # 2 weights, 4 master, 8 states; gradients come on top
    assert found.allocated.expected / 8.03e9 >= 16


def no_master(patch: pytest.MonkeyPatch) -> None:
    known = step.precision_of
    patch.setattr(step, "precision_of", lambda *a: replace(known(*a), master=0.0))


# 2 ----------------------------------------------------------------------------------------------------------


def logits_counted() -> None:
    tokens, vocabulary = 4096, 128256
    plain = _train(method="lora", lora=Lora())
    assert _term(plain, "memory.logits") == pytest.approx(12 * tokens * vocabulary)
    chunked = _train(method="lora", lora=Lora(), layout={"loss": "chunked"})
    assert plain.allocated.expected - chunked.allocated.expected > 5 * tokens * vocabulary


def no_logits(patch: pytest.MonkeyPatch) -> None:
    for name in ("loss_forward", "loss_backward"):
        known = getattr(moments, name)
        patch.setattr(moments, name, lambda s, known=known: replace(known(s), amount=Bounds.exact(0.0)))


# 3 ----------------------------------------------------------------------------------------------------------


def four_bits_are_half_a_byte() -> None:
    arch = traced_models()["llama-3.1-70b"]
    for format_ in ("nf4", "nf4-dq"):
        found = _train("llama-3.1-70b", method="qlora", lora=Lora(), weight_quantization=format_)
        kept = 2 * 2 * arch.vocabulary_size * arch.hidden_size
        linear = arch.parameters_total - 2 * arch.vocabulary_size * arch.hidden_size
        assert 0.50 < (_term(found, "memory.weights") - kept) / linear < 0.57


def eighth_of_16_bits(patch: pytest.MonkeyPatch) -> None:
    for name in ("nf4", "nf4-dq"):
        patch.setitem(quantized.FORMATS, name, replace(quantized.FORMATS[name], bits=2.0))


# 4 ----------------------------------------------------------------------------------------------------------


def embeddings_stay_whole() -> None:
    arch = traced_models()["llama-3.1-8b"]
    outside = 2 * 2 * arch.vocabulary_size * arch.hidden_size
    linear = arch.parameters_total - outside // 2
    found = _train(method="qlora", lora=Lora(), weight_quantization="nf4-dq")
    assert _term(found, "memory.weights") >= outside + 0.5 * linear


def everything_quantised(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(weights, "unquantised_bytes_per_element", lambda *a, **k: 0.5)


# 5 ----------------------------------------------------------------------------------------------------------


def cards_are_not_summed() -> None:
    """Eight 24 GB cards hold 192 GB together, and still not one replica of 60 GB on each."""
    card = Gpu(id="x", vendor="NVIDIA", name="24 GB", usable_bytes=24 * 2**30)
    job = Job.model_validate({"method": "full", "sequence_length": 4096})
    layout = Layout.model_validate({"regime": "pure-bf16", "data_parallel": 8})
    block = training.training_memory(traced_models()["llama-3.1-8b"], job, layout)
    assert float(block.driver.expected) < 8 * 24 * 2**30
    assert verdict.assess(block, card).verdict is Verdict.DOES_NOT_FIT


def summed(patch: pytest.MonkeyPatch) -> None:
    known = verdict.verdicts
    patch.setattr(verdict, "verdicts", lambda block, usable, *rest: known(block, 8 * usable, *rest))


# 6 ----------------------------------------------------------------------------------------------------------


def only_states_are_sharded() -> None:
    few, many = (_train(layout={"data_parallel": n, "shard_degree": n, "sharding": "fsdp2"}) for n in (8, 64))
    for name in ("memory.activations", "memory.gather_buffers"):
        assert _term(few, name) == pytest.approx(_term(many, name)) and _term(few, name) > 0
    assert _term(few, "memory.weights") == pytest.approx(8 * _term(many, "memory.weights"))
    assert _term(many, "memory.gather_buffers") > 2 * 2 * 128256 * 4096  # embedding and head stay gathered


def shard_activations(patch: pytest.MonkeyPatch) -> None:
    known = moments.kept_activations

    def divided(s: step.Step, **more: Any) -> TermBlock:
        one = known(s, **more)
        return replace(one, amount=one.amount / s.layout.shard_degree)

    patch.setattr(moments, "kept_activations", divided)


def shard_buffers(patch: pytest.MonkeyPatch) -> None:
    known = moments.gather_term

    def divided(s: step.Step, *rest: Any, **more: Any) -> TermBlock | None:
        one = known(s, *rest, **more)
        return one and replace(one, amount=one.amount / s.layout.shard_degree)

    patch.setattr(moments, "gather_term", divided)


# 7 ----------------------------------------------------------------------------------------------------------


def all_experts_are_resident() -> None:
    assert _term(_train("mixtral-8x7b"), "memory.weights") == pytest.approx(2 * 46.7e9, rel=0.01)
    assert _serve("mixtral-8x7b")["memory.weights"] == pytest.approx(2 * 46.7e9, rel=0.01)


def active_only(patch: pytest.MonkeyPatch) -> None:
    known = step.shape_of

    def active(arch: Architecture, kind: str) -> Any:
        whole = known(arch, kind)
        used = whole.experts * arch.experts_per_token // max(arch.experts, 1)
        return replace(whole, experts=used)

    patch.setattr(step, "shape_of", active)
    patch.setattr(serving, "shape_of", active)


# 8 ----------------------------------------------------------------------------------------------------------


def cache_is_right() -> None:
    cache = _serve(concurrent_sequences=32, prompt_tokens=7680, output_tokens=512)["memory.kv_cache"]
    assert cache == 32 * 8192 * 2 * 32 * 8 * 128 * 2  # K and V, 32 layers, 8 of 32 heads, 16 bits
    assert (
        cache
        == _serve(concurrent_sequences=32, prompt_tokens=7680, output_tokens=512, weight_quantization="awq4")[
            "memory.kv_cache"
        ]
    )


def _scaled_cache(factor: float) -> Mutation:
    def mutation(patch: pytest.MonkeyPatch) -> None:
        patch.setattr(serving, "kv_elements", lambda a, n: (factor * kv_elements(a, n)[0], kv_elements(a, n)[1]))

    return mutation


def cache_at_weight_precision(patch: pytest.MonkeyPatch) -> None:
    known = serving._cache

    def wrong(arch: Architecture, job: InferenceJob, *rest: Any) -> TermBlock:
        bits = 4 if job.weight_quantization != "none" else 16
        return known(arch, job.model_copy(update={"kv_cache_bits": bits}), *rest)

    patch.setattr(serving, "_cache", wrong)


# 9 ----------------------------------------------------------------------------------------------------------


def logits_of_the_last_position() -> None:
    assert _serve(prompt_tokens=8192)["memory.logits"] <= 10 * 128256


def logits_of_the_whole_prompt(patch: pytest.MonkeyPatch) -> None:
    known = serving._logits

    def wrong(arch: Architecture, job: InferenceJob, *rest: Any, **more: Any) -> TermBlock:
        one = known(arch, job, *rest, **more)
        return replace(one, amount=one.amount * job.prompt_tokens)

    patch.setattr(serving, "_logits", wrong)


# 10 ---------------------------------------------------------------------------------------------------------


def every_input_matters() -> None:
    base = _train(method="lora", lora=Lora(rank=16)).allocated.expected
    assert _train(method="lora", lora=Lora(rank=64)).allocated.expected > base
    assert _train(method="lora", lora=Lora(rank=16), sequence_length=8192).allocated.expected > base
    assert _train(method="lora", lora=Lora(rank=16), layout={"micro_batch_size": 2}).allocated.expected > base


def rank_ignored(patch: pytest.MonkeyPatch) -> None:
    known_adapters, known_widths = step.adapter_elements, step._widths
    fixed = Lora(rank=16)
    patch.setattr(
        step,
        "adapter_elements",
        lambda shape, job, *rest: known_adapters(shape, job.model_copy(update={"lora": fixed}), *rest),
    )
    patch.setattr(step, "_widths", lambda *a, **k: {**known_widths(*a, **k), "r": 16})


def length_ignored(patch: pytest.MonkeyPatch) -> None:
    known = training.make_step
    patch.setattr(
        training,
        "make_step",
        lambda a, job, *rest, **more: known(a, job.model_copy(update={"sequence_length": 2048}), *rest, **more),
    )


# 11 ---------------------------------------------------------------------------------------------------------


def peak_over_moments() -> None:
    """Traced: 59.86 GiB. Terms of one moment add up; moments do not."""
    assert _train().allocated.expected / GIB == pytest.approx(59.86, rel=0.005)


def greatest_term(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(
        peak,
        "add",
        lambda terms: max(
            (t.amount for t in terms), key=lambda a: float(np.max(a.expected)), default=Bounds.exact(0.0)
        ),
    )


def sum_over_phases(patch: pytest.MonkeyPatch) -> None:
    known = training.moments_of

    def merged(s: step.Step) -> list[Moment]:
        found = known(s)
        return [Moment(found[0].label, "forward", tuple(t for m in found for t in m.terms))]

    patch.setattr(training, "moments_of", merged)


# 12 ---------------------------------------------------------------------------------------------------------


def counted_parameters() -> None:
    published = {"llama-3.2-1b": 1_235_814_400, "qwen3-0.6b": 596_049_920, "gemma-2-2b": 2_614_341_888}
    for name, count in published.items():
        assert _term(_train(name), "memory.weights") / 2 == pytest.approx(count, rel=1e-3)


def twelve_h_squared(patch: pytest.MonkeyPatch) -> None:
    known = step.shape_of

    def wrong(arch: Architecture, kind: str) -> Any:
        return replace(known(arch, kind), linear=12 * arch.hidden_size**2 * arch.layers)

    patch.setattr(step, "shape_of", wrong)


# 13 ---------------------------------------------------------------------------------------------------------


def overheads_are_not_a_flat_share() -> None:
    shares = []
    for name, job in (
        ("llama-3.1-70b", {"method": "qlora", "lora": Lora(), "weight_quantization": "nf4-dq"}),
        ("smollm2-135m", {"method": "full", "sequence_length": 512}),
    ):
        found = _train(name, **job)
        shares.append(found.driver.expected / found.allocated.expected - 1)
    assert shares[0] < 0.10 < shares[1]  # mostly constants: little of 45 GiB, much of 1 GiB


def flat_fifth(patch: pytest.MonkeyPatch) -> None:
    def flat(platform: Any, parts: Any, gpus: Any, **more: Any) -> list[TermBlock]:
        amount = 0.2 * (parts.fixed + parts.changing + parts.cache)
        return [TermBlock("memory.fragmentation", Bounds.exact(amount), "x", {}, "x")]

    patch.setattr(peak, "overhead_terms", flat)


# 20 ---------------------------------------------------------------------------------------------------------


def unknown_is_not_no() -> None:
    job = Job.model_validate({"method": "full", "sequence_length": 512})
    block = training.training_memory(traced_models()["llama-3.2-1b"], job, Layout())
    assert verdict.assess(block, Gpu(id="x", vendor="x", name="no data")).verdict is Verdict.UNKNOWN


def unknown_as_no(patch: pytest.MonkeyPatch) -> None:
    known = verdict.verdicts
    patch.setattr(verdict, "verdicts", lambda block, usable, *rest: known(block, usable or 0.0, *rest))


# 21 ---------------------------------------------------------------------------------------------------------


def constants_have_sources() -> None:
    text = (files("resources") / "calibration" / "memory_overheads.csv").read_text(encoding="utf-8")
    assert len(overheads.memory_overheads()) == len(list(csv.DictReader(io.StringIO(text))))
    for one in overheads.memory_overheads().values():
        assert one.source and one.date, one
    factors = (files("resources") / "calibration" / "block_factors.json").read_text(encoding="utf-8")
    assert '"versions": "torch ' in factors
    # one engine's figure is not another's
    assert serving._engine("vllm").graph_bytes != serving._engine("llama.cpp").graph_bytes


def no_scopes(patch: pytest.MonkeyPatch) -> None:
    general = {(item, ""): one for (item, scope), one in memory_overheads().items() if not scope}
    patch.setattr(serving, "memory_overheads", lambda: general)


def no_versions(patch: pytest.MonkeyPatch) -> None:
    bare: dict[tuple[str, str], Overhead] = {k: replace(o, date="") for k, o in memory_overheads().items()}
    patch.setattr(overheads, "memory_overheads", lambda: bare)


ERRORS = (
    PeerError(1, "no 32-bit master copy", master_copy, (no_master,)),
    PeerError(2, "logits ignored", logits_counted, (no_logits,)),
    PeerError(3, "nf4 as an eighth of 16 bits", four_bits_are_half_a_byte, (eighth_of_16_bits,)),
    PeerError(4, "embeddings quantised", embeddings_stay_whole, (everything_quantised,)),
    PeerError(5, "memory of cards summed", cards_are_not_summed, (summed,)),
    PeerError(6, "activations or buffers sharded", only_states_are_sharded, (shard_activations, shard_buffers)),
    PeerError(7, "experts from active parameters", all_experts_are_resident, (active_only,)),
    PeerError(
        8,
        "cache without grouped heads, without the factor 2, at weight precision",
        cache_is_right,
        (_scaled_cache(4.0), _scaled_cache(0.5), cache_at_weight_precision),
    ),
    PeerError(9, "logits of the whole prompt", logits_of_the_last_position, (logits_of_the_whole_prompt,)),
    PeerError(10, "an input that changes nothing", every_input_matters, (rank_ignored, length_ignored)),
    PeerError(11, "sum and maximum exchanged", peak_over_moments, (greatest_term, sum_over_phases)),
    PeerError(12, "parameters from 12 h² L", counted_parameters, (twelve_h_squared,)),
    PeerError(13, "flat overhead", overheads_are_not_a_flat_share, (flat_fifth,)),
    PeerError(20, "unavailable read as does not fit", unknown_is_not_no, (unknown_as_no,)),
    PeerError(21, "constants without a version", constants_have_sources, (no_scopes, no_versions)),
)


@pytest.mark.parametrize("error", ERRORS, ids=lambda e: f"{e.number}: {e.what}")
def test_right(error: PeerError) -> None:
    error.check()


CASES = [(e, m) for e in ERRORS for m in e.mutations]


@pytest.mark.parametrize(("error", "mutation"), CASES, ids=[f"{e.number}-{i}" for i, (e, _) in enumerate(CASES)])
def test_turns_red(error: PeerError, mutation: Mutation, monkeypatch: pytest.MonkeyPatch) -> None:
    mutation(monkeypatch)
    with pytest.raises(AssertionError):
        error.check()
