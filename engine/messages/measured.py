"""Words of a peak that the user measured."""

from __future__ import annotations

from engine.messages.mark import N_

LABELS: dict[str, str] = {
    "memory.measured": N_("Correction to your measurement"),
    "memory.dora": N_("Norms and outputs of DoRA"),
    "speed.measured": N_("Correction to your measurement"),
    "measured.allocated": N_("asked for by the program (PyTorch: max_memory_allocated)"),
    "measured.reserved": N_("reserved by the framework (PyTorch: max_memory_reserved)"),
    "measured.driver": N_("shown by the driver (nvidia-smi)"),
}

TEMPLATES: dict[str, str] = {
    "measured.anchored": N_(
        "{task}: memory is anchored to your measurement of {measured:gib}; the formulas alone say {low:gib} to "
        "{high:gib} for that run. The interval widens the further a plan is from the run that you measured."
    ),
    "measured.speed_anchored": N_(
        "{task}: times start from your measurement of {measured:num} tokens a second on each card; the formulas alone "
        "say {low:num} to {high:num} for that run. On other cards half of the difference is carried over, with "
        "the full interval."
    ),
    "measured.speed_differs": N_(
        "{task}: you measured {measured:num} tokens a second on each card, but the formulas expect {low:num} to "
        "{high:num} for that run. Some setting is probably not the one stated here, or something holds the run back: "
        "look at the input, the power limit and the links of the cards. Times follow your measurement until you remove "
        "it."
    ),
    "measured.differs": N_(
        "{task}: you measured {measured:gib}, but the formulas expect {low:gib} to {high:gib} for that run. Some "
        "setting of the run is probably not the one stated here: check method, sequence length, micro-batch, number "
        "formats and recomputation. The estimates follow your measurement until you remove it."
    ),
}
