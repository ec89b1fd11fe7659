"""Advice on the bundled catalogue: the examples that ship, and traps that guides and other tools fall into.

Expectations come from arithmetic that anyone can redo (16-bit weights of 70 B parameters are 140 GB), from the traced
cases of `tests/reference/data`, and from what the scenarios forbid; not from the engine.
"""

from __future__ import annotations

import random
from functools import cache
from importlib.resources import files

import pytest
from small_world import all_findings, wordless

from engine.advice.advise import advise
from engine.advice.result import Advice
from engine.catalog.load import load_catalog
from engine.hardware.model import CatalogSnapshot
from engine.layout.model import Job, Offload
from engine.memory.result import Verdict
from engine.messages import LABELS
from engine.scenario import Constraints, OwnedGpus, Scenario, Task

EXAMPLES = sorted(p.name for p in (files("resources") / "examples").iterdir() if p.name.endswith(".json"))


@cache
def known() -> CatalogSnapshot:
    return load_catalog(with_user_rows=False)


@cache
def example(name: str) -> Advice:
    text = (files("resources") / "examples" / name).read_text(encoding="utf-8")
    return advise(Scenario.model_validate_json(text), known())


def ask(model: str, workload: dict[str, object], **constraints: object) -> Advice:
    task = Task.model_validate({"id": "t", "model": {"catalog_id": model}, "workload": workload})
    limits = Constraints.model_validate(constraints)
    return advise(Scenario(as_of=example(EXAMPLES[0]).scenario.as_of, tasks=(task,), constraints=limits), known())


def train(method: str, length: int = 2048, **changes: object) -> dict[str, object]:
    return {"kind": "training", "method": method, "data": {"tokens": 10_000_000}, "sequence_length": length,
            "global_batch_size": 16, **changes}  # fmt: skip


def ranked_cards(advice: Advice) -> set[str]:
    return {a.plan.cluster.gpu.id for a in advice.ranked}


@pytest.mark.parametrize("name", EXAMPLES)
def test_every_example_has_an_answer_within_its_limits(name: str) -> None:
    advice = example(name)
    limits = advice.scenario.constraints
    assert len(advice.picks) == 3
    for assessment in advice.ranked:
        plan, gpu = assessment.plan, assessment.plan.cluster.gpu
        assert plan.way in limits.ways
        assert plan.cluster.gpus <= limits.max_gpus
        assert limits.data_may_leave or plan.way != "rent"
        assert limits.allow_spot or plan.offer is None or plan.offer.term != "spot"
        assert (
            limits.export_controlled_allowed
            or plan.way in ("shared", "owned")
            or (limits.region not in gpu.export_controlled_for)
        )
        assert limits.deadline_days is None or assessment.calendar_days.expected <= limits.deadline_days
        for task in assessment.tasks:
            assert task.memory.verdict in (Verdict.FITS, Verdict.FITS_TIGHTLY)
            assert task.memory.driver.expected + task.memory.in_use_bytes <= (gpu.usable_bytes or 0)
        assert assessment.risk == pytest.approx(sum(t.expected for t in assessment.risk_terms), abs=1e-6)


@pytest.mark.parametrize("name", EXAMPLES)
def test_every_finding_has_words_in_both_languages(name: str) -> None:
    assert not wordless(all_findings(example(name)))
    for assessment in example(name).ranked:
        for term in (*assessment.risk_terms, *(t for task in assessment.tasks for t in task.time_terms)):
            assert term.name in LABELS


def test_the_order_of_the_real_catalogue_does_not_matter() -> None:
    shuffled = {}
    for name in (
        "gpus",
        "systems",
        "offers",
        "purchase_prices",
        "cost_items",
        "api_prices",
        "models",
        "exchange_rates",
    ):
        rows = list(getattr(known(), name))
        random.Random(3).shuffle(rows)
        shuffled[name] = tuple(rows)
    other = CatalogSnapshot.model_construct(**{**dict(known()), **shuffled})
    before = example("lora-32b-on-premises.json")
    after = advise(before.scenario, other)
    assert [a.plan.id for a in after.ranked] == [a.plan.id for a in before.ranked]
    assert after.rejected == before.rejected
    assert after.findings == before.findings
    assert after.picks == before.picks


def test_70b_full_fine_tuning_never_on_one_card_of_24_gb() -> None:
    """140 GB of 16-bit weights alone; over 1 TB with Adam (design: rules easily got wrong)."""
    advice = ask("meta-llama/Llama-3.1-70B", train("full"), max_gpus=1)
    small = {g.id for g in known().gpus if (g.usable_bytes or 0) <= 24 * 2**30}
    assert not small & ranked_cards(advice)
    for rejection in advice.rejected:
        if rejection.kind == "gpu" and rejection.gpu_id in ("nvidia-rtx-4090", "nvidia-rtx-3090"):
            assert rejection.reason.code == "rejected.does_not_fit_alone"
            assert float(rejection.reason.params["missing"] or 0) > 100e9


