"""Words of the memory area: terms, moments, phases, verdicts."""

from __future__ import annotations

from engine.messages.mark import N_

LABELS: dict[str, str] = {
    "memory.weights": N_("Model weights"),
    "memory.adapters": N_("LoRA adapters"),
    "memory.reference_model": N_("Reference model"),
    "memory.optimizer_states": N_("Optimizer states"),
    "memory.gradients": N_("Gradients"),
    "memory.activations": N_("Activations"),
    "memory.block_work": N_("Working memory of one layer"),
    "memory.logits": N_("Logits and loss"),
    "memory.kv_cache": N_("KV cache"),
    "memory.cast_copies": N_("16-bit copies of weights (autocast)"),
    "memory.gather_buffers": N_("Weights gathered from other GPUs"),
    "memory.reduce_buffers": N_("Gradient exchange buffers"),
    "memory.context_exchange": N_("Keys and values from other GPUs (context parallelism)"),
    "memory.program_differences": N_("Differences between software versions"),
    "memory.step_scratch": N_("Scratch memory of the optimizer step"),
    "memory.inputs": N_("Input tokens"),
    "memory.engine_graphs": N_("CUDA graphs of the serving engine"),
    "memory.other_moment": N_("Margin for another moment of the step"),
    "memory.fragmentation": N_("Fragmentation and rounding"),
    "memory.workspace": N_("Workspace of math libraries"),
    "memory.context": N_("Driver context"),
    "memory.nccl": N_("Communication buffers (NCCL)"),
    "memory.moment.loss_forward": N_("Loss, forward pass"),
    "memory.moment.blocks_forward": N_("Layers, forward pass"),
    "memory.moment.block_gathering": N_("Gathering the next layer, forward pass"),
    "memory.moment.loss_backward": N_("Loss, backward pass"),
    "memory.moment.first_block_backward": N_("First layer of the backward pass"),
    "memory.moment.last_block_backward": N_("Last layer of the backward pass"),
    "memory.moment.inner_block_backward": N_("Layer in the backward pass, gradients in exchange"),
    "memory.moment.root_reduction": N_("Exchange of the embedding's gradients"),
    "memory.moment.embedding_backward": N_("End of the backward pass"),
    "memory.moment.optimizer_step": N_("Optimizer step"),
    "memory.moment.prefill": N_("Reading the prompt (prefill)"),
    "memory.moment.decode": N_("Generating (decode)"),
    "forward": N_("Forward pass"),
    "backward": N_("Backward pass"),
    "optimizer": N_("Optimizer step"),
    "load": N_("Loading"),
    "prefill": N_("Prefill"),
    "decode": N_("Decode"),
    "fits": N_("Fits"),
    "fits_tightly": N_("Fits tightly"),
    "does_not_fit": N_("Does not fit"),
    "unknown": N_("Unknown"),
}

TEMPLATES: dict[str, str] = {}
