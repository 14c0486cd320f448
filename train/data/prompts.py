"""Problems as rows for TRL: the prompt in the model's format and the inputs of rewards; the ends of completions."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polars as pl

from curate.engines.prompts import PromptConfig, messages, open_think, raw_text
from curate.records import with_all_columns


def to_rows(problems: pl.DataFrame, config: PromptConfig, also: Sequence[str] = ()) -> list[dict[str, Any]]:
    """One row per problem: the prompt as conversation (chat) or text (raw), and the inputs of rewards.

    also: further columns for rewards, where the problems have them.
    """
    names = ("key", "prompt", "ground_truth", "kind", "tests", "proof", "source", *also)
    columns = problems.select(name for name in names if name in problems.columns).iter_rows(named=True)
    turns = with_all_columns(problems)["messages"]
    return [
        {**row, "question": row["prompt"], "prompt": trl_prompt(row["prompt"], config, messages)}
        for row, messages in zip(columns, turns, strict=True)
    ]


def trl_prompt(prompt: str, config: PromptConfig, conversation: str | None = None) -> list[dict[str, str]] | str:
    """A prompt in TRL's form: a conversation (chat) or a text (raw); `conversation` is the `messages` cell."""
    if config.prompt_format == "raw":
        return raw_text(prompt, config, conversation)
    return messages(prompt, config, conversation)


def opening(tokenizer: Any, switches: dict[str, bool]) -> str:  # Any: transformers has no types
    """Text that the chat template writes before every completion: `<think>`, or empty."""
    rendered = tokenizer.apply_chat_template(
        [{"role": "user", "content": "1+1"}], tokenize=False, add_generation_prompt=True, **switches
    )
    return open_think(rendered)


def end_ids(model: Path, tokenizer: Any) -> frozenset[int]:  # Any: transformers has no types
    """Ids of the tokens that end a completion, from the model's generation config and its tokenizer."""
    from transformers import GenerationConfig

    try:
        found = GenerationConfig.from_pretrained(model).eos_token_id
    except OSError:
        found = None
    listed = found if isinstance(found, list) else [found]
    return frozenset(token for token in (*listed, tokenizer.eos_token_id, tokenizer.pad_token_id) if token is not None)
