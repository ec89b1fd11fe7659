"""Words of the advice: reasons of the picks, reasons of rejection, rules of the field."""

from __future__ import annotations

from engine.messages.mark import N_

LABELS: dict[str, str] = {
    "api.input": N_("Prompt tokens"),
    "api.output": N_("Output tokens"),
    "api.training": N_("Training tokens"),
    "optimizer.adamw_8bit": N_("AdamW with 8-bit states"),
}

TEMPLATES: dict[str, str] = {
    "reason.cheapest": N_(
        "Least cost of the job with risk priced in: {cost:money}. The next other card, {other}, comes to "
        "{other_cost:money}."
    ),
    "reason.cheapest_near_ties": N_(
        "Least cost of the job with risk priced in: {cost:money}; the next other card, {other}, comes to "
        "{other_cost:money}. Within the error, {ties:int} other plans cost the same."
    ),
    "reason.cheapest_alone": N_("The only card that works within your limits; the job costs {cost:money}."),
    "reason.fits": N_(
        "Needs {needed:gib} on each {gpu} (at most {high:gib}) of {usable:gib} usable, with {gpus:int} in use together."
    ),
    "reason.fits_tightly": N_(
        "Needs {needed:gib} on each {gpu} (up to {high:gib}) of {usable:gib} usable, with {gpus:int} in use together: "
        "tight."
    ),
    "reason.fits_alone": N_("Needs {needed:gib} (at most {high:gib}) of {usable:gib} usable on one {gpu}."),
    "reason.fits_tightly_alone": N_(
        "Needs {needed:gib} (up to {high:gib}) of {usable:gib} usable on one {gpu}: tight."
    ),
    "reason.service": N_("First words after {first:duration}, then {rate:num} tokens a second for each user."),
    "reason.service_after": N_(
        "First words after {first:duration}, then {rate:num} tokens a second for each user; ready after {wait:days}."
    ),
    "reason.balanced_timeless": N_(
        "The job costs {cost:money} instead of {cheapest:money}, at a risk of {risk:pct} instead of "
        "{cheapest_risk:pct}."
    ),
    "reason.least_risk_timeless": N_(
        "Risk of {risk:pct} instead of {cheapest_risk:pct}; the job costs {cost:money} instead of {cheapest:money}."
    ),
    "reason.time": N_("Done in {days:days}, {high:days} at worst."),
    "reason.in_time": N_("Done in {days:days}, {high:days} at worst; the deadline is in {deadline:days}."),
    "reason.balanced_is_cheapest": N_(
        "The cheapest plan is also the best balance of cost, time and risk (risk {risk:pct})."
    ),
    "reason.safest_is_cheapest": N_("The cheapest plan is also among those with the least risk ({risk:pct})."),
    "reason.balanced": N_(
        "The job costs {cost:money} instead of {cheapest:money}, takes {days:days} instead of {cheapest_days:days}, "
        "at a risk of {risk:pct} instead of {cheapest_risk:pct}."
    ),
    "reason.least_risk": N_(
        "Risk of {risk:pct} instead of {cheapest_risk:pct}; the job costs {cost:money} instead of {cheapest:money} "
        "and takes {days:days} instead of {cheapest_days:days}."
    ),
    "reason.risk_part": N_("The greatest difference in risk: {part:label} ({difference:pct} less)."),
    "rejected.excluded": N_("You excluded {gpu}."),
    "rejected.not_included": N_("{gpu} is not among the cards that you asked for."),
    "rejected.vendor": N_("{gpu} is made by {vendor}, which is not among the makers that you allow."),
    "rejected.memory_unknown": N_("The memory of {gpu} that programs can use is not known: nothing can be promised."),
    "rejected.does_not_fit": N_(
        "Does not fit: at best each {gpu} lacks {missing:gib} beyond its {usable:gib}, even with {gpus:int} together. "
        "More memory per card, shorter sequences or a lighter method would change it."
    ),
    "rejected.does_not_fit_alone": N_(
        "Does not fit: one {gpu} lacks {missing:gib} beyond its {usable:gib}. A card with more memory, shorter "
        "sequences or a lighter method would change it."
    ),
    "rejected.no_layout": N_(
        "There is no way to spread the work over {gpu} cards with this batch. A larger global batch would change it."
    ),
    "rejected.no_common_cluster": N_("No machine with {gpu} holds all of your tasks."),
    "rejected.export": N_(
        "{gpu} is named in export rules for {region:label} (state of our note: {date}), and you ruled such cards out."
    ),
    "rejected.region_only": N_("{gpu} is hardly sold outside: {countries}."),
    "rejected.no_price": N_(
        "The job would fit on {gpus:int} × {gpu}, but the catalogue has no price for it in the ways that you allow. "
        "Add an offer or a quotation."
    ),
    "rejected.no_speed": N_(
        "The job would fit, but the computing rate of {gpu} is not published: no time or cost can be given."
    ),
    "rejected.way": N_("Only to be had in a way that you ruled out: {way:label}."),
    "rejected.unknown_card": N_("The catalogue does not know the card of this offer: {name}."),
    "rejected.data_must_stay": N_("Rented outside, and your data may not leave the building."),
    "rejected.spot": N_("{provider} offers it as spot capacity only, which you did not allow."),
    "rejected.offer_region": N_("{provider} offers it elsewhere only: {region}."),
    "rejected.no_longer_sold": N_("{gpu} is no longer made; only its former list price is known. Add a quotation."),
    "rejected.price_too_old": N_("The last known price is of {date:date}: too old to plan with. Ask for a quotation."),
    "rejected.too_slow": N_(
        "Fits, but {gpu} misses the speed that your users need. Fewer users or lower targets would change it."
    ),
    "rejected.over_budget": N_(
        "{over:money} over your budget: {gpus:int} × {gpu} ({way:label}) need {cash:money} in cash."
    ),
    "rejected.too_late": N_("{late:days} after your deadline: {gpus:int} × {gpu} ({way:label}) take {days:days}."),
    "rejected.dearer": N_("Dearer: {factor:factor} the cost of the same {gpu} from {other}."),
    "api.cheaper": N_(
        "Try this first: {provider} sells {model} by the token. The same work costs {cost:money} there, against "
        "{own:money} on hardware of your own choice (hours of setting up not counted)."
    ),
    "api.dearer": N_(
        "By the token at {provider} ({model}) the same work costs {cost:money}, against {own:money} here (hours of "
        "setting up not counted)."
    ),
    "api.alone": N_("By the token at {provider} ({model}) the same work costs {cost:money}."),
    "api.alike": N_(
        "{task}: no listed provider sells {name} by the token. The comparison takes {model}, a model of the same size "
        "and shape; its answers differ."
    ),
    "api.data_must_stay": N_(
        "By the token at {provider} ({model}) the same work would cost {cost:money}, but your data may not leave the "
        "building."
    ),
    "api.not_wanted": N_(
        "By the token at {provider} ({model}) the same work would cost {cost:money}; you ruled hosted APIs out."
    ),
    "assumption.delivery": N_(
        "What is bought is taken to arrive after {days:days}, {high:days} at worst. Ask the seller for the delivery "
        "date."
    ),
    "advice.adapter_first": N_(
        "{task}: try LoRA first. On {tokens:count} tokens adapters often reach the quality of full fine-tuning at a "
        "small part of its memory and cost."
    ),
    "advice.lighter_optimizer": N_(
        "{task}: with the usual optimizer nothing works within your limits; these plans use {optimizer:label}."
    ),
    "advice.offloaded": N_(
        "{task}: without offloading nothing works within your limits. In these plans: {offload:label}. It is slow."
    ),
    "advice.service_is_paid_idle": N_(
        "A service is paid for day and night: {months:num} months are counted in full, however few the requests."
    ),
    "advice.tasks_in_turn": N_("The {tasks:int} tasks share the hardware and run one after another."),
    "advice.memory_is_not_summed": N_(
        "The memory of several cards is never simply added up: what each single card must hold is computed and "
        "compared."
    ),
    "advice.stale_prices": N_(
        "{stale:int} of {plans:int} listed plans rest on prices older than {limit:int} days (the oldest "
        "{oldest:int}). Check them before you decide."
    ),
    "advice.capacity_not_promised": N_(
        "A listed price promises no capacity: ask for a test account and confirm that the cards are free when you "
        "need them."
    ),
    "advice.link_bound": N_(
        "{gpus:int} × {gpu} without NVLink spend {share:pct} of the time exchanging data. Methods that exchange "
        "little (LoRA without sharding) suit such machines better."
    ),
    "advice.long_run": N_(
        "One run computes for {days:days}: plan checkpoints, monitoring, and a tested restart before you start on "
        "{gpu}."
    ),
    "advice.long_run_without_ecc": N_(
        "One run computes for {days:days} on {gpu}, which has no ECC: a flipped bit can spoil it unseen. Prefer a "
        "card with ECC, or compare checkpoints."
    ),
    "advice.spot_needs_restart": N_(
        "Some plans use spot capacity: prove on a small run that training restarts from its last checkpoint."
    ),
    "advice.next_tier": N_(
        "{tight} fits only tightly. The next that fits well is {roomy}, for {extra:money} more for the job."
    ),
    "advice.only_tight": N_("Everything that works fits tightly only, {gpu} first. Try it before you commit."),
    "nothing.works": N_("Nothing meets all your limits. What comes nearest, and what would change it, stands below."),
    "nothing.to_be_had": N_(
        "No card can be had within the ways, region and exclusions that you stated. Allow another way, or add an offer."
    ),
    "nothing.fits": N_(
        "Memory decides: the nearest, {gpus:int} × {gpu}, lacks {missing:gib} on each card beyond its {usable:gib}."
    ),
    "nothing.fast_enough": N_(
        "Everything that fits is too slow for your users. Lower the targets or the number of users."
    ),
    "nothing.over_budget": N_(
        "Nearest within your deadline: {gpus:int} × {gpu} from {seller} ({way:label}) needs {cash:money}, "
        "{over:money} over the budget."
    ),
    "nothing.too_late": N_(
        "Nearest within your budget: {gpus:int} × {gpu} from {seller} ({way:label}) takes {days:days}, {late:days} "
        "after the deadline."
    ),
    "nothing.over_both": N_(
        "Nearest: {gpus:int} × {gpu} from {seller} ({way:label}) is {over:money} over the budget and {late:days} late."
    ),
    "nothing.lighter_tried": N_(
        "{task}: 8-bit optimizer states and offloading to host memory were tried as well; they do not suffice."
    ),
    "nothing.more_cards": N_(
        "{task}: with more than your limit of {limit:int} cards it would fit, from {gpus:int} × {gpu} on."
    ),
    "nothing.recompute": N_(
        "{task}: with gradient checkpointing, which recomputes activations instead of keeping them, it would fit."
    ),
    "nothing.shorter": N_("{task}: with sequences of {length:int} tokens instead of {asked:int} it would fit."),
    "nothing.lighter_method": N_("{task}: {method:label} instead of {asked:label} would fit."),
    "nothing.serve_smaller": N_(
        "{task}: fewer users at once, shorter prompts, or weights in fewer bits would need less memory."
    ),
}
