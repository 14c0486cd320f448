"""Starting model of a run, checked by its files before any weight is loaded."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from curate.engines.model_files import chat_template, context_tokens, knows_think, model_folder
from curate.engines.prompts import PromptConfig, settle_thinking
from curate.errors import UserError
from train.data.lengths import Room


def find_model(model: str, prompt: PromptConfig, *, max_tokens: int = 0) -> Path:
    """Folder of a model that supports these prompt settings; `UserError` names what it lacks.

    max_tokens: completion tokens, which must fit the model's context beside a prompt.
    """
    folder = model_folder(model)
    template = chat_template(folder)
    if prompt.prompt_format == "chat" and template is None:
        raise UserError(f"{model}: has no chat template; use --prompt-format raw, or add a chat_template.jinja")
    if prompt.thinking == "on" and prompt.prompt_format == "chat" and "enable_thinking" not in (template or ""):
        raise UserError(f"{model}: its chat template has no enable_thinking; leave --thinking at default")
    context = context_tokens(folder)
    if context is not None and max_tokens >= context:
        raise UserError(f"--max-tokens is {max_tokens}; a context of {context} tokens leaves no room for a prompt")
    return folder


def room_of(folder: Path, trl: Mapping[str, Any], max_tokens: int) -> Room:  # Any: values of TRL's fields
    """Room for prompt and completion: the model's context, or vLLM's where `trl` makes that smaller."""
    limits = [limit for limit in (context_tokens(folder), trl.get("vllm_max_model_length")) if limit]
    return Room(min(limits, default=None), max_tokens)


def settled(prompt: PromptConfig, folder: Path) -> PromptConfig:
    """The prompt settings with thinking switched in the way that this model supports."""
    return settle_thinking(prompt, chat_template(folder), knows_think=knows_think(folder))


def load_tokenizer(folder: Path) -> Any:  # Any: transformers has no types
    """The tokenizer, or `UserError` where it is unreadable or has no pad token."""
    from transformers import AutoTokenizer

    try:
        tokenizer = AutoTokenizer.from_pretrained(folder)
    except (OSError, ValueError) as error:
        reason = str(error).strip().splitlines()[0]
        raise UserError(f"{folder}: no usable tokenizer ({reason}); give the folder of a whole model") from None
    if tokenizer.pad_token is None:
        raise UserError(
            f"{folder}: its tokenizer has no pad token; set pad_token in tokenizer_config.json to a token that occurs "
            "in no text and is not the end-of-text token"
        )
    return tokenizer
