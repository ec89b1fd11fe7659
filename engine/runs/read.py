"""Opens a training configuration, a script or a pasted command line, and says what it found in it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path

from engine.architecture.safetensors import read_safetensors
from engine.errors import InputError
from engine.hardware.model import CatalogSnapshot
from engine.inputs import read_bounded
from engine.runs import axolotl, common, llama_factory, sharding, torchtune, trainer
from engine.runs.command import Command, find_command, parse_command
from engine.runs.result import RunFile
from engine.runs.settings import Settings
from engine.runs.text import MAX_RUN_BYTES, flattened, parse_table

__all__ = ["RUN_ENDINGS", "looks_like_run", "read_command", "read_run"]

#: Endings of files that may hold a configuration or a command.
RUN_ENDINGS = ("yaml", "yml", "json", "sh", "bash", "cmd", "bat")
#: Beside an adapter's weights.
ADAPTER = "adapter_config.json"
_SCRIPTS = (".sh", ".bash", ".cmd", ".bat", ".txt")
Values = dict[str, str | tuple[str, ...]]
#: Keys that only configurations of one program have; the first row of which all are there holds.
_MARKS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("peft", ("peft_type",)),
    ("torchtune", ("model._component_",)),
    ("deepspeed", ("zero_optimization.stage",)),
    ("deepspeed", ("train_micro_batch_size_per_gpu",)),
    ("accelerate", ("distributed_type",)),
    ("accelerate", ("fsdp_config.fsdp_version",)),
    ("axolotl", ("base_model", "sequence_len")),
    ("axolotl", ("base_model", "micro_batch_size")),
    ("llama-factory", ("finetuning_type",)),
    ("llama-factory", ("model_name_or_path", "stage")),
    ("llama-factory", ("model_name_or_path", "cutoff_len")),
    ("trainer", ("per_device_train_batch_size",)),
    ("trainer", ("gradient_accumulation_steps",)),
    ("trainer", ("model_name_or_path", "output_dir")),
    ("trainer", ("num_train_epochs",)),
)


def looks_like_run(path: Path) -> bool:
    """Whether a file is one that `read_run` knows; never fails."""
    try:
        if path.is_dir():
            return (path / ADAPTER).is_file() and not (path / "config.json").is_file()
        if path.suffix.lower() in _SCRIPTS:
            find_command(_text(path), path.name)
            return True
        return bool(_program(flattened(parse_table(_content(path), path.name), path.name)))
    except Exception:  # noqa: BLE001 - a question about any file of a disk
        return False


def read_run(path: Path, catalog: CatalogSnapshot) -> RunFile:
    """Read a configuration or a script. Files that it names are read where they lie beside it.

    Bounded in time and memory; whatever is wrong is an `InputError` that says so.
    """
    if path.is_dir():
        path = path / ADAPTER
    if path.suffix.lower() in _SCRIPTS:
        return read_command(_text(path), catalog, folder=path.parent, file=path.name)
    values = flattened(parse_table(_content(path), path.name), path.name)
    program = _program(values)
    if not program:
        raise InputError("run.unknown", file=path.name)
    return _read(program, values, path.name, path.parent, catalog, Command())


def read_command(text: str, catalog: CatalogSnapshot, *, folder: Path | None = None, file: str = "") -> RunFile:
    """Read a command line, or the first one of a script, that starts a training."""
    command = parse_command(find_command(text, file or "-"), file or "-")
    values: Values = {}
    program = command.program
    named = command.one("config") or next((w for w in command.plain if w.endswith((".yaml", ".yml", ".json"))), "")
    missing = ""
    if named and program != "trainer":
        beside = _beside(named, folder)
        if beside is not None:
            values = flattened(parse_table(_content(beside), beside.name), beside.name)
            program = _program(values) or program
        else:
            missing = named
    elif named:
        beside = _beside(named, folder)
        if beside is not None:
            values = flattened(parse_table(_content(beside), beside.name), beside.name)
        else:
            missing = named
    values = {**values, **command.options, **command.overrides}
    if command.one("config"):
        values.pop("config", None)
    return _read(program, values, file, folder, catalog, command, missing=missing)


def _content(path: Path) -> bytes:
    return read_bounded(path, limit_bytes=MAX_RUN_BYTES)


def _text(path: Path) -> str:
    try:
        return _content(path).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError("run.not_text", file=path.name) from error


def _program(values: Mapping[str, object]) -> str:
    return next((program for program, keys in _MARKS if all(k in values for k in keys)), "")


def _beside(name: str, folder: Path | None) -> Path | None:
    """A named file that lies in the folder (or under it) of the one that names it; nothing else is ever opened."""
    if folder is None or not name or len(name) > 300 or "\0" in name:
        return None
    clean = name.replace("\\", "/")
    tries = [clean.rsplit("/", 1)[-1]]
    if not clean.startswith("/") and ":" not in clean and ".." not in clean:
        tries.insert(0, clean)
    for one in tries:
        if one and common.there_is(folder / one):
            return folder / one
    return None


# reading ----------------------------------------------------------------------------------------------------------


def _read(
    program: str,
    values: Values,
    file: str,
    folder: Path | None,
    catalog: CatalogSnapshot,
    command: Command,
    *,
    missing: str = "",
) -> RunFile:
    settings = Settings(_with_companions(values, folder, command), file or "-")
    no_effect: tuple[str, ...] = common.NO_EFFECT
    readers: dict[str, Callable[[], None]] = {
        "axolotl": lambda: axolotl.read_axolotl(settings, catalog, folder),
        "llama-factory": lambda: llama_factory.read_llama_factory(settings, catalog, folder),
        "torchtune": lambda: torchtune.read_torchtune(settings, catalog, recipe=_recipe(command)),
        "trainer": lambda: trainer.read_trainer(settings, catalog, folder, method=command.method),
        "ms-swift": lambda: trainer.read_trainer(settings, catalog, folder, method=command.method),
        "peft": lambda: _read_adapter(settings, catalog, folder),
        "deepspeed": lambda: None,
        "accelerate": lambda: None,
    }
    patterns = {"axolotl": axolotl.NO_EFFECT, "llama-factory": llama_factory.NO_EFFECT,
                "torchtune": torchtune.NO_EFFECT}  # fmt: skip
    no_effect += patterns.get(program, trainer.NO_EFFECT)
    no_effect += (*sharding.DEEPSPEED_NO_EFFECT, *sharding.ACCELERATE_NO_EFFECT)
    no_effect += tuple(f"*:{p}" for p in (*sharding.DEEPSPEED_NO_EFFECT, *sharding.ACCELERATE_NO_EFFECT))
    _cards(settings, command)
    readers[program]()
    if program == "ms-swift":
        settings.put("framework", "ms-swift (trl)")
    _companions(settings, program)
    _master_weights(settings)
    if missing:
        settings.note("run.note.companion_missing", file=missing[:80])
    return _result(settings, program, file, no_effect)


def _result(settings: Settings, program: str, file: str, no_effect: tuple[str, ...]) -> RunFile:
    s = settings
    epochs = s.number("epochs", "num_train_epochs", "num_epochs", "epochs")
    steps = s.count("max_steps", "max_steps", "max_steps_per_epoch")
    examples = s.count("examples", "max_samples", "max_train_samples")
    packed = s.yes("packed", "sample_packing", "packing", "neat_packing", "dataset.packed")
    case = s.case
    asked = [] if {"model", "params_b"} & case.keys() else ["model"]
    asked += [key for key in ("method", "seq_len", "micro_batch", "n_gpus") if key not in case]
    order = {"model": 0, "params_b": 0, "method": 1}
    used = sorted(s.used.values(), key=lambda u: order.get(u.sets, 2))
    return RunFile(
        program=str(case.get("framework") or program),
        file=file,
        case=dict(case),
        used=tuple(used),
        defaults=tuple(s.defaults),
        left=s.left(no_effect),
        asked=(*asked, "gpu"),
        notes=tuple(s.notes),
        epochs=epochs,
        steps=steps,
        examples=examples,
        packed=packed,
    )


def _recipe(command: Command) -> str:
    return next((w for w in command.plain if "_" in w and not w.endswith((".yaml", ".py"))), "")


def _with_companions(values: Values, folder: Path | None, command: Command) -> Values:
    """The settings and, behind the name of each file that they name, that file's settings."""
    found: Values = dict(values)
    for key in ("deepspeed", "deepspeed_config", "config_file", "fsdp_config"):
        name = values.get(key)
        beside = _beside(name, folder) if isinstance(name, str) else None
        if beside is not None:
            table = flattened(parse_table(_content(beside), beside.name), beside.name)
            found |= {f"{beside.name}:{k}": v for k, v in table.items()}
    return found


