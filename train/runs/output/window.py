"""The open log window in each checkpoint, so that a resumed run writes the same log lines.

A log line averages over the steps since the last one. A checkpoint between two lines would lose those of its window.

checkpoint-N/window.json    for each process: sums and figures since the last log line, and totals since the start
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from transformers import TrainerCallback

from curate.artifacts.manifest import write_atomic
from train.environment import is_main_process

WINDOW: Final = "window.json"
# attributes of the trainers of transformers and TRL, which offer no other way to them
LOSS: Final = "_tr_loss"
FIGURES: Final = "_metrics"
TOTALS: Final = {
    "total_loss": "_total_loss_scalar", "last_logged": "_globalstep_last_logged", "num_tokens": "_total_train_tokens",
}  # fmt: skip


class LogWindow(TrainerCallback):  # type: ignore[misc]  # transformers has no types
    """Saves and restores the log window of `trainer`, which is set once that is built."""

    trainer: Any = None  # Any: trl has no types

    def on_save(self, args: Any, state: Any, *_: Any, **__: Any) -> None:
        """Write the window into the checkpoint; every process takes part."""
        from accelerate.utils import gather_object

        windows = gather_object([window_of(self.trainer)])
        if is_main_process():
            path = Path(args.output_dir) / f"checkpoint-{state.global_step}" / WINDOW
            write_atomic(path, (json.dumps(windows) + "\n").encode())

    def on_train_begin(self, args: Any, state: Any, *_: Any, **__: Any) -> None:
        """Restore the window of the checkpoint from which the run resumes, if it has one."""
        self.on_evaluate()
        path = Path(args.output_dir) / f"checkpoint-{state.global_step}" / WINDOW
        if not path.is_file():
            return
        windows = json.loads(path.read_text())
        process = self.trainer.accelerator.process_index
        # with more processes than before, the others begin an empty window
        if process < len(windows):
            restore(self.trainer, windows[process])

    def on_evaluate(self, *_: Any, **__: Any) -> None:
        """Training goes on: TRL takes the last window for an evaluation's while the model is in that mode."""
        self.trainer.model.train()


def window_of(trainer: Any) -> dict[str, Any]:
    """The log window of a trainer as JSON values, NaN as null."""
    held = vars(trainer)
    figures: Mapping[str, list[Any]] = held.get(FIGURES, {}).get("train", {})
    return {
        "loss": held[LOSS].item(),
        "figures": {name: [_finite(float(value)) for value in values] for name, values in figures.items()},
        **{name: held[field] for name, field in TOTALS.items() if field in held},
    }


def restore(trainer: Any, window: Mapping[str, Any]) -> None:
    """Set a trainer's log window; call it after the trainer has reset its own."""
    held = vars(trainer)
    held[LOSS] += window["loss"]
    held.update({field: window[name] for name, field in TOTALS.items() if name in window and field in held})
    if FIGURES in held:
        for name, values in window["figures"].items():
            held[FIGURES]["train"][name] = [math.nan if value is None else value for value in values]


def _finite(value: float) -> float | None:
    return None if math.isnan(value) else value
