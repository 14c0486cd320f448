"""Lengths of prompts in tokens, as the trainer renders them, and the prompts that leave no room for a completion.

A trainer meets a prompt that is too long only when it is drawn, perhaps after hours; and vLLM does not refuse it, but
cuts its completions short. So all prompts are counted before a model is loaded.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

import polars as pl
from jinja2 import TemplateError

from curate.artifacts.artifact import write_shard
from curate.errors import UserError

PROMPTS: Final = "prompts.parquet"
TOO_LONG: Final = "prompt_too_long"
CHUNK: Final = 1000
SHOWN: Final = 3
Prompt = list[dict[str, str]] | str


class Room(NamedTuple):
    """Tokens of the model's context, None if unknown, and of the longest completion."""

    context: int | None
    max_tokens: int


def num_prompt_tokens(
    prompts: Sequence[Prompt], tokenizer: Any, switches: Mapping[str, bool]
) -> list[int]:  # Any: transformers has no types
    """Tokens of each prompt, rendered as TRL's trainers do: conversations by the chat template, texts as they are.

    Gradus gives its trainers no tools, so the template has none here.
    """
    lengths: list[int] = []
    for start in range(0, len(prompts), CHUNK):
        lengths += map(len, _ids(list(prompts[start : start + CHUNK]), tokenizer, switches))
    return lengths


def fitting(keys: pl.Series, lengths: Sequence[int], room: Room) -> pl.DataFrame:
    """`key`, `num_prompt_tokens`, `drop_reason` and `drop_detail` of each prompt; the last two null where it fits."""
    table = pl.DataFrame(
        {"key": keys, "num_prompt_tokens": lengths}, schema={"key": pl.String, "num_prompt_tokens": pl.Int64}
    )
    if room.context is None:
        is_too_long = pl.lit(value=False)
    else:
        is_too_long = pl.col("num_prompt_tokens") + room.max_tokens > room.context
    detail = pl.format("{} + {} > {} tokens", "num_prompt_tokens", pl.lit(room.max_tokens), pl.lit(room.context))
    return table.with_columns(
        drop_reason=pl.when(is_too_long).then(pl.lit(TOO_LONG)), drop_detail=pl.when(is_too_long).then(detail)
    )


def write_lengths(folder: Path, table: pl.DataFrame) -> None:
    """Write the table of `fitting` into a run folder, for people who look for a problem that was left out."""
    write_shard(folder / PROMPTS, table)


def left_out(table: pl.DataFrame) -> str | None:
    """A line on the problems that do not fit, None where all do; `UserError` where none does."""
    dropped = table.filter(pl.col("drop_reason").is_not_null()).sort(
        "num_prompt_tokens", "key", descending=[True, False]
    )
    if dropped.is_empty():
        return None
    examples = [f"{key} ({detail})" for key, detail in dropped.select("key", "drop_detail").head(SHOWN).iter_rows()]
    more = f" and {dropped.height - SHOWN:,} more" if dropped.height > SHOWN else ""
    which = f"their prompts leave no room for a completion in the model's context: {', '.join(examples)}{more}"
    if dropped.height == table.height:
        raise UserError(f"all {table.height:,} problems are too long; {which}; lower --max-tokens")
    return f"{dropped.height:,} of {table.height:,} problems are left out; {which} (all in {PROMPTS})"


def _ids(prompts: list[Prompt], tokenizer: Any, switches: Mapping[str, bool]) -> list[list[int]]:
    if isinstance(prompts[0], str):
        texts: list[list[int]] = tokenizer(text=prompts, verbose=False)["input_ids"]
        return texts
    try:
        rendered: list[list[int]] = tokenizer.apply_chat_template(
            prompts, add_generation_prompt=True, tokenize=True, return_dict=True, **switches
        )["input_ids"]
    except (TemplateError, TypeError, ValueError, KeyError, AttributeError) as error:
        raise UserError(
            f"the model's chat template fails on a prompt ({' '.join(str(error).split())}); correct it, or use "
            "--prompt-format raw"
        ) from error
    return rendered
