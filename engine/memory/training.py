"""Memory of a training step, per card: all moments, the peak over them, and what lies above PyTorch's count."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from engine.architecture.model import Architecture
from engine.layout.model import Attention, Job, LayoutBlock, LayoutLike, Method, Offload
from engine.memory.dora import with_dora
from engine.memory.moments import Moment, moments_of
from engine.memory.optimizer import state_bytes
from engine.memory.overheads import MemoryPlatform, platform_for
from engine.memory.peak import block_from_moments
from engine.memory.result import MemoryBlock
from engine.memory.sharding import optimizer_share
from engine.memory.step import Step, make_step
from engine.memory.weights import base_bytes
from engine.quantity import Number

__all__ = ["training_memory"]


def training_memory(
    architecture: Architecture, job: Job, layout: LayoutLike, *, platform: MemoryPlatform | None = None
) -> MemoryBlock:
    """Memory of one card for one step of `job` in steady state, for a layout or for a block of layouts.

    With a pipeline the first and the last stage are both looked at; the greater decides. `platform` holds the
    overheads of a card (`platform_for`); without it those of any card under the job's framework are taken.
    """
    platform = platform or platform_for(None, job.framework)
    gpus = layout.gpus
    layout = _with_scalars(layout)
    step = make_step(architecture, job, layout)
    moments: list[Moment] = moments_of(step)
    if np.any(np.asarray(layout.pipeline_parallel) > 1):
        moments += moments_of(make_step(architecture, job, layout, first_stage=False))
    block = block_from_moments(
        moments,
        platform,
        gpus=gpus,
        fallback=step.forms.fallback,
        host_bytes=_host_bytes(step),
        eager=layout.attention is Attention.EAGER,
    )
    return with_dora(block, step) if job.method is Method.DORA else block


def _with_scalars(layout: LayoutLike) -> LayoutLike:
    """The same layouts with a scalar where all candidates have one value: most formulas are then scalar too."""
    if not isinstance(layout, LayoutBlock):
        return layout
    arrays = {n: v for n, v in vars(layout).items() if isinstance(v, np.ndarray) and v.ndim and v.size}
    return replace(layout, **{n: int(v.flat[0]) for n, v in arrays.items() if (v == v.flat[0]).all()})


def _host_bytes(step: Step) -> Number:
    """Host memory of one rank: what is offloaded, in the form that it has there.

    Offloaded optimizers keep 32-bit masters, states and a 32-bit gradient (ZeRO-Offload, arXiv:2101.06840).
    """
    offload, layers = step.layout.offload, step.share.layers
    if offload is Offload.NONE:
        return 0.0 * layers
    if offload is Offload.ACTIVATIONS:
        return step.saved.expected * step.tokens * step.share.in_flight
    elements = optimizer_share(step)
    from engine.memory.optimizer import Trained

    trained = Trained(elements, 0.0, elements, 0.0, 0.0)
    states = state_bytes(step.layout.optimizer, trained, 4.0, 4.0).expected
    host = states + 4.0 * elements
    if offload is Offload.OPTIMIZER_AND_PARAMETERS:
        dense, experts = base_bytes(step)
        host = host + (dense.expected + experts.expected) / step.divisors.weights
    return host
