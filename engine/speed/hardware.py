"""`Cluster`s from catalogue facts, and `HardwareBlock`: the rates of many clusters as arrays for the formulas.

Links are stated by the node where it is known, else by the card; what neither says is a usual figure of
`resources/calibration/links.csv`, and the cluster is marked as assumed.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, cast

import numpy as np
from numpy.typing import NDArray

from engine.findings import Finding, Severity
from engine.hardware.model import Cluster, Gpu, Link, LinkKind, System
from engine.layout.model import InferenceJob, Regime
from engine.quantity import Bounds, Number
from engine.speed.calibration import Stack, Tables, attention_kernel, stack_of, tables
from engine.speed.collectives import Links

__all__ = [
    "HardwareBlock",
    "Precision",
    "cluster_for",
    "compute_precision",
    "hardware_block",
    "matrix_flops",
    "serving_precision",
    "speed_findings",
    "usual_precision",
]

Precision = Literal["fp32", "tf32", "fp16", "bf16", "fp8", "fp4"]

#: Cards whose program sees BF16 as emulated: before compute capability 8.0 (CUDA C++ programming guide, table of
#: arithmetic throughput).
_FIRST_BF16_CAPABILITY = 8.0
_USUAL_PCIE = 31.5e9  # bytes/s of one direction, PCIe 4.0 x16: the most frequent slot of the catalogue
_DIRECT: frozenset[LinkKind] = frozenset({"nvswitch", "nvlink-pair", "xgmi", "mesh"})
_TOPOLOGY: dict[str, LinkKind] = {
    "NVSwitch": "nvswitch",
    "NVLink pair": "nvlink-pair",
    "xGMI": "xgmi",
    "NeuronLink": "mesh",
    "Ethernet mesh": "mesh",
    "HCCS mesh": "mesh",
}


def compute_precision(regime: Regime) -> Precision:
    """The precision of matrix work under a training regime."""
    if regime is Regime.FP32:
        return "fp32"
    return "fp16" if regime is Regime.FP16_AMP else "bf16"


def serving_precision(job: InferenceJob, gpu: Gpu) -> Precision:
    """The precision of matrix work when serving weights of a format on a card.

    FP8 weights meet FP8 activations. 4-bit floats do so only where the card multiplies them: NVFP4 with FP4, MXFP4 with
    FP8 activations (TensorRT-LLM, quantisation by architecture). Everything else is expanded to 16 bits first, and so
    are all formats in bitsandbytes, which plain Transformers use.
    """
    if job.weight_quantization == "fp8":
        return "fp8"
    if gpu.fp4_flops and job.engine in ("tensorrt-llm", "vllm", "sglang"):
        formats: dict[str, Precision] = {"fp4": "fp4", "mxfp4": "fp8"}
        return formats.get(job.weight_quantization, "bf16")
    return "bf16"


def matrix_flops(gpu: Gpu, precision: Precision) -> tuple[float | None, str]:
    """Dense FLOP/s of a card in a precision, and what had to stand in for it ("" where the catalogue states it).

    A card without the unit runs the next wider one: FP4 as FP8, FP8 as BF16. BF16 on a card without it runs at the
    FP32 rate; where only an FP16 rate is published, BF16 is taken to run at the same rate.
    """
    match precision:
        case "fp32":
            return gpu.fp32_flops, ""
        case "tf32":
            return gpu.tf32_flops or gpu.fp32_flops, ""
        case "fp16":
            return (gpu.fp16_flops, "") if gpu.fp16_flops else (gpu.bf16_flops, "fp16_from_bf16")
        case "bf16":
            if gpu.bf16_flops:
                return gpu.bf16_flops, ""
            if _lacks_bf16(gpu):
                return gpu.fp32_flops, "bf16_emulated"
            return gpu.fp16_flops, "bf16_from_fp16"
        case "fp8":
            return (gpu.fp8_flops, "") if gpu.fp8_flops else (matrix_flops(gpu, "bf16")[0], "fp8_from_bf16")
        case "fp4":
            return (gpu.fp4_flops, "") if gpu.fp4_flops else (matrix_flops(gpu, "fp8")[0], "fp4_from_fp8")


def usual_precision(gpu: Gpu) -> Literal["bf16", "fp16"]:
    """The 16-bit format that a card works in: BF16, but FP16 where BF16 is only emulated (before Ampere)."""
    return "fp16" if matrix_flops(gpu, "bf16")[1] == "bf16_emulated" else "bf16"


def _lacks_bf16(gpu: Gpu) -> bool:
    if gpu.vendor != "NVIDIA":
        return False
    try:
        return float(gpu.compute_capability) < _FIRST_BF16_CAPABILITY
    except ValueError:
        return False


def cluster_for(
    gpu: Gpu,
    system: System | None = None,
    *,
    gpus_per_node: int | None = None,
    nodes: int = 1,
    assumed: bool = False,
    in_use_bytes: int = 0,
) -> Cluster:
    """A cluster of `nodes` nodes with their links, from what the catalogue says about the system and the card.

    `gpus_per_node` defaults to the system's. Missing figures are filled from usual ones and mark the cluster assumed.
    """
    per_node = gpus_per_node or (system.gpus if system is not None else 1)
    intra, guessed = _intra_link(gpu, system, per_node)
    inter, inter_guessed = _inter_link(gpu, system, per_node, nodes) if nodes > 1 else (None, False)
    return Cluster(
        gpu=gpu,
        system=system,
        gpus_per_node=per_node,
        nodes=nodes,
        intra_node=intra,
        inter_node=inter,
        assumed=assumed or guessed or inter_guessed,
        in_use_bytes=in_use_bytes,
    )


def _link(kind: LinkKind, nominal: float | None, source: str) -> tuple[Link, bool]:
    figures = tables().links[kind]
    usual = figures.nominal_bytes_per_second or 0.0
    rate = nominal if nominal is not None else usual
    where = source if nominal is not None else figures.source
    link = Link(kind=kind, bytes_per_second=rate, latency_seconds=figures.latency_seconds, source=where)
    return link, nominal is None


def _intra_link(gpu: Gpu, system: System | None, per_node: int) -> tuple[Link, bool]:
    if per_node == 1:
        return Link(kind="none", bytes_per_second=0, latency_seconds=0), False
    kind: LinkKind | None = _TOPOLOGY.get(system.topology) if system is not None else _card_link(gpu, per_node)
    if kind == "nvlink-pair" and per_node > 2:
        kind = None  # a ring over more than two cards crosses the PCIe bus between the pairs
    if kind is not None:
        total = system.intra_node_bytes_per_second if system is not None else None
        total = total or gpu.interconnect_bytes_per_second or None
        source = (system.source_url if system is not None else "") or gpu.source_url
        return _link(kind, total / 2 if total else None, source)
    bus = gpu.pcie_bytes_per_second
    if bus is None and system is not None and system.intra_node_bytes_per_second and system.topology == "PCIe":
        bus = system.intra_node_bytes_per_second / 2
    link, guessed = _link("pcie-p2p" if gpu.peer_to_peer else "pcie-host", bus, gpu.source_url)
    return link, guessed or system is None


def _card_link(gpu: Gpu, per_node: int) -> LinkKind | None:
    """The link that a node of these cards usually has, from the words of the card's own entry."""
    words = gpu.interconnect.lower()
    if not words or words == "none" or gpu.interconnect_bytes_per_second == 0:
        return None
    if "bridge" in words:
        wide = "4 cards" in words
        if "infinity" in words:
            return "xgmi" if per_node <= 4 else None
        return "nvswitch" if wide and 2 < per_node <= 4 else "nvlink-pair"
    if "nvlink" in words:
        return "nvswitch"
    if "infinity" in words or "xgmi" in words or "ualink" in words:
        return "xgmi"
    return "mesh"


