"""Words of the command line."""

from __future__ import annotations

from engine.messages.mark import N_

LABELS: dict[str, str] = {
    "validate.format.traced": N_("traced cases"),
    "validate.format.measured": N_("measured cases"),
    "validate.kind.traced": N_("Traced memory"),
    "validate.kind.memory": N_("Memory of training"),
    "validate.kind.inference_memory": N_("Memory of inference"),
    "validate.kind.throughput": N_("Speed of training"),
    "validate.kind.inference_throughput": N_("Speed of inference"),
    "validate.kind.time_to_train": N_("Time to train"),
    "validate.kind.gpu_hours": N_("GPU hours"),
    "validate.kind.oom": N_("Out of memory"),
    "validate.kind.fits": N_("Reported to fit"),
    "validate.metric.max_allocated": N_("requested by the program"),
    "validate.metric.max_reserved": N_("reserved by the framework"),
    "validate.metric.nvidia-smi": N_("shown by the driver"),
    "validate.metric.unknown": N_("kind of memory not stated"),
    "validate.gpus.one": N_("one GPU"),
    "validate.gpus.several": N_("several GPUs"),
    "validate.settings.stated": N_("all settings stated"),
    "validate.settings.partial": N_("some settings not stated"),
    "validate.pooled.method": N_("methods with few rows"),
    "validate.pooled.framework": N_("frameworks with few rows"),
    "validate.pooled.gpu": N_("GPUs with few rows"),
    "validate.quantity.tokens_per_second": N_("tokens per second"),
    "validate.quantity.step_seconds": N_("seconds per step"),
    "validate.quantity.mfu": N_("share of peak (MFU)"),
    "validate.quantity.flops": N_("FLOP per second of the model"),
    "validate.quantity.time_to_train": N_("time to train"),
    "validate.quantity.gpu_hours": N_("GPU hours"),
    "validate.reported.fits": N_("It fits"),
    "validate.reported.measured": N_("A measurement, so it ran"),
    "validate.reported.oom": N_("Out of memory in steady state"),
    "validate.reported.oom_cause_unknown": N_("Out of memory, cause not known"),
}

TEMPLATES: dict[str, str] = {
    "cli.no_such_language": N_("There is no language {value}. Known: {known}."),
    "cli.no_such_profile": N_(
        "There is no report profile {value}. Known: memo, full, university, grant, research, business."
    ),
    "cli.no_gpu": N_('Which card? Name one with --gpu, for example --gpu "RTX 4090".'),
    "cli.no_such_task": N_("There is no task {task}. There is: {known}."),
    "cli.no_such_program": N_("{program} can't run this plan, or is not known here. There is: {known}."),
    "cli.file_there": N_("{path} is there already; nothing was written. Name another folder."),
    "cli.no_such_model": N_("There is no model {model}. Similar names: {similar}."),
    "cli.no_screen": N_("There is no screen here, so no window is opened. Here is a bundled example instead."),
    "cli.no_qt": N_(
        "The window needs PySide6, which is not installed: python -m pip install 'PySide6-Essentials>=6.8,<6.12'. "
        "Here is a bundled example in the terminal instead."
    ),
    "cli.qt_library": N_(
        "The window needs system libraries that are missing. On Debian or Ubuntu, install them with:\n"
        "    sudo apt-get install -y {packages}\nHere is a bundled example in the terminal instead."
    ),
}
