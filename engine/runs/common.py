"""Words that several programs share: optimizers, adapter targets, kernels, names of models."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from engine.hardware.model import CatalogSnapshot
from engine.runs.settings import Settings

__all__ = [
    "NO_EFFECT",
    "adapter_targets",
    "attention",
    "known_model",
    "lora",
    "model",
    "optimizer",
    "quantised_base",
    "there_is",
]

#: Keys of nearly every program that change neither memory nor the time of a step: how often is logged, seeds, rates.
NO_EFFECT = (
    "output_dir", "*learning_rate", "lr", "*lr_scheduler*", "warmup*", "weight_decay", "*.weight_decay", "adam_*",
    "*betas", "*.eps", "*.lr", "max_grad_norm", "seed", "data_seed", "logging*", "report_to", "run_name", "save_*",
    "eval*", "do_eval", "do_train", "do_predict", "overwrite*", "push_to_hub", "hub_*", "disable_tqdm", "log_level",
    "load_best_model_at_end", "metric_for_best_model", "greater_is_better", "resume_from_checkpoint", "wandb*",
    "mlflow*", "comet*", "swanlab*", "use_swanlab", "dataloader_*", "remove_unused_columns", "ddp_timeout",
    "plot_loss", "tokenizer*", "trust_remote_code", "template", "chat_template*", "dataset*", "datasets*", "data_dir",
    "val_set_size", "val_size", "train_on_inputs", "special_tokens*", "tokens.*", "hf_*", "token", "cache_dir",
    "revision", "model_revision", "lora_alpha", "model.lora_alpha", "ignore_data_skip", "save_only_model",
    "preprocessing_*", "overwrite_cache", "group_by_length", "local_rank", "debug", "profiler*", "lora_bias",
    "lora_task_type", "strict", "loraplus*", "use_rslora", "steps_per_print", "wall_clock_breakdown",
    "gradient_clipping", "label_smoothing*", "neftune*", "shuffle*", "bos_token", "eos_token", "pad_token",
    "padding_side", "add_eos_token", "batched", "completion_only_loss", "assistant_only_loss", "response_template",
    "dataset_num_proc", "include_*", "prediction_*", "log_*", "metric_logger*", "checkpointer*", "resume*", "tf32",
)  # fmt: skip

#: Names of optimizers -> word of a case; what is not here is not modelled.
_OPTIMIZERS: Mapping[str, str] = {
    "adamw": "adamw", "adam": "adamw", "adamw_hf": "adamw", "adamw_torch": "adamw", "adamw_torch_fused": "adamw",
    "fusedadam": "adamw", "deepspeedcpuadam": "adamw", "adamw_apex_fused": "adamw", "torch.optim.adamw": "adamw",
    "torch.optim.adam": "adamw", "adamw_bnb_8bit": "adamw_8bit", "adamw_8bit": "adamw_8bit",
    "adam8bit": "adamw_8bit", "adamw8bit": "adamw_8bit", "bitsandbytes.optim.adamw8bit": "adamw_8bit",
    "torchao.optim.adamw8bit": "adamw_8bit", "torchao.prototype.low_bit_optim.adamw8bit": "adamw_8bit",
    "adamw_torch_8bit": "adamw_8bit", "paged_adamw_8bit": "paged_adamw_8bit",
    "bitsandbytes.optim.pagedadamw8bit": "paged_adamw_8bit", "paged_adamw_32bit": "paged_adamw_32bit",
    "paged_adamw": "paged_adamw_32bit", "bitsandbytes.optim.pagedadamw": "paged_adamw_32bit",
    "adafactor": "adafactor", "torch.optim.adafactor": "adafactor", "transformers.optimization.adafactor": "adafactor",
    "sgd": "sgd", "torch.optim.sgd": "sgd", "lion": "lion", "lion_32bit": "lion", "muon": "muon",
    "torch.optim.muon": "muon",
}  # fmt: skip
_ALL_LINEAR = frozenset({"q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"})
#: Fused and other names of the same matrices.
_PARTS: Mapping[str, frozenset[str]] = {
    "query_key_value": frozenset({"q_proj", "k_proj", "v_proj"}), "qkv_proj": frozenset({"q_proj", "k_proj", "v_proj"}),
    "c_attn": frozenset({"q_proj", "k_proj", "v_proj"}), "wqkv": frozenset({"q_proj", "k_proj", "v_proj"}),
    "w_pack": frozenset({"q_proj", "k_proj", "v_proj"}), "output_proj": frozenset({"o_proj"}),
    "out_proj": frozenset({"o_proj"}), "wo": frozenset({"o_proj"}), "dense": frozenset({"o_proj"}),
    "gate_up_proj": frozenset({"gate_proj", "up_proj"}), "w1": frozenset({"gate_proj"}),
    "w3": frozenset({"up_proj"}), "w2": frozenset({"down_proj"}), "query": frozenset({"q_proj"}),
    "value": frozenset({"v_proj"}), "key": frozenset({"k_proj"}),
}  # fmt: skip
_SETS: tuple[tuple[str, frozenset[str]], ...] = (
    ("q,v", frozenset({"q_proj", "v_proj"})),
    ("q,k,v,o", frozenset({"q_proj", "k_proj", "v_proj", "o_proj"})),
    ("mlp", frozenset({"gate_proj", "up_proj", "down_proj"})),
    ("all-linear", _ALL_LINEAR),
)
_KERNELS: Mapping[str, str] = {
    "flash_attention_2": "flash", "flash_attention_3": "flash", "flash_attn": "flash", "fa2": "flash", "fa3": "flash",
    "flash": "flash", "kernels-community/flash-attn": "flash", "flex_attention": "flash", "xformers": "flash",
    "sdpa": "sdpa", "eager": "eager", "disabled": "eager",
}  # fmt: skip
_SIZE = re.compile(r"(?<![\d.a-zA-Z])(\d{1,4}(?:\.\d{1,3})?)[bB](?![a-zA-Z])")
#: Endings that change no dimension.
_ENDINGS = re.compile(
    r"([-_](instruct|chat|it|hf|base|pt|sft|dpo|bnb[-_]4bit|4bit|unsloth|awq|gptq|int4|int8|fp8|thinking))+$", re.I
)


def optimizer(settings: Settings, *names: str) -> None:
    """The optimizer; one that is not modelled is listed and the program's usual one stands."""
    word = settings.text("optimizer", *names).lower()
    known = _OPTIMIZERS.get(word)
    if word and known is None:
        settings.lacks(*names)
        settings.note("run.note.optimizer", name=word[:60])
    settings.put("optimizer", known)


