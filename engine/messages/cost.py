"""Words of the cost formulas."""

from __future__ import annotations

from engine.messages.mark import N_

LABELS: dict[str, str] = {
    "cost.rent": N_("Rent of the cards"),
    "cost.host_beside_gpu": N_("Processor and memory beside the cards"),
    "cost.storage": N_("Storage of data and checkpoints"),
    "cost.egress": N_("Moving results out"),
    "cost.cards": N_("Cards"),
    "cost.servers": N_("Servers"),
    "cost.host": N_("Machine around the cards"),
    "cost.host_memory": N_("Host memory"),
    "cost.fabric": N_("Network between nodes"),
    "cost.wear": N_("Loss in value for this job"),
    "cost.energy": N_("Electricity"),
    "cost.engineering": N_("Engineer's hours of setting up"),
}

TEMPLATES: dict[str, str] = {
    "cost.no_exchange_rate": N_(
        "There is no exchange rate for {currency}. Add one to the scenario, or choose another currency."
    ),
}
