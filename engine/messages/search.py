"""Words of the search: what was assumed, what is to know of a plan, the parts of its risk."""

from __future__ import annotations

from engine.messages.mark import N_

LABELS: dict[str, str] = {
    "risk.headroom": N_("Little memory to spare"),
    "risk.time_width": N_("Time is uncertain"),
    "risk.price_age": N_("Old price"),
    "risk.spot": N_("Cards can be taken away"),
    "risk.provider": N_("Kind of seller"),
    "risk.single_seller": N_("Only one seller"),
    "risk.software": N_("Young software"),
    "risk.nodes": N_("Several machines"),
    "risk.fabric": N_("Plain Ethernet between machines"),
    "risk.host_traffic": N_("Cards exchange data through host memory"),
    "risk.node_assumed": N_("Machine not stated by the seller"),
    "risk.export": N_("Export control"),
    "risk.region": N_("Region of the offer not stated"),
    "risk.model": N_("Memory estimated roughly"),
    "risk.format": N_("4-bit weights"),
    "time.service": N_("Months of service"),
    "time.batch": N_("Producing the outputs"),
    "time.batch_start": N_("Start-up"),
    "region.CN": N_("China"),
    "region.US": N_("United States"),
    "region.EU": N_("European Union"),
    "region.UK": N_("United Kingdom"),
    "region.other": N_("another region"),
    "link.nvswitch": N_("NVLink among all cards"),
    "link.nvlink-pair": N_("NVLink in pairs"),
    "link.xgmi": N_("Infinity Fabric"),
    "link.mesh": N_("a direct mesh"),
    "link.pcie-p2p": N_("PCIe, card to card"),
    "link.pcie-host": N_("PCIe through host memory"),
    "link.infiniband": N_("InfiniBand"),
    "link.roce": N_("RoCE Ethernet"),
    "link.efa": N_("EFA"),
    "link.ethernet": N_("Ethernet"),
    "link.none": N_("no link"),
}

