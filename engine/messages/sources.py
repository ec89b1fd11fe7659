"""What the calibration tables and formulas rest on, where it is said in words: citations stay as they are.

`Language.source` translates these inside a source; a test holds that no sentence of the tables is missing here.
"""

from __future__ import annotations

from engine.messages.mark import N_

__all__ = ["SOURCES"]

SOURCES: tuple[str, ...] = (
    N_("16-bit weights"),
    N_("bitsandbytes 0.50 layout: 4 bits and one scale for 64 elements (traced)"),
    N_("bytes by the update rule of the optimizer"),
    N_("chunk rule of Liger Kernel 0.8, arXiv:2410.10989"),
    N_("grouped-query attention arXiv:2305.13245"),
    N_("latent attention arXiv:2405.04434"),
    N_("paged cache arXiv:2309.06180"),
    N_("one byte, one scale a matrix or channel"),
    N_("ring and tree collectives"),
    N_("tensor parallelism arXiv:1909.08053 §3"),
    N_("traces"),
    N_("traces of training steps, torch 2.13.0, transformers 5.24.0, PEFT 0.21.2 (block_factors.json)"),
    N_("one card"),
    N_("planning assumption: TCP on 10 Gbit/s to each node"),
    N_("planning assumption: between a switch and a bus"),
    N_(
        "Qwen README (published measurements, calibrate part): memory above weights over the cache; the "
        "dynamic cache is copied at each token and its old blocks cannot be used again"
    ),
    N_("cuBLAS and cuBLASLt 32 MiB each from Hopper on (pytorch PR #83461, #120925)"),
    N_(
        "cuBLAS workspace 8519680 B for each handle and stream (pytorch forum 178671); cuBLASLt 1 to 4 MiB (PR #120925)"
    ),
    N_("dynamic cache grows token by token"),
    N_("fitcheck T4 archive (published measurements, calibrate part): allocated against the formula, 71 runs"),
    N_(
        "fitcheck T4 archive (published measurements, calibrate part): allocated against the formula, 71 "
        "runs, median error 0.5 %"
    ),
    N_("fitcheck T4 archive (published measurements, calibrate part): as above, eager attention, 35 runs"),
    N_(
        "fitcheck T4 archive (published measurements, calibrate part): reserved minus allocated over "
        "activations and temporaries, SDPA, 36 runs: 5th, 50th and 95th percentile"
    ),
    N_(
        "fitcheck T4 archive (published measurements, calibrate part): whole process minus reserved 0.13 to "
        "0.14 GiB, 71 runs"
    ),
    N_("llama.cpp pads the context to a multiple of 256"),
    N_("llama.cpp: compute buffers are counted as working memory; small graphs"),
    N_("llama.cpp: micro-batch of 512 tokens (-ub), batch of 2048 (-b)"),
    N_(
        "nccl issues #964 (544 MB with 2 cards, 688 MB with 3 or 4, A100 NVLink), #864, #986; several "
        "communicators up to 6 GB"
    ),
    N_("no graphs captured by default"),
    N_("no public figure: the range of NCCL widened"),
    N_("no public figure: the range of NVIDIA cards widened"),
    N_("paged attention, arXiv:2309.06180: 16 tokens a block by default"),
    N_(
        "published measurements, calibrate part, families qwen1 and flagperf: driver minus formula over "
        "weights, states and gradients where these dominate, 54 adapter runs of hf-trainer (quartiles 0.05 "
        "and 0.18); shared between allocated and reserved, which the source does not tell apart"
    ),
    N_(
        "published measurements, calibrate part, families qwen1 and flagperf: driver minus formula over "
        "weights, states and gradients where these dominate, 54 adapter runs of hf-trainer: quartiles 0.05 "
        "and 0.18"
    ),
    N_(
        "published measurements, calibrate part, families qwen1 and flagperf: measured over predicted "
        "activations and temporaries where they are more than 30 %, 45 runs: 10th and 90th percentile (median"
        " 1.06)"
    ),
    N_(
        "pytorch issues #107667 and #109888: 300-400 MB a process since CUDA 11.7 with lazy loading; more "
        "with more kernels loaded"
    ),
    N_(
        "rounding to 512 B and to segments of 2 MiB (constants in CUDACachingAllocator.cpp); fitcheck T4 "
        "archive (calibrate part): least squares 0.03 of what stays"
    ),
    N_("rounding to segments of 2 MiB (constants in CUDACachingAllocator.cpp)"),
    N_("serving engines reserve one pool at start"),
    N_("serving engines reserve one pool at start; small tensors come and go beside it"),
    N_("transformers generate: all prompts in one batch"),
    N_(
        "vLLM engine arguments: max_num_batched_tokens 2048 to 16384 by version and card (v1 default 8192 on "
        "large cards)"
    ),
    N_("vLLM start-up logs: CUDA graph capture 0.3 to 2 GiB by model and sizes captured"),
    N_(
        "ZeRO-Offload, arXiv:2101.06840, table of Adam latency: about 2.6 s for 10 billion parameters on two processors"
    ),
    N_("arXiv:2407.21783 section 3.3.4: at most 10 % of 54 days lost by 466 interruptions"),
    N_("arXiv:2407.21783 section 3.3.4: more than 90 % effective time; high end: planning assumption"),
    N_("contained in the share of the peak of its prompt speeds"),
    N_("counted with the start of the kernels"),
    N_(
        "default token budget of a pass: max_num_tokens 8192 in TensorRT-LLM, max_num_batched_tokens 2048 to "
        "16384 in vLLM"
    ),
    N_("definition"),
    N_("fitted to 12 published pretraining runs of the calibration part that name no public stack, beside run_hours"),
    N_("fitted to the calibration part of published training speeds"),
    N_(
        "https://gist.github.com/chenyaofo/d4cd6a20ab4b95cb3a49491747e2139a: 7B on 8 A800 with 8 micro-steps,"
        " 15.3 against 35.4 s"
    ),
    N_("kernels read the weights as they are stored"),
    N_(
        "leaving one family out: the median of the one family that is predicted from other cards and other "
        "programs lies 0.21 off, times 1.645"
    ),
    N_("n_ubatch 512 in llama.cpp; other programs compute each prompt by itself"),
    N_("operator count of a pre-norm layer where all is fused, as in tuned stacks"),
    N_("operator count of an adapted matrix"),
    N_("operator count of one expert in a loop"),
    N_("operator count, eager PyTorch"),
    N_("operator count, fused"),
    N_("planning assumption: 5 to 10 us to start a kernel from the host"),
    N_("planning assumption: a network file system or one NVMe disk for each node"),
    N_("planning assumption: input is prepared beside the training, but not always in time"),
    N_("planning assumption: one gather a layer instead of one a tensor"),
    N_("planning assumption: pause between kernels of a graph"),
    N_("planning assumption: prefetch of the next layer (arXiv:2304.11277 section 4.3)"),
    N_("planning assumption: reading weights, building kernels, first steps"),
    N_("planning assumption: training balances its experts by a loss or a bias"),
    N_(
        "planning assumption: requests choose experts unevenly, so that engines copy busy ones "
        "(arXiv:2412.19437 section 3.4)"
    ),
    N_("Unsloth: one kernel of its own expands a matrix"),
    N_(
        "https://lightning.ai/pages/community/lora-insights: QLoRA on short rows of a 7B model takes 30 to 50 % longer "
        "than LoRA in 16 bits"
    ),
    N_("call count of bitsandbytes matmul_4bit for one row: checks, an output tensor and the product"),
    N_("as kernels_4bit, with the scales expanded and their offset added"),
    N_("planning assumption: a functional collective of PyTorch is a dispatch, a copy, the collective and a wait"),
    N_("planning assumption: a few hundred batches, forward only, every thousand steps"),
    N_("arXiv:2402.15627: about 0.5 % of the machines"),
    N_(
        "arXiv:2402.15627: utilisation was 0.7 % better without them; high end: they stay, about 10 % "
        "slower than their peers"
    ),
    N_("planning assumption: the compiler fuses element-wise kernels"),
    N_("qwen1-readme-inference: 16 to 22 ms a token whatever the weights"),
    N_("qwen1-readme-inference: 8-bit and 4-bit weights against 16-bit ones"),
    N_(
        "calibrate part of published measurements, families flagperf, qwen1 and alpaca-lora, each predicted "
        "without its own runs: measured over predicted, 110 stated runs: 5th and 95th percentile 0.83 and "
        "1.44"
    ),
    N_("recorded graphs are replayed by the card"),
)