def _link_domain(system: System) -> int:
    """Cards that one switch joins across nodes, by the system's entry: 72 in a rack of NVL72; 0 where there is none."""
    found = re.search(r"NVL(\d{2,})\b", system.name) or re.search(r"(\d+) GPUs per NVLink domain", system.notes)
    return int(found[1]) if found and system.topology == "NVSwitch" else 0


def _inter_link(gpu: Gpu, system: System | None, per_node: int, nodes: int) -> tuple[Link, bool]:
    if system is not None and per_node * nodes <= _link_domain(system):
        rate = system.intra_node_bytes_per_second or gpu.interconnect_bytes_per_second or None
        return _link("nvswitch", rate / 2 if rate else None, system.source_url)
    fabric = (system.fabric if system is not None else "").lower()
    kind: LinkKind
    if "infiniband" in fabric:
        kind = "infiniband"
    elif "efa" in fabric:
        kind = "efa"
    elif "roce" in fabric or "gpudirect" in fabric or "connectx" in fabric:
        kind = "roce"
    elif system is None and gpu.segment in ("datacenter", "cloud-only") and _card_link(gpu, per_node) is not None:
        kind = "infiniband"
    else:
        kind = "ethernet"
    rate = system.inter_node_bytes_per_second if system is not None else None
    return _link(kind, rate / per_node if rate else None, system.source_url if system is not None else "")