TEMPLATES: dict[str, str] = {
    "search.model_unknown": N_(
        "The catalogue has no model {model}. Choose one from the list, open its config.json, or state a size."
    ),
    "search.model_missing": N_("No model was chosen. Choose one from the list, open a config.json, or state a size."),
    "search.gpu_unknown": N_("The catalogue has no card {gpu}. Choose one from the list."),
    "search.no_data": N_("{task}: how much data is there? State tokens, or examples and tokens per example."),
    "search.inference_is_no_training": N_("{task}: serving is not a way of training. Choose serving as the task."),
    "search.method_not_covered": N_(
        "{method} is not covered yet: its memory and time can't be computed. Choose another method."
    ),
    "assumption.model_from_size": N_(
        "{task}: only the size of the model is known ({parameters:count} parameters). Its shape is guessed from "
        "models of that size; memory may differ. Choose the model or open its config.json for an exact answer."
    ),
    "assumption.model_guessed": N_("{task}: some dimensions of {model} were not stated and are guessed: {names}."),
    "assumption.beyond_context": N_(
        "{task}: sequences of {length:int} tokens are longer than the {limit:int} that this model was made for."
    ),
    "assumption.regime_full": N_(
        "{task}: weights, gradients and optimizer states are kept in 32 bits and computed in 16 bits (mixed "
        "precision). This is the usual safe choice; pure BF16 would take about half the memory but may lose small "
        "updates. State it under Advanced to change it."
    ),
    "assumption.regime_adapters": N_(
        "{task}: the frozen model is held in 16 bits, the adapters in 32 bits, as the usual tools do."
    ),
    "assumption.regime_qlora": N_(
        "{task}: the frozen matrices are held in 4 bits, everything else in 32 bits, as the usual preparation for "
        "4-bit training does; some tools keep 16 bits and need less."
    ),
    "assumption.optimizer": N_("{task}: the optimizer is AdamW, the standard choice."),
    "assumption.attention": N_(
        "{task}: FlashAttention or an equal kernel is used; without it long sequences need more."
    ),
    "assumption.nf4": N_("{task}: the 4-bit format is NF4 with double quantization."),
    "assumption.freeze": N_("{task}: the last {fraction:pct} of the layers are trained, the rest is frozen."),
    "assumption.knobs_searched": N_(
        "{task}: micro-batch, gradient checkpointing and the form of the loss are chosen for each plan so that it "
        "runs fastest within the memory."
    ),
    "assumption.concurrency": N_("{task}: all {users:int} users wait for an answer at the same moment at worst."),
    "assumption.formats_searched": N_(
        "{task}: weights stay in the best number format that fits and is fast enough: 16 bits, else 8, else 4."
    ),
    "plan.tight": N_(
        "Fits tightly: the high end of the estimate is {high:gib} of {usable:gib} on each {gpu}, within the headroom "
        "you asked for. Try it before you commit, or take the next larger card."
    ),
    "plan.memory_fallback": N_(
        "No exact memory factors exist for this kind of model: memory comes from first principles, with a wider range."
    ),
    "plan.offload": N_(
        "Part of the training state lies in host memory: each machine needs {host:gib} of free host memory, and every "
        "step waits for the transfer."
    ),
    "plan.usable_by_rule": N_(
        "The usable memory of {gpu} is not reported anywhere; it follows a rule for cards of this maker and size."
    ),
    "plan.may_be_late": N_(
        "May be late: at worst it takes {high:days}, the deadline is in {deadline:days}. It is met with a chance of "
        "about {chance:pct}."
    ),
    "plan.may_exceed_budget": N_("May exceed the budget: at worst {high:money} of {budget:money}."),
    "plan.own_price": N_("The price is your own."),
    "plan.price_undated": N_("The price has no date. Ask for a quotation before you decide."),
    "plan.price_stale": N_("The price is {days:int} days old (seen {date:date}). Check it before you decide."),
    "plan.price_weak_source": N_("The price rests on a single weak source."),
    "plan.used": N_("A used card: no warranty from the maker; test it before you pay."),
    "plan.mostly_idle": N_(
        "At {hours:int} hours a month a bought machine stands still most of the time: renting may be simpler."
    ),
    "plan.card_not_exact": N_(
        "The seller does not say which of these cards it is: {names}. All is computed for the slowest, {gpu}."
    ),
    "plan.region_unknown": N_(
        "The source does not say where this is offered; ask whether it is available in: {region:label}."
    ),
    "plan.spot": N_(
        "Spot capacity can be taken away at any time. Use it only when restarting from a checkpoint has been tried."
    ),
    "plan.gpu_only": N_("The price is for the cards alone; processor and memory are added as an assumption."),
    "plan.marketplace": N_(
        "The machines belong to different private hosts: ask about reliability and data protection."
    ),
    "plan.commitment": N_("This price commits you ({term:label}): the whole term is billed, used or not."),
    "plan.node_assumed": N_(
        "The seller does not describe the machine: {cards:int} cards in one machine and their link ({link:label}) are "
        "assumed. Ask before you order."
    ),
    "plan.export": N_(
        "{gpu} is named in export rules for {region:label} (state of our note: {date}). This is no legal advice: have "
        "it checked before you order."
    ),
    "plan.consumer_in_server_room": N_(
        "{gpu} is a consumer card: the driver's licence restricts its use in data centres, and it has neither ECC nor "
        "airflow for dense servers."
    ),
    "plan.young_software": N_(
        "The software of {gpu} ({stack}) is less mature: expect work before common training recipes run. Try your own "
        "script first."
    ),
    "plan.batch_changed": N_(
        "The global batch becomes {batch:int} instead of {asked:int}, so that it divides evenly among the cards."
    ),
    "plan.four_bit": N_(
        "The model is served with 4-bit weights ({format}): check the quality of answers on your own data."
    ),
    "plan.fp16_only": N_(
        "{gpu} has no BF16: it trains in FP16 with loss scaling, which is less stable for large models."
    ),
}
