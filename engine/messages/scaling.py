"""Words of time against the number of cards."""

from __future__ import annotations

from engine.messages.mark import N_

TEMPLATES: dict[str, str] = {
    "scaling.worthwhile": N_(
        "More of these cards pay off up to {gpus:int}. Beyond, each card that is added does less than half of what a "
        "card does at best: on {next:int} cards, {waiting:pct} of the time goes into waiting for each other."
    ),
    "scaling.all_worthwhile": N_(
        "More of these cards pay off over the whole range that was tried, up to {gpus:int}: each card that is added "
        "does at least half of what a card does at best."
    ),
    "scaling.fastest": N_(
        "Done earliest: {gpus:int} cards, after {days:num} days. More work faster, but larger machines take longer to "
        "be delivered."
    ),
    "scaling.in_time": N_(
        "Fewest of these cards that are expected to keep the deadline of {deadline:num} days: {gpus:int}; the chance "
        "is {chance:pct}."
    ),
    "scaling.never_in_time": N_(
        "No number of these cards is expected to keep the deadline of {deadline:num} days. Fastest: {gpus:int} cards "
        "with {days:num} days."
    ),
}
