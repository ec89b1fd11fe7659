"""The guides' statements, after their corrections, against the advice of the shipped catalogue.

The expectations were written before the engine was run on them; each says where it comes from.
"""

from __future__ import annotations

import tomllib
from datetime import date
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from engine.advice.advise import advise
from engine.advice.result import Advice, Assessment, PickRole
from engine.catalog.load import load_catalog
from engine.hardware.model import CatalogSnapshot
from engine.i18n import Language
from engine.memory.result import Verdict
from engine.scenario import Scenario

_EXPECTED = tomllib.loads((Path(__file__).parent / "expectations.toml").read_text(encoding="utf-8"))
CASES: list[dict[str, Any]] = _EXPECTED["case"]
COMPARISONS: list[dict[str, Any]] = _EXPECTED["compare"]
#: What the usual settings leave alone; one of these says that they were not enough.
LIGHTER = {"advice.lighter_optimizer", "advice.offloaded"}


@cache
def _catalog() -> CatalogSnapshot:
    return load_catalog(with_user_rows=False)


def _workload(job: dict[str, Any]) -> dict[str, Any]:
    if "serve" in job:
        return {
            "kind": "inference",
            "concurrent_users": job["serve"],
            "prompt_tokens": job.get("prompt", 1024),
            "output_tokens": job.get("answer", 512),
            "requests_per_day": job.get("requests_per_day", 1000),
            "weight_quantization": job.get("weights"),
            "outputs_only": job.get("outputs_only", False),
        }
    return {
        "kind": "training",
        "method": job["method"],
        "data": {"tokens": job.get("tokens", 10_000_000)},
        "sequence_length": job["length"],
        "global_batch_size": job.get("batch", 64),
    }


def _scenario(case: dict[str, Any], on: dict[str, Any] | None) -> Scenario:
    job, limits = case["job"], dict(case.get("limits", {}))
    if "budget" in limits:
        limits["budget"] = {"amount": str(limits["budget"]), "currency": "USD"}
    if on is not None:
        limits |= {"ways": ["owned"], "owned": [{"gpu_id": on["gpu"], "count": on["count"]}], "max_gpus": 64}
    model = {"catalog_id": job["model"]} if "model" in job else {"parameters_billion": job["billions"]}
    return Scenario.model_validate(
        {
            "as_of": date(2026, 12, 1),
            "tasks": [{"id": "t1", "model": model, "workload": _workload(job)}],
            "constraints": limits,
        }
    )


def _cheapest(advice: Advice) -> Assessment:
    return next(advice.ranked[p.index] for p in advice.picks if p.role is PickRole.CHEAPEST)


def _codes(advice: Advice) -> set[str]:
    return {f.code for f in advice.findings} | {f.code for a in advice.ranked[:1] for f in a.findings}


def _speaks(advice: Advice) -> None:
    """Every sentence of the answer can be said in both languages."""
    reasons = [r for p in advice.picks for r in p.reasons]
    for language in (Language("en"), Language("zh_CN")):
        for finding in (*advice.findings, *reasons, *(r.reason for r in advice.rejected[:20])):
            assert language.text(finding).strip()


@pytest.mark.parametrize("case", CASES, ids=[c["id"] for c in CASES])
def test_expected_advice(case: dict[str, Any]) -> None:
    advice = advise(_scenario(case, case.get("on")), _catalog())
    expect: dict[str, Any] = dict(case["expect"])
    _speaks(advice)
    _check_outcome(advice, expect)
    _check_findings(advice, expect)
    if advice.ranked:
        _check_pick(_cheapest(advice), expect)
    assert not expect, f"nothing checks {sorted(expect)}"


def _check_outcome(advice: Advice, expect: dict[str, Any]) -> None:
    plain = bool(advice.ranked) and not LIGHTER & _codes(advice)
    if "works" in expect:
        assert bool(advice.ranked) is expect.pop("works"), [f.code for f in advice.findings]
    if "plain" in expect:
        assert plain is expect.pop("plain"), (len(advice.ranked), sorted(_codes(advice)))
    if "api_cheapest" in expect:
        expect.pop("api_cheapest")
        api = min(b.cost.expected for b in advice.api if b.allowed)
        assert all(api < a.cost.cost_of_job.expected for a in advice.ranked)
    if "api_allowed" in expect:
        assert any(b.allowed for b in advice.api) is expect.pop("api_allowed")


def _check_findings(advice: Advice, expect: dict[str, Any]) -> None:
    assert set(expect.pop("findings", [])) <= _codes(advice)
    wanted = expect.pop("findings_if_spot", [])
    if advice.ranked and wanted:
        offer = _cheapest(advice).plan.offer
        assert offer is not None and (offer.term != "spot" or set(wanted) <= _codes(advice))
    reasons = {r.gpu_id: r.reason.code for r in advice.rejected if r.kind == "gpu"}
    for gpu, code in expect.pop("rejected", {}).items():
        assert reasons[gpu] == code


def _check_pick(pick: Assessment, expect: dict[str, Any]) -> None:
    cluster, offer = pick.plan.cluster, pick.plan.offer
    gib = 1.05 * (cluster.gpu.usable_bytes or 0) / 1e9
    said = f"{cluster.gpus} x {cluster.gpu.id} by {pick.plan.way} from {offer.provider if offer else ''}"
    if "sharded" in expect:
        layout = pick.tasks[0].layout
        assert (layout.shard_degree > 1 or layout.tensor_parallel > 1) is expect.pop("sharded")
    if "fits_well" in expect:
        assert (pick.tasks[0].memory.verdict is Verdict.FITS) is expect.pop("fits_well")
    assert cluster.gpus <= expect.pop("pick_gpus_at_most", cluster.gpus), said
    assert cluster.gpus >= expect.pop("pick_gpus_at_least", cluster.gpus), said
    assert gib >= expect.pop("pick_memory_at_least_gb", 0), said
    assert cluster.gpu.form_factor not in expect.pop("pick_forms_not", []), said
    assert pick.plan.way in expect.pop("pick_ways", [pick.plan.way]), said
    if offer is not None:
        assert offer.term in expect.pop("pick_terms", [offer.term]), said
        assert offer.term not in expect.pop("pick_terms_not", []), said
    if expect.pop("pick_linked", False):
        assert cluster.intra_node.kind in ("nvswitch", "xgmi", "mesh"), (said, cluster.intra_node.kind)


@pytest.mark.parametrize("case", COMPARISONS, ids=[c["id"] for c in COMPARISONS])
def test_expected_speed(case: dict[str, Any]) -> None:
    """How much longer the same job takes on the slower hardware."""
    slow, fast = (_cheapest(advise(_scenario(case, case[side]), _catalog())) for side in ("slow", "fast"))
    seconds = [a.tasks[0].time_to_train_seconds for a in (slow, fast)]
    assert seconds[0] is not None and seconds[1] is not None
    ratio = seconds[0].expected / seconds[1].expected
    assert case["ratio_at_least"] <= ratio <= case.get("ratio_at_most", float("inf")), round(ratio, 2)
