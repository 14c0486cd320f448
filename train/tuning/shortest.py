"""Long to short: teach a model its own shortest right answers (Kimi k1.5, 2501.12599, sec. 2.4)."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final, Literal

import typer
from pydantic import Field, PositiveInt

from curate.engines.prompts import messages
from train.data.rows import Rows
from train.data.selection import preference_pairs, shortest_right_answers
from train.runs.command_line import DataFile, Force, Model, Out
from train.runs.folder import RunFolder
from train.runs.running import identify, lora, train_and_save
from train.runs.settings import TAKEN, check_passthrough, check_split, shared_arguments
from train.runs.starting_model import find_model, load_tokenizer
from train.tuning.sft import Job, SftConfig, fine_tune

OWN: Final = TAKEN | {"beta", "max_length"}


class ShortestConfig(SftConfig):
    """Shorten a model's answers and keep them right.

    Data is an artifact with samples of this model. By sft it learns its shortest right answer of a problem; by dpo it
    learns to prefer that to longer wrong answers and to right ones much longer. The model is left in OUT/model.

    Example: gradus train shortest --model runs/grpo/model --data runs/difficulty --out runs/short --method dpo
    """

    method: Literal["sft", "dpo"] = Field("sft", description="Fine-tune on the shortest, or prefer them.")
    min_right: PositiveInt = Field(2, description="By sft: right answers that a problem needs to count.")
    ratio: float = Field(1.5, gt=1, description="By dpo: so many times longer right answers are rejected.")
    dpo_beta: float = Field(0.1, gt=0, description="By dpo: how strongly the start is held on to.")


def shortest(model: Model, data: DataFile, out: Out, config: ShortestConfig, force: Force = False) -> None:
    """Train and leave the model in `out/model`."""
    job = Job("shortest", model, data, out, force)
    if config.method == "sft":
        fine_tune(job, shortest_right_answers(data, config.min_right), config)
    else:
        _prefer(job, preference_pairs(data, config.ratio), config)


def _prefer(job: Job, rows: Rows, config: ShortestConfig) -> None:
    check_split(config, config.batch_size)
    folder = find_model(job.model, config)
    with RunFolder(job.out, identify(job.command, job.model, job.data, rows.digest, config), force=job.force) as run:
        if run.is_finished():
            typer.echo(f"{run.model} (reused: same settings, model and data)")
            return
        metrics = train_and_save(_trainer(folder, rows, config, run), run)
        pairs = "1 pair" if rows.frame.height == 1 else f"{rows.frame.height:,} pairs"
        typer.echo(f"{run.model}  {pairs}  loss {metrics['train_loss']:.4f}  {metrics['train_runtime']:.0f} s")


def _trainer(model: Path, rows: Rows, config: ShortestConfig, run: RunFolder) -> Any:
    from train.runs.quiet import quiet

    quiet()
    from datasets import Dataset
    from trl import DPOConfig, DPOTrainer

    from train.runs.logs import Reporter

    check_passthrough(config.trl, DPOConfig, OWN)
    arguments = {
        **shared_arguments(config, run.folder, config.batch_size),
        "beta": config.dpo_beta,
        "max_length": config.max_tokens,
    }
    return DPOTrainer(
        model=str(model),
        args=DPOConfig(**arguments),
        train_dataset=Dataset.from_list([_pair(row, config) for row in rows.frame.iter_rows(named=True)]),
        processing_class=load_tokenizer(model),
        callbacks=[Reporter(run)],
        peft_config=lora(config),
    )


def _pair(row: dict[str, str], config: ShortestConfig) -> dict[str, Any]:
    asked = messages(row["prompt"], config)
    if config.prompt_format == "raw":
        return {"prompt": asked[-1]["content"], "chosen": row["chosen"], "rejected": row["rejected"]}
    answers = {name: [{"role": "assistant", "content": row[name]}] for name in ("chosen", "rejected")}
    return {"prompt": asked, **answers}