def _companions(settings: Settings, program: str) -> None:
    """Sharding that stands in a file beside, in a table of its own, or in this very file."""
    s = settings
    if program in ("deepspeed", "accelerate"):
        (sharding.deepspeed if program == "deepspeed" else sharding.accelerate)(s)
        if program == "deepspeed":
            _deepspeed_run(s, "")
        return
    for key in ("config_file", "deepspeed", "deepspeed_config"):
        name = s.text("parallel", key)
        if not name or name == "true":
            continue
        prefix = f"{name.replace(chr(92), '/').rsplit('/', 1)[-1]}:"
        if s.has(f"{prefix}zero_optimization"):
            sharding.deepspeed(s, prefix)
            _deepspeed_run(s, prefix)
        elif s.has(f"{prefix}distributed_type"):
            sharding.accelerate(s, prefix)
        elif key != "config_file":
            _stage_by_name(s, key, name)
        else:
            s.note("run.note.companion_missing", file=name[:80])
    if s.has("deepspeed.zero_optimization"):
        sharding.deepspeed(s, "deepspeed.")
        _deepspeed_run(s, "deepspeed.")


def _master_weights(s: Settings) -> None:
    """What shards the weights decides in which format they are kept, whatever the model was loaded in.

    DeepSpeed keeps 32-bit master weights beside 16-bit ones. Accelerate's FSDP upcasts trained weights to 32-bit shards
    under mixed precision; where a program computes in 16 bits alone ("pure", "full"), there is no mixed precision.
    """
    if "lora_rank" in s.case or s.case.get("method") in ("lora", "qlora", "dora"):
        return
    regime = s.case.get("regime")
    if "deepspeed" in str(s.case.get("framework", "")):
        if regime in ("pure-bf16", "bf16-amp"):
            del s.case["regime"]  # the preset knows
    elif str(s.case.get("parallel", "")).endswith("fsdp=full") and s.case.get("framework") != "torchtune":
        alone = s.peek("pure_bf16").lower() == "true" or s.peek("bf16").lower() == "full"
        if s.case.get("precision") == "bf16" and not alone and regime in (None, "pure-bf16"):
            s.case["regime"] = "fp32-master"


