"""Cards, systems and the names of cards."""

from __future__ import annotations

import re
from pathlib import Path

from curation.tools import Changes, Row, read, slug, write

GPU_COLUMNS = [
    "id", "vendor", "name", "aliases", "architecture", "segment", "form_factor", "status", "release_date",
    "memory_gb", "usable_gib", "usable_basis", "usable_rule", "devices", "memory_type", "memory_gb_per_s",
    "bf16_tflops", "fp16_tflops", "fp8_tflops", "fp4_tflops", "int8_tops", "tf32_tflops", "fp32_tflops",
    "interconnect", "interconnect_gb_per_s", "peer_to_peer", "max_gpus_per_node", "pcie", "pcie_gb_per_s",
    "tdp_watts", "ecc", "mig", "compute_capability", "software_stack", "software_maturity", "region_notes",
    "export_controlled_for", "region_only", "source_url", "source_title", "source_date", "confidence", "notes",
]  # fmt: skip
SYSTEM_COLUMNS = [
    "id", "name", "maker", "gpu_id", "gpus", "topology", "intra_node_gb_per_s", "fabric", "inter_node_gbit_per_s",
    "vcpus", "ram", "ram_unit", "nvme_tb", "power_kw", "cloud", "source_url", "source_title", "source_date",
    "confidence", "notes",
]  # fmt: skip

#: Cards whose software shows several devices: what one device may hold decides whether a job fits (see `notes`).
DEVICES = {"amd-mi250-128gb": 2, "amd-mi250x-128gb": 2, "huawei-ascend-910c": 2, "iluvatar-bi-v150": 2,
           "cambricon-mlu370-x8": 2, "intel-max-1550": 2}  # fmt: skip
CLOUDS = {"AWS", "Google Cloud", "Azure", "Lambda", "CoreWeave", "Nebius", "Oracle Cloud", "Crusoe", "RunPod"}
CHINESE_VENDORS = {"Huawei", "Cambricon", "Hygon", "Moore Threads", "Iluvatar CoreX", "MetaX", "Kunlunxin", "Biren",
                   "Enflame", "T-Head"}  # fmt: skip
#: Licences for China start at this "total processing performance" = dense TFLOPS x bits (US rule of 2023-10-17).
TPP_LIMIT = 4800
CONTROLLED_WORDS = (
    "US licence needed for China", "Controlled for China", "estricted since", "Restricted for China",
    "not exportable to China", "Not sold in China", "case-by-case licensing", "estricted for China",
    "Licensing changed several times", "above the 4,800 threshold",
)  # fmt: skip
#: MiB that nvidia-smi prints in public logs, for cards that the collection has no report of (read 2026-12-01).
#: They are not part of the fit of the size rules, so that they can test it.
SMI_MIB = {
    "nvidia-v100-sxm2-16gb": 16160, "nvidia-v100-pcie-16gb": 16160, "nvidia-v100-sxm2-32gb": 32510,
    "nvidia-v100-pcie-32gb": 32510, "nvidia-v100s-pcie-32gb": 32510, "nvidia-a10": 23028, "nvidia-rtx-3090": 24576,
    "nvidia-h100-nvl-94gb": 95830,
}  # fmt: skip
#: Names that carry a remark: what a window, a table or a report prints instead; the remark stays in `notes`.
NAMES = {
    "A16 (4 GPUs on one card)": "A16 16GB", "H20 141GB (H20-3e)": "H20 141GB",
    "GB200 (one GPU, NVL72) 186GB": "GB200 186GB", "B300 SXM 288GB (270 GB in HGX/DGX listings)": "B300 SXM 288GB",
    "GB300 (one GPU, NVL72) 288GB (279 GB listed)": "GB300 288GB",
    "Rubin (VR200, one GPU) 288GB": "Rubin VR200 288GB",
}  # fmt: skip
HOST_KW = 0.35  # middle of the 0.2 to 0.5 kW that the rows of self-built machines name for the host

#: One direction of a PCIe lane in GB/s: transfer rate x line code (128b/130b; PCIe 6 242B of 256B) / 8.
PCIE_LANE = {"3.0": 8 * 128 / 130 / 8, "4.0": 16 * 128 / 130 / 8, "5.0": 32 * 128 / 130 / 8, "6.0": 64 * 242 / 256 / 8}


def memory_class(row: Row) -> str:
    """Name of the size rule of a card: cards of one class lose the same share between label and driver."""
    vendor, kind, name = row["vendor"], row["memory_type"], row["architecture"]
    if row["segment"] == "soc" or "unified" in kind or kind.startswith("LPDDR5X") or row["id"].startswith("apple"):
        return "unified"
    if vendor == "NVIDIA" and kind.startswith("HBM"):
        chip_label = ("Blackwell", "Rubin")  # boards labelled by the chip (288, 192), not by what the board offers
        labelled_by_chip = name.startswith(chip_label) and row["memory_gb"] in ("192", "288")
        return "nvidia-hbm-chip-label" if labelled_by_chip else "nvidia-hbm"
    if vendor == "NVIDIA":
        server_ecc = row["segment"] in ("datacenter", "cloud-only") and not name.startswith(("Blackwell", "Rubin"))
        ada_workstation = row["segment"] == "workstation" and name.startswith("Ada")
        return "nvidia-gddr-ecc" if server_ecc or ada_workstation else "nvidia-gddr"
    if vendor in ("AMD", "AWS", "Huawei") and kind.startswith("HBM"):
        return f"{vendor.lower()}-hbm"
    return "other"


