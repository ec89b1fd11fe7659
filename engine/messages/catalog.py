"""Words of the catalogue: errors, checks, terms of offers, names of fields."""

from __future__ import annotations

from engine.messages.mark import N_

TEMPLATES: dict[str, str] = {
    "catalog.missing": N_("The catalogue is not where it should be ({path}). Install the program again."),
    "catalog.damaged": N_("The catalogue {path} is damaged ({detail}). Install the program again."),
    "catalog.user_damaged": N_(
        "The file with your own offers, {path}, is damaged ({detail}). `gpu-advisor catalog restore` sets it aside, "
        "without deleting it, and starts a new one; with `--last-copy` it goes back to the copy from before the last "
        "large change."
    ),
    "catalog.user_newer": N_(
        "The file with your own offers, {path}, was written by a newer version of this program. "
        "Update the program, or start without your own rows."
    ),
    "catalog.user_locked": N_(
        "The file with your own offers, {path}, is in use by another program. Close it and try again."
    ),
    "catalog.user_unwritable": N_(
        "The file with your own offers, {path}, could not be opened or written ({detail}). "
        "Check its folder's permissions and the free space."
    ),
    "catalog.user_full": N_(
        "There is no space left for the file with your own rows, {path}. Nothing was changed; make room and try again."
    ),
    "catalog.nothing_to_undo": N_("There is no change of your own rows that could be undone."),
    "catalog.no_copy": N_("There is no earlier copy of your own rows."),
    "catalog.file_too_large": N_("{path} is larger than 100 MiB and is hardly a quotation."),
    "catalog.file_unreadable": N_("{path} can't be read: {detail}"),
    "catalog.not_yours": N_("{id} is not one of your own rows, so it can't be removed."),
    "catalog.unknown_gpu": N_("There is no card named {name} in the catalogue. Similar names: {similar}"),
    "catalog.unknown_id": N_("There is nothing named {name} in the catalogue. Similar names: {similar}"),
    "catalog.bad_value": N_("The value of {field:label} can't be used: {value}"),
    "catalog.stale_prices": N_(
        "{count:int} of {total:int} current prices were seen more than {days:int} days before {as_of:date}."
    ),
    "catalog.quotation_expired": N_("The quotation {id} was valid until {date:date} only. Ask for a new one."),
    "catalog.rows_differ": N_(
        "The built catalogue does not hold what its tables say (recorded {recorded}, found {found}). "
        "Build it again or reinstall."
    ),
    "catalog.unjoined": N_(
        "{count:int} of {total:int} offers name a card that the catalogue does not have; they are listed in "
        "unjoined.csv and not used."
    ),
}

