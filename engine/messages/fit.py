"""Words of "what would make it fit": the changes, what they mean, and the limits."""

from __future__ import annotations

from engine.messages.mark import N_

LABELS: dict[str, str] = {
    "fit.chunked_loss": N_("Loss in pieces"),
    "fit.recompute": N_("Recompute activations"),
    "fit.micro_batch": N_("Smaller micro-batch"),
    "fit.shard": N_("Share states among the cards"),
    "fit.optimizer_8bit": N_("8-bit optimizer"),
    "fit.kv_cache": N_("8-bit KV cache"),
    "fit.coarser_weights": N_("Coarser weights"),
    "fit.fewer_users": N_("Fewer users at once"),
    "fit.shorter_prompts": N_("Shorter questions"),
    "fit.shorter": N_("Shorter sequences"),
    "fit.offload": N_("Offload to host memory"),
    "fit.lora": N_("LoRA instead of all weights"),
    "fit.qlora": N_("QLoRA"),
    "fit.more_cards": N_("More cards"),
    "fit.bigger_card": N_("A card with more memory"),
    "fit.limit.sequence_length": N_("Longest sequence (tokens)"),
    "fit.limit.micro_batch": N_("Largest micro-batch (sequences on a card)"),
    "fit.limit.users": N_("Most users at once"),
    "fit.limit.prompt_tokens": N_("Longest question (tokens)"),
    "fit.limit.model": N_("Largest model of the catalogue"),
    "fit.why.chunked_loss": N_(
        "The scores of all words of the vocabulary are computed piece by piece and thrown away at once. The result is "
        "the same, and it takes hardly any time."
    ),
    "fit.why.recompute": N_(
        "Intermediate results of the layers are not kept but computed a second time when they are needed (gradient "
        "checkpointing). The result is the same; it takes about a third more time."
    ),
    "fit.why.micro_batch": N_(
        "Each card takes fewer examples at once and adds up the gradients over more rounds before it changes the "
        "weights. The result is the same; small portions use the card less well."
    ),
    "fit.why.shard": N_(
        "Each card keeps only its part of the optimizer states, gradients or weights (ZeRO, FSDP) and asks the others "
        "for the rest. The result is the same; the cards talk more to each other."
    ),
    "fit.why.optimizer_8bit": N_(
        "The optimizer keeps two numbers for every trained weight; in 8 bits they take a quarter of the memory. In "
        "practice the result is nearly the same."
    ),
    "fit.why.kv_cache": N_(
        "What the model remembers of each conversation (the KV cache) is kept in 8 instead of 16 bits. Answers hardly "
        "change."
    ),
    "fit.why.coarser_weights": N_(
        "The weights of the model are stored with fewer bits. Less memory, faster answers; at 4 bits the answers get "
        "a little worse."
    ),
    "fit.why.fewer_users": N_("Fewer requests are answered at the same moment; the others wait in a queue."),
    "fit.why.shorter_prompts": N_("Shorter documents, shorter history: the model remembers less of each conversation."),
    "fit.why.shorter": N_(
        "Longer examples are cut or split. What the model learns about long texts may get lost; look at how long your "
        "examples really are."
    ),
    "fit.why.offload": N_(
        "Optimizer states, and if need be the weights, lie in the memory of the host and are fetched when needed. The "
        "result is the same; it is slow, and the host needs enough memory."
    ),
    "fit.why.lora": N_(
        "The model stays as it is, and small additional matrices (adapters) are trained. It suffices for most tasks; "
        "for new knowledge or a new language, training all weights can be better."
    ),
    "fit.why.qlora": N_(
        "As LoRA, on a model that is squeezed to 4 bits. The least memory of all; somewhat slower, and the result can "
        "be a little worse."
    ),
    "fit.why.more_cards": N_(
        "More of the same card, with weights, gradients and states shared out among them. The work gets done sooner, "
        "and the cards must be able to talk to each other fast."
    ),
    "fit.why.bigger_card": N_("The same work with the same settings on a card that has more memory."),
}

TEMPLATES: dict[str, str] = {
    "fit.chunked_loss": N_("Compute the loss in pieces"),
    "fit.recompute": N_("Recompute all activations"),
    "fit.micro_batch": N_("Take {size:int} instead of {now:int} sequences at once, {steps:int} times a step"),
    "fit.shard": N_("Share among {ranks:int} cards: {level:label}"),
    "fit.optimizer_8bit": N_("Keep the optimizer's states in 8 bits"),
    "fit.kv_cache": N_("Keep the KV cache in 8 bits"),
    "fit.coarser_weights": N_("Store the weights as {format}"),
    "fit.fewer_users": N_("Answer {users:int} instead of {now:int} users at once"),
    "fit.shorter_prompts": N_("Limit questions to {tokens:int} instead of {now:int} tokens"),
    "fit.shorter": N_("Limit sequences to {length:int} instead of {now:int} tokens"),
    "fit.offload": N_("Offload: {what:label} ({host:gib} of host memory for each card)"),
    "fit.lora": N_("Train LoRA adapters of rank {rank:int} instead of the weights"),
    "fit.qlora": N_("Train adapters of rank {rank:int} on a model in 4 bits (QLoRA)"),
    "fit.more_cards": N_("Take {gpus:int} instead of {now:int} × {gpu}"),
    "fit.bigger_card": N_("Take {gpu} ({usable:gib} usable instead of {now:gib})"),
    "fit.no_layout": N_(
        "The batch can't be spread over {gpus:int} × {gpu}. Take another number of cards, or another batch size."
    ),
}
