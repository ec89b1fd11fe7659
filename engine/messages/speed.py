"""Words of the speed formulas: terms of a step, of a run, of a campaign, and what is said about the figures."""

from __future__ import annotations

from engine.messages.mark import N_

LABELS: dict[str, str] = {
    "speed.compute": N_("Matrix work"),
    "speed.memory_bound": N_("Memory traffic"),
    "speed.communication": N_("Communication between cards"),
    "speed.bubble": N_("Idle pipeline stages"),
    "speed.optimizer": N_("Optimizer update"),
    "speed.offload": N_("Offloading to host memory"),
    "speed.overhead": N_("Waiting for kernels to start"),
    "speed.prefill": N_("Prompts of other requests"),
    "run.training": N_("Training steps"),
    "run.stragglers": N_("Waiting for slow machines"),
    "run.evaluation": N_("Evaluations on the way"),
    "run.input": N_("Waiting for data"),
    "run.checkpoints": N_("Writing checkpoints"),
    "run.start": N_("Start-up"),
    "run.failures": N_("Failures and restarts"),
    "campaign.final": N_("Final runs"),
    "campaign.sweep": N_("Search for settings"),
    "campaign.failed": N_("Failed runs"),
}

TEMPLATES: dict[str, str] = {
    "time.goodput": N_(
        "Of the time of one run, {share:pct} is training ({low:pct} to {high:pct}). The rest is start-up, waiting for "
        "data, evaluations, writing checkpoints, and what slow machines and failures cost."
    ),
    "time.checkpoints": N_(
        "Write a checkpoint about every {interval:duration}: more often costs more writing, more seldom costs more "
        "work when a card fails."
    ),
    "time.campaign": N_(
        "The runs whose results are kept take {share:pct} of the whole computing time. The rest is the search for "
        "settings and runs that fail."
    ),
    "speed.unknown_rate": N_(
        "The computing rate or memory bandwidth of {gpu} is not published: no time can be given for it."
    ),
    "speed.bf16_emulated": N_(
        "{gpu} has no BF16 units: BF16 training would run at the slow FP32 rate. Train in FP16 on this card."
    ),
    "speed.bf16_from_fp16": N_("For {gpu} only an FP16 rate is published; BF16 is taken to run at the same rate."),
    "speed.fp16_from_bf16": N_("For {gpu} only a BF16 rate is published; FP16 is taken to run at the same rate."),
    "speed.fp8_from_bf16": N_("{gpu} has no FP8 units: FP8 work runs at its BF16 rate."),
    "speed.fp4_from_fp8": N_("{gpu} has no FP4 units: FP4 work runs at its next wider rate."),
    "speed.not_measured": N_(
        "No published training run of this kind of card as {gpu} is in our data: its time is carried over from other "
        "cards, so the range is wide."
    ),
    "speed.no_peer_to_peer": N_(
        "{gpu} cards can't exchange data directly: everything goes through the computer's main memory. Methods that "
        "exchange much (full fine-tuning, sharded weights) are slowed down a great deal."
    ),
    "speed.limit.compute": N_(
        "{share:pct} of the time is matrix work. What helps most: faster or more cards, or 8-bit arithmetic "
        "where the card has it. Twice the rate makes it {gain:factor} faster."
    ),
    "speed.limit.memory_bound": N_(
        "{share:pct} of the time is traffic with the card's own memory. What helps most: compiling the model,"
        " so that steps are fused, or cards with more bandwidth. At most {gain:factor} faster."
    ),
    "speed.limit.memory_bound.serving": N_(
        "{share:pct} of the time is reading weights and caches. What helps most: fewer bits per weight, or "
        "cards with more bandwidth. At most {gain:factor} faster."
    ),
    "speed.limit.communication": N_(
        "{share:pct} of the time is waiting for data between cards. What helps most: faster links, or larger "
        "micro-batches, so that data is exchanged less often. At most {gain:factor} faster."
    ),
    "speed.limit.communication.serving": N_(
        "{share:pct} of the time is waiting for data between cards. What helps most: faster links, or "
        "spreading each copy of the model over fewer cards. At most {gain:factor} faster."
    ),
    "speed.limit.bubble": N_(
        "{share:pct} of the time pipeline stages stand idle. What helps most: more micro-batches per step, or"
        " fewer stages. At most {gain:factor} faster."
    ),
    "speed.limit.optimizer": N_(
        "{share:pct} of the time is the optimizer's update. What helps most: larger batches, so that weights "
        "are updated less often, or spreading the update over more cards. At most {gain:factor} faster."
    ),
    "speed.limit.offload": N_(
        "{share:pct} of the time is waiting for host memory. What helps most: cards with more memory, so that"
        " nothing has to be moved out. At most {gain:factor} faster."
    ),
    "speed.limit.overhead": N_(
        "{share:pct} of the time the card waits for its next piece of work. What helps most: larger micro-"
        "batches, or compiling the model. At most {gain:factor} faster."
    ),
    "speed.limit.overhead.serving": N_(
        "{share:pct} of the time the card waits for its next piece of work. What helps most: serving more "
        "requests at once, or an engine that replays recorded work. At most {gain:factor} faster."
    ),
    "speed.limit.prefill": N_(
        "{share:pct} of the time goes into reading the prompts of other requests. What helps most: keeping "
        "what prompts have in common in the cache, or cards of their own for prompts. At most {gain:factor} "
        "faster."
    ),
}
