"""Words of cases and of the score that is kept on them."""

from __future__ import annotations

from engine.messages.mark import N_

LABELS: dict[str, str] = {
    "case.unknown_settings": N_("Settings that were not stated"),
}

TEMPLATES: dict[str, str] = {
    # what a case lacks or says wrongly
    "case.missing": N_("The case does not say “{key}”, which is needed."),
    "case.bad_value": N_("The value of “{key}” can't be read: {value}."),
    "case.not_expressed": N_("“{key}” has a value that this program does not model: {value}."),
    "case.method_not_expressed": N_(
        "The method {method} is not modelled: its memory and time depend on generated text and further models."
    ),
    "case.model_unknown": N_(
        "The model {model} is not in the catalogue. Give the path of its config.json, or its size as params_b."
    ),
    "case.encoder_decoder": N_("{model} is an encoder-decoder model; only decoder models can be estimated."),
    "case.parallel_mismatch": N_(
        "The parallel degrees {value} make {product:int} GPUs, but the case says {gpus:int}. dp x tp x pp x cp must "
        "equal the number of GPUs."
    ),
    "case.nodes_mismatch": N_("{gpus:int} GPUs can't be spread evenly over {nodes:int} nodes."),
    "case.not_json": N_("{file} is not a JSON object; reading stopped at line {line:int}, column {column:int}."),
    "case.file_not_found": N_("There is no file {file}. Check the path."),
    "case.unreadable": N_("{file} can't be read: {reason}."),
    "case.file_too_large": N_("{file} has {size:int} bytes; no more than {limit:int} are read."),
    "case.not_text": N_("{file} is not a text file in UTF-8."),
    # what was assumed
    "case.assumed": N_("“{key}” is not stated; taken as {value}."),
    "case.assumed_between": N_(
        "“{key}” is not stated; anything from {least} to {most} is possible, {value} is expected."
    ),
    "case.ignored_key": N_("“{key}” is not a key of a case and was ignored."),
    "case.model_from_size": N_(
        "Only a size is known; the dimensions are those of a usual model with {parameters:count} parameters."
    ),
    "case.model_guessed": N_("Some dimensions of {model} were not stated and are assumed: {names}."),
    "case.version.published_dtype": N_(
        "Transformers loads weights in the format in which they were published from version 5 on, and in 32 bits "
        "before. No version is stated, so 32 bits are taken; state the dtype or framework_version to be sure."
    ),
    "case.version.published_dtype.stated": N_(
        "Transformers {version}: weights are loaded as published from version 5 on, and in 32 bits before."
    ),
    "case.version.trl_checkpointing": N_(
        "TRL recomputes activations unless told otherwise in releases from 0.22 on, and did not in old ones. No "
        "version is stated, so it is taken to; state gradient_checkpointing or framework_version to be sure."
    ),
    "case.version.trl_checkpointing.stated": N_(
        "TRL {version}: activations are recomputed unless told otherwise from 0.22 on, and were not in old releases."
    ),
    "case.gpu_unknown": N_("The GPU {gpu} is not in the catalogue; memory is given without a verdict."),
    "case.gpu_by_size": N_(
        "The GPU {gpu} is not in the catalogue; {usable:gib} usable memory follow from its name, and there is no speed."
    ),
    "case.gpu_several": N_("{gpu} can mean several cards ({names}); the slowest, {taken}, is taken."),
    # what came out
    "case.fits": N_("Fits on {gpu}: about {needed:gib} needed, at least {spare:gib} stay free."),
    "case.fits_tightly": N_(
        "Fits tightly on {gpu}: up to {needed:gib} of {usable:gib} may be needed, so that less than {headroom:pct} "
        "stays free."
    ),
    "case.does_not_fit": N_(
        "Does not fit on {gpu}: about {needed:gib} needed, {usable:gib} usable, {missing:gib} short on each GPU."
    ),
    "case.verdict_unknown": N_("About {needed:gib} needed on each GPU. Without a known card there is no verdict."),
    "case.usable_by_rule": N_("The usable memory of {gpu}, {usable:gib}, follows a rule for cards of its kind."),
    "case.memory_fallback": N_(
        "Nobody has traced blocks like those of {model}; activations follow from first principles, with a wider "
        "interval."
    ),
    # files of cases
    "validate.unknown_columns": N_(
        "{file} is neither a file of traced cases (column case_id) nor of measured cases (columns id and kind)."
    ),
    "validate.empty": N_("{file} has no rows."),
    "validate.no_split": N_("{file} has no rows of the part {split}."),
    "validate.nothing_to_compare": N_("The row carries no figure that this program estimates."),
    "validate.no_gpu": N_("The GPU is not stated or not in the catalogue, so that there is no speed to compare."),
    "validate.oom_not_steady": N_("Out of memory for another reason than what training needs ({cause})."),
    "validate.no_tokens": N_("The trained tokens are not stated."),
    "validate.metric_missing": N_("There is no speed estimate for this row."),
}
