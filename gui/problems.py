"""Pages of the wizard, and what can be wrong on them. No Qt."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from enum import StrEnum

from engine.i18n import Language
from engine.messages import TEMPLATES
from engine.messages.mark import N_

__all__ = ["PAGE_OF_FIELD", "Page", "Problem"]


class Page(StrEnum):
    """A page of the wizard, in order."""

    TASK = "task"
    MODEL = "model"
    DATA = "data"
    CONSTRAINTS = "constraints"
    ECONOMICS = "economics"
    REVIEW = "review"


_FIELDS: dict[Page, tuple[str, ...]] = {
    Page.TASK: ("method", "outputs_only", "adapters", "project", "id"),
    Page.MODEL: ("catalog_id", "architecture", "parameters_billion"),
    Page.DATA: (
        "tokens", "examples", "tokens_per_example", "epochs", "packed", "source_file", "final_runs", "sweep_runs",
        "sweep_fraction", "failed_fraction", "sequence_length", "global_batch_size", "lora_rank", "lora_targets",
        "weight_quantization", "regime", "optimizer", "recomputation", "attention", "loss", "offload",
        "micro_batch_size", "framework", "checkpoints_kept", "virtual_tokens", "concurrent_users", "prompt_tokens",
        "output_tokens", "requests_per_day", "months", "tokens_per_second_per_user", "first_token_seconds",
        "serving_quantization", "kv_cache_bits", "engine",
    ),
    Page.CONSTRAINTS: (
        "budget", "deadline_days", "ways", "allow_spot", "region", "export_controlled_allowed", "data_may_leave",
        "api_allowed", "include_gpus", "exclude_gpus", "vendors", "owned", "max_gpus", "headroom", "host_available",
        "server_room",
    ),
    Page.ECONOMICS: (
        "currency", "hours_per_month", "years", "electricity_per_kwh", "pue", "engineer_hour", "discount_rate",
    ),
    Page.REVIEW: ("name", "as_of", "notes"),
}  # fmt: skip

#: Field of the draft -> the page where it is typed.
PAGE_OF_FIELD: dict[str, Page] = {name: page for page, names in _FIELDS.items() for name in names}

_FIELD_ORDER = {name: number for number, name in enumerate(PAGE_OF_FIELD)}
_PAGE_ORDER = {page: number for number, page in enumerate(Page)}

#: What is missing, as the page says it; what is wrong has its words in `engine.messages.inputs`.
_WORDS: dict[str, str] = {
    "draft.no_goal": N_("Choose what you want to do."),
    "draft.no_model": N_("Choose a model, open a config.json, or state a size."),
    "draft.no_data": N_("State how much data there is. A rough figure is enough for a first answer."),
    "draft.no_file": N_("Drop or choose a data file to count."),
}


@dataclasses.dataclass(frozen=True)
class Problem:
    """Something wrong or missing: where it is typed, and what it is."""

    page: Page
    task: int | None  # index of the task, on pages that belong to one
    field: str
    code: str
    params: Mapping[str, object] = dataclasses.field(default_factory=dict[str, object])

    @property
    def order(self) -> tuple[int, int, int]:
        """Position in the order in which the pages are filled in."""
        task = -1 if self.task is None or self.page is Page.TASK else self.task
        page = _PAGE_ORDER[self.page]
        inside = page in (_PAGE_ORDER[Page.MODEL], _PAGE_ORDER[Page.DATA])
        return (1 if inside else page, task * 10 + page if inside else 0, _FIELD_ORDER.get(self.field, 999))

    def words(self, language: Language) -> str:
        """What the page says."""
        return language.fill(_WORDS.get(self.code) or TEMPLATES[self.code], **self.params)
