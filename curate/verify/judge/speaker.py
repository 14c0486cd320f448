"""The client of the judge model, behind an OpenAI-compatible server: messages go in, a reply or None comes out.

It uses the server engine's client. Unlike an engine it gives up after a few tries: without a reply the verdict is
unchanged.
"""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from typing import Any, Final, Protocol

from curate.engines.openai_format import MALFORMED
from curate.engines.server import Answer, NoAnswer, ServerClient
from curate.errors import UserError
from curate.verify.judge.config import JudgeConfig

TRANSIENT: Final = (408, 409, 425, 429, 500, 502, 503, 504)
REFUSED: Final = (400, 401, 403, 404)


class Speaker(Protocol):
    """A model that replies to messages."""

    def say(self, messages: Sequence[dict[str, str]]) -> str | None:
        """The reply; None on a timeout, a server failure or a body without a reply."""
        ...

    def identity(self) -> dict[str, Any]:  # Any: JSON values
        """The settings that determine the replies."""
        ...

    def close(self) -> None:
        """Release its resources."""
        ...


class ServerSpeaker:
    """A model behind an OpenAI-compatible server; safe for several threads."""

    def __init__(self, config: JudgeConfig) -> None:
        self._config = config
        self._client = ServerClient(config.timeout_s)
        self._url = f"{config.url.rstrip('/')}/chat/completions"

    def identity(self) -> dict[str, Any]:
        """The model name and the sampling settings, without the server's address."""
        return {"model": self._config.model, "max_tokens": self._config.max_tokens, "temperature": 0}

    def say(self, messages: Sequence[dict[str, str]]) -> str | None:
        """See `Speaker`; raises `UserError` if the server refuses the request itself."""
        body = {"messages": list(messages), "seed": 0, **self.identity()}
        for attempt in range(self._config.num_tries):
            if attempt:
                time.sleep(min(0.5 * 2**attempt, 8.0))
            try:
                answer = self._client.loop.wait(self._client.post(self._url, body))
            except NoAnswer:
                continue
            if answer.status_code in REFUSED:
                raise UserError(_refusal(self._config, answer))
            if answer.status_code not in TRANSIENT:
                return _content(answer)
        return None

    def close(self) -> None:
        """Close the connections."""
        self._client.close()


def _refusal(config: JudgeConfig, answer: Answer) -> str:
    text = " ".join(answer.text.split())[:200]
    status = f"{answer.status_code}: {text}"
    return f"judge {config.url}: refuses model {config.model!r} ({status}); check url, model and key"


def _content(answer: Answer) -> str | None:
    """The text of a reply that ended by itself; None for any other response."""
    try:
        choice = json.loads(answer.content)["choices"][0]
        content = choice["message"]["content"]
    except MALFORMED:
        return None
    return content if isinstance(content, str) and choice.get("finish_reason") != "length" else None
