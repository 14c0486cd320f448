"""Supervised fine-tuning on prompts with completions: the cold start before reinforcement learning.

Rows are `prompt` + `completion`, or `messages`. Prompts become messages exactly as in measuring difficulty and in
GRPO (`curate.engines.prompts`), and only the text that the model itself must write is learned.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any, ClassVar, Final

import polars as pl
from pydantic import Field, PositiveInt

from curate.engines.prompts import template_switches
from curate.errors import UserError
from curate.options import Maps
from curate.records import with_all_columns
from train.data.examples import COMPLETION, read_examples
from train.data.prompts import trl_prompt
from train.data.rows import Rows, need_columns
from train.memory.estimate import Case, Load
from train.runs.command_line import DataFile, Force, Model, Out
from train.runs.frame import Classes, Job, Material, Parts, Start, Training, run_training
from train.runs.settings import TAKEN
from train.runs.starting_model import settled
from train.tuning.settings import TuningConfig

Example = dict[str, Any]  # Any: a row of TRL's dataset: text, messages, or arguments of the chat template
OWN: Final = TAKEN | {"max_length", "packing", "assistant_only_loss", "completion_only_loss"}


class SftConfig(TuningConfig):
    """Fine-tune a model on prompts with completions.

    Data has the columns `prompt` and `completion`, or `messages`, or others that `gradus curate ingest` detects as
    problem and solution; --map prompt=COLUMN and --map solution=COLUMN name them. Only the completion (of `messages`:
    the assistant's turns) is learned. After a stop, the same command resumes from its last checkpoint. The model is
    written to OUT/model.

    Example: gradus train sft --model toy --data cold_start.jsonl --out runs/sft --batch-size 128 --learning-rate 2e-3
    """

    panel: ClassVar[str] = "Training"

    max_tokens: PositiveInt = Field(1024, description="Maximum tokens of an example; longer ones are cut at the end.")
    packing: bool = Field(False, description="Fill each row with several examples; needs FlashAttention.")
    completion_column: str = Field(COMPLETION, description="Column with the completions to learn.")

    def load(self, case: Case) -> Load | None:
        """See `TrainerConfig`: an example may be as long as allowed, and every token has logits."""
        return self.shared_load(case, self.max_tokens, self.max_tokens)


def sft(
    model: Model,
    data: DataFile,
    out: Out,
    config: SftConfig,
    force: Force = False,
    maps: Maps = [],  # noqa: B006  # typer copies it
) -> None:
    """Train and write the model to `out/model`."""
    fine_tune(Job("sft", model, data, out, force), read_examples(data, config.completion_column, maps), config)


def fine_tune(job: Job, rows: Rows, config: SftConfig) -> None:
    """Fine-tune on rows of prompts with completions, in a run folder of the job's command."""
    run_training(
        job,
        Training(
            config=config,
            sequences_per_step=config.batch_size,
            read=lambda: Material(to_examples(rows.frame, config, job.data), rows.digest),
            classes=_classes,
            parts=partial(_parts, config),
            own=OWN,
            max_time_s=config.max_time_s,
        ),
    )


def to_examples(frame: pl.DataFrame, config: SftConfig, data: Path) -> list[Example]:
    """TRL's rows: `messages`, or `prompt` + `completion` as conversation (chat) or as text (raw).

    Beside a prompt, `messages` as text are the turns of a problem that is a conversation (`records.PROBLEM`).
    """
    if frame.schema.get("messages", pl.String()) != pl.String():
        return frame.select("messages").to_dicts()
    need_columns(frame, ("prompt", config.completion_column), data)
    filled = frame.filter(pl.col("prompt").is_not_null() & pl.col(config.completion_column).is_not_null())
    if filled.is_empty():
        raise UserError(f"{data}: no row has a {config.completion_column}; name another --completion-column")
    rows = with_all_columns(filled).select("prompt", "messages", config.completion_column).iter_rows()
    return [_example(trl_prompt(prompt, config.prompt, turns), completion) for prompt, turns, completion in rows]


def _example(asked: list[dict[str, str]] | str, completion: str) -> Example:
    if isinstance(asked, str):
        return {"prompt": asked, "completion": completion}
    return {"prompt": asked, "completion": [{"role": "assistant", "content": completion}]}


def _classes() -> Classes:
    from trl import SFTConfig, SFTTrainer

    return Classes(SFTTrainer, SFTConfig)


def _parts(config: SftConfig, examples: list[Example], start: Start) -> Parts:
    from datasets import Dataset

    switches = template_switches(settled(config.prompt, start.model))
    if switches and config.prompt.prompt_format == "chat":
        examples = [{**example, "chat_template_kwargs": switches} for example in examples]
    arguments = {
        "max_length": config.max_tokens,
        "packing": config.packing,
        "assistant_only_loss": "messages" in examples[0],
    }
    return Parts(arguments, Dataset.from_list(examples))
