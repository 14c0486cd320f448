"""The protocol of engines, which complete seeded requests, many of them concurrently.

An engine is asynchronous and independent of grading, bands and files. `Request` is one sample to draw, `Completion`
one sample drawn. The caller bounds the requests in flight.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Protocol

from pydantic import Field

from curate.config import Config


class Sampling(Config):
    """How completions are drawn; every field decides the result."""

    panel: ClassVar[str] = "Sampling"

    max_tokens: int = Field(2048, ge=1, description="Maximum number of tokens of a completion.")
    temperature: float = Field(1.0, ge=0, description="Sampling temperature; 0 is greedy.")
    top_p: float = Field(1.0, gt=0, le=1, description="Nucleus sampling: probability mass that is sampled from.")
    top_k: int = Field(0, ge=0, description="Number of likeliest tokens that are sampled from; 0 means all.")
    stop: tuple[str, ...] = Field((), description="Text at which a completion ends; may be given several times.")


@dataclass(frozen=True)
class Request:
    """Sample `index` of the problem `key`: its prompt without template, and the seed it is drawn with.

    written: beginning of the completion; an engine in this process continues it and returns it in front.
    max_tokens: maximum number of tokens to generate; the engine's own if not set.
    messages: the turns of a problem that is a conversation, as `records.PROBLEM` holds them.
    kind, tests, proof: the problem's columns, for an engine in which an agent works on it.
    chat: a conversation under way, as a JSON object with `messages` and `tools`; it is rendered as it stands, with the
    model's template for tools, and `prompt` and `messages` are not. max_tokens then is a maximum, for which a context
    need not have room. turn: the replies that it holds.
    """

    key: str
    index: int
    prompt: str
    seed: int
    written: str = ""
    max_tokens: int | None = None
    messages: str | None = None
    kind: str = "math"
    tests: str | None = None
    proof: str | None = None
    chat: str | None = None
    turn: int = 0


@dataclass(frozen=True)
class Completion:
    """The completion of a request. `text` is whole: it begins with the `<think>` of the chat template, if it has one.

    finish_reason: `stop`, or `length` if it was cut at `max_tokens`.
    num_tokens: number of generated tokens.
    """

    key: str
    index: int
    text: str
    num_tokens: int
    finish_reason: str
    seed: int


class CannotAsk(Exception):  # noqa: N818  # a fact about one problem, not a fault
    """This problem gets no completion; `reason` is its drop code, the message the evidence."""

    reason = "not_asked"


class PromptTooLong(CannotAsk):
    """The prompt and `max_tokens` do not fit the model's context: `912 + 2048 > 2048 tokens`."""

    reason = "prompt_too_long"


class NotRecorded(CannotAsk):
    """The requested sample was never drawn, and there is no model to draw it."""

    reason = "undersampled"


class Engine(Protocol):
    """An inference backend. Open one with `open_engine`."""

    def identity(self) -> dict[str, str]:
        """The parameters that decide its completions: engine, model digest, sampling and prompt."""
        ...

    async def complete(self, request: Request) -> Completion:
        """The completion of one request.

        Raises `CannotAsk` for a problem that can never be completed, `UserError` if the engine cannot continue.
        """
        ...

    def close(self) -> None:
        """Release the model; requests in flight are lost."""
        ...
