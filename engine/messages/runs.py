"""Words of training configurations and command lines: what they set, what is left, what is wrong with them."""

from __future__ import annotations

from engine.messages.mark import N_

#: "run.sets." + a key of a case: what a setting of a file decides.
LABELS: dict[str, str] = {
    "run.sets.model": N_("Model"),
    "run.sets.params_b": N_("Size of the model"),
    "run.sets.method": N_("What is trained, and how"),
    "run.sets.framework": N_("Program"),
    "run.sets.n_gpus": N_("Number of GPUs"),
    "run.sets.n_nodes": N_("Number of machines"),
    "run.sets.gpu": N_("Which GPU"),
    "run.sets.precision": N_("Number format of the computation"),
    "run.sets.regime": N_("Number format of weights and optimizer"),
    "run.sets.optimizer": N_("Optimizer"),
    "run.sets.optimizer_in_backward": N_("Optimizer step inside the backward pass"),
    "run.sets.seq_len": N_("Sequence length (tokens)"),
    "run.sets.micro_batch": N_("Sequences that one GPU takes at once"),
    "run.sets.global_batch": N_("Sequences of one optimizer step"),
    "run.sets.grad_accum": N_("Gradient accumulation steps"),
    "run.sets.activation_checkpointing": N_("Recomputation (gradient checkpointing)"),
    "run.sets.attention": N_("Attention kernel"),
    "run.sets.lora_rank": N_("Rank of the adapters"),
    "run.sets.lora_dropout": N_("Dropout of the adapters"),
    "run.sets.lora_targets": N_("Matrices with adapters"),
    "run.sets.weight_quant": N_("Number format of the frozen weights"),
    "run.sets.parallel": N_("How the GPUs share the work"),
    "run.sets.reshard_after_forward": N_("Weights shared out again after the forward pass"),
    "run.sets.offload": N_("What lives in host memory"),
    "run.sets.fused_or_chunked_ce": N_("Loss computed in pieces"),
    "run.sets.torch_compile": N_("Compiled model"),
    "run.sets.virtual_tokens": N_("Trained prompt tokens"),
    "run.sets.epochs": N_("Passes over the data"),
    "run.sets.max_steps": N_("Number of optimizer steps"),
    "run.sets.examples": N_("Number of examples"),
    "run.sets.packed": N_("Examples packed into full rows"),
    "run.left.not_modelled": N_("Changes memory or time, but is not modelled here"),
    "run.left.unknown": N_("Not known to this program; it may matter"),
    "run.left.no_effect": N_("Changes neither memory nor time"),
}

TEMPLATES: dict[str, str] = {
    "run.too_large": N_("{file} is larger than {limit:int} bytes, too large for a training configuration."),
    "run.not_text": N_("{file} is not a text file in UTF-8."),
    "run.not_readable": N_("{file} can't be read as YAML or JSON; reading stopped at line {line:int}."),
    "run.too_deep": N_("{file} is nested deeper, or stands for more settings, than any training configuration."),
    "run.no_settings": N_("{file} holds no settings: names with values are expected."),
    "run.not_a_number": N_("In {file} the value of “{key}” is not a number that can be used: {value}."),
    "run.unknown": N_(
        "{file} is none of the training configurations that can be read: Hugging Face or TRL, Axolotl, LLaMA-Factory, "
        "torchtune, DeepSpeed, Accelerate, or a PEFT adapter."
    ),
    "run.no_command": N_(
        "{file} holds no command that starts a training (accelerate, torchrun, deepspeed, axolotl, llamafactory-cli, "
        "tune, trl, swift or python)."
    ),
    "run.bad_command": N_("The command line of {file} can't be split: a quotation mark is not closed."),
    "run.adapter_kind": N_("{file} describes an adapter of the kind {kind}, which is not modelled."),
    "run.asked": N_(
        "{file} does not say everything. Still needed: {names}. Give each with --set, for example {example}."
    ),
    "run.no_data": N_(
        "{file} does not say how much data there is. Add --set tokens=…, or --set examples=… and "
        "--set tokens_per_example=…"
    ),
    "run.bad_set": N_("{value} is not of the form KEY=VALUE. Known keys are those of a case (docs/cases.md)."),
    "run.note.optimizer": N_("The optimizer {name} is not modelled; the usual one of the program is taken instead."),
    "run.note.targets": N_(
        "Adapters on exactly these matrices are not modelled; the next larger set is taken: {taken}. That needs a "
        "little more memory."
    ),
    "run.note.model_by_size": N_(
        "The model {model} is not in the catalogue; a usual model of {size:num} billion parameters is taken. Open its "
        "config.json for exact figures."
    ),
    "run.note.model_unknown": N_("The model {model} is not in the catalogue, and its name tells no size."),
    "run.note.nvme": N_("Offload to a disk is taken as offload to host memory; it is slower in truth."),
    "run.note.hybrid_shard": N_("Sharding inside each machine alone is taken as sharding over all GPUs."),
    "run.note.bits": N_("{bits:num}-bit weights are taken as the next format that is modelled (4 or 8 bits)."),
    "run.note.companion_missing": N_("The file {file}, which is named there, does not lie beside it and was not read."),
    "run.note.stage_by_name": N_(
        "The file {file} does not lie beside it; its name says ZeRO stage {stage}, and nothing else of it is known."
    ),
}
