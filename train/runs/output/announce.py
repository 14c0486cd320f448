"""Lines on stderr about what a run is doing before its first step, which takes half a minute or more."""

from __future__ import annotations

from pathlib import Path

from curate import progress
from train.environment import is_main_process, num_processes


def announce(what: str) -> None:
    """Write one line, by the first process only."""
    if is_main_process():
        progress.announce(what)


def described(model: Path, max_steps: int, checkpoint: Path | None) -> str:
    """What is loaded: `loading runs/sft/model (1.2 GB) on 2 processes; resuming from checkpoint-20 of 500 steps`."""
    num_bytes = sum(path.stat().st_size for path in model.glob("*.safetensors"))
    size = f" ({num_bytes / 1e9:.1f} GB)" if num_bytes >= 1e8 else f" ({num_bytes / 1e6:.1f} MB)" if num_bytes else ""
    steps = f"{max_steps} step{'s' if max_steps > 1 else ''}"
    start = f"; resuming from {checkpoint.name} of {steps}" if checkpoint else f"; {steps}"
    processes = f" on {num_processes()} processes" if num_processes() > 1 else ""
    return f"loading {model}{size}{processes}{start}"
