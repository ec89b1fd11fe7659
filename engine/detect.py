"""The cards of this machine, as their driver lists them. Nothing leaves the machine."""

from __future__ import annotations

import csv
import io
import shutil
import subprocess

from engine.catalog.find import find_gpus
from engine.errors import KnownError, WorldError
from engine.hardware.model import CatalogSnapshot
from engine.scenario import OwnedGpus

__all__ = ["detect_owned", "parse_listing"]

_QUERY = ("--query-gpu=name,memory.total,memory.used", "--format=csv,noheader,nounits")
#: A driver that does not answer within this time is stuck.
MOST_SECONDS = 10
MIB = 2**20
#: What a card without programs holds for its driver is no use by others; above it, something runs or is displayed.
IDLE_BYTES = 1024 * MIB


def detect_owned(catalog: CatalogSnapshot) -> tuple[tuple[OwnedGpus, ...], tuple[str, ...]]:
    """Cards that NVIDIA's driver lists, by the catalogue's ids, and names that the catalogue does not know.

    `WorldError` where there is no such driver, or it does not answer.
    """
    program = shutil.which("nvidia-smi")
    if program is None:
        raise WorldError("detect.no_driver")
    try:
        done = subprocess.run([program, *_QUERY], capture_output=True, text=True, timeout=MOST_SECONDS, check=True)
    except (OSError, subprocess.SubprocessError, UnicodeDecodeError) as error:
        raise WorldError("detect.no_answer") from error
    return parse_listing(done.stdout, catalog)


def parse_listing(text: str, catalog: CatalogSnapshot) -> tuple[tuple[OwnedGpus, ...], tuple[str, ...]]:
    """The driver's lines (name, MiB in all, MiB in use) as cards; of cards of one kind, the fullest counts for all."""
    counts: dict[str, int] = {}
    in_use: dict[str, int] = {}
    unknown: list[str] = []
    for row in csv.reader(io.StringIO(text), skipinitialspace=True):
        if len(row) < 3:
            continue
        total, used = _mib(row[1]), _mib(row[2])
        gpu_id = _known(row[0], total, catalog)
        if gpu_id is None:
            unknown.append(row[0].strip())
            continue
        counts[gpu_id] = counts.get(gpu_id, 0) + 1
        in_use[gpu_id] = max(in_use.get(gpu_id, 0), used if used > IDLE_BYTES else 0)
    owned = tuple(OwnedGpus(gpu_id=g, count=n, in_use_bytes=in_use[g]) for g, n in counts.items())
    return owned, tuple(dict.fromkeys(unknown))


def _mib(text: str) -> int:
    try:
        return max(0, int(float(text))) * MIB
    except (ValueError, OverflowError):
        return 0


#: Names of the driver that the catalogue spells otherwise.
_DRIVER_NAMES = {
    "NVIDIA H100 80GB HBM3": ("nvidia-h100-sxm-80gb",),
    "NVIDIA H20": ("nvidia-h20-96gb", "nvidia-h20-141gb"),
    "NVIDIA GH200 480GB": ("nvidia-gh200-96gb", "nvidia-gh200-144gb"),
    "NVIDIA GH200 144G HBM3e": ("nvidia-gh200-144gb",),
    "Tesla V100-SXM2-16GB": ("nvidia-v100-sxm2-16gb",),
    "Tesla V100-SXM2-32GB": ("nvidia-v100-sxm2-32gb",),
    "Tesla V100-PCIE-16GB": ("nvidia-v100-pcie-16gb",),
    "Tesla V100-PCIE-32GB": ("nvidia-v100-pcie-32gb",),
}
#: A card of this name whose memory differs by more is another one (a 4060 Ti has 8 or 16 GB).
SAME_MEMORY = 0.1


def _known(name: str, total: int, catalog: CatalogSnapshot) -> str | None:
    """The card of this name whose memory is nearest to what the driver states; None where none has about as much."""
    plain = name.replace("NVIDIA", "").replace("Generation", "").strip()
    found = list(_DRIVER_NAMES.get(name.strip(), ()))
    for tried in (name.strip(), plain, plain.replace("GeForce", "").strip()) if not found else ():
        try:
            found.extend(g.id for g in find_gpus(catalog, tried))
        except KnownError:
            continue
    sizes = {g: catalog.gpu_by_id[g].usable_bytes or 0 for g in found}
    if not sizes:
        return None
    best = min(sizes, key=lambda g: (abs(sizes[g] - total) if total else sizes[g], g))
    return best if not total or abs(sizes[best] / total - 1) <= SAME_MEMORY else None
