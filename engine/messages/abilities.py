"""Words of the question what cards can do."""

from __future__ import annotations

from engine.messages.mark import N_

LABELS: dict[str, str] = {
    "use.inference": N_("Use it"),
    "use.qlora": N_("QLoRA"),
    "use.lora": N_("LoRA"),
    "use.full": N_("Train all weights"),
}
TEMPLATES: dict[str, str] = {
    "abilities.no_card": N_("Name a card first: which ones do you have?"),
    "detect.no_driver": N_(
        "No NVIDIA driver was found on this machine (there is no nvidia-smi). Add your cards by hand."
    ),
    "detect.no_answer": N_("The NVIDIA driver did not answer. Add your cards by hand."),
}
