"""Which prompts leave room for a completion: counted before a model is loaded, written down, and named."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import polars as pl
import typer

from train.data.lengths import Prompt, Room, fitting, left_out, num_prompt_tokens, write_lengths
from train.environment import is_main_process
from train.runs.frame import Start


def which_fit(
    keys: pl.Series, prompts: Sequence[Prompt], room: Room, start: Start, switches: Mapping[str, bool]
) -> pl.Series:
    """Whether each prompt fits; `prompts.parquet` gets all lengths, and a line names those that do not.

    switches: arguments of the chat template. Raises `UserError` where no prompt fits.
    """
    table = fitting(keys, num_prompt_tokens(prompts, start.tokenizer, switches), room)
    line = left_out(table)
    if is_main_process():
        write_lengths(start.run.folder, table)
        if line is not None:
            typer.echo(line)
    return table["drop_reason"].is_null()
