"""What the catalogue holds: counts, sources, joins, and figures that others published."""

from __future__ import annotations

import csv
import re
from collections import Counter
from datetime import date
from importlib.resources import files

import pytest

from engine.architecture.model import Architecture
from engine.catalog.build import TABLES, read_rows
from engine.catalog.licences import attributions
from engine.catalog.load import load_catalog
from engine.hardware.model import CatalogSnapshot
from engine.quantity import GIB


@pytest.fixture(scope="module")
def catalog() -> CatalogSnapshot:
    return load_catalog(with_user_rows=False)


def rows(name: str) -> list[dict[str, str]]:
    with (files("resources") / name).open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


def test_enough_of_everything(catalog: CatalogSnapshot) -> None:
    assert sum(g.usable_bytes is not None for g in catalog.gpus) >= 130
    timed = [g for g in catalog.gpus if (g.bf16_flops or g.fp16_flops) and g.memory_bytes_per_second]
    assert len(timed) >= 110
    assert len(catalog.systems) >= 80
    assert len(catalog.models) >= 340
    assert len(catalog.offers) >= 1600
    assert sum(o.current for o in catalog.offers) >= 500
    assert len(catalog.purchase_prices) >= 180
    assert len(catalog.api_prices) >= 200
    assert {r.currency for r in catalog.exchange_rates} >= {"USD", "CNY", "EUR", "GBP"}


def test_ids_are_unique(catalog: CatalogSnapshot) -> None:
    for group in (catalog.gpus, catalog.systems, catalog.offers, catalog.purchase_prices, catalog.api_prices,
                  catalog.cost_items, catalog.models):  # fmt: skip
        twice = [i for i, n in Counter(r.id for r in group).items() if n > 1]
        assert not twice


@pytest.mark.parametrize("table", [t for t in TABLES if not t.endswith("alias")])
def test_every_row_names_its_source_its_date_and_how_sure_it_is(table: str) -> None:
    for row in read_rows(table):
        assert row["confidence"], row
        assert row["source_url"] or row["source_title"] or "source" in row["notes"], row
        # a price without a date stays without one; everything else says when it was true or checked
        if table not in ("offer", "purchase_price", "api_price", "cost_item"):
            assert row.get("source_date") or row.get("observed_on") or row.get("checked_on"), row


def test_offers_join_a_card(catalog: CatalogSnapshot) -> None:
    unjoined = [r for r in rows("catalog/unjoined.csv") if r["table"] == "offers"]
    joined = len(catalog.offers)
    assert joined / (joined + len(unjoined)) >= 0.97
    assert all(r["name"] and r["reason"] for r in unjoined)


def test_joined_names_are_those_of_the_alias_table(catalog: CatalogSnapshot) -> None:
    aliases = {r["name"]: tuple(filter(None, r["gpu_ids"].split("|"))) for r in read_rows("gpu_alias")}
    for row in read_rows("offer"):
        assert aliases[row["gpu_name"]] == tuple(row["gpu_ids"].split("|"))
    for price in catalog.purchase_prices:
        assert aliases[price.product] == price.gpu_ids


def test_dense_rates_as_the_makers_print_them(catalog: CatalogSnapshot) -> None:
    """Vendor data sheets, dense, FP32 accumulation on GeForce; never the doubled figures with sparsity."""
    published = {
        "nvidia-h100-sxm-80gb": 989, "nvidia-h100-pcie-80gb": 756, "nvidia-a100-sxm-80gb": 312,
        "nvidia-b200-sxm-180gb": 2250, "nvidia-l40s": 362, "nvidia-rtx-4090": 165.2, "nvidia-rtx-5090": 209.5,
        "amd-mi300x-192gb": 1307.4,
    }  # fmt: skip
    for gpu_id, bf16 in published.items():
        assert catalog.gpu_by_id[gpu_id].bf16_flops == pytest.approx(bf16 * 1e12, rel=0.005)
    assert catalog.gpu_by_id["nvidia-h100-sxm-80gb"].fp8_flops == pytest.approx(1979e12, rel=0.001)
    assert catalog.gpu_by_id["nvidia-v100-sxm2-32gb"].bf16_flops is None
    assert catalog.gpu_by_id["nvidia-t4"].bf16_flops is None


def test_no_rate_looks_sparse(catalog: CatalogSnapshot) -> None:
    """FP8 is at most twice BF16 on every card that ships; a sparse figure in one column would break this."""
    for gpu in catalog.gpus:
        if gpu.id == "aws-trainium3":
            continue  # its maker states nearly four times the rate in FP8 as the gain of the generation
        if gpu.bf16_flops and gpu.fp8_flops and gpu.status != "announced":
            assert gpu.fp8_flops <= 2.1 * gpu.bf16_flops, gpu.id


