"""Renders a problem to tokens with the tokenizer of a local model; shared by the engines in this process."""

from __future__ import annotations

import json
from functools import cache
from typing import Any, Final, NamedTuple

from jinja2 import TemplateError

from curate.engines.config import EngineConfig
from curate.engines.prompts import messages, open_think, prefill, raw_text, template_switches
from curate.engines.protocol import PromptTooLong, Request
from curate.errors import UserError
from curate.progress import announce

THINK_MARKS: Final = ("<think>", "</think>")


class Rendered(NamedTuple):
    """A prompt as tokens, the end that belongs to the completion (an open `<think>`), and the token limit."""

    tokens: list[int]
    prefix: str
    max_tokens: int


def render(
    request: Request, config: EngineConfig, tokenizer: Any
) -> Rendered:  # Any: transformers stays in the engines
    """Render a problem with the chat template or the plain template.

    Raises `PromptTooLong` if prompt and `max_tokens` exceed the context, `UserError` if the template fails.
    """
    is_chat = config.prompt_format == "chat" or request.chat is not None
    text = _chat_text(request, config, tokenizer) if is_chat else raw_text(request.prompt, config, request.messages)
    prefix = open_think(text)
    if (block := prefill(config)) and prefix:
        # the template opened a think block itself: close it
        text, prefix = f"{text.rstrip()}\n\n</think>\n\n", ""
    else:
        text += block
    if request.written:
        text, prefix = text + request.written.removeprefix(prefix), request.written
    # a chat template writes its own begin-of-text token
    tokens: list[int] = tokenizer.encode(text, add_special_tokens=not is_chat, verbose=False)
    most = request.max_tokens or config.max_tokens
    if request.chat is not None and config.max_model_len is not None:
        most = max(1, min(most, config.max_model_len - len(tokens)))
    if config.max_model_len is not None and len(tokens) + most > config.max_model_len:
        raise PromptTooLong(f"{len(tokens)} + {most} > {config.max_model_len} tokens")
    return Rendered(tokens, prefix, most)


def skips_special(tokenizer: Any) -> bool:
    """Whether completions omit special tokens: yes, unless the think marks are among them."""
    return not set(THINK_MARKS) & set(tokenizer.all_special_tokens)


def _chat_text(request: Request, config: EngineConfig, tokenizer: Any) -> str:
    under_way = json.loads(request.chat) if request.chat else {}
    turns = under_way.get("messages") or messages(request.prompt, config, request.messages)
    # a template may take an empty list of tools for some tools
    tools = {"tools": under_way["tools"]} if under_way.get("tools") else {}
    if tools and "tools" not in str(tokenizer.chat_template):
        _warn_of_hidden_tools(config.model)
    try:
        return str(
            tokenizer.apply_chat_template(
                turns, tokenize=False, add_generation_prompt=True, **tools, **template_switches(config)
            )
        )
    except (TemplateError, TypeError, ValueError, KeyError, AttributeError) as error:
        raise UserError(
            f"{config.model}: its chat template fails on problem {request.key} "
            f"({' '.join(str(error).split())}); correct the template or use --prompt-format raw"
        ) from error


@cache
def _warn_of_hidden_tools(model: str) -> None:
    told = "name them in --system, unless the model knows them from training"
    announce(f"warning: the chat template of {model} does not show tools; {told}")