def usable_rules(rows: list[Row]) -> dict[str, tuple[float, list[str]]]:
    """Share of the label that each class may count on: the smallest that any card of the class reported.

    Classes with fewer than two reports take the smallest share of all; unified memory is stated, not fitted.
    """
    shares: dict[str, list[tuple[float, str]]] = {}
    for row in rows:
        if row["memory_usable_gib"]:
            share = float(row["memory_usable_gib"]) / float(row["memory_gb"])
            shares.setdefault(memory_class(row), []).append((share, row["id"]))
    rules = {k: (min(v)[0], [i for _, i in v]) for k, v in shares.items() if len(v) > 1 and k != "other"}
    floor = min(share for v in shares.values() for share, _ in v)
    rules["other"] = (floor, ["smallest share of all classes"])
    rules["unified"] = (0.75, ["three quarters, the usual share that the system lets a GPU take of shared memory"])
    return rules


def gpus(reference: Path, target: Path, changes: Changes) -> set[str]:
    """Write gpus.csv and usable_rules.csv; returns the ids."""
    rows = read(reference / "gpus/gpus.csv")
    rules = usable_rules(rows)
    out = [_gpu(r, rules, changes) for r in rows]
    write(target / "gpus.csv", GPU_COLUMNS, out)
    used = {r["usable_rule"] for r in out if r["usable_rule"]}
    write(
        target / "usable_rules.csv",
        ["rule", "share_of_label", "fitted_from"],
        [{"rule": k, "share_of_label": f"{v[0]:.4f}", "fitted_from": "; ".join(v[1])}
         for k, v in sorted(rules.items()) if k in used],
    )  # fmt: skip
    timed = sum(bool((r["bf16_tflops"] or r["fp16_tflops"]) and r["memory_gb_per_s"]) for r in out)
    changes.count("cards", len(out))
    changes.count("cards usable for memory", sum(bool(r["usable_gib"]) for r in out))
    changes.count("cards usable for time (16-bit rate and bandwidth known)", timed)
    return {r["id"] for r in out}


def _gpu(row: Row, rules: dict[str, tuple[float, list[str]]], changes: Changes) -> Row:
    out = {k: row.get(k, "") for k in GPU_COLUMNS}
    name = NAMES.get(row["name"], row["name"])
    if name != row["name"]:
        changes.fix("gpus", row["id"], f"“{row['name']}” is shown as “{name}”")
        remark = f"Listed as {row['name']}."
        out["notes"] = f"{row['notes']} {remark}".strip()
    out |= {
        "name": name,
        "memory_gb_per_s": row["memory_bandwidth_gb_s"],
        "interconnect_gb_per_s": row["interconnect_gb_s"],
        "max_gpus_per_node": row["max_gpus_per_node_typical"],
        "tdp_watts": row["tdp_w"],
        "int8_tops": row["int8_tops_dense"],
        "tf32_tflops": row["tf32_tflops_dense"],
        "fp32_tflops": row["fp32_tflops"],
        "aliases": "|".join(a.strip().replace(row["name"], name) for a in row["aliases"].split(";") if a.strip()),
        "peer_to_peer": "false" if _no_peer_to_peer(row) else "true",
        "pcie_gb_per_s": _pcie(row["pcie"]),
        "export_controlled_for": _controlled(row, changes),
        "region_only": _region_only(row),
        "devices": str(DEVICES.get(row["id"], 1)),
    }
    for precision in ("bf16", "fp16", "fp8", "fp4"):
        out[f"{precision}_tflops"] = row[f"{precision}_tflops_dense"]
    _usable(out, row, rules, changes)
    if not row["source_url"]:
        out["source_title"] = row["source_title"] or "community card page, address not kept"
    return out


def _usable(out: Row, row: Row, rules: dict[str, tuple[float, list[str]]], changes: Changes) -> None:
    devices = int(out["devices"])
    if row["memory_usable_gib"]:
        usable, out["usable_basis"] = float(row["memory_usable_gib"]), "reported"
    elif row["id"] in SMI_MIB:
        mib = SMI_MIB[row["id"]]
        usable, out["usable_basis"] = mib / 1024, "reported"
        out["notes"] += f" nvidia-smi {mib} MiB (public logs)."
        changes.fix("gpus", row["id"], f"usable memory {mib} MiB from public nvidia-smi logs")
    elif row["memory_gb"]:
        rule = memory_class(row)
        rule = rule if rule in rules else "other"
        usable, out["usable_basis"], out["usable_rule"] = float(row["memory_gb"]) * rules[rule][0], "rule", rule
    else:
        out["usable_gib"], out["usable_basis"] = "", "unknown"
        return
    if devices > 1:
        usable /= devices
        out["notes"] += f" Usable memory is that of one of its {devices} devices: one process sees no more."
        changes.fix("gpus", row["id"], f"usable memory is that of one of the {devices} devices that software sees")
    out["usable_gib"] = f"{usable:.2f}"


