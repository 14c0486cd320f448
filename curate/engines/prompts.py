"""Builds the model's input from a problem's prompt: the template around it, chat messages, thinking on or off.

Difficulty, no-think, training and evaluation all build their prompts here, so that a pass rate is measured on exactly
the text that is trained on. All functions are pure; `chat.py` renders chat templates, which needs a tokenizer.
"""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar, Final, Literal

from pydantic import Field, field_validator

from curate.config import Config
from curate.records import transcript, turns_of

EMPTY_THINK: Final = "<think>\n\n</think>\n\n"
ANSWER_ONLY: Final = "Do not reason or explain. Reply at once with the final answer only, in \\boxed{}."

# text around the problem by name; the first is the sentence that Qwen's models are evaluated with
TEMPLATES: Final = {
    "boxed": "{prompt}\n\nPlease reason step by step, and put your final answer within \\boxed{}.",
    "think_boxed": "{prompt}\n\nReason between <think> and </think>, then give the final answer within \\boxed{}.",
    "answer_only": "{prompt}\n\nGive the final answer only, within \\boxed{}.",
    "code": "{prompt}\n\nWrite a Python program that solves the problem, in one ```python block at the end.",
}

NoThinkBy = Literal["auto", "enable_thinking", "empty_think", "instruction"]


class PromptConfig(Config):
    """Options of the prompt that is built from a problem."""

    panel: ClassVar[str] = "Prompt"

    prompt_format: Literal["chat", "raw"] = Field("chat", description="The model's chat template, or plain text.")
    system: str | None = Field(None, description="System message, in chat format.")
    template: str = Field(
        "{prompt}",
        description="Text around the problem, which replaces {prompt}; @FILE reads it from a file; or a name: "
        f"{', '.join(TEMPLATES)}.",
    )
    thinking: Literal["default", "on", "off"] = Field(
        "default", description="Reasoning before the answer: on, off, or the default of the model's template."
    )
    no_think_by: NoThinkBy = Field(
        "auto",
        description="How thinking is switched off: the template's enable_thinking, an empty think block before the "
        "answer, or an instruction to answer only; auto is the first that the model supports.",
    )

    @field_validator("template", mode="before")
    @classmethod
    def _from_name_or_file(cls, template: str) -> str:
        if not isinstance(template, str) or not template.startswith("@"):
            return TEMPLATES.get(template, template) if isinstance(template, str) else template
        path = Path(template[1:])
        if not path.is_file():
            raise ValueError(f"there is no file {path}")
        return path.read_text(encoding="utf-8")

    @field_validator("template")
    @classmethod
    def _has_prompt(cls, template: str) -> str:
        if "{prompt}" not in template:
            raise ValueError(f"write {{prompt}} where the problem goes, or name one of {', '.join(TEMPLATES)}")
        return template


def raw_text(prompt: str, config: PromptConfig, conversation: str | None = None) -> str:
    """The problem inside the template, with the answer-only instruction if that switches thinking off.

    conversation: the `messages` cell of the problem; all its turns are in the text.
    """
    turns = turns_of(conversation)
    # replace, not format: problems and templates are full of LaTeX braces
    text = config.template.replace("{prompt}", transcript(turns) if turns else prompt)
    if config.thinking == "off" and config.no_think_by == "instruction":
        return f"{text}\n\n{ANSWER_ONLY}"
    return text


def messages(prompt: str, config: PromptConfig, conversation: str | None = None) -> list[dict[str, str]]:
    """The chat messages for a problem: an optional system message and the user's.

    conversation: the `messages` cell of the problem; its last turn alone, the question, is put in the template.
    The configured system message precedes that of the conversation, in one turn.
    """
    *before, question = turns_of(conversation) or [{"role": "user", "content": prompt}]
    user = {"role": "user", "content": raw_text(question["content"], config)}
    if config.system is None:
        return [*before, user]
    own = [turn["content"] for turn in before if turn["role"] == "system"]
    system = {"role": "system", "content": "\n\n".join([config.system, *own])}
    return [system, *(turn for turn in before if turn["role"] != "system"), user]


def prefill(config: PromptConfig) -> str:
    """The text before the completion: an empty think block, or nothing."""
    return EMPTY_THINK if config.thinking == "off" and config.no_think_by == "empty_think" else ""


def template_switches(config: PromptConfig) -> dict[str, bool]:
    """Arguments for the chat template: `enable_thinking` if thinking is on, or switched off by it."""
    if config.thinking == "on":
        return {"enable_thinking": True}
    is_off_here = config.thinking == "off" and config.no_think_by == "enable_thinking"
    return {"enable_thinking": False} if is_off_here else {}


def settle_thinking(config: PromptConfig, chat_template: str | None, *, knows_think: bool) -> PromptConfig:
    """`config` with `auto` replaced by the first way that this model supports.

    `chat_template` is its Jinja text; `knows_think` is whether `</think>` is in its vocabulary.
    """
    if config.thinking != "off" or config.no_think_by != "auto":
        return config
    is_chat = config.prompt_format == "chat"
    if is_chat and "enable_thinking" in (chat_template or ""):
        by: NoThinkBy = "enable_thinking"
    else:
        by = "empty_think" if knows_think else "instruction"
    return config.model_copy(update={"no_think_by": by})


def open_think(rendered: str) -> str:
    """The `<think>` that a template leaves open at the end of a rendered prompt, with what follows it; else nothing."""
    start = rendered.rfind("<think>")
    tail = rendered[start:] if start >= 0 else ""
    return tail if tail and not tail.removeprefix("<think>").strip() else ""
