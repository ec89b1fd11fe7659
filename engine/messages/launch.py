"""Sentences about the settings that a plan is started with."""

from __future__ import annotations

from engine.messages.mark import N_

__all__ = ["LABELS", "TEMPLATES"]

LABELS: dict[str, str] = {
    "launch.data": N_("Put the place of your own data where path/to/data or your_dataset stands."),
    "launch.rates": N_(
        "Learning rate, number of epochs and how often is saved are left to the program: they do not change the memory."
    ),
    "launch.nodes": N_(
        "Run it on every node, with the node's number as $RANK and the first node's address as $HEAD_NODE."
    ),
    "launch.split": N_("Needs Accelerate 1.10 or newer: older ones can't split matrices or sequences over cards."),
    "launch.template": N_("Set the chat template of your model where it is not the default one."),
    "launch.model_file": N_("model.toml names the model, its size and your data."),
    "launch.served": N_("The length is that of prompt and answer of the scenario; longer requests need more memory."),
    "launch.gguf": N_("The file is the model in this number format, converted or downloaded."),
    "launch.other_engine": N_(
        "The command is vLLM's; the settings of the engine that you named are called differently, their values are the "
        "same."
    ),
}
TEMPLATES: dict[str, str] = {}