def test_cards_without_a_price_say_how_many_would_do_and_computers_are_not_linked() -> None:
    """64 linked desktop computers are sold by nobody: what one of them lacks is said instead of "would fit"."""
    for advice in (example("full-70b-rented.json"), example("continued-8b-50b-tokens.json")):
        reasons = {r.gpu_id: r.reason for r in advice.rejected if r.kind == "gpu"}
        unpriced = {i: r for i, r in reasons.items() if r.code == "rejected.no_price"}
        assert unpriced
        segment = {g.id: g.segment for g in known().gpus}
        for gpu_id, reason in unpriced.items():
            most = {"soc": 1, "edge": 1}.get(segment[gpu_id or ""], 8 if segment[gpu_id or ""] == "workstation" else 64)
            assert 1 <= int(reason.params["gpus"] or 0) <= most
        assert reasons["apple-m2-ultra-192gb"].code == "rejected.does_not_fit_alone"


def test_7b_qlora_fits_a_24_gb_card_and_full_fine_tuning_does_not() -> None:
    """Traced: 8B QLoRA of 2048 x 1 needs 7.0 to 13.0 GiB; 8B full in pure BF16 59.9 GiB."""
    own = {"owned": (OwnedGpus(gpu_id="nvidia-rtx-4090"),), "ways": ("owned",)}
    qlora = ask("Qwen/Qwen2.5-7B", train("qlora"), **own)
    assert ranked_cards(qlora) == {"nvidia-rtx-4090"}
    assert qlora.ranked[0].tasks[0].memory.verdict is Verdict.FITS
    full = ask("Qwen/Qwen2.5-7B", train("full", offload="none"), **own)
    assert not full.ranked
    assert "nothing.lighter_method" in {f.code for f in full.findings}


def test_offload_is_used_only_where_nothing_else_fits_and_is_said() -> None:
    own = {"owned": (OwnedGpus(gpu_id="nvidia-a100-sxm-80gb"),), "ways": ("owned",)}
    advice = ask("Qwen/Qwen2.5-7B", train("full"), **own)
    for assessment in advice.ranked:
        layout = assessment.tasks[0].layout
        lighter = layout.offload is not Offload.NONE or layout.optimizer.value == "adamw_8bit"
        assert lighter, "16 bytes for each of 7.6 B parameters are 122 GB: more than 80 GB"
    assert {"advice.offloaded", "advice.lighter_optimizer"} & {f.code for f in advice.findings}


def test_16_bit_70b_is_not_served_from_one_80_gb_card() -> None:
    serve = {"kind": "inference", "weight_quantization": "none", "concurrent_users": 1, "requests_per_day": 10}
    advice = ask("meta-llama/Llama-3.1-70B", serve, max_gpus=1, ways=("rent",))
    assert not ranked_cards(advice) & {g.id for g in known().gpus if (g.usable_bytes or 0) <= 81 * 2**30}


def test_cards_in_use_have_less_room() -> None:
    busy = OwnedGpus(gpu_id="nvidia-rtx-4090", in_use_bytes=22 * 2**30)
    advice = ask("Qwen/Qwen2.5-7B", train("qlora"), owned=(busy,), ways=("owned",))
    assert not advice.ranked


def test_memory_of_cards_is_not_summed() -> None:
    """8 x 24 GB hold 192 GB, but LoRA without sharding needs the whole 32B model (65 GB) on each card."""
    advice = ask("Qwen/Qwen2.5-32B", train("lora"), max_gpus=8, ways=("rent",), include_gpus=("nvidia-rtx-4090",))
    for assessment in advice.ranked:
        layout = assessment.tasks[0].layout
        assert layout.shard_degree * layout.tensor_parallel > 1


def test_the_weekend_experiment_is_cheaper_by_api() -> None:
    advice = example("weekend-api.json")
    assert advice.api and advice.api[0].allowed
    assert advice.api[0].finding.code == "api.cheaper"


def test_the_university_is_not_told_to_buy_controlled_cards_and_sees_its_cluster() -> None:
    advice = example("cn-university-campus-cluster.json")
    assert advice.picks and advice.ranked[advice.picks[0].index].plan.way == "shared"
    controlled = [r for r in advice.rejected if r.reason.code == "rejected.export"]
    assert any(r.gpu_id == "nvidia-h100-sxm-80gb" for r in controlled)


def test_nothing_leaves_the_building_on_premises() -> None:
    advice = example("lora-32b-on-premises.json")
    assert {a.plan.way for a in advice.ranked} == {"buy"}
    assert all(not b.allowed and b.finding.code == "api.data_must_stay" for b in advice.api)


def test_batch_of_the_layout_is_what_was_asked_for_or_said() -> None:
    for name in EXAMPLES:
        advice = example(name)
        asked = {t.id: getattr(t.workload, "global_batch_size", None) for t in advice.scenario.tasks}
        for assessment in advice.ranked:
            for task in assessment.tasks:
                if not isinstance(task.job, Job):
                    continue
                layout = task.layout
                batch = layout.data_parallel * layout.micro_batch_size * layout.gradient_accumulation_steps
                said = "plan.batch_changed" in {f.code for f in assessment.findings}
                assert batch == asked[task.task_id] or said
                assert layout.gpus == assessment.plan.cluster.gpus
                assert layout.tensor_parallel <= assessment.plan.cluster.gpus_per_node
