"""Renders a problem to tokens with the tokenizer of a local model; shared by the engines in this process."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from jinja2 import TemplateError

from curate.engines.config import EngineConfig
from curate.engines.prompts import messages, open_think, prefill, raw_text, template_switches
from curate.engines.protocol import PromptTooLong, Request
from curate.errors import UserError

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
    is_chat = config.prompt_format == "chat"
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
    if config.max_model_len is not None and len(tokens) + most > config.max_model_len:
        raise PromptTooLong(f"{len(tokens)} + {most} > {config.max_model_len} tokens")
    return Rendered(tokens, prefix, most)


def skips_special(tokenizer: Any) -> bool:
    """Whether completions omit special tokens: yes, unless the think marks are among them."""
    return not set(THINK_MARKS) & set(tokenizer.all_special_tokens)


def _chat_text(request: Request, config: EngineConfig, tokenizer: Any) -> str:
    try:
        return str(
            tokenizer.apply_chat_template(
                messages(request.prompt, config, request.messages),
                tokenize=False,
                add_generation_prompt=True,
                **template_switches(config),
            )
        )
    except (TemplateError, TypeError, ValueError, KeyError, AttributeError) as error:
        raise UserError(
            f"{config.model}: its chat template fails on problem {request.key} "
            f"({' '.join(str(error).split())}); correct the template or use --prompt-format raw"
        ) from error
