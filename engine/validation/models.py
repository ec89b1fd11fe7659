"""The model of a case: from the catalogue, a file, a stated shape, or its size alone."""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from engine.architecture.checkpoint import read_model
from engine.architecture.model import Architecture
from engine.architecture.size import from_shape, from_size
from engine.errors import InputError
from engine.hardware.model import CatalogSnapshot
from engine.validation.fields import Case

__all__ = ["find_model", "shape_table"]

#: Names of dimensions in a stated shape.
_SHAPE_FIELDS = {
    "d_model": "hidden_size",
    "n_layers": "layers",
    "n_heads": "attention_heads",
    "n_kv_heads": "kv_heads",
    "head_dim": "head_dim",
    "d_ff": "intermediate_size",
    "vocab": "vocabulary_size",
    "tied": "tied_embeddings",
    "mlp": "mlp",
    "norm": "norm",
    "qk_norm": "qk_norm",
}
_MODEL_FILES = (".json", ".gguf", ".safetensors")
_GPT_VOCABULARY = 51_200  # GPT-2's 50257 padded for tensor parallelism, as Megatron and NeMo do


def find_model(case: Case, catalog: CatalogSnapshot) -> Architecture:
    """The model of a case; `basis` "size" or "shape" says that dimensions were assumed.

    Order: an explicit shape, the curated id, the given name (path, id or alias), a known shape of that name, the size.
    """
    stated = case.text("shape")
    name = case.text("model")
    if stated:
        return _from_shape(name or "shape", _parsed(stated), case)
    table = shape_table()
    if name and name in table:
        base = catalog.model_by_id.get(table[name][0])
        return _changed(base, table[name][1], name) if base else _from_shape(name, table[name][1], case)
    found = _by_name(case.text("model_id"), catalog) or _by_name(name, catalog)
    if found is not None:
        return found
    if name and (Path(name).suffix in _MODEL_FILES or Path(name).is_dir()):
        return read_model(name).architecture
    size = case.number("params_b")
    if size:
        return from_size(size)
    if not name:
        raise InputError("case.missing", key="model")
    raise InputError("case.model_unknown", model=name[:80])


def _by_name(name: str, catalog: CatalogSnapshot) -> Architecture | None:
    if not name:
        return None
    return catalog.model_by_id.get(name) or catalog.model_by_id.get(catalog.model_aliases.get(name.lower(), ""))


@cache
def shape_table() -> Mapping[str, tuple[str, Mapping[str, Any]]]:
    """Names whose dimensions are known without weights in the catalogue: name -> (base id or "", shape)."""
    text = (files("resources") / "models/model_aliases.csv").read_text(encoding="utf-8")
    rows = csv.DictReader(text.splitlines())
    return {r["name"]: (r["model_id"], _parsed(r["shape"])) for r in rows if r["shape"]}


def _parsed(text: str) -> Mapping[str, Any]:
    try:
        shape = json.loads(text)
    except (RecursionError, ValueError) as error:
        raise InputError("case.bad_value", key="shape", value=text[:60]) from error
    if not isinstance(shape, dict):
        raise InputError("case.bad_value", key="shape", value=text[:60])
    return shape


def _changed(base: Architecture, shape: Mapping[str, Any], name: str) -> Architecture:
    """A catalogue model with some dimensions changed; counts follow from the new ones."""
    from engine.architecture.parameters import parameters_active, parameters_total

    fields: dict[str, Any] = {_SHAPE_FIELDS[k]: v for k, v in shape.items() if k in _SHAPE_FIELDS}
    extra = dict(base.extra)
    if isinstance(shape.get("positions"), int):
        extra["pos"] = shape["positions"]
    draft = Architecture.model_validate({**base.model_dump(), **fields, "extra": extra, "name": name})
    counts = {"parameters_total": parameters_total(draft), "parameters_active": parameters_active(draft)}
    return Architecture.model_validate({**draft.model_dump(), **counts})


def _from_shape(name: str, shape: Mapping[str, Any], case: Case) -> Architecture:
    if "encoder_layers" in shape:
        raise InputError("case.encoder_decoder", model=name[:80])
    fields: dict[str, Any] = {_SHAPE_FIELDS[k]: v for k, v in shape.items() if k in _SHAPE_FIELDS}
    if not fields.get("hidden_size") or not fields.get("layers"):
        raise InputError("case.bad_value", key="shape", value=str(dict(shape))[:60])
    guessed: list[str] = []
    heads = fields.setdefault("attention_heads", fields["hidden_size"] // 128)
    fields.setdefault("kv_heads", heads)
    fields.setdefault("head_dim", fields["hidden_size"] // heads)
    fields.setdefault("intermediate_size", 4 * fields["hidden_size"])
    if "vocabulary_size" not in fields:
        fields["vocabulary_size"] = _GPT_VOCABULARY
        guessed.append("vocabulary_size")
    plain = fields.get("mlp") in ("gelu", "relu", "relu2")
    fields.setdefault("norm", "ln" if plain else "rms")
    extra: dict[str, Any] = {}
    if plain and fields["norm"] == "ln":
        fields["attention_bias"] = "all"
        extra["mlp_bias"] = 1
    positions = str(shape.get("positions", ""))
    if positions.startswith("learned"):
        extra["pos"] = int(shape.get("seq_len", 0)) or int(case.number("seq_len") or 2048)
    return from_shape(name, **fields, extra=extra, guessed=tuple(guessed), block_kind=_kind(fields))


def _kind(fields: Mapping[str, Any]) -> str:
    """Blocks with derived factors: gated MLP and RMS norm are Llama's, plain MLP and LayerNorm GPT-2's."""
    if fields.get("mlp", "swiglu") == "swiglu" and fields["norm"] == "rms" and not fields.get("qk_norm"):
        return "llama"
    return "gpt2" if fields.get("mlp") == "gelu" and fields["norm"] == "ln" else ""