def attention(settings: Settings, *names: str) -> None:
    """The attention kernel by its name."""
    settings.put("attention", _KERNELS.get(settings.text("attention", *names).lower()))


def adapter_targets(settings: Settings, names: Iterable[str], *keys: str) -> None:
    """The nearest modelled set of matrices that holds all that are named, so that memory is not taken too small."""
    wanted: set[str] = set()
    odd = False
    for name in names:
        word = name.strip().lower().rsplit(".", 1)[-1]
        if word in ("all", "all-linear", "linear"):
            wanted |= _ALL_LINEAR
        elif word in _ALL_LINEAR:
            wanted.add(word)
        elif word in _PARTS:
            wanted |= _PARTS[word]
        else:
            odd = True
    if not wanted and not odd:
        return
    best = next((label for label, members in _SETS if wanted <= members), "all-linear") if wanted else "all-linear"
    settings.put("lora_targets", best)
    exact = not odd and any(label == best and wanted == members for label, members in _SETS)
    for key in keys:
        settings.taken(key, best)
    if not exact:
        settings.note("run.note.targets", taken=best)


def lora(settings: Settings, rank: tuple[str, ...], dropout: tuple[str, ...], targets: tuple[str, ...]) -> None:
    """Rank, dropout and matrices of adapters."""
    settings.put("lora_rank", settings.count("lora_rank", *rank))
    settings.put("lora_dropout", settings.number("lora_dropout", *dropout))
    adapter_targets(settings, settings.words("lora_targets", *targets), *targets)


def quantised_base(settings: Settings, four: bool | None, eight: bool | None, kind: str, double: bool | None) -> bool:
    """How the frozen base is stored (bitsandbytes); whether it is 4 bits."""
    if four:
        settings.put("weight_quant", "fp4" if kind.lower() == "fp4" else ("nf4-dq" if double else "nf4"))
    elif eight:
        settings.put("weight_quant", "int8")
    return bool(four)


def model(settings: Settings, catalog: CatalogSnapshot, folder: Path | None, *names: str) -> None:
    """The model by catalogue name, by a folder that lies there, or by the size in its name (which is said)."""
    name = settings.text("model", *names)
    if not name:
        return
    found = known_model(name, catalog)
    if found is not None:
        settings.put("model", found)
        if found.lower() != name.lower():
            for key in names:
                settings.taken(key, found)
        return
    if folder is not None and not name.startswith(("\\\\", "//")) and there_is(folder / name / "config.json"):
        settings.put("model", str(folder / name))
        return
    size = _SIZE.findall(name)
    if size:
        settings.put("params_b", float(size[-1]))
        settings.note("run.note.model_by_size", model=name[:80], size=float(size[-1]))
        for key in names:
            settings.taken(key, f"{size[-1]}B")
    else:
        settings.note("run.note.model_unknown", model=name[:80])


def there_is(path: Path) -> bool:
    """Whether a file of this path is there; names that no file can have are not."""
    try:
        return path.is_file()
    except (OSError, ValueError):  # too long, or with characters that no name may hold
        return False


def known_model(name: str, catalog: CatalogSnapshot) -> str | None:
    """The catalogue's model of this name, or the one of the same shape (its base, or a copy by another publisher)."""
    plain = name.strip().rstrip("/")
    last = plain.rsplit("/", 1)[-1]
    for tried in dict.fromkeys((plain, last, _ENDINGS.sub("", plain), _ENDINGS.sub("", last),
                                _ENDINGS.sub("", last).replace("Meta-Llama-3.1", "Llama-3.1"))):  # fmt: skip
        if tried in catalog.model_by_id:
            return tried
        alias = catalog.model_aliases.get(tried.lower())
        if alias is not None:
            return alias
    return _by_last_part(catalog).get(_ENDINGS.sub("", last).lower().replace("meta-llama", "llama"))


def _by_last_part(catalog: CatalogSnapshot) -> dict[str, str]:
    """Names without publisher and ending; where several share one, they have the same shape or none is given."""
    found: dict[str, str | None] = {}
    for one in catalog.models:
        word = _ENDINGS.sub("", one.id.rsplit("/", 1)[-1]).lower().replace("meta-llama", "llama")
        other = found.get(word)
        same = other is None or catalog.model_by_id[other].parameters_total == one.parameters_total
        found[word] = (other or one.id) if word not in found or same else None
    return {word: name for word, name in found.items() if name is not None}
