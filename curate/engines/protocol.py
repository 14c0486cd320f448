"""What an engine is: something that answers one seeded request at a time, many of them at once.

An engine is asynchronous inside and knows nothing of grading, bands or files. `Request` is one sample that is owed,
`Completion` one that was paid for. Whoever holds an engine bounds the requests in flight.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from pydantic import Field

from curate.config import Config


class Sampling(Config):
    """How completions are drawn; all of it decides the result."""

    max_tokens: int = Field(2048, ge=1, description="Tokens at which a completion is cut off.")
    temperature: float = Field(1.0, ge=0, description="Sampling temperature; 0 is greedy.")
    top_p: float = Field(1.0, gt=0, le=1, description="Nucleus: share of probability that is sampled from.")
    top_k: int = Field(0, ge=0, description="Likeliest tokens that are sampled from; 0 means all.")
    stop: tuple[str, ...] = Field((), description="Text at which a completion ends; may be given several times.")


@dataclass(frozen=True)
class Request:
    """Sample `index` of the problem `key`: its prompt without template, and the seed it is drawn with.

    written: how the completion begins; an engine in this process goes on from there and gives it back in front.
    max_tokens: tokens to generate at most; the engine's own number, if not set.
    """

    key: str
    index: int
    prompt: str
    seed: int
    written: str = ""
    max_tokens: int | None = None


@dataclass(frozen=True)
class Completion:
    """What the model said. `text` is whole: a `<think>` that the chat template wrote stands in front of it.

    finish_reason: `stop`, or `length` where it was cut at `max_tokens`.
    num_tokens: tokens that were generated.
    """

    key: str
    index: int
    text: str
    num_tokens: int
    finish_reason: str
    seed: int


class CannotAsk(Exception):  # noqa: N818  # a fact about one problem, not a fault
    """This problem gets no completion; `reason` is the code it is dropped with, the text the evidence."""

    reason = "not_asked"


class PromptTooLong(CannotAsk):
    """The prompt and `max_tokens` do not fit the model's context: `912 + 2048 > 2048 tokens`."""

    reason = "prompt_too_long"


class NotRecorded(CannotAsk):
    """The sample that is wanted was never drawn, and there is no model to draw it."""

    reason = "undersampled"


class Engine(Protocol):
    """Something that completes prompts. Open one with `open_engine`."""

    def identity(self) -> dict[str, str]:
        """What decides its completions: engine, model digest, sampling and prompt parameters."""
        ...

    async def complete(self, request: Request) -> Completion:
        """The completion of one request.

        Raises `CannotAsk` for a problem that can never be completed, `UserError` where the engine itself cannot go on.
        """
        ...

    def close(self) -> None:
        """Let go of the model; requests in flight are lost."""
        ...
