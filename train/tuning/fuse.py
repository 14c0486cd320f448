"""Thinking-mode fusion: one model that reasons or answers directly, by flag (Qwen3, 2505.09388, sec. 4.3).

Each example with reasoning becomes two: one with /think, and one with /no_think and an empty think block. Some prompts
also contain earlier flags, which the last one overrides.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import polars as pl
from pydantic import Field, PositiveInt

from curate.engines.prompts import EMPTY_THINK
from curate.errors import UserError
from curate.records import transcript, turns_of, with_all_columns
from train.data.examples import read_examples
from train.data.flags import NO_THINK, THINK, flagged
from train.data.rows import NoColumnError, Rows, need_columns
from train.data.selection import right_answers
from train.runs.command_line import DataFile, Force, Model, Out
from train.runs.frame import Job
from train.tuning.sft import SftConfig, fine_tune


class FuseConfig(SftConfig):
    """Teach a model to reason or answer directly, by flags.

    Data has `prompt` and a completion `<think>...</think>answer`, or is an artifact with samples, as `gradus curate
    difficulty` writes it: its right answers are the completions. Each becomes two examples, with /think and /no_think;
    in the second the think block is empty. The last flag in a prompt applies; a prompt without a flag is answered with
    reasoning.

    Example: gradus train fuse --model runs/grpo/model --data thought.jsonl --out runs/fused
    """

    unflagged_rate: float = Field(0.3, ge=0, le=1, description="Share of thinking examples without a flag.")
    overruled_rate: float = Field(0.2, ge=0, le=1, description="Share of examples with earlier flags to override.")
    per_problem: PositiveInt = Field(4, description="With an artifact: maximum number of right answers per problem.")


class Fused(NamedTuple):
    """One example of a mode; `messages` are the turns of a problem that is a conversation, else None."""

    prompt: str
    completion: str
    messages: str | None = None


def fuse(model: Model, data: DataFile, out: Out, config: FuseConfig, force: Force = False) -> None:
    """Train and write the model to `out/model`."""
    rows = _thoughts(data, config)
    filled = with_all_columns(rows.frame).drop_nulls(["prompt", config.completion_column])
    triples = filled.select("prompt", config.completion_column, "messages").iter_rows()
    examples = [example for triple in triples for example in fused(*triple, config=config)]
    if not examples:
        raise UserError(f"{data}: no completion is <think>...</think>answer; sample a model that reasons")
    column = config.completion_column
    names = ("prompt", column, "messages")
    frame = pl.DataFrame(examples, schema=dict.fromkeys(names, pl.String()), orient="row")
    fine_tune(Job("fuse", model, data, out, force), Rows(frame, rows.digest), config)


def _thoughts(data: Path, config: FuseConfig) -> Rows:
    """Prompts with completions: the right answers among an artifact's samples, else the rows of the data."""
    if (data / "samples").is_dir():
        return right_answers(data, config.per_problem)
    try:
        rows = read_examples(data, config.completion_column)
    except NoColumnError:
        raise UserError(
            f"{data}: has neither a column {config.completion_column!r} nor samples; name another --completion-column, "
            "or give the output of gradus curate difficulty"
        ) from None
    need_columns(rows.frame, ("prompt", config.completion_column), data)
    return rows


def fused(prompt: str, completion: str, conversation: str | None = None, *, config: FuseConfig) -> Iterator[Fused]:
    """The thinking and the non-thinking example of a row; none where it lacks closed reasoning and an answer."""
    thought, end, answer = completion.partition("</think>")
    if not end or not answer.strip() or not thought.lstrip().startswith("<think>"):
        return
    chance = random.Random(f"{config.seed}:{prompt}")
    is_unflagged = chance.random() < config.unflagged_rate
    turns = turns_of(conversation)
    question = turns[-1]["content"] if turns else prompt

    def example(question: str, completion: str) -> Fused:
        if not turns:
            return Fused(question, completion)
        asked = [*turns[:-1], {**turns[-1], "content": question}]
        return Fused(transcript(asked), completion, json.dumps(asked, ensure_ascii=False))

    yield example(question if is_unflagged else flagged(question, THINK, config.overruled_rate, chance), completion)
    yield example(flagged(question, NO_THINK, config.overruled_rate, chance), EMPTY_THINK + answer.lstrip())
