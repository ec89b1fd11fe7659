"""Words of the architecture: parts of a model, and what can be wrong with a file that describes one."""

from __future__ import annotations

from engine.messages.mark import N_

LABELS: dict[str, str] = {
    "part.embedding": N_("Token embedding"),
    "part.per_layer_table": N_("Per-layer embedding table"),
    "part.head": N_("Output head"),
    "part.attention": N_("Attention"),
    "part.indexer": N_("Attention index"),
    "part.mlp": N_("MLP (feed-forward layers)"),
    "part.experts": N_("Routed experts"),
    "part.shared_experts": N_("Shared experts"),
    "part.router": N_("Expert router"),
    "part.linear_attention": N_("Linear attention and state-space layers"),
    "part.per_layer_embedding": N_("Per-layer inputs"),
    "part.biases": N_("Biases"),
    "part.norms": N_("Norms"),
    "part.small": N_("Other small weights"),
}

TEMPLATES: dict[str, str] = {
    "model.file_not_found": N_(
        "There is no file {file}. Check the path, or give the name of a model in the catalogue."
    ),
    "model.no_config_in_folder": N_(
        "The folder {file} holds no config.json. Choose the folder of a Hugging Face model."
    ),
    "model.file_too_large": N_(
        "{file} has {size:int} bytes; a config.json has a few thousand. It is not read beyond {limit:int} bytes. "
        "Choose the config.json that lies beside the weights."
    ),
    "model.not_text": N_("{file} is not a text file. Choose the config.json that lies beside the weights."),
    "model.not_json": N_("{file} is not a JSON object; reading stopped at line {line:int}, column {column:int}."),
    "model.unreadable": N_("{file} can't be read: {reason}."),
    "model.missing_key": N_(
        "{file} does not say “{key}”, without which the model can't be sized. Add it, choose the model from the list, "
        "or give its size."
    ),
    "model.bad_value": N_("In {file} the value of “{key}” can't be right: {value}."),
    "model.encoder_decoder": N_(
        "{file} describes an encoder-decoder model. Only decoder models (GPT-like) can be estimated."
    ),
    "model.size_out_of_range": N_(
        "A model of {value:num} billion parameters is out of range: between {smallest:num} and {largest:num} billion."
    ),
}