def test_usable_memory_as_drivers_report_it(catalog: CatalogSnapshot) -> None:
    for gpu_id, gibibytes in {"nvidia-h100-sxm-80gb": 79.65, "nvidia-b200-sxm-180gb": 179.06,
                              "nvidia-a100-sxm-80gb": 80.0, "nvidia-rtx-4090": 23.99,
                              "nvidia-b300-sxm-288gb": 268.59}.items():  # fmt: skip
        gpu = catalog.gpu_by_id[gpu_id]
        assert gpu.usable_basis == "reported"
        assert gpu.usable_bytes is not None
        assert gpu.usable_bytes / GIB == pytest.approx(gibibytes, abs=0.01)


#: Total MiB that nvidia-smi prints on cards whose reports were not used to fit the rules, and the rule of their class.
NOT_FITTED = {
    "nvidia-h100-nvl-94gb": (95830, "nvidia-hbm"),
    "nvidia-v100-sxm2-16gb": (16160, "nvidia-hbm"),
    "nvidia-v100-sxm2-32gb": (32510, "nvidia-hbm"),
    "nvidia-a10": (23028, "nvidia-gddr-ecc"),
    "nvidia-rtx-3090": (24576, "nvidia-gddr"),
}


def test_size_rules_hold_for_cards_that_they_were_not_fitted_to(catalog: CatalogSnapshot) -> None:
    shares = {r["rule"]: float(r["share_of_label"]) for r in rows("catalog/usable_rules.csv")}
    for gpu_id, (mib, rule) in NOT_FITTED.items():
        label = catalog.gpu_by_id[gpu_id].memory_gb
        assert label is not None
        assert label * 1024 * shares[rule] == pytest.approx(mib, rel=0.01)


def test_size_rules_never_promise_more_than_the_cards_they_come_from(catalog: CatalogSnapshot) -> None:
    for rule in rows("catalog/usable_rules.csv"):
        for gpu_id in rule["fitted_from"].split("; "):
            gpu = catalog.gpu_by_id.get(gpu_id)
            if gpu is None:
                continue  # the two rules that are stated rather than fitted
            assert gpu.memory_gb is not None
            assert gpu.usable_bytes is not None
            reported = gpu.usable_bytes * gpu.devices / GIB
            promised = float(rule["share_of_label"]) * gpu.memory_gb
            assert promised <= reported * 1.0001
            assert promised >= reported * 0.96  # and little is given away


def test_no_card_offers_more_than_its_label(catalog: CatalogSnapshot) -> None:
    for gpu in catalog.gpus:
        if gpu.usable_bytes is not None and gpu.memory_gb is not None:
            assert gpu.usable_bytes <= gpu.memory_gb * GIB
            assert gpu.usable_bytes >= 0.7 * gpu.memory_gb * GIB / gpu.devices


def test_a_card_of_two_devices_counts_with_one(catalog: CatalogSnapshot) -> None:
    mi250 = catalog.gpu_by_id["amd-mi250x-128gb"]
    assert (mi250.devices, mi250.usable_bytes) == (2, 64 * GIB)


def test_geforce_has_no_peer_to_peer_and_no_nvlink_after_ampere(catalog: CatalogSnapshot) -> None:
    geforce = [g for g in catalog.gpus if g.vendor == "NVIDIA" and g.segment == "consumer"]
    assert len(geforce) >= 15
    assert not any(g.peer_to_peer for g in geforce)
    assert all(g.interconnect_bytes_per_second == 0 for g in geforce if re.search(r"rtx-[45]0", g.id))
    assert catalog.gpu_by_id["nvidia-l40s"].peer_to_peer


def test_controlled_for_china(catalog: CatalogSnapshot) -> None:
    controlled = {g.id for g in catalog.gpus if "CN" in g.export_controlled_for}
    assert {"nvidia-a100-sxm-80gb", "nvidia-a800-sxm-80gb", "nvidia-h100-sxm-80gb", "nvidia-h800-sxm-80gb",
            "nvidia-h200-sxm-141gb", "nvidia-b200-sxm-180gb", "nvidia-rtx-4090", "nvidia-rtx-5090",
            "nvidia-h20-96gb", "nvidia-l40s", "amd-mi300x-192gb", "amd-mi355x-288gb"} <= controlled  # fmt: skip
    assert not controlled & {"nvidia-rtx-4090d", "huawei-ascend-910b2", "nvidia-rtx-3090", "nvidia-rtx-4080"}
    assert catalog.gpu_by_id["huawei-ascend-910b2"].region_only == ("CN",)


