r"""An engine with answers from a JSON file, for tests and dry runs: only the model is not real.

The file maps a problem's key or prompt, or `*` for all others, to completions:

    {"7 + 8": ["\\boxed{15}", "\\boxed{16}"],               sample i is the i-th, cyclically
     "2 + 2": {"pass_rate": 0.3, "right": "\\boxed{4}", "wrong": "\\boxed{5}"},   a seeded coin
     "*": [{"text": "I do not", "finish_reason": "length", "num_tokens": 32, "delay_s": 0.1}]}

A list in place of a text has the replies of an agent's episode, turn by turn; the last one is said again.
"""

from __future__ import annotations

import asyncio
import json
import random
from typing import Literal

from pydantic import Field, TypeAdapter, ValidationError

from curate.config import Config
from curate.engines.config import Settled
from curate.engines.prompts import raw_text
from curate.engines.protocol import Completion, PromptTooLong, Request
from curate.errors import UserError


class Line(Config):
    """One scripted completion."""

    text: str
    finish_reason: Literal["stop", "length"] = "stop"
    num_tokens: int | None = None
    delay_s: float = 0.0


class Coin(Config):
    """A completion that is `right` with probability `pass_rate`, decided by the request's seed."""

    pass_rate: float = Field(ge=0, le=1)
    right: str | list[str | Line]
    wrong: str | list[str | Line]


Script = dict[str, list[str | Line | list[str | Line]] | Coin]


class ScriptedEngine:
    """Answers from a script. With `max_model_len` it counts words as tokens and rejects long prompts."""

    def __init__(self, settled: Settled) -> None:
        self._config = settled.config
        self._identity = settled.identity
        try:
            text = self._config.script.read_text(encoding="utf-8") if self._config.script else ""
            self._script = TypeAdapter(Script).validate_python(json.loads(text))
        except (ValidationError, ValueError) as error:
            first = " ".join(str(error).split())
            raise UserError(f"{self._config.script}: not a script of answers ({first[:200]}); correct it") from None

    def identity(self) -> dict[str, str]:
        """See `Engine`."""
        return self._identity

    async def complete(self, request: Request) -> Completion:
        """See `Engine`."""
        num_words = len(raw_text(request.prompt, self._config, request.messages).split())
        limit = self._config.max_model_len
        if limit is not None and num_words + self._config.max_tokens > limit:
            raise PromptTooLong(f"{num_words} + {self._config.max_tokens} > {limit} tokens")
        line = self._line(request)
        # even without a delay other requests run, as with a real engine
        await asyncio.sleep(line.delay_s)
        num_tokens = len(line.text.split()) if line.num_tokens is None else line.num_tokens
        return Completion(request.key, request.index, line.text, num_tokens, line.finish_reason, request.seed)

    def close(self) -> None:
        """See `Engine`."""

    def _line(self, request: Request) -> Line:
        found = next((self._script[name] for name in (request.key, request.prompt, "*") if name in self._script), None)
        if not found:
            raise UserError(
                f"{self._config.script}: has no answer for {request.key} ({request.prompt[:60]!r}); add one"
            )
        if isinstance(found, Coin):
            # one coin for all turns of an episode
            is_right = random.Random((request.seed - request.turn) & 0x7FFFFFFF).random() < found.pass_rate
            entry: str | Line | list[str | Line] = found.right if is_right else found.wrong
        else:
            entry = found[request.index % len(found)]
        if isinstance(entry, list):
            entry = entry[min(request.turn, len(entry) - 1)]
        return entry if isinstance(entry, Line) else Line(text=entry)
