"""Log of a run: a JSON line per logged step in the run folder, and a short line on the terminal.

`Reporter` also marks checkpoints as whole and stops a run at its time limit.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from transformers import TrainerCallback

from train.environment import is_main_process
from train.runs.checkpoints import mark_checkpoint
from train.runs.folder import LOG, RunFolder

# logged figures that the terminal shows, in this order
SHOWN: Final = {
    "eval_rewards/accuracy/mean": ("probe set correct", "{:.1%}"),
    "loss": ("loss", "{:.4f}"),
    "mean_token_accuracy": ("token accuracy", "{:.3f}"),
    "reward": ("reward", "{:.3f}"),
    "accuracy": ("correct", "{:.1%}"),
    "groups/mixed": ("mixed groups", "{:.0%}"),
    "completions/mean_length_correct": ("tokens correct", "{:.0f}"),
    "completions/mean_length_wrong": ("wrong", "{:.0f}"),
    "entropy": ("entropy", "{:.3f}"),
    "curriculum/active": ("active", "{:.0f}"),
    "curriculum/retired": ("retired", "{:.0f}"),
}


class Reporter(TrainerCallback):  # type: ignore[misc]  # transformers has no types
    """Writes the log, marks checkpoints, and stops the run after `max_time_s`."""

    def __init__(self, run: RunFolder, *, max_time_s: float | None = None) -> None:
        self._run, self._max_time_s = run, max_time_s
        self._start_s = time.monotonic()

    def on_log(self, args: Any, state: Any, control: Any, logs: Mapping[str, Any], **_: Any) -> None:
        """Write one JSON line to the run folder and one short line to the terminal."""
        elapsed_s = round(time.monotonic() - self._start_s, 1)
        self._run.append(LOG, {"step": state.global_step, "elapsed_s": elapsed_s, **logs})
        if is_main_process() and "train_runtime" not in logs:
            sys.stdout.write(log_line(state.global_step, state.max_steps, logs, elapsed_s) + "\n")
            sys.stdout.flush()

    def on_save(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """Mark the checkpoint, now complete, as whole."""
        if is_main_process():
            mark_checkpoint(Path(args.output_dir) / f"checkpoint-{state.global_step}", state.global_step)

    def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """Stop the run at its time limit; the first process's clock decides for all."""
        if self._max_time_s is not None:
            from accelerate.utils import broadcast_object_list

            is_over = [time.monotonic() - self._start_s > self._max_time_s]
            broadcast_object_list(is_over)
            control.should_training_stop = control.should_training_stop or is_over[0]


def log_line(step: int, max_steps: int, logs: Mapping[str, Any], elapsed_s: float) -> str:
    """`step 40/200  loss 0.1234  reward 0.512 ...  81 s`: only the figures in `logs`."""
    shown = [
        f"{label} {form.format(logs[name])}" for name, (label, form) in SHOWN.items() if logs.get(name) is not None
    ]
    return "  ".join([f"step {step}/{max_steps}", *shown, f"{elapsed_s:.0f} s"])
