"""Log of a run: a JSON line per logged step in the run folder, and a short line and a progress bar on the terminal.

`Reporter` also marks checkpoints as whole, and stops a run at its time limit or on a signal.
"""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Mapping
from typing import Any, Final

from transformers import TrainerCallback

from curate.progress import Progress
from train.environment import is_main_process, num_processes
from train.runs.checkpoints import drop_old
from train.runs.folder import LOG, PROBE, RunFolder
from train.runs.output.cautions import Cautions
from train.runs.output.log_lines import CLOSING
from train.runs.stopping import StopRequest

# logged figures that the terminal shows, in this order
SHOWN: Final = {
    "eval_rewards/accuracy/mean": ("probe set correct", "{:.1%}"),
    "loss": ("loss", "{:.4f}"),
    "mean_token_accuracy": ("token accuracy", "{:.3f}"),
    "reward": ("reward", "{:.3f}"),
    "accuracy": ("correct", "{:.1%}"),
    "completions/clipped_ratio": ("cut off", "{:.0%}"),
    "groups/mixed": ("mixed groups", "{:.0%}"),
    "completions/mean_length_correct": ("tokens correct", "{:.0f}"),
    "completions/mean_length_wrong": ("wrong", "{:.0f}"),
    "entropy": ("entropy", "{:.3f}"),
    "curriculum/active": ("active", "{:.0f}"),
    "curriculum/retired": ("retired", "{:.0f}"),
}


class Reporter(TrainerCallback):  # type: ignore[misc]  # transformers has no types
    """Writes the log, marks checkpoints, and stops the run after `max_time_s` or on a signal.

    steps_per_draw: a signal stops the run after a multiple of it, since a generation is in no checkpoint.
    """

    def __init__(
        self, run: RunFolder, *, keep_checkpoints: int, max_time_s: float | None = None, steps_per_draw: int = 1
    ) -> None:
        self._run, self._max_time_s, self._steps_per_draw = run, max_time_s, steps_per_draw
        self._keep = keep_checkpoints
        self._start_s = time.monotonic()
        self._progress: Progress | None = None
        self._cautions = Cautions()
        self.request = StopRequest()
        # the signal that stopped the run, agreed on by all processes
        self.stopped_by: int | None = None

    def on_train_begin(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """Use the intervals of this start, in place of those in the checkpoint, and show the progress bar."""
        state.compute_steps(args, state.max_steps)
        if is_main_process():
            self._progress = Progress("step", state.max_steps, num_before=state.global_step, delay_s=0)
            self._progress.tick(0)

    def on_log(self, args: Any, state: Any, control: Any, logs: Mapping[str, Any], **_: Any) -> None:
        """Write one JSON line to the run folder and one short line to the terminal."""
        if self.stopped_by is not None and CLOSING in logs:
            return  # the summary of a part of the run
        elapsed_s = round(time.monotonic() - self._start_s, 1)
        benchmark = evaluated(logs)
        if benchmark is not None:
            logs = of_benchmark(benchmark, logs)
        self._run.append(LOG, {"step": state.global_step, "elapsed_s": elapsed_s, **logs})
        # the figures of a benchmark have a line of their own, with an interval
        if is_main_process() and CLOSING not in logs and benchmark in (None, PROBE):
            lines = [log_line(state.global_step, state.max_steps, logs, elapsed_s), *self._cautions.due(logs)]
            sys.stdout.write("\n".join(lines) + "\n")
            sys.stdout.flush()

    def on_save(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """Mark the checkpoint, now complete on all processes, as whole, and remove old ones."""
        if num_processes() > 1:
            from accelerate import PartialState

            PartialState().wait_for_everyone()
        if is_main_process():
            self._run.mark_checkpoint(state.global_step)
            drop_old(self._run.folder, self._keep, state.best_model_checkpoint)

    def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """Log the last step; stop at the time limit and on a signal, with a checkpoint."""
        if self._progress is not None:
            self._progress.tick()
        is_over = self._max_time_s is not None and time.monotonic() - self._start_s > self._max_time_s
        over, signals = _of_all(is_over, self.request.signal)
        if over or state.global_step >= state.max_steps:
            control.should_log = True
        if over:
            control.should_training_stop = control.should_save = True
        elif signals and state.global_step % self._steps_per_draw == 0 and state.global_step < state.max_steps:
            # no log line: after the resume there is one for the whole window
            self.stopped_by = signals[0]
            control.should_training_stop = control.should_save = True

    def close(self) -> None:
        """Remove the progress bar."""
        if self._progress is not None:
            self._progress.__exit__(None, None, None)
            self._progress = None


def evaluated(logs: Mapping[str, Any]) -> str | None:
    """The name of the one of several evaluation sets that a log is about; None for another log."""
    names = [match[1] for name in logs if (match := re.fullmatch(r"eval_(.+)_runtime", name))]
    return names[0] if names else None


def of_benchmark(benchmark: str, logs: Mapping[str, Any]) -> dict[str, Any]:
    """A log of one evaluation set with its name in every figure; that of the probe set has none."""
    own, plain = f"eval_{benchmark}_", "eval_" if benchmark == PROBE else f"eval_{benchmark}/"
    bare = {name: name.removeprefix(own if name.startswith(own) else "eval_") for name in logs}
    return {plain + bare[name] if name.startswith("eval_") else name: value for name, value in logs.items()}


def _of_all(is_over: bool, signal: int | None) -> tuple[bool, list[int]]:
    """Whether the first process's clock is over the limit, and the signals that reached any process."""
    if num_processes() == 1:
        return is_over, [signal] if signal else []
    from accelerate.utils import gather_object

    found = gather_object([(is_over, signal)])
    return found[0][0], [number for _, number in found if number]


def log_line(step: int, max_steps: int, logs: Mapping[str, Any], elapsed_s: float) -> str:
    """`step 40/200  loss 0.1234  reward 0.512 ...  81 s`: only the figures in `logs`."""
    shown = [
        f"{label} {form.format(logs[name])}" for name, (label, form) in SHOWN.items() if logs.get(name) is not None
    ]
    return "  ".join([f"step {step}/{max_steps}", *shown, f"{elapsed_s:.0f} s"])
