"""Clusters from catalogue facts: links, stand-in rates, what is said about them."""

from __future__ import annotations

import numpy as np
import pytest
from speed_cases import A100, H100, RTX4090, changed, gpu, linked

from engine.catalog.load import load_base
from engine.layout.model import Regime
from engine.speed.hardware import (
    cluster_for,
    compute_precision,
    hardware_block,
    matrix_flops,
    speed_findings,
)


def system(name: str):
    return next(s for s in load_base().systems if s.id == name)


def test_links_inside_a_node_follow_the_catalogue() -> None:
    """One direction of what is stated as both: 450 GB/s of NVLink 4, 448 of Infinity Fabric."""
    hgx = cluster_for(gpu(H100), system("dgx-h100"))
    assert (hgx.intra_node.kind, hgx.intra_node.bytes_per_second) == ("nvswitch", 450e9)
    assert hgx.intra_node.source and not hgx.assumed
    amd = cluster_for(gpu("amd-mi300x-192gb"), system("mi300x-8-oam"))
    assert (amd.intra_node.kind, amd.intra_node.bytes_per_second) == ("xgmi", 448e9)
    assert cluster_for(gpu(H100)).intra_node.kind == "none"


def test_cards_without_peer_to_peer_go_through_host_memory() -> None:
    """GeForce 40 and 50 have neither NVLink nor peer-to-peer over PCIe."""
    for name in (RTX4090, "nvidia-rtx-5090"):
        assert cluster_for(gpu(name), gpus_per_node=4).intra_node.kind == "pcie-host"
    assert cluster_for(gpu("nvidia-l40s"), gpus_per_node=4).intra_node.kind == "pcie-p2p"


def test_a_bridge_joins_pairs_only() -> None:
    """A ring over more than two cards crosses the bus between the pairs."""
    card = gpu("nvidia-rtx-a6000")
    pair = cluster_for(card, system("ws-2x-rtx-a6000-nvlink"))
    assert (pair.intra_node.kind, pair.intra_node.bytes_per_second) == ("nvlink-pair", 56.25e9)
    assert cluster_for(card, gpus_per_node=4).intra_node.kind == "pcie-p2p"


def test_links_between_nodes_are_shared_by_the_cards() -> None:
    """3,200 Gbit/s of a node are 50 GB/s for each of its eight cards."""
    dgx = cluster_for(gpu(H100), system("dgx-h100"), nodes=2)
    assert dgx.inter_node is not None
    assert (dgx.inter_node.kind, dgx.inter_node.bytes_per_second) == ("infiniband", 50e9)
    aws = cluster_for(gpu(H100), system("aws-p5-48xlarge"), nodes=2)
    assert aws.inter_node is not None
    assert aws.inter_node.kind == "efa"


def test_what_the_catalogue_does_not_say_is_marked_as_assumed() -> None:
    bare = cluster_for(gpu(RTX4090), gpus_per_node=2, nodes=2)
    assert bare.assumed
    assert bare.inter_node is not None
    assert bare.inter_node.kind == "ethernet"
    assert bare.inter_node.source


def test_every_card_with_a_rate_and_a_bandwidth_is_known() -> None:
    """At least 110 cards are usable for time; the others say so."""
    cards = load_base().gpus
    block = hardware_block([cluster_for(card) for card in cards], index=np.arange(len(cards)))
    known = np.asarray(block.known)
    assert known.sum() >= 110
    for card, is_known in zip(cards, known, strict=True):
        codes = [f.code for f in speed_findings(cluster_for(card), "bf16", "trl")]
        assert ("speed.unknown_rate" in codes) is not bool(is_known), card.id


def test_stand_in_rates() -> None:
    """BF16 on Volta and Turing is emulated; where only FP16 is published it is taken for BF16; FP8 falls to BF16."""
    assert matrix_flops(gpu("nvidia-t4"), "bf16") == (8.1e12, "bf16_emulated")
    assert matrix_flops(gpu("nvidia-t4"), "fp16") == (65e12, "")
    assert matrix_flops(gpu("huawei-ascend-910b1"), "bf16") == (400e12, "bf16_from_fp16")
    assert matrix_flops(gpu(A100), "fp8") == (312e12, "fp8_from_bf16")
    assert matrix_flops(gpu(A100), "fp4") == (312e12, "fp4_from_fp8")
    assert "speed.bf16_emulated" in [f.code for f in speed_findings(cluster_for(gpu("nvidia-t4")), "bf16", "trl")]


def test_rates_are_dense() -> None:
    """989 TFLOPS of an H100, not the 1,979 of structured sparsity; 165 of an RTX 4090 with 32-bit accumulation."""
    assert matrix_flops(gpu(H100), "bf16")[0] == pytest.approx(989e12, rel=0.01)
    assert matrix_flops(gpu(A100), "bf16")[0] == pytest.approx(312e12, rel=0.01)
    assert matrix_flops(gpu(RTX4090), "bf16")[0] == pytest.approx(165e12, rel=0.01)


def test_regimes_name_their_precision() -> None:
    assert [compute_precision(r) for r in (Regime.BF16_AMP, Regime.FP16_AMP, Regime.FP32)] == ["bf16", "fp16", "fp32"]
    tuned, plain = (hardware_block([linked(gpu(A100), 1)], precision="fp32", framework=f) for f in ("megatron", "trl"))
    assert tuned.matrix_flops_per_second == 156e12  # TF32, which tuned stacks switch on
    assert plain.matrix_flops_per_second == 19.5e12


def test_a_card_of_unmeasured_kind_says_so_and_is_wide() -> None:
    """What no published run backs has a wider range than what many do."""
    odd = changed(gpu(A100), architecture="Something New", vendor="Somebody")
    assert "speed.not_measured" in [f.code for f in speed_findings(cluster_for(odd), "bf16", "megatron")]
    new, old = (hardware_block([cluster_for(c)], framework="megatron").matrix_efficiency for c in (odd, gpu(A100)))
    assert new.at().relative_width > old.at().relative_width


def test_cards_of_one_rack_are_joined_by_its_switch_and_racks_by_the_network() -> None:
    """A GB200 NVL72 rack is sold by trays of 4; its 72 cards share one NVLink domain (the systems' own entries)."""
    rack = next(s for s in load_base().systems if s.id == "gb200-nvl72")
    card = load_base().gpu_by_id[rack.gpu_id]
    within = cluster_for(card, rack, gpus_per_node=4, nodes=18)
    beyond = cluster_for(card, rack, gpus_per_node=4, nodes=36)
    assert within.inter_node is not None
    assert beyond.inter_node is not None
    assert (within.inter_node.kind, within.inter_node.bytes_per_second) == ("nvswitch", 900e9)
    assert beyond.inter_node.kind == "infiniband"
    others = [s for s in load_base().systems if s.id in ("dgx-h100", "dgx-b200")]
    for system in others:
        pair = cluster_for(load_base().gpu_by_id[system.gpu_id], system, nodes=2)
        assert pair.inter_node is not None
        assert pair.inter_node.kind == "infiniband"
