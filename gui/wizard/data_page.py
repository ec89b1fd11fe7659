"""Step 3: how much data, how many runs; or, for serving, how many users and how fast."""

from __future__ import annotations

from PySide6.QtWidgets import QVBoxLayout, QWidget

from engine.datasets import DatasetCount
from engine.messages.mark import N_
from gui.draft import Draft, TaskDraft
from gui.problems import Page, Problem
from gui.widgets.basic import Banner, Fold, bound_label, label
from gui.widgets.choice_cards import Segments
from gui.widgets.editors import CheckEdit, ChoiceEdit, NumberEdit, PercentEdit
from gui.wizard import choices
from gui.wizard.choices import goal_of
from gui.wizard.dataset_card import DatasetCard
from gui.wizard.page import WizardPage

__all__ = ["DataPage"]


_SERVING_TITLE = (
    N_("How much is it used, and how fast must it be?"),
    N_("Rough figures are enough for a first answer. Think of a busy hour."),
)


class DataPage(WizardPage):
    """Data and training, or load and targets of a service."""

    PAGE = Page.DATA
    TITLE = N_("How much data, and how is it trained?")
    INTRO = N_("Rough figures are enough for a first answer. What you leave as it is, practitioners would choose too.")

    def build(self) -> None:
        """Training in one part, serving in another; one of them is shown."""
        self.training, self.serving = QWidget(), QWidget()
        for part in (self.training, self.serving):
            self.body.addWidget(part)
        outer, self.body = self.body, _column(self.training)
        self._build_data()
        self._build_runs()
        self._build_advanced()
        self.body = _column(self.serving)
        self._build_serving()
        self.body = outer
        self.words.run(lambda _language: self.refresh(self.state.draft))

    def _build_data(self) -> None:
        self.body.addWidget(bound_label(self.words, N_("Training data"), "subtitle"))
        self.source = Segments(
            self.words,
            "data.source",
            [
                ("examples", N_("E&xamples")),
                ("tokens", N_("Total &tokens")),
                ("file", N_("&Count a file")),
            ],
        )
        self.source.edited.connect(lambda value: self.edit(data_source=value))
        self.body.addWidget(self.source)
        self.card = DatasetCard(self.state, self.words)
        self.card.counted.connect(self._take)
        self.body.addWidget(self.card)
        form = self.form("data")
        form.add(
            "tokens",
            N_("Tokens in the &data set"),
            self.bind(NumberEdit(), "tokens"),
            hint=N_("For example 50B, 200M or 3 亿. Without repetitions."),
            why=N_("Training time grows in proportion to the tokens that the model reads."),
        )
        form.add(
            "examples",
            N_("N&umber of examples"),
            self.bind(NumberEdit(), "examples"),
            hint=N_("Conversations, questions with answers, or documents."),
        )
        form.add(
            "tokens_per_example",
            N_("Tokens per example, on avera&ge"),
            self.bind(NumberEdit(), "tokens_per_example"),
            hint=N_("100 English words are about 130 tokens, 100 Chinese characters about 60."),
        )
        form.add(
            "epochs",
            N_("&Passes over the data (epochs)"),
            self.bind(NumberEdit(), "epochs"),
            why=N_("How often each example is seen. Fine-tuning usually takes 1 to 3 passes, pre-training one."),
        )
        form.add(
            "sequence_length",
            N_("Sequence &length"),
            self.bind(NumberEdit(), "sequence_length"),
            unit=N_("tokens"),
            why=N_(
                "The longest piece of text that the model sees at once in training. Memory for activations grows with "
                "it; longer examples are cut or split."
            ),
        )
        form.add(
            "global_batch_size",
            N_("&Batch size"),
            self.bind(NumberEdit(), "global_batch_size"),
            unit=N_("sequences per step"),
            why=N_(
                "Sequences that go into one update of the weights, over all cards together. It hardly changes the "
                "memory: cards work it off in smaller portions."
            ),
        )
        form.add(
            "packed",
            N_("Short examples are pac&ked together into full sequences"),
            self.bind(CheckEdit(), "packed"),
            why=N_("Without packing, short examples are filled up with padding that is computed but teaches nothing."),
        )
        self.data_form = form
        self.body.addWidget(form)
        self._build_kept()
        self.total = label("", "muted")
        self.body.addWidget(self.total)

    def _build_kept(self) -> None:
        """The question that decides a factor of two where all weights are trained, in words for newcomers."""
        self.kept = QWidget()
        column = QVBoxLayout(self.kept)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(bound_label(self.words, N_("What does your training keep in 32 bits?"), "section"))
        self.kept_choice = ChoiceEdit(self.words, choices.KEPT_IN_32_BITS)
        self.kept_choice.setObjectName("data.kept")
        self.kept_choice.setSizeAdjustPolicy(ChoiceEdit.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.words.bind(self.kept_choice.setAccessibleName, N_("What does your training keep in 32 bits?"))
        self.kept_choice.edited.connect(lambda value: self.edit(regime=value))
        column.addWidget(self.kept_choice)
        column.addWidget(
            bound_label(
                self.words,
                N_(
                    "It decides a factor of two: all weights of an 8B model trained “in BF16” take some 60 GiB with "
                    "nothing in 32 bits, and 120 to 150 GiB with a 32-bit copy of weights and optimizer. If in doubt, "
                    "leave it: a plan that fits the larger one fits the smaller one too."
                ),
                "muted",
            )
        )
        self.body.addWidget(self.kept)

    def _build_runs(self) -> None:
        self.body.addWidget(bound_label(self.words, N_("Runs"), "subtitle"))
        form = self.form("data")
        form.add(
            "final_runs",
            N_("F&inal runs"),
            self.bind(NumberEdit(), "final_runs"),
            why=N_("Full trainings whose result is kept, for example with several random seeds."),
        )
        form.add(
            "sweep_runs",
            N_("Trial &runs before"),
            self.bind(NumberEdit(), "sweep_runs"),
            why=N_("Shorter runs that look for good settings (a hyperparameter sweep). Most projects need some."),
        )
        form.add(
            "sweep_fraction",
            N_("Length &of a trial run"),
            self.bind(PercentEdit(), "sweep_fraction"),
            unit=N_("% of a final run"),
        )
        form.add(
            "failed_fraction",
            N_("Time lo&st to failed runs"),
            self.bind(PercentEdit(), "failed_fraction"),
            unit=N_("% of run time"),
            why=N_("Crashes, wrong settings, repeated runs. Plans that leave this out are too cheap on paper."),
        )
        self.body.addWidget(form)

    def _build_advanced(self) -> None:
        self.advanced = Fold(self.words, N_("&Advanced: precision, optimizer, adapters …"), "data.advanced")
        self.body.addWidget(self.advanced)
        self.advanced.body.addWidget(
            bound_label(
                self.words,
                N_(
                    "Leave these to the advisor, unless your training recipe is fixed: "
                    "it tries all and picks what works."
                ),
                "muted",
            )
        )
        form = self.form("data")
        form.add(
            "lora_rank",
            N_("Adapter rank"),
            self.bind(NumberEdit(), "lora_rank"),
            why=N_("Size of the LoRA adapters. 8 to 64 is usual; it changes the memory little."),
        )
        form.add("lora_targets", N_("Layers with adapters"), self._choice("lora_targets", choices.LORA_TARGETS))
        form.add(
            "weight_quantization",
            N_("Format of the frozen base"),
            self._choice("weight_quantization", choices.BASE_FORMATS),
        )
        form.add("virtual_tokens", N_("Virtual tokens"), self.bind(NumberEdit(), "virtual_tokens"))
        form.add(
            "regime",
            N_("Number format of weights and gradients"),
            self._choice("regime", choices.REGIMES),
            wide=True,
            why=N_("How many bytes each weight needs in training. It can double the memory."),
        )
        form.add(
            "optimizer",
            N_("Optimizer"),
            self._choice("optimizer", choices.OPTIMIZERS),
            why=N_("The rule that updates the weights. AdamW keeps two further numbers for every trained weight."),
        )
        form.add(
            "recomputation",
            N_("Recompute activations"),
            self._choice("recomputation", choices.RECOMPUTATIONS),
            why=N_(
                "Intermediate results are thrown away and computed again when needed (gradient checkpointing): "
                "less memory for more time."
            ),
        )
        form.add(
            "loss",
            N_("Loss computation"),
            self._choice("loss", choices.LOSSES),
            why=N_(
                "The scores of all words of the vocabulary can take more memory than the whole model; computed "
                "in pieces, they don't."
            ),
        )
        form.add("attention", N_("Attention"), self._choice("attention", choices.ATTENTIONS))
        form.add(
            "offload",
            N_("Move parts to host memory"),
            self._choice("offload", choices.OFFLOADS),
            why=N_("Offloading makes a model fit that would not fit, and slows it down a lot."),
        )
        form.add(
            "micro_batch_size",
            N_("Micro-batch"),
            self.bind(NumberEdit(), "micro_batch_size"),
            unit=N_("sequences per card"),
            hint=N_("Empty: the advisor chooses."),
        )
        form.add("framework", N_("Framework"), self._choice("framework", choices.FRAMEWORKS))
        form.add(
            "checkpoints_kept",
            N_("Checkpoints kept"),
            self.bind(NumberEdit(), "checkpoints_kept"),
            why=N_("Saved states of the training; they need storage, which is part of the cost."),
        )
        self.expert_form = form
        self.advanced.body.addWidget(form)

    def _build_serving(self) -> None:
        self.body.addWidget(bound_label(self.words, N_("Load"), "subtitle"))
        form = self.form("serving")
        form.add(
            "concurrent_users",
            N_("&Users at the same moment"),
            self.bind(NumberEdit(), "concurrent_users"),
            why=N_(
                "Requests that are being answered at once, not registered users. It decides the memory for the "
                "KV cache."
            ),
        )
        form.add("requests_per_day", N_("Requests a &day"), self.bind(NumberEdit(), "requests_per_day"))
        form.add(
            "prompt_tokens",
            N_("Tokens in a &question"),
            self.bind(NumberEdit(), "prompt_tokens"),
            unit=N_("tokens"),
            hint=N_("With system prompt, documents and history."),
        )
        form.add(
            "output_tokens", N_("Tokens in an &answer"), self.bind(NumberEdit(), "output_tokens"), unit=N_("tokens")
        )
        form.add("months", N_("The service &runs for"), self.bind(NumberEdit(), "months"), unit=N_("months"))
        self.body.addWidget(form)
        self.target_title = bound_label(self.words, N_("Targets"), "subtitle")
        self.body.addWidget(self.target_title)
        targets = self.form("serving")
        targets.add(
            "tokens_per_second_per_user",
            N_("&Speed for each user"),
            self.bind(NumberEdit(), "tokens_per_second_per_user"),
            unit=N_("tokens per second"),
            hint=N_("People read about 5 to 10 tokens a second."),
        )
        targets.add(
            "first_token_seconds",
            N_("Wait for the first &word"),
            self.bind(NumberEdit(), "first_token_seconds"),
            unit=N_("seconds"),
        )
        self.body.addWidget(targets)
        fold = Fold(self.words, N_("Advan&ced: formats and server software"), "serving.advanced")
        form = self.form("serving")
        form.add(
            "serving_quantization",
            N_("Format of the weights"),
            self._choice("serving_quantization", choices.SERVING_FORMATS),
            why=N_("Fewer bits need less memory and answer faster; below 8 bits quality falls a little."),
        )
        form.add("kv_cache_bits", N_("Format of the KV cache"), self._choice("kv_cache_bits", choices.KV_BITS))
        form.add("engine", N_("Server software"), self._choice("engine", choices.ENGINES))
        fold.body.addWidget(form)
        self.body.addWidget(fold)
        self.serving_advanced = fold
        self.api_note = Banner("serving.api")
        self.body.addWidget(self.api_note)

    def _choice(self, name: str, offered: object) -> ChoiceEdit:
        editor = ChoiceEdit(self.words, offered)  # type: ignore[arg-type]
        self.bind(editor, name)
        return editor

    def refresh(self, draft: Draft) -> None:
        """Only the fields that the method and the source of the data call for."""
        task = self.current
        if task.is_inference:
            self.say_title(*_SERVING_TITLE)
        else:
            self.say_title(self.TITLE, self.INTRO)
        self.training.setVisible(not task.is_inference)
        self.serving.setVisible(task.is_inference)
        self.source.set_value(task.data_source)
        self.card.setVisible(task.data_source == "file")
        self.card.set_limit(task.sequence_length)
        rows = self.data_form.rows
        rows["tokens"].set_visible(task.data_source == "tokens")
        for name in ("examples", "tokens_per_example"):
            rows[name].set_visible(task.data_source != "tokens")
        self._show_expert_rows(task)
        asked = task.regime in [value for value, _text in choices.KEPT_IN_32_BITS]  # else it was set under Advanced
        self.kept.setVisible(asked and task.method in ("full", "continued", "pretrain", "freeze"))
        if asked:
            self.kept_choice.set_value(task.regime)
        self.total.setText(self._total(draft, task))
        goal = goal_of(task)
        only = bool(goal and goal.outputs_only)
        self.api_note.say(
            self.state.language.gettext("The result compares your own cards with buying the same outputs from an API.")
            if only
            else ""
        )

    def _show_expert_rows(self, task: TaskDraft) -> None:
        rows = self.expert_form.rows
        adapters = task.method in ("lora", "qlora", "dora") or (task.method == "dpo" and task.adapters)
        rows["lora_rank"].set_visible(adapters)
        rows["lora_targets"].set_visible(adapters)
        rows["weight_quantization"].set_visible(task.method == "qlora")
        rows["virtual_tokens"].set_visible(task.method == "prompt")

    def _total(self, draft: Draft, task: TaskDraft) -> str:
        scenario = None if task.is_inference else draft.changed(tasks=(task,)).to_scenario()
        if scenario is None or scenario.tasks[0].workload.kind != "training":
            return ""
        run = scenario.tasks[0].workload.data.tokens_per_run
        return self.state.language.fill("One run trains on {tokens:count} tokens.", tokens=run)

    def _take(self, found: DatasetCount) -> None:
        self.edit(
            data_source="file",
            examples=found.examples,
            tokens_per_example=round(found.tokens_per_example.expected, 1),
            source_file=found.file_name,
        )

    def focus_problem(self, problem: Problem) -> None:
        """Unfold what hides the field."""
        if problem.field in self.expert_form.rows:
            self.advanced.open()
        if problem.field in ("serving_quantization", "kv_cache_bits", "engine"):
            self.serving_advanced.open()
        super().focus_problem(problem)

    def first_focus(self) -> QWidget:
        """The first field of what is shown."""
        task = self.current
        if task.is_inference:
            row = self.row("concurrent_users")
            return row.target if row else self
        if task.data_source == "file":
            return self.card.drop.button
        return self.data_form.rows["tokens" if task.data_source == "tokens" else "examples"].target


def _column(part: QWidget) -> QVBoxLayout:
    layout = QVBoxLayout(part)
    layout.setContentsMargins(0, 0, 0, 0)
    layout.setSpacing(16)
    return layout