LABELS: dict[str, str] = {
    "term.buy": N_("Bought"),
    "term.on-demand": N_("On demand"),
    "term.spot": N_("Spot (can be taken away)"),
    "term.reserved-1m": N_("Reserved for a month"),
    "term.reserved-1y": N_("Reserved for a year"),
    "term.reserved-3y": N_("Reserved for three years"),
    "term.monthly": N_("By the month"),
    "term.shared": N_("Shared cluster"),
    "term.owned": N_("Owned"),
    "provider.gpu-cloud": N_("GPU cloud"),
    "provider.hyperscaler": N_("Large cloud"),
    "provider.marketplace": N_("Marketplace"),
    "provider.monthly-host": N_("Monthly host"),
    "provider.shared": N_("Shared cluster of an institution"),
    "provider.own": N_("Own machines"),
    "basis.reported": N_("reported by the driver or the maker"),
    "basis.rule": N_("estimated by a size rule"),
    "basis.unknown": N_("not known"),
    "confidence.high": N_("High"),
    "confidence.medium": N_("Medium"),
    "confidence.low": N_("Low"),
    "origin.catalog": N_("Catalogue"),
    "origin.user": N_("Yours"),
    "origin.scenario": N_("Scenario"),
    "condition.new": N_("New"),
    "condition.used": N_("Second-hand"),
    "condition.msrp": N_("List price"),
    "field.id": N_("Id"),
    "field.name": N_("Name"),
    "field.vendor": N_("Maker"),
    "field.maker": N_("Maker or provider"),
    "field.gpu_id": N_("Card"),
    "field.gpu_ids": N_("Cards"),
    "field.gpus": N_("Number of cards"),
    "field.architecture": N_("Generation"),
    "field.form_factor": N_("Form factor"),
    "field.release_date": N_("Release date"),
    "field.memory_gb": N_("Marketed memory (GB)"),
    "field.usable_bytes": N_("Usable GPU memory"),
    "field.usable_basis": N_("Usable memory is"),
    "field.memory_bytes_per_second": N_("Memory bandwidth"),
    "field.bf16_flops": N_("BF16, dense"),
    "field.fp16_flops": N_("FP16, dense"),
    "field.fp8_flops": N_("FP8, dense"),
    "field.fp4_flops": N_("FP4, dense"),
    "field.interconnect": N_("Direct link"),
    "field.interconnect_bytes_per_second": N_("Direct link, both directions"),
    "field.peer_to_peer": N_("Peer-to-peer over PCIe"),
    "field.pcie_bytes_per_second": N_("PCIe, one direction"),
    "field.tdp_watts": N_("Board power (W)"),
    "field.software_stack": N_("Software"),
    "field.software_maturity": N_("Software maturity (1 to 5)"),
    "field.region_notes": N_("Notes on regions"),
    "field.export_controlled_for": N_("Export controlled for"),
    "field.region_only": N_("Sold mainly in"),
    "field.topology": N_("Links inside the node"),
    "field.intra_node_bytes_per_second": N_("Link per card, both directions"),
    "field.fabric": N_("Links between nodes"),
    "field.inter_node_bytes_per_second": N_("Between nodes, one direction"),
    "field.vcpus": N_("Virtual CPUs"),
    "field.ram_bytes": N_("Host memory"),
    "field.power_watts": N_("Power (W)"),
    "field.cloud": N_("Cloud instance"),
    "field.provider": N_("Provider"),
    "field.provider_kind": N_("Kind of provider"),
    "field.product": N_("Product"),
    "field.gpus_per_unit": N_("Cards in the unit sold"),
    "field.region": N_("Region"),
    "field.country": N_("Country"),
    "field.price_per_gpu_hour": N_("Price per card-hour"),
    "field.term": N_("Term"),
    "field.observed_on": N_("Price seen on"),
    "field.current": N_("Current"),
    "field.gpu_only": N_("Processor and memory billed on top"),
    "field.members_only": N_("For members only"),
    "field.queue_days": N_("Usual wait (days)"),
    "field.max_gpus": N_("Most cards at once"),
    "field.seller": N_("Seller"),
    "field.condition": N_("Condition"),
    "field.price": N_("Price"),
    "field.currency": N_("Currency"),
    "field.cards": N_("Cards in the price"),
    "field.whole_server": N_("Price of a whole machine"),
    "field.item": N_("Figure"),
    "field.kind": N_("Kind"),
    "field.value": N_("Value"),
    "field.unit": N_("Unit"),
    "field.model": N_("Model"),
    "field.family": N_("Family"),
    "field.parameters_total": N_("Parameters"),
    "field.parameters_active": N_("Active parameters"),
    "field.layers": N_("Layers"),
    "field.hidden_size": N_("Hidden size"),
    "field.vocabulary_size": N_("Vocabulary"),
    "field.max_context": N_("Longest context"),
    "field.licence": N_("Licence"),
    "field.input_per_million_tokens": N_("Input, per million tokens"),
    "field.output_per_million_tokens": N_("Output, per million tokens"),
    "field.training_per_million_tokens": N_("Training, per million tokens"),
    "field.confidence": N_("Confidence"),
    "field.origin": N_("From"),
    "field.source_title": N_("Source"),
    "field.source_url": N_("Address of the source"),
    "field.source_date": N_("Date of the source"),
    "field.notes": N_("Notes"),
    "field.segment": N_("Segment"),
    "field.status": N_("Status"),
}