def _deepspeed_run(s: Settings, prefix: str) -> None:
    """Batch and optimizer that a DeepSpeed configuration states where the program itself does not."""
    for key, name in (("micro_batch", "train_micro_batch_size_per_gpu"), ("grad_accum", "gradient_accumulation_steps")):
        value = s.count(key, f"{prefix}{name}")
        if value is not None and (key not in s.case or any(d.sets == key for d in s.defaults)):
            s.put(key, value)
            s.defaults = [d for d in s.defaults if d.sets != key]
    if "grad_accum" not in s.case:
        s.put("global_batch", s.count("global_batch", f"{prefix}train_batch_size"))
    if "optimizer" not in s.case:
        common.optimizer(s, f"{prefix}optimizer.type")


def _stage_by_name(s: Settings, key: str, name: str) -> None:
    """The stage in the name of a DeepSpeed configuration that is not there, which is said."""
    stage = re.search(r"(?:z|zero|stage)[-_]?([0-3])(?!\d)", name.lower())
    if stage is None:
        s.note("run.note.companion_missing", file=name[:80])
        return
    s.put("parallel", f"zero={stage[1]}")
    if "offload" in name.lower():
        s.put("offload", "optimizer+parameters" if stage[1] == "3" else "optimizer")
    s.put("framework", f"{s.case.get('framework', '')} deepspeed".strip())
    s.taken(key, f"zero={stage[1]}")
    s.note("run.note.stage_by_name", file=name[:80], stage=stage[1])


def _cards(s: Settings, command: Command) -> None:
    """Number of cards, where a launcher or a variable says it."""
    names = ("nproc_per_node", "num_gpus", "num_processes", "nproc_per_gpu")
    per_node = next((n for n in names if s.peek(n).isdigit()), "")
    nodes = s.count("n_nodes", "nnodes", "num_machines", "num_nodes") if s.peek("nnodes").isdigit() or s.has(
        "num_machines", "num_nodes"
    ) else None  # fmt: skip
    if per_node:
        count = s.count("n_gpus", per_node) or 1
        s.put("n_gpus", count * (nodes or 1) if per_node != "num_processes" else count)
    elif command.variables.get("CUDA_VISIBLE_DEVICES"):
        s.put("n_gpus", len([d for d in command.variables["CUDA_VISIBLE_DEVICES"].split(",") if d.strip()]))
    elif command.variables.get("NPROC_PER_NODE", "").isdigit():
        s.put("n_gpus", max(1, min(int(command.variables["NPROC_PER_NODE"][:6]), 4096)))
    s.put("n_nodes", nodes)


def _adapter_weights(s: Settings, folder: Path | None) -> None:
    """The number format of the adapter's weights, where they lie beside their configuration."""
    file = folder / "adapter_model.safetensors" if folder is not None else None
    if file is None or not common.there_is(file):
        return
    kinds = read_safetensors(file).stored
    s.put("lora_dtype", {"F32": "fp32", "BF16": "bf16", "F16": "bf16"}.get(kinds[0].dtype if kinds else ""))


def _read_adapter(s: Settings, catalog: CatalogSnapshot, folder: Path | None) -> None:
    """An adapter's own configuration (PEFT): base, rank and matrices."""
    kind = s.text("method", "peft_type").upper()
    if kind not in ("LORA", "ADALORA", "PROMPT_TUNING", "P_TUNING", "PREFIX_TUNING"):
        raise InputError("run.adapter_kind", file=s.file, kind=kind[:40])
    s.put("framework", "peft")
    common.model(s, catalog, folder, "base_model_name_or_path")
    if kind in ("LORA", "ADALORA"):
        common.lora(s, ("r", "init_r"), ("lora_dropout",), ("target_modules",))
        name = s.case.get("model") or s.peek("base_model_name_or_path")
        dora = s.yes("method", "use_dora")
        four = "4bit" in str(s.peek("base_model_name_or_path")).lower() and bool(name)
        s.put("method", "qlora" if four else "dora" if dora else "lora")
        s.lacks("rank_pattern", "modules_to_save", "layers_to_transform")
        _adapter_weights(s, folder)
    else:
        s.put("method", "prompt")
        s.count("virtual_tokens", "num_virtual_tokens")