@dataclass(frozen=True)
class HardwareBlock:
    """Rates of one cluster (scalars) or of many candidates (arrays of one shape).

    `matrix_flops_per_second` is the dense peak in the precision of the linear layers, `peak_16bit` the one of
    attention and head under FP8; unknown figures are NaN and `known` is False there.
    """

    calibration: Tables
    stack: Stack
    precision: Precision
    matrix_flops_per_second: Number
    peak_16bit: Number
    matrix_efficiency: Bounds
    attention_efficiency: Bounds  # of `peak_16bit`, with a fused kernel
    memory_bytes_per_second: Number
    memory_efficiency: Bounds
    gpus_per_node: Number
    nodes: Number
    links: Links  # what collectives reach
    direct_links: Number  # whether each pair of cards of a node has a link of its own, or a switch
    host_bytes_per_second: Bounds  # one direction, card to host memory
    known: Number
    efficiency_rows: Number  # measured rows behind the efficiency; 0 = carried over from other hardware

    @property
    def gpus(self) -> Number:
        """Cards of each cluster."""
        return self.gpus_per_node * self.nodes


def hardware_block(
    clusters: Sequence[Cluster],
    *,
    precision: Precision = "bf16",
    framework: str = "hf-transformers",
    stack: Stack | None = None,
    index: NDArray[np.integer] | None = None,
    calibration: Tables | None = None,
) -> HardwareBlock:
    """Rates of clusters for the formulas. `index` says which cluster each candidate uses.

    Without `index`: scalars for one cluster, else one entry for each cluster.
    """
    known_tables = calibration or tables()
    how: Stack = stack or stack_of(framework)
    if precision == "fp32" and how == "tuned":
        precision = "tf32"  # tuned stacks switch it on; PyTorch's own default is plain FP32 for matrices
    kernel = attention_kernel(framework)
    columns = {name: np.array(v, float) for name, v in _columns(clusters, precision, how, kernel, known_tables).items()}

    def pick(name: str) -> Number:
        column = columns[name]
        if index is not None:
            return column[index]
        return float(column[0]) if len(clusters) == 1 else column

    def bounds(name: str) -> Bounds:
        return Bounds(pick(name + ".low"), pick(name), pick(name + ".high"))

    # attention and the head run in 16 bits whatever the format of the weights
    known = np.isfinite(pick("flops")) & np.isfinite(pick("flops_16")) & np.isfinite(pick("memory"))
    return HardwareBlock(
        calibration=known_tables,
        stack=how,
        precision=precision,
        matrix_flops_per_second=pick("flops"),
        peak_16bit=pick("flops_16"),
        matrix_efficiency=bounds("matrix"),
        attention_efficiency=bounds("attention"),
        memory_bytes_per_second=pick("memory"),
        memory_efficiency=bounds("bandwidth"),
        gpus_per_node=pick("gpus_per_node"),
        nodes=pick("nodes"),
        links=Links(
            intra=bounds("intra"),
            inter=bounds("inter"),
            intra_latency=pick("intra_latency"),
            inter_latency=pick("inter_latency"),
        ),
        direct_links=pick("direct") > 0,
        host_bytes_per_second=bounds("host"),
        known=known if isinstance(known, np.ndarray) else bool(known),
        efficiency_rows=pick("rows"),
    )


