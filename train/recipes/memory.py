"""Memory of a recipe's stages on the GPUs that it is written for: the arithmetic of its --dry-run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import polars as pl

from train.grpo.config import GrpoConfig
from train.memory.choice import chosen
from train.memory.devices import spread
from train.memory.estimate import Case, estimate
from train.memory.shape import Shape, shape_of
from train.recipes.plan import Gpus, Planned
from train.runs.frame import num_prompt_tokens
from train.runs.settings import TrainerConfig
from train.tuning.settings import TuningConfig


def memory_lines(gpus: Gpus, stages: Sequence[Planned], model: str | Path, problems: pl.DataFrame) -> Iterator[str]:
    """How several GPUs are started, and the memory of each training stage with the sequences of a pass that fit."""
    yield f"{gpus.num} GPU{'s' if gpus.num > 1 else ''} of {gpus.gb} GB{_started(gpus)}"
    if (shape := shape_of(model)) is None:
        yield "memory unknown without the model's config.json; give a folder as --model"
        return
    longest = num_prompt_tokens(int(str(problems["prompt"].str.len_bytes().max() or 0)))
    for stage in stages:
        if isinstance(stage.config, TrainerConfig):
            yield from (f"{stage.step.name}: {line}" for line in _of_stage(stage.config, gpus, shape, longest))


def _started(gpus: Gpus) -> str:
    if gpus.num == 1:
        return ""
    file = f"{gpus.sharding}.yaml"
    return (
        f"; gradus train accelerate-config {gpus.sharding} > {file}, then accelerate launch --config_file {file} "
        f"--num_processes {gpus.num} --no_python gradus train recipe ..."
    )


def _of_stage(config: TrainerConfig, gpus: Gpus, shape: Shape, longest: int) -> Sequence[str]:
    num = num_sampled = 0
    if isinstance(config, GrpoConfig):
        num, num_sampled = config.sequences_per_step, config.sequences_per_step * config.generation.updates
    elif isinstance(config, TuningConfig):
        num = config.batch_size
    load = config.load(Case(longest, num_sampled // gpus.num, is_gpu=True))
    if load is None or num % gpus.num:
        return ()
    found = estimate(shape, load, spread(gpus.num, gpus.gb * 10**9, gpus.sharding))
    return chosen(found, num // gpus.num, config.compute.micro_batch_size).lines