def test_only_the_latest_of_a_provider_is_current(catalog: CatalogSnapshot) -> None:
    latest: dict[tuple[object, ...], date] = {}
    for offer in catalog.offers:
        if offer.observed_on:
            key = (offer.provider, offer.gpu_ids, offer.term)
            latest[key] = max(latest.get(key, offer.observed_on), offer.observed_on)
    for offer in catalog.offers:
        if offer.current:
            assert offer.observed_on is not None
            assert (latest[offer.provider, offer.gpu_ids, offer.term] - offer.observed_on).days <= 60
            assert (date(2026, 12, 1) - offer.observed_on).days <= 365


def test_members_prices_are_history(catalog: CatalogSnapshot) -> None:
    members = [o for o in catalog.offers if o.members_only]
    assert members
    assert not any(o.current for o in members)
    assert not [o for o in catalog.offers if "rate)" in o.provider and not o.members_only]


def test_what_must_not_be_here(catalog: CatalogSnapshot) -> None:
    for row in (*read_rows("purchase_price"), *read_rows("offer")):
        assert "TeoAmpatzis" not in row["source_url"]
    assert all(o.price_per_gpu_hour > 0 for o in catalog.offers)
    cards = [p for p in catalog.purchase_prices if p.gpu_ids[0].startswith(("nvidia-a800", "nvidia-h100"))]
    assert cards
    assert all(float(p.price) / p.cards < (400_000 if p.currency == "CNY" else 60_000) for p in cards)


def test_servers_and_baseboards_are_told_apart(catalog: CatalogSnapshot) -> None:
    for price in catalog.purchase_prices:
        if "baseboard" in price.product:
            assert (price.cards, price.whole_server) == (8, False)
        if "server" in price.product and "with Atlas" not in price.product:
            assert price.whole_server
            assert price.cards >= 8


def test_instances_bill_what_they_say() -> None:
    """Price of an instance = price of a card x cards, where the collection states both."""
    row = next(r for r in read_rows("offer") if r["product"] == "p5.48xlarge" and r["observed_on"] == "2026-11-09")
    assert row["gpus_per_unit"] == "8"
    assert row["gpu_ids"] == "nvidia-h100-sxm-80gb"


def test_models_keep_their_published_counts(catalog: CatalogSnapshot) -> None:
    """Totals of the published weights, text model with tied heads once."""
    published = {
        "meta-llama/Llama-3.1-8B": 8_030_261_248,
        "meta-llama/Llama-3.1-70B": 70_553_706_496,
        "Qwen/Qwen2.5-7B": 7_615_616_512,
        "openai-community/gpt2": 124_439_808,
    }
    for model_id, total in published.items():
        assert catalog.model_by_id[model_id].parameters_total == total
    assert all(m.basis == ("size" if m.id.startswith("generic/") else "catalog") for m in catalog.models)


def test_layers_are_split_by_kind_of_attention(catalog: CatalogSnapshot) -> None:
    for m in catalog.models:
        split = m.full_attention_layers + m.sliding_window_layers + m.linear_layers
        # attention and state space side by side in one layer, or two attentions in one layer
        twice = m.extra.get("parallel_ssm") or m.family == "LongCat"
        assert 0 <= split <= (2 if twice else 1) * m.layers, m.id


def test_block_kinds_are_strict(catalog: CatalogSnapshot) -> None:
    kind = {m.id: m.block_kind for m in catalog.models}
    assert kind["meta-llama/Llama-3.1-8B"] == "llama"
    assert kind["Qwen/Qwen2.5-7B"] == "qwen2"
    assert kind["Qwen/Qwen3-8B"] == "qwen3"
    assert kind["Qwen/Qwen3-30B-A3B"] == "qwen3_moe"
    assert kind["deepseek-ai/DeepSeek-V3"] == "deepseek_v3"
    assert kind["deepseek-ai/DeepSeek-V3.2"] == ""  # has an indexer
    assert kind["microsoft/Phi-3-small-8k-instruct"] == ""
    biased: list[Architecture] = [m for m in catalog.models if m.block_kind == "llama" and m.attention_bias != "none"]
    assert not biased
    assert all(m.qk_norm == "head" for m in catalog.models if m.block_kind in ("qwen3", "qwen3_moe"))


def test_what_the_licences_ask_for_is_recorded(catalog: CatalogSnapshot) -> None:
    """Rows of CC BY sources are in the catalogue, so their attribution must be too."""
    found = {a.source: a for a in attributions()}
    assert sum("CC BY 4.0" in o.source_title for o in catalog.offers) > 100
    assert found["gpurentalprices.com"].licence == "CC-BY-4.0"
    assert "gpurentalprices.com, CC BY 4.0" in found["gpurentalprices.com"].text
    assert all(a.text and a.licence for a in found.values())
