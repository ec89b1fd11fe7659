"""What a person has of a model on disk: a configuration, a folder with its weights, or a GGUF file.

Of weights only the headers are read: which number formats, how many bytes. Files that would have to be executed to be
read (pickles: `.bin`, `.pt`) are never opened.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from engine.architecture.gguf import read_gguf
from engine.architecture.gguf_model import architecture_from_gguf, gguf_format
from engine.architecture.model import Architecture
from engine.architecture.readers import parsed_json, read_config
from engine.architecture.safetensors import read_safetensors
from engine.architecture.tensors import StoredKind, Tally, merged
from engine.errors import InputError
from engine.findings import Finding, Severity
from engine.quantity import Frozen

__all__ = ["MAX_FILES", "ModelFile", "read_model"]

#: Files of one model; the largest published ones have some two hundred.
MAX_FILES = 1000
#: Bytes of all headers of one model together.
_MOST_NAMES = 400_000
_MAX_INDEX_BYTES = 25_000_000
#: Number formats of tensors in the words of `Architecture.native_dtype`.
_DTYPES = {"BF16": "bf16", "F16": "fp16", "F32": "fp32", "F8_E4M3": "fp8", "F8_E5M2": "fp8"}
#: Formats in which an element of the tensor is a weight of the model.
_PLAIN = frozenset({*_DTYPES, "F64"})
#: Tensors that are no weights: scales of quantised ones, buffers.
_NO_WEIGHT = re.compile(
    r"(scale|scales|scale_inv|_absmax|quant_map|g_idx|zeros|inv_freq|masked_bias|attn\.bias|attention\.bias)$"
)
#: Parts beside the text model: images, sound, and layers that predict further tokens.
_BESIDE = re.compile(r"(^|\.)(vision|visual|vit|image|audio|speech|mtp|multi_modal|mm_projector)")
_LAYER = re.compile(r"(?:^|\.)(?:layers|h|blocks)\.(\d{1,5})\.")
_PART = re.compile(r"^(.*)-(\d{5})-of-(\d{5})\.gguf$")
#: Dimensions and tensors may differ by so much before it is said.
_TOLERANCE = 0.001


class ModelFile(Frozen):
    """What was read. `counted_parameters` is 0 where elements of tensors are no weights (packed formats)."""

    architecture: Architecture
    kind: Literal["config", "safetensors", "gguf"]
    files: tuple[str, ...] = ()
    stored: tuple[StoredKind, ...] = ()
    stored_bytes: int = 0
    counted_parameters: int = 0
    file_format: str = ""  # of a GGUF file: Q4_K_M, …
    notes: tuple[Finding, ...] = ()


def read_model(source: str | Path) -> ModelFile:
    """Read a `config.json`, a model's folder, one of its weight files, or a GGUF file.

    Bounded in time and memory; whatever is wrong with a file is an `InputError` that names it.
    """
    path = Path(source)
    if path.is_dir():
        return _folder(path)
    name = path.name.lower()
    if name.endswith(".gguf"):
        return _gguf(path)
    if name.endswith((".safetensors", ".safetensors.index.json")) and path.is_file():
        return _folder(path.parent)
    if name.endswith((".bin", ".pt", ".pth", ".ckpt")):
        raise InputError("model.pickle", file=str(path))
    return ModelFile(architecture=read_config(path), kind="config", files=(path.name,))


# a folder -----------------------------------------------------------------------------------------------------


def _folder(folder: Path) -> ModelFile:
    ggufs = sorted(folder.glob("*.gguf"))[:MAX_FILES]
    weights = sorted(folder.glob("*.safetensors"))[: MAX_FILES + 1]
    weights = [f for f in weights if f.name not in ("adapter_model.safetensors", "consolidated.safetensors")] or weights
    if not (folder / "config.json").is_file():
        if len(ggufs) == 1 or (ggufs and _PART.match(ggufs[0].name)):
            return _gguf(ggufs[0])
        if weights:
            raise InputError("model.weights_without_config", file=str(folder))
    if len(weights) > MAX_FILES:
        raise InputError("model.too_many_files", file=str(folder), limit=MAX_FILES)
    listed, total = _index(folder)
    missing = sorted(listed - {f.name for f in weights})
    notes: list[Finding] = []
    if missing:
        params: dict[str, str | int | float | None] = {"missing": len(missing), "all": len(listed), "name": missing[0]}
        notes.append(Finding(code="model.note.files_missing", severity=Severity.WARNING, params=params))
    if not weights and not listed:
        if any(folder.glob("*.bin")) or any(folder.glob("*.pth")):
            notes.append(Finding(code="model.note.pickle_not_read"))
        return ModelFile(architecture=read_config(folder), kind="config", files=("config.json",), notes=tuple(notes))
    if listed:
        weights = [f for f in weights if f.name in listed]
    tally = _headers(weights)
    architecture = _with_head(folder, tally, complete=not missing)
    return _described(architecture, tally, ("config.json", *(f.name for f in weights)), notes, total, missing)


def _headers(weights: list[Path]) -> Tally:
    tallies: list[Tally] = []
    names = 0
    for file in weights:
        tallies.append(read_safetensors(file))
        names += len(tallies[-1].named)
        if names > _MOST_NAMES:
            raise InputError("model.too_many_tensors", file=str(file), limit=_MOST_NAMES)
    return merged(tallies)


def _index(folder: Path) -> tuple[set[str], int]:
    """Names of the weight files that the index lists, and the bytes that it states."""
    path = folder / "model.safetensors.index.json"
    if not path.is_file():
        return set(), 0
    table = parsed_json(path, _MAX_INDEX_BYTES)
    weight_map = table.get("weight_map")
    if not isinstance(weight_map, Mapping):
        raise InputError("model.bad_header", file=str(path))
    metadata = table.get("metadata")
    total = metadata.get("total_size") if isinstance(metadata, Mapping) else 0
    names = {str(name) for name in weight_map.values()}
    if len(names) > MAX_FILES:
        raise InputError("model.too_many_files", file=str(path), limit=MAX_FILES)
    return names, total if isinstance(total, int) and not isinstance(total, bool) and 0 < total < 2**63 else 0


def _with_head(folder: Path, tally: Tally, *, complete: bool) -> Architecture:
    """The configuration's dimensions; whether the head is shared is asked of the weights where it isn't stated."""
    found = read_config(folder)
    if "tied_embeddings" not in found.guessed or not complete:
        return found
    config: dict[str, Any] = dict(parsed_json(folder / "config.json"))
    config["tie_word_embeddings"] = not any(n.endswith(("lm_head.weight", "output.weight")) for n in tally.named)
    return read_config(config).model_copy(update={"id": found.id, "name": found.name})


def _described(
    architecture: Architecture,
    tally: Tally,
    files: tuple[str, ...],
    notes: list[Finding],
    total: int,
    missing: list[str],
) -> ModelFile:
    kinds = tally.stored
    largest = kinds[0].dtype if kinds else ""
    changes: dict[str, Any] = {"basis": "checkpoint"}
    if largest in _DTYPES:
        changes["native_dtype"] = _DTYPES[largest]
        changes["guessed"] = tuple(g for g in architecture.guessed if g != "native_dtype")
    counted = 0 if missing else _counted(architecture, tally)
    if counted and abs(counted / architecture.parameters_total - 1) > _TOLERANCE:
        params: dict[str, str | int | float | None] = {"counted": counted, "computed": architecture.parameters_total}
        notes.append(Finding(code="model.note.count_differs", severity=Severity.WARNING, params=params))
    return ModelFile(
        architecture=architecture.model_copy(update=changes),
        kind="safetensors",
        files=files,
        stored=kinds,
        stored_bytes=total if missing else tally.bytes,
        counted_parameters=counted,
        notes=tuple(notes),
    )


def _counted(architecture: Architecture, tally: Tally) -> int:
    """Weights of the text model by the headers, a shared head once; 0 where packed formats hide them."""
    total = 0
    for name, (dtype, elements) in tally.named.items():
        layer = _LAYER.search(name)
        further = layer is not None and int(layer[1]) >= architecture.layers and not _BESIDE.search(name)
        shared = architecture.tied_embeddings and name.endswith("lm_head.weight")
        if _NO_WEIGHT.search(name) or _BESIDE.search(name) or further or shared:
            continue
        if dtype not in _PLAIN:
            return 0
        total += elements
    return total


# GGUF ---------------------------------------------------------------------------------------------------------


def _gguf(path: Path) -> ModelFile:
    files = _parts(path)
    headers = [read_gguf(f) for f in files]
    first = headers[0]
    whole = merged(h.tensors for h in headers)
    for one in headers[1:]:
        first.shapes.update(one.shapes)
    label = str(first.pairs.get("general.name") or "")[:80] or path.stem
    found = architecture_from_gguf(first, str(files[0]), name=label)
    form = gguf_format(first)
    counted = sum(e for n, (_d, e) in whole.named.items() if not n.startswith(("rope_freqs", "rope_factors")))
    notes: list[Finding] = []
    if counted and abs(counted / found.parameters_total - 1) > _TOLERANCE:
        params: dict[str, str | int | float | None] = {"counted": counted, "computed": found.parameters_total}
        notes.append(Finding(code="model.note.count_differs", severity=Severity.WARNING, params=params))
    changes: dict[str, Any] = {"basis": "checkpoint", "native_dtype": _DTYPES.get(form, form.lower())}
    if counted:
        changes["stored_bits"] = round(whole.bytes * 8 / counted, 6)
    return ModelFile(
        architecture=found.model_copy(update=changes),
        kind="gguf",
        files=tuple(f.name for f in files),
        stored=whole.stored,
        stored_bytes=whole.bytes,
        counted_parameters=counted,
        file_format=form,
        notes=tuple(notes),
    )


def _parts(path: Path) -> list[Path]:
    """All files of a model that is split; `InputError` names the first that is missing."""
    match = _PART.match(path.name)
    if match is None:
        return [path]
    count = int(match[3])
    if not 1 <= count <= MAX_FILES:
        raise InputError("model.too_many_files", file=str(path), limit=MAX_FILES)
    files = [path.with_name(f"{match[1]}-{n:05d}-of-{match[3]}.gguf") for n in range(1, count + 1)]
    for one in files:
        if not one.is_file():
            raise InputError("model.file_not_found", file=str(one))
    return files