def _columns(
    clusters: Sequence[Cluster], precision: Precision, stack: Stack, kernel: str, known: Tables
) -> dict[str, list[float]]:
    """One list for each figure, one entry for each cluster. The only loop over clusters (hundreds, not millions)."""
    columns: dict[str, list[float]] = {}

    def put(name: str, value: float | None) -> None:
        columns.setdefault(name, []).append(float("nan") if value is None else float(value))

    def put_bounds(name: str, bounds: Bounds, factor: float | None = 1.0) -> None:
        scale = float("nan") if factor is None else factor
        put(name + ".low", cast(float, bounds.low) * scale)
        put(name, cast(float, bounds.expected) * scale)
        put(name + ".high", cast(float, bounds.high) * scale)

    for cluster in clusters:
        gpu = cluster.gpu
        key = {"generation": generation_of(gpu), "vendor": gpu.vendor, "stack": stack}
        rate, stand_in = matrix_flops(gpu, precision)
        sixteen = rate if precision in ("fp32", "tf32", "fp16") else matrix_flops(gpu, "bf16")[0]
        put("flops", rate)
        put("flops_16", sixteen)
        actual: Precision = "bf16" if stand_in.endswith("from_bf16") else precision
        matrix = known.share("matrix", precision=actual, **key)
        put_bounds("matrix", matrix.bounds)
        put("rows", matrix.rows)
        put_bounds("attention", known.share("attention", precision=kernel, **key).bounds)
        put("memory", gpu.memory_bytes_per_second)
        put_bounds("bandwidth", known.share("memory", precision="*", **key).bounds)
        put("gpus_per_node", cluster.gpus_per_node)
        put("nodes", cluster.nodes)
        for name, link in (("intra", cluster.intra_node), ("inter", cluster.inter_node)):
            kind = link.kind if link is not None else "none"
            put_bounds(name, known.links[kind].efficiency, link.bytes_per_second if link is not None else 0.0)
            put(name + "_latency", link.latency_seconds if link is not None else 0.0)
        put("direct", cluster.intra_node.kind in _DIRECT)
        bus = gpu.pcie_bytes_per_second or _USUAL_PCIE
        put_bounds("host", known.links["host"].efficiency, bus)
    return columns


def generation_of(gpu: Gpu) -> str:
    """Key of the calibration tables: the card's architecture; small-tensor-core cards of a family stand apart.

    Consumer and workstation cards of a family reach another share of their peak than its datacentre cards.
    """
    family = gpu.architecture.split("+")[0].strip()
    apart = gpu.vendor == "NVIDIA" and gpu.form_factor == "PCIe" and family in ("Ampere", "Blackwell")
    return f"{family} (GDDR)" if apart and "HBM" not in gpu.memory_type.upper() else family


def speed_findings(cluster: Cluster, precision: Precision, framework: str) -> tuple[Finding, ...]:
    """What a person should know about the speed figures of a cluster."""
    gpu = cluster.gpu
    found: list[Finding] = []
    rate, stand_in = matrix_flops(gpu, precision)
    if rate is None or gpu.memory_bytes_per_second is None:
        return (Finding(code="speed.unknown_rate", severity=Severity.WARNING, params={"gpu": gpu.name}),)
    if stand_in:
        serious = stand_in == "bf16_emulated"
        found.append(
            Finding(
                code=f"speed.{stand_in}",
                severity=Severity.SERIOUS if serious else Severity.INFO,
                params={"gpu": gpu.name},
                source=gpu.source_url,
            )
        )
    share = tables().share(
        "matrix",
        generation=generation_of(gpu),
        vendor=gpu.vendor,
        precision=precision,
        stack=stack_of(framework),
    )
    if not share.rows:
        found.append(Finding(code="speed.not_measured", severity=Severity.INFO, params={"gpu": gpu.name}))
    if cluster.intra_node.kind == "pcie-host":
        found.append(
            Finding(code="speed.no_peer_to_peer", severity=Severity.WARNING, params={"gpu": gpu.name},
                    source=cluster.intra_node.source)
        )  # fmt: skip
    return tuple(found)
