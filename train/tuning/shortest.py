"""Long-to-short training on a model's own shortest right answers (Kimi k1.5, 2501.12599, sec. 2.4)."""

from __future__ import annotations

from functools import partial
from typing import Any, Final, Literal

import polars as pl
from pydantic import Field, PositiveInt

from train.data.prompts import trl_prompt
from train.data.rows import Rows
from train.data.selection import preference_pairs, shortest_right_answers
from train.memory.estimate import Case, Load
from train.runs.command_line import DataFile, Force, Model, Out
from train.runs.frame import Classes, Job, Material, Parts, Start, Training, loss_and_time, run_training
from train.runs.settings import TAKEN
from train.tuning.sft import SftConfig, fine_tune

OWN: Final = TAKEN | {"beta", "max_length"}


class ShortestConfig(SftConfig):
    """Shorten a model's answers and keep them right.

    Data is an artifact with samples of this model. With sft it learns its shortest right answer to a problem; with dpo
    it learns to prefer that to longer wrong answers and to much longer right ones. The model is written to OUT/model.

    Example: gradus train shortest --model runs/grpo/model --data runs/difficulty --out runs/short --method dpo
    """

    method: Literal["sft", "dpo"] = Field("sft", description="Fine-tune on the shortest, or learn to prefer them.")
    min_right: PositiveInt = Field(2, description="With sft: right answers that a problem needs to be used.")
    ratio: float = Field(
        1.5, gt=1, description="With dpo: right answers at least this many times as long are rejected."
    )
    dpo_beta: float = Field(0.1, gt=0, description="With dpo: strength of the constraint to the initial model.")

    def load(self, case: Case) -> Load | None:
        """See `TrainerConfig`: pairs of sequences and their reference are not estimated."""
        return super().load(case) if self.method == "sft" else None


def shortest(model: Model, data: DataFile, out: Out, config: ShortestConfig, force: Force = False) -> None:
    """Train and write the model to `out/model`."""
    job = Job("shortest", model, data, out, force)
    if config.method == "sft":
        fine_tune(job, shortest_right_answers(data, config.min_right), config)
    else:
        _prefer(job, preference_pairs(data, config.ratio), config)


def _prefer(job: Job, rows: Rows, config: ShortestConfig) -> None:
    pairs = "1 pair" if rows.frame.height == 1 else f"{rows.frame.height:,} pairs"
    run_training(
        job,
        Training(
            config=config,
            sequences_per_step=config.batch_size,
            read=lambda: Material(rows.frame, rows.digest),
            classes=_classes,
            parts=partial(_parts, config),
            own=OWN,
            max_time_s=config.max_time_s,
            closing=lambda metrics: f"{pairs}  {loss_and_time(metrics)}",
        ),
    )


def _classes() -> Classes:
    from trl import DPOConfig, DPOTrainer

    return Classes(DPOTrainer, DPOConfig)


def _parts(config: ShortestConfig, pairs: pl.DataFrame, _: Start) -> Parts:
    from datasets import Dataset

    arguments = {"beta": config.dpo_beta, "max_length": config.max_tokens}
    return Parts(arguments, Dataset.from_list([_pair(row, config) for row in pairs.iter_rows(named=True)]))


def _pair(row: dict[str, Any], config: ShortestConfig) -> dict[str, Any]:
    asked = trl_prompt(row["prompt"], config.prompt, row["messages"])
    if config.prompt.prompt_format == "raw":
        return {"prompt": asked, "chosen": row["chosen"], "rejected": row["rejected"]}
    answers = {name: [{"role": "assistant", "content": row[name]}] for name in ("chosen", "rejected")}
    return {"prompt": asked, **answers}
