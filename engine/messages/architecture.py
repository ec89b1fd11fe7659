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
    "model.weights_cut_short": N_(
        "{file} is shorter than its header says. The download was probably cut off; fetch the file again."
    ),
    "model.header_too_large": N_(
        "The header of {file} is larger than {limit:int} bytes, far more than any model's. It is not read."
    ),
    "model.bad_header": N_("The header of {file} can't be read: it does not follow its format."),
    "model.bad_tensor": N_("In {file} the entry of the tensor “{tensor}” contradicts itself or has an unknown format."),
    "model.not_gguf": N_("{file} is no GGUF file: it does not begin as one."),
    "model.gguf_version": N_(
        "{file} has version {version:int} of the GGUF format; versions 2 and 3 are read. Convert it with a newer "
        "llama.cpp."
    ),
    "model.gguf_architecture": N_(
        "{file} holds a model of the kind “{architecture}”, whose sizes a GGUF file does not state in full. Choose the "
        "model from the list, or open its config.json."
    ),
    "model.weights_without_config": N_(
        "The folder {file} holds weights but no config.json, which states what they are weights of. Put the model's "
        "config.json beside them."
    ),
    "model.pickle": N_(
        "{file} can only be read by running it (a Python pickle), which is not done here. Open the config.json beside "
        "it, or the safetensors files of the model."
    ),
    "model.too_many_files": N_("{file} consists of more than {limit:int} files. It is not read."),
    "model.too_many_tensors": N_("The model of {file} has more than {limit:int} tensors. It is not read."),
    "model.note.files_missing": N_(
        "{missing:int} of the {all:int} weight files are not there, for example {name}. The size of the whole is taken "
        "from the index."
    ),
    "model.note.pickle_not_read": N_(
        "The weights are Python pickles, which are never opened here. Dimensions come from the config.json alone."
    ),
    "model.note.count_differs": N_(
        "The weight files hold {counted:int} parameters, but the dimensions give {computed:int}. Parts of this model "
        "may be unlike those that are known here; estimates rest on the dimensions."
    ),
}