def _no_peer_to_peer(row: Row) -> bool:
    """GeForce cards: the driver offers no peer-to-peer over PCIe; a bridge (3090) is a link of the system."""
    return row["vendor"] == "NVIDIA" and row["segment"] == "consumer"


def _pcie(text: str) -> str:
    match = re.match(r"(\d\.0)x(\d+)", text)
    return f"{PCIE_LANE[match[1]] * int(match[2]):.2f}" if match else ""


def _controlled(row: Row, changes: Changes) -> str:
    """CN where the dated note says so, or where the dense rates reach the threshold of the rule (computed)."""
    if row["vendor"] in CHINESE_VENDORS:
        return ""
    if any(w in row["region_notes"] for w in CONTROLLED_WORDS):
        return "CN"
    bits = {"bf16_tflops_dense": 16, "fp16_tflops_dense": 16, "fp8_tflops_dense": 8, "fp4_tflops_dense": 4}
    tpp = max((float(row[k]) * b for k, b in bits.items() if row[k]), default=0.0)
    named_allowed = "China-specific" in row["region_notes"]
    if tpp < TPP_LIMIT or named_allowed or row["segment"] == "cloud-only":
        return "CN" if row["id"] == "nvidia-h20-141gb" else ""
    changes.fix("gpus", row["id"], f"marked as controlled for China: {tpp:.0f} TFLOPS x bits, limit {TPP_LIMIT}")
    return "CN"


def _region_only(row: Row) -> str:
    china_variant = "China-specific" in row["region_notes"] or "mainly in China" in row["region_notes"]
    return "CN" if row["vendor"] in CHINESE_VENDORS or china_variant else ""


def systems(reference: Path, target: Path, gpu_ids: set[str], changes: Changes) -> None:
    """Write systems.csv."""
    out: list[Row] = []
    for row in read(reference / "gpus/nodes.csv"):
        if row["gpu_id"] not in gpu_ids:
            changes.drop("systems", row["id"], f"no card {row['gpu_id']}")
            continue
        cloud = row["provider_or_maker"] in CLOUDS
        board_only = "GPU boards only" in row["notes"] or "GPU board power only" in row["notes"]
        notes, power = row["notes"], row["power_kw"]
        if board_only and power:
            power = f"{float(power) + HOST_KW:.3f}".rstrip("0")
            notes += f" power_kw here includes {HOST_KW} kW for the host."
        weak = any(w in notes for w in ("not verified", "Announced", "varies", "vary"))
        out.append(
            {
                "id": row["id"], "name": row["name"], "maker": row["provider_or_maker"], "gpu_id": row["gpu_id"],
                "gpus": row["gpus"], "topology": row["intra_node_topology"],
                "intra_node_gb_per_s": row["intra_node_gb_s_per_gpu"],
                "fabric": row["inter_node_fabric"], "inter_node_gbit_per_s": row["inter_node_gbit_s_per_node"],
                "vcpus": row["cpu_vcpus"], "ram": row["ram_gb"], "ram_unit": "GiB" if "GiB" in notes else "GB",
                "nvme_tb": row["local_nvme_tb"], "power_kw": power, "cloud": "true" if cloud else "false",
                "source_url": row["source_url"], "source_date": row["source_date"],
                "confidence": "low" if weak else "medium", "notes": notes,
            }
        )  # fmt: skip
    write(target / "systems.csv", SYSTEM_COLUMNS, out)
    changes.count("systems", len(out))
    changes.fix("systems", "11 self-built machines and tinyboxes",
                f"power is that of the boards only in the source: {HOST_KW} kW added for the host")  # fmt: skip


def gpu_aliases(reference: Path, target: Path, gpu_ids: set[str], changes: Changes) -> dict[str, Row]:
    """Write gpu_aliases.csv (the joining table of names); returns it by name."""
    rows = read(reference / "gpus/name-aliases.csv")
    unknown = {g for r in rows for g in r["gpu_id"].split("|") if g and g not in gpu_ids}
    if unknown:
        raise SystemExit(f"aliases name unknown cards: {sorted(unknown)}")
    columns = ["name", "gpu_ids", "kind", "used_in", "notes"]
    out = [
        {"name": r["name"], "gpu_ids": r["gpu_id"], "kind": r["kind"], "used_in": r["used_in"], "notes": r["note"]}
        for r in rows
    ]
    write(target / "gpu_aliases.csv", columns, sorted(out, key=lambda r: slug(r["name"])))
    changes.count("names of cards that join", sum(bool(r["gpu_id"]) for r in rows))
    return {r["name"]: r for r in out}
