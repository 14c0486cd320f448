"""Curriculum of a run: new, carried over from another run, or loaded from the run's last checkpoint."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import typer

from curate.artifacts.manifest import canonical_json
from curate.engines.model_files import model_digest
from curriculum import Curriculum
from curriculum.state.files import newest
from curriculum.statistics.stats import CANARY, HELD_OUT
from train.data.rows import Rows
from train.environment import is_main_process
from train.grpo.config import GrpoConfig
from train.runs.folder import RunFolder

SHOWN_KEYS = 5


def run_curriculum(rows: Rows, config: GrpoConfig, model: Path, run: RunFolder) -> Curriculum:
    """The curriculum over `rows`, bound to what its statistics depend on: data, model, sampling and prompt."""
    sampling = config.sampling.model_dump(mode="json", include={"max_tokens", "temperature", "top_p", "top_k"})
    sampling["group_size"] = config.generation.group_size
    prompt = config.prompt.model_dump(mode="json")
    binding = {
        "dataset": rows.digest,
        "model": model_digest(model),
        "sampling": canonical_json(sampling),
        "prompt": canonical_json(prompt),
        **config.agent_identity(),
    }
    if (checkpoint := run.checkpoint()) is not None:
        adopts = config.adopt_dataset
        found = Curriculum.load(checkpoint, rows.frame, config.curriculum, binding, adopt_dataset=adopts)
        if adopts and is_main_process():
            _print_adopted(found, checkpoint)
        return found
    if config.curriculum_from is not None:
        return Curriculum.continue_from(newest(config.curriculum_from), rows.frame, config.curriculum, binding)
    return Curriculum.create(rows.frame, config.curriculum, binding)


def print_small_pool(curriculum: Curriculum, num_slots: int, slots: str) -> None:
    """Warn where a draw of `num_slots` problems has to repeat some; `slots` is the option that sets their number."""
    num = len(curriculum.keys) - int(np.isin(curriculum.stats.status, (HELD_OUT, CANARY)).sum())
    if num < num_slots and is_main_process():
        each = f"up to {-(-num_slots // num)} times" if num > 1 else f"{num_slots} times"
        typer.echo(
            f"warning: {num:,} problem{'s' if num > 1 else ''} for draws of {num_slots:,}: each is in a draw {each}; "
            f"give more problems, or set {slots} to {num:,} or less"
        )


def print_notices(curriculum: Curriculum, step: int) -> None:
    """Print the outages of a step and the sources left out after it."""
    if is_main_process():
        for line in curriculum.notices():
            typer.echo(f"step {step}: {line}")


def _print_adopted(curriculum: Curriculum, checkpoint: Path) -> None:
    """Print the problems that joined and those that vanished since the checkpoint's dataset."""
    last = curriculum.history.events[-1] if curriculum.history.events else {}
    if last.get("event") != "adopted" or last["draw"] != curriculum.clock.draw_number:
        return
    for name in ("joined", "vanished"):
        keys = last[name]
        more = f" and {len(keys) - SHOWN_KEYS:,} more" if len(keys) > SHOWN_KEYS else ""
        shown = f": {', '.join(keys[:SHOWN_KEYS])}{more}" if keys else ""
        typer.echo(f"{checkpoint}: {len(keys):,} problems {name}{shown}")
