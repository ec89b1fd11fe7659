"""Words of files, charts and reports that are not literal in `engine.report`."""

from __future__ import annotations

from engine.messages.mark import N_

LABELS: dict[str, str] = {
    "way.buy": N_("Buy"),
    "way.rent": N_("Rent"),
    "way.shared": N_("Shared cluster"),
    "way.owned": N_("Own cards"),
    "way.api": N_("Hosted API"),
    "verdict.fits": N_("fits"),
    "verdict.fits_tightly": N_("fits tightly"),
    "verdict.does_not_fit": N_("does not fit"),
    "verdict.unknown": N_("not known"),
    "memory.other": N_("Other items"),
    "memory.in_use": N_("In use by other programs"),
    "role.cheapest": N_("Cheapest that works"),
    "role.balanced": N_("Best balance"),
    "role.least_risk": N_("Least risk"),
    "method.pretrain": N_("Pre-training"),
    "method.continued": N_("Continued pre-training"),
    "method.full": N_("Full-parameter fine-tuning"),
    "method.freeze": N_("Fine-tuning of some layers"),
    "method.lora": N_("LoRA fine-tuning"),
    "method.dora": N_("DoRA fine-tuning"),
    "method.qlora": N_("QLoRA fine-tuning"),
    "method.prompt": N_("Prompt tuning"),
    "method.dpo": N_("Preference optimization (DPO)"),
    "method.orpo": N_("Preference optimization (ORPO)"),
    "method.kto": N_("Preference optimization (KTO)"),
    "method.simpo": N_("Preference optimization (SimPO)"),
    "method.reward": N_("Reward model"),
    "method.ppo": N_("Reinforcement learning (PPO)"),
    "method.grpo": N_("Reinforcement learning (GRPO)"),
    "method.distill": N_("Knowledge distillation"),
    "method.inference": N_("Serving"),
    "sharding.none": N_("every card holds everything (DDP)"),
    "sharding.zero1": N_("optimizer states are shared out among the cards (ZeRO-1)"),
    "sharding.zero2": N_("optimizer states and gradients are shared out among the cards (ZeRO-2)"),
    "sharding.zero3": N_("weights, gradients and optimizer states are shared out among the cards (ZeRO-3)"),
    "sharding.fsdp2": N_("weights, gradients and optimizer states are shared out among the cards (FSDP)"),
    "recomputation.none": N_("activations are kept, nothing is recomputed"),
    "recomputation.attention": N_("the attention part is recomputed in the backward pass"),
    "recomputation.selective": N_("some activations are recomputed in the backward pass"),
    "recomputation.full": N_("activations are recomputed in the backward pass (gradient checkpointing)"),
    "regime.pure-bf16": N_("everything in BF16"),
    "regime.fp32-master": N_("16-bit weights with an FP32 master copy"),
    "regime.bf16-amp": N_("FP32 weights, computing in BF16 (mixed precision)"),
    "regime.fp16-amp": N_("FP32 weights, computing in FP16 (mixed precision)"),
    "regime.fp32": N_("everything in FP32"),
    "offload.optimizer": N_("optimizer states lie in host memory"),
    "offload.optimizer+parameters": N_("optimizer states and weights lie in host memory"),
    "offload.activations": N_("activations lie in host memory"),
}

TEMPLATES: dict[str, str] = {
    "file.no_space": N_("There is no space left to write {path}. Free some space, or choose another folder."),
    "file.not_allowed": N_(
        "{path} may not be written here ({reason}). Choose another folder, or close the program that holds the file."
    ),
    "file.is_folder": N_("{path} is a folder. Give a file name in it."),
    "file.cannot_write": N_("{path} could not be written: {reason}. What stood there before is unchanged."),
}
